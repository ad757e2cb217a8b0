/**
 * The Windows program under Wine and a page in Chromium: they talk, and the program sees the page's cat coming before it crosses.
 *
 * The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser, shoot, VIEW } from '../../server/test/browser_page.ts';
import { until } from '../../server/test/relay_process.ts';
import { buildWindowsClient } from '../../tools/build.js';
import { ProgramAndPage } from './program_and_page.ts';
import { middleOf, SCREEN, type WineDesktop, whyNoWine } from './wine_desktop.ts';
import { CYAN, onFloor, RUNNER, runner, spr } from './wine_sprites.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const INPUT = 'Sprites: say something';
const BEYOND = 'Sprite beyond';

const skip = whyNoWine() ?? buildWindowsClient() ?? noBrowser;

describe('the windows client beside a page', { skip, timeout: 900_000 }, () => {
  const pair = new ProgramAndPage();
  const { faults } = pair;
  let ada: WineDesktop;
  let bob: Page;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    await pair.start('peek', 'openbox', (desktop) => desktop.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height));
    ({ ada, bob } = pair);
    await ada.waitFor('the sprite', (screenshot) => screenshot.find(CYAN));
  });
  after(() => pair.stop());

  const shot = (name: string) => ada.capture().save(join(SHOTS, `wine-${name}.png`));

  /** Opens the line to type in from the menu of the sprite. */
  async function openInput(): Promise<string> {
    const { found } = await ada.waitUntilStill('the sprite on the floor', onFloor(runner));
    const { x, y } = middleOf({ ...found, right: found.left + 12 });
    return await ada.openFromMenu([x, y], 'y', INPUT);
  }

  it('hears what the page says, and the page shows what it says', async () => {
    await bob.locator('#canvas').focus();
    await bob.keyboard.press('Enter');
    await bob.locator('#saying:not([readonly])').fill('May my cat come over?');
    await bob.keyboard.press('Enter');
    await ada.frame('Bob: May my cat come over\\?');
    const input = await openInput();
    await ada.xdotool('windowfocus', input, 'sleep', 0.3, 'type', '--delay', 30, 'Let it walk up to the edge first');
    await ada.xdotool('key', 'Return');
    const bubble = bob.locator('#bubbles', { hasText: 'Let it walk up to the edge first' });
    await bubble.waitFor();
    assert.match((await bubble.textContent()) ?? '', /Ada/);
    await ada.frame('Let it walk up to the edge first');
    shot('talk-with-a-page');
    await shoot(bob, 'talk-with-a-program');
    await ada.xdotool('windowfocus', input, 'sleep', 0.2, 'key', 'Escape');
  });

  it("sees the page's cat coming before it crosses", async () => {
    await bob.locator('#canvas').focus();
    await bob.keyboard.press('n');
    await bob.keyboard.down('ArrowRight');
    await bob.waitForFunction((x) => globalThis.sprites.sprites()[0].x > x, VIEW.width - 120);
    await bob.keyboard.up('ArrowRight');
    await ada.xdotool('mousemove', 640, 400, 'sleep', 0.2, 'mousemove', 0, 400);
    // The pane, and at least one silhouette in it.
    await until('Ada sees a silhouette', async () => (await ada.windows(BEYOND)).length >= 2);
    await ada.xdotool('sleep', 0.3);
    shot('peek-1-seen');
    const own = (await ada.windows('Sprite')).length;
    const silhouettes = (await ada.windows(BEYOND)).length;
    await bob.keyboard.press('Shift+ArrowRight');
    await until('the cat is here', async () => (await ada.windows('Sprite')).length === own + 1);
    shot('peek-2-crossed');
    await until('its silhouette is gone', async () => (await ada.windows(BEYOND)).length < silhouettes);
    await ada.xdotool('mousemove', 640, 400);
    await ada.isGone(BEYOND);
    assert.deepEqual(faults, []);
  });
});
