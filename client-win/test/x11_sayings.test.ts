/**
 * What is said, in the program for X11: bubbles, the window to type in, the list of what was said, mutes.
 *
 * Ada has the program; Grace is a headless desktop beside her. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type RelayProcess, startRelay, until } from '../../server/test/relay_process.ts';
import { buildClient, buildX11Client } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { RUNNER, runner, spr } from './wine_sprites.ts';
import { type Frame, middleOf, SCREEN } from './x_display.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const SAYING = 'Sprites saying';
const INPUT = 'Sprites: say something';
const PAPER = [255, 255, 255];

const skip = whyNoX11() ?? buildX11Client() ?? buildClient() ?? false;

describe('sayings in the program for X11', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: X11Desktop;
  let client: ChildProcess;
  let grace: HeadlessDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
  });

  after(async () => {
    await relay?.stop();
  });

  // Ada sits at the left and the right of Grace, with one sprite.
  beforeEach(async () => {
    ada = await X11Desktop.start('sayings');
    ada.writeSettings({ relay: relay.url, world: 'talk', name: 'Ada', calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height);
    client = ada.launch();
    grace = startHeadless(['--relay', relay.url, '--world', 'talk', '--name', 'Grace']);
    await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitFor('the sprite', runner);
  });

  afterEach(async () => {
    client.kill('SIGTERM');
    await exitOf(client);
    await grace.quit();
    await ada.stop();
  });

  const bubbles = () => ada.frames(SAYING);

  async function bubble(): Promise<Frame> {
    let found: Frame | undefined;
    await until('there is one bubble', async () => {
      const all = await bubbles();
      [found] = all;
      return all.length === 1 && found.width > 1;
    });
    return found!;
  }

  const shot = (name: string) => ada.capture().save(join(SHOTS, `x11-${name}.png`));

  /** Opens the menu of Ada's sprite, and types keys into it. */
  const choose = (...keys: string[]) => ada.chooseOf(runner, ...keys);

  /** Ada says a line, and Grace hears it. */
  async function say(text: string): Promise<void> {
    await choose('y');
    await ada.frame(INPUT);
    await ada.xdotool('sleep', 0.3, 'type', '--delay', 20, text);
    await ada.xdotool('key', 'Return');
    await grace.waitForLine(`Grace hears "${text}"`, ({ heard, from }) => heard === text && from === 'Ada');
  }

  it("shows a neighbour's words at the edge where she sits, takes no clicks, and goes", async () => {
    grace.send('say Hello over there, Ada! Is that your cat on my desktop? It has been asleep for an hour.');
    const at = await bubble();
    const isBeside = at.x < 20 || at.x + at.width > SCREEN.width - 20;
    assert.ok(isBeside, `it is at ${JSON.stringify(at)}`);
    const middle = { x: at.x + at.width / 2, y: at.y + at.height / 2 };
    assert.ok(Math.abs(middle.y - SCREEN.height / 2) < 60, `it is at ${JSON.stringify(at)}`);
    await ada.waitFor('its paper', (screenshot) => {
      const colour = screenshot.at(at.x + 16, middle.y);
      return colour.every((part, i) => part === PAPER[i]) || undefined;
    });
    shot('saying-edge');
    const below = await ada.xdotool('mousemove', Math.round(middle.x), Math.round(middle.y), 'getmouselocation');
    assert.ok(!below.includes(`window:${at.id}`), below);
    await ada.isGone(SAYING);
  });

  it('shows them at the sprite that she has thrown, and follows it', async () => {
    grace.send(`take ${join(import.meta.dirname, '../../server/web/sprites/miso.spr')}`);
    const { sprites } = await grace.until('Grace has a sprite', (state) => state.sprites.length === 1);
    grace.send(`throw ${sprites[0].id} right`);
    await until('it is at Ada', async () => (await ada.frames('Sprite')).length === 2);
    grace.send(`say ${'How do you like her? '.repeat(10)}`);
    await until('the bubble is over a sprite, low on the screen', async () => {
      const [at] = await bubbles();
      const cat = (await ada.frames('Sprite')).find(({ x }) => at && x > at.x - 80 && x < at.x + at.width);
      return cat !== undefined && at.y + at.height <= cat.y + 40 && cat.y > SCREEN.height / 2;
    });
    shot('saying-sprite');
  });

  it('says a line that is typed, shows it at an own sprite, and tells how many hear it', async () => {
    await say('Whose cat is that?');
    const at = await bubble();
    const { found } = await ada.waitUntilStill('the sprite', runner);
    const middle = middleOf(found).x;
    assert.ok(at.x < middle && middle < at.x + at.width && at.y < found.top, JSON.stringify({ at, found }));
    await ada.xdotool('sleep', 0.3);
    shot('saying-own');
    // The line was cleared, so what is typed now is a line of its own.
    await ada.xdotool('type', '--delay', 20, 'Mine.');
    await ada.xdotool('key', 'Return');
    await grace.waitForLine('Grace hears the second line', ({ heard }) => heard === 'Mine.');
    await until('there are two bubbles', async () => (await bubbles()).length === 2);
    await ada.xdotool('type', '--delay', 5, 'x'.repeat(250));
    await ada.xdotool('sleep', 0.3);
    shot('saying-long');
    await ada.xdotool('key', 'Escape');
    await ada.isGone(INPUT);
  });

  it('lists what was said, and mutes a speaker there', async () => {
    for (const text of [
      'First',
      'Second & third',
      'A longer line, which has to be cut in the menu but not beside it.',
    ]) {
      grace.send(`say ${text}`);
      await grace.waitForLine(`"${text}" was said`, ({ heard }) => heard === text);
    }
    await until('Ada hears them', async () => (await bubbles()).length === 3);
    await choose('w', 'Right');
    await ada.xdotool('sleep', 0.3);
    shot('saying-list');
    await ada.xdotool('key', 'Return');
    await until('Grace is muted', () => (ada.settings().muted as string[] | undefined)?.[0] === 'Grace');
    await ada.isGone(SAYING);
    grace.send('say Can you hear me?');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Can you hear me?');
    await say('I hear only myself.');
    await bubble();
  });

  it('shows no bubbles when they are turned off, and still lists what was said', async () => {
    await choose('s', 'b');
    await until('the switch is saved', () => ada.settings().bubbles === false);
    await say('Nobody sees this.');
    await ada.xdotool('key', 'Escape');
    await ada.isGone(INPUT);
    assert.deepEqual(await bubbles(), []);
    await choose('w');
    await ada.xdotool('sleep', 0.3);
    shot('saying-off');
    await ada.xdotool('key', 'Escape', 'key', 'Escape');
  });
});
