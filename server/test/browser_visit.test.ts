/** A visit in a real browser: the welcome on a slow line, a visitor without a name, a phone, a GIF, a reload and a closed tab. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GifWriter } from 'omggif';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { readSpr } from '../wire/files/spr.ts';
import {
  blobOf,
  chooseWorld,
  comeIn,
  HOPS_AND_GREETS,
  hasLeft,
  joinPage,
  launchBrowser,
  modesAtHome,
  noBrowser,
  openMenuOf,
  openPage,
  seatOf,
  shoot,
} from './browser_page.ts';
import { DesktopClient } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true } as const;

/** A GIF of three frames of 4 × 4 pixels with a transparent margin, each shown for twice as long as the one before. */
function gifOf3(): Buffer {
  const bytes = Buffer.alloc(1024);
  const writer = new GifWriter(bytes, 8, 7, { palette: [0xff0000, 0x00ff00, 0x0000ff, 0xffffff], loop: 0 });
  const isInside = (at: number) => at % 8 >= 2 && at % 8 < 6 && at >= 8 && at < 5 * 8;
  for (const [frame, delay] of [10, 20, 40].entries()) {
    const pixels = Array.from({ length: 56 }, (_, at) => (isInside(at) ? frame : 3));
    writer.addFrame(0, 0, 8, 7, pixels, { delay, transparent: 3 });
  }
  return bytes.subarray(0, writer.end());
}

/** A photograph, as a BMP: a red square of 20 × 20 in the middle of 40 × 40 white pixels. */
function photograph(): Buffer {
  const bmp = Buffer.alloc(54 + 4_800, 255);
  bmp.fill(0, 0, 54).write('BM');
  for (const [at, number] of [
    [2, bmp.length],
    [10, 54],
    [14, 40],
    [18, 40],
    [22, 40],
    [26, 1 + 24 * 65_536], // planes, and bits of a pixel
  ]) {
    bmp.writeUInt32LE(number, at);
  }
  for (let y = 10; y < 30; y++) for (let x = 10; x < 30; x++) bmp.fill(0, 54 + 3 * (40 * y + x), 56 + 3 * (40 * y + x));
  return bmp;
}

describe('a visit in a browser', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  const faults: string[] = [];
  before(async () => {
    relay = await startRelay({ workers: 0 });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
    assert.deepEqual(faults, []);
  });

  async function visit(
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<Page> {
    const page = await openPage(browser, 'a visitor', faults, options);
    await prepare(page);
    await page.goto(`${relay.url}/`);
    return page;
  }

  const idOf = (page: Page) => page.evaluate(() => globalThis.sprites.desktop());

  it('is welcomed before any character is here, and sees the first sprite as soon as its picture is', async () => {
    let send = () => {};
    const isSent = new Promise<void>((resolve) => {
      send = resolve;
    });
    const asked: string[] = [];
    const page = await visit({}, (fresh) =>
      fresh.route('**/*.spr', async (route) => {
        asked.push(route.request().url());
        await isSent;
        await route.continue();
      }),
    );
    await page.waitForSelector('#enter:enabled');
    await until('the first characters are asked for', async () => asked.length >= 3);
    assert.equal(asked.length, 3, 'all others wait for them');
    assert.equal(await page.locator('body').getAttribute('data-sprites'), '0');
    send();
    await page.waitForFunction(() => Number(document.body.dataset.sprites) === 3);
    await page.waitForFunction(() => document.querySelectorAll('#parade canvas').length >= 6);
    const cut = await page.evaluate(() => {
      const parade = document.querySelector('#parade') as HTMLElement;
      const box = parade.getBoundingClientRect();
      const shown = [...parade.children]
        .map((one) => one.getBoundingClientRect())
        .filter((one) => one.top < box.bottom);
      return shown.filter((one) => one.left < box.left || one.right > box.right).length;
    });
    assert.equal(cut, 0, 'no character of the parade is cut');
    await shoot(page, 'visit-1-welcome');
    await page.context().close();
  });

  it('sees its sprite come home when it is alone: it hops and greets', async () => {
    const page = await joinPage(browser, `${relay.url}/?world=alone`, 'Al', faults, { reducedMotion: 'no-preference' });
    const { at, file } = await blobOf(page);
    const modes = modesAtHome(page, file);
    await page.evaluate((index) => globalThis.sprites.throw(index, 'right'), at);
    assert.match(await modes, HOPS_AND_GREETS);
    await page.locator('#away').waitFor({ state: 'hidden' });
    const [home] = await page.evaluate(
      (wanted) => globalThis.sprites.sprites().filter((one) => one.file === wanted),
      file,
    );
    assert.equal(home.fromShelf, true, 'it is an own one again');
    await shoot(page, 'visit-home');
    await page.context().close();
  });

  it('has a friendly name in its language without typing one, and keeps it', async () => {
    const page = await visit({ locale: 'de-AT' });
    await page.waitForSelector('#enter:enabled');
    const friendly = await page.getAttribute('#name', 'placeholder');
    assert.match(friendly ?? '', /^\p{Lu}\p{L}+er \p{Lu}\p{L}+$/u);
    await comeIn(page);
    assert.equal(await page.textContent('#who'), friendly);
    const again = await page.context().newPage();
    await again.goto(relay.url);
    await again.waitForSelector('#enter:enabled');
    assert.equal(await again.getAttribute('#name', 'placeholder'), friendly);
    await page.context().close();
  });

  it('keeps its desktop over a reload, and leaves at once when the tab is closed', async () => {
    const page = await visit();
    await comeIn(page);
    const seat = await seatOf(page);
    await page.reload();
    await page.waitForSelector('body[data-state="connected"]');
    assert.equal(await idOf(page), seat.desktop);
    // Another page of the site in the same tab, and back: the desktop has ended, and its sprites are here again.
    await page.goto(`${relay.url}/protocol`);
    await hasLeft(relay.url, seat);
    await page.goto(`${relay.url}/`);
    await page.waitForSelector('body[data-state="connected"]');
    assert.notEqual(await idOf(page), seat.desktop);
    await page.waitForFunction(() => Number(document.body.dataset.sprites) === 3);
    const next = await seatOf(page);
    await page.close({ runBeforeUnload: true });
    await hasLeft(relay.url, next);
  });

  it('leaves at once also in a browser that does not tell a reload from a closed tab, and joins again after a reload', async () => {
    const page = await visit({}, (fresh) =>
      fresh.addInitScript(() => addEventListener('pageswap', (event) => event.stopImmediatePropagation())),
    );
    await comeIn(page);
    const seat = await seatOf(page);
    await page.reload();
    await hasLeft(relay.url, seat);
    await page.waitForSelector('body[data-state="connected"]');
    await page.waitForFunction(() => Number(document.body.dataset.sprites) === 3);
    const next = await seatOf(page);
    assert.notEqual(next.desktop, seat.desktop);
    await page.close({ runBeforeUnload: true });
    await hasLeft(relay.url, next);
  });

  it('leaves at once also in a browser that stops its program before it hears that the page goes, as Firefox may', async () => {
    const page = await visit({}, (fresh) =>
      fresh.addInitScript(() => {
        delete (globalThis as { onpageswap?: unknown }).onpageswap;
        addEventListener('pagehide', (event) => event.stopImmediatePropagation());
      }),
    );
    await comeIn(page);
    const seat = await seatOf(page);
    await page.close({ runBeforeUnload: true });
    await hasLeft(relay.url, seat);
  });

  /** The page of someone who stays. */
  let page: Page;
  it('sees in forced colours what can be pressed, and whether it is paused', async () => {
    page = await visit({ forcedColors: 'active', colorScheme: 'dark' });
    await page.waitForSelector('#enter:enabled');
    const style = (id: string, name: string, part?: string) =>
      page.evaluate(
        ([where, what, pseudo]) =>
          getComputedStyle(document.querySelector(where!) as Element, pseudo).getPropertyValue(what!),
        [id, name, part],
      );
    assert.equal(await style('#enter', 'border-top-style'), 'solid');
    await comeIn(page);
    assert.match(await style('#pause', 'background-image', '::before'), /gradient/, 'the two bars are drawn');
    assert.equal(await style('#lamp', 'forced-color-adjust'), 'none');
    await page.click('#pause');
    assert.equal(await style('#pause', 'outline-style'), 'solid');
    await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
    await page.click('#pause');
  });

  it('plays a dropped GIF, each frame for its time', async () => {
    const stored = page.waitForRequest(
      (request) => request.method() === 'PUT' && request.url().includes('/v1/sprites/'),
    );
    await page.setInputFiles('#file', { name: 'dance.gif', mimeType: 'image/gif', buffer: gifOf3() });
    const { description } = readSpr((await stored).postDataBuffer() as Buffer);
    assert.equal(description.name, 'dance');
    assert.deepEqual(description.animations.idle, { frames: [0, 1, 1, 2, 2, 2, 2], fps: 10 });
    assert.deepEqual(description.frame, { width: 4, height: 4 }, 'its margin is cut off');
  });

  it('has a photograph cut out, and brings its background back in its menu, and removes it again', async () => {
    const sprites = async () =>
      (await page.evaluate(() => globalThis.sprites.sprites())).filter(({ name }) => name === 'Cat');
    const sides: number[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'PUT' || !request.url().includes('/v1/sprites/')) return;
      sides.push(readSpr(request.postDataBuffer() as Buffer).description.hitbox[2]);
    });
    await page.setInputFiles('#file', { name: 'Cat.bmp', mimeType: 'image/bmp', buffer: photograph() });
    await page.locator('.notice', { hasText: 'Cat is cut out' }).waitFor();
    await until('the relay has it', async () => sides.length === 1);
    const [{ file: cut }] = await sprites();
    await (await openMenuOf(page, cut, 'Bring its background back')).click();
    await until('the relay has the other one', async () => sides.length === 2);
    const [{ file: kept }] = await sprites();
    assert.notEqual(kept, cut);
    assert.deepEqual(sides, [18, 40]);
    await shoot(page, 'visit-background');
    await (await openMenuOf(page, kept, 'Cut out its background')).click();
    await until('it is cut out again', async () => (await sprites())[0].file === cut);
    assert.equal((await sprites()).length, 1);
    assert.equal(await page.locator('#characters button[title="Cat"]').count(), 1);
  });

  it('is told that a picture of 1 MiB or more is being read, until its sprite drops in', async () => {
    const said = await page.evaluateHandle(() => {
      const texts: string[] = [];
      const note = (change: string, nodes: NodeList) => {
        for (const { textContent } of nodes) if (textContent?.includes('.png')) texts.push(`${change} ${textContent}`);
      };
      const list = document.getElementById('notices') as HTMLElement;
      new MutationObserver((records) => {
        for (const { addedNodes, removedNodes } of records) {
          note('+', addedNodes);
          note('-', removedNodes);
        }
      }).observe(list, { childList: true });
      return texts;
    });
    const picture = PNG.sync.write(new PNG({ width: 40, height: 30, colorType: 2 }));
    for (const [name, sizeBytes, words] of [
      ['quick', 2 ** 20 - 1, []],
      ['slow', 2 ** 20, ['+ slow.png becomes a sprite …', '- slow.png becomes a sprite …']],
    ] as const) {
      const buffer = Buffer.concat([picture, Buffer.alloc(sizeBytes - picture.length)]); // a browser ignores what follows a picture
      await page.setInputFiles('#file', { name: `${name}.png`, mimeType: 'image/png', buffer });
      await page.waitForFunction(
        (of) => globalThis.sprites.sprites().some((sprite) => sprite.name === of),
        name as string,
      );
      assert.deepEqual(await said.jsonValue(), words, name);
    }
    await page.context().close();
  });

  for (const locale of ['en-GB', 'de-DE']) {
    it(`sees its button at once, then eight wide letters of a name and every tool, on small phones: ${locale}`, async () => {
      const page = await visit({ ...PHONE, locale });
      await page.waitForSelector('#enter:enabled');
      for (const [width, height] of [
        [320, 568],
        [667, 375],
      ] as const) {
        await page.setViewportSize({ width, height });
        // The card rises for a moment when it opens.
        await until(`the whole button is seen: ${width} × ${height}`, async () => {
          const box = (await page.locator('#join').boundingBox())!;
          const button = (await page.locator('#enter').boundingBox())!;
          return button.y + button.height <= Math.min(height, box.y + box.height);
        });
      }
      await page.setViewportSize(PHONE.viewport);
      const words = locale.slice(0, 2);
      await page.fill('#name', 'Wammmmmw');
      await chooseWorld(page);
      await page.fill('#world', `320-${words}`);
      await comeIn(page);
      await page.locator('.shelf canvas').first().waitFor();
      const write = (id: string, text: string) =>
        page.locator(id).evaluate((one, to) => {
          one.textContent = to;
        }, text);
      const isCut = () => page.locator('#who').evaluate((name) => name.scrollWidth > name.clientWidth);
      const placed = await page.textContent('#world-name');
      for (const [width, height] of [
        [320, 640],
        [360, 740],
      ] as const) {
        await page.setViewportSize({ width, height });
        await write('#who', 'Wammmmmw');
        await write('#world-name', placed ?? '');
        assert.equal(await isCut(), false, `${width}`);
        for (const tool of ['#say', '#stage', '#invite', '#camera', '#pause', '#help', '.add']) {
          const { x, width: wide, height: high } = (await page.locator(tool).boundingBox())!;
          assert.ok(x >= 0 && x + wide <= width, `${width}: ${tool} is within the screen`);
          assert.ok(wide >= 44 && high >= 44, `${width}: ${tool} is large enough for a finger, ${wide} × ${high} px`);
        }
        await shoot(page, `visit-4-bar-${width}-${words}`);
        await write('#world-name', 'in x');
        assert.equal(await isCut(), false, `${width}: nor in a world with a short name`);
        await write('#who', 'W'.repeat(32));
        await write('#world-name', 'W'.repeat(32));
        const world = (await page.locator('#world-name').boundingBox())!;
        assert.ok(world.width >= 40 && world.x + world.width <= width, `${width}: the world beside a long name`);
        await shoot(page, `visit-5-long-name-${width}-${words}`);
      }
      await write('#who', 'Wammmmmw');
      await write('#world-name', locale === 'de-DE' ? 'in der Welt für alle' : 'in the world of everybody');
      for (const width of [390, 635, 820, 1580, 1581, 1700]) {
        await page.setViewportSize({ width, height: 700 });
        const cut = await page.locator('#world-name').evaluate((one) => one.scrollWidth - one.clientWidth);
        assert.equal(cut, 0, `${width}: the world of everybody is read whole`);
      }
      await page.context().close();
    });
  }

  it('can touch everything on a phone, gets help for fingers, and sees that it is paused', async () => {
    const page = await visit(PHONE);
    const small = () =>
      page.evaluate(() =>
        [
          ...document.querySelectorAll(
            'button, a, summary, select, input:not([type="checkbox"]), label:has([type="checkbox"])',
          ),
        ]
          .filter((one) => one.checkVisibility() && one.closest('p:not(.buttons)') === null) // a link in a sentence is as high as the sentence
          .filter((one) => {
            const { width, height } = one.getBoundingClientRect();
            return width > 1 && (width < 43.5 || height < 43.5);
          })
          .map((one) => one.outerHTML.slice(0, 90)),
      );
    await page.waitForSelector('#enter:enabled');
    await chooseWorld(page);
    assert.deepEqual(await small(), [], 'the welcome');
    await page.fill('#world', 'fingers');
    await comeIn(page);
    assert.match((await page.textContent('#alone')) ?? '', /your own\s+neighbour/);
    assert.equal(await page.isVisible('#second'), false, 'a phone has no second window');
    await page.tap('#alone-code');
    await page.waitForFunction(() => {
      const code = document.querySelector('#alone-qr') as HTMLCanvasElement;
      return !code.hidden && code.width > 150;
    });
    await page.tap('#alone-code');
    await page.evaluate(() => {
      navigator.share = async (shared) => {
        document.body.dataset.shared = shared?.url;
      };
    });
    await page.tap('#alone-invite');
    await page.waitForSelector('body[data-shared*="#near="]');
    // A screen of 1280 × 800 with a zoom of 200 % and 400 %.
    for (const [width, height] of [
      [640, 400],
      [320, 200],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const tool of ['#say', '#stage', '#invite']) {
        const isFree = await page.locator(tool).evaluate((one) => {
          const { x, y, width: wide, height: high } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(x + wide / 2, y + high / 2));
        });
        assert.ok(isFree, `nothing covers ${tool} at ${width} × ${height}`);
      }
    }
    await page.setViewportSize(PHONE.viewport);
    await shoot(page, 'visit-2-phone');
    const al = await DesktopClient.join(relay.url, { name: 'Al', world: 'fingers' });
    await page.locator('.edge[data-edge="left"] .neighbour').waitFor();
    for (const tab of await page.locator('.neighbour').all()) {
      const { x, y, width, height } = (await tab.boundingBox())!;
      const { width: right, height: bottom } = PHONE.viewport;
      assert.ok(x >= 0 && y >= 0 && x + width <= right && y + height <= bottom, `${x}, ${y}: ${width} × ${height}`);
    }
    await page.tap('#say');
    assert.deepEqual(await small(), [], 'the desktop');
    // How long a saying is, is only shown near its end.
    for (const [sizeBytes, isShown] of [
      [0, false],
      [210, false],
      [211, true],
    ] as const) {
      await page.fill('#saying', 'x'.repeat(sizeBytes));
      assert.equal(await page.isVisible('#saying-size'), isShown, `${sizeBytes} bytes`);
    }
    await page.fill('#saying', '');
    await page.tap('#say-close');
    await page.tap('.edge[data-edge="left"] .neighbour');
    await page.locator('#menu button').waitFor();
    assert.deepEqual(await small(), [], 'the menu of a neighbour');
    await page.keyboard.press('Escape');
    await page.tap('#help');
    assert.equal(await page.locator('#help-text .by-touch').first().isVisible(), true);
    assert.equal(await page.locator('#help-text kbd:visible').count(), 0);
    await page.setViewportSize({ width: 320, height: 300 });
    await page.keyboard.press('Escape');
    await page.tap('#help');
    assert.equal(
      await page.evaluate(() => document.querySelector('#help-text')?.scrollTop),
      0,
      'it begins at its start',
    );
    await page.setViewportSize(PHONE.viewport);
    await page.tap('#help-text button');
    await page.tap('#pause');
    await page.waitForSelector('#paused:visible');
    const { drawn, passedMs } = await page.evaluate(async () => {
      let count = 0;
      const { clearRect } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        count++;
        clearRect.apply(this, box);
      };
      const startMs = performance.now();
      for (let frames = 0; frames < 20; frames++) await new Promise(requestAnimationFrame);
      CanvasRenderingContext2D.prototype.clearRect = clearRect;
      return { drawn: count, passedMs: performance.now() - startMs };
    });
    assert.ok(drawn <= passedMs / 250 + 2, `a paused page has drawn ${drawn} frames in ${passedMs} ms`);
    await shoot(page, 'visit-3-paused');
    await page.tap('#paused');
    await page.waitForSelector('#paused', { state: 'hidden' });
    for (const [path, ready] of [
      ['/gallery', '.entry canvas'],
      ['/make', '#stage-empty'],
      ['/world', '#thrown:not(:text-is("–"))'],
      ['/about', '#here:not(:empty)'],
      ['/privacy', 'h1'],
    ]) {
      await page.goto(`${relay.url}${path}`);
      await page.waitForSelector(ready);
      assert.deepEqual(await small(), [], path);
    }
    await al.leave();
    await page.context().close();
  });

  it('is shown how to throw as soon as there is a neighbour, until a neighbour has got a sprite', async () => {
    const al = await DesktopClient.join(relay.url, { name: 'Al', world: 'lesson' });
    const page = await openPage(browser, 'a visitor', faults);
    const enter = async (one: Page) => {
      await one.goto(`${relay.url}/?world=lesson`);
      await comeIn(one);
      await one.locator('.edge .neighbour:visible', { hasText: 'Al' }).first().waitFor();
    };
    const lesson = (one: Page) => one.locator('.notice', { hasText: 'Drag a sprite' });
    await enter(page);
    await lesson(page).waitFor();
    await page.focus('#canvas');
    await page.keyboard.press('n');
    await page.keyboard.press('Shift+ArrowRight');
    await page.locator('.notice', { hasText: 'is with Al now' }).waitFor();
    assert.equal(await lesson(page).count(), 0, 'the lesson is over');
    const next = await page.context().newPage();
    await enter(next);
    assert.equal(await lesson(next).count(), 0);
    await al.leave();
    await page.context().close();
  });

  it('sees sprites twice as large on a page of 4K, and throws them as others do', async () => {
    const al = await DesktopClient.join(relay.url, { name: 'Al', world: 'large' });
    // A quarter of its pixels: a machine without a graphics card draws them.
    const large = { viewport: { width: 3840, height: 2000 }, deviceScaleFactor: 0.25 };
    const page = await openPage(browser, 'a visitor', faults, large);
    await page.goto(`${relay.url}/?world=large`);
    await comeIn(page);
    const standing = await page.waitForFunction(
      () => globalThis.sprites.sprites().find(({ mode, y }) => mode === 'idle' && y === 1000)?.name,
    );
    const name = await standing.jsonValue();
    const { x, y } = await page.evaluate(
      (of) => globalThis.sprites.sprites().find((one) => one.name === of) as { x: number; y: number },
      name,
    );
    const rows = await page.evaluate(
      ([left, top]) => {
        const context = (document.querySelector('#canvas') as HTMLCanvasElement).getContext('2d');
        const { data } = (context as CanvasRenderingContext2D).getImageData(left, top, 48, 64);
        const isOpaque = (row: number) =>
          data.subarray(192 * row, 192 * (row + 1)).some((value, i) => i % 4 === 3 && value === 255);
        return Array.from({ length: 64 }, (_, row) => row).filter(isOpaque).length;
      },
      [x / 2 - 24, y / 2 - 64],
    );
    assert.ok(rows > 24, `it is ${4 * rows} px of the page high`);
    await shoot(page, 'visit-4k');
    // The pointer finds it, and keys throw it.
    await page.mouse.click(2 * x, 2 * y - 20);
    await page.keyboard.press('Shift+ArrowRight');
    await page.locator('.notice', { hasText: `${name} is with Al now` }).waitFor();
    await until('Al has it', () => al.received.length > 0);
    assert.equal(al.received[0].sprite.scale, 2, 'Al sees it in the size of his own sprites');
    await al.leave();
    await page.context().close();
  });
});
