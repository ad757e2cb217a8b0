/**
 * The program's shell under Wine: its menus, dialogs and toasts, windows of other programs to stand on, full-screen
 * programs and what they do to the windows of others, the end of a session, and what a frame costs in calls of Windows.
 *
 * Its one sprite is a magenta brick that stands where it is put. What things looked like lies in screenshots/ afterwards.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { type RelayProcess, startRelay, until } from '../../server/test/relay_process.ts';
import { writeSheet } from '../../server/wire/sheet.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { type Colour, noWine, type Picture, SCREEN, WineDesktop } from './wine_desktop.ts';

const BIN = dirname(WINDOWS_CLIENT);
const STAND_IN = join(BIN, 'stand-in.exe');
const SHOTS = join(import.meta.dirname, '../../screenshots');
const MAGENTA: Colour = [255, 0, 255];
const COMPLAINT: Colour = [176, 0, 32];
const SIDE = 48; // px of the brick on the screen
const FLOOR = SCREEN.height - 1; // the lowest row of pixels
const CROWD = 30; // sprites of the bench: enough to tell a call each from a call each for all

const skip = noWine() ?? buildWindowsClient() ?? false;

interface Frame {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

function brick(): Buffer {
  const picture = new PNG({ width: 24, height: 24 });
  for (let i = 0; i < picture.data.length; i += 4) picture.data.set([...MAGENTA, 255], i);
  const description = {
    format: 'spr/1',
    name: 'Brick',
    frame: { width: 24, height: 24 },
    scale: 2,
    animations: { idle: { frames: [0], fps: 1 } },
    behaviour: { walkSpeed: 0, bounce: 0 },
  };
  return Buffer.from(writeSheet(PNG.sync.write(picture), description, crc32));
}

/** Where all of the brick is. */
function seen(picture: Picture): { left: number; bottom: number } | undefined {
  const found = picture.find(MAGENTA);
  return found && found.right - found.left === SIDE - 1 && found.bottom - found.top === SIDE - 1 ? found : undefined;
}

const onFloor = (picture: Picture) => (seen(picture)?.bottom === FLOOR ? seen(picture) : undefined);

describe('shell of the windows client', { skip, timeout: 300_000 }, () => {
  const spr = brick();
  let relay: RelayProcess;
  let ada: WineDesktop;

  /** The X windows of that title that are on the screen. */
  async function windows(title: string): Promise<Frame[]> {
    const found = await ada.pointer('search', '--onlyvisible', '--name', `^${title}$`).catch(() => '');
    const ids = found.split('\n').filter((id) => id !== '');
    const frames = ids.map(async (id) => {
      const text = await ada.pointer('getwindowgeometry', '--shell', id).catch(() => '');
      const at = (name: string) => Number(new RegExp(`^${name}=(-?\\d+)$`, 'm').exec(text)?.[1]);
      return { id, x: at('X'), y: at('Y'), width: at('WIDTH'), height: at('HEIGHT') };
    });
    return (await Promise.all(frames)).filter(({ x }) => !Number.isNaN(x));
  }

  async function window(title: string): Promise<Frame> {
    let found: Frame | undefined;
    await until(`there is a window ${title}`, async () => {
      [found] = await windows(title);
      return found !== undefined;
    });
    return found!;
  }

  /** As the window manager closes what has the focus. */
  async function close({ id }: Frame, title: string): Promise<void> {
    await until(`${title} is closed`, async () => {
      await ada.pointer('windowfocus', id, 'sleep', 0.2, 'key', 'alt+F4', 'sleep', 0.3).catch(() => {});
      return (await windows(title)).length === 0;
    });
  }

  const isGone = (title: string) => until(`${title} is gone`, async () => (await windows(title)).length === 0);

  const settings = () => JSON.parse(readFileSync(join(ada.folder, 'settings.json'), 'utf8'));

  /** Starts the program with its brick above that point. */
  function begin(x: number, y: number, more: object = {}): void {
    const file = createHash('sha256').update(spr).digest('hex');
    ada.settle({ relay: relay.url, world: 'shell', name: 'Ada', sound: false, calm: true, ...more });
    mkdirSync(join(ada.folder, 'files', 'own'), { recursive: true });
    writeFileSync(join(ada.folder, 'files', 'own', file), spr);
    const sprites = [{ file, name: 'Brick', scale: 2, fromShelf: true, facing: 'right', x, y }];
    writeFileSync(join(ada.folder, 'kept.json'), JSON.stringify({ sprites }));
    ada.begin(WINDOWS_CLIENT);
  }

  /** Opens the menu by `open` and types its keys. It has no window with X's focus, so the keys go to a sprite's. */
  async function choose(open: () => Promise<unknown>, shot: string, ...keys: string[]): Promise<void> {
    await open();
    const sprite = await window('Sprite');
    await ada.pointer('sleep', 0.4, 'windowfocus', sprite.id, 'sleep', 0.1);
    for (const key of keys) {
      if (key === keys.at(-1)) ada.see().save(join(SHOTS, `shell-${shot}.png`));
      await ada.pointer('key', key, 'sleep', 0.2);
    }
  }

  async function chooseInTray(shot: string, ...keys: string[]): Promise<void> {
    const tray = await window('Wine System Tray');
    await choose(() => ada.pointer('mousemove', '--window', tray.id, 10, 10, 'click', 3), shot, ...keys);
  }

  async function chooseOfSprite(shot: string, ...keys: string[]): Promise<void> {
    const { it: brick } = await ada.seeUntil('the brick', seen);
    const [x, y] = [brick.left + SIDE / 2, brick.bottom - SIDE / 2];
    await choose(() => ada.pointer('mousemove', x, y, 'sleep', 0.1, 'click', 3), shot, ...keys);
  }

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('shell', 'openbox');
    // A resolution to change to: Xvfb has but its own.
    await ada.run('xrandr', '--newmode', '800x600', ...'40 800 840 880 900 600 605 610 650'.split(' '));
    await ada.run('xrandr', '--addmode', 'screen', '800x600');
  });

  after(async () => {
    await ada?.stop();
    await relay?.stop();
  });

  it('shows a crowd with one call for each that changes, and none for those that do not', async () => {
    const path = join(SHOTS, 'shell-bench.txt');
    const command = `exec wine '${join(BIN, 'frames-bench.exe')}' ${CROWD} > '${path}'`;
    await ada.run('sh', '-c', command);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const [thrown, rest] = lines.map((line) => {
      const [pictures, placings, batches, made] = /calls a frame: (.*)/
        .exec(line)![1]
        .match(/[\d.]+/g)!
        .map(Number);
      return { pictures, placings, batches, made };
    });
    // Who is painted in a frame may be restacked in it too, which is rare; nobody is touched a third time.
    assert.ok(thrown.pictures + thrown.placings <= CROWD * 1.05, lines[0]);
    assert.ok(thrown.placings > CROWD / 2, lines[0]);
    assert.ok(thrown.batches <= 1 && thrown.made === 0, lines[0]);
    assert.ok(rest.placings < 1 && rest.batches < 1 && rest.made === 0, lines[1]);
  });

  it("stands on another program's window, and falls when that moves, and when it closes", async () => {
    ada.begin(STAND_IN, 'Ground', '300', '400', '500', '300');
    const ground = await window('Ground');
    begin(550, 200, { askBeforeClosing: true, restoreWindows: true });
    const stands = (picture: Picture) => {
      const brick = seen(picture);
      return brick && Math.abs(brick.bottom - 400) < 8 ? brick : undefined;
    };
    const { picture } = await ada.seeUntil('it stands on the window', stands);
    picture.save(join(SHOTS, 'shell-standing.png'));
    await ada.pointer('windowmove', ground.id, 300, 500);
    const { it: lower } = await ada.seeUntil('it has fallen with it', (picture) => {
      const brick = seen(picture);
      return brick && brick.bottom > 440 && brick.bottom < 520 ? brick : undefined;
    });
    assert.equal(lower.left, 550 - SIDE / 2);
    await close(ground, 'Ground');
    await ada.seeUntil('it stands on the floor', onFloor);
  });

  it('hides behind a full-screen program, and is back when that ends', async () => {
    ada.begin(STAND_IN, 'Game', 'full');
    const game = await window('Game');
    await until('nobody is to be seen', async () => (await windows('Sprite')).length === 0);
    await close(game, 'Game');
    await ada.seeUntil('the brick', onFloor);
  });

  it('puts windows back that a full-screen program moved by changing the resolution', async () => {
    ada.begin(STAND_IN, 'Right', '760', '300', '420', '260');
    await window('Right');
    await ada.pointer('sleep', 4); // its place counts once it has been kept for some seconds
    const before = await window('Right');
    ada.begin(STAND_IN, 'Game', 'full', '800', '600');
    const game = await window('Game');
    await until('it was pushed aside', async () => (await window('Right')).x < before.x);
    const pushed = await window('Right');
    await close(game, 'Game');
    assert.ok((await window('Right')).x <= pushed.x);
    await until('it is back', async () => (await window('Right')).x === before.x);
    assert.deepEqual(await window('Right'), before);
    await ada.seeUntil('the brick on the floor of the whole screen', onFloor);
    await close(before, 'Right');
  });

  it('throws a new sprite in from the tray, and pauses', async () => {
    const falls = async () => {
      const sprites = await windows('Sprite');
      return sprites.map(({ y }) => y).reduce((one, other) => Math.min(one, other));
    };
    await chooseInTray('menu', 'p');
    await chooseInTray('shelf', 'n', 'Return');
    await until('there are two', async () => (await windows('Sprite')).length === 2);
    const high = await falls();
    assert.ok(high < 200, `it hangs at ${high}`);
    await ada.pointer('sleep', 0.5);
    assert.equal(await falls(), high);
    await chooseInTray('paused', 'p');
    await until('it falls', async () => (await falls()) > high + 100);
  });

  it("has a sprite's menu: thrown by an edge, and put away", async () => {
    await chooseOfSprite('put-away', 'p');
    await ada.seeUntil('it is gone', (picture) => picture.find(MAGENTA) === undefined || undefined);
    await chooseInTray('last-of-shelf', 'n', 'Up', 'Return');
    await ada.seeUntil('it has been thrown in again', onFloor);
    await chooseOfSprite('sprite-menu', 'r');
    await ada.seeUntil('it flies', (picture) => {
      const brick = seen(picture);
      return brick && brick.bottom < FLOOR - 20 ? brick : undefined;
    });
    await ada.seeUntil('it has come home by the other edge, for Ada is alone', onFloor);
  });

  it('says what is wrong in the settings, and keeps what is right', async () => {
    await chooseInTray('settings-chosen', 's');
    const dialog = await window('Sprites: settings');
    ada.see().save(join(SHOTS, 'shell-settings.png'));
    const type = async (text: string) => {
      await ada.pointer('windowfocus', dialog.id, 'key', 'alt+o', 'sleep', 0.2, 'key', 'ctrl+a');
      await ada.pointer('type', '--delay', 40, text);
      await ada.pointer('sleep', 0.2, 'key', 'Return');
    };
    for (const wrong of ['0', '301']) {
      await type(wrong);
      const { picture } = await ada.seeUntil('a complaint', (picture) => picture.find(COMPLAINT) && picture);
      picture.save(join(SHOTS, `shell-complaint-${wrong}.png`));
      assert.equal((await windows('Sprites: settings')).length, 1);
    }
    await type('300');
    await isGone('Sprites: settings');
    await until('they are kept', () => settings().spritesMost === 300);
    assert.equal(settings().restoreWindows, true);
    assert.equal(settings().name, 'Ada');
  });

  it('tells about itself', async () => {
    await chooseInTray('about-chosen', 'a');
    const about = await window('About Sprites');
    ada.see().save(join(SHOTS, 'shell-about.png'));
    await ada.pointer('windowfocus', about.id, 'key', 'Return');
    await isGone('About Sprites');
  });

  it('mutes a neighbour, and does not offer itself', async () => {
    const joined = await fetch(`${relay.url}/v1/desktops`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Grace', world: 'shell', screen: { width: 800, height: 600 } }),
    });
    assert.equal(joined.status, 201);
    const { desktop, token } = (await joined.json()) as { desktop: string; token: string };
    // Who sits next door is told once a second in a small world.
    await ada.pointer('sleep', 2.5);
    await chooseInTray('mute', 'm', 'Return');
    await until('Grace is muted', () => settings().muted.length === 1);
    assert.deepEqual(settings().muted, ['Grace']);
    await fetch(`${relay.url}/v1/desktops/${desktop}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
  });

  it('says in a toast what it cannot take', async () => {
    writeFileSync(join(ada.prefix, 'drive_c', 'letter.txt'), 'Dear Grace,');
    const before = ada.see();
    await ada.run('wine', WINDOWS_CLIENT, 'C:\\letter.txt');
    const tray = await window('Wine System Tray');
    const [x, y] = [tray.x + 30, tray.y + 30];
    const { picture } = await ada.seeUntil('a balloon below the icon', (picture) => {
      const [now, then] = [picture.at(x, y), before.at(x, y)];
      return now.some((part, i) => part !== then[i]) ? picture : undefined;
    });
    picture.save(join(SHOTS, 'shell-toast.png'));
  });

  it('asks before closing, if it shall, and stays when told so', async () => {
    const { it: brick } = await ada.seeUntil('the brick', onFloor);
    const middle = [brick.left + SIDE / 2, FLOOR - SIDE / 2];
    await until('it asks', async () => {
      await ada.pointer('mousemove', ...middle, 'sleep', 0.2, 'click', '--repeat', 2, '--delay', 80, 1, 'sleep', 1);
      return (await windows('Sprites')).length === 1;
    });
    const question = await window('Sprites');
    ada.see().save(join(SHOTS, 'shell-question.png'));
    await ada.pointer('windowfocus', question.id, 'key', 'n');
    await isGone('Sprites');
    assert.equal((await windows('Sprite')).length, 2);
  });

  it('keeps its sprites and says good-bye when the session ends', async () => {
    const joined = async () => (await relay.metrics()).get('sprites_desktops');
    await until('Ada is the only one', async () => (await joined()) === 1);
    await ada.run('wine', 'wineboot', '--end-session');
    await until('she has left', async () => (await joined()) === 0);
    await until('nobody is to be seen', async () => (await windows('Sprite')).length === 0);
    assert.deepEqual(
      ada
        .kept()
        .sprites.map(({ name }) => name)
        .sort(),
      ['Blob', 'Brick'],
    );
  });
});
