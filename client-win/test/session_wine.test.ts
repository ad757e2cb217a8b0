/**
 * The Windows program under Wine when other programs and Windows get in its way: the screen is locked while a sprite is held,
 * the program is asked to end under a dialog, its file is locked, and strangers send the largest pictures.
 *
 * Wine never locks a screen, so the stand-in sends the messages that Windows sends.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { writeSheet } from '../../server/wire/files/sheet.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { arrival, type HostileRelay, type Hostility, sendJson, startHostileRelay } from './hostile_relay.ts';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { onFloor, RUNNER, runner, spr, TARGET, target } from './wine_sprites.ts';
import { type Colour, end, eventually, MIDDLE, middleOf, WHEEL } from './x_display.ts';

const STAND_IN = join(dirname(WINDOWS_CLIENT), 'stand-in.exe');
const SETTINGS = 'Sprites: settings';
const MAIN_CLASS = 'SpritesDesktop'; // kMainClass in win32/system/single_instance.h
const WM_CLOSE = 0x10;
const WM_WTSSESSION_CHANGE = 0x2b1;
const WTS_SESSION_LOCK = 7;
const WTS_SESSION_UNLOCK = 8;

const RSS_MIB_MAX = 300; // twice what is measured: the sheets have 84 MiB of pixels, and their frames may have 64 MiB
const SHEETS = 40; // with 512 cells each: 1.3 GiB of frames, were all of them kept
const CELLS = 512;
const CELL = 32; // px a side
const HOSTILE: Colour = [7, 70, 128];

const skip = whyNoWine() ?? buildWindowsClient() ?? false;

/** Sheets that differ in the name of their character only: each is 512 cells, and plays all of them at 60 a second. */
function hostileSheets(): Map<string, Buffer> {
  const picture = new PNG({ width: 32 * CELL, height: (CELLS / 32) * CELL });
  for (let i = 0; i < picture.data.length; i += 4) picture.data.set([...HOSTILE, 255], i);
  const pixels = PNG.sync.write(picture);
  const frames = Array.from({ length: CELLS }, (_, i) => i);
  const animations = Object.fromEntries(
    ['idle', 'walk', 'fall', 'land', 'sleep'].map((mode) => [mode, { frames, fps: 60 }]),
  );
  const sheets = new Map<string, Buffer>();
  for (let i = 0; i < SHEETS; i++) {
    const description = { format: 'spr/1', name: `M${i}`, frame: { width: CELL, height: CELL }, scale: 4, animations };
    const bytes = Buffer.from(writeSheet(pixels, description, crc32));
    sheets.set(createHash('sha256').update(bytes).digest('hex'), bytes);
  }
  return sheets;
}

describe('the windows client in the way of others', { skip, timeout: 900_000 }, () => {
  let ada: WineDesktop;
  let relay: HostileRelay | undefined;
  let client: ChildProcess | undefined;
  let launched: ChildProcess[] = [];

  before(async () => {
    ada = await WineDesktop.start('session', 'openbox');
  });

  after(async () => {
    await ada?.stop();
  });

  afterEach(async () => {
    try {
      await send(WM_CLOSE).catch(() => {});
      if (client) await eventually('the program has ended', () => client?.exitCode !== null);
    } finally {
      // A test that failed may have left any of them running, and the next test would find it.
      for (const program of launched) await end(program);
      launched = [];
      client = undefined;
      await relay?.close();
      relay = undefined;
    }
  });

  const kept = () => join(ada.folder, 'kept.json');
  const send = (message: number, parameter = 0) =>
    ada.run('wine', STAND_IN, MAIN_CLASS, 'send', String(message), String(parameter));

  function launch(...command: string[]): ChildProcess {
    const program = ada.launch(...command);
    launched.push(program);
    return program;
  }

  /** Starts the program with one sprite. */
  async function start(
    character: typeof TARGET,
    x: number,
    y: number,
    hostility: Hostility = { poll: () => {} },
    more: object = {},
  ): Promise<void> {
    rmSync(ada.folder, { recursive: true, force: true });
    relay = await startHostileRelay(hostility);
    ada.writeSettings({ relay: relay.url, name: 'Ada', sound: false, calm: true, greeted: true, ...more });
    ada.keepSprite(spr(character), character.name, x, y);
    client = launch(WINDOWS_CLIENT);
    await eventually('it has joined', () => relay!.requests.polls > 0);
  }

  const openSettings = () =>
    ada.chooseInTray(['s'], 'the settings are open', async () => (await ada.frames(SETTINGS)).length === 1);

  it('lets go of a sprite that is held when the screen is locked', async () => {
    await start(RUNNER, 640, 790);
    await ada.grab('the sprite', runner, { x: 640, y: 300 });
    await send(WM_WTSSESSION_CHANGE, WTS_SESSION_UNLOCK);
    assert.ok(runner(ada.capture()), 'it is still held');
    assert.equal(onFloor(runner)(ada.capture()), undefined);
    const held = runner(ada.capture());
    await send(WM_WTSSESSION_CHANGE, WTS_SESSION_LOCK);
    // Nothing is drawn while nobody can see it.
    await send(WM_WTSSESSION_CHANGE, WTS_SESSION_LOCK);
    assert.deepEqual(runner(ada.capture()), held);
    await send(WM_WTSSESSION_CHANGE, WTS_SESSION_UNLOCK);
    // The button is still down.
    await ada.waitFor('it has fallen', onFloor(runner));
    await ada.moveTo({ x: 300, y: 300 });
    await ada.releaseButton();
    await ada.waitUntilStill('it lies there', onFloor(runner));
    await ada.dragTo('the sprite', runner, { x: 500, y: 400 });
  });

  it('passes the wheel and the middle button on to the window below a sprite, and is grabbed again', async () => {
    await start(TARGET, 640, 400);
    const below = launch(STAND_IN, 'Below', '500', '200', '300', '400');
    await ada.frame('Below');
    const { found } = await ada.waitUntilStill('the sprite', target);
    for (const [button, title] of [
      [WHEEL, 'Wheel'],
      [MIDDLE, 'Middle'],
    ] as const) {
      await ada.click(middleOf(found), button);
      await ada.frame(title);
    }
    await end(below);
    await ada.dragTo('the sprite', target, { x: 300, y: 300 });
  });

  it('ends when it is asked to while a dialog is open, and saves its sprites', async () => {
    await start(TARGET, 640, 400);
    await openSettings();
    await send(WM_CLOSE);
    await eventually('it has ended', () => client?.exitCode !== null);
    assert.equal(client?.exitCode, 0);
    assert.deepEqual(
      ada.savedState().sprites.map(({ name }) => name),
      [TARGET.name],
    );
  });

  it('sets the volume with the keys', async () => {
    await start(TARGET, 640, 400, undefined, { volume: 40 });
    await openSettings();
    await ada.focusOn(SETTINGS);
    await ada.press('Right', 'Right'); // the page with the volume
    await ada.press('alt+v', 'Right', 'Right', 'Return');
    await eventually('it is saved', () => ada.settings().volume === 50);
  });

  it('acknowledges no sprite while another program has locked its file, and does once it can', async () => {
    let arrives = () => {};
    await start(TARGET, 640, 200, {
      poll: (n, response) => {
        if (n === 0) arrives = () => sendJson(response, 200, { cursor: '6a1f03c2-1', events: [arrival(1)] });
      },
    });
    const lock = launch(STAND_IN, 'Lock', 'lock', `Z:${kept().replaceAll('/', '\\')}`);
    await ada.frame('Lock'); // the file is locked
    arrives();
    await ada.count('Sprite', 2);
    await eventually('it was written beside', () => existsSync(`${kept()}.part`));
    assert.equal(ada.savedState().sprites.length, 1);
    assert.equal(relay!.requests.polls, 1);
    await ada.focusOn('Lock');
    await ada.press('Escape');
    await eventually('the file is free', () => lock.exitCode !== null);
    await eventually('it has polled again', () => relay!.requests.polls === 2);
    assert.equal(ada.savedState().sprites.length, 2);
  });

  it('overwrites no sprites that it could not read, because another program had locked the file at its start', async () => {
    await start(TARGET, 640, 400);
    await eventually('the relay is saved', () => readFileSync(kept(), 'utf8').includes(relay!.url));
    await send(WM_CLOSE);
    await eventually('it has ended', () => client?.exitCode !== null);
    const saved = readFileSync(kept(), 'utf8');
    const lock = launch(STAND_IN, 'Lock', 'lock', `Z:${kept().replaceAll('/', '\\')}`);
    await ada.frame('Lock'); // the file is locked
    // Either may be the first instance. The other hands over to it, which lets one more sprite fall in, and ends.
    const starts = [launch(WINDOWS_CLIENT), launch(WINDOWS_CLIENT)];
    await eventually('one start has ended', () => starts.some((start) => start.exitCode !== null));
    client = starts.find((start) => start.exitCode === null);
    await ada.count('Sprite', 1);
    assert.equal(readFileSync(kept(), 'utf8'), saved);
    lock.kill();
    await eventually('the file is free', () => lock.exitCode !== null || lock.signalCode !== null);
    await eventually('it saves again', () => existsSync(`${kept()}.bad`) && existsSync(kept()));
    assert.equal(readFileSync(`${kept()}.bad`, 'utf8'), saved);
  });

  it('stays within its memory when strangers send sheets of 512 cells', async (test) => {
    const sheets = hostileSheets();
    const files = [...sheets.keys()];
    const events = files.map((file, i) => arrival(i + 1, { at: 0.1 }, { file, name: `M${i}`, scale: 4 }));
    await start(
      TARGET,
      640,
      100,
      {
        poll: (n, response) => {
          if (n === 0) sendJson(response, 200, { cursor: `6a1f03c2-${SHEETS}`, events });
        },
        file: (response) => {
          const hash = response.req.url?.split('/').at(-1) ?? '';
          response.writeHead(200, { 'content-type': 'image/png' }).end(sheets.get(hash));
        },
      },
      { calm: false },
    );
    await ada.count('Sprite', SHEETS + 1);
    await eventually('all files were fetched', () => relay!.requests.files >= SHEETS);
    await ada.waitFor('one of their pictures', (screenshot) => screenshot.find(HOSTILE));
    // The program still follows the pointer, and draws their frames meanwhile.
    for (const x of [200, 1000, 640]) await ada.dragTo('the sprite', target, { x, y: 80 });
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${client!.pid}/status`, 'utf8'));
    const peakMiB = Number(peak?.[1]) / 1024;
    test.diagnostic(`${Math.round(peakMiB)} MiB at most`);
    assert.ok(peakMiB < RSS_MIB_MAX, `${peakMiB} MiB`);
  });
});
