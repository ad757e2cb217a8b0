/**
 * The panel that shows who else is here: a picture of where they sit, oneself in the middle, and the same as a list.
 *
 * Each face, and a button in its line, throws a sprite there; in a small private world another button changes seats. It shows what the relay
 * says and asks nothing. Who has just come is known by name, since the relay gives no ids.
 */
import { isResident } from '../../wire/resident.ts';
import { shownName } from '../relay/api_client.ts';
import type { Companion, Company } from '../relay/transport.ts';
import { counted, number, phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';

const NEW_MS = 60_000; // how long somebody is marked as new, in ms: people look at the panel about once a minute

/** What the buttons of a line do, as it is read out. */
const LABELS = { throw: 'company.throw-to', swap: 'company.swap-with', take: 'company.take-of' } as const;

/** Oneself, where all ways begin. */
const SELF = { column: 0, row: 0 };

export class CompanyPanel {
  /** When each of those that are shown came, on the clock of `performance`; −Infinity: was here before. */
  #since: ReadonlyMap<string, number> | null = null;

  readonly #throwTo: (friend: Companion) => void;
  readonly #swapWith: (friend: Companion) => void;

  /** The person has chosen somebody to throw a sprite to, or to change seats with. */
  constructor(throwTo: (friend: Companion) => void, swapWith: (friend: Companion) => void) {
    this.#throwTo = throwTo;
    this.#swapWith = swapWith;
    const panel = element('company');
    panel.tabIndex = 0; // so that the arrow keys scroll it
    element('company-toggle').addEventListener('click', () => this.#open(panel.hidden !== false));
  }

  #open(isOpen: boolean): void {
    element('company').hidden = !isOpen;
    element('company-toggle').ariaExpanded = String(isOpen);
  }

  /** Another seat has other company. */
  clear(): void {
    this.#since = null;
  }

  /** Shows who is here, for a desktop with this name. */
  show({ desktops, residents, company }: Company, name: string, isPrivate: boolean): void {
    const nowMs = performance.now();
    const before = this.#since;
    const since = new Map(
      company.map((one) => [one.name, before === null ? -Infinity : (before.get(one.name) ?? nowMs)]),
    );
    this.#since = since;
    const isNew = (one: Companion) => nowMs - (since.get(one.name) ?? 0) < NEW_MS;

    const toggle = element('company-toggle');
    toggle.textContent = counted('company.here', desktops - residents);
    toggle.hidden = desktops === 1;
    if (toggle.hidden) this.#open(false);

    const { columns, rows, cells, others } = seating({ desktops, residents, company });
    const spot = ([column, row]: Cell, who: string, className: string) => {
      const at = newElement('span', { className, textContent: [...who][0] ?? '' });
      at.style.gridArea = `${row + 1} / ${column + 1}`;
      return at;
    };
    const places = element('company-places');
    places.style.gridTemplate = `repeat(${rows}, 22px) / repeat(${columns}, 22px)`;
    places.replaceChildren(
      spot(cells[0], name, 'self'),
      ...company.map((one, i) => {
        const face = spot(cells[i + 1], one.name, classOf(one, isNew(one)));
        face.onclick = () => this.#throwTo(one); // what its button in the list does
        return face;
      }),
    );
    const list = element('company-list');
    const focused = (document.activeElement as HTMLElement | null)?.dataset.friend;
    list.replaceChildren(
      item(name, phrase('history.you')),
      ...company.map((one) => {
        const line = item(shownName(one.name), wordsOf(one, isNew(one)));
        line.append(this.#button(one, 'throw', this.#throwTo));
        if (isPrivate && company.length === desktops - 1)
          line.append(this.#button(one, isFree(one) ? 'take' : 'swap', this.#swapWith));
        return line;
      }),
    );
    const more = element('company-more');
    more.hidden = others <= 0;
    more.textContent = counted('company.more', others);
    if (focused === undefined) return;
    const again = [...list.querySelectorAll('button')].find(({ dataset }) => dataset.friend === focused);
    (again ?? element('company')).focus({ preventScroll: true });
  }

  #button(one: Companion, does: 'throw' | 'swap' | 'take', act: (friend: Companion) => void): HTMLButtonElement {
    const textContent = does === 'throw' ? phrase('company.throw') : '⇄';
    const title = phrase(LABELS[does], { name: shownName(one.name) });
    const button = newElement('button', { className: 'plain', type: 'button', textContent, title, ariaLabel: title });
    button.dataset.friend = `${one.name} ${act === this.#throwTo}`;
    button.onclick = () => act(one);
    return button;
  }
}

/** Whether somebody's seat may be taken without asking: of one who is away, and of a resident. */
function isFree({ name, awaySeconds }: Companion): boolean {
  return awaySeconds !== undefined || isResident(name);
}

function item(name: string, words: string): HTMLElement {
  const line = newElement('li', {});
  line.append(
    newElement('strong', { dir: 'auto', textContent: name }),
    ' ',
    newElement('span', { className: 'quiet', textContent: words }),
  );
  return line;
}

function classOf({ awaySeconds }: Companion, isNew: boolean): string {
  if (awaySeconds !== undefined) return 'away';
  return isNew ? 'new' : '';
}

/** Says where somebody is, and how. */
function wordsOf({ column, row, awaySeconds }: Companion, isNew: boolean): string {
  const [across, down] = [Math.abs(column), Math.abs(row)].map((count) => ({ count: number(count) }));
  const words: string[] = [];
  if (column !== 0) words.push(phrase(column < 0 ? 'company.left' : 'company.right', across));
  if (row !== 0) words.push(phrase(row < 0 ? 'company.up' : 'company.down', down));
  if (awaySeconds !== undefined) words.push(phrase('company.away'));
  else if (isNew) words.push(phrase('company.new'));
  return words.join(', ');
}

/** Column and row in the picture, from 0. */
type Cell = readonly [column: number, row: number];

/** The picture of who is here: the cell of each, oneself first, in the middle; and how many are here that the relay does not list. */
export function seating({ desktops, residents, company }: Company) {
  const [right, down] = [reach(company.map(({ column }) => column)), reach(company.map(({ row }) => row))];
  const cells = [SELF, ...company].map(({ column, row }): Cell => [column + right, row + down]);
  const listed = company.filter((one) => !isResident(one.name)).length;
  return { columns: 2 * right + 1, rows: 2 * down + 1, cells, others: desktops - residents - 1 - listed };
}

function reach(steps: readonly number[]): number {
  return Math.max(0, ...steps.map(Math.abs));
}
