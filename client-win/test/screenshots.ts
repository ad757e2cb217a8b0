/**
 * Makes the pictures of the READMEs: the programs for Windows (under Wine) and for Linux, two pages that talk, and a cat that was thrown
 * from a page onto the program for Windows.
 *
 *     node client-win/test/screenshots.ts [windows] [visit] [linux] [talking]
 *
 * Needs what the suites of Wine, X11 and pages need, xdotool and ImageMagick.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { joinPage, launchBrowser, noBrowser } from '../../server/test/browser_page.ts';
import { startRelay, until } from '../../server/test/relay_process.ts';
import { buildClient, buildWindowsClient, buildX11Client, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { startHeadless } from './headless_desktop.ts';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { type Frame, SCREEN, spawnQuietly, type XDisplay } from './x_display.ts';
import { whyNoX11, X11Desktop } from './x11_desktop.ts';

const ROOT = join(import.meta.dirname, '../..');
const SHOTS = join(ROOT, 'client-win/screenshots');
const TRAY = 'Wine System Tray'; // Windows does not have this window
const TITLE_PX = 20; // of a window's frame
const SCENE_MS_MAX = 300_000; // ms for the pictures of a scene: five times what they take
const SETTLE_MS = 2_500; // ms until sprites stand
const VIEW = { width: 640, height: 400 }; // px of a page, and of a whole desktop beside it
const SKY_BELOW_PX = 34; // px of the screen without sky, so that its window fits with its frame
const LETTER =
  'Dear Grace,\n\nMiso has been sleeping on this window\nall morning. I will throw him over when\nhe wakes up.\n\n   Ada\n';
const FEW_COLOURS = ['+dither', '-colors', '255', '-strip'];

const SCENES: Record<string, () => Promise<void>> = { windows, visit, linux, talking };
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SCENES);
const programs = ensurePrograms(['convert', 'display', 'xdotool'], ['imagemagick', 'xdotool']);
const missing = programs ? undefined : installHint(['imagemagick', 'xdotool']);
const wrong = chosen.find((name) => !Object.hasOwn(SCENES, name));
const why =
  (wrong && `there is no scene ${wrong}`) || missing || whyNoWine() || whyNoX11() || noBrowser || buildClient();
const whyNot = why ?? buildWindowsClient() ?? buildX11Client();
if (whyNot) {
  console.error(`The pictures can't be made: ${whyNot}.`);
  process.exit(1);
}
const scratch = mkdtempSync(join(tmpdir(), 'sprites-screenshots-'));
const sky = join(scratch, 'sky.png');
const dusk = [
  '-size',
  `${SCREEN.width - 2}x${SCREEN.height - SKY_BELOW_PX}`,
  'gradient:#2b3a67-#e8a87c',
  '-fill',
  '#ffe3b8',
];
const hill = ['-fill', '#37496b', '-draw', 'ellipse 640,900 1100,220 0,360'];
execFileSync('convert', [...dusk, '-draw', 'circle 1010,330 1010,392', ...hill, sky]);
const relay = await startRelay({ workers: 0 });
const browser = await launchBrowser();
const late = new AbortController();
try {
  for (const name of chosen) await Promise.race([SCENES[name](), tooLate(name)]);
} finally {
  late.abort();
  await browser.close();
  await relay.stop();
  rmSync(scratch, { recursive: true });
}
process.exit(); // with all that a scene has left

/** Throws when a scene takes too long: what it waits for may never come. */
async function tooLate(name: string): Promise<never> {
  await pause(SCENE_MS_MAX, undefined, { signal: late.signal });
  throw new Error(`The scene ${name} took more than ${SCENE_MS_MAX / 1000} s.`);
}

/** The program for Windows above two windows, its settings, a link, and its first start. */
async function windows(): Promise<void> {
  const ada = await WineDesktop.start('screenshots', 'openbox');
  try {
    await paintSky(ada);
    await openNotepad(ada, [100, 290, 520, 300]);
    await openProgram(ada, 'WineMine', [760, 420], 'winemine');
    keep(ada, {
      miso: [300, 200],
      bolt: [840, 330],
      ember: [150, 790],
      truffle: [400, 790],
      blob: [640, 790],
      pip: [1060, 790],
    });
    let program = startWindows(ada, 'Ada');
    await ada.count('Sprite', 6);
    const tray = await ada.frame(TRAY);
    await xdotool(ada, 'windowunmap', tray.id);
    await pause(SETTLE_MS);
    save(shoot(ada), 'desktop.png');
    for (const title of ['.*Notepad', 'WineMine']) await xdotool(ada, 'windowunmap', (await ada.frame(title)).id);

    await end(ada, program);
    keep(ada, { miso: [90, 790], pip: [1190, 790] }); // beside the dialogs
    program = startWindows(ada, 'Ada');
    await ada.count('Sprite', 2);
    await xdotool(ada, 'windowmap', tray.id);
    await ada.chooseInTray(
      ['s'],
      'the settings are open',
      async () => (await ada.frames('Sprites: settings')).length > 0,
    );
    await shootDialog(ada, 'Sprites: settings', 'settings.png');
    await ada.press('Escape');
    ada.launch(
      WINDOWS_CLIENT,
      '--link',
      `sprites:https://relay.example/#take=${'0'.repeat(64)}&name=Biscuit&author=Anna`,
    );
    await shootDialog(ada, 'Sprites', 'take.png');
    await ada.press('n');

    await end(ada, program);
    await xdotool(ada, 'windowunmap', tray.id);
    ada.launch(WINDOWS_CLIENT);
    await ada.focusOn('Sprites');
    await xdotool(ada, 'type', '--delay', 20, relay.url.replace('http://', ''));
    await shootDialog(ada, 'Sprites', 'welcome.png');
  } finally {
    await ada.stop();
  }
}

/** Miso, thrown off the right edge of Ada's page, has landed on Grace's desktop: the last frame of visit.png, which moves. */
async function visit(): Promise<void> {
  const grace = await WineDesktop.start('screenshots', 'openbox');
  try {
    await paintSky(grace);
    await openNotepad(grace, [300, 490, 260, 180]);
    keep(grace, { bolt: [350, 790], quill: [430, 790], nova: [500, 790] });
    startWindows(grace, 'Grace');
    const options = { whole: true, viewport: VIEW, colorScheme: 'light' } as const;
    const ada = await joinPage(browser, `${relay.url}/?world=garden`, 'Ada', [], options);
    await takeMiso(ada);
    await ada.keyboard.press('Shift+ArrowRight');
    await grace.count('Sprite', 4);
    await xdotool(grace, 'windowunmap', (await grace.frame(TRAY)).id);
    await pause(SETTLE_MS);
    const page = join(scratch, 'page.png');
    await ada.screenshot({ path: page });
    const desktop = shoot(grace);
    execFileSync('convert', [desktop, '-resize', `${VIEW.width}x`, desktop]);
    sideBySide([page, desktop], join(SHOTS, 'visit-end.png'));
    await ada.close();
  } finally {
    await grace.stop();
  }
}

/** The program for Linux: Grace's ghost is at Ada's, and both speak. */
async function linux(): Promise<void> {
  const ada = await X11Desktop.start('screenshots');
  const grace = startHeadless(['--relay', relay.url, '--name', 'Grace', '--world', 'linux']);
  try {
    await paintSky(ada);
    const letter = join(scratch, 'letter.png');
    const paper = ['-background', '#fdfdfb', '-fill', '#222222', '-font', 'DejaVu-Sans-Mono', '-pointsize', '15'];
    execFileSync('convert', [...paper, `label:${LETTER}`, '-bordercolor', '#fdfdfb', '-border', '14', letter]);
    spawnQuietly('display', ['-title', 'letter.txt', '-geometry', '+60+330', letter], ada.env);
    await ada.frame('letter.txt');
    const characters: Record<string, [number, number]> = {
      miso: [200, 200],
      jolly: [260, 790],
      truffle: [410, 790],
      blob: [575, 790],
      ember: [130, 790],
    };
    keep(ada, characters);
    ada.writeSettings({ relay: relay.url, world: 'linux', name: 'Ada', calm: true, greeted: true });
    ada.launch();
    await grace.until('both have joined', ({ neighbours }) => neighbours?.left.name === 'Ada');
    grace.send(`take ${characterFile('wisp')}`);
    const { sprites } = await grace.until('Grace has a sprite', (state) => state.sprites.length === 1);
    grace.send(`throw ${sprites[0].id} right`);
    await ada.count('Sprite', Object.keys(characters).length + 1);
    await pause(SETTLE_MS);
    const [first] = await ada.frames('Sprite');
    await xdotool(ada, 'mousemove', first.x + first.width / 2, first.y + first.height / 2, 'click', 3);
    await ada.pressInMenu('y');
    await ada.focusOn('Sprites: say something');
    // Bubbles are shown for a few seconds, so both say their line when it is typed.
    await xdotool(ada, 'type', '--delay', 20, 'Of course. There is room on my letter.');
    grace.send('say Hello Ada! May Wisp stay with you until tomorrow?');
    await ada.press('Return');
    await ada.count('Sprites saying', 2);
    await pause(SETTLE_MS / 5);
    save(shoot(ada), 'x11.png');
  } finally {
    await grace.quit();
    await ada.stop();
  }
}

/** Two pages side by side, whose people talk. */
async function talking(): Promise<void> {
  // With reduced motion the sprites stay where they land.
  const options = { whole: true, viewport: { width: 620, height: 470 }, reducedMotion: 'reduce' } as const;
  const address = `${relay.url}/?world=meadow`;
  const ada = await joinPage(browser, address, 'Ada', [], { ...options, colorScheme: 'light' });
  const grace = await joinPage(browser, address, 'Grace', [], { ...options, colorScheme: 'dark' });
  await takeMiso(ada);
  await ada.keyboard.press('Shift+ArrowRight');
  await grace.waitForFunction(() => globalThis.sprites.sprites().some(({ name }) => name === 'Miso'));
  await ada.keyboard.press('Escape');
  await pause(SETTLE_MS);
  await say(ada, 'Miso is coming over. Can you feed him?');
  await say(grace, 'He is asleep on my letter already.');
  await grace.keyboard.press('Escape');
  await grace.locator('#canvas').blur();
  await ada.locator('.bubble.placed', { hasText: 'letter already' }).waitFor();
  await ada.mouse.move(310, 235); // away from the shelf
  await pause(SETTLE_MS / 5);
  const files = ['ada.png', 'grace.png'].map((name) => join(scratch, name));
  for (const [i, page] of [ada, grace].entries()) await page.screenshot({ path: files[i] });
  sideBySide(files, join(ROOT, 'server/web/talking.png'));
}

/** Puts Miso on a page whose desktop has its neighbour, and selects him. */
async function takeMiso(page: Page): Promise<void> {
  await page.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Grace' }).waitFor();
  await page.click('button[title="Miso"]');
  await pause(SETTLE_MS);
  await page.locator('.notice').waitFor({ state: 'detached' });
  const names = await page.evaluate(() => globalThis.sprites.sprites().map(({ name }) => name));
  await page.locator('#canvas').focus();
  for (let i = 0; i <= names.indexOf('Miso'); i++) await page.keyboard.press('n');
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('#canvas').focus();
  await page.keyboard.press('Enter');
  await page.fill('#saying', text);
  await page.keyboard.press('Enter');
  await page.locator('#saying-state', { hasText: 'heard you' }).waitFor();
}

function characterFile(name: string): string {
  return join(ROOT, `server/web/sprites/${name}.spr`);
}

/** Gives a desktop these characters, each with its foot at its point. */
function keep(desktop: XDisplay, places: Record<string, [number, number]>): void {
  for (const [name, [x, y]] of Object.entries(places)) {
    desktop.keepSprite(readFileSync(characterFile(name)), name[0].toUpperCase() + name.slice(1), x, y);
  }
}

function startWindows(desktop: WineDesktop, name: string) {
  const quiet = { sound: false, toasts: false, greeted: true, calm: true };
  desktop.writeSettings({ relay: relay.url, world: 'garden', name, scale: 1.5, ...quiet });
  return desktop.launch(WINDOWS_CLIENT);
}

/** Ends the program and forgets its files. */
async function end(desktop: WineDesktop, program: ReturnType<typeof startWindows>): Promise<void> {
  await until('the program has ended', async () => {
    await desktop.run('wine', 'taskkill', '/im', 'Sprites.exe').catch(() => {}); // a window that has just closed makes it fail
    return program.exitCode !== null;
  });
  rmSync(desktop.folder, { recursive: true, force: true });
}

/** Shows the sky in a window behind all others. It leaves a strip at the foot, as one that fills the screen would hide the sprites. */
async function paintSky(desktop: XDisplay): Promise<void> {
  spawnQuietly('display', ['-title', 'Sky', sky], desktop.env);
  const { id } = await desktop.frame('Sky');
  await xdotool(desktop, 'windowmove', id, 0, -TITLE_PX);
}

async function openNotepad(desktop: WineDesktop, place: number[]): Promise<void> {
  writeFileSync(join(desktop.prefix, 'drive_c', 'letter.txt'), LETTER.replaceAll('\n', '\r\n'));
  await openProgram(desktop, '.*Notepad', place, 'notepad', 'C:\\letter.txt');
}

/** Starts a program of Windows and moves its window to a place; sets its size if there is one. */
async function openProgram(desktop: WineDesktop, title: string, place: number[], ...command: string[]): Promise<void> {
  desktop.launch(...command);
  const { id } = await desktop.frame(title);
  const [x, y, ...size] = place;
  if (size.length > 0) await xdotool(desktop, 'windowsize', id, ...size);
  await xdotool(desktop, 'windowmove', id, x, y);
}

/** Runs xdotool, which can do more with windows than the tests need. */
async function xdotool(desktop: XDisplay, ...args: (string | number)[]): Promise<void> {
  await desktop.output('xdotool', ...args.map(String));
}

/** Saves the picture of a dialog once sprites stand, and none in front of it. */
async function shootDialog(desktop: XDisplay, title: string, name: string): Promise<void> {
  await desktop.frame(title);
  await pause(SETTLE_MS);
  const dialog = await desktop.frame(title);
  const { x, y, width, height } = dialog;
  const isBeside = (sprite: Frame) =>
    sprite.x + sprite.width < x || sprite.x > x + width || sprite.y + sprite.height < y || sprite.y > y + height;
  await until('no sprite is in front of it', async () => (await desktop.frames('Sprite')).every(isBeside));
  save(crop(shoot(desktop), dialog), name);
}

/** The file of a screenshot. */
function shoot(desktop: XDisplay): string {
  const path = join(mkdtempSync(join(scratch, 'shot-')), 'screen.png');
  desktop.capture().save(path);
  return path;
}

function crop(path: string, { x, y, width, height }: Frame): string {
  execFileSync('convert', [path, '-crop', `${width}x${height}+${x}+${y}`, '+repage', path]);
  return path;
}

/** Saves two pictures on a coloured ground. */
function sideBySide(files: readonly string[], to: string): void {
  const ground = ['-bordercolor', '#4b4490', '-border', '10'];
  execFileSync('convert', [...files, ...ground, '+append', ...FEW_COLOURS, `png8:${to}`]);
  console.log(to);
}

function save(path: string, name: string): void {
  execFileSync('convert', [path, ...FEW_COLOURS, `png8:${join(SHOTS, name)}`]);
  console.log(join(SHOTS, name));
}
