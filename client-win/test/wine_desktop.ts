/**
 * The Windows client on an X display of its own, under Wine: started, seen and handled as a person would.
 *
 * Wine is its own window manager here (`Managed` is `N`), as Windows is, unless another is asked for: under one of X's, a
 * window that is activated is taken away and shown again, and X ends the drag that began with it. What is on the screen is
 * read from the X server's frame buffer, pixel by pixel; the pointer, which is not drawn, and the keys are xdotool's.
 * Invariant: whatever happens to the test, even a kill, its X server and all of its Wine are gone when its process is.
 * Cost: a look is 2 ms; a prefix is 0.7 GB and 10 s, made once and kept in build/wine.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PNG } from 'pngjs';
import { ensurePrograms, WINE } from '../../tools/machine.js';

export const SCREEN = { width: 1280, height: 800 } as const; // px of each X display

/** What has not come to be within this will not; ms. A client waits up to 15 s before it asks a lost relay again. */
const PATIENCE_MS = 45_000;
const GRIP_MS = 3_000; // ms a held sprite has to follow; else it was not held
const LOOK_PAUSE_MS = 8; // ms between two looks
const STILL_MS = 250; // ms in one place: many frames, even on a busy machine
const COMMAND_MS_MAX = 60_000; // ms of any command under Wine
const END_MS_MAX = 10_000; // ms a process has to end by itself
const HOLD_S = 0.2; // s to hold still; the pointer's last 0.1 s make the speed of a throw
const SWINGS_MAX = 6; // a machine that pauses in the middle of a swing makes it too slow
const SWING_STEPS = 8; // moves of a swing, 10 ms apart
const REACHED_PX = 2; // px a held sprite may be from where it is held

const PREFIXES = join(import.meta.dirname, '../../build/wine');

/** What a new prefix is told; another text makes a prefix anew. */
const registryOf = (windowManager: WindowManager) => `REGEDIT4

[HKEY_CURRENT_USER\\Software\\Wine]
"Version"="win10"

[HKEY_CURRENT_USER\\Software\\Wine\\X11 Driver]
"Managed"="${windowManager === 'wine' ? 'N' : 'Y'}"
`;

/** Who minds the windows' frames and places: Wine itself, or another program as on a Linux desktop. */
export type WindowManager = 'wine' | 'openbox';

/** Why there can be no Wine desktop here; undefined when there can. */
export function noWine(): string | undefined {
  if (process.platform !== 'linux') return 'Wine and Xvfb are for Linux';
  if (ensurePrograms(WINE.programs, WINE.packages)) return undefined;
  return `Wine or what shows it is missing: apt-get install ${WINE.packages.join(' ')}`;
}

/** Asks until it is so. Throws, with the sentence, when it never is. */
export async function eventually(sentence: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error(`It never came to be: ${sentence}`);
    await pause(LOOK_PAUSE_MS);
  }
}

export type Colour = readonly [red: number, green: number, blue: number];

export interface Point {
  x: number;
  y: number;
}

/** Right and bottom included. */
export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function middleOf({ left, top, right, bottom }: Area): Point {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

/** What is on a screen at a moment: rows of 32-bit pixels, blue first. */
export class Picture {
  private readonly pixels: Uint32Array;

  constructor(pixels: Uint32Array) {
    this.pixels = pixels;
  }

  at(x: number, y: number): Colour {
    const pixel = this.pixels[Math.round(y) * SCREEN.width + Math.round(x)];
    return [(pixel >> 16) & 255, (pixel >> 8) & 255, pixel & 255];
  }

  /** The smallest rectangle around all pixels of exactly this colour; undefined for none. */
  find([red, green, blue]: Colour): Area | undefined {
    const wanted = (red << 16) | (green << 8) | blue;
    let found: Area | undefined;
    for (let y = 0, i = 0; y < SCREEN.height; y++) {
      for (let x = 0; x < SCREEN.width; x++, i++) {
        if ((this.pixels[i] & 0xffffff) !== wanted) continue;
        found ??= { left: x, top: y, right: x, bottom: y };
        if (x < found.left) found.left = x;
        if (x > found.right) found.right = x;
        found.bottom = y;
      }
    }
    return found;
  }

  /** How many pixels are another colour there. */
  differences(other: Picture): number {
    let count = 0;
    for (let i = 0; i < this.pixels.length; i++) if ((this.pixels[i] ^ other.pixels[i]) & 0xffffff) count++;
    return count;
  }

  save(path: string): void {
    const png = new PNG({ width: SCREEN.width, height: SCREEN.height });
    for (const [i, pixel] of this.pixels.entries()) {
      png.data.writeUInt32BE((((pixel & 0xffffff) << 8) | 0xff) >>> 0, 4 * i);
    }
    writeFileSync(path, PNG.sync.write(png));
  }
}

function environment(prefix: string, display: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // No Mono, no Gecko, and nothing in the start menu of the Linux that this runs on.
    WINEDLLOVERRIDES: 'mscoree,mshtml,winemenubuilder.exe=',
    DISPLAY: display,
  };
}

function begin(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref(); // a test that fails before it can end this ends all the same, and this with it
  return child;
}

/** SIGINT, when our process ends, however it ends. It is what makes a wineserver take all of its programs with it. */
const BOUND = ['--pdeathsig', 'INT'];

function beginBound(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return begin('setpriv', [...BOUND, command, ...args], env);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  await ended;
  clearTimeout(late);
}

/** Whether a process waits for others on a socket of this machine. */
function listens(pid: number): boolean {
  const LISTENING = ' 00010000 '; // the flag in its column
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.includes(LISTENING));
  const inodes = new Set(sockets.map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`));
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((file) => inodes.has(readlinkSync(join(folder, file))));
  } catch {
    return false; // it has ended, or closed what was just listed
  }
}

/**
 * An X server on a display nobody else has, its frame buffer in a file. It draws no pointer: what that covers is put back as
 * it was before when the pointer goes on, so pieces of sprites that have long moved away would stay on the screen.
 */
async function startX(folder: string): Promise<{ server: ChildProcess; display: string }> {
  mkdirSync(folder, { recursive: true });
  const screen = ['-screen', '0', `${SCREEN.width}x${SCREEN.height}x24`, '-fbdir', folder];
  const server = spawn(
    'setpriv',
    [...BOUND, 'Xvfb', '-displayfd', '3', ...screen, '-nolisten', 'tcp', '-noreset', '-nocursor'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  server.unref();
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]!.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
    server.once('error', reject);
    server.once('close', (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  return { server, display: `:${number}` };
}

/** A frame buffer in X's window dump format: a header that says how long it is and how many colours follow, then the rows. */
class FrameBuffer {
  private readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, 'Xvfb_screen0');
  }

  read(): Picture {
    const file = openSync(this.path, 'r');
    try {
      const header = Buffer.alloc(100);
      readSync(file, header, 0, header.length, 0);
      const COLOUR_BYTES = 12;
      const from = header.readUInt32BE(0) + COLOUR_BYTES * header.readUInt32BE(76);
      const pixels = new Uint32Array(SCREEN.width * SCREEN.height);
      readSync(file, pixels, 0, pixels.byteLength, from);
      return new Picture(pixels);
    } finally {
      closeSync(file);
    }
  }
}

export class WineDesktop {
  readonly roaming: string;
  readonly prefix: string;
  private readonly children: ChildProcess[] = [];
  private readonly env: NodeJS.ProcessEnv;
  private readonly screen: FrameBuffer;
  private wine: ChildProcess | undefined;

  private constructor(prefix: string, display: string, screen: FrameBuffer) {
    this.prefix = prefix;
    this.env = environment(prefix, display);
    this.screen = screen;
    this.roaming = join(prefix, 'drive_c/users', userInfo().username, 'AppData/Roaming');
  }

  /** A desktop with nothing on it and nothing remembered. Two at once have two names. */
  static async start(name: string, windowManager: WindowManager = 'wine'): Promise<WineDesktop> {
    const prefix = join(PREFIXES, name);
    const buffer = join(PREFIXES, `${name}-screen`);
    const { server, display } = await startX(buffer);
    const desktop = new WineDesktop(prefix, display, new FrameBuffer(buffer));
    desktop.children.push(server);
    // Without a compositor nothing is see-through.
    const compositor = ['--backend', 'xrender', '--no-vsync', '--config', '/dev/null'];
    desktop.children.unshift(beginBound('picom', compositor, desktop.env));
    if (windowManager !== 'wine') desktop.children.unshift(beginBound(windowManager, [], desktop.env));
    const made = join(prefix, 'made');
    const registry = registryOf(windowManager);
    if (!existsSync(made) || readFileSync(made, 'utf8') !== registry) await desktop.makePrefix(made, registry);
    await desktop.startWine();
    rmSync(desktop.folder, { recursive: true, force: true });
    return desktop;
  }

  /** Of the programs started here, X, Wine's server and what composes. */
  get pids(): number[] {
    return [...this.children, this.wine].map((child) => child?.pid).filter((pid) => pid !== undefined);
  }

  /** Where the client keeps its files. */
  get folder(): string {
    return join(this.roaming, 'Sprites');
  }

  settle(settings: object): void {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, 'settings.json'), JSON.stringify(settings));
  }

  /** What the client last kept of its sprites. */
  kept(): { sprites: { name: string; x: number; y: number }[]; leaving: unknown[] } {
    const path = join(this.folder, 'kept.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { sprites: [], leaving: [] };
  }

  /** Starts a program and does not wait for it. It is the Windows process itself. */
  begin(...command: string[]): ChildProcess {
    const child = begin('wine', command, this.env);
    this.children.unshift(child);
    return child;
  }

  /** Runs a command to its end. Throws when it fails. Its output goes nowhere: what it starts would hold a pipe open. */
  async run(command: string, ...args: string[]): Promise<void> {
    const child = begin(command, args, this.env);
    const late = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX);
    const [code] = await once(child, 'exit');
    clearTimeout(late);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`);
  }

  /** Runs a command that starts nothing; its output. Throws when it fails. */
  async ask(command: string, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, { env: this.env, timeout: COMMAND_MS_MAX });
    return stdout;
  }

  /** Whether a program of this name runs here, whoever started it. */
  isRunning(name: string): boolean {
    return readdirSync('/proc').some((pid) => {
      try {
        const isHere = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`WINEPREFIX=${this.prefix}`);
        return isHere && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name);
      } catch {
        return false; // no process, or one that has ended by now
      }
    });
  }

  /** The keys of the user's registry below `Software`, each with its values as text, one a line. */
  async registry(): Promise<Map<string, string>> {
    const file = join(this.prefix, 'drive_c', 'software.reg');
    rmSync(file, { force: true });
    await this.run('wine', 'regedit', '/E', 'C:\\software.reg', 'HKEY_CURRENT_USER\\Software');
    const sections = readFileSync(file, 'utf16le')
      .split(/^\[HKEY_CURRENT_USER\\/m)
      .slice(1);
    return new Map(
      sections.map((section) => {
        const end = section.search(/\]\r?$/m);
        return [section.slice(0, end), section.slice(end + 1)];
      }),
    );
  }

  see(): Picture {
    return this.screen.read();
  }

  /** Looks until there is something to see, and answers it. Throws with the sentence when there never is. */
  async seeUntil<T>(
    sentence: string,
    seen: (picture: Picture) => T | undefined,
    patienceMs = PATIENCE_MS,
  ): Promise<{ picture: Picture; it: T }> {
    const untilMs = performance.now() + patienceMs;
    for (;;) {
      const picture = this.see();
      const it = seen(picture);
      if (it !== undefined) return { picture, it };
      if (performance.now() > untilMs) {
        const path = `${this.prefix}-last.png`;
        picture.save(path);
        throw new Error(`Nobody ever saw: ${sentence}. What was seen last: ${path}`);
      }
      await pause(LOOK_PAUSE_MS);
    }
  }

  /** Where it is, once it has been there for STILL_MS. */
  async seeStill(
    sentence: string,
    seen: (picture: Picture) => Area | undefined,
  ): Promise<{ picture: Picture; it: Area }> {
    let since: { area: Area; ms: number } | undefined;
    return await this.seeUntil(`${sentence}, and still`, (picture) => {
      const now = seen(picture);
      const isSame = now && since && now.left === since.area.left && now.top === since.area.top;
      if (!isSame) since = now && { area: now, ms: performance.now() };
      return since && performance.now() - since.ms >= STILL_MS ? now : undefined;
    });
  }

  /** A command of xdotool; what it prints. */
  async pointer(...words: (string | number)[]): Promise<string> {
    return await this.ask('xdotool', ...words.map(String));
  }

  /** The windows of a name that can be seen, as X numbers them. */
  async windows(name: string): Promise<string[]> {
    // It fails when there is none.
    const found = await this.pointer('search', '--onlyvisible', '--name', `^${name}$`).catch(() => '');
    return found.split('\n').filter((line) => line !== '');
  }

  /** Where the left top corner of the first window of a name is; undefined when there is none. */
  async place(name: string): Promise<Point | undefined> {
    const [window] = await this.windows(name);
    if (window === undefined) return undefined;
    // It may be gone by now.
    const said = await this.pointer('getwindowgeometry', '--shell', window).catch(() => undefined);
    const number = (what: string) => Number(new RegExp(`^${what}=(-?\\d+)$`, 'm').exec(said ?? '')?.[1]);
    return said === undefined ? undefined : { x: number('X'), y: number('Y') };
  }

  /** Takes hold of what is seen, at its middle, and moves it so that its middle is at `to`; tries again when it slipped. */
  async take(sentence: string, seen: (picture: Picture) => Area | undefined, to: Point): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { it } = await this.seeUntil(sentence, seen);
      const at = middleOf(it);
      await this.pointer('mousemove', at.x, at.y, 'mousedown', 1, 'mousemove', to.x, to.y);
      const isThere = (picture: Picture) => {
        const now = seen(picture);
        return now && isWithin(middleOf(now), to, REACHED_PX) ? now : undefined;
      };
      try {
        await this.seeUntil(`${sentence}, in the hand`, isThere, GRIP_MS);
        return;
      } catch (error) {
        await this.pointer('mouseup', 1);
        if (attempt === SWINGS_MAX) throw error;
      }
    }
  }

  /** Takes hold of it, brings it to a place and lets go there, at rest. */
  async put(sentence: string, seen: (picture: Picture) => Area | undefined, to: Point): Promise<void> {
    await this.take(sentence, seen, to);
    await this.pointer('sleep', HOLD_S, 'mouseup', 1);
  }

  /**
   * Takes hold of it, brings it to `from`, moves it by (dx, dy) and lets go on the way; again until it has left. `hasLeft`
   * answers undefined until it has: by default, when it is not seen.
   */
  async throwOff(
    sentence: string,
    seen: (picture: Picture) => Area | undefined,
    from: Point,
    { dx, dy }: { dx: number; dy: number },
    hasLeft = (picture: Picture) => seen(picture) === undefined || undefined,
  ): Promise<void> {
    for (let swing = 1; ; swing++) {
      await this.take(sentence, seen, from);
      // The way it came in the hand is not to be part of the throw.
      const words: (string | number)[] = ['sleep', HOLD_S];
      for (let step = 1; step <= SWING_STEPS; step++) {
        const part = step / SWING_STEPS;
        words.push('mousemove', Math.round(from.x + dx * part), Math.round(from.y + dy * part), 'sleep', 0.01);
      }
      await this.pointer(...words.slice(0, -2), 'mouseup', 1);
      try {
        await this.seeUntil(`${sentence} has left`, hasLeft, GRIP_MS);
        return;
      } catch (error) {
        if (swing === SWINGS_MAX) throw error;
      }
    }
  }

  /** Ends all that was started here, X last. */
  async stop(): Promise<void> {
    await this.stopWine();
    for (const child of this.children) await end(child);
  }

  /** In front and for ever: Wine would start anew for every command, and this way it ends with us. */
  private async startWine(): Promise<void> {
    // One that a killed test of another version left would be asked instead of ours, and so would one that a program
    // starts for itself when ours does not listen yet.
    await this.run('wineserver', '-k').catch(() => {});
    const server = beginBound('wineserver', ['-f', '-p'], this.env);
    this.wine = server;
    const untilMs = performance.now() + PATIENCE_MS;
    while (!listens(server.pid!)) {
      if (server.exitCode !== null || performance.now() > untilMs) throw new Error('No wineserver came.');
      await pause(LOOK_PAUSE_MS);
    }
  }

  /** Everything under it ends with it. */
  private async stopWine(): Promise<void> {
    if (this.wine) await end(this.wine);
    this.wine = undefined;
  }

  private async makePrefix(made: string, registry: string): Promise<void> {
    rmSync(this.prefix, { recursive: true, force: true });
    mkdirSync(this.prefix, { recursive: true });
    await this.startWine();
    await this.run('wineboot', '-i');
    const words = join(this.prefix, 'words.reg');
    writeFileSync(words, registry);
    await this.run('wine', 'regedit', '/S', `Z:${words}`);
    await this.stopWine();
    writeFileSync(made, registry);
  }
}

function isWithin(one: Point, other: Point, by: number): boolean {
  return Math.abs(one.x - other.x) <= by && Math.abs(one.y - other.y) <= by;
}
