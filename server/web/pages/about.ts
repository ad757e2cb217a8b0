/** The page about Sprites: how many desktops are here, the map of their world, the downloads with their hashes, and feedback to the operator. */

import { element } from '../desktop/elements.ts';
import { countWords, fetchDesktopCount, read } from '../relay/api_client.ts';
import { wordsOf } from '../relay/problem_words.ts';
import { readProblem } from '../relay/transport.ts';
import { number, phrase } from '../texts/language.ts';
import { WorldMap } from './world_map.ts';

void showCount();
void offer('windows', '/client/latest.json', showWindows);
void offer('linux', '/client/linux.json', showLinux);
new WorldMap(element<HTMLCanvasElement>('map'), element('map-words'));
element('feedback').addEventListener('submit', (event) => {
  event.preventDefault();
  void sendFeedback();
});

async function showCount(): Promise<void> {
  const count = await fetchDesktopCount();
  if (count !== undefined) element('here').textContent = countWords(count);
}

/** Shows the program for a system, if this relay has it. `path`: where its versions are. */
async function offer<Latest>(system: string, path: string, show: (latest: Latest) => void): Promise<void> {
  const place = element(`download-${system}`);
  if (place.hidden) return;
  const latest = await read<Latest>(path);
  place.hidden = latest === undefined;
  if (latest !== undefined) show(latest);
}

function showWindows({ version, sha256, size }: { version: string; sha256: string; size: number }): void {
  element('version').textContent = version;
  element('sha256').textContent = sha256;
  element('size').textContent = `${number(size / 2 ** 20, 1)} MiB`;
}

function showLinux({ version, files }: { version: string; files: Record<string, { sha256: string }> }): void {
  element('linux-version').textContent = version;
  element('deb-sha256').textContent = files['sprites_amd64.deb']?.sha256 ?? '';
  element('archive-sha256').textContent = files['sprites-linux-x86_64.tar.xz']?.sha256 ?? '';
  element<HTMLAnchorElement>('open-app').href = `sprites:${location.origin}/`;
}

async function sendFeedback(): Promise<void> {
  const text = element<HTMLTextAreaElement>('text');
  const contact = element<HTMLInputElement>('contact');
  const button = element<HTMLButtonElement>('send');
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
