/**
 * The shell of the Windows program under Wine: menus, dialogs and toasts, other programs' windows to stand on, full-screen
 * programs and the windows they move, the end of a session, and the number of Windows calls per frame.
 *
 * The sprite is a magenta brick that never walks. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { DesktopClient } from '../../server/test/desktop_client.ts';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { writeSheet } from '../../server/wire/files/sheet.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { MENU_DEPTH, WineDesktop, whyNoWine } from './wine_desktop.ts';
import { type Area, type Colour, eventually, middleOf, SCREEN, type Screenshot, tryUntil } from './x_display.ts';

const BIN = dirname(WINDOWS_CLIENT);
const STAND_IN = join(BIN, 'stand-in.exe');
const SHOTS = join(import.meta.dirname, '../../screenshots');
const ABOUT = 'About Sprites';
const SETTINGS = 'Sprites: settings';
const MAGENTA: Colour = [255, 0, 255];
const ERROR: Colour = [176, 0, 32]; // of the error text in the settings dialog
const SIDE = 48; // px of the brick on the screen
const FLOOR = SCREEN.height - 1; // the lowest row of pixels
/** ms until a window's place is remembered, three times over: kHeldMs and kLayoutSettleMs in core/screen/window_places.h, which no output shows. */
const HELD_MS = 10_000;
const CROWD = 30; // sprites in the bench: enough to tell one call per sprite from one per pair

const LETTER = 'C:\\letter.txt'; // a file that is not a picture
const MAIN_CLASS = 'SpritesDesktop'; // kMainClass in win32/system/single_instance.h
const TRAY_MESSAGE = '0x8002'; // kTrayMessage in win32/system/tray.h
const NIN_BALLOONUSERCLICK = '0x10405'; // of icon 1
const [NIM_ADD, NIM_MODIFY, NIM_SETFOCUS] = [0, 1, 3];
const [NIF_MESSAGE, NIF_ICON, NIF_TIP, NIF_INFO, NIF_REALTIME, NIF_SHOWTIP] = [1, 2, 4, 0x10, 0x40, 0x80];

const skip = whyNoWine() ?? buildWindowsClient() ?? false;

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

/** Finds the brick if all of it is on the screen. */
function findBrick(screenshot: Screenshot): Area | undefined {
  const found = screenshot.find(MAGENTA);
  return found && found.right - found.left === SIDE - 1 && found.bottom - found.top === SIDE - 1 ? found : undefined;
}

const onFloor = (screenshot: Screenshot) =>
  findBrick(screenshot)?.bottom === FLOOR ? findBrick(screenshot) : undefined;

describe('shell of the windows client', { skip, timeout: 900_000 }, () => {
  const spr = brick();
  let relay: RelayProcess;
  let ada: WineDesktop;

  /** Starts the program with a brick whose foot is at that point. */
  function startClient(x: number, y: number, more: object = {}): void {
    const settings = { relay: relay.url, world: 'shell', name: 'Ada', sound: false, calm: true, greeted: true };
    ada.writeSettings({ ...settings, ...more });
    ada.keepSprite(spr, 'Brick', x, y);
    ada.launch(WINDOWS_CLIENT);
  }

  const openFromTray = (keys: string[], title: string) =>
    ada.chooseInTray(keys, `${title} is open`, async () => (await ada.frames(title)).length === 1);

  /** Whether Windows sends keys to the window with this title. */
  const hasKeys = (title: string) =>
    ada.run('wine', STAND_IN, title, 'has-keys').then(
      () => true,
      () => false,
    );

  const shot = (name: string) => ada.capture().save(join(SHOTS, `shell-${name}.png`));

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('shell', 'openbox');
    // Xvfb offers only its own resolution, so add one to change to.
    await ada.run('xrandr', '--newmode', '800x600', ...'40 800 840 880 900 600 605 610 650'.split(' '));
    await ada.run('xrandr', '--addmode', 'screen', '800x600');
    writeFileSync(join(ada.prefix, 'drive_c', 'letter.txt'), 'Dear Grace,');
  });

  after(async () => {
    await ada?.stop();
    await relay?.stop();
  });

  /** The lines that a program prints. They go to a file, because what Wine starts besides would keep a pipe open. */
  async function printed(program: string, ...args: (string | number)[]): Promise<string[]> {
    const path = join(SHOTS, 'shell-printed.txt');
    await ada.run('sh', '-c', `exec wine '${join(BIN, program)}' ${args.join(' ')} > '${path}'`);
    return readFileSync(path, 'utf8').trim().split(/\r?\n/);
  }

  it('makes one call per frame for each sprite that changes, and none for the others', async () => {
    const lines = await printed('frames-bench.exe', CROWD);
    const [thrown, rest] = lines.map((line) => {
      const [pictures, placements, batches, windows] = /calls a frame: (.*)/
        .exec(line)![1]
        .match(/[\d.]+/g)!
        .map(Number);
      return { pictures, placements, batches, windows };
    });
    // A sprite that is painted in a frame may also be restacked in it, which is rare; there is never a third call.
    assert.ok(thrown.pictures + thrown.placements <= CROWD * 1.05, lines[0]);
    assert.ok(thrown.placements > CROWD / 2, lines[0]);
    assert.ok(thrown.batches <= 1 && thrown.windows === 0, lines[0]);
    assert.ok(rest.placements < 1 && rest.batches < 1 && rest.windows === 0, lines[1]);
  });

  it('tells WinHTTP what a relay is, and takes from it what is wrong with a certificate', async () => {
    const calls = await printed('winhttp-calls.exe');
    // The numbers of winhttp.h, and 32-bit values as they are in memory.
    assert.deepEqual(calls, [
      'session 88 00000000', // WINHTTP_OPTION_REDIRECT_POLICY: never
      'session 140 01000000', // WINHTTP_OPTION_IPV6_FAST_FALLBACK
      'session 152 01000000c8af000088130000', // WINHTTP_OPTION_TCP_KEEPALIVE: after 45 s, again after 5 s
      'request 63 01000000', // WINHTTP_OPTION_DISABLE_FEATURE: cookies
      'request 77 02000000', // WINHTTP_OPTION_AUTOLOGON_POLICY: high, which is never
      'certificate 10 2', // WINHTTP_CALLBACK_STATUS_FLAG_CERT_CN_INVALID: its name
      'certificate 20 1', // …_CERT_DATE_INVALID: its date
      'certificate 8 3', // …_INVALID_CA: nobody is known who has issued it
      'certificate 4 3', // …_CERT_REVOKED
      'certificate 80000000 0', // …_SECURITY_CHANNEL_ERROR: there was none
    ]);
  });

  it('stops a sound before its memory changes, and looks at the windows again when one is destroyed', async () => {
    const calls = await printed('system-calls.exe');
    assert.deepEqual(calls, [
      'stop nothing',
      'play 7', // SND_ASYNC, SND_NODEFAULT, SND_MEMORY
      'stop whole',
      'play 7',
      'stop whole',
      'hook 3 3', // EVENT_SYSTEM_FOREGROUND
      'hook a b', // EVENT_SYSTEM_MOVESIZESTART, …END
      'hook 16 17', // EVENT_SYSTEM_MINIMIZESTART, …END
      'hook 8001 8003', // EVENT_OBJECT_DESTROY, …SHOW, …HIDE
      '0 a text cursor is shown',
      '0 a part of a window is destroyed',
      '1 a window is hidden',
      '1 a window is destroyed',
    ]);
  });

  it("stands on another program's window, and falls when the window moves and when it closes", async () => {
    ada.launch(STAND_IN, 'Ground', '300', '400', '500', '300');
    const ground = await ada.frame('Ground');
    startClient(550, 200, {
      ...{ askBeforeClosing: true, restoreWindows: true, outOfSharedScreens: true },
      clickThrough: true,
    });
    await eventually('a setting that Wine refuses is off again', () => ada.settings().outOfSharedScreens === false);
    const stands = (screenshot: Screenshot) => {
      const brick = findBrick(screenshot);
      return brick && Math.abs(brick.bottom - 400) < 8 ? brick : undefined;
    };
    const { found: brick } = await ada.waitUntilStill('it stands on the window', stands);
    // Below the middle of its foot, and on the same window farther on.
    const { screenshot } = await ada.waitFor('its shadow is on the window', (screenshot) => {
      const [shaded, bare] = [SIDE / 2, 4 * SIDE].map((x) => screenshot.at(brick.left + x, brick.bottom + 3));
      return shaded.every((part, i) => part < bare[i]) || undefined;
    });
    screenshot.save(join(SHOTS, 'shell-standing.png'));
    await ada.moveWindow(ground, 300, 500);
    const { found: lower } = await ada.waitFor('it has fallen onto the window again', (screenshot) => {
      const brick = findBrick(screenshot);
      return brick && brick.bottom > 440 && brick.bottom < 520 ? brick : undefined;
    });
    assert.equal(lower.left, 550 - SIDE / 2);
    await ada.closeWindow('Ground');
    await ada.waitFor('it stands on the floor', onFloor);
  });

  it('hides behind a full-screen program, and is shown again when that ends', async () => {
    ada.launch(STAND_IN, 'Game', 'full');
    await ada.frame('Game');
    await ada.isGone('Sprite');
    await ada.closeWindow('Game');
    await ada.waitFor('the brick', onFloor);
  });

  it('restores windows that a full-screen program moved by changing the resolution', async () => {
    ada.launch(STAND_IN, 'Right', '900', '300', '300', '260');
    await ada.frame('Right');
    await pause(HELD_MS);
    const held = await ada.frame('Right'); // with its frame, which the window manager has added since
    ada.launch(STAND_IN, 'Game', 'full', '800', '600');
    await ada.isGone('Sprite');
    await eventually('it is pushed aside', async () => (await ada.frame('Right')).x < 800);
    await ada.closeWindow('Game');
    await eventually('it is where it was', async () => isDeepStrictEqual(await ada.frame('Right'), held));
    await ada.waitFor('the brick on the floor of the whole screen', onFloor);
    await ada.closeWindow('Right');
  });

  it('adds a sprite from the tray menu, and pauses', async () => {
    const highest = async () => {
      const sprites = await ada.frames('Sprite');
      return sprites.map(({ y }) => y).reduce((one, other) => Math.min(one, other));
    };
    await ada.chooseInTray(['p'], 'it pauses', async () => !(await ada.hasMenu()));
    await ada.chooseInTray(['n', 'Return'], 'there are two', async () => (await ada.frames('Sprite')).length === 2);
    assert.ok((await highest()) < 200, `it is at ${await highest()}`);
    await ada.chooseInTray(['p'], 'it falls', async () => (await highest()) > 300);
  });

  it('lets clicks through its sprites to the window below while the settings say so, until that is off in the tray menu', async () => {
    const { found: brick } = await ada.waitUntilStill('the brick', findBrick);
    // Lower than a menu, which has no title either; so is the letter.
    ada.launch(STAND_IN, 'Below', `${brick.left - 60}`, `${brick.top - 5}`, '240', '40');
    await ada.frame('Below');
    ada.launch(STAND_IN, 'Letter', '20', '100', '300', '40');
    await eventually('the letter has the keyboard', () => hasKeys('Letter'));
    await tryUntil(
      'the click goes through to the window below',
      () => ada.click(middleOf(brick)),
      () => hasKeys('Below'),
    );
    await ada.chooseInTray(['k'], 'it is chosen', async () => !(await ada.hasMenu()));
    await eventually('it is saved', () => ada.settings().clickThrough === false);
    for (const title of ['Below', 'Letter']) await ada.closeWindow(title);
  });

  it('puts a sprite away from its menu, gives the keyboard back, and throws it over an edge', async () => {
    ada.launch(STAND_IN, 'Letter', '20', '100', '300', '40'); // lower than a menu, which has no title either
    await ada.frame('Letter');
    await eventually('the letter has the keyboard', () => hasKeys('Letter'));
    await ada.chooseOf(findBrick, ['Escape'], 'the menu is closed', async () => !(await ada.hasMenu()));
    await eventually('the letter has the keyboard again', () => hasKeys('Letter'));
    const { found: brick } = await ada.waitUntilStill('the brick', findBrick);
    const presses = () => ada.press('ctrl+alt+shift+h');
    const isHidden = async () => (await ada.frames('Sprite')).length === 0;
    await tryUntil('all sprites are hidden by the key, while another program has the keyboard', presses, isHidden);
    await tryUntil('it shows them again', presses, async () => !(await isHidden()));
    await ada.waitFor('the brick again', findBrick);
    await tryUntil(
      'the sprite has the keyboard',
      () => ada.click(middleOf(brick)),
      () => hasKeys('Sprite'),
    );
    const isAway = () => ada.capture().find(MAGENTA) === undefined;
    await ada.chooseOf(findBrick, ['p', 'Return'], 'it has been put away', isAway);
    await eventually('the letter has the keyboard, not another sprite', () => hasKeys('Letter'));
    await ada.closeWindow('Letter');
    await ada.chooseInTray(['n', 'Up', 'Return'], 'it has been added again', () => !isAway());
    await ada.waitFor('it stands on the floor', onFloor);
    const flies = () => (findBrick(ada.capture())?.bottom ?? FLOOR) < FLOOR - 20;
    await ada.chooseOf(onFloor, ['t', 'r'], 'it flies', flies);
    await ada.waitFor('it has entered by the opposite edge, because Ada is alone', onFloor);
  });

  it('rejects wrong settings with an error, and saves valid ones', async () => {
    await openFromTray(['s'], SETTINGS);
    shot('settings');
    await ada.focusOn(SETTINGS);
    await ada.press('Right'); // the page with the limit
    const type = async (text: string) => {
      await ada.focusOn(SETTINGS);
      await ada.press('alt+o', 'ctrl+a');
      await ada.type(text);
      await ada.press('Return');
    };
    for (const wrong of ['0', '301']) {
      await type(wrong);
      const { screenshot } = await ada.waitFor('an error', (screenshot) => screenshot.find(ERROR) && screenshot);
      screenshot.save(join(SHOTS, `shell-error-${wrong}.png`));
      assert.equal((await ada.frames(SETTINGS)).length, 1);
    }
    await type('300');
    await ada.isGone(SETTINGS);
    await eventually('they are saved', () => ada.settings().spritesMost === 300);
    assert.equal(ada.settings().restoreWindows, true);
    assert.equal(ada.settings().name, 'Ada');
  });

  it('has its name, selected, in the settings that its menu opens to change it', async () => {
    for (const name of ['Ada B', 'Ada']) {
      await openFromTray(['c'], SETTINGS);
      await ada.focusOn(SETTINGS);
      shot('name');
      await ada.type(name);
      await ada.press('Return');
      await ada.isGone(SETTINGS);
      await eventually('the name is saved', () => ada.settings().name === name);
    }
  });

  it('shows the about box', async () => {
    await openFromTray(['h', 'a'], ABOUT);
    shot('about');
    await ada.focusOn(ABOUT);
    await ada.press('Return');
    await ada.isGone(ABOUT);
  });

  it('shows how to play until Escape', async () => {
    await openFromTray(['h', 'h'], 'Sprites');
    shot('how-to-play');
    await ada.focusOn('Sprites');
    await ada.press('Escape');
    await ada.isGone('Sprites');
  });

  it('mutes a neighbour; its own name is not in the menu', async (test) => {
    const grace = await DesktopClient.join(relay.url, { name: 'Grace', world: 'shell' });
    test.after(() => grace.leave());
    // Ada learns of her within some seconds. Her first menus have no Mute then, and Return leaves them open.
    const keys = ['b', 'm', 'Return', ...Array(MENU_DEPTH).fill('Escape')];
    await ada.chooseInTray(keys, 'Grace is muted', () => ada.settings().muted?.length === 1);
    assert.equal(ada.settings().muted?.[0]?.name, 'Grace');
  });

  // The stand-in is a task bar, and the message is the one that Windows sends at a click on a toast.
  it('adds its icon to a new task bar; a toast keeps its tip, and opens a menu, which gives the keyboard back', async () => {
    const path = join(SHOTS, 'shell-tray.txt');
    rmSync(path, { force: true });
    ada.launch(STAND_IN, `Z:${path.replaceAll('/', '\\')}`, 'tray');
    await ada.frame('Tray');
    const isCalled = (message: number, flags: number) =>
      existsSync(path) &&
      readFileSync(path, 'utf8')
        .split('\n')
        .includes(`${message} ${flags.toString(16)}`);
    await eventually('the icon is added', () => isCalled(NIM_ADD, NIF_MESSAGE | NIF_ICON | NIF_TIP | NIF_SHOWTIP));
    await ada.run('wine', WINDOWS_CLIENT, LETTER);
    await eventually('a toast is shown', () => isCalled(NIM_MODIFY, NIF_INFO | NIF_REALTIME | NIF_SHOWTIP));
    const pointer = { x: 300, y: 300 };
    await ada.moveTo(pointer);
    await tryUntil(
      'a click on the toast opens the menu',
      () => ada.run('wine', STAND_IN, MAIN_CLASS, 'post', TRAY_MESSAGE, '0', NIN_BALLOONUSERCLICK),
      async () => (await ada.frames('')).some(({ x, y }) => x === pointer.x && y === pointer.y),
    );
    assert.ok(!isCalled(NIM_SETFOCUS, 0));
    await ada.focusOn('Sprite');
    await ada.press('Escape');
    await eventually('the icon has the keyboard', () => isCalled(NIM_SETFOCUS, 0));
    await ada.closeWindow('Tray');
  });

  it("shows a toast for a file that it can't import", async () => {
    const before = ada.capture();
    await ada.run('wine', WINDOWS_CLIENT, LETTER);
    const tray = await ada.frame('Wine System Tray');
    const [x, y] = [tray.x + 30, tray.y + 30];
    const { screenshot } = await ada.waitFor('a balloon below the icon', (screenshot) => {
      const [now, then] = [screenshot.at(x, y), before.at(x, y)];
      return now.some((part, i) => part !== then[i]) ? screenshot : undefined;
    });
    screenshot.save(join(SHOTS, 'shell-toast.png'));
  });

  it('saves its sprites and leaves the relay when the session ends', async () => {
    const joined = async () => (await relay.metrics()).get('sprites_desktops');
    await eventually('Ada is the only one', async () => (await joined()) === 1);
    await ada.run('wine', 'wineboot', '--end-session');
    await eventually('Ada has left', async () => (await joined()) === 0);
    await ada.isGone('Sprite');
    assert.deepEqual(
      ada
        .savedState()
        .sprites.map(({ name }) => name)
        .sort(),
      ['Blob', 'Brick'],
    );
  });
});
