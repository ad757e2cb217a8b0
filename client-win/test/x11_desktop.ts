/**
 * A Linux desktop on its own X display, with a compositor and a window manager, for tests that start the client for X11 as a
 * person would.
 *
 * Invariant: the client has its own configuration and data folders, and no D-Bus session unless a test
 * starts one, so it shows notices itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { X11_CLIENT, X11_STAND_IN } from '../../tools/build.js';
import { ensurePrograms, installHint, X11 } from '../../tools/machine.js';
import { keepSprite, readSavedState, type SavedState } from './kept_sprites.ts';
import {
  type DisplayParts,
  eventually,
  type Finder,
  middleOf,
  POLL_MS,
  spawnBound,
  spawnQuietly,
  startX,
  XDisplay,
} from './x_display.ts';

const FOLDER = join(import.meta.dirname, '../../build/x11-desktops');
const OPEN_MS_MAX = 5_000; // ms a menu may take to open; otherwise the click missed its sprite

/** Returns undefined if X11 desktops can run here, otherwise the reason why they can't. */
export function whyNoX11(): string | undefined {
  if (process.platform !== 'linux') return 'Xvfb is for Linux';
  if (ensurePrograms(X11.programs, X11.packages)) return undefined;
  return `Xvfb or the programs around it are missing: ${installHint(X11.packages)}`;
}

export class X11Desktop extends XDisplay {
  private readonly home: string;

  private constructor(parts: DisplayParts, home: string) {
    super(parts, {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'share'),
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home, 'bus')}`,
      LC_ALL: 'C.UTF-8',
    });
    this.home = home;
  }

  /** Starts an empty desktop without any files of the client. Desktops that run at the same time need different names. */
  static async start(name: string, windowManager = 'openbox'): Promise<X11Desktop> {
    const home = join(FOLDER, name);
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    const desktop = new X11Desktop(await startX(join(FOLDER, `${name}-screen`)), home);
    desktop.children.unshift(spawnBound(windowManager, [], desktop.env));
    // While openbox starts, it may miss a window. It answers requests once it has started.
    await eventually('the window manager answers', async () => {
      const desktops = await desktop.xdotool('set_num_desktops', 2, 'get_num_desktops').catch(() => '');
      return desktops.trim() === '2';
    });
    return desktop;
  }

  /** Starts a D-Bus session. Programs that are started later find it. */
  async startBus(): Promise<void> {
    const address = `--address=${this.env.DBUS_SESSION_BUS_ADDRESS}`;
    this.children.unshift(spawnBound('dbus-daemon', ['--session', '--nofork', '--nopidfile', address], this.env));
    await eventually('the bus is there', () => existsSync(join(this.home, 'bus')));
  }

  get dataFolder(): string {
    return join(this.home, 'share', 'sprites');
  }

  get settingsFile(): string {
    return join(this.home, 'config', 'sprites', 'settings.json');
  }

  writeSettings(settings: object): void {
    mkdirSync(dirname(this.settingsFile), { recursive: true });
    writeFileSync(this.settingsFile, JSON.stringify(settings));
  }

  /** The settings that the client has saved; none until it has saved some. */
  settings(): Record<string, unknown> {
    const file = this.settingsFile;
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }

  /** Gives the client one more sprite that it has kept, with its middle at x and its foot at y. */
  keepSprite(spr: Buffer, name: string, x: number, y: number): void {
    keepSprite(this.dataFolder, spr, name, x, y);
  }

  /** The state that the client last saved. */
  savedState(): SavedState {
    return readSavedState(this.dataFolder);
  }

  /** Starts the client, without waiting for it. Its complaints go to those of the test. */
  launch(...args: string[]): ChildProcess {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', X11_CLIENT, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.unref(); // a test that fails can still end
    this.children.unshift(child);
    return child;
  }

  /** Starts a window of another program. */
  openWindow(...args: (string | number)[]): void {
    this.children.unshift(
      spawnQuietly('setpriv', ['--pdeathsig', 'TERM', X11_STAND_IN, ...args.map(String)], this.env),
    );
  }

  /** Opens the menu of a sprite, and types keys into it. */
  async chooseOf(find: Finder, ...keys: string[]): Promise<void> {
    // Again, because a sprite that has just come may be still for a moment in the air.
    await eventually('the menu is open', async () => {
      const { found } = await this.waitUntilStill('the sprite', find);
      const { x, y } = middleOf(found);
      await this.xdotool('mousemove', x, y, 'sleep', 0.1, 'click', 3);
      return await this.opens('Sprites menu');
    });
    for (const key of keys) await this.xdotool('sleep', 0.2, 'key', key);
  }

  /** Whether a window with this title is there soon. */
  private async opens(title: string): Promise<boolean> {
    const untilMs = performance.now() + OPEN_MS_MAX;
    while (performance.now() < untilMs) {
      if ((await this.frames(title)).length > 0) return true;
      await pause(POLL_MS);
    }
    return false;
  }
}

/** The exit code of a process that has been asked to end. */
export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}
