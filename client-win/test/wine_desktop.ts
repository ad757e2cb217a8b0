/**
 * A desktop under Wine on its own X display, for tests that start and use the Windows client as a person would.
 *
 * By default Wine manages its windows itself, as Windows does (`Managed` is `N`). With an X window manager, activating a
 * window unmaps and maps it again, and X then ends the drag that activated it.
 * Invariant: when the test's process ends, even by a kill, its X server and all its Wine processes end too.
 * Cost: a Wine prefix takes 0.7 GB and 10 s, is made once and kept in build/wine.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensurePrograms, installHint, WINE } from '../../tools/machine.js';
import { keepSprite, readSavedState, type SavedState } from './kept_sprites.ts';
import {
  type DisplayParts,
  end,
  eventually,
  POLL_MS,
  spawnBound,
  spawnQuietly,
  startX,
  WAIT_MS_MAX,
  XDisplay,
} from './x_display.ts';

export {
  type Area,
  type Colour,
  eventually,
  type Finder,
  middleOf,
  type Point,
  SCREEN,
  type Screenshot,
} from './x_display.ts';

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

  /** Starts an empty desktop without any files of the client. Desktops that run at the same time need different names. */
  static async start(name: string, windowManager: WindowManager = 'wine'): Promise<WineDesktop> {
    const prefix = join(PREFIXES, name);
    const desktop = new WineDesktop(prefix, await startX(join(PREFIXES, `${name}-screen`)));
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

  /** Gives the client one more sprite that it has kept, with its middle at x and its foot at y. */
  keepSprite(spr: Buffer, name: string, x: number, y: number): void {
    keepSprite(this.folder, spr, name, x, y);
  }

  /** The state that the client last saved. */
  savedState(): SavedState {
    return readSavedState(this.folder);
  }

  /** Starts a program and returns its process, which is the Windows process itself, without waiting for it. */
  launch(...command: string[]): ChildProcess {
    const child = spawnQuietly('wine', command, this.env);
    this.children.unshift(child);
    return child;
  }

  /**
   * Right-clicks at a place, and presses a key in the menu that opens, until there is a window with this title. Returns its X id.
   * A menu has no X window with the focus, so the key goes to a sprite's.
   */
  async openFromMenu(at: (string | number)[], key: string, title: string): Promise<string> {
    await eventually(`the menu opens ${title}`, async () => {
      if ((await this.windows(title)).length > 0) return true;
      await this.xdotool('key', 'Escape', 'mousemove', ...at, 'sleep', 0.2, 'click', 3, 'sleep', 0.6);
      const sprite = await this.frame('Sprite');
      await this.xdotool('windowfocus', sprite.id, 'sleep', 0.2, 'key', key, 'sleep', 0.6);
      return (await this.windows(title)).length > 0;
    });
    return (await this.frame(title)).id;
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

  /** Stops all processes that were started here, X last. */
  override async stop(): Promise<void> {
    await this.stopWine();
    await super.stop();
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
