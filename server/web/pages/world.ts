/**
 * The page about the world: its map, the farthest traveller and the most thrown pictures of the day, how many sprites were thrown, and whether it
 * may show the name of the person who reads it.
 */

import { element, newElement } from '../desktop/elements.ts';
import { PUBLIC_NAME, watchPublicName } from '../desktop/public_name.ts';
import { playPortraits, portrait } from '../pictures/portraits.ts';
import { Sheets } from '../pictures/sheets.ts';
import { read } from '../relay/api_client.ts';
import { counted, phrase } from '../texts/language.ts';
import { WorldMap } from './world_map.ts';

/** What `GET /v1/today` answers. */
interface Today {
  thrown: number;
  mostThrown: { file: string; times: number }[];
  farthest: { file: string; desktops: number; name: string | null } | null;
}

const ASK_MS = 5_000; // ms between two requests

const list = element('most');
const farthest = element('farthest');
const box = element<HTMLInputElement>('name');
const sheets = new Sheets({ changed: show, inUse: (file) => files().includes(file) });
let today: Today | undefined;

new WorldMap(element<HTMLCanvasElement>('map'), element('map-words'));
void ask();
setInterval(ask, ASK_MS);
document.addEventListener('visibilitychange', ask);
showChoice();
watchPublicName(showChoice);
addEventListener('pageshow', showChoice); // the browser may have kept the page while another one was open in this tab
box.addEventListener('change', () => PUBLIC_NAME.make(box.checked));
playPortraits();

/** The pictures that this page shows. */
function files(): string[] {
  return [today?.farthest, ...(today?.mostThrown ?? [])].flatMap((one) => one?.file ?? []);
}

function showChoice(): void {
  box.checked = PUBLIC_NAME.isMade;
}

async function ask(): Promise<void> {
  if (document.hidden) return;
  const answer = await read<Today>('/v1/today');
  if (answer === undefined) return; // the page stays as it was
  today = answer;
  show();
}

/** Shows the day. What has not changed stays untouched, so that a screen reader is not interrupted. */
function show(): void {
  if (today === undefined) return;
  write(element('thrown'), counted('world.sprites', today.thrown));
  const most = today.mostThrown;
  while (list.childElementCount > most.length) list.lastElementChild?.remove();
  while (list.childElementCount < most.length) list.append(newElement('li', { className: 'counted' }));
  for (const [i, { file, times }] of most.entries()) {
    showPicture(list.children[i] as HTMLElement, file, [counted('world.times', times)]);
  }
  element('most-none').hidden = most.length > 0;
  const far = today.farthest;
  farthest.hidden = far === null;
  element('farthest-none').hidden = far !== null;
  if (far === null) return;
  const by = far.name === null ? [] : [phrase('world.by', { name: far.name })];
  showPicture(farthest, far.file, [counted('world.far', far.desktops), ...by]);
}

/** Shows a picture as it moves, its name, and lines about it. Until it is here, its place is empty. */
function showPicture(place: HTMLElement, file: string, lines: readonly string[]): void {
  const { description, image } = sheets.get(file);
  if (place.dataset.file !== file || (image !== null && place.querySelector('canvas') === null)) {
    place.dataset.file = file;
    const picture = newElement('div', { className: 'picture', ariaHidden: 'true' });
    if (image !== null) picture.append(portrait({ file, name: description.name, description, image }));
    place.replaceChildren(picture, newElement('div', {}));
  }
  const words = place.lastElementChild as HTMLElement;
  const all = image === null ? lines : [description.name, ...lines];
  if (words.childElementCount !== all.length) {
    words.replaceChildren(...all.map(() => newElement('span', { dir: 'auto' })));
  }
  for (const [i, text] of all.entries()) write(words.children[i] as HTMLElement, text);
}

function write(place: HTMLElement, text: string): void {
  if (place.textContent !== text) place.textContent = text;
}
