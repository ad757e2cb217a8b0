/**
 * What is said, in the Windows program under Wine: bubbles, the window to type in, the list of what was said, mutes; and who is here.
 *
 * Ada has the program; Grace is a headless desktop beside her. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient, buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { checkAnimation, checkPhotograph, newPicture, SMILE, savedNames } from './saved_pictures.ts';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { CYAN, onFloor, RUNNER, runner, spr, TARGET } from './wine_sprites.ts';
import { eventually, middleOf, RIGHT, SCREEN, soon, tryUntil } from './x_display.ts';

const STAND_IN = join(dirname(WINDOWS_CLIENT), 'stand-in.exe');
const SHOTS = join(import.meta.dirname, '../../screenshots');
const INPUT = 'Sprites: say something';
const FIELD = 0.3; // of the height of that window, where one types
const LIST = 'Sprites: what was said';
const COMPANY = 'Sprites: who is here';
const DIALOG_CLASS = '#32770';
const MAIN_CLASS = 'SpritesDesktop'; // kMainClass in win32/system/single_instance.h
const TRAY_MESSAGE = '0x8002'; // kTrayMessage in win32/system/tray.h
const NIN_BALLOONUSERCLICK = '0x10405'; // of icon 1
const LIST_CLASS = 'ComboLBox'; // of what drops down from a combo box
const WM_SYSCOMMAND = 0x112;
const SC_DRAG = 0xf012; // SC_MOVE by the pointer
const WM_NCLBUTTONDOWN = 0xa1;
const HTVSCROLL = 7;
const MENU_MS = 1_500; // ms that a menu stays open: a bubble would come within a tenth of it
const MANY = 16; // sprites, more than a list of them shows at once

const skip = whyNoWine() ?? buildWindowsClient() ?? buildClient() ?? false;

describe('sayings in the windows client', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: WineDesktop;
  let grace: HeadlessDesktop;

  const shot = (name: string) => ada.capture().save(join(SHOTS, `wine-${name}.png`));

  /** Opens the line to type in, unless it is open, and gives it the keyboard. */
  async function openInput(): Promise<void> {
    await ada.chooseOf(onFloor(runner), ['y'], 'the input is open', async () => (await ada.frames(INPUT)).length === 1);
    await ada.focusOn(INPUT);
  }

  async function say(text: string): Promise<void> {
    await ada.type(text);
    await ada.press('Return');
  }

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('sayings', 'openbox');
    ada.writeSettings({ relay: relay.url, world: 'talk', name: 'Ada', sound: false, calm: true, greeted: true });
    for (let i = 0; i < MANY; i++) ada.keepSprite(spr(TARGET), `Target ${i}`, 300 + 60 * i, 100);
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height);
    ada.launch(WINDOWS_CLIENT);
    grace = startHeadless(['--relay', relay.url, '--world', 'talk', '--name', 'Grace']);
    await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitFor('the sprite', (screenshot) => screenshot.find(CYAN));
  });

  after(async () => {
    await grace?.quit();
    await ada?.stop();
    await relay?.stop();
  });

  it("shows a neighbour's words at the edge where she sits, named for screen readers, and they go", async () => {
    const text = 'Hello over there, Ada! Is that your cat on my desktop? It has been asleep for an hour.';
    grace.send(`say ${text}`);
    const title = `Grace: ${text.replace('?', '\\?')}`;
    const place = await ada.frame(title);
    const { x, y, width, height } = place;
    assert.ok(x < 20 || x + width > SCREEN.width - 20, JSON.stringify(place));
    await ada.waitFor('its paper', (screenshot) => {
      const colour = screenshot.at(x + 16, y + height / 2);
      return colour.every((part) => part === 255) || undefined;
    });
    shot('saying-edge');
    await ada.isGone(title);
  });

  it('says a line that is typed, shows it at an own sprite, and tells how many hear it', async () => {
    await openInput();
    await say('Whose cat is that');
    await grace.waitForLine('Grace hears it', ({ heard, from }) => heard === 'Whose cat is that' && from === 'Ada');
    await ada.frame('Whose cat is that');
    shot('saying-own');
    // While the menu of the field is open, Windows runs a loop of its own; the program goes on.
    const untitled = async () => (await ada.frames('')).length;
    const before = await untitled();
    const { x, y, width, height } = await ada.frame(INPUT);
    await ada.click({ x: x + width / 2, y: y + FIELD * height }, RIGHT);
    await eventually('the menu of the field is open', async () => (await untitled()) > before);
    grace.send('say I see you');
    await ada.frame('Grace: I see you');
    await ada.press('Escape');
    await eventually('the menu is closed', async () => (await untitled()) === before);
    // The line was cleared, so what is typed now is a line of its own.
    await say('Mine');
    await grace.waitForLine('Grace hears the second line', ({ heard }) => heard === 'Mine');
    await ada.press('Escape');
    await ada.isGone(INPUT);
  });

  // The messages are those that Windows sends: under a window manager Wine has no title bar, and it gives a press on a scroll bar of a
  // list to the box.
  it('goes on while Windows runs a loop of its own: a dialog is dragged, the scroll bar of a list is held', async () => {
    const post = (to: string, message: number, parameter: number) =>
      ada.run('wine', STAND_IN, to, 'post', String(message), String(parameter));
    const hears = async (text: string) => {
      grace.send(`say ${text}`);
      await ada.frame(`Grace: ${text}`);
    };
    const isOpen = async () => (await ada.frames(COMPANY)).length === 1;
    await ada.chooseOf(onFloor(runner), ['b', 'w'], 'it shows who is here', isOpen);
    const { x, y, width, height } = await ada.focusOn(COMPANY);
    await ada.holdButtonAt({ x: x + 4, y: y + 4 });
    await post(DIALOG_CLASS, WM_SYSCOMMAND, SC_DRAG);
    await eventually('the dialog follows the pointer', async () => {
      await ada.moveTo({ x: x - 60, y: y - 40 });
      await ada.moveTo({ x: x - 61, y: y - 40 });
      return (await ada.frame(COMPANY)).x < x;
    });
    await hears('You drag a dialog');
    await ada.releaseButton();

    const untitled = async () => (await ada.frames('')).length;
    const before = await untitled();
    const open = () => ada.press('alt+s', 'alt+Down'); // a dialog that is still dragged does not hear it
    await tryUntil('the list is open', open, async () => (await untitled()) > before);
    await post(LIST_CLASS, WM_NCLBUTTONDOWN, HTVSCROLL);
    await hears('You scroll');
    await ada.click({ x: x + width / 2, y: y + height / 4 }); // lets the scroll bar go
    await ada.press('Escape', 'Escape');
    await ada.isGone(COMPANY);
  });

  it('shows no bubble over a menu, and shows it when that is closed', async () => {
    const { found } = await ada.waitUntilStill('the sprite', onFloor(runner));
    const open = () => ada.click(middleOf(found), RIGHT);
    await tryUntil('the menu is open', open, () => ada.hasMenu());
    grace.send('say Mind the menu!');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Mind the menu!');
    const comes = async () => (await ada.frames('Grace: Mind the menu!')).length > 0;
    assert.ok(!(await soon(comes, MENU_MS)));
    assert.ok(await ada.hasMenu());
    await ada.focusOn('Sprite');
    await ada.press('Escape');
    await ada.frame('Grace: Mind the menu!');
  });

  it('takes a picture of the sprites and what is said, and of the last seconds without that', async () => {
    let names = savedNames(ada.pictures);
    grace.send(`say ${SMILE}`);
    await ada.frame(`Grace: ${SMILE}`);
    const isSaved = () => savedNames(ada.pictures).length > names.length;
    await ada.chooseOf(onFloor(runner), ['a', 't'], 'a picture is saved', isSaved);
    checkPhotograph(await newPicture(ada.pictures, names), join(SHOTS, 'wine-photograph.png'));

    names = savedNames(ada.pictures);
    await ada.dragTo('the sprite', runner, { x: 300, y: 500 });
    await ada.chooseOf(onFloor(runner), ['a', 's'], 'an animation is saved', isSaved);
    checkAnimation(await newPicture(ada.pictures, names), join(SHOTS, 'wine-animation.gif'));
  });

  // The stand-in is the program for pictures. Its title is what it was told to open.
  it('a click on the toast of a saved picture opens it', async () => {
    const command = `"Z:${STAND_IN.replaceAll('/', '\\')}" "%1" 20 20 200 60`;
    await ada.run('wine', 'reg', 'add', 'HKCR\\.png', '/ve', '/d', 'Viewer', '/f');
    await ada.run('wine', 'reg', 'add', 'HKCR\\Viewer\\shell\\open\\command', '/ve', '/d', command, '/f');
    const names = savedNames(ada.pictures);
    const isSaved = () => savedNames(ada.pictures).length > names.length;
    await ada.chooseOf(onFloor(runner), ['a', 't'], 'a picture is saved', isSaved);
    const { name } = await newPicture(ada.pictures, names);
    const viewer = `C:.*${name}`;
    await tryUntil(
      'the picture is open',
      () => ada.run('wine', STAND_IN, MAIN_CLASS, 'post', TRAY_MESSAGE, '0', NIN_BALLOONUSERCLICK),
      async () => (await ada.frames(viewer)).length > 0,
    );
    await ada.closeWindow(viewer);
  });

  it('lists what was said, and mutes a speaker there', async () => {
    const text = 'A longer line that has more words than fit into its column, so it is shown whole below the list';
    grace.send(`say ${text}`);
    await ada.frame(`Grace: ${text}`);
    await ada.chooseInTray(['w'], 'the list is open', async () => (await ada.frames(LIST)).length === 1);
    await ada.focusOn(LIST);
    shot('saying-list');
    await ada.press('alt+m');
    await eventually('Grace is muted', () => ada.settings().muted?.[0]?.name === 'Grace');
    await ada.isGone(`Grace: ${text}`);
    shot('saying-muted');
    grace.send('say Can you hear me');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Can you hear me');
    await ada.press('Escape');
    await ada.isGone(LIST);
    await openInput();
    await say('Only me');
    await ada.frame('Only me');
    assert.deepEqual(await ada.frames('Grace: Can you hear me'), []);
  });

  it('shows who is here, and throws a sprite to a friend from there', async () => {
    await ada.press('Escape');
    await ada.isGone(INPUT);
    await ada.chooseOf(
      onFloor(runner),
      ['b', 'w'],
      'it shows who is here',
      async () => (await ada.frames(COMPANY)).length === 1,
    );
    await ada.focusOn(COMPANY);
    shot('company');
    await ada.press('alt+t');
    await grace.until('the sprite is at Grace', ({ sprites }) => sprites.length === 1);
    await ada.press('Escape');
    await ada.isGone(COMPANY);
  });
});
