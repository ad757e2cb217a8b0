/** The dialog in which a visitor joins: it asks for a name and a world. */

import { privateWorldName } from '../relay/api_client.ts';
import { phrase } from '../texts/language.ts';
import { ask } from './dialog.ts';
import { element } from './elements.ts';

/** What is known about a visitor before the dialog opens. */
export interface Visitor {
  name: string;
  /** What the field shows while the name is empty. */
  friendly: string;
  world: string;
  /** The friend who has invited the visitor, and whose world it is; empty if the link does not name them, undefined without an invitation. */
  host: string | undefined;
}

/** What the visitor has decided. The name may be empty. */
export interface Joining {
  name: string;
  world: string;
}

/** What can be the name of a friend in a link, which anybody can write: short, and without characters that hide or turn text. */
const NAME = /^[^\p{C}]{1,32}$/u;

/** Returns the name of the friend in the fragment of an invitation; empty if there is none, or none that can be shown. */
export function friendIn(fragment: URLSearchParams): string {
  const name = fragment.get('from') ?? '';
  return NAME.test(name) ? name : '';
}

/** Asks for a name and a world until `enter` accepts them. */
export function askToJoin(visitor: Visitor, enter: (joining: Joining) => Promise<void>): Promise<void> {
  const dialog = element<HTMLDialogElement>('join');
  const field = (id: string) => element<HTMLInputElement>(id);
  const [name, world, isPrivate] = [field('name'), field('world'), field('private')];
  // On a slow line the person may have typed before this program was here.
  name.value ||= visitor.name;
  name.placeholder = visitor.friendly;
  world.value ||= visitor.world;
  if (world.value !== '') element<HTMLDetailsElement>('elsewhere').open = true;
  if (visitor.host !== undefined) {
    element('join-text').textContent =
      visitor.host === '' ? phrase('join.invited') : phrase('join.invited-by', { name: visitor.host });
    element('elsewhere').hidden = true; // the world is the friend's
  }
  dialog.addEventListener('cancel', (event) => event.preventDefault()); // there is nothing behind the dialog yet
  dialog.close(); // it was open from the start, but not modal
  return ask(dialog, async () => {
    if (isPrivate.checked && world.value.trim() === '') world.value = privateWorldName();
    await enter({ name: name.value.trim(), world: world.value.trim() });
  });
}
