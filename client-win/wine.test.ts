/**
 * The program for Windows, as it is built, on two desktops under Wine: what a person sees and does, pixel by pixel.
 *
 * The sprite thrown here is drawn for the purpose: magenta with a hole, a green half to be seen through, and weightless,
 * so that it arrives at the very height it left at. What it looked like lies in screenshots/ afterwards.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { buildWindowsClient, WINDOWS_CLIENT } from '../server/bin/build.js';
import { type RelayProcess, startRelay, until } from '../server/test/relay_process.ts';
import { writeSheet } from '../server/wire/sheet.ts';
import { type Colour, noWine, type Picture, SCREEN, WineDesktop } from './wine_desktop.ts';

const SHOTS = join(import.meta.dirname, '../screenshots');
const MAGENTA: Colour = [255, 0, 255];
const SIDE = 64; // px of the sprite on the screen
const NEAR_PX = 4; // px: a drag's last move and its letting go are two messages

const skip = noWine() ?? buildWindowsClient() ?? false;

/** 32 × 32 pixels: 4 of nothing all around, magenta, in the middle a hole of 8 × 8, below it a green half to see through. */
function target(): Buffer {
  const picture = new PNG({ width: 32, height: 32 });
  for (let y = 4; y < 28; y++) {
    for (let x = 4; x < 28; x++) {
      const isHole = x >= 12 && x < 20 && y >= 8 && y < 16;
      const isGlass = x >= 12 && x < 20 && y >= 18 && y < 26;
      const colour = isHole ? [0, 0, 0, 0] : isGlass ? [0, 255, 0, 128] : [...MAGENTA, 255];
      picture.data.set(colour, 4 * (32 * y + x));
    }
  }
  const description = {
    format: 'spr/1',
    name: 'Target',
    frame: { width: 32, height: 32 },
    scale: 2,
    animations: { idle: { frames: [0], fps: 1 } },
    behaviour: { walkSpeed: 0, jumpSpeed: 0, gravity: 0, bounce: 0.95 },
  };
  return Buffer.from(writeSheet(PNG.sync.write(picture), description, crc32));
}

/** Its left top corner, when all of it is on the screen. */
function seen(picture: Picture): { x: number; y: number } | undefined {
  const found = picture.find(MAGENTA);
  const isWhole = found && found.right - found.left === 47 && found.bottom - found.top === 47;
  return isWhole ? { x: found.left - 8, y: found.top - 8 } : undefined;
}

const isNear = (one: number, other: number, by = NEAR_PX) => Math.abs(one - other) <= by;

describe('windows client', { skip, timeout: 240_000 }, () => {
  let relay: RelayProcess;
  let ada: WineDesktop;
  let grace: WineDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    [ada, grace] = await Promise.all([WineDesktop.start('ada'), WineDesktop.start('grace')]);
    const common = { relay: relay.url, world: 'wine', sound: false, calm: true, toasts: false };
    ada.settle({ ...common, name: 'Ada' });
    grace.settle({ ...common, name: 'Grace' });
    writeFileSync(join(ada.prefix, 'drive_c', 'Zielscheibe ü.spr'), target());
  });

  after(async () => {
    await Promise.all([ada?.stop(), grace?.stop()]);
    await relay?.stop();
  });

  it('shows a sprite with its own alpha: colour, nothing, and half of what lies behind', async () => {
    const empty = await ada.see();
    ada.begin(WINDOWS_CLIENT, 'C:\\Zielscheibe ü.spr');
    const { picture, it: place } = await ada.seeUntil('the sprite', seen);
    picture.save(join(SHOTS, 'wine-alpha.png'));
    const at = (x: number, y: number) => picture.at(place.x + x, place.y + y);
    const behind = (x: number, y: number) => empty.at(place.x + x, place.y + y);
    assert.deepEqual(at(16, 16), MAGENTA);
    for (const [x, y] of [[2, 2], [SIDE - 3, SIDE - 3], [32, 24]]) assert.deepEqual(at(x, y), behind(x, y));
    const [red, green, blue] = at(32, 44);
    const [r, g, b] = behind(32, 44);
    for (const [is, should] of [[red, r * 0.498], [green, 127.5 + g * 0.498], [blue, b * 0.498]]) {
      assert.ok(isNear(is, should, 3), `${at(32, 44)} over ${behind(32, 44)}`);
    }
  });

  it('lets a click through where a sprite is see-through, and not where it is not', async () => {
    const { it: place } = await ada.seeUntil('the sprite', seen);
    const windowAt = async (x: number, y: number) => {
      await ada.pointer('mousemove', place.x + x, place.y + y);
      return /WINDOW=(\d+)/.exec(await ada.pointer('getmouselocation', '--shell'))?.[1];
    };
    const outside = await windowAt(-20, 32);
    assert.notEqual(await windowAt(16, 16), outside);
    assert.equal(await windowAt(32, 24), outside);
    assert.equal(await windowAt(3, 3), outside);
  });

  it('follows the pointer while it is held', async () => {
    const { it: place } = await ada.seeUntil('the sprite', seen);
    await ada.pointer('mousemove', place.x + 16, place.y + 16, 'mousedown', 1, 'sleep', 0.1, 'mousemove', 316, 316);
    const { it: held } = await ada.seeUntil('it is where the pointer is', (picture) => {
      const now = seen(picture);
      return now && isNear(now.x, 300) && isNear(now.y, 300) ? now : undefined;
    });
    await ada.pointer('sleep', 0.3, 'mouseup', 1);
    assert.deepEqual((await ada.seeUntil('it stays', seen)).it, held);
  });

  it('throws it off the right edge, and it comes in on the left of the neighbour, as high, and moving', async () => {
    grace.begin(WINDOWS_CLIENT);
    await until('both are in', async () => (await relay.metrics()).get('sprites_desktops') === 2);
    const { it: place } = await ada.seeUntil('the sprite', seen);
    const arrival = grace.seeUntil('the sprite', seen);
    await ada.fling(place.x + 16, place.y + 16, 50, 0);
    const first = await arrival;
    const second = await grace.seeUntil('it has moved', (picture) => {
      const now = seen(picture);
      return now && now.x > first.it.x ? now : undefined;
    });
    first.picture.save(join(SHOTS, 'wine-arrived.png'));
    assert.ok(first.it.x < SCREEN.width / 2, `first seen at ${first.it.x}`);
    assert.ok(isNear(first.it.y, place.y), `left at ${place.y}, came at ${first.it.y}`);
    assert.ok(isNear(second.it.y, first.it.y, 1));
    assert.equal((await ada.see()).find(MAGENTA), undefined);
  });
});
