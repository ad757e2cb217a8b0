/**
 * A desktop under Wine on its own X display, for tests that start and use the Windows client as a person would.
 *
 * By default Wine manages its windows itself, as Windows does (`Managed` is `N`). With an X window manager, activating a
 * window unmaps and maps it again, and X then ends the drag that activated it. Tests read the X server's frame buffer,
 * pixel by pixel, and send pointer moves and keys with xdotool; the pointer itself is not drawn.
 * Invariant: when the test's process ends, even by a kill, its X server and all its Wine processes end too.
 * Cost: a screenshot takes 2 ms; a Wine prefix takes 0.7 GB and 10 s, is made once and kept in build/wine.
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
import { ensurePrograms, installHint, WINE } from '../../tools/machine.js';

export const SCREEN = { width: 1280, height: 800 } as const; // px of each X display

/** ms a condition may take to come true. A client waits up to 15 s before it contacts a lost relay again. */
const WAIT_MS_MAX = 45_000;
const FOLLOW_MS_MAX = 3_000; // ms within which a held sprite follows the pointer; otherwise the grab missed it
const POLL_MS = 8; // ms between two checks of a condition
const STILL_MS = 250; // ms in one place until a sprite counts as still: many frames, even on a busy machine
const COMMAND_MS_MAX = 60_000; // ms a command under Wine may take
const EXIT_MS_MAX = 10_000; // ms a process may take to exit before it is killed
const HOLD_S = 0.2; // s to hold still: the speed of a throw is that of the pointer's last 0.1 s
const ATTEMPTS_MAX = 6; // a busy machine may pause in the middle of a throw and make it too slow
const THROW_STEPS = 8; // pointer moves of a throw, 10 ms apart
const HELD_PX_MAX = 2; // px between the pointer and the middle of a held sprite

const PREFIXES = join(import.meta.dirname, '../../build/wine');

/** The registry entries of a new prefix. A prefix made with other entries is made again. */
const registryOf = (windowManager: WindowManager) => `REGEDIT4

[HKEY_CURRENT_USER\\Software\\Wine]
"Version"="win10"

[HKEY_CURRENT_USER\\Software\\Wine\\X11 Driver]
"Managed"="${windowManager === 'wine' ? 'N' : 'Y'}"
`;

/** The program that manages windows: Wine itself, or an X window manager as on a Linux desktop. */
export type WindowManager = 'wine' | 'openbox';

/** Returns undefined if Wine desktops can run here, otherwise the reason why they can't. */
export function whyNoWine(): string | undefined {
  if (process.platform !== 'linux') return 'Wine and Xvfb are for Linux';
  if (ensurePrograms(WINE.programs, WINE.packages)) return undefined;
  return `Wine or the programs to show it are missing: ${installHint(WINE.packages)}`;
}

/** Waits until a condition is true. Throws, with the sentence, if it does not become true in time. */
export async function eventually(sentence: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + WAIT_MS_MAX;
  while (!(await condition())) {
    if (performance.now() > untilMs) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${sentence}`);
    await pause(POLL_MS);
  }
}

export type Colour = readonly [red: number, green: number, blue: number];

export interface Point {
  x: number;
  y: number;
}

/** A rectangle of pixels; right and bottom are included. */
export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function middleOf({ left, top, right, bottom }: Area): Point {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

/** Finds something on a screenshot; undefined if it is not there. */
export type Finder<T = Area> = (screenshot: Screenshot) => T | undefined;

/** The content of a screen at one moment: rows of 32-bit pixels, blue first. */
export class Screenshot {
  private readonly pixels: Uint32Array;

  constructor(pixels: Uint32Array) {
    this.pixels = pixels;
  }

  at(x: number, y: number): Colour {
    const pixel = this.pixels[Math.round(y) * SCREEN.width + Math.round(x)];
    return [(pixel >> 16) & 255, (pixel >> 8) & 255, pixel & 255];
  }

  /** The smallest rectangle around all pixels of exactly this colour; undefined if there is none. */
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

  /** The number of pixels that differ. */
  differences(other: Screenshot): number {
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
    // Disables Mono, Gecko, and menu entries on the Linux machine that runs the test.
    WINEDLLOVERRIDES: 'mscoree,mshtml,winemenubuilder.exe=',
    DISPLAY: display,
  };
}

function spawnQuietly(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref(); // a test that fails without stopping this process can still end, and this process ends with it
  return child;
}

/** Sends SIGINT to a child when this process ends for any reason. A wineserver then ends all its programs. */
const BOUND = ['--pdeathsig', 'INT'];

function spawnBound(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawnQuietly('setpriv', [...BOUND, command, ...args], env);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGKILL'), EXIT_MS_MAX);
  await ended;
  clearTimeout(late);
}

/** Whether a process listens on a Unix socket. */
function isListening(pid: number): boolean {
  const LISTENING = ' 00010000 '; // the value in the column of flags
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.includes(LISTENING));
  const inodes = new Set(sockets.map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`));
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((file) => inodes.has(readlinkSync(join(folder, file))));
  } catch {
    return false; // the process has ended, or has closed the file since
  }
}

/**
 * Starts an X server on a free display, with its frame buffer in a file. It draws no pointer: X saves the pixels below the
 * pointer and restores them when it moves on, which would leave pieces of sprites that have since moved away.
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

/** A frame buffer in X's window dump format: a header with its own length and the number of colours, the colours, the rows. */
class FrameBuffer {
  private readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, 'Xvfb_screen0');
  }

  read(): Screenshot {
    const file = openSync(this.path, 'r');
    try {
      const header = Buffer.alloc(100);
      readSync(file, header, 0, header.length, 0);
      const COLOUR_BYTES = 12;
      const from = header.readUInt32BE(0) + COLOUR_BYTES * header.readUInt32BE(76);
      const pixels = new Uint32Array(SCREEN.width * SCREEN.height);
      readSync(file, pixels, 0, pixels.byteLength, from);
      return new Screenshot(pixels);
    } finally {
      closeSync(file);
    }
  }
}

export class WineDesktop {
  readonly roaming: string;
  readonly local: string;
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
    this.local = join(this.roaming, '../Local');
  }

  /** Starts an empty desktop without any files of the client. Desktops that run at the same time need different names. */
  static async start(name: string, windowManager: WindowManager = 'wine'): Promise<WineDesktop> {
    const prefix = join(PREFIXES, name);
    const buffer = join(PREFIXES, `${name}-screen`);
    const { server, display } = await startX(buffer);
    const desktop = new WineDesktop(prefix, display, new FrameBuffer(buffer));
    desktop.children.push(server);
    // Without a compositor there is no transparency.
    const compositor = ['--backend', 'xrender', '--no-vsync', '--config', '/dev/null'];
    desktop.children.unshift(spawnBound('picom', compositor, desktop.env));
    if (windowManager !== 'wine') desktop.children.unshift(spawnBound(windowManager, [], desktop.env));
    const made = join(prefix, 'made');
    const registry = registryOf(windowManager);
    if (!existsSync(made) || readFileSync(made, 'utf8') !== registry) await desktop.makePrefix(made, registry);
    await desktop.startWine();
    for (const folder of [desktop.folder, desktop.oldFolder]) rmSync(folder, { recursive: true, force: true });
    return desktop;
  }

  /** The process ids of the programs started here, of X, of Wine's server and of the compositor. */
  get pids(): number[] {
    return [...this.children, this.wine].map((child) => child?.pid).filter((pid) => pid !== undefined);
  }

  /** The folder in which version 0.1 of the client kept its files. */
  get oldFolder(): string {
    return join(this.roaming, 'Sprites');
  }

  /** The folder in which the client keeps its files. */
  get folder(): string {
    return join(this.local, 'Sprites');
  }

  writeSettings(settings: object): void {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, 'settings.json'), JSON.stringify(settings));
  }

  /** The state that the client last saved. */
  savedState(): { sprites: { name: string; x: number; y: number }[]; leaving: unknown[] } {
    const path = join(this.folder, 'kept.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { sprites: [], leaving: [] };
  }

  /** Starts a program and returns its process, which is the Windows process itself, without waiting for it. */
  launch(...command: string[]): ChildProcess {
    const child = spawnQuietly('wine', command, this.env);
    this.children.unshift(child);
    return child;
  }

  /** Runs a command to its end. Throws if it fails. Its output is discarded: processes it starts would keep a pipe open. */
  async run(command: string, ...args: string[]): Promise<void> {
    const child = spawnQuietly(command, args, this.env);
    const late = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX);
    const [code] = await once(child, 'exit');
    clearTimeout(late);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`);
  }

  /** Runs a command that starts no other process, and returns its output. Throws if it fails. */
  async output(command: string, ...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, { env: this.env, timeout: COMMAND_MS_MAX });
    return stdout;
  }

  /** Whether a program of this name runs on this desktop. */
  isRunning(name: string): boolean {
    return readdirSync('/proc').some((pid) => {
      try {
        const isHere = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`WINEPREFIX=${this.prefix}`);
        return isHere && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name);
      } catch {
        return false; // not a process, or one that has ended
      }
    });
  }

  /** The keys of the user's registry below `Software`; the values of each as text, one per line. */
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

  capture(): Screenshot {
    return this.screen.read();
  }

  /** Takes screenshots until `find` finds something, and returns both. Throws, with the sentence, if it does not in time. */
  async waitFor<T>(
    sentence: string,
    find: Finder<T>,
    waitMsMax = WAIT_MS_MAX,
  ): Promise<{ screenshot: Screenshot; found: T }> {
    const untilMs = performance.now() + waitMsMax;
    for (;;) {
      const screenshot = this.capture();
      const found = find(screenshot);
      if (found !== undefined) return { screenshot, found };
      if (performance.now() > untilMs) {
        const path = `${this.prefix}-last.png`;
        screenshot.save(path);
        throw new Error(`Not seen within ${waitMsMax} ms: ${sentence}. The last screenshot: ${path}`);
      }
      await pause(POLL_MS);
    }
  }

  /** Waits until something has been at one place for STILL_MS, and returns that place. */
  async waitUntilStill(sentence: string, find: Finder): Promise<{ screenshot: Screenshot; found: Area }> {
    let since: { area: Area; ms: number } | undefined;
    return await this.waitFor(`${sentence}, and still`, (screenshot) => {
      const now = find(screenshot);
      const isSame = now && since && now.left === since.area.left && now.top === since.area.top;
      if (!isSame) since = now && { area: now, ms: performance.now() };
      return since && performance.now() - since.ms >= STILL_MS ? now : undefined;
    });
  }

  /** Runs xdotool and returns its output. */
  async xdotool(...args: (string | number)[]): Promise<string> {
    return await this.output('xdotool', ...args.map(String));
  }

  /** The X ids of all visible windows with this title. */
  async windows(name: string): Promise<string[]> {
    // xdotool fails if there is none.
    const found = await this.xdotool('search', '--onlyvisible', '--name', `^${name}$`).catch(() => '');
    return found.split('\n').filter((line) => line !== '');
  }

  /** The left top corner of the first window with this title; undefined if there is none. */
  async positionOf(name: string): Promise<Point | undefined> {
    const [window] = await this.windows(name);
    if (window === undefined) return undefined;
    // The window may have been closed since.
    const geometry = await this.xdotool('getwindowgeometry', '--shell', window).catch(() => undefined);
    const number = (what: string) => Number(new RegExp(`^${what}=(-?\\d+)$`, 'm').exec(geometry ?? '')?.[1]);
    return geometry === undefined ? undefined : { x: number('X'), y: number('Y') };
  }

  /** Grabs a sprite at its middle and drags it until its middle is at `to`. Tries again if the sprite does not follow. */
  async grab(sentence: string, find: Finder, to: Point): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { found } = await this.waitFor(sentence, find);
      const at = middleOf(found);
      await this.xdotool('mousemove', at.x, at.y, 'mousedown', 1, 'mousemove', to.x, to.y);
      const isThere = (screenshot: Screenshot) => {
        const now = find(screenshot);
        return now && isWithin(middleOf(now), to, HELD_PX_MAX) ? now : undefined;
      };
      try {
        await this.waitFor(`${sentence}, held by the pointer`, isThere, FOLLOW_MS_MAX);
        return;
      } catch (error) {
        await this.xdotool('mouseup', 1);
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Grabs a sprite, drags it to `to`, holds it still and releases it. */
  async dragTo(sentence: string, find: Finder, to: Point): Promise<void> {
    await this.grab(sentence, find, to);
    await this.xdotool('sleep', HOLD_S, 'mouseup', 1);
  }

  /**
   * Grabs a sprite, drags it to `from`, moves it by (dx, dy) and releases it while it moves; again until it has left.
   * `hasLeft` returns undefined until it has; by default it has left when it is not on the screen.
   */
  async throwOff(
    sentence: string,
    find: Finder,
    from: Point,
    { dx, dy }: { dx: number; dy: number },
    hasLeft: Finder<true> = (screenshot) => find(screenshot) === undefined || undefined,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.grab(sentence, find, from);
      // Hold it still first: the way to `from` must not count for the speed of the throw.
      const args: (string | number)[] = ['sleep', HOLD_S];
      for (let step = 1; step <= THROW_STEPS; step++) {
        const part = step / THROW_STEPS;
        args.push('mousemove', Math.round(from.x + dx * part), Math.round(from.y + dy * part), 'sleep', 0.01);
      }
      await this.xdotool(...args.slice(0, -2), 'mouseup', 1);
      try {
        await this.waitFor(`${sentence} has left`, hasLeft, FOLLOW_MS_MAX);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Stops all processes that were started here, X last. */
  async stop(): Promise<void> {
    await this.stopWine();
    for (const child of this.children) await end(child);
  }

  /** Runs the wineserver in the foreground and persistently: otherwise Wine starts one per command, which outlives the test. */
  private async startWine(): Promise<void> {
    // Programs would connect to a wineserver that a killed test has left behind, so end that one; and a program started
    // before ours listens would start another, so wait.
    await this.run('wineserver', '-k').catch(() => {});
    const server = spawnBound('wineserver', ['-f', '-p'], this.env);
    this.wine = server;
    const untilMs = performance.now() + WAIT_MS_MAX;
    while (!isListening(server.pid!)) {
      if (server.exitCode !== null || performance.now() > untilMs) throw new Error('The wineserver did not start.');
      await pause(POLL_MS);
    }
  }

  /** Stops the wineserver, and with it every program under Wine. */
  private async stopWine(): Promise<void> {
    if (this.wine) await end(this.wine);
    this.wine = undefined;
  }

  private async makePrefix(made: string, registry: string): Promise<void> {
    rmSync(this.prefix, { recursive: true, force: true });
    mkdirSync(this.prefix, { recursive: true });
    await this.startWine();
    await this.run('wineboot', '-i');
    const file = join(this.prefix, 'prefix.reg');
    writeFileSync(file, registry);
    await this.run('wine', 'regedit', '/S', `Z:${file}`);
    await this.stopWine();
    writeFileSync(made, registry);
  }
}

function isWithin(one: Point, other: Point, by: number): boolean {
  return Math.abs(one.x - other.x) <= by && Math.abs(one.y - other.y) <= by;
}
