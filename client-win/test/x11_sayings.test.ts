/**
 * What is said, in the program for X11: bubbles, the window to type in, the list of what was said, mutes; and who is here.
 *
 * Ada has the program; Grace is a headless desktop beside her. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient, buildX11Client } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { checkAnimation, checkPhotograph, newPicture, PAPER, SMILE, savedNames } from './saved_pictures.ts';
import { RUNNER, runner, spr } from './wine_sprites.ts';
import { eventually, type Frame, middleOf, SCREEN, soon } from './x_display.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const SAYING = 'Sprites saying';
const INPUT = 'Sprites: say something';
const COMPANY = 'Sprites: who is here';
const MENU_MS = 1_500; // ms that a menu stays open: a bubble would come within a tenth of it

const skip = whyNoX11() ?? buildX11Client() ?? buildClient() ?? false;

describe('sayings in the program for X11', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: X11Desktop;
  let client: ChildProcess;
  let grace: HeadlessDesktop;

  // Ada sits at the left and the right of Grace, with one sprite.
  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [relay, ada] = await Promise.all([startRelay({ workers: 0 }), X11Desktop.start('sayings')]);
    ada.writeSettings({ relay: relay.url, world: 'talk', name: 'Ada', calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height);
    client = ada.launch();
    grace = startHeadless(['--relay', relay.url, '--world', 'talk', '--name', 'Grace']);
    await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitFor('the sprite', runner);
  });

  after(async () => {
    client?.kill('SIGTERM');
    if (client) await exitOf(client);
    await grace?.quit();
    await ada?.stop();
    await relay?.stop();
  });

  const bubbles = () => ada.frames(SAYING);

  async function bubble(): Promise<Frame> {
    let found: Frame | undefined;
    await eventually('there is one bubble', async () => {
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
    await ada.focusOn(INPUT);
    await ada.type(text);
    await ada.press('Return');
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
    assert.ok(!(await ada.windowsAt(middle)).includes(at.id));
    await ada.isGone(SAYING);
  });

  it('says a line that is typed, shows it at an own sprite, and tells how many hear it', async () => {
    await say('Whose cat is that?');
    const at = await bubble();
    const { found } = await ada.waitUntilStill('the sprite', runner);
    const middle = middleOf(found).x;
    assert.ok(at.x < middle && middle < at.x + at.width && at.y < found.top, JSON.stringify({ at, found }));
    shot('saying-own');
    // The line was cleared, so what is typed now is a line of its own.
    await ada.type('Mine.');
    await ada.press('Return');
    await grace.waitForLine('Grace hears the second line', ({ heard }) => heard === 'Mine.');
    await ada.press('Escape');
    await ada.isGone(INPUT);
    await ada.isGone(SAYING);
  });

  it('says a line in any script', async () => {
    await say('Señor Café, 日本語, مرحبا');
    await bubble();
    shot('saying-scripts');
    await ada.press('Escape');
    await ada.isGone(INPUT);
    await ada.isGone(SAYING);
  });

  it('takes a name with letters that the keyboard composes', async () => {
    await ada.addKeysFor([...'Zoë ñ 日本 مرحبا', 'acute']);
    await choose('s', 'n');
    await ada.focusOn('Sprites');
    await ada.press('ctrl+a');
    await ada.type('Zoë ñ 日本');
    // A dead accent and a letter, as on a keyboard without é.
    await ada.press('acute', 'e');
    await ada.type(' مرحبا');
    await ada.press('Return');
    await eventually('the name is saved', () => ada.settings().name === 'Zoë ñ 日本é مرحبا');
    await grace.until('Grace sees it', ({ neighbours }) => neighbours?.left.name === 'Zoë ñ 日本é مرحبا');
    await choose('s', 'n');
    await ada.focusOn('Sprites');
    await ada.press('ctrl+a');
    await ada.type('Ada');
    await ada.press('Return');
    await grace.until('Ada has her name again', ({ neighbours }) => neighbours?.left.name === 'Ada');
  });

  it('takes a picture of the sprites and what is said, and of the last seconds without that', async () => {
    let names = savedNames(ada.pictures);
    grace.send(`say ${SMILE}`);
    await bubble();
    await choose('a', 't');
    checkPhotograph(await newPicture(ada.pictures, names), join(SHOTS, 'x11-photograph.png'));

    names = savedNames(ada.pictures);
    await ada.dragTo('the sprite', runner, { x: 300, y: 500 });
    await choose('a', 's');
    checkAnimation(await newPicture(ada.pictures, names), join(SHOTS, 'x11-animation.gif'));
  });

  it('shows no bubble over a menu, and shows it when that is closed', async () => {
    await ada.isGone(SAYING);
    await choose();
    grace.send('say Mind the menu!');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Mind the menu!');
    assert.ok(!(await soon(async () => (await bubbles()).length > 0, MENU_MS)));
    await ada.press('Escape');
    await bubble();
  });

  it('lists what was said, and mutes a speaker there', async () => {
    grace.send('say A longer line & more, which has to be cut in the menu but not beside it.');
    await bubble();
    await choose('w', 'Right');
    shot('saying-list');
    await ada.press('Return');
    await eventually('Grace is muted', () => ada.settings().muted?.[0]?.name === 'Grace');
    await ada.isGone(SAYING);
    grace.send('say Can you hear me?');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Can you hear me?');
    await say('I hear only myself.');
    await bubble();
    await ada.press('Escape');
    await ada.isGone(INPUT);
  });

  it('shows no bubbles when they are turned off', async () => {
    await ada.isGone(SAYING);
    await choose('s', 'b');
    await eventually('the switch is saved', () => ada.settings().bubbles === false);
    await say('Nobody sees this.');
    await ada.press('Escape');
    await ada.isGone(INPUT);
    assert.deepEqual(await bubbles(), []);
  });

  it('shows who is here, and throws a sprite to a friend from there', async () => {
    await choose('b', 'w');
    await ada.focusOn(COMPANY);
    shot('company');
    await ada.press('alt+t');
    await grace.until('the sprite is at Grace', ({ sprites }) => sprites.length === 1);
    await ada.press('Escape');
    await ada.isGone(COMPANY);
  });
});
