/** The gallery: characters with moving previews, each of which a visitor takes onto a desktop. */

import { element, newElement } from '../desktop/elements.ts';
import { notice } from '../desktop/panel.ts';
import { playPortraits, portrait } from '../pictures/portraits.ts';
import { Sheets } from '../pictures/sheets.ts';
import { offer } from '../pictures/taking.ts';
import { read } from '../relay/api_client.ts';
import { counted, phrase } from '../texts/language.ts';
import { takeInApp } from './app_link.ts';

interface Entry {
  file: string;
  title: string;
  author: string;
  licence: string;
  from: 'relay' | 'people';
  flying: number;
}

const LICENCES: Record<string, string> = {
  'CC0-1.0': 'https://creativecommons.org/publicdomain/zero/1.0/',
  'CC-BY-4.0': 'https://creativecommons.org/licenses/by/4.0/',
  'CC-BY-SA-4.0': 'https://creativecommons.org/licenses/by-sa/4.0/',
};

const COUNTS_MS = 10_000; // ms between two looks at how many fly

const list = element('entries');
const state = element('state');
const more = element<HTMLButtonElement>('more');
const cards = new Map<string, { card: HTMLElement; place: HTMLElement; flying: HTMLElement; title: string }>();
const sheets = new Sheets({ changed: showPicture, inUse: (file) => cards.has(file) });
const pages: number[] = [0];

more.addEventListener('click', () => {
  const next = Number(more.dataset.next);
  pages.push(next);
  void showPage(next);
});
void showPage(0);
setInterval(() => {
  if (!document.hidden) for (const from of pages) void showPage(from);
}, COUNTS_MS);
playPortraits();

/** Fetches a page of the list, adds the cards that are new, and shows how many fly. */
async function showPage(from: number): Promise<void> {
  const page = await read<{ entries: Entry[]; next: number | null }>(`/v1/gallery?from=${from}`);
  state.textContent = page === undefined ? phrase('gallery.failed') : '';
  if (page === undefined) return;
  for (const entry of page.entries) {
    const known = cards.get(entry.file);
    if (known === undefined) addCard(entry);
    else known.flying.textContent = flyingWords(entry.flying);
  }
  if (from === pages.at(-1)) {
    more.hidden = page.next === null;
    more.dataset.next = String(page.next);
  }
}

function addCard({ file, title, author, licence, flying: count }: Entry): void {
  const card = newElement('li', { className: 'card entry' });
  const place = newElement('div', { className: 'picture' });
  const heading = newElement('h2', { textContent: title });
  const by = author === '' ? phrase('gallery.by-somebody') : phrase('gallery.by', { author });
  const credit = newElement('p', { className: 'quiet', textContent: by });
  const terms = newElement('p', { className: 'quiet small' });
  const link = newElement('a', { textContent: licence });
  if (Object.hasOwn(LICENCES, licence)) {
    link.href = LICENCES[licence];
    link.rel = 'license noopener';
  }
  const flying = newElement('span', { textContent: flyingWords(count) });
  terms.append(link, ' · ', flying);
  const take = newElement('button', {
    className: 'button low',
    type: 'button',
    textContent: phrase('gallery.take'),
    ariaLabel: phrase('gallery.take-it', { title }),
    onclick: () => void takeIt(file, title),
  });
  const open = newElement('a', {
    className: 'plain app-link',
    href: takeInApp(location.origin, { file, title, author }),
    textContent: phrase('gallery.app'),
    ariaLabel: phrase('gallery.app-label', { title }),
  });
  const buttons = newElement('div', { className: 'buttons' });
  buttons.append(take, open);
  card.append(place, heading, credit, terms, buttons);
  card.addEventListener('pointerenter', () => play(place, 'walk'));
  card.addEventListener('pointerleave', () => play(place, 'idle'));
  cards.set(file, { card, place, flying, title });
  list.append(card);
  if (sheets.get(file).image !== null) showPicture(file);
}

/** Shows a picture that has been fetched. A card without one goes: the relay does not have the file any more. */
function showPicture(file: string): void {
  const shown = cards.get(file);
  if (shown === undefined) return;
  const { description, image } = sheets.get(file);
  if (image === null) {
    shown.card.remove();
    return;
  }
  shown.place.replaceChildren(portrait({ file, name: shown.title, description, image }));
}

function play(place: HTMLElement, animation: string): void {
  const canvas = place.querySelector('canvas');
  if (canvas !== null) canvas.dataset.animation = animation;
}

/** Gives the picture to a desktop that is open in another tab, or opens one here. */
async function takeIt(file: string, title: string): Promise<void> {
  if (await offer(file)) notice(phrase('gallery.taken', { title }));
  else location.href = `/#take=${file}`;
}

function flyingWords(count: number): string {
  return count === 0 ? phrase('gallery.none-flying') : counted('gallery.flying', count);
}
