/**
 * Where the own sprites are that were thrown: a button beside the own name, with a line for each. It is loaded with the first throw.
 *
 * A line is the last thing that the relay has said, and says when that was.
 */
import type { Journey } from '../motion/simulation.ts';
import { shownName } from '../relay/api_client.ts';
import { Away, type AwaySprite } from '../relay/away.ts';
import { counted, language, phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';
import { whenWords } from './journey_words.ts';
import { openMenu } from './menu.ts';

export class AwayPanel {
  readonly #away: Away;
  readonly #button = newElement('button', { type: 'button', id: 'away', className: 'plain', ariaHasPopup: 'menu' });

  /** `saved`: of `all`. */
  constructor(saved: readonly AwaySprite[]) {
    this.#away = new Away(saved);
    this.#button.onclick = () => this.#open();
    element('company-toggle').after(this.#button);
    this.#show();
  }

  get all(): readonly AwaySprite[] {
    return this.#away.all;
  }

  /** Does something with the list, and shows what is in it then. */
  update<Result>(change: (away: Away) => Result): Result {
    const result = change(this.#away);
    this.#show();
    return result;
  }

  /** What an own sprite says that has just come home. */
  greeting(name: string, journey: Journey): string {
    return homeWords(name, journey, new Date());
  }

  #show(): void {
    const newest = this.all.at(-1);
    this.#button.hidden = newest === undefined;
    if (newest !== undefined) this.#button.textContent = phrase('away.where', { name: newest.name });
  }

  #open(): void {
    const { left, bottom } = this.#button.getBoundingClientRect();
    const lines = this.all.map((one) => ({ text: seenWords(one, new Date()), choose: () => {} }));
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
