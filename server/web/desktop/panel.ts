/**
 * Everything on the page except the canvas: the shelf, the edges' tabs, the dialogs and the notices.
 *
 * Holds no state of the simulation: it shows what it is given and calls back. Text is inserted as text, never as markup.
 */

import { isResident } from '../../wire/resident.ts';
import { EDGES, type Edge } from '../../wire/rules.ts';
import type { Ledge } from '../motion/simulation.ts';
import { drawPortrait, portrait } from '../pictures/portraits.ts';
import type { Figure } from '../pictures/shelf.ts';
import { countWords, shownName } from '../relay/api_client.ts';
import type { Neighbours } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';

export type State = 'joining' | 'connecting' | 'connected' | 'reconnecting';

const NOTICE_MS = 5_000; // ms a notice is shown: long enough to read two lines twice
const NOTICES_MAX = 3; // notices at once; the oldest is removed first
const ANNOUNCED_MAX = 8; // lines that wait for a screen reader; the oldest is removed first
const LEDGE_INSET = 12; // px of a card's rounded corner, where a sprite cannot stand

/** Calls back with files that are dropped on the page, where from the left, in px, and as items. Shows that it accepts them. */
export function onFilesDropped(handle: (files: File[], x: number, items: DataTransferItem[]) => void): void {
  const drop = element('drop');
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    drop.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) drop.hidden = true;
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    drop.hidden = true;
    handle([...(event.dataTransfer?.files ?? [])], event.clientX, [...(event.dataTransfer?.items ?? [])]);
  });
}

export function showState(state: State, who: string, world: string): void {
  document.body.dataset.state = state;
  element('who').textContent = who || 'Sprites';
  const words = phrase(`state.${state}`);
  element('world-name').textContent = state === 'connected' ? phrase('state.in', { world }) : words;
  element('lamp').title = words;
}

/** Who is beyond the edges. A neighbour that is not known yet counts as a person. */
export type Beyond = 'nobody' | 'residents' | 'people';

/** Shows the names at the edges. Returns who they are. */
export function showNeighbours(neighbours: Neighbours, self: string): Beyond {
  let beyond: Beyond = 'nobody';
  for (const edge of EDGES) {
    const neighbour = neighbours[edge];
    const place = edgeElement(edge);
    const tab = place.firstElementChild as HTMLElement;
    const other = neighbour !== undefined && neighbour.desktop !== self;
    const isProgram = other && isResident(neighbour.name);
    if (neighbour === undefined || (other && !isProgram)) beyond = 'people';
    else if (isProgram && beyond === 'nobody') beyond = 'residents';
    place.classList.toggle('led', other);
    place.dataset.neighbour = other ? neighbour.desktop : '';
    tab.hidden = !other;
    tab.textContent = other ? shownName(neighbour.name) : '';
    tab.classList.toggle('resident', isProgram);
    tab.title = isProgram ? phrase('resident.what') : '';
  }
  return beyond;
}

/** Shows the card for somebody without people around, or hides it. */
export function showLonely(beyond: Beyond): void {
  element('alone').hidden = beyond === 'people';
  const isPlayed = beyond === 'residents';
  element('alone-title').textContent = phrase(isPlayed ? 'alone.residents-title' : 'alone.title');
  element('alone-why').textContent = phrase(isPlayed ? 'alone.residents' : 'alone.why');
}

export function flashEdge(edge: Edge): void {
  const place = edgeElement(edge);
  place.classList.remove('flash');
  void place.offsetWidth; // forces a layout without the class, else the animation does not restart
  place.classList.add('flash');
}

/** Shows an eye at the edges over which a neighbour looks, and removes it from the others. */
export function showWatchers(edges: readonly Edge[]): void {
  for (const edge of EDGES) {
    const tab = edgeElement(edge).firstElementChild as HTMLElement;
    const isWatched = edges.includes(edge);
    tab.classList.toggle('watching', isWatched);
    const rest = tab.classList.contains('resident') ? phrase('resident.what') : '';
    tab.title = isWatched ? phrase('stage.watching') : rest;
    tab.setAttribute('aria-description', tab.title);
  }
}

/** Shows at an edge why nothing is seen beyond it. Null removes the words. */
export function peekHint(edge: Edge | null, words: string): void {
  const hint = element('peek-hint');
  hint.hidden = edge === null;
  hint.dataset.edge = edge ?? '';
  hint.textContent = words;
}

/** Shows whether neighbours may look in. Undefined, from a relay that does not know stages, hides the switch. */
export function showStageSwitch(stage: boolean | undefined): void {
  const button = element('stage');
  button.hidden = stage === undefined;
  button.setAttribute('aria-pressed', String(stage === true));
  button.title = phrase(stage === true ? 'stage.may' : 'stage.may-not');
}

export function showPauseButton(isPaused: boolean): void {
  const button = element('pause');
  button.ariaPressed = String(isPaused);
  button.title = phrase(isPaused ? 'go-on' : 'pause');
  button.ariaLabel = button.title;
}

/** Shows that everything stands still, and how to go on. */
export function showPaused(isPaused: boolean): void {
  showPauseButton(isPaused);
  document.body.toggleAttribute('data-paused', isPaused);
  element('paused').hidden = !isPaused;
}

/** Shows a line of text for some time. Returns what removes it earlier. */
export function notice(text: string, ms = NOTICE_MS): () => void {
  const list = element('notices');
  if (list.lastElementChild?.textContent === text) list.lastElementChild.remove(); // a repeated notice stays longer
  const line = newElement('div', { className: 'notice', textContent: text });
  list.append(line);
  while (list.childElementCount > NOTICES_MAX) list.firstElementChild?.remove();
  const remove = () => line.remove();
  setTimeout(remove, ms);
  return remove;
}

/** Has screen readers read a line, after what they are reading. */
export function announce(text: string): void {
  const region = element('announcements');
  region.append(newElement('p', { textContent: text }));
  while (region.childElementCount > ANNOUNCED_MAX) region.firstElementChild?.remove();
}

/** Shows a button for each figure, in place of those shown before. */
export function showShelf(figures: readonly Figure[], choose: (figure: Figure) => void): void {
  element('characters').replaceChildren(
    ...figures.map((figure) => {
      const button = newElement('button', {
        type: 'button',
        title: figure.name,
        ariaLabel: phrase('shelf.drop-in', { name: figure.name }),
        onclick: () => choose(figure),
      });
      button.append(portrait(figure));
      return button;
    }),
  );
}

export function showParade(figures: readonly Figure[]): void {
  element('parade').replaceChildren(...figures.map(portrait));
}

/** Makes this figure the page's icon. */
export function showIcon(figure: Figure): void {
  const canvas = document.createElement('canvas');
  drawPortrait(canvas, figure, 0);
  element<HTMLLinkElement>('icon').href = canvas.toDataURL();
}

/**
 * Returns the top edges of the cards on the page, for sprites to stand on, in px of which each is `zoom` of the page. The bar has none: it has
 * no space above it.
 */
export function ledges(zoom: number): Ledge[] {
  return [...document.querySelectorAll('[data-ledge]:not([hidden])')]
    .map((card) => card.getBoundingClientRect())
    .filter((box) => box.width > 0)
    .map(({ left, right, top }) => ({
      left: left / zoom + LEDGE_INSET,
      right: right / zoom - LEDGE_INSET,
      y: top / zoom,
    }));
}

/** The systems that the relay may have a program for, as browsers name them. */
const SYSTEMS = { windows: 'Windows NT', linux: 'Linux x86_64' };

/** Offers the program for the visitor's system, if the relay has it. The help has those for the others. */
export function offerProgram(): void {
  const found = Object.entries(SYSTEMS).find(([, name]) => navigator.userAgent.includes(name));
  if (found === undefined || element(`download-${found[0]}`).hidden) return;
  for (const offer of document.querySelectorAll<HTMLElement>(`.for-${found[0]}`)) offer.hidden = false;
  // The program opens such links: it goes to this relay, and to the world and the friend that the page's address names.
  element<HTMLAnchorElement>('open-app').href = `sprites:${location.href}`;
}

/** Shows in the join dialog how many desktops are here, if there are any. */
export function showDesktopCount(count: number | undefined): void {
  const line = element('join-here');
  line.hidden = !count;
  line.textContent = countWords(count ?? 0);
}

function edgeElement(edge: Edge): HTMLElement {
  return document.querySelector(`.edge[data-edge="${edge}"]`) as HTMLElement;
}
