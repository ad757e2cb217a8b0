/** The page about Sprites: how many desktops are here, the map of their world, the download with its hash, and feedback to the operator. */

import { countWords, fetchDesktopCount } from '../relay/api_client.ts';
import { readProblem, wordsOf } from '../relay/transport.ts';
import { number, phrase } from '../texts/language.ts';
import { WorldMap } from './world_map.ts';

const element = (id: string) => document.getElementById(id) as HTMLElement;

void showCount();
void showDownload();
new WorldMap(element('map') as HTMLCanvasElement, element('map-words'));
element('feedback').addEventListener('submit', (event) => {
  event.preventDefault();
  void sendFeedback();
});

async function showCount(): Promise<void> {
  const count = await fetchDesktopCount();
  if (count !== undefined) element('here').textContent = countWords(count);
}

/** Shows the program for Windows, if this relay has it. */
async function showDownload(): Promise<void> {
  const response = await fetch('/client/latest.json').catch(() => undefined);
  if (!response?.ok) return;
  const { version, sha256, size } = await response.json();
  element('version').textContent = version;
  element('sha256').textContent = sha256;
  element('size').textContent = `${number(size / 2 ** 20, 1)} MiB`;
  element('download').hidden = false;
}

async function sendFeedback(): Promise<void> {
  const text = element('text') as HTMLTextAreaElement;
  const contact = element('contact') as HTMLInputElement;
  const button = element('send') as HTMLButtonElement;
  const sent = element('sent');
  button.disabled = true;
  try {
    const response = await fetch('/v1/feedback', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: text.value, contact: contact.value }),
    });
    const problem = response.ok ? null : await readProblem(response);
    sent.textContent = problem === null ? phrase('feedback.thanks') : wordsOf(problem);
    if (problem === null) text.value = '';
  } catch {
    sent.textContent = phrase('relay.unreachable-again');
  }
  button.disabled = false;
}
