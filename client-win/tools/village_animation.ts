/**
 * Makes loadtest/village.png, twenty seconds in the swarm's village: a desktop in a browser between two friends and a thousand fake
 * desktops. All three speak and throw; what flies in over the other edges is the swarm's.
 *
 *     node client-win/tools/village_animation.ts
 *
 * The page runs on a relay of its own, and what it shows is recorded. Needs Chromium, ImageMagick and what the swarm's engine needs.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { joinPage, launchBrowser, noBrowser } from '../../server/test/browser_page.ts';
import { DesktopClient, post, sendRequest } from '../../server/test/desktop_client.ts';
import { startRelay, until } from '../../server/test/relay_process.ts';
import { buildEngine } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { animate, PALETTE_PACKAGES, PALETTE_PROGRAMS } from './recorded.ts';

const ROOT = join(import.meta.dirname, '../..');
const PICTURE = join(ROOT, 'loadtest/village.png');

const VIEW = { width: 720, height: 440 }; // px
const FRAME_MS_MIN = 90; // ms between two frames
const FRAME_MS_MAX = 100; // ms that a frame is shown: sprites move on by no more than this between two frames
const FILM_MS = 20_000; // ms that are shown
const BYTES_MAX = 3 * 2 ** 20; // a README should load fast
const SETTLE_MS = 2_500; // ms until the first sprites stand
const HOUR = 13; // o'clock at the page: by day nobody takes a nap
const SWARM_SECONDS = 180; // longer than all of this takes

const missing = ensurePrograms(PALETTE_PROGRAMS, PALETTE_PACKAGES) ? undefined : installHint(PALETTE_PACKAGES);
const why = noBrowser || (missing ?? buildEngine());
if (why) {
  console.error(`The animation can't be made: ${why}.`);
  process.exit(1);
}

/** A friend of the person at the page: a client that throws over one edge, to the page, and speaks. */
interface Friend {
  client: DesktopClient;
  edge: 'left' | 'right';
  /** The numbers of what it has thrown and said. */
  thrown: number;
  said: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-village-'));
const browser = await launchBrowser();
const relay = await startRelay({ workers: 0, front: 'native' });
const swarm = spawn(
  process.execPath,
  [
    ...[join(ROOT, 'tools/launch.js'), 'swarm', 'village', '--url', relay.url, '--world', 'commons'],
    ...['--throw-every', '3s', '--duration', `${SWARM_SECONDS}s`, '--quiet'],
  ],
  { stdio: 'ignore' },
);
const friends: Friend[] = [];
try {
  const desktops = async () => (await relay.metrics()).get('sprites_desktops') ?? 0;
  await until('the village is there', async () => (await desktops()) >= 1000);
  const characters = await figures();
  const grace = await befriend('Grace', 'right');
  const page = await joinPage(browser, `${relay.url}/#near=${grace.client.joined.invitation}`, 'Ada', [], {
    whole: true,
    viewport: VIEW,
    colorScheme: 'light',
    timezoneId: zoneAt(HOUR),
  });
  const invitation = await page.getAttribute('#second', 'href');
  const linus = await befriend('Linus', 'left', new URLSearchParams(new URL(invitation!).hash.slice(1)).get('near')!);
  await page.reload(); // in a large world, names of new neighbours come with the next ping only
  await page.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Linus' }).waitFor();
  await page.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Grace' }).waitFor();
  await pause(SETTLE_MS);
  const { frames, ms } = await record(page, [
    [300, () => toss(grace, characters.Miso, 0.3, 620)],
    [2_200, () => say(grace, 'Miso got out. Is he with you?')],
    [4_200, () => answer(page, 'Yes, he is here!')],
    [8_000, () => toss(linus, characters.Pip, 0.45, -560)],
    [9_600, () => say(linus, 'Catch! Pip wants to play.')],
    [11_000, () => page.click('#say-close')],
    [12_400, () => throwOver(page, 'Miso', 'left')],
    [14_200, () => say(grace, 'He is home. Thank you, Ada!')],
    [15_600, () => toss(linus, characters.Jolly, 0.4, -700)],
    [17_200, () => say(linus, 'And a ball for all of you!')],
  ]);
  const bytes = animate(frames, ms, scratch);
  if (bytes.length > BYTES_MAX) throw new Error(`The picture has ${bytes.length} bytes, more than ${BYTES_MAX}.`);
  writeFileSync(PICTURE, bytes);
  console.log(`${PICTURE}: ${frames.length} frames, ${Math.round(bytes.length / 1024)} KiB`);
} finally {
  swarm.kill();
  await browser.close();
  for (const { client } of friends) await client.stop();
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** A time zone in which it is this hour now. */
function zoneAt(hour: number): string {
  const west = new Date().getUTCHours() - hour;
  return `Etc/GMT${west < 0 ? '' : '+'}${west}`; // POSIX: what is west of Greenwich has a plus
}

/** The hashes of the relay's characters, by name. */
async function figures(): Promise<Record<string, string>> {
  const { json } = await sendRequest(`${relay.url}/sprites/index.json`);
  return Object.fromEntries((json as { file: string; name: string }[]).map(({ file, name }) => [name, file]));
}

async function befriend(name: string, edge: Friend['edge'], near?: string): Promise<Friend> {
  const friend = { client: await DesktopClient.join(relay.url, { name, near }), edge, thrown: 0, said: 0 };
  friends.push(friend);
  return friend;
}

/** Throws a character to the page. */
async function toss(friend: Friend, file: string, at: number, vx: number): Promise<void> {
  const { client, edge } = friend;
  const sprite = { file, name: '', facing: vx < 0 ? 'left' : 'right', scale: 2 };
  await post(client.joined, { crossing: ++friend.thrown, edge, at, vx, vy: -220, sprite });
}

async function say(friend: Friend, text: string): Promise<void> {
  const { desktop, token } = friend.client.joined;
  const body = { saying: ++friend.said, text };
  await sendRequest(`${relay.url}/v1/desktops/${desktop}/sayings`, { method: 'POST', token, body });
}

/** Types an answer at the page, in a card on which sprites stand. */
async function answer(page: Page, text: string): Promise<void> {
  await page.click('#say');
  await page.locator('#saying').pressSequentially(text, { delay: 30 });
  await page.keyboard.press('Enter');
}

/** Throws the newest sprite of this name over an edge, as its person would. */
async function throwOver(page: Page, name: string, edge: string): Promise<void> {
  await page.evaluate(
    ([wanted, over]) => {
      const place = globalThis.sprites.sprites().findLastIndex((sprite) => sprite.name === wanted);
      if (place >= 0) globalThis.sprites.throw(place, over);
    },
    [name, edge],
  );
}

/**
 * Records the page until the film lasts FILM_MS. Each act begins at its time in the film, which passes more slowly than the clock while the
 * machine is busy.
 */
async function record(
  page: Page,
  acts: [ms: number, act: () => Promise<void>][],
): Promise<{ frames: PNG[]; ms: number[] }> {
  const pictures: string[] = [];
  const shownMs: number[] = [];
  const running: Promise<void>[] = [];
  const waiting = [...acts];
  const session = await page.context().newCDPSession(page);
  const { promise: isOver, resolve: finish, reject: fail } = Promise.withResolvers<void>();
  let [lastMs, filmMs] = [performance.now(), 0];
  session.on('Page.screencastFrame', ({ data, sessionId }) => {
    void session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    const nowMs = performance.now();
    if (nowMs - lastMs < FRAME_MS_MIN || filmMs >= FILM_MS) return;
    const ms = Math.round(Math.min(FRAME_MS_MAX, nowMs - lastMs));
    pictures.push(data);
    shownMs.push(ms);
    [lastMs, filmMs] = [nowMs, filmMs + ms];
    while (waiting.length > 0 && waiting[0][0] <= filmMs) {
      const done = waiting.shift()![1]();
      done.catch(fail); // at once: the film is of no use without it
      running.push(done);
    }
    if (filmMs >= FILM_MS) finish();
  });
  await session.send('Page.startScreencast', { format: 'png', everyNthFrame: 1 });
  await isOver;
  await session.send('Page.stopScreencast');
  await Promise.all(running);
  return { frames: pictures.map((data) => PNG.sync.read(Buffer.from(data, 'base64'))), ms: shownMs };
}
