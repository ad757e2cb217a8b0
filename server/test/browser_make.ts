/** The editor in a real browser: a sprite is made of a photo, kept, and thrown from a desktop to another one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GifWriter } from 'omggif';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { readSpr } from '../wire/files/spr.ts';
import { comeIn, giveModule, noBrowser, openMenuOf, openPage, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { DesktopClient, sendRequest } from './desktop_client.ts';
import { choose, openEditor, photograph, pixelAt, remade } from './editor_page.ts';
import { BOUNDED, type RelayProcess, until } from './relay_process.ts';

const PHONE = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };
const BLOB = joinPath(import.meta.dirname, '../web/sprites/blob.spr');

/** Four frames in a row, each a bar that is lower than the one before. */
function strip(): Buffer {
  const picture = new PNG({ width: 80, height: 24 });
  for (let x = 0; x < 80; x++) {
    for (let y = 4 * Math.floor(x / 20); y < 24; y++) {
      if (x % 20 >= 4 && x % 20 < 16) picture.data.set([40, 160, 90, 255], 4 * (80 * y + x));
    }
  }
  return PNG.sync.write(picture);
}

/** Pastes a file from the clipboard. */
async function paste(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.evaluate(
    ([of, content]) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([new Uint8Array(content)], of, { type: 'image/png' }));
      dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
    },
    [name, [...bytes]] as const,
  );
}

describe('the editor in a browser', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let editor: Page;
  let photo: Buffer;
  let made: string;
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    photo = await photograph(browser);
    editor = await openPage(browser, 'editor', faults, { viewport: { width: 900, height: 700 } });
    await openEditor(editor, relay.url);
  });
  after(closePages);

  it('makes a sprite of a photo: the background goes, the body stays, and it walks on the stage', async () => {
    await choose(editor, 'Red.jpg', 'image/jpeg', photo);
    assert.equal((await pixelAt(editor, 0.02, 0.5))[3], 0, 'nothing beside it');
    assert.equal((await pixelAt(editor, 0.5, 0.35))[0] > 150, true, 'a red head');
    assert.equal(
      (await pixelAt(editor, 0.5, 0.75))[3],
      255,
      'the belly has the colour of the wall, but does not touch it',
    );
    assert.equal(await editor.evaluate(() => globalThis.making.frames().length), 13, 'it breathes and hops');
    assert.equal(await editor.inputValue('#name'), 'Red');
    await editor.waitForFunction(
      () => globalThis.making.sprite()?.y === document.getElementById('preview')?.clientHeight,
    );
    await shoot(editor, 'make-1-photo');
  });

  it('removes what a person clicks, and brings it back', async () => {
    const { width, height } = (await editor.locator('#easel').boundingBox())!;
    const belly = { x: width * 0.5, y: height * 0.62 };
    await remade(editor, () => editor.click('#easel', { position: belly }));
    assert.equal((await pixelAt(editor, 0.5, 0.75))[3], 0);
    await remade(editor, () => editor.click('#undo-pick'));
    made = (await editor.evaluate(() => globalThis.making.made())) as string;
    assert.equal((await pixelAt(editor, 0.5, 0.75))[3], 255);
  });

  it('has it again after a reload, and after a file that is no picture', async () => {
    await editor.fill('#name', 'Redling');
    await editor.reload();
    await editor.waitForFunction(() => globalThis.making?.made() != null);
    assert.equal(await editor.inputValue('#name'), 'Redling');
    made = (await editor.evaluate(() => globalThis.making.made())) as string;
    for (const [name, text, words] of [
      ['notes.png', 'a shopping list', /notes\.png is not a picture/],
      [
        'cat.json',
        '{"frames":[{"frame":{"x":0,"y":0,"w":4,"h":4}}],"meta":{"image":"../cat.png"}}',
        /two files.*and cat\.png/,
      ],
      ['cat.json', '{"frames":[{"frame":{"x":0,"y":0,"w":4,"h":4},"sourceSize":{"w":1e9,"h":-1}}]}', /can't be packed/],
    ] as const) {
      await editor.setInputFiles('#files', { name, mimeType: '', buffer: Buffer.from(text) });
      await editor.locator('#source-wrong', { hasText: words }).waitFor();
      assert.equal(await editor.evaluate(() => globalThis.making.made()), made);
    }
  });

  it('keeps it on the open desktop, from which it is thrown to another one', async () => {
    const ann = await editor.context().newPage();
    ann.on('pageerror', (error) => faults.push(`Ann: ${error.stack}`));
    await ann.goto(`${relay.url}/?world=makers`);
    await comeIn(ann);
    const bob = await DesktopClient.join(relay.url, { name: 'Bob', world: 'makers' });
    await ann.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Bob' }).waitFor();
    await editor.bringToFront();
    await editor.click('#keep');
    await editor.locator('#finished', { hasText: 'Redling has dropped onto your desktop' }).waitFor();
    await ann.bringToFront();
    await ann.waitForFunction((file) => globalThis.sprites.sprites().some((one) => one.file === file), made);
    await until('it is thrown', async () => {
      await ann.evaluate((file) => {
        const at = globalThis.sprites.sprites().findIndex((one) => one.file === file);
        if (at >= 0) globalThis.sprites.throw(at, 'right');
      }, made);
      return bob.received.some(({ sprite }) => sprite.file === made);
    });
    assert.equal((await sendRequest(`${relay.url}/v1/sprites/${made}`)).status, 200);
    await ann.close();
    await bob.leave();
  });

  it('is on the shelf of the next desktop in this browser, until it is taken off', async () => {
    const page = await editor.context().newPage();
    await page.goto(`${relay.url}/?world=later`);
    const figure = page.getByRole('button', { name: 'Let Redling drop in' });
    await comeIn(page);
    await figure.click();
    await (await openMenuOf(page, made, 'Take it off the shelf')).click();
    assert.equal(await figure.count(), 0);
    await page.close();
  });

  it('keeps at most KEPT_MAX pictures, and says what to do then', async () => {
    const page = await openPage(browser, 'keeper', faults);
    await page.goto(`${relay.url}/make`);
    await giveModule(page, 'keptPicturesModule', 'pictures/kept_pictures.ts');
    const { max, counts, words } = await page.evaluate(async () => {
      const { KEPT_MAX, forgetPicture, keepPicture, keptPictures } = (
        globalThis as unknown as { keptPicturesModule: typeof import('../web/pictures/kept_pictures.ts') }
      ).keptPicturesModule;
      const counts: number[] = [];
      const count = async () => void counts.push((await keptPictures()).length);
      const keep = (number: number) => keepPicture(`picture ${number}`, new Uint8Array([number]));
      for (let number = 1; number < KEPT_MAX; number++) await keep(number);
      await count();
      await keep(KEPT_MAX);
      await count();
      const words = await keep(KEPT_MAX + 1).then(String, (error: Error) => error.message);
      await keep(1); // is kept already
      await count();
      await forgetPicture('picture 1');
      await keep(KEPT_MAX + 1);
      await count();
      return { max: KEPT_MAX, counts, words };
    });
    assert.deepEqual(counts, [max - 1, max, max, max]);
    assert.match(words, /^You keep 24 pictures already\. Take one off your shelf first/);
    await page.context().close();
  });

  it('divides a strip, orders and drops its frames, and saves a .spr that can be opened again', async () => {
    await remade(editor, () => paste(editor, 'bars.png', strip()));
    assert.match((await editor.textContent('#strip-count')) ?? '', /4 frames/);
    await editor.click('#frames li:nth-child(4) button');
    await remade(editor, () => editor.click('#frame-drop'));
    await editor.click('#frames li:nth-child(1) button');
    await remade(editor, () => editor.click('#frame-right'));
    await editor.selectOption('#animation', 'walk');
    await editor.fill('#animation-frames', '1-9');
    await editor.locator('#animation-wrong', { hasText: 'There is no frame 4' }).waitFor();
    await remade(editor, () => editor.fill('#animation-frames', '1-3, 2'));
    await remade(editor, () => editor.fill('#body-top', '5').then(() => editor.press('#body-top', 'Enter')));
    await shoot(editor, 'make-3-strip');
    const download = editor.waitForEvent('download');
    await editor.click('#save');
    const bytes = readFileSync(await (await download).path());
    const { description } = readSpr(bytes);
    assert.deepEqual(description.animations.walk, { frames: [0, 1, 2, 1], fps: 8 });
    assert.deepEqual(
      description.animations.idle.frames,
      [1, 0, 2],
      'the order is that of the frames before they moved',
    );
    assert.deepEqual([description.name, description.licence, description.hitbox[1]], ['bars', 'CC0-1.0', 5]);
    await choose(editor, 'again.spr', 'image/png', bytes);
    assert.equal(await editor.inputValue('#name'), 'bars');
    const { hitbox } = readSpr(readFileSync(BLOB)).description;
    await choose(editor, 'blob.spr', 'image/png', readFileSync(BLOB));
    assert.equal(await editor.inputValue('#body-bottom'), String(hitbox[1] + hitbox[3]));
  });

  it('plays a GIF and an Aseprite export as their makers meant it', async () => {
    const gif = Buffer.alloc(1024);
    const writer = new GifWriter(gif, 8, 8, { palette: [0xd02030, 0x3060d0] });
    for (const [colour, delay] of [10, 30].entries()) writer.addFrame(0, 0, 8, 8, Array(64).fill(colour), { delay });
    await choose(editor, 'blink.gif', 'image/gif', gif.subarray(0, writer.end()));
    assert.equal(await editor.evaluate(() => globalThis.making.frames().length), 2);
    await editor.selectOption('#animation', 'idle');
    assert.equal(await editor.inputValue('#animation-frames'), '1, 2, 2, 2');
    const frames = [0, 20, 40, 60].map((x) => ({ frame: { x, y: 0, w: 20, h: 24 }, duration: 250 }));
    const meta = { image: 'bars.png', frameTags: [{ name: 'Walk', from: 0, to: 3, direction: 'pingpong' }] };
    const json = Buffer.from(JSON.stringify({ frames, meta }));
    await remade(editor, () =>
      editor.setInputFiles('#files', [
        { name: 'bars.json', mimeType: 'application/json', buffer: json },
        { name: 'bars.png', mimeType: 'image/png', buffer: strip() },
      ]),
    );
    await editor.selectOption('#animation', 'walk');
    assert.deepEqual(
      [await editor.inputValue('#animation-frames'), await editor.inputValue('#fps')],
      ['1-4, 3, 2', '4'],
    );
  });

  it('offers it to the gallery, without a desktop that stays behind', async () => {
    await remade(editor, () => editor.fill('#name', 'Drop'));
    await editor.click('#publish-open');
    await editor.fill('#publish-author', 'Ann');
    await editor.check('#publish-may');
    await editor.click('#publish-send');
    await editor.locator('#finished', { hasText: 'Sent.' }).waitFor();
    await until('nobody is there', async () => {
      return ((await sendRequest(`${relay.url}/v1/worlds`)).json as { desktops: number }).desktops === 0;
    });
  });

  it('is used by keyboard alone, from the file to the desktop', async () => {
    const page = await openPage(browser, 'keyboard', faults, { viewport: { width: 1000, height: 700 } });
    page.on('filechooser', (chooser) => {
      void chooser.setFiles({ name: 'Key.jpg', mimeType: 'image/jpeg', buffer: photo });
    });
    await openEditor(page, relay.url);
    /** Presses Tab until the element has the focus. */
    const tabTo = async (id: string) => {
      for (let presses = 0; presses < 80; presses++) {
        if (await page.evaluate((wanted) => document.activeElement?.id === wanted, id)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`Tab does not lead to ${id}`);
    };
    await tabTo('files');
    await remade(page, () => page.keyboard.press('Enter'));
    await tabTo('easel');
    for (let steps = 0; steps < 4; steps++) await page.keyboard.press('ArrowDown');
    await remade(page, () => page.keyboard.press('Enter'));
    assert.equal((await pixelAt(page, 0.5, 0.75))[3], 0, 'the belly is gone');
    await tabTo('height');
    await remade(page, () => page.keyboard.press('ArrowLeft'));
    assert.equal(await page.inputValue('#height'), '63');
    await tabTo('name');
    await remade(page, () => page.keyboard.type('board'));
    await tabTo('preview');
    await page.keyboard.press('n');
    await page.keyboard.press('Shift+ArrowUp');
    await tabTo('throw');
    const file = await page.evaluate(() => globalThis.making.made());
    await page.keyboard.press('Enter');
    await page.waitForSelector('#enter:enabled');
    await page.focus('#name');
    await page.keyboard.press('Enter');
    await page.waitForFunction((of) => globalThis.sprites?.sprites().some((sprite) => sprite.file === of), file);
    await page.context().close();
  });

  it('is used with a finger on a small phone', async () => {
    const page = await openPage(browser, 'phone', faults, PHONE);
    await openEditor(page, relay.url);
    await choose(page, 'Finger.jpg', 'image/jpeg', photo);
    const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(await isWide(), false, 'nothing is beyond the right edge');
    await shoot(page, 'make-4-phone');
    await page.locator('#easel').scrollIntoViewIfNeeded();
    const { width, height } = (await page.locator('#easel').boundingBox())!;
    await remade(page, () => page.tap('#easel', { position: { x: width / 2, y: height * 0.62 } }));
    assert.equal((await pixelAt(page, 0.5, 0.75))[3], 0, 'the belly is gone');
    const stage = (await page.locator('#preview').boundingBox())!;
    assert.ok(stage.y >= 0 && stage.y + stage.height <= 568, 'the stage is in sight');
    await page.tap('#throw');
    await page.tap('#enter');
    await page.waitForFunction(() => globalThis.sprites?.sprites().some(({ name }) => name === 'Finger'));
    await page.context().close();
    assert.deepEqual(faults, []);
  });
});
