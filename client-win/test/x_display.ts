/**
 * An X display of its own with a compositor, for tests that use a desktop client as a person would.
 *
 * Tests read the X server's frame buffer, pixel by pixel, and send pointer moves and keys with xdotool; the pointer itself is not
 * drawn. Invariant: when the test's process ends, even by a kill, its X server and the programs that it has started end too.
 * Cost: a screenshot takes 2 ms.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PNG } from 'pngjs';

export const SCREEN = { width: 1280, height: 800 } as const; // px of each X display

/** ms a condition may take to come true. A client waits up to 15 s before it contacts a lost relay again. */
export const WAIT_MS_MAX = 45_000;
const FOLLOW_MS_MAX = 3_000; // ms within which a held sprite follows the pointer; otherwise the grab missed it
export const POLL_MS = 8; // ms between two checks of a condition
const STILL_MS = 250; // ms in one place until a sprite counts as still: many frames, even on a busy machine
const COMMAND_MS_MAX = 60_000; // ms a command may take
const EXIT_MS_MAX = 10_000; // ms a process may take to exit before it is killed
const HOLD_S = 0.2; // s to hold still: the speed of a throw is that of the pointer's last 0.1 s
const ATTEMPTS_MAX = 6; // a busy machine may pause in the middle of a throw and make it too slow
const THROW_STEPS = 8; // pointer moves of a throw, 10 ms apart
const HELD_PX_MAX = 2; // px between the pointer and the middle of a held sprite
const COMPOSITOR = ['--backend', 'xrender', '--no-vsync', '--config', '/dev/null'];

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

/** A visible window: its X id and its place without the frame. */
export interface Frame {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
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

  /** A part of it, from `left`, `top`, as a picture. */
  crop(left: number, top: number, width: number, height: number): PNG {
    const png = new PNG({ width, height });
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const pixel = this.pixels[(top + y) * SCREEN.width + left + x];
        png.data.writeUInt32BE((((pixel & 0xffffff) << 8) | 0xff) >>> 0, 4 * (y * width + x));
      }
    }
    return png;
  }

  save(path: string): void {
    writeFileSync(path, PNG.sync.write(this.crop(0, 0, SCREEN.width, SCREEN.height)));
  }
}

export function spawnQuietly(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref(); // a test that fails without stopping this process can still end, and this process ends with it
  return child;
}

/** Sends SIGINT to a child when this process ends for any reason. A wineserver then ends all its programs. */
const BOUND = ['--pdeathsig', 'INT'];

export function spawnBound(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawnQuietly('setpriv', [...BOUND, command, ...args], env);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const late = setTimeout(() => child.kill('SIGKILL'), EXIT_MS_MAX);
  await ended;
  clearTimeout(late);
}

export interface DisplayParts {
  server: ChildProcess;
  /** Such as `:1`. */
  display: string;
  /** Where its frame buffer is. */
  folder: string;
}

/**
 * Starts an X server on a free display, with its frame buffer in a file. It draws no pointer: X saves the pixels below the
 * pointer and restores them when it moves on, which would leave pieces of sprites that have since moved away.
 */
export async function startX(folder: string): Promise<DisplayParts> {
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
  return { server, display: `:${number}`, folder };
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

/** What a display shows, and how tests use it. Programs of the display are started with `env`. */
export class XDisplay {
  readonly env: NodeJS.ProcessEnv;
  protected readonly children: ChildProcess[];
  private readonly screen: FrameBuffer;
  private readonly screenFolder: string;
  private compositor: ChildProcess | undefined;

  protected constructor(parts: DisplayParts, env: NodeJS.ProcessEnv) {
    this.env = { ...env, DISPLAY: parts.display };
    this.children = [parts.server];
    this.screen = new FrameBuffer(parts.folder);
    this.screenFolder = parts.folder;
    // Without a compositor there is no transparency.
    this.startCompositor();
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
        const path = `${this.screenFolder}-last.png`;
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

  /** All visible windows with this title. */
  async frames(title: string): Promise<Frame[]> {
    const frames = (await this.windows(title)).map(async (id) => {
      const text = await this.xdotool('getwindowgeometry', '--shell', id).catch(() => '');
      const at = (name: string) => Number(new RegExp(`^${name}=(-?\\d+)$`, 'm').exec(text)?.[1]);
      return { id, x: at('X'), y: at('Y'), width: at('WIDTH'), height: at('HEIGHT') };
    });
    return (await Promise.all(frames)).filter(({ x }) => !Number.isNaN(x));
  }

  /** The visible window with this title, once there is one. */
  async frame(title: string): Promise<Frame> {
    let found: Frame | undefined;
    await eventually(`there is a window ${title}`, async () => {
      [found] = await this.frames(title);
      return found !== undefined;
    });
    return found!;
  }

  /** Waits until no window with this title is visible. */
  async isGone(title: string): Promise<void> {
    await eventually(`${title} is gone`, async () => (await this.windows(title)).length === 0);
  }

  /** Closes a window through the window manager. Tries again, because the focus may come too late for the first key. */
  async closeWindow({ id }: Frame, title: string): Promise<void> {
    await eventually(`${title} is closed`, async () => {
      await this.xdotool('windowfocus', id, 'sleep', 0.2, 'key', 'alt+F4', 'sleep', 0.3).catch(() => {});
      return (await this.windows(title)).length === 0;
    });
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

  startCompositor(): void {
    this.compositor = spawnBound('picom', COMPOSITOR, this.env);
    this.children.unshift(this.compositor);
  }

  async stopCompositor(): Promise<void> {
    if (this.compositor) await end(this.compositor);
  }

  /** Ends the X server, as when the person logs out. */
  async stopX(): Promise<void> {
    await end(this.children.at(-1)!);
  }

  /** Stops all processes that were started here, X last. */
  async stop(): Promise<void> {
    for (const child of this.children) await end(child);
  }
}

function isWithin(one: Point, other: Point, by: number): boolean {
  return Math.abs(one.x - other.x) <= by && Math.abs(one.y - other.y) <= by;
}
