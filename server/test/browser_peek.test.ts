/**
 * Pages in a real browser look over an edge: the neighbour's sprites are silhouettes before they cross.
 *
 * Ann looks, over a socket; Bob is looked at, over long-polls. They are alone in a private world, so each is beyond every edge of the
 * other. The test writes screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { joinPage, launchBrowser, noBrowser, shoot } from './browser_page.ts';
import { type RelayProcess, startRelay } from './relay_process.ts';

const VIEW = { width: 900, height: 600 };

describe('peek in a browser', { timeout: 900_000, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ann: Page;
  let bob: Page;
  let stagesOfBob = 0;
  const faults: string[] = [];
  before(async () => {
    relay = await startRelay({ workers: 0 });
    browser = await launchBrowser();
    ann = await joinPage(browser, `${relay.url}/?world=peek`, 'Ann', faults);
    bob = await joinPage(browser, `${relay.url}/?world=peek&transport=poll`, 'Bob', faults, { colorScheme: 'dark' });
    bob.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/stage')) stagesOfBob++;
    });
    await ann.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Bob' }).waitFor();
    await bob.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Ann' }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
  });

  /** Rests with the pointer at the left edge, but not on the neighbour's name. */
  async function rest(page: Page): Promise<void> {
    await page.mouse.move(0.5 * VIEW.width, 0.8 * VIEW.height);
    await page.mouse.move(4, 0.8 * VIEW.height);
  }

  const signs = (page: Page) => page.locator('.neighbour.watching');

  /** Selects a sprite and lets it run until it is within `px` of the right edge, where it then stands for some seconds. */
  async function runToTheRight(page: Page, px: number): Promise<void> {
    await page.locator('#canvas').focus();
    await page.keyboard.press('n');
    await page.keyboard.down('ArrowRight');
    await page.waitForFunction((x) => globalThis.sprites.sprites().some((sprite) => sprite.x > x), VIEW.width - px);
    await page.keyboard.up('ArrowRight');
  }

  it('shows the neighbour while the pointer rests at the edge, and the neighbour a sign', async () => {
    assert.equal(await bob.locator('#stage').getAttribute('aria-pressed'), 'true', 'a private world shows its stages');
    assert.equal(stagesOfBob, 0);
    await runToTheRight(bob, 120);
    await rest(ann);
    await ann.waitForFunction(() => globalThis.sprites.view().silhouettes.some(({ x }) => x < 0 && x > -300));
    await ann.waitForFunction(() => globalThis.sprites.view().shift > 300);
    await signs(bob).first().waitFor();
    // Ann sees a sprite of Bob's as far from the edge as it is, and at the same height.
    const near = await ann.evaluate(() => globalThis.sprites.view().silhouettes.find(({ x }) => x > -300));
    assert.equal(near?.y, VIEW.height);
    assert.equal(await ann.evaluate(() => globalThis.sprites.view().edge), 'left');
    await shoot(ann, 'peek-1-ann-looks');
    await shoot(bob, 'peek-2-bob-is-looked-at');
  });

  it('moves the silhouettes as the sprites move', async () => {
    const nearest = () => Math.max(...globalThis.sprites.view().silhouettes.map(({ x }) => x));
    const before = await ann.evaluate(nearest);
    await bob.keyboard.down('ArrowLeft');
    await ann.waitForFunction(
      (from) => globalThis.sprites.view().silhouettes.some(({ x, animation }) => x < from - 40 && animation === 'walk'),
      before,
    );
    await bob.keyboard.up('ArrowLeft');
  });

  it('shows a sprite as a silhouette before it crosses, and then as itself', async () => {
    // What Ann sees of a thrown sprite in each frame, from now until it is hers.
    const seen = ann.evaluate(
      () =>
        new Promise<{ silhouette: number | null; guests: number }[]>((resolve) => {
          const frames: { silhouette: number | null; guests: number }[] = [];
          const look = () => {
            const flying = globalThis.sprites.view().silhouettes.filter(({ animation }) => animation === 'fall');
            const guests = globalThis.sprites.sprites().filter(({ fromShelf }) => !fromShelf).length;
            frames.push({ silhouette: flying.length > 0 ? Math.max(...flying.map(({ x }) => x)) : null, guests });
            if (guests === 0) requestAnimationFrame(look);
            else resolve(frames);
          };
          look();
        }),
    );
    await bob.keyboard.press('Shift+ArrowRight');
    const frames = await seen;
    const path = frames.flatMap(({ silhouette, guests }) => (silhouette === null || guests > 0 ? [] : [silhouette]));
    assert.ok(path.length > 0, 'it was a silhouette before');
    assert.ok((path.at(-1) as number) >= path[0], `it comes nearer: ${path[0]}, ${path.at(-1)}`);
    await ann.waitForFunction(
      () => !globalThis.sprites.view().silhouettes.some(({ animation, x }) => animation === 'fall' && x > 0),
    );
    await shoot(ann, 'peek-3-it-has-crossed');
  });

  it('ends when the pointer leaves the edge: the sign goes, and no stage is posted any more', async () => {
    await ann.mouse.move(0.7 * VIEW.width, 0.5 * VIEW.height);
    await ann.waitForFunction(() => globalThis.sprites.view().shift === 0);
    await signs(bob).first().waitFor({ state: 'detached' });
    const posted = stagesOfBob;
    assert.ok(posted > 0);
    const before = await bob.evaluate(() => globalThis.sprites.sprites().map(({ x }) => x));
    await bob.keyboard.press('n');
    await bob.keyboard.down('ArrowLeft');
    await bob.waitForFunction(
      (xs) => globalThis.sprites.sprites().some(({ x }, i) => Math.abs(x - xs[i]) > 60),
      before,
    );
    await bob.keyboard.up('ArrowLeft');
    assert.equal(stagesOfBob, posted);
  });

  it('says why nothing is seen when the neighbour has turned it off, and shows it when it is on again, by key', async () => {
    await bob.click('#stage');
    await bob.locator('.notice', { hasText: 'Nobody looks in any more.' }).waitFor();
    assert.equal(await bob.locator('#stage').getAttribute('aria-pressed'), 'false');
    await rest(ann);
    await ann.locator('#peek-hint', { hasText: 'Bob does not show what is there.' }).waitFor();
    await shoot(ann, 'peek-4-hidden');
    await ann.mouse.move(0.7 * VIEW.width, 0.5 * VIEW.height);
    await ann.locator('#peek-hint').waitFor({ state: 'hidden' });
    await bob.click('#stage');
    await bob.locator('.notice', { hasText: 'Neighbours may look in' }).waitFor();
    await ann.locator('#canvas').focus();
    await ann.keyboard.press('v');
    await ann.waitForFunction(() => globalThis.sprites.view().edge === 'left' && globalThis.sprites.view().shift > 300);
    await ann.keyboard.press('v');
    await ann.waitForFunction(
      () => globalThis.sprites.view().edge === 'right' && globalThis.sprites.view().shift > 300,
    );
    await ann.keyboard.press('Escape');
    await ann.waitForFunction(() => globalThis.sprites.view().shift === 0);
    await signs(bob).first().waitFor({ state: 'detached' });
  });

  it('asks before one joins: it is off in commons and on in a private world, unless one chooses', async () => {
    const page = await browser.newPage({ viewport: VIEW });
    await page.goto(relay.url);
    assert.equal(await page.isChecked('#show-stage'), false);
    await page.check('#private');
    assert.equal(await page.isChecked('#show-stage'), true);
    await page.uncheck('#private');
    assert.equal(await page.isChecked('#show-stage'), false);
    await page.check('#private');
    await page.uncheck('#show-stage');
    await shoot(page, 'peek-5-join');
    await page.fill('#name', 'Carol');
    await page.click('#enter');
    await page.waitForSelector('body[data-state="connected"]');
    assert.equal(await page.locator('#stage').getAttribute('aria-pressed'), 'false');
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
