/**
 * Makes the pictures of the README anew, into client-win/screenshots/: the program for Windows on two desktops under Wine.
 *
 *     node client-win/tools/screenshots.ts
 *
 * Needs what the suites under Wine need. A picture shows a moment: whoever flies is stopped in the air for it.
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
import { ensurePrograms } from '../../tools/machine.js';
import { noWine, SCREEN, WineDesktop } from '../test/wine_desktop.ts';

const SHOTS = join(import.meta.dirname, '../screenshots');
const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');
const COLOURS = 255; // of a picture: what lets 1280 × 800 pixels pass for less than 150 KB
const AIR = 690; // px: whose head is higher does not stand on the floor
const THROWS_MAX = 12; // somebody passes between two looks now and then
const TURN_MS = 15;
const HALF = 640; // px of each desktop that are seen of a crossing

const LETTER = `Dear Grace,

Miso has been sleeping on this window all morning.
I will throw him over when he wakes up.

   Ada
`;

const programs = ensurePrograms(['hsetroot', 'convert'], ['hsetroot', 'imagemagick']);
const noSky = programs ? undefined : 'apt-get install hsetroot imagemagick';
const why = noWine() ?? noSky ?? buildWindowsClient();
if (why) {
  console.error(`No screenshots: ${why}.`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-screenshots-'));
mkdirSync(SHOTS, { recursive: true });
const relay = await startRelay({ workers: 0 });
const [ada, grace] = await Promise.all([WineDesktop.start('shell', 'openbox'), WineDesktop.start('shots', 'openbox')]);
try {
  await Promise.all([ada, grace].map(decorate));
  writeFileSync(join(ada.prefix, 'drive_c', 'letter.txt'), LETTER.replaceAll('\n', '\r\n'));
  await open(ada, 'Notepad', [100, 290, 520, 300], 'notepad', 'C:\\letter.txt');
  await open(ada, 'WineMine', [760, 420], 'winemine');
  await open(grace, 'Notepad', [420, 330, 480, 260], 'notepad');
  const hers = begin(ada, 'Ada', {
    miso: [300, 200],
    bolt: [840, 330],
    blob: [480, 790],
    pip: [1020, 790],
    ember: [150, 790],
  });
  const his = begin(grace, 'Grace', { wisp: [600, 260] });
  await until('both are in', async () => (await relay.metrics()).get('sprites_desktops') === 2);
  const tray = await idOf(ada, 'Wine System Tray');
  await ada.pointer('windowunmap', tray); // Windows has none such
  picture(await stroll(hers), 'desktop.png');
  await crossing(hers, his);
  await dialog(tray);
} finally {
  await Promise.all([ada.stop(), grace.stop()]);
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** A sky in the evening, and hills. */
async function decorate(desktop: WineDesktop): Promise<void> {
  const path = join(scratch, 'sky.png');
  const hill = (colour: string, ...points: number[]) => [
    '-fill',
    colour,
    '-draw',
    `path 'M 0,800 L ${points.join(' ')} L 1280,800 Z'`,
  ];
  const wave = (base: number, height: number, length: number, from: number) =>
    Array.from({ length: 65 }, (_, i) => [i * 20, base - height * Math.sin((i * 20 + from) / length)])
      .flat()
      .map(Math.round);
  execFileSync('convert', [
    '-size',
    `${SCREEN.width}x${SCREEN.height}`,
    'gradient:#2b3a67-#e8a87c',
    '-fill',
    '#ffe3b8',
    '-draw',
    'circle 1010,330 1010,392',
    ...hill('#6d6a8f', ...wave(560, 70, 190, 100)),
    ...hill('#4f5d7e', ...wave(640, 60, 130, 420)),
    ...hill('#37496b', ...wave(730, 40, 160, 700)),
    path,
  ]);
  await desktop.run('hsetroot', '-cover', path);
}

/** Opens a program's window at a place and, if given, of a size. */
async function open(
  desktop: WineDesktop,
  title: string,
  [x, y, ...size]: number[],
  ...command: string[]
): Promise<void> {
  desktop.begin(...command);
  await until(`${title} is open`, async () => {
    const id = (await desktop.pointer('search', '--onlyvisible', '--name', title).catch(() => '')).split('\n')[0];
    if (id === '') return false;
    if (size.length === 2) await desktop.pointer('windowsize', id, ...size);
    await desktop.pointer('windowmove', id, x, y);
    return true;
  });
}

/** Starts the program with these characters, each with its foot at that point. */
function begin(desktop: WineDesktop, name: string, places: Record<string, [number, number]>): ChildProcess {
  desktop.settle({ relay: relay.url, world: 'garden', name, sound: false, toasts: false, scale: 1.5 });
  const sprites = Object.entries(places).map(([character, [x, y]]) => {
    const spr = readFileSync(join(CHARACTERS, `${character}.spr`));
    return { file: createHash('sha256').update(spr).digest('hex'), name: character, scale: 2, fromShelf: true, x, y };
  });
  writeFileSync(join(desktop.folder, 'kept.json'), JSON.stringify({ sprites }));
  return desktop.begin(WINDOWS_CLIENT);
}

async function see(desktop: WineDesktop): Promise<{ path: string }> {
  const path = join(mkdtempSync(join(scratch, 'see-')), 'screen.png');
  desktop.see().save(path);
  return { path };
}

interface Place {
  id: string;
  x: number;
  y: number;
  side: number;
}

/** The window of each sprite. */
async function places(desktop: WineDesktop): Promise<Place[]> {
  const search = ['search', '--onlyvisible', '--name', '^Sprite$', 'getwindowgeometry', '--shell', '%@'];
  const found = await desktop.pointer(...search).catch(() => '');
  const frames = found.matchAll(/^WINDOW=(\d+)\nX=(-?\d+)\nY=(-?\d+)\nWIDTH=(\d+)$/gm);
  return [...frames].map(([, id, ...place]) => ({
    id,
    x: Number(place[0]),
    y: Number(place[1]),
    side: Number(place[2]),
  }));
}

/**
 * What it looks like once somebody is there; undefined when nobody came within `ms`. The program runs a little and stands
 * still while it is looked at, in turns: on a busy machine whoever flies would be gone between two looks.
 */
async function momentOf(
  desktop: WineDesktop,
  program: ChildProcess,
  ms: number,
  isThere: (sprite: Place) => boolean,
): Promise<string | undefined> {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; ) {
    process.kill(program.pid!, 'SIGSTOP');
    const path = (await places(desktop)).some(isThere) ? (await see(desktop)).path : undefined;
    process.kill(program.pid!, 'SIGCONT');
    if (path) return path;
    await pause(TURN_MS);
  }
  return undefined;
}

/** Two stand on windows of programs, and somebody walks below them. */
async function stroll(hers: ChildProcess): Promise<string> {
  let before = await places(ada);
  await until('two stand, and one walks', async () => {
    const now = await places(ada);
    const was = ({ id }: Place) => before.find((one) => one.id === id) ?? { x: Number.NaN, y: Number.NaN };
    const isHigh = ({ y }: Place) => y < AIR - 200;
    const standing = now.filter((one) => isHigh(one) && one.y === was(one).y && one.x === was(one).x);
    const walking = now.filter((one) => !isHigh(one) && one.y === was(one).y && Math.abs(one.x - was(one).x) > 0);
    before = now;
    if (standing.length !== 2 || walking.length === 0) return false;
    process.kill(hers.pid!, 'SIGSTOP');
    return true;
  });
  const { path } = await see(ada);
  process.kill(hers.pid!, 'SIGCONT');
  return path;
}

/** Somebody leaves Ada's desktop on the right, and comes in on the left of Grace's. */
async function crossing(hers: ChildProcess, his: ChildProcess): Promise<void> {
  let [left, right]: (string | undefined)[] = [];
  for (let throws = 0; throws < THROWS_MAX && !right; throws++) {
    const atHome = new Set((await places(grace)).map(({ id }) => id));
    await throwRightmost();
    left = await momentOf(ada, hers, 4000, ({ x, y }) => x > SCREEN.width - 170 && y < AIR);
    right = left && (await momentOf(grace, his, 6000, ({ id, x, y }) => x > 10 && y < AIR && !atHome.has(id)));
  }
  if (!left || !right) throw new Error(`Nobody was seen crossing in ${THROWS_MAX} throws.`);
  const path = join(scratch, 'crossing.png');
  const part = (screen: string, x: number) => [
    '(',
    screen,
    '-crop',
    `${HALF}x480+${x}+320`,
    '+repage',
    '-bordercolor',
    '#1b1b24',
    '-border',
    '10',
    ')',
  ];
  execFileSync('convert', [...part(left, SCREEN.width - HALF), ...part(right, 0), '+append', path]);
  picture(path, 'crossing.png');
}

/** By its menu. Who strolls may have gone on before the click: then nothing happens. */
async function throwRightmost(): Promise<void> {
  const sprites = (await places(ada)).filter(({ y, side }) => y > SCREEN.height - side - 8);
  const last = sprites.sort((one, other) => one.x - other.x).at(-1);
  if (!last) return;
  const [x, y] = [last.x + last.side / 2, last.y + last.side * 0.6].map(Math.round);
  // Whatever menu the last click opened.
  await ada.pointer('key', 'Escape', 'sleep', 0.2);
  await ada.pointer('mousemove', x, y, 'click', 3, 'sleep', 0.6, 'windowfocus', last.id, 'sleep', 0.1, 'key', 'r');
}

/** By the icon by the clock, which Wine shows in a window of its own. */
async function dialog(tray: string): Promise<void> {
  await ada.pointer('windowmap', tray, 'sleep', 0.5);
  await ada.pointer('mousemove', '--window', tray, 10, 10, 'click', 3, 'sleep', 0.6);
  const sprite = await idOf(ada, '^Sprite$');
  await ada.pointer('windowfocus', sprite, 'sleep', 0.1, 'key', 's');
  let frame: number[] = [];
  await until('the dialog is open', async () => {
    const found = await ada
      .pointer('search', '--onlyvisible', '--name', 'Sprites: settings', 'getwindowgeometry', '--shell')
      .catch(() => '');
    frame = ['WIDTH', 'HEIGHT'].map((name) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(found)?.[1]));
    return frame.every((side) => side > 0);
  });
  await pause(500);
  const [width, height] = frame.map((side, i) => side + (i === 0 ? 8 : 30));
  const path = join(scratch, 'settings.png');
  const [x, y] = [(SCREEN.width - width) / 2, (SCREEN.height - height) / 2].map(Math.round);
  execFileSync('convert', [(await see(ada)).path, '-crop', `${width}x${height}+${x}+${y}`, '+repage', path]);
  picture(path, 'settings.png');
}

/** The X window of that title, once there is one. A search fails when a window ends meanwhile: then once more. */
async function idOf(desktop: WineDesktop, title: string): Promise<string> {
  let id = '';
  await until(`there is a window ${title}`, async () => {
    id = (await desktop.pointer('search', '--name', title).catch(() => '')).split('\n')[0];
    return id !== '';
  });
  return id;
}

/** Keeps it in few colours. */
function picture(path: string, name: string): void {
  const to = join(SHOTS, name);
  execFileSync('convert', [path, '+dither', '-colors', String(COLOURS), '-strip', `png8:${to}`]);
  console.log(to);
}
