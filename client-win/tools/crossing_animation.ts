/**
 * Makes client-win/screenshots/visit.png, the picture that moves at the top of README.md: a cat is thrown from a desktop in a browser
 * onto a desktop of the program for Windows, under Wine, where others wave at it.
 *
 *     node client-win/tools/crossing_animation.ts
 *
 * Both desktops run on a relay of its own, and what they show is recorded. Needs Chromium, what the Wine suites need, hsetroot
 * and ImageMagick.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { joinPage, launchBrowser, noBrowser } from '../../server/test/browser_page.ts';
import { startRelay } from '../../server/test/relay_process.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WineDesktop, whyNoWine } from '../test/wine_desktop.ts';
import { SCREEN } from '../test/x_display.ts';
import { animate, PALETTE_PACKAGES, PALETTE_PROGRAMS } from './recorded.ts';
import { decorate, openProgram } from './scene.ts';

const PICTURE = join(import.meta.dirname, '../screenshots/visit.png');
const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');

/** px of each desktop in the picture. Of the Linux desktop it is the lower left part, which the cat reaches first. */
const VIEW = { width: 600, height: 400 };
const MARGIN = 20; // px around and between them
const CAPTION = 30; // px below them
const CORNER = 12; // px of their rounded corners
const LETTER = 'Dear Ada,\r\n\r\nthe kettle is on.\r\nSend the cat!\r\n\r\n   Grace\r\n';

const FRAME_MS_MIN = 80; // ms between two frames
const FRAME_MS_MAX = 120; // ms that a frame is shown: on a busy machine sprites move on by no more than this
const BEFORE_MS = 900; // ms that are recorded before the throw
const AFTER_MS = 5_000; // ms after the arrival
const END_MS = 1_500; // ms that the last frame is shown longer
const SETTLE_MS = 2_500; // ms until the sprites stand, and the names of those that were selected are gone
const BYTES_MAX = 1.5 * 2 ** 20; // a README should load fast

interface Moment {
  ms: number;
  browser: Buffer;
  desktop: PNG;
}

const PACKAGES = ['hsetroot', 'xdotool', ...PALETTE_PACKAGES];
const missing = ensurePrograms(['hsetroot', 'xdotool', ...PALETTE_PROGRAMS], PACKAGES)
  ? undefined
  : installHint(PACKAGES);
const why = noBrowser || (whyNoWine() ?? missing ?? buildWindowsClient());
if (why) {
  console.error(`The animation can't be made: ${why}.`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-visit-'));
const relay = await startRelay({ workers: 0 });
const grace = await WineDesktop.start('visit', 'openbox');
const browser = await launchBrowser();
try {
  await decorate(grace, scratch);
  writeFileSync(join(grace.prefix, 'drive_c', 'letter.txt'), LETTER);
  await openProgram(grace, 'Notepad', [300, 490, 260, 180], 'notepad', 'C:\\letter.txt');
  for (const [name, x] of [
    ['bolt', 350],
    ['quill', 430],
    ['nova', 500],
  ] as const) {
    grace.keepSprite(readFileSync(join(CHARACTERS, `${name}.spr`)), name, x, SCREEN.height);
  }
  grace.writeSettings({ relay: relay.url, name: 'Grace', sound: false, toasts: false, greeted: true });
  grace.launch(WINDOWS_CLIENT);
  const ada = await joinPage(browser, relay.url, 'Ada', [], { whole: true, viewport: VIEW, colorScheme: 'light' });
  await ada.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Grace' }).waitFor();
  await ada.click('button[title="Miso"]');
  await ada.waitForFunction(() => globalThis.sprites.sprites().some(({ name }) => name === 'Miso'));
  await select(ada, 'Miso');
  await pause(SETTLE_MS);
  await ada.locator('.notice').waitFor({ state: 'detached' });
  const moments = await record(ada, async () => {
    await pause(BEFORE_MS);
    await ada.keyboard.press('Shift+ArrowRight');
    await ada.waitForFunction(() => !globalThis.sprites.sprites().some(({ name }) => name === 'Miso'));
    await pause(AFTER_MS);
  });
  const bytes = await sideBySide(moments);
  if (bytes.length > BYTES_MAX) throw new Error(`The picture has ${bytes.length} bytes, more than ${BYTES_MAX}.`);
  writeFileSync(PICTURE, bytes);
  console.log(`${PICTURE}: ${moments.length} frames, ${Math.round(bytes.length / 1024)} KiB`);
} finally {
  await browser.close();
  await grace.stop();
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** Selects the sprite of this name with the keyboard. */
async function select(page: Page, name: string): Promise<void> {
  const place = await page.evaluate(
    (wanted) => globalThis.sprites.sprites().findIndex((sprite) => sprite.name === wanted),
    name,
  );
  await page.locator('#canvas').focus();
  for (let i = 0; i <= place; i++) await page.keyboard.press('n');
}

/** Records both desktops while `action` runs. The browser says when its page has changed, which is always: sprites breathe. */
async function record(page: Page, action: () => Promise<void>): Promise<Moment[]> {
  const moments: Moment[] = [];
  const session: CDPSession = await page.context().newCDPSession(page);
  session.on('Page.screencastFrame', ({ data, sessionId }) => {
    void session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    const ms = performance.now();
    if (ms - (moments.at(-1)?.ms ?? Number.NEGATIVE_INFINITY) < FRAME_MS_MIN) return;
    const desktop = grace.capture().crop(0, SCREEN.height - VIEW.height, VIEW.width, VIEW.height);
    moments.push({ ms, browser: Buffer.from(data, 'base64'), desktop });
  });
  await session.send('Page.startScreencast', { format: 'png', everyNthFrame: 1 });
  await action();
  await session.send('Page.stopScreencast');
  return moments;
}

/** Puts the recorded desktops side by side on a ground with captions. */
async function sideBySide(moments: readonly Moment[]): Promise<Uint8Array> {
  const ground = await paintGround();
  const { width, height } = ground;
  const frames = moments.map(({ browser: shown, desktop }) => {
    const frame = new PNG({ width, height });
    ground.data.copy(frame.data);
    paste(frame, PNG.sync.read(shown), MARGIN);
    paste(frame, desktop, 2 * MARGIN + VIEW.width);
    return frame;
  });
  const ms = moments.map(({ ms: at }, i) => {
    const next = moments[i + 1];
    return next === undefined ? END_MS : Math.round(Math.min(FRAME_MS_MAX, next.ms - at));
  });
  return animate(frames, ms, scratch);
}

/** The ground on which the desktops are, with a caption below each. */
async function paintGround(): Promise<PNG> {
  const [width, height] = [2 * VIEW.width + 3 * MARGIN, VIEW.height + MARGIN + CAPTION];
  const page = await browser.newPage({ viewport: { width, height } });
  const caption = (text: string) =>
    `<div style="width:${VIEW.width}px"><p style="height:${VIEW.height}px"></p>${text}</div>`;
  await page.setContent(`
    <style>
      body { margin: 0; padding: ${MARGIN}px; display: flex; gap: ${MARGIN}px; background: #4b4490; }
      div { color: #fff; font: 600 15px/${CAPTION}px system-ui, sans-serif; text-align: center; }
      p { margin: 0; }
    </style>
    ${caption('Ada, in a browser')}${caption('Grace, with the program for Windows')}`);
  const ground = PNG.sync.read(await page.screenshot());
  await page.close();
  return ground;
}

/** Copies a desktop to its place from `left` on, with rounded corners. */
function paste(frame: PNG, desktop: PNG, left: number): void {
  const { width, height } = VIEW;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [
        Math.max(CORNER - x, x - width + 1 + CORNER, 0),
        Math.max(CORNER - y, y - height + 1 + CORNER, 0),
      ];
      if (dx * dx + dy * dy > CORNER * CORNER) continue;
      const from = 4 * (y * desktop.width + x);
      desktop.data.copy(frame.data, 4 * ((MARGIN + y) * frame.width + left + x), from, from + 4);
    }
  }
}
