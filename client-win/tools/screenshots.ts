/**
 * Makes the screenshots of the README in client-win/screenshots/: the Windows program on two desktops under Wine.
 *
 *     node client-win/tools/screenshots.ts
 *
 * Needs what the Wine suites need, hsetroot and xdotool. The program is paused while a screenshot is taken, so that a sprite in
 * flight stays in the air.
 */
import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRelay, until } from '../../server/test/relay_process.ts';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WineDesktop, whyNoWine } from '../test/wine_desktop.ts';
import { SCREEN } from '../test/x_display.ts';
import { decorate, openProgram, xdotool } from './scene.ts';

const SHOTS = join(import.meta.dirname, '../screenshots');
const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');
const COLOURS = 255; // in a file: keeps 1280 × 800 px below 150 KB
const SHADOW_PX = 18; // of a sprite's window, below its foot
const AIR_PX = 4; // a sprite whose foot is so far above the floor flies, or stands on a window
const HIGH_PX = 460; // a sprite whose top is above this stands on a window
const THROWS_MAX = 12; // a sprite may pass between two looks
const RUN_MS = 15; // ms the program runs between two looks
const FALL_MS = 3_000; // ms until the sprites are on the floor, and not in front of a dialog
const HALF_PX = 640; // px of each desktop's width in the picture of a crossing

const LETTER = `Dear Grace,

Miso has been sleeping on this window all morning.
I will throw him over when he wakes up.

   Ada
`;

const programs = ensurePrograms(['hsetroot', 'convert', 'xdotool'], ['hsetroot', 'imagemagick', 'xdotool']);
const whyNoSky = programs ? undefined : installHint(['hsetroot', 'imagemagick', 'xdotool']);
const why = whyNoWine() ?? whyNoSky ?? buildWindowsClient();
if (why) {
  console.error(`Screenshots can't be made: ${why}.`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-screenshots-'));
mkdirSync(SHOTS, { recursive: true });
const relay = await startRelay({ workers: 0 });
const [ada, grace] = await Promise.all([WineDesktop.start('shell', 'openbox'), WineDesktop.start('shots', 'openbox')]);
try {
  for (const desktop of [ada, grace]) await decorate(desktop, scratch);
  writeFileSync(join(ada.prefix, 'drive_c', 'letter.txt'), LETTER.replaceAll('\n', '\r\n'));
  await openProgram(ada, 'Notepad', [100, 290, 520, 300], 'notepad', 'C:\\letter.txt');
  await openProgram(ada, 'WineMine', [760, 420], 'winemine');
  await openProgram(grace, 'Notepad', [420, 330, 480, 260], 'notepad');
  const hers = startClient(ada, 'Ada', {
    miso: [300, 200],
    bolt: [840, 330],
    ember: [150, 790],
    truffle: [400, 790],
    blob: [640, 790],
    pip: [1060, 790],
  });
  const his = startClient(grace, 'Grace', { wisp: [600, 260] });
  await until('both have joined', async () => (await relay.metrics()).get('sprites_desktops') === 2);
  const tray = await idOf(ada, 'Wine System Tray');
  await xdotool(ada, 'windowunmap', tray); // Windows does not have this window
  save(await stroll(hers), 'desktop.png');
  await crossing(hers, his);
  for (const title of ['Notepad', 'WineMine']) {
    await xdotool(ada, 'search', '--onlyvisible', '--name', title, 'windowunmap', '%@');
  }
  const calm = await settingsDialog(hers, tray);
  await linkQuestion();
  await firstStart(calm);
} finally {
  await Promise.all([ada.stop(), grace.stop()]);
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** Starts the client with these characters, each with its foot at its point. */
function startClient(
  desktop: WineDesktop,
  name: string,
  places: Record<string, [number, number]>,
  more: object = {},
): ChildProcess {
  desktop.writeSettings({
    relay: relay.url,
    world: 'garden',
    name,
    sound: false,
    toasts: false,
    greeted: true,
    scale: 1.5,
    ...more,
  });
  const sprites = Object.entries(places).map(([character, [x, y]]) => {
    const spr = readFileSync(join(CHARACTERS, `${character}.spr`));
    return { file: createHash('sha256').update(spr).digest('hex'), name: character, scale: 2, fromShelf: true, x, y };
  });
  writeFileSync(join(desktop.folder, 'kept.json'), JSON.stringify({ sprites }));
  return desktop.launch(WINDOWS_CLIENT);
}

async function capture(desktop: WineDesktop): Promise<{ path: string }> {
  const path = join(mkdtempSync(join(scratch, 'see-')), 'screen.png');
  desktop.capture().save(path);
  return { path };
}

interface Place {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The windows of all sprites, each with its shadow. */
async function places(desktop: WineDesktop): Promise<Place[]> {
  const search = ['search', '--onlyvisible', '--name', '^Sprite$', 'getwindowgeometry', '--shell', '%@'];
  const found = await xdotool(desktop, ...search).catch(() => '');
  const frames = found.matchAll(/^WINDOW=(\d+)\nX=(-?\d+)\nY=(-?\d+)\nWIDTH=(\d+)\nHEIGHT=(\d+)$/gm);
  return [...frames].map(([, id, ...place]) => {
    const [x, y, width, height] = place.map(Number);
    return { id, x, y, width, height };
  });
}

/**
 * Waits until a sprite fulfils `isThere` and returns the path of a screenshot; undefined if none does within `ms`. The
 * program runs and is paused in turns: on a busy machine a sprite in flight would be gone between two looks.
 */
async function captureWhen(
  desktop: WineDesktop,
  program: ChildProcess,
  ms: number,
  isThere: (sprite: Place) => boolean,
): Promise<string | undefined> {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; ) {
    process.kill(program.pid!, 'SIGSTOP');
    const path = (await places(desktop)).some(isThere) ? (await capture(desktop)).path : undefined;
    process.kill(program.pid!, 'SIGCONT');
    if (path) return path;
    await pause(RUN_MS);
  }
  return undefined;
}

/** Returns a screenshot of two sprites that stand on windows and another that walks on the floor. */
async function stroll(hers: ChildProcess): Promise<string> {
  let before = await places(ada);
  await until('two sprites stand and one walks', async () => {
    const now = await places(ada);
    const was = ({ id }: Place) => before.find((one) => one.id === id) ?? { x: Number.NaN, y: Number.NaN };
    const isHigh = ({ y }: Place) => y < HIGH_PX;
    const standing = now.filter((one) => isHigh(one) && one.y === was(one).y && one.x === was(one).x);
    const walking = now.filter((one) => !isHigh(one) && one.y === was(one).y && Math.abs(one.x - was(one).x) > 0);
    before = now;
    if (standing.length !== 2 || walking.length === 0) return false;
    process.kill(hers.pid!, 'SIGSTOP');
    return true;
  });
  const { path } = await capture(ada);
  process.kill(hers.pid!, 'SIGCONT');
  return path;
}

/** Makes the picture of a sprite that leaves Ada's desktop on the right and enters Grace's on the left. */
async function crossing(hers: ChildProcess, his: ChildProcess): Promise<void> {
  let [left, right]: (string | undefined)[] = [];
  for (let throws = 0; throws < THROWS_MAX && !right; throws++) {
    const atHome = new Set((await places(grace)).map(({ id }) => id));
    await throwLeftmost();
    left = await captureWhen(ada, hers, 4000, (one) => one.x > SCREEN.width - 190 && flies(one));
    right = left && (await captureWhen(grace, his, 6000, (one) => one.x > 10 && flies(one) && !atHome.has(one.id)));
  }
  if (!left || !right) throw new Error(`No crossing was seen in ${THROWS_MAX} throws.`);
  const path = join(scratch, 'crossing.png');
  const part = (screen: string, x: number) => [
    '(',
    screen,
    '-crop',
    `${HALF_PX}x480+${x}+320`,
    '+repage',
    '-bordercolor',
    '#1b1b24',
    '-border',
    '10',
    ')',
  ];
  execFileSync('convert', [...part(left, SCREEN.width - HALF_PX), ...part(right, 0), '+append', path]);
  save(path, 'crossing.png');
}

function flies({ y, height }: Place): boolean {
  return y > HIGH_PX && y + height - SHADOW_PX < SCREEN.height - AIR_PX;
}

/**
 * Throws the leftmost sprite on the floor by its menu: its flight to the edge is long enough to be seen. If it has walked away before the
 * click, nothing happens.
 */
async function throwLeftmost(): Promise<void> {
  const sprites = (await places(ada)).filter(({ y, height }) => y > SCREEN.height - height - 8);
  const [first] = sprites.sort((one, other) => one.x - other.x);
  if (!first) return;
  const [x, y] = [first.x + first.width / 2, first.y + first.height * 0.6].map(Math.round);
  // Close a menu that the last click may have opened.
  await xdotool(ada, 'key', 'Escape', 'sleep', 0.2);
  await xdotool(ada, 'mousemove', x, y, 'click', 3, 'sleep', 0.6, 'windowfocus', first.id, 'sleep', 0.1, 'key', 'r');
}

/** Ends Ada's program and forgets its files. */
async function forget(program: ChildProcess): Promise<void> {
  await until('the program has ended', async () => {
    await ada.run('wine', 'taskkill', '/im', 'Sprites.exe').catch(() => {}); // a window that has just closed makes it fail
    return program.exitCode !== null;
  });
  rmSync(ada.folder, { recursive: true, force: true });
}

/**
 * Makes the picture of the settings, opened from the tray icon, which Wine shows in its own window. The program is started
 * again with two calm sprites, which stand beside the dialogs.
 */
async function settingsDialog(before: ChildProcess, tray: string): Promise<ChildProcess> {
  await forget(before);
  const hers = startClient(ada, 'Ada', { miso: [90, 790], pip: [1190, 790] }, { calm: true });
  await until('both have joined', async () => (await relay.metrics()).get('sprites_desktops') === 2);
  await visible('Sprite');
  await xdotool(ada, 'windowmap', tray, 'sleep', 0.5);
  await xdotool(ada, 'mousemove', '--window', tray, 10, 10, 'click', 3, 'sleep', 0.6);
  const sprite = await idOf(ada, '^Sprite$');
  await xdotool(ada, 'windowfocus', sprite, 'sleep', 0.1, 'key', 's');
  await dialog('Sprites: settings', 'settings.png');
  await xdotool(ada, 'key', 'Escape');
  await ada.isGone('Sprites: settings');
  return hers;
}

/** Makes the picture of the question before a sprite of a gallery is fetched. */
async function linkQuestion(): Promise<void> {
  const file = '0'.repeat(64);
  ada.launch(WINDOWS_CLIENT, '--link', `sprites:https://relay.example/#take=${file}&name=Biscuit&author=Anna`);
  const window = await dialog('Sprites', 'take.png');
  await xdotool(ada, 'windowfocus', window, 'sleep', 0.3, 'key', 'n');
  await ada.isGone('Sprites');
}

/** Makes the pictures of the first start: the window that asks where to go, and what the first sprite says. */
async function firstStart(hers: ChildProcess): Promise<void> {
  await forget(hers);
  await xdotool(ada, 'windowunmap', await idOf(ada, 'Wine System Tray'));
  ada.launch(WINDOWS_CLIENT);
  const window = await visible('Sprites');
  await pause(FALL_MS);
  await xdotool(ada, 'windowfocus', window, 'sleep', 0.3, 'type', '--delay', 20, relay.url.replace('http://', ''));
  await dialog('Sprites', 'welcome.png');
  await xdotool(ada, 'windowfocus', window, 'sleep', 0.3, 'key', 'Return');
  const bubble = await visible('Drag me past an edge.*');
  await pause(500);
  const frame = await frameOf(bubble);
  const [x, y, width, height] = [frame.x - 110, SCREEN.height - 230, frame.width + 220, 230];
  const path = join(scratch, 'bubble.png');
  execFileSync('convert', [(await capture(ada)).path, '-crop', `${width}x${height}+${x}+${y}`, '+repage', path]);
  save(path, 'bubble.png');
}

/** Makes the picture of a dialog with its frame. Returns its window. */
async function dialog(title: string, name: string): Promise<string> {
  const id = await visible(title);
  await pause(FALL_MS);
  const { x, y, width, height } = await frameOf(id);
  await until('no sprite is in front of it', async () => {
    const isBeside = (one: Place) => one.x + one.width < x || one.x > x + width || one.y + one.height - SHADOW_PX < y;
    return (await places(ada)).every((one) => isBeside(one) || one.y > y + height);
  });
  // Without the frame of openbox, which is not that of Windows; xdotool counts it twice.
  const [FRAME_PX, TITLE_PX] = [2, 21];
  const size = `${width}x${height}+${x - FRAME_PX}+${y - TITLE_PX}`;
  const path = join(scratch, name);
  execFileSync('convert', [(await capture(ada)).path, '-crop', size, '+repage', path]);
  save(path, name);
  return id;
}

/** Waits for a visible window with this title: the program has a hidden one with the same title. */
async function visible(title: string): Promise<string> {
  let id: string | undefined;
  await until(`there is a window ${title}`, async () => {
    const shown = await ada.frames(title);
    id = shown[0] && String(shown[0].id);
    return id !== undefined;
  });
  return id!;
}

async function frameOf(id: string): Promise<{ x: number; y: number; width: number; height: number }> {
  const text = await xdotool(ada, 'getwindowgeometry', '--shell', id);
  const number = (what: string) => Number(new RegExp(`^${what}=(-?\\d+)$`, 'm').exec(text)?.[1]);
  return { x: number('X'), y: number('Y'), width: number('WIDTH'), height: number('HEIGHT') };
}

/** Waits for an X window with this title and returns its id. A search fails if any window is closed meanwhile; it is repeated. */
async function idOf(desktop: WineDesktop, title: string): Promise<string> {
  let id = '';
  await until(`there is a window ${title}`, async () => {
    id = (await xdotool(desktop, 'search', '--name', title).catch(() => '')).split('\n')[0];
    return id !== '';
  });
  return id;
}

/** Saves a picture with few colours in the folder of the screenshots. */
function save(path: string, name: string): void {
  const to = join(SHOTS, name);
  execFileSync('convert', [path, '+dither', '-colors', String(COLOURS), '-strip', `png8:${to}`]);
  console.log(to);
}
