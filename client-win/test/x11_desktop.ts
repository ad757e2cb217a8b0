/**
 * A Linux desktop on its own X display, with a compositor and a window manager, for tests that start the client for X11 as a
 * person would.
 *
 * Invariant: the client has its own configuration and data folders, and no D-Bus session unless a test
 * starts one, so it shows notices itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isListening } from '../../tools/bench/listener.ts';
import { X11_CLIENT, X11_STAND_IN } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { X11 } from '../../tools/test/needs.ts';
import {
  type DisplayParts,
  end,
  eventually,
  type Finder,
  type Frame,
  middleOf,
  RIGHT,
  spawnBound,
  spawnQuietly,
  startX,
  tryUntil,
  XDisplay,
} from './x_display.ts';

const MENU = 'Sprites menu';
const FOLDER = join(import.meta.dirname, '../../build/x11-desktops');

/** Returns undefined if X11 desktops can run here, otherwise the reason why they can't. */
export function whyNoX11(): string | undefined {
  if (process.platform !== 'linux') return 'Xvfb is for Linux';
  if (ensurePrograms(X11.programs, X11.packages)) return undefined;
  return `Xvfb or the programs around it are missing: ${installHint(X11.packages)}`;
}

export class X11Desktop extends XDisplay {
  private readonly home: string;
  /** What runs on it besides X, the compositor and the window manager. */
  private programs: ChildProcess[] = [];

  private constructor(parts: DisplayParts, home: string) {
    super(parts, {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'share'),
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home, 'bus')}`,
      NO_AT_BRIDGE: '1', // otherwise a bus starts programs that outlive it, and write to the home folder
      LC_ALL: 'C.UTF-8',
    });
    this.home = home;
  }

  /** Starts an empty desktop without any files of the client. Desktops that run at the same time need different names. */
  static async start(name: string, windowManager = 'openbox'): Promise<X11Desktop> {
    const home = join(FOLDER, name);
    const desktop = new X11Desktop(await startX(join(FOLDER, `${name}-screen`)), home);
    await desktop.clear();
    await desktop.startWindowManager(windowManager);
    await desktop.untilComposited();
    return desktop;
  }

  /** Ends all programs that were started here, the newest first, and removes their files. */
  async clear(): Promise<void> {
    for (const program of this.programs) await end(program);
    this.programs = [];
    rmSync(this.home, { recursive: true, force: true });
    mkdirSync(this.home, { recursive: true });
  }

  override async stop(): Promise<void> {
    await this.clear();
    await super.stop();
  }

  /** Starts a D-Bus session. Programs that are started later find it. */
  async startBus(): Promise<void> {
    const address = `--address=${this.env.DBUS_SESSION_BUS_ADDRESS}`;
    this.programs.unshift(spawnBound('dbus-daemon', ['--session', '--nofork', '--nopidfile', address], this.env));
    await eventually('the bus accepts connections', () => isListening({ path: join(this.home, 'bus') }));
  }

  get folder(): string {
    return join(this.home, 'share', 'sprites');
  }

  /** The folder in which the client saves what the person takes pictures of. */
  get pictures(): string {
    return join(this.home, 'Pictures');
  }

  get settingsFile(): string {
    return join(this.home, 'config', 'sprites', 'settings.json');
  }

  /** Starts the client, without waiting for it. Its complaints go to those of the test. */
  launch(...args: string[]): ChildProcess {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', X11_CLIENT, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.unref(); // a test that fails can still end
    this.programs.unshift(child);
    return child;
  }

  /** Starts a window of another program. */
  openWindow(...args: (string | number)[]): void {
    const bound = ['--pdeathsig', 'TERM', X11_STAND_IN, ...args.map(String)];
    this.programs.unshift(spawnQuietly('setpriv', bound, this.env));
  }

  /** Opens the menu of a sprite, and types keys into it. */
  async chooseOf(find: Finder, ...keys: string[]): Promise<void> {
    // Again, because a sprite that has just come may be still for a moment in the air.
    await tryUntil(
      'the menu is open',
      async () => await this.click(middleOf((await this.waitUntilStill('the sprite', find)).found), RIGHT),
      async () => (await this.frames(MENU)).length > 0,
    );
    await this.pressInMenu(...keys);
  }

  /** The X id of the window that has the keyboard, once `before` has lost it. */
  async focusAfter(before: number): Promise<number> {
    await this.grabKeyboard();
    let now = before;
    await eventually('another window has the keyboard', async () => {
      now = await this.focused();
      return now !== before;
    });
    return now;
  }

  /** Grabs the keyboard, and gives it back at once. A menu that closes may hold it a moment longer. */
  async grabKeyboard(): Promise<void> {
    await eventually('no menu has the keyboard', async () => !(await this.x.isKeyboardGrabbed()));
  }

  /** The visible window with this title, once the window manager has given it the keyboard, as it does to a new window. */
  override async focusOn(title: string): Promise<Frame> {
    await this.grabKeyboard();
    let frame: Frame | undefined;
    await eventually(`${title} has the keyboard`, async () => {
      [frame] = await this.frames(title);
      return frame !== undefined && (await this.x.hasKeyboard(frame.id));
    });
    return frame!;
  }

  /** Types keys into a menu that opens. */
  async pressInMenu(...keys: string[]): Promise<void> {
    await this.frame(MENU);
    await eventually('the menu has the keyboard', () => this.x.isKeyboardGrabbed());
    await this.press(...keys);
  }
}

/** The exit code of a process that has been asked to end. */
export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}
