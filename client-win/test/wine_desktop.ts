/**
 * A desktop under Wine on its own X display, for tests that start and use the Windows client as a person would.
 *
 * By default Wine manages its windows itself, as Windows does (`Managed` is `N`). With an X window manager, activating a
 * window unmaps and maps it again, and X then ends the drag that activated it.
 * Invariant: when the test's process ends, even by a kill, its X server and all its Wine processes end too.
 * Cost: a Wine prefix takes 0.7 GB and 10 s, and is made once, in build/wine/template. Each desktop has its own, which shares the
 * files of Windows with that one, takes 0.1 s, and has nothing of an earlier test.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../tools/lock.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WINE } from '../../tools/test/needs.ts';
import {
  AGAIN_MS,
  type DisplayParts,
  end,
  eventually,
  type Finder,
  type Frame,
  middleOf,
  type Point,
  RIGHT,
  soon,
  spawnBound,
  spawnQuietly,
  startX,
  tryUntil,
  XDisplay,
} from './x_display.ts';

const PREFIXES = join(import.meta.dirname, '../../build/wine');
const TEMPLATE = join(PREFIXES, 'template');
const MAKE_MS_MAX = 300_000; // ms to make a prefix, on a busy machine

/** Wine's server writes these in place, so each prefix has its own; all other files of Windows are shared. */
const REGISTRY = ['system.reg', 'user.reg', 'userdef.reg'];

const SPRITE = 'Sprite'; // the title of each sprite's window
const TRAY = 'Wine System Tray';
const TRAY_ICON: Point = { x: 10, y: 10 }; // in that window
const MENU_PX_MIN = { width: 60, height: 60 }; // larger than a hint beside the pointer
export const MENU_DEPTH = 3; // of a menu, its submenus, and theirs

/** Added to the registry of each prefix. Without it, Wine saves pictures in the home folder of the person who runs the test. */
const registryOf = (windowManager: WindowManager) => `
[Software\\\\Wine]
"Version"="win10"

[Software\\\\Wine\\\\X11 Driver]
"Managed"="${windowManager === 'wine' ? 'N' : 'Y'}"

[Software\\\\Microsoft\\\\Windows\\\\CurrentVersion\\\\Explorer\\\\User Shell Folders]
"My Pictures"="C:\\\\Pictures"
`;

/** The program that manages windows: Wine itself, or an X window manager as on a Linux desktop. */
export type WindowManager = 'wine' | 'openbox';

/** Returns undefined if Wine desktops can run here, otherwise the reason why they can't. */
export function whyNoWine(): string | undefined {
  if (process.platform !== 'linux') return 'Wine and Xvfb are for Linux';
  if (ensurePrograms(WINE.programs, WINE.packages)) return undefined;
  return `Wine or the programs to show it are missing: ${installHint(WINE.packages)}`;
}

function environment(prefix: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // Disables Mono, Gecko, and menu entries on the Linux machine that runs the test.
    WINEDLLOVERRIDES: 'mscoree,mshtml,winemenubuilder.exe=',
  };
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

export class WineDesktop extends XDisplay {
  readonly roaming: string;
  readonly local: string;
  readonly prefix: string;
  private wine: ChildProcess | undefined;

  private constructor(prefix: string, display: DisplayParts) {
    super(display, environment(prefix));
    this.prefix = prefix;
    this.roaming = join(prefix, 'drive_c/users', userInfo().username, 'AppData/Roaming');
    this.local = join(this.roaming, '../Local');
  }

  /**
   * Starts an empty desktop without any files of the client. Desktops that run at the same time need different names. `registry` is added
   * to the user's, as Wine writes it.
   */
  static async start(name: string, windowManager: WindowManager = 'wine', registry = ''): Promise<WineDesktop> {
    const prefix = join(PREFIXES, name);
    const desktop = new WineDesktop(prefix, await startX(join(PREFIXES, `${name}-screen`)));
    // Programs would connect to a wineserver that a killed test has left behind.
    await desktop.run('wineserver', '-k').catch(() => {});
    makePrefix(prefix, registryOf(windowManager) + registry);
    if (windowManager !== 'wine') await desktop.startWindowManager(windowManager);
    await desktop.untilComposited();
    await desktop.startWine();
    return desktop;
  }

  /** The process ids of the programs started here, of X, of Wine's server and of the compositor. */
  get pids(): number[] {
    return [...this.children, this.wine].map((child) => child?.pid).filter((pid) => pid !== undefined);
  }

  /** The folder in which the client keeps its files. */
  get folder(): string {
    return join(this.local, 'Sprites');
  }

  /** The folder in which the client saves what the person takes pictures of. */
  get pictures(): string {
    return join(this.prefix, 'drive_c/Pictures');
  }

  get settingsFile(): string {
    return join(this.folder, 'settings.json');
  }

  /** Starts a program and returns its process, which is the Windows process itself, without waiting for it. */
  launch(...command: string[]): ChildProcess {
    const child = spawnQuietly('wine', command, this.env);
    this.children.unshift(child);
    return child;
  }

  /** Chooses in the menu of a sprite, by keys, until that has an effect. */
  async chooseOf(
    find: Finder,
    keys: string[],
    sentence: string,
    done: () => boolean | Promise<boolean>,
  ): Promise<void> {
    await this.choose(
      async () => middleOf((await this.waitUntilStill('the sprite', find)).found),
      keys,
      sentence,
      done,
    );
  }

  /** Chooses in the menu of the icon by the clock, which Wine shows in a window of its own. */
  async chooseInTray(keys: string[], sentence: string, done: () => boolean | Promise<boolean>): Promise<void> {
    const at = async () => {
      const { x, y } = await this.frame(TRAY);
      return { x: x + TRAY_ICON.x, y: y + TRAY_ICON.y };
    };
    await this.choose(at, keys, sentence, done);
  }

  /** A menu has no X window with the keyboard, so the keys go to a sprite's. Wine handles them in the order in which they come. */
  private async choose(
    at: () => Promise<Point>,
    keys: string[],
    sentence: string,
    done: () => boolean | Promise<boolean>,
  ): Promise<void> {
    await tryUntil(
      sentence,
      async () => {
        await this.openMenu(at);
        await this.press(...keys);
        // The menu closes when the keys have been handled. Only then may an effect be expected: a choice that switches something
        // on would switch it off again when it is repeated too early.
        await soon(async () => !(await this.hasMenu()), AGAIN_MS);
      },
      done,
    );
  }

  /** Right-clicks at a place until a menu is open there, and gives it the keyboard. */
  private async openMenu(at: () => Promise<Point>): Promise<void> {
    await tryUntil(
      'a menu is open',
      async () => {
        if (await this.hasMenu()) await this.press(...Array(MENU_DEPTH).fill('Escape')); // else it would stay, as it was
        await this.click(await at(), RIGHT);
      },
      () => this.hasMenu(),
    );
    await this.focusOn(SPRITE);
  }

  /** Whether a menu is open. */
  async hasMenu(): Promise<boolean> {
    const isMenu = ({ titles, width, height }: Frame) =>
      titles.length === 1 && width >= MENU_PX_MIN.width && height >= MENU_PX_MIN.height;
    return (await this.frames('')).some(isMenu);
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
    await this.output('wine', 'regedit', '/E', 'C:\\software.reg', 'HKEY_CURRENT_USER\\Software');
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

  /** Stops all processes that were started here, X last. */
  override async stop(): Promise<void> {
    await this.stopWine();
    await super.stop();
  }

  /** Runs the wineserver in the foreground and persistently: otherwise Wine starts one per command, which outlives the test. */
  private async startWine(): Promise<void> {
    const server = spawnBound('wineserver', ['-f', '-p'], this.env);
    this.wine = server;
    // A program that is started before it listens would start another.
    await eventually('the wineserver listens', () => {
      if (server.exitCode !== null) throw new Error('The wineserver did not start.');
      return isListening(server.pid!);
    });
  }

  /** Stops the wineserver, and with it every program under Wine. */
  private async stopWine(): Promise<void> {
    if (this.wine) await end(this.wine);
    this.wine = undefined;
  }
}

/** Makes a prefix that shares its files with the template, which is made first if there is none. */
function makePrefix(prefix: string, registry: string): void {
  withLock(`${TEMPLATE}.lock`, makeTemplate);
  rmSync(prefix, { recursive: true, force: true });
  runToEnd('cp', ['-al', TEMPLATE, prefix]);
  for (const file of REGISTRY) {
    rmSync(join(prefix, file));
    copyFileSync(join(TEMPLATE, file), join(prefix, file));
  }
  appendFileSync(join(prefix, 'user.reg'), registry);
}

function makeTemplate(): void {
  if (existsSync(TEMPLATE)) return;
  const unfinished = `${TEMPLATE}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const { DISPLAY: _, ...env } = environment(unfinished);
  runToEnd('wineboot', ['-i'], env);
  runToEnd('wineserver', ['-k'], env);
  runToEnd('wineserver', ['-w'], env);
  renameSync(unfinished, TEMPLATE);
}

function runToEnd(command: string, args: string[], env = process.env): void {
  const { status, signal, error } = spawnSync(command, args, { env, stdio: 'ignore', timeout: MAKE_MS_MAX });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error ?? signal ?? status}.`);
}
