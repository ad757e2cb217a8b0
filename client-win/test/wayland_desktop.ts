/**
 * A Linux desktop on a Wayland compositor without a screen, for tests that start the client as a person would.
 *
 * The compositor is sway, which has layers and refuses to run as root: then it runs as nobody. Screenshots are grim's, keys are wtype's.
 * Invariant: when the test's process ends, so does the compositor, and with it all that runs there.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { X11_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WAYLAND } from '../../tools/test/needs.ts';
import { keepSprite, readSavedState, type SavedState } from './kept_sprites.ts';
import { WaylandPointer } from './wayland_pointer.ts';
import {
  type Area,
  end,
  eventually,
  type Finder,
  isStill,
  middleOf,
  type Point,
  SCREEN,
  Screenshot,
  spawnQuietly,
  tryUntil,
} from './x_display.ts';

const NOBODY = 65_534;
const BACKGROUND = '128,128,128'; // as in CONFIG: another program draws it
const CONFIG = `output HEADLESS-1 resolution ${SCREEN.width}x${SCREEN.height} position 0 0 bg #808080 solid_color
xwayland disable
default_border none
`;

const LAST_KEY = 'F35'; // does nothing anywhere
const KEYMAP_MS = '200'; // ms that a keymap stays after its keys

// The times of a hand.
const HOLD_MS = 200; // ms to hold a sprite still, so that it is not thrown
const THROW = { steps: 8, stepMs: 10 }; // pointer moves of a throw, and ms between them

/** What sway says of a window. */
interface Window {
  name: string;
  focused: boolean;
  rect: { x: number; y: number; width: number; height: number };
}

/** Returns undefined if Wayland desktops can run here, otherwise the reason why they can't. */
export function whyNoWayland(): string | undefined {
  if (process.platform !== 'linux') return 'sway is for Linux';
  if (ensurePrograms(WAYLAND.programs, WAYLAND.packages)) return undefined;
  return `sway or the programs around it are missing: ${installHint(WAYLAND.packages)}`;
}

export class WaylandDesktop {
  readonly env: NodeJS.ProcessEnv;
  private readonly home: string;
  private readonly children: ChildProcess[] = [];
  private pointer: WaylandPointer | undefined;

  private constructor(home: string) {
    this.home = home;
    this.env = {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'share'),
      XDG_RUNTIME_DIR: home,
      WAYLAND_DISPLAY: join(home, 'wayland-1'),
      DISPLAY: ':none',
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home, 'bus')}`,
      LC_ALL: 'C.UTF-8',
    };
  }

  static async start(): Promise<WaylandDesktop> {
    const home = mkdtempSync(join(tmpdir(), 'wayland-')); // a short path, which a socket needs
    const desktop = new WaylandDesktop(home);
    writeFileSync(join(home, 'sway.conf'), CONFIG);
    await desktop.startSway();
    await eventually('the compositor has a pointer', () => desktop.connectPointer());
    await desktop.waitFor('the background', (screenshot) => String(screenshot.at(0, 0)) === BACKGROUND || undefined);
    // A keyboard that stays: otherwise programs would have one only while a key is pressed, and learn of it too late.
    desktop.spawn('wtype', '-s', '2000000000');
    return desktop;
  }

  private async startSway(): Promise<void> {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(this.home, NOBODY, NOBODY);
    const user = isRoot ? ['--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups'] : [];
    const headless = { WLR_BACKENDS: 'headless', WLR_LIBINPUT_NO_DEVICES: '1', WLR_RENDERER: 'pixman' };
    const sway = spawn('setpriv', [...user, '--pdeathsig', 'KILL', 'sway', '-c', join(this.home, 'sway.conf')], {
      env: { ...this.env, ...headless, WAYLAND_DISPLAY: undefined, DISPLAY: undefined },
      stdio: 'ignore',
      cwd: '/',
    });
    sway.unref();
    this.children.push(sway);
  }

  /** A compositor that still starts may close the connection. */
  private async connectPointer(): Promise<boolean> {
    try {
      this.pointer = await WaylandPointer.connect(join(this.home, 'wayland-1'));
      return true;
    } catch {
      return false;
    }
  }

  get folder(): string {
    return join(this.home, 'share', 'sprites');
  }

  writeSettings(settings: object): void {
    mkdirSync(join(this.home, 'config', 'sprites'), { recursive: true });
    writeFileSync(join(this.home, 'config', 'sprites', 'settings.json'), JSON.stringify(settings));
  }

  keepSprite(spr: Buffer, name: string, x: number, y: number): void {
    keepSprite(this.folder, spr, name, x, y);
  }

  savedState(): SavedState {
    return readSavedState(this.folder);
  }

  /** Starts the client, without waiting for it. */
  launch(...args: string[]): ChildProcess {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', X11_CLIENT, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.unref();
    return child;
  }

  /** Starts a program of this desktop that ends with it. */
  spawn(program: string, ...args: string[]): ChildProcess {
    const child = spawnQuietly('setpriv', ['--pdeathsig', 'KILL', program, ...args], this.env);
    this.children.unshift(child);
    return child;
  }

  capture(): Screenshot {
    const ppm = execFileSync('grim', ['-t', 'ppm', '-'], { env: this.env, maxBuffer: 2 ** 24 });
    const from = ppm.length - SCREEN.width * SCREEN.height * 3;
    const pixels = new Uint32Array(SCREEN.width * SCREEN.height);
    for (let i = 0; i < pixels.length; i++) pixels[i] = ppm.readUIntBE(from + 3 * i, 3);
    return new Screenshot(pixels);
  }

  /** Takes screenshots until `find` finds something. Throws, with the sentence, if it does not in time. */
  async waitFor<T>(sentence: string, find: Finder<T>): Promise<T> {
    let found: T | undefined;
    try {
      await eventually(sentence, () => {
        found = find(this.capture());
        return found !== undefined;
      });
    } catch (error) {
      this.capture().save(join(tmpdir(), 'wayland-last.png'));
      throw error;
    }
    return found!;
  }

  moveTo({ x, y }: Point): void {
    this.pointer!.moveTo(x, y);
  }

  click(at: Point, button = 1): void {
    this.moveTo(at);
    this.pointer!.press(button);
    this.pointer!.release(button);
  }

  /** Drags a sprite by its middle until its middle is at `to`, and holds it still. */
  async grab(sentence: string, find: Finder, to: Point): Promise<void> {
    await tryUntil(
      sentence,
      async () => {
        this.pointer!.release(1);
        this.moveTo(middleOf(await this.waitFor(sentence, find)));
        this.pointer!.press(1);
        this.moveTo(to);
      },
      () => {
        const found = find(this.capture());
        return found !== undefined && Math.hypot(middleOf(found).x - to.x, middleOf(found).y - to.y) <= 4;
      },
    );
    await pause(HOLD_MS);
  }

  release(): void {
    this.pointer!.release(1);
  }

  /** Drags something from `from` to `to`, and lets go there, once the program below may have answered whether it takes it. */
  async drag(from: Point, to: Point): Promise<void> {
    this.moveTo(from);
    this.pointer!.press(1);
    await this.moveBy(from, to.x - from.x, to.y - from.y);
    await pause(HOLD_MS);
    this.release();
  }

  /** Moves a sprite that is held at `from` by (dx, dy), and lets go of it while it moves. */
  async throwFrom(from: Point, dx: number, dy: number): Promise<void> {
    await this.moveBy(from, dx, dy);
    this.release();
  }

  private async moveBy(from: Point, dx: number, dy: number): Promise<void> {
    for (let step = 1; step <= THROW.steps; step++) {
      this.moveTo({ x: from.x + (dx * step) / THROW.steps, y: from.y + (dy * step) / THROW.steps });
      if (step < THROW.steps) await pause(THROW.stepMs);
    }
  }

  /**
   * Presses keys, such as `Return` or `Right`. A menu asks the keymap what a key means, so wtype's must still be there when the client
   * reads the key; on a slow machine it is not, so tests press again what had no effect. GDK does not find the last key of a keymap.
   */
  press(...keys: string[]): void {
    const pressed = [...keys, LAST_KEY].flatMap((key) => ['-k', key]);
    execFileSync('wtype', [...pressed, '-s', KEYMAP_MS], { env: this.env });
  }

  /** Holds a key down for a time. */
  hold(key: string, ms: number): void {
    execFileSync('wtype', ['-P', key, '-s', `${ms}`, '-p', key], { env: this.env });
  }

  /** The window with this title, once it has the keyboard. */
  async focusOn(title: string): Promise<Area> {
    const find = () => this.windows().find((one) => one.name === title && one.focused);
    await eventually(`${title} has the keyboard`, () => find() !== undefined);
    const { x, y, width, height } = find()!.rect;
    return { left: x, top: y, right: x + width - 1, bottom: y + height - 1 };
  }

  hasWindow(title: string): boolean {
    return this.windows().some((one) => one.name === title);
  }

  async isGone(title: string): Promise<void> {
    await eventually(`${title} is gone`, () => !this.hasWindow(title));
  }

  private windows(): Window[] {
    const socket = readdirSync(this.home).find((file) => file.startsWith('sway-ipc'))!;
    const tree = execFileSync('swaymsg', ['-s', join(this.home, socket), '-t', 'get_tree'], { encoding: 'utf8' });
    const all: Window[] = [];
    JSON.parse(tree, (_, value) => {
      if (typeof value?.name === 'string') all.push(value);
      return value;
    });
    return all;
  }

  /** Waits until something has been at one place for a while, and returns that place. */
  async waitUntilStill(find: Finder): Promise<Area> {
    let since: { area: Area; ms: number } | undefined;
    return await this.waitFor('it is still', (screenshot) => {
      const now = find(screenshot);
      const isSame = now && since && isStill(now, since.area);
      if (!isSame) since = now && { area: now, ms: performance.now() };
      return since && performance.now() - since.ms >= HOLD_MS ? now : undefined;
    });
  }

  type(text: string): void {
    execFileSync('wtype', [text], { env: this.env });
  }

  async stop(): Promise<void> {
    this.pointer?.close();
    for (const child of this.children) await end(child);
    rmSync(this.home, { recursive: true, force: true });
  }
}
