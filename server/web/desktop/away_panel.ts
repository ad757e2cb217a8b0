/**
 * Where the own sprites are that were thrown: a button beside the own name, with a line for each. It is loaded with the first throw.
 *
 * A line is the last thing that the relay has said, and says when that was.
 */
import type { Journey } from '../motion/simulation.ts';
import { shownName } from '../relay/api_client.ts';
import type { Away, AwaySprite } from '../relay/away.ts';
import { counted, language, phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';
import { whenWords } from './journey_words.ts';
import { openMenu } from './menu.ts';

export class AwayPanel {
  readonly #away: Away;
  readonly #button = newElement('button', { type: 'button', id: 'away', className: 'plain', ariaHasPopup: 'menu' });

  constructor(away: Away) {
    this.#away = away;
    this.#button.onclick = () => this.#open();
    element('company-toggle').after(this.#button);
  }

  /** Shows what is in the list now. */
  show(): void {
    const newest = this.#away.all.at(-1);
    this.#button.hidden = newest === undefined;
    if (newest !== undefined) this.#button.textContent = phrase('away.where', { name: newest.name });
  }

  /** What an own sprite says that has just come home. */
  greeting(name: string, journey: Journey): string {
    return homeWords(name, journey, new Date());
  }

  #open(): void {
    const { left, bottom } = this.#button.getBoundingClientRect();
    const lines = this.#away.all.map((one) => ({ text: seenWords(one, new Date()), choose: () => {} }));
    openMenu(left, bottom, lines.reverse());
  }
}

/** Where a sprite was last seen, such as "Miso: last seen with Ada, 10:41". */
export function seenWords({ name, seen, with: neighbour }: AwaySprite, now: Date): string {
  const then = new Date(seen * 1000);
  const isToday = then.toDateString() === now.toDateString();
  const when = isToday ? then.toLocaleTimeString(language, { timeStyle: 'short' }) : whenWords(then, now);
  return neighbour === ''
    ? phrase('away.unknown', { name, when })
    : phrase('away.with', { name, neighbour: shownName(neighbour), when });
}

/** Such as "Miso is home: 17 desktops since Tuesday". */
export function homeWords(name: string, { hops, since }: Journey, now: Date): string {
  const when = whenWords(new Date(since * 1000), now);
  return phrase('away.home', { name, desktops: counted('journey.desktops', hops), when });
}
