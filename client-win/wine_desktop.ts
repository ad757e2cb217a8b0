/**
 * The Windows client on an X display of its own, under Wine: started, seen and handled as a person would.
 *
 * Screens are read pixel by pixel, the pointer and the keys are xdotool's. Invariant: whatever happens to the test, its X
 * server and all of its Wine are gone when the test's process is. A prefix (0.7 GB) is made once and kept in build/wine.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PNG } from 'pngjs';
import { ensurePrograms } from '../server/bin/machine.js';

export const SCREEN = { width: 1280, height: 800 } as const; // px of each X display

/** What has not come to be within this will not; ms. Wine's first start of a program takes seconds. */
const PATIENCE_MS = 30_000;
const LOOK_PAUSE_MS = 20; // ms between two looks
const COMMAND_MS_MAX = 60_000; // ms of any command under Wine

const PREFIXES = join(import.meta.dirname, '../build/wine');

const PROGRAMS = ['wine', 'Xvfb', 'xdotool', 'picom', 'openbox', 'import'];
const PACKAGES = ['wine', 'wine64', 'xvfb', 'xdotool', 'picom', 'openbox', 'imagemagick'];

/** Why there can be no Wine desktop here; undefined when there can. */
export function noWine(): string | undefined {
  if (process.platform !== 'linux') return 'Wine and Xvfb are for Linux';
  if (ensurePrograms(PROGRAMS, PACKAGES)) return undefined;
  return `Wine or what shows it is missing: apt-get install ${PACKAGES.join(' ')}`;
}

export type Colour = readonly [red: number, green: number, blue: number];

/** What is on a screen at a moment. */
export class Picture {
  private readonly png: PNG;

  constructor(bytes: Buffer) {
    this.png = PNG.sync.read(bytes);
  }

  at(x: number, y: number): Colour {
    const i = 4 * (Math.round(y) * this.png.width + Math.round(x));
    return [this.png.data[i], this.png.data[i + 1], this.png.data[i + 2]];
  }

  /** The smallest rectangle around all pixels of exactly this colour, right and bottom included; undefined for none. */
  find(colour: Colour): { left: number; top: number; right: number; bottom: number } | undefined {
    let found: { left: number; top: number; right: number; bottom: number } | undefined;
    const { width, height, data } = this.png;
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i += 4) {
        if (data[i] !== colour[0] || data[i + 1] !== colour[1] || data[i + 2] !== colour[2]) continue;
        found ??= { left: x, top: y, right: x, bottom: y };
        found.left = Math.min(found.left, x);
        found.right = Math.max(found.right, x);
        found.bottom = y;
      }
    }
    return found;
  }

  save(path: string): void {
    writeFileSync(path, PNG.sync.write(this.png));
  }
}

const living = new Set<ChildProcess>();
const prefixesInUse = new Set<string>();
process.on('exit', () => {
  for (const prefix of prefixesInUse) killWine(prefix);
  for (const child of living) child.kill('SIGKILL');
});

function environment(prefix: string, display: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    DISPLAY: display,
  };
}

function killWine(prefix: string): void {
  try {
    execFileSync('wineserver', ['-k'], { env: environment(prefix, ''), stdio: 'ignore', timeout: COMMAND_MS_MAX });
  } catch {
    // None was running.
  }
}

function begin(command: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, stdio: 'ignore' });
  living.add(child);
  child.once('close', () => living.delete(child));
  child.on('error', () => {});
  return child;
}

/** An X server on a display nobody else has, with a window manager and a compositor: without one nothing is see-through. */
async function startX(): Promise<{ server: ChildProcess; display: string }> {
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', `${SCREEN.width}x${SCREEN.height}x24`, '-nolisten', 'tcp', '-noreset'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  living.add(server);
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]!.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
    server.once('error', reject);
    server.once('close', (code) => {
      living.delete(server);
      reject(new Error(`Xvfb ended with ${code}.`));
    });
  });
  return { server, display: `:${number}` };
}

export class WineDesktop {
  readonly roaming: string;
  readonly prefix: string;
  private readonly children: ChildProcess[];
  private readonly env: NodeJS.ProcessEnv;

  private constructor(prefix: string, display: string, children: ChildProcess[]) {
    this.prefix = prefix;
    this.children = children;
    this.env = environment(prefix, display);
    this.roaming = join(prefix, 'drive_c/users', process.env.USER ?? 'root', 'AppData/Roaming');
  }

  /** A desktop with nothing on it and nothing remembered. Two at once have two names. */
  static async start(name: string): Promise<WineDesktop> {
    const prefix = join(PREFIXES, name);
    mkdirSync(PREFIXES, { recursive: true });
    killWine(prefix);
    const { server, display } = await startX();
    prefixesInUse.add(prefix);
    const env = environment(prefix, display);
    const around = [
      begin('openbox', [], env),
      begin('picom', ['--backend', 'xrender', '--no-vsync', '--config', '/dev/null'], env),
    ];
    const desktop = new WineDesktop(prefix, display, [...around, server]);
    const made = join(prefix, 'made');
    if (!existsSync(made)) rmSync(prefix, { recursive: true, force: true });
    mkdirSync(prefix, { recursive: true });
    // Else Wine would start anew for every command.
    await desktop.run('wineserver', '-p');
    if (!existsSync(made)) {
      await desktop.run('wineboot', '-i');
      await desktop.run('wine', 'reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f');
      writeFileSync(made, '');
    }
    rmSync(desktop.folder, { recursive: true, force: true });
    const isBlack = (colour: Colour) => colour.every((part) => part === 0);
    await desktop.seeUntil('that something composes', (picture) => !isBlack(picture.at(640, 400)) || undefined);
    return desktop;
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

  /** Starts a program and does not wait for it. */
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

  async see(): Promise<Picture> {
    const { stdout } = await promisify(execFile)('import', ['-window', 'root', '-depth', '8', 'png24:-'], {
      env: this.env,
      encoding: 'buffer',
      maxBuffer: 64 << 20,
      timeout: COMMAND_MS_MAX,
    });
    return new Picture(stdout);
  }

  /** Looks until there is something to see, and answers it. Throws with the sentence when there never is. */
  async seeUntil<T>(sentence: string, seen: (picture: Picture) => T | undefined): Promise<{ picture: Picture; it: T }> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const picture = await this.see();
      const it = seen(picture);
      if (it !== undefined) return { picture, it };
      if (performance.now() > untilMs) {
        const path = join(PREFIXES, 'last.png');
        picture.save(path);
        throw new Error(`Nobody ever saw: ${sentence}. What was seen last: ${path}`);
      }
      await pause(LOOK_PAUSE_MS);
    }
  }

  async pointer(...words: (string | number)[]): Promise<string> {
    return await this.ask('xdotool', ...words.map(String));
  }

  /** Presses at a point, moves by (dx, dy) in ten steps of about 10 ms, and lets go while it moves. */
  async fling(x: number, y: number, dx: number, dy: number): Promise<void> {
    const words: (string | number)[] = ['mousemove', x, y, 'sleep', 0.1, 'mousedown', 1];
    for (let step = 1; step <= 10; step++) {
      words.push('sleep', 0.01, 'mousemove', Math.round(x + (dx * step) / 10), Math.round(y + (dy * step) / 10));
    }
    await this.pointer(...words, 'mouseup', 1);
  }

  async stop(): Promise<void> {
    killWine(this.prefix);
    prefixesInUse.delete(this.prefix);
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill();
      await new Promise((resolve) => child.once('close', resolve));
    }
  }
}
