/**
 * What is built before suites run, and the process that builds it beside suites that need none of it.
 *
 * One build follows the other, because each uses all cores, and because two that install something would run apt at the same time.
 */
import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import {
  buildAddon,
  buildClient,
  buildEngine,
  buildFloor,
  buildInstaller,
  buildWindowsClient,
  buildX11Client,
} from '../build.js';

/** How much the compilers give way to suites, as `nice` counts it: suites have deadlines, compilers have none. */
const NICE = 5;

/** Something that is built before suites run. */
export interface Build {
  readonly what: string;
  /** Names that a source uses of `tools/build.js`, or files of which it imports one. */
  readonly users: RegExp;
  /** The folders and files that it is built from, each the beginning of a path. */
  readonly folders: readonly string[];
  /** Returns undefined, or why it can't be built. */
  run(): string | undefined;
}

/** What every client is built from, and what the tests of their core read. */
const CLIENT_FOLDERS = [
  ...['client-win/core/', 'client-win/posix/', 'client-win/CMakeLists.txt', 'server/web/sprites/'],
  ...['server/wire/hidden.vectors.json', 'server/wire/files/spr.vectors.json', 'server/wire/rules.h'],
  ...['behaviour', 'bubbles', 'moves', 'peek', 'relay'].map((noun) => `client-win/${noun}.vectors.json`),
];

export const BUILDS: readonly Build[] = [
  {
    what: 'native front',
    users: /server\/(?:front\/native|metrics\/syscalls|journal\/disk)\.ts$/,
    folders: ['server/native/', 'server/wire/rules.h'],
    run: () => buildAddon(process.execPath),
  },
  {
    what: 'swarm engine',
    users: /\b(?:ENGINE|buildEngine)\b/,
    folders: ['loadtest/engine/', 'server/wire/rules.h'],
    run: buildEngine,
  },
  { what: 'floor of the benches', users: /\bFLOOR\b/, folders: ['server/bench/floor/'], run: buildFloor },
  {
    what: 'desktop client',
    users: /\b(?:CLIENT|HEADLESS|buildClient)\b/,
    folders: [
      ...CLIENT_FOLDERS,
      'client-win/test/CMakeLists.txt',
      'client-win/test/core/',
      'client-win/test/headless/',
      'client-win/test/main.cc',
    ],
    run: buildClient,
  },
  {
    what: 'program for Windows',
    users: /\b(?:WINDOWS_\w+|buildWindowsClient|buildInstaller)\b/,
    folders: [...CLIENT_FOLDERS, 'client-win/win32/', 'client-win/test/win32/', 'client-win/installer/'],
    run: () => buildWindowsClient() ?? buildInstaller(),
  },
  {
    what: 'program for X11',
    users: /\b(?:X11_\w+|buildX11\w+)\b/,
    folders: [...CLIENT_FOLDERS, 'client-win/x11/', 'client-win/test/x11/', 'client-win/test/main.cc'],
    run: buildX11Client,
  },
];

/** What became of a build. */
export interface Built {
  readonly what: string;
  readonly seconds: number;
  /** Why it can't be built. */
  readonly why?: string;
  /** Whether the sources are to blame, so that the run has failed, and not this machine, on which what needs it is skipped. */
  readonly isFault: boolean;
}

/** Builds in a process of its own, one after the other, and tells of each. Resolves when that process has ended. */
export function buildBeside(builds: readonly Build[], tell: (built: Built) => void): Promise<void> {
  const pending = new Set(builds.map(({ what }) => what));
  if (pending.size === 0) return Promise.resolve();
  const child = fork(import.meta.filename, [...pending], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  child.on('message', (built: Built) => {
    pending.delete(built.what);
    tell(built);
  });
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      const why = `the build ended with ${signal ?? `exit ${code}`}`;
      for (const what of pending) tell({ what, seconds: 0, why, isFault: true });
      resolve();
    });
  });
}

/** Whether a reason says that a step of a build failed, rather than that this machine lacks something for it. */
export function isFault(why: string): boolean {
  return / failed \(/.test(why);
}

if (import.meta.main) {
  setPriority(NICE);
  for (const { what, run } of BUILDS.filter(({ what }) => process.argv.includes(what))) {
    const startedMs = performance.now();
    const why = run();
    const seconds = (performance.now() - startedMs) / 1000;
    process.send?.({ what, seconds, why, isFault: why !== undefined && isFault(why) } satisfies Built);
  }
  process.disconnect?.();
}
