/**
 * What the program for X11 gets from the system and gives to it: files that are dropped, photographs, sounds. And its unit
 * tests, on a display.
 *
 * Sounds go to a file by ALSA's own plugin, so they can be measured; the machine needs no sound device.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient, buildX11Client, buildX11Tests, X11_TESTS } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { PHOTO, PHOTO_COLOUR } from './photo.ts';
import { spr, TARGET, target } from './wine_sprites.ts';
import { eventually, type Frame, middleOf, type Screenshot } from './x_display.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const skip = whyNoX11() ?? buildX11Client() ?? buildClient() ?? false;
const noUnitTests = skip || (buildX11Tests() ?? false);

const LIST_BYTES_MAX = 262_144; // kUriListBytesMax
const PEAK_PER_PERCENT = 100; // kTonePeak
const VOLUME = 20; // percent
const OWN_SAMPLES = 4_410; // a tenth of a second

const photo = (screenshot: Screenshot) => screenshot.find(PHOTO_COLOUR);

describe('the program for X11 and its system', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: X11Desktop;
  let client: ChildProcess | undefined;
  let grace: HeadlessDesktop | undefined;
  let folder: string;
  let sound: string;

  before(async () => {
    [relay, ada] = await Promise.all([startRelay({ workers: 0 }), X11Desktop.start('ada-system')]);
  });

  after(async () => {
    await ada?.stop();
    await relay?.stop();
  });

  beforeEach(() => {
    folder = join(ada.folder, 'given');
    mkdirSync(folder, { recursive: true });
    for (const name of ['on holiday.jpg', 'beach.jpg']) writeFileSync(join(folder, name), PHOTO);
    sound = join(folder, 'sound.raw');
    setSoundDevice(`pcm.!default { type file slave.pcm { type null } file "${sound}" format raw }\n`);
  });

  afterEach(async () => {
    client?.kill('SIGTERM');
    if (client) await exitOf(client);
    client = undefined;
    await grace?.quit();
    grace = undefined;
    await ada.clear();
    await eventually('all have left', async () => (await joined()) === 0);
  });

  /** Replaces the whole configuration of ALSA. */
  function setSoundDevice(configuration: string): void {
    ada.env.ALSA_CONFIG_PATH = join(folder, 'asound.conf');
    writeFileSync(ada.env.ALSA_CONFIG_PATH, configuration);
  }

  const joined = async () => (await relay.metrics()).get('sprites_desktops');

  /** Starts the program with a sprite in the middle, and waits until it has joined and is shown. */
  async function start(more: object = {}): Promise<void> {
    const settings = { relay: relay.url, world: 'x11-system', name: 'Ada', calm: true, greeted: true, sound: false };
    ada.writeSettings({ ...settings, ...more });
    ada.keepSprite(spr(TARGET), TARGET.name, 640, 400);
    client = ada.launch();
    await eventually('Ada has joined', async () => (await joined()) === 1);
    await ada.waitFor('the sprite', target);
  }

  /** Drags data from the window of another program, which must be shown, onto the sprite, and lets go there. */
  async function dropOnSprite(from: Frame): Promise<void> {
    const { found } = await ada.waitFor('the sprite', target);
    const [to, start] = [middleOf(found), { x: from.x + 30, y: from.y + 30 }];
    await ada.holdButtonAt(start);
    for (const part of [0.25, 0.5, 0.75, 1]) {
      await ada.moveTo({ x: start.x + (to.x - start.x) * part, y: start.y + (to.y - start.y) * part });
    }
    await ada.releaseButton();
  }

  /** Drops data of a type on the sprite, from a new window, which gives it when it is asked. */
  async function drop(type: string, content: string): Promise<void> {
    writeFileSync(join(folder, 'content'), content);
    for (const before of await ada.frames('Files')) await ada.killWindow(before, 'Files');
    ada.openWindow('Files', 'drag', type, join(folder, 'content'));
    const files = await ada.frame('Files');
    await dropOnSprite(files);
  }

  it('passes its unit tests on a display', { skip: noUnitTests }, async () => {
    const output = await ada.output(X11_TESTS);
    assert.match(output, /SUCCESS/);
    assert.doesNotMatch(output, /there is no X server/);
  });

  it('makes sprites of the files that are dropped on one: a photograph too', async () => {
    await start();
    const uri = `file://${hostname()}${folder}/on%20holiday.jpg`;
    await drop('text/uri-list', `# from a file manager\r\n${uri}\r\nfile:///nowhere/at/all.png\r\n`);
    await ada.waitFor('the photograph is a sprite', photo);
    await ada.frame('Sprites notice'); // about the file that is not there
    assert.equal((await ada.frames('Sprite')).length, 2);
  });

  it('takes nothing but files, and says so', async () => {
    await start();
    await drop('text/uri-list', 'https://relay.example/cat.png\r\n');
    await ada.frame('Sprites notice');
    assert.equal((await ada.frames('Sprite')).length, 1);
    await drop('text/plain', 'Dear Grace,');
    assert.equal((await ada.frames('Sprite')).length, 1);
    // It takes the next one.
    await drop('text/uri-list', `file://${folder}/on%20holiday.jpg`);
    await ada.waitFor('the photograph is a sprite', photo);
  });

  it('reads a list of files up to its limit, and not one byte more', async () => {
    await start();
    const uri = `\r\nfile://${folder}/on%20holiday.jpg\r\n`;
    const list = (bytes: number) => `#${'x'.repeat(bytes - uri.length - 1)}${uri}`;
    await drop('text/uri-list', list(LIST_BYTES_MAX));
    await ada.count('Sprite', 2);
    await drop('text/uri-list', list(LIST_BYTES_MAX + 1));
    await ada.frame('Sprites notice');
    await ada.count('Sprite', 2);
  });

  /** The samples that were played last. */
  function played(): number[] {
    const bytes = existsSync(sound) ? readFileSync(sound) : Buffer.alloc(0);
    return Array.from({ length: bytes.length >> 1 }, (_, i) => Math.abs(bytes.readInt16LE(2 * i)));
  }

  /** The loudest sample that was played last; 0 for none. */
  const peak = () => played().reduce((most, sample) => Math.max(most, sample), 0);
  /** How many samples of it are as loud as any sample may be. */
  const loudest = () => played().filter((sample) => sample === VOLUME * PEAK_PER_PERCENT).length;

  /** A WAV file in stereo whose samples are all as loud as possible. */
  function ownSound(): Buffer {
    const pcm = Buffer.alloc(4 * OWN_SAMPLES);
    for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(32_767, at);
    const head = Buffer.alloc(44);
    for (const [at, word] of Object.entries({ 0: 'RIFF', 8: 'WAVEfmt ', 36: 'data' })) head.write(word, Number(at));
    for (const [at, number] of Object.entries({
      4: 36 + pcm.length,
      16: 16,
      24: 44_100,
      28: 176_400,
      40: pcm.length,
    })) {
      head.writeUInt32LE(number, Number(at));
    }
    for (const [at, number] of Object.entries({ 20: 1, 22: 2, 32: 4, 34: 16 })) head.writeUInt16LE(number, Number(at));
    return Buffer.concat([head, pcm]);
  }

  /** A sprite comes from Grace, and Ada has saved it. */
  async function arrive(): Promise<void> {
    const before = ada.savedState().sprites.length;
    grace ??= startHeadless(['--relay', relay.url, '--world', 'x11-system', '--name', 'Grace']);
    await grace.until('Ada is known', ({ neighbours }) => neighbours?.right.name === 'Ada');
    grace.send(`take ${join(folder, 'beach.jpg')}`);
    const { sprites } = await grace.until('it has one', (state) => state.sprites.length === 1);
    grace.send(`throw ${sprites[0].id} right`);
    await eventually('it has come', () => ada.savedState().sprites.length === before + 1);
  }

  it('plays a sound as loud as the settings say when a sprite comes', async () => {
    await start({ sound: true, volume: VOLUME });
    await arrive();
    await eventually('a whole sound', () => peak() > 0.9 * VOLUME * PEAK_PER_PERCENT);
    assert.ok(peak() <= VOLUME * PEAK_PER_PERCENT, `${peak()}`);
    const sounds = join(ada.folder, 'sounds');
    mkdirSync(sounds);
    for (const name of ['throw', 'arrive', 'land', 'return']) writeFileSync(join(sounds, `${name}.wav`), ownSound());
    await arrive();
    await eventually('a whole sound of her own', () => loudest() >= OWN_SAMPLES);
  });

  it('is silent while a program covers the screen, at volume 0, and when sounds are off', async () => {
    await start({ sound: true, volume: 100 });
    ada.openWindow('Talk', 'full');
    const talk = await ada.frame('Talk');
    await ada.isGone('Sprite');
    rmSync(sound, { force: true });
    await arrive();
    // What was played is in the file once the program has ended.
    const end = async () => {
      client!.kill('SIGTERM');
      await exitOf(client!);
    };
    await end();
    assert.equal(peak(), 0);
    await ada.killWindow(talk, 'Talk');
    for (const more of [{ sound: false }, { sound: true, volume: 0 }]) {
      ada.writeSettings({ ...ada.settings(), ...more });
      client = ada.launch();
      await eventually('Ada has joined', async () => (await joined()) === 2);
      await arrive();
      await end();
      assert.equal(peak(), 0);
    }
  });

  it('plays on without a sound device, and says why it is silent', async () => {
    setSoundDevice('');
    await start({ sound: true });
    await arrive();
    await eventually('the diagnostics say that there is none', async () => {
      await ada.chooseOf(target, 'h', 'c');
      await ada.isGone('Sprites menu');
      return /^Sound device: no$/m.test(await ada.clipboard());
    });
  });
});
