/** A page in a real browser takes a picture of its stage, and saves its last five seconds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GifReader } from 'omggif';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { comeIn, joinPage, noBrowser, openPage, SCREENSHOTS, takesScreenshots } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { type RelayProcess, until } from './relay_process.ts';

declare global {
  var wordsDrawn: string[];
  var filesShared: { name: string; type: string; size: number }[];
}

/** There is room for a bubble beside the cards. */
const VIEW = { width: 900, height: 700 };

/** Keeps what the page writes on canvases. */
function keepWords(): void {
  globalThis.wordsDrawn = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (...args) {
    globalThis.wordsDrawn.push(args[0]);
    fillText.apply(this, args);
  };
}

/** Pixels, four bytes each. */
interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

const pixelOf = ({ width, data }: Pixels, x: number, y: number) => [
  ...data.subarray(4 * (y * width + x)).subarray(0, 3),
];

/** Where the link and its dark ground begin and end in a frame, in px from the left. */
function linkIn(pixels: Pixels): { ground: number; text: number }[] {
  const isDark = (x: number, y: number) => pixelOf(pixels, x, y)[1] < 120;
  const columns = Array.from({ length: pixels.width }, (_, x) => x);
  const ground = columns.filter((x) => isDark(x, 14));
  const rows = Array.from({ length: 16 }, (_, i) => 19 + i);
  const text = columns.filter((x) => x > 13 + 15 / 2 && x < ground.at(-1)! && rows.some((y) => !isDark(x, y)));
  return [0, -1].map((end) => ({ ground: ground.at(end)!, text: text.at(end)! }));
}

/** The frames of a GIF, as a viewer shows them, and for how long. */
function framesOf(bytes: Buffer): { pixels: Pixels; ms: number }[] {
  const reader = new GifReader(bytes as never);
  const { width, height } = reader;
  const shown = new Uint8Array(4 * width * height);
  return Array.from({ length: reader.numFrames() }, (_, i) => {
    reader.decodeAndBlitFrameRGBA(i, shown as never);
    return { pixels: { width, height, data: shown.slice() }, ms: 10 * reader.frameInfo(i).delay };
  });
}

describe('pictures of the stage', { timeout: 900_000, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ann: Page;
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    ann = await joinPage(browser, `${relay.url}/?world=pictures`, 'Ann', faults, { viewport: VIEW });
    await ann.evaluate(keepWords);
  });
  after(closePages);

  /** Resolves to what the page downloads when something is done to it. */
  async function download(page: Page, act: () => Promise<unknown>): Promise<{ name: string; bytes: Buffer }> {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    const bytes = readFileSync(await file.path());
    const ending = file.suggestedFilename().split('.').at(-1);
    if (takesScreenshots) await file.saveAs(join(SCREENSHOTS, `photographs.${ending}`));
    return { name: file.suggestedFilename(), bytes };
  }

  /** The pixels of the sprites on the page's own canvas that nothing shines through. */
  const onStage = (page: Page) =>
    page.evaluate(() => {
      const { width, height } = document.querySelector('#canvas') as HTMLCanvasElement;
      const context = (document.querySelector('#canvas') as HTMLCanvasElement).getContext('2d');
      const { data } = (context as CanvasRenderingContext2D).getImageData(0, 0, width, height);
      const pixels: [at: number, red: number, green: number, blue: number][] = [];
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] === 255) pixels.push([i / 4, data[i], data[i + 1], data[i + 2]]);
      return pixels;
    });

  it('have the pixels of the sprites, what they say, and the sky, but nothing of the cards', async () => {
    await ann.waitForFunction(() => globalThis.sprites.sprites().every(({ mode }) => mode === 'idle'));
    // From here on it must not take longer than the bubble is shown.
    await ann.keyboard.press('Enter');
    await ann.locator('#saying:not([readonly])').fill('Look at me!');
    await ann.keyboard.press('Enter');
    await ann.click('#say-close');
    await ann.locator('.bubble.placed', { hasText: 'Look at me!' }).waitFor();
    await ann.focus('#canvas');
    await ann.keyboard.press('p');
    const { name, bytes } = await download(ann, () => ann.keyboard.press('c'));
    assert.match(name, /^Sprites \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/);
    const picture = PNG.sync.read(bytes);
    assert.deepEqual([picture.width, picture.height], [VIEW.width, VIEW.height]);
    const pixels = await onStage(ann);
    const same = pixels.filter(([at, ...colour]) => colour.every((value, i) => picture.data[4 * at + i] === value));
    // The bubble may cover some, and the picture may be a frame of the screen older.
    assert.ok(pixels.length > 1_000 && same.length > 0.8 * pixels.length, `${same.length} of ${pixels.length} pixels`);
    assert.ok((await ann.evaluate(() => globalThis.wordsDrawn)).includes('Look at me!'));
    // The bar was there.
    for (let x = 0; x < VIEW.width; x++) {
      const far = pixelOf(picture, x, 60).map((value, i) => Math.abs(value - [0xdc, 0xe4, 0xff][i]));
      assert.ok(Math.max(...far) <= 4, `nothing but sky: ${pixelOf(picture, x, 60)} at ${x}`);
    }
    await ann.keyboard.press('p');
  });

  it('move for the last five seconds, and have the invitation in them', async () => {
    await ann.keyboard.press('n');
    await ann.keyboard.down('ArrowRight');
    await ann.evaluate(async () => {
      for (let frames = 0; frames < 110; frames++) await new Promise(requestAnimationFrame); // five seconds, and some more
    });
    await ann.keyboard.up('ArrowRight');
    const { name, bytes } = await download(ann, () => ann.keyboard.press('Shift+C'));
    assert.match(name, /\.gif$/);
    const frames = framesOf(bytes);
    assert.ok(frames.length > 20 && frames.length <= 100, `${frames.length} frames`);
    const lastMs = frames.reduce((sum, { ms }) => sum + ms, 0);
    assert.ok(Math.abs(lastMs - 5_000) <= 100, `${lastMs} ms`);
    const drawn = await ann.evaluate(() => globalThis.wordsDrawn);
    const link = drawn.findLast((words) => words.includes('#near='));
    assert.match(link ?? '', new RegExp(`^${new URL(relay.url).host}/#near=[0-9a-f]+\\.[0-9a-f]{32}$`));
    for (const { pixels } of frames) {
      assert.deepEqual([pixels.width, pixels.height], [VIEW.width, VIEW.height]);
      const [from, to] = linkIn(pixels);
      assert.ok(from.text - from.ground < 20 && to.ground - to.text < 20, 'the link is on its ground, and fills it');
    }
    await ann.locator('.notice', { hasText: 'The animation shows your invitation' }).waitFor();
    // A friend who types the link of the picture comes in.
    const guest = await openPage(browser, 'Carol', faults);
    await guest.goto(`http://${link}`);
    await comeIn(guest);
    assert.equal(await guest.textContent('#world-name'), await ann.textContent('#world-name'));
    await guest.context().close();
  });

  it('have the address of the relay in commons, and are shared by a phone', async () => {
    const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
    const page = await joinPage(browser, `${relay.url}/?lang=de`, 'Dora', faults, phone);
    await page.evaluate(keepWords);
    await page.evaluate(() => {
      globalThis.filesShared = [];
      navigator.canShare = () => true;
      navigator.share = async ({ files = [] } = {}) => {
        for (const { name, type, size } of files) globalThis.filesShared.push({ name, type, size });
      };
    });
    for (const [entry, type] of [
      ['Die letzten fünf Sekunden speichern', 'image/gif'],
      ['Ein Bild machen', 'image/png'],
    ]) {
      await page.tap('#camera');
      await page.tap(`#menu button:text-is("${entry}")`);
      await until(`${type} is shared`, async () =>
        (await page.evaluate(() => globalThis.filesShared)).some((file) => file.type === type && file.size > 1_000),
      );
    }
    const words = await page.evaluate(() => globalThis.wordsDrawn);
    assert.ok(words.includes(new URL(relay.url).host));
    assert.ok(words.every((one) => !one.includes('#near=')));
    await page.context().close();
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
