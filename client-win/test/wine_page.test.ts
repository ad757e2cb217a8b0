/**
 * The Windows program under Wine and a page in Chromium: they talk, throw to each other, and the program sees the page's cat coming
 * before it crosses.
 *
 * Ada has the program, Bob has the page. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { joinPage, launchBrowser, noBrowser, shoot, VIEW } from '../../server/test/browser_page.ts';
import { choose, openEditor, photograph, pixelAt } from '../../server/test/editor_page.ts';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { CYAN, onFloor, RUNNER, runner, SIDE, spr, TARGET, target } from './wine_sprites.ts';
import { type Colour, eventually, type Point, SCREEN } from './x_display.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const INPUT = 'Sprites: say something';
const BEYOND = 'Sprite beyond';

const skip = whyNoWine() ?? buildWindowsClient() ?? noBrowser;

describe('the windows client beside a page', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: WineDesktop;
  let browser: Browser;
  let bob: Page;
  /** Errors of the page. */
  const faults: string[] = [];

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('page', 'openbox');
    // Alone in a private world, each is beyond every edge of the other.
    ada.writeSettings({ relay: relay.url, world: 'both', name: 'Ada', sound: false, calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height);
    ada.keepSprite(spr(TARGET), TARGET.name, 300, 300);
    ada.launch(WINDOWS_CLIENT);
    browser = await launchBrowser();
    // With reduced motion his sprites stay where the test leaves them.
    bob = await joinPage(browser, `${relay.url}/?world=both`, 'Bob', faults, { reducedMotion: 'reduce' });
    await bob.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Ada' }).waitFor();
    await ada.waitFor('the sprite', (screenshot) => screenshot.find(CYAN));
  });
  after(async () => {
    await browser?.close();
    await ada?.stop();
    await relay?.stop();
  });

  const shot = (name: string) => ada.capture().save(join(SHOTS, `wine-${name}.png`));

  it('hears what the page says, and the page shows what it says', async () => {
    await bob.locator('#canvas').focus();
    await bob.keyboard.press('Enter');
    await bob.locator('#saying:not([readonly])').fill('May my cat come over?');
    await bob.keyboard.press('Enter');
    await ada.frame('Bob: May my cat come over\\?');
    await ada.chooseOf(onFloor(runner), ['y'], 'the input is open', async () => (await ada.frames(INPUT)).length === 1);
    await ada.focusOn(INPUT);
    await ada.type('Let it walk up to the edge first');
    await ada.press('Return');
    const bubble = bob.locator('#bubbles', { hasText: 'Let it walk up to the edge first' });
    await bubble.waitFor();
    assert.match((await bubble.textContent()) ?? '', /Ada/);
    await ada.frame('Let it walk up to the edge first');
    shot('talk-with-a-page');
    await shoot(bob, 'talk-with-a-program');
    await ada.press('Escape');
  });

  it("sees the page's cat coming before it crosses", async () => {
    await bob.locator('#canvas').focus();
    await bob.keyboard.press('n');
    await bob.keyboard.down('ArrowRight');
    await bob.waitForFunction((x) => globalThis.sprites.sprites()[0].x > x, VIEW.width - 120);
    await bob.keyboard.up('ArrowRight');
    await ada.moveTo({ x: 640, y: 400 });
    await ada.moveTo({ x: 0, y: 400 });
    // The pane, and at least one silhouette in it.
    await eventually('Ada sees a silhouette', async () => (await ada.frames(BEYOND)).length >= 2);
    shot('peek-1-seen');
    const own = (await ada.frames('Sprite')).length;
    const silhouettes = (await ada.frames(BEYOND)).length;
    await bob.keyboard.press('Shift+ArrowRight');
    await eventually('the cat is here', async () => (await ada.frames('Sprite')).length === own + 1);
    shot('peek-2-crossed');
    await eventually('its silhouette is gone', async () => (await ada.frames(BEYOND)).length < silhouettes);
    await ada.moveTo({ x: 640, y: 400 });
    await ada.isGone(BEYOND);
    assert.deepEqual(faults, []);
  });

  it('throws a sprite to the page, which shows it at the same relative height', async () => {
    const from = { x: 1000, y: 240 };
    const arrival = bob.waitForFunction(() => {
      const { x, y } = globalThis.sprites.sprites().find(({ name }) => name === 'Target') ?? {};
      return x !== undefined && { x, y };
    });
    await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 });
    const { x, y } = (await (await arrival).jsonValue()) as Point;
    const { width, height } = bob.viewportSize()!;
    assert.ok(x < width / 2, `it enters at the left, not at ${x}`);
    // y is its foot, half its height below its middle. It is a parcel until its picture has arrived, and a parcel falls.
    const middle = (from.y / SCREEN.height) * height;
    assert.ok(Math.abs(y - middle - SIDE / 2) < 40, `left at ${middle} of ${height}, came at ${y}`);
  });

  it('receives a picture that the editor of the page has made from a photo', async () => {
    const editor = await bob.context().newPage();
    editor.on('pageerror', (error) => faults.push(`editor: ${error.stack}`));
    await openEditor(editor, relay.url);
    const file = await choose(editor, 'Redling.jpg', 'image/jpeg', await photograph(browser));
    const [red, green, blue, alpha] = await pixelAt(editor, 0.5, 0.3);
    assert.ok(red > 150 && alpha === 255, 'the head');
    const head: Colour = [red, green, blue];
    await editor.click('#throw');
    await editor.locator('#finished', { hasText: 'Redling is on your desktop' }).waitFor();
    await shoot(editor, 'make-for-windows');
    await bob.bringToFront();
    const isHere = () => bob.evaluate((of) => globalThis.sprites.sprites().some((one) => one.file === of), file);
    await eventually('it is on the desktop', isHere);
    assert.equal(ada.capture().find(head), undefined, 'Ada has nothing of this colour');
    await eventually('it has left', async () => {
      await bob.evaluate((of) => {
        const index = globalThis.sprites.sprites().findIndex((one) => one.file === of);
        if (index >= 0) globalThis.sprites.throw(index, 'right');
      }, file);
      return !(await isHere());
    });
    const { found } = await ada.waitFor('the picture', (screenshot) => {
      const area = screenshot.find(head);
      return area && area.bottom - area.top > 8 ? area : undefined;
    });
    assert.ok(found.right - found.left < 100, 'its background is not there');
    ada.capture().save(join(SHOTS, 'wine-made-in-the-editor.png'));
    assert.deepEqual(faults, []);
  });
});
