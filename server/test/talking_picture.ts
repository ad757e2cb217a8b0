/**
 * Makes server/web/talking.png, a picture of the README: two desktops in a browser, side by side, that talk.
 *
 *     node server/test/talking_picture.ts
 *
 * Needs Chromium and ImageMagick.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { joinPage, launchBrowser, noBrowser } from './browser_page.ts';
import { startRelay } from './relay_process.ts';

const PICTURE = join(import.meta.dirname, '../web/talking.png');
const VIEW = { width: 620, height: 470 };
const COLOURS = 255; // in the file: keeps it below 150 KB
const FALL_MS = 2_500; // ms until the sprites stand

const missing = ensurePrograms(['convert'], ['imagemagick']) ? undefined : installHint(['imagemagick']);
const why = noBrowser || missing;
if (why) {
  console.error(`The picture can't be made: ${why}.`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-picture-'));
const relay = await startRelay({ workers: 0 });
const browser = await launchBrowser();
try {
  // With reduced motion the sprites stay where they land.
  const options = { whole: true, viewport: VIEW, reducedMotion: 'reduce' } as const;
  const ada = await joinPage(browser, `${relay.url}/?world=meadow`, 'Ada', [], { ...options, colorScheme: 'light' });
  const grace = await joinPage(browser, `${relay.url}/?world=meadow`, 'Grace', [], { ...options, colorScheme: 'dark' });
  await ada.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Grace' }).waitFor();
  await ada.click('button[title="Miso"]');
  await pause(FALL_MS);
  await throwOver(ada, 'Miso', grace);
  await pause(FALL_MS);
  await ada.locator('.notice').waitFor({ state: 'detached' });
  await say(ada, 'Miso is coming over. Can you feed him?');
  await say(grace, 'He is asleep on my letter already.');
  await grace.keyboard.press('Escape');
  await grace.locator('#canvas').blur();
  await ada.locator('.bubble.placed', { hasText: 'letter already' }).waitFor();
  await ada.mouse.move(VIEW.width / 2, VIEW.height / 2); // away from the shelf
  await pause(500);
  const [left, right] = await Promise.all(
    [ada, grace].map(async (page) => (await page.screenshot()).toString('base64')),
  );
  const frame = await browser.newPage({ viewport: { width: 2 * VIEW.width + 72, height: VIEW.height + 48 } });
  await frame.setContent(`
    <style>
      body { margin: 0; padding: 24px; display: flex; gap: 24px; background: linear-gradient(110deg, #cdd9ff, #8a79ee 48%, #281f4d); }
      img { border-radius: 16px; box-shadow: 0 8px 26px #1a123f66; }
    </style>
    <img src="data:image/png;base64,${left}"><img src="data:image/png;base64,${right}">`);
  const whole = join(scratch, 'whole.png');
  writeFileSync(whole, await frame.screenshot());
  execFileSync('convert', [whole, '-colors', `${COLOURS}`, '-strip', `png8:${PICTURE}`]);
  console.log(PICTURE);
} finally {
  await browser.close();
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** Selects the sprite of this name and throws it over the right edge. */
async function throwOver(page: Page, name: string, to: Page): Promise<void> {
  const place = await page.evaluate(
    (wanted) => globalThis.sprites.sprites().findIndex((sprite) => sprite.name === wanted),
    name,
  );
  await page.locator('#canvas').focus();
  for (let i = 0; i <= place; i++) await page.keyboard.press('n');
  await page.keyboard.press('Shift+ArrowRight');
  await to.waitForFunction(
    (wanted) => globalThis.sprites.sprites().some((sprite) => sprite.name === wanted && !sprite.fromShelf),
    name,
  );
  await page.keyboard.press('Escape');
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('#canvas').focus();
  await page.keyboard.press('Enter');
  await page.fill('#saying', text);
  await page.keyboard.press('Enter');
  await page.locator('#saying-state', { hasText: 'heard you' }).waitFor();
}
