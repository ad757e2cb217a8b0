/**
 * Pages in a real browser look over an edge: the neighbour's sprites are silhouettes before they cross.
 *
 * Ann looks, over a socket; Bob is looked at, over long-polls. They are alone in a private world, so each is beyond every edge of the
 * other.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { chooseWorld, comeIn, joinPage, noBrowser, openPage, shoot, VIEW } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { join } from './desktop_client.ts';
import type { RelayProcess } from './relay_process.ts';

describe('peek in a browser', { timeout: 900_000, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ann: Page;
  let bob: Page;
  let stagesOfBob = 0;
  /** Bob's first sprite, which the keys move. */
  let first: { file: string };
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    ann = await joinPage(browser, `${relay.url}/?world=peek`, 'Ann', faults, { reducedMotion: 'no-preference' });
    // With reduced motion, as by default, his sprites stay where the test leaves them.
    const calm = { colorScheme: 'dark' } as const;
    bob = await joinPage(browser, `${relay.url}/?world=peek&transport=poll`, 'Bob', faults, calm);
    bob.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/stage')) stagesOfBob++;
    });
    await ann.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Bob' }).waitFor();
    await bob.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Ann' }).waitFor();
  });
  after(closePages);

  /** Rests with the pointer at the left edge, but not on the neighbour's name. */
  async function rest(page: Page): Promise<void> {
    await page.mouse.move(0.5 * VIEW.width, 0.8 * VIEW.height);
    await page.mouse.move(4, 0.8 * VIEW.height);
  }

  const signs = (page: Page) => page.locator('.neighbour.watching');

  /** Lets Bob's first sprite run until its x is above `from` when it runs to the right, or below it when it runs to the left. */
  async function run(key: 'ArrowRight' | 'ArrowLeft', from: number): Promise<void> {
    await bob.keyboard.down(key);
    await bob.waitForFunction(
      ([x, right]) => (right ? globalThis.sprites.sprites()[0].x > x : globalThis.sprites.sprites()[0].x < x),
      [from, key === 'ArrowRight'] as const,
    );
    await bob.keyboard.up(key);
  }

  /** Waits until Ann sees that sprite, by its file, between these px beyond her left edge. */
  const annSees = (from: number, to: number) =>
    ann.waitForFunction(
      ([file, low, high]) =>
        globalThis.sprites.view().silhouettes.some((one) => one.file === file && one.x >= low && one.x <= high),
      [first.file, from, to] as const,
    );

  it('shows the neighbour while the pointer rests at the edge, and the neighbour a sign', async () => {
    assert.equal(await bob.locator('#stage').getAttribute('aria-pressed'), 'true', 'a private world shows its stages');
    assert.equal(stagesOfBob, 0);
    await bob.locator('#canvas').focus();
    await bob.keyboard.press('n');
    [first] = await bob.evaluate(() => globalThis.sprites.sprites());
    await run('ArrowRight', VIEW.width - 120);
    await rest(ann);
    // It stands as far from the edge as on Bob's desktop: it stops 120 px before the edge, or later. Another sprite may push it a little.
    await annSees(-180, 0);
    await ann.waitForFunction(() => globalThis.sprites.view().shift > 200);
    await signs(bob).first().waitFor();
    assert.equal(await ann.evaluate(() => globalThis.sprites.view().edge), 'left');
    await shoot(ann, 'peek-1-ann-looks');
    await shoot(bob, 'peek-2-bob-is-looked-at');
  });

  it('moves the silhouettes as the sprites move', async () => {
    await run('ArrowLeft', VIEW.width - 260);
    await annSees(-480, -200);
    await run('ArrowRight', VIEW.width - 120);
    await annSees(-180, 0);
  });

  it('is in no picture taken during the peek', async () => {
    await ann.waitForFunction(() => globalThis.sprites.view().shift > 200);
    const [file] = await Promise.all([ann.waitForEvent('download'), ann.keyboard.press('c')]);
    const { width, data } = PNG.sync.read(readFileSync(await file.path()));
    // A row of sky, from side to side: what is beyond the edge has a ground of its own, and a border.
    const row = data.subarray(4 * 120 * width, 4 * 121 * width);
    const most = Math.max(...row.map((value, at) => Math.abs(value - row[at % 4])));
    assert.ok(most <= 3, `no pixel differs by more than a gradient may: ${most}`);
  });

  it('shows a sprite as a silhouette before it crosses, and then as itself', async () => {
    // In each frame: whether Ann sees the sprite as a silhouette, and whether it is on her desktop. She looks before Bob throws it.
    const seen = await ann.evaluateHandle((file) => {
      const frames: { beyond: boolean; here: boolean }[] = [];
      const look = () => {
        const beyond = globalThis.sprites.view().silhouettes.some((one) => one.file === file);
        const here = globalThis.sprites.sprites().some((one) => one.file === file && !one.fromShelf);
        frames.push({ beyond, here });
        if (beyond || !here) requestAnimationFrame(look);
      };
      look();
      return frames;
    }, first.file);
    await bob.keyboard.press('Shift+ArrowRight');
    await ann.waitForFunction((all) => all.some(({ beyond, here }) => here && !beyond), seen);
    const frames = await seen.jsonValue();
    assert.deepEqual(frames[0], { beyond: true, here: false });
    assert.deepEqual(frames.at(-1), { beyond: false, here: true });
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

  it('says why nothing is seen when the neighbour has turned it off; when it is on again, a key opens the view', async () => {
    await bob.click('#stage');
    await bob.locator('.notice', { hasText: 'Nobody looks in any more.' }).waitFor();
    assert.equal(await bob.locator('#stage').getAttribute('aria-pressed'), 'false');
    const errors: string[] = [];
    ann.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await rest(ann);
    await ann.locator('#peek-hint', { hasText: 'Bob does not show what is there.' }).waitFor();
    await shoot(ann, 'peek-4-hidden');
    assert.deepEqual(errors, [], 'a refused peek is no error for the console');
    await ann.mouse.move(0.7 * VIEW.width, 0.5 * VIEW.height);
    await ann.locator('#peek-hint').waitFor({ state: 'hidden' });
    await bob.click('#stage');
    await bob.locator('.notice', { hasText: 'Neighbours may look in' }).waitFor();
    await ann.locator('#canvas').focus();
    await ann.keyboard.press('v');
    await ann.waitForFunction(() => globalThis.sprites.view().edge === 'left' && globalThis.sprites.view().shift > 200);
    await ann.keyboard.press('v');
    await ann.waitForFunction(
      () => globalThis.sprites.view().edge === 'right' && globalThis.sprites.view().shift > 200,
    );
    await ann.keyboard.press('Escape');
    await ann.waitForFunction(() => globalThis.sprites.view().shift === 0);
    await signs(bob).first().waitFor({ state: 'detached' });
  });

  it('closes when the neighbour turns it off meanwhile, and says why', async () => {
    await ann.keyboard.press('v');
    await ann.waitForFunction(() => globalThis.sprites.view().shift > 200);
    await bob.click('#stage');
    await ann.waitForFunction(() => globalThis.sprites.view().shift === 0);
    await ann.locator('#peek-hint', { hasText: 'Bob does not show what is there.' }).waitFor();
    await signs(bob).first().waitFor({ state: 'detached' });
    await ann.keyboard.press('Escape');
    await ann.locator('#peek-hint').waitFor({ state: 'hidden' });
  });

  it('is off in commons, also for those who are invited there, and on in a private world', async () => {
    const { invitation } = await join(relay.url);
    for (const [fragment, isPrivate, pressed] of [
      ['', false, 'false'],
      [`#near=${invitation}`, false, 'false'],
      ['', true, 'true'],
    ] as const) {
      const page = await openPage(browser, 'Carol', faults);
      await page.goto(`${relay.url}/${fragment}`);
      if (isPrivate) {
        await chooseWorld(page);
        await page.check('#private');
      }
      await comeIn(page);
      assert.equal(await page.locator('#stage').getAttribute('aria-pressed'), pressed, `${fragment} ${isPrivate}`);
      assert.equal(
        await page.textContent('#world-name'),
        isPrivate ? 'in a private world' : 'in the world of everybody',
      );
      await page.context().close();
    }
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
