/**
 * An X display of its own with a compositor, for tests that use a desktop client as a person would.
 *
 * Tests read the X server's frame buffer, pixel by pixel, and use pointer and keyboard over a connection of their own; the pointer
 * itself is not drawn. Invariant: when the test's process ends, even by a kill, its X server and the programs that it has started end
 * too. Cost: a screenshot takes 2 ms, a look at all windows 1 ms; both are repeated ever less often while a test waits.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PNG } from 'pngjs';
import { BOUND, startXvfb } from '../../tools/bench/xvfb.ts';
import { keepSprite, readSavedState, type SavedState } from './kept_sprites.ts';
import { XProtocol, type XWindow } from './x_protocol.ts';

export const SCREEN = { width: 1280, height: 800 } as const; // px of each X display

/** ms a condition may take to come true. A client waits up to 15 s before it contacts a lost relay again. */
const WAIT_MS_MAX = 45_000;
const STILL_MS = 250; // ms in one place until a sprite counts as still: many frames, even on a busy machine
const STILL_PX_MAX = 1; // px by which it may move meanwhile: the middle of a sprite that breathes is rounded
const COMMAND_MS_MAX = 60_000; // ms a command may take
const EXIT_MS_MAX = 10_000; // ms a process may take to exit before it is killed
const ATTEMPTS_MAX = 6; // a busy machine may pause in the middle of a throw and make it too slow
const HELD_PX_MAX = 2; // px between the pointer and the middle of a held sprite

/** ms between two looks: a tenth of the time that was waited already, so a look is late by a tenth at most. */
const LOOK_MS = { min: 4, max: 100, part: 0.1 };

/** ms until a step is taken again that had no effect, because a sprite moved away or a window was not ready for it. */
export const AGAIN_MS = 6_000;

// The times of a hand. The program measures the speed of the pointer in its last 100 ms, and a double click by its clock.
const HOLD_MS = 200; // ms to hold a sprite still, so that it is not thrown
const THROW = { steps: 8, stepMs: 10 }; // pointer moves of a throw, and ms between them

const LEFT = 1; // the button of the pointer
export const MIDDLE = 2;
export const RIGHT = 3;
export const WHEEL = 4; // one step upwards

const COMPOSITOR = ['--backend', 'xrender', '--no-vsync', '--config', '/dev/null'];

/** Waits until a condition is true. Throws, with the sentence, if it does not become true in time. */
export async function eventually(sentence: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await soon(condition, WAIT_MS_MAX))) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${sentence}`);
}

/** Takes a step until it has an effect: again when there is none after AGAIN_MS. Throws, with the sentence, if there is none in time. */
export async function tryUntil(
  sentence: string,
  step: () => Promise<unknown>,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  let isTaken = false;
  await eventually(sentence, async () => {
    if (isTaken && (await condition())) return true;
    isTaken = true;
    await step();
    return await soon(condition, AGAIN_MS);
  });
}

/** Whether a condition becomes true within a time. */
export async function soon(condition: () => boolean | Promise<boolean>, waitMsMax: number): Promise<boolean> {
  const fromMs = performance.now();
  for (;;) {
    if (await condition()) return true;
    const waitedMs = performance.now() - fromMs;
    if (waitedMs > waitMsMax) return false;
    await untilNextLook(waitedMs);
  }
}

const untilNextLook = (waitedMs: number) =>
  pause(Math.max(LOOK_MS.min, Math.min(LOOK_MS.max, LOOK_MS.part * waitedMs)));

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

/** Whether a sprite stands where it stood. One that was made of a still picture breathes: its sides and its top move, its foot does not. */
export function isStill(now: Area, before: Area): boolean {
  const footOf = ({ left, right, bottom }: Area) => ({ x: (left + right) / 2, y: bottom });
  return isWithin(footOf(now), footOf(before), STILL_PX_MAX);
}

/** A visible window: its X id and its place without the frame. */
export type Frame = XWindow;

/** Finds something on a screenshot; undefined if it is not there. */
export type Finder<T = Area> = (screenshot: Screenshot) => T | undefined;

const OPAQUE = 0xff000000;

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
    // The compositor writes opaque pixels; without one, that byte is empty.
    const first = [wanted, (wanted | OPAQUE) >>> 0].map((pixel) => this.pixels.indexOf(pixel)).filter((at) => at >= 0);
    if (first.length === 0) return undefined;
    let found: Area | undefined;
    const top = Math.floor(Math.min(...first) / SCREEN.width);
    for (let y = top, i = top * SCREEN.width; y < SCREEN.height; y++) {
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
    // Choosing the best filter of each row would take ten times as long.
    writeFileSync(
      path,
      PNG.sync.write(this.crop(0, 0, SCREEN.width, SCREEN.height), { filterType: 0, deflateLevel: 1 }),
    );
  }
}

export function spawnQuietly(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref(); // a test that fails without stopping this process can still end, and this process ends with it
  return child;
}

/** A child that gets SIGINT when this process ends for any reason. A wineserver then ends all its programs. */
export function spawnBound(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [program, ...bound] = BOUND;
  return spawnQuietly(program, [...bound, command, ...args], env);
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
  x: XProtocol;
}

/**
 * Starts an X server on a free display, with its frame buffer in a file. It draws no pointer: X saves the pixels below the
 * pointer and restores them when it moves on, which would leave pieces of sprites that have since moved away.
 */
export async function startX(folder: string): Promise<DisplayParts> {
  mkdirSync(folder, { recursive: true });
  const screen = ['-screen', '0', `${SCREEN.width}x${SCREEN.height}x24`, '-fbdir', folder];
  const { server, display } = await startXvfb(...screen, '-nocursor');
  return { server, display, folder, x: await XProtocol.connect(display) };
}

/** A frame buffer in X's window dump format: a header with its own length and the number of colours, the colours, the rows. */
class FrameBuffer {
  private readonly path: string;
  private file: number | undefined;
  /** Where the pixels begin, in bytes. */
  private from: number | undefined;

  constructor(folder: string) {
    this.path = join(folder, 'Xvfb_screen0');
  }

  /** Reads the screen as it is now into a screenshot. */
  readInto(pixels: Uint32Array): void {
    this.file ??= openSync(this.path, 'r');
    if (this.from === undefined) {
      const header = Buffer.alloc(100);
      readSync(this.file, header, 0, header.length, 0);
      const COLOUR_BYTES = 12;
      this.from = header.readUInt32BE(0) + COLOUR_BYTES * header.readUInt32BE(76);
    }
    readSync(this.file, pixels, 0, pixels.byteLength, this.from);
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

/** What a client has saved of its settings: all of them at once, and nothing before it has changed one. */
export interface SavedSettings {
  readonly hidden?: string[];
  readonly muted?: { desktop: string; name: string }[];
  readonly [name: string]: unknown;
}

/** What a display shows, and how tests use it and the client on it. Programs of the display are started with `env`. */
export abstract class XDisplay {
  readonly env: NodeJS.ProcessEnv;
  protected readonly children: ChildProcess[];
  protected readonly x: XProtocol;
  private readonly screen: FrameBuffer;
  private readonly screenFolder: string;
  private compositor: ChildProcess | undefined;

  protected constructor(parts: DisplayParts, env: NodeJS.ProcessEnv) {
    this.env = { ...env, DISPLAY: parts.display };
    this.children = [parts.server];
    this.x = parts.x;
    this.screen = new FrameBuffer(parts.folder);
    this.screenFolder = parts.folder;
    // Without a compositor there is no transparency.
    this.startCompositor();
  }

  /** The folder in which the client keeps its sprites. */
  abstract get folder(): string;

  abstract get settingsFile(): string;

  writeSettings(settings: object): void {
    mkdirSync(dirname(this.settingsFile), { recursive: true });
    writeFileSync(this.settingsFile, JSON.stringify(settings));
  }

  /** The settings that the client has saved; none until it has saved some. */
  settings(): SavedSettings {
    const file = this.settingsFile;
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }

  /** Gives the client one more sprite that it has kept, with its middle at x and its foot at y. */
  keepSprite(spr: Buffer, name: string, x: number, y: number): void {
    keepSprite(this.folder, spr, name, x, y);
  }

  /** The state that the client last saved. */
  savedState(): SavedState {
    return readSavedState(this.folder);
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

  /** The text in the clipboard; empty if there is none. */
  async clipboard(): Promise<string> {
    return await this.output('xclip', '-o', '-selection', 'clipboard').catch(() => '');
  }

  capture(): Screenshot {
    const pixels = new Uint32Array(SCREEN.width * SCREEN.height);
    this.screen.readInto(pixels);
    return new Screenshot(pixels);
  }

  /** Takes screenshots until `find` finds something, and returns both. Throws, with the sentence, if it does not in time. */
  async waitFor<T>(
    sentence: string,
    find: Finder<T>,
    waitMsMax = WAIT_MS_MAX,
  ): Promise<{ screenshot: Screenshot; found: T }> {
    const pixels = new Uint32Array(SCREEN.width * SCREEN.height); // of each look, so that only the last one is kept
    const screenshot = new Screenshot(pixels);
    let found: T | undefined;
    const isSeen = await soon(() => {
      this.screen.readInto(pixels);
      found = find(screenshot);
      return found !== undefined;
    }, waitMsMax);
    if (isSeen) return { screenshot, found: found! };
    const path = `${this.screenFolder}-last.png`;
    screenshot.save(path);
    throw new Error(`Not seen within ${waitMsMax} ms: ${sentence}. The last screenshot: ${path}`);
  }

  /** Waits until something has stood at one place for STILL_MS, and returns where it is then. */
  async waitUntilStill(sentence: string, find: Finder): Promise<{ screenshot: Screenshot; found: Area }> {
    let since: { area: Area; ms: number } | undefined;
    return await this.waitFor(`${sentence}, and still`, (screenshot) => {
      const now = find(screenshot);
      const isSame = now && since && isStill(now, since.area);
      if (!isSame) since = now && { area: now, ms: performance.now() };
      return since && performance.now() - since.ms >= STILL_MS ? now : undefined;
    });
  }

  /** All visible windows with this title, a pattern in which upper and lower case are the same. */
  async frames(title: string): Promise<Frame[]> {
    return await this.x.windows(new RegExp(`^(?:${title})$`, 'is'));
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

  /** Waits until so many windows with this title are visible. */
  async count(title: string, count: number): Promise<void> {
    await eventually(`there are ${count} windows ${title}`, async () => (await this.frames(title)).length === count);
  }

  /** Waits until no window with this title is visible. */
  async isGone(title: string): Promise<void> {
    await this.count(title, 0);
  }

  /** The visible window with this title, once there is one and it has the keyboard. */
  async focusOn(title: string): Promise<Frame> {
    let found: Frame | undefined;
    await eventually(`${title} has the keyboard`, async () => {
      found = await this.tryToFocusOn(title);
      return found !== undefined;
    });
    return found!;
  }

  /** Looks for the window with this title and gives it the keyboard. Returns undefined if there is none, or if it did not get it. */
  private async tryToFocusOn(title: string): Promise<Frame | undefined> {
    const [frame] = await this.frames(title);
    if (frame === undefined) return undefined;
    await this.focus(frame);
    return (await this.x.focused()) === frame.id ? frame : undefined;
  }

  async focus({ id }: Frame): Promise<void> {
    await this.x.focus(id);
  }

  /** The X id of the window that has the keyboard. */
  async focused(): Promise<number> {
    return await this.x.focused();
  }

  async activate({ id }: Frame): Promise<void> {
    await this.x.activate(id);
  }

  async moveWindow({ id }: Frame, x: number, y: number): Promise<void> {
    await this.x.moveWindow(id, x, y);
  }

  /** Closes a window through the window manager. It has the keyboard when the keys come, or they would close another one. */
  async closeWindow(title: string): Promise<void> {
    await tryUntil(
      `${title} is closed`,
      async () => {
        if (await this.tryToFocusOn(title)) await this.press('alt+F4');
      },
      async () => (await this.frames(title)).length === 0,
    );
  }

  /** Ends the program of a window with this title. */
  async killWindow({ id }: Frame, title: string): Promise<void> {
    await this.x.killProgram(id);
    await this.isGone(title);
  }

  /** The X ids of the windows at a place: that of the screen, then each in the one before. Moves the pointer there. */
  async windowsAt(to: Point): Promise<number[]> {
    await this.moveTo(to);
    return await this.x.windowsBelowPointer();
  }

  async moveTo({ x, y }: Point): Promise<void> {
    await this.x.movePointer(x, y);
  }

  /** Presses the left button at a place, and holds it. */
  async holdButtonAt(at: Point): Promise<void> {
    await this.moveTo(at);
    await this.x.pressButton(LEFT);
  }

  async releaseButton(): Promise<void> {
    await this.x.releaseButton(LEFT);
  }

  async click(at: Point, button: number = LEFT): Promise<void> {
    await this.moveTo(at);
    await this.x.pressButton(button);
    await this.x.releaseButton(button);
  }

  async doubleClick(at: Point): Promise<void> {
    await this.click(at);
    await this.click(at);
  }

  /** Presses and releases keys, one after the other, such as `Return`, `n` or `ctrl+a`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await this.x.pressKey(key);
      await this.x.releaseKey(key);
    }
  }

  /** Gives the keyboard a key for each of these that it lacks, as another layout would. */
  async addKeysFor(names: Iterable<string>): Promise<void> {
    await this.x.addKeysFor(names);
  }

  async type(text: string): Promise<void> {
    await this.addKeysFor(text);
    await this.press(...text);
  }

  /** Holds a key down while `during` runs. */
  async holdKey<T>(key: string, during: () => Promise<T>): Promise<T> {
    await this.x.pressKey(key);
    try {
      return await during();
    } finally {
      await this.x.releaseKey(key);
    }
  }

  /** Grabs a sprite at its middle and drags it until its middle is at `to`. Tries again if the sprite does not follow. */
  async grab(sentence: string, find: Finder, to: Point): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { found } = await this.waitFor(sentence, find);
      await this.holdButtonAt(middleOf(found));
      await this.moveTo(to);
      const isThere = (screenshot: Screenshot) => {
        const now = find(screenshot);
        return now && isWithin(middleOf(now), to, HELD_PX_MAX) ? now : undefined;
      };
      try {
        await this.waitFor(`${sentence}, held by the pointer`, isThere, AGAIN_MS);
        return;
      } catch (error) {
        await this.releaseButton();
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Grabs a sprite, drags it to `to`, holds it still and releases it. */
  async dragTo(sentence: string, find: Finder, to: Point): Promise<void> {
    await this.grab(sentence, find, to);
    await this.holdStill();
    await this.releaseButton();
  }

  /** Waits so long that the way of the pointer to this place does not count for a throw. */
  async holdStill(): Promise<void> {
    await pause(HOLD_MS);
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
      await this.holdStill();
      for (let step = 1; step <= THROW.steps; step++) {
        const part = step / THROW.steps;
        await this.moveTo({ x: from.x + dx * part, y: from.y + dy * part });
        if (step < THROW.steps) await pause(THROW.stepMs);
      }
      await this.releaseButton();
      try {
        await this.waitFor(`${sentence} has left`, hasLeft, AGAIN_MS);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Starts an X window manager. While it starts it may miss a window, so this waits until it manages them. */
  protected async startWindowManager(program: string): Promise<void> {
    this.children.unshift(spawnBound(program, [], this.env));
    await eventually('the window manager has started', () => this.x.hasWindowManager());
  }

  startCompositor(): void {
    this.compositor = spawnBound('picom', COMPOSITOR, this.env);
    this.children.unshift(this.compositor);
  }

  /** Waits until the compositor draws the empty screen, which is black without one. */
  protected async untilComposited(): Promise<void> {
    await this.waitFor('the empty screen, composited', (screenshot) => screenshot.at(0, 0).some(Boolean) || undefined);
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
    this.x.close();
    this.screen.close();
    for (const child of this.children) await end(child);
  }
}

function isWithin(one: Point, other: Point, by: number): boolean {
  return Math.abs(one.x - other.x) <= by && Math.abs(one.y - other.y) <= by;
}
