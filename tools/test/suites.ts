/**
 * The test suites: what each depends on, what must be built for it, and whether a commit has changed any of that.
 *
 * A suite depends on what it imports, and on files and folders that its sources name in a string: a program that it starts, a page, a
 * file of vectors. A program in C++ is built from folders, so a suite that names the build depends on all of these folders.
 * Invariant: a file that a suite names by a path it computes is missing here, so a whole run stays what counts.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { BUILDS, type Build } from './builds.ts';
import { listFiles, readSource } from './sources.ts';

const ROOT = join(import.meta.dirname, '../..');

/** In the header of a suite that fails beside others: why. */
const QUIET = /^ \* Runs alone: \S/m;

/** In the header of a suite that needs no build, whatever it imports: why. */
const NO_BUILD = /^ \* Needs no build: \S/m;

/** In the header of a suite that takes over half a minute: what takes so long. It starts early where it has never run. */
const LONG = /^ \* Takes long: \S/m;

/** Files on which every suite depends. */
const EVERYWHERE = /^(?:package(?:-lock)?\.json|tsconfig\.json|tools\/test\/\w+\.ts)$/;

/** These name every build, every command or many suites: what they name is not what their importers need. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'tools/test/builds.ts': [],
  'tools/test/suites.ts': ['tools/test/builds.ts', 'tools/test/sources.ts'],
  'tools/test/suites.test.ts': ['tools/test/suites.ts'],
  'tools/build.js': ['tools/lock.js', 'tools/machine.js', 'tools/node.js', 'tools/packages.js'],
  'tools/launch.js': [
    'server/bin/relay.ts',
    'tools/build.js',
    'tools/packages.js',
    'tools/presets.js',
    'tools/supervise.js',
  ],
};

/** A string that may be a path: dots at its beginning, words, slashes. */
const PATH = /['"`]((?:\.{1,2}\/)*[\w.-]+(?:\/[\w.-]+)*\/?)['"`]/g;

export class Suites {
  readonly #files: ReadonlySet<string>;
  readonly #folders = new Set<string>();
  readonly #pathsIn = new Map<string, ReadonlySet<string>>();
  readonly #namedBy = new Map<string, readonly string[]>();

  /** `files`: all files of the project. */
  constructor(files: readonly string[] = listFiles()) {
    this.#files = new Set(files);
    for (const file of files) {
      for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) this.#folders.add(folder);
    }
  }

  /** All suites, the long ones too, in order of their paths. */
  list(): string[] {
    return [...this.#files].filter((file) => file.endsWith('.test.ts')).sort();
  }

  /** The files that a suite depends on, itself included. */
  sourcesOf(suite: string): ReadonlySet<string> {
    const found = new Set([suite]);
    for (const file of found) for (const named of this.#named(file)) found.add(named);
    return found;
  }

  /** What must be built for a suite. */
  buildsOf(suite: string): Build[] {
    if (needsNoBuild(readFileSync(join(ROOT, suite), 'utf8'))) return [];
    const sources = [...this.sourcesOf(suite)];
    const codes = sources.filter((file) => /\.ts$/.test(file) && this.#named(file).includes('tools/build.js'));
    const code = codes.map((file) => readSource(file).code).join('\n');
    return BUILDS.filter(({ users }) => users.test(code) || sources.some((file) => users.test(file)));
  }

  /**
   * Whether one of `changed` is something that a suite depends on. What still names a file that is gone depends on it, and so does every
   * suite of its folder. What named it before, and does not now, is changed itself.
   */
  dependsOn(suite: string, changed: readonly string[]): boolean {
    if (changed.some((file) => EVERYWHERE.test(file))) return true;
    const sources = this.sourcesOf(suite);
    if (changed.some((file) => sources.has(file))) return true;
    const gone = changed.filter((file) => !this.#files.has(file));
    if (gone.some((file) => posix.dirname(file) === posix.dirname(suite))) return true;
    if (gone.some((file) => [...sources].some((source) => this.#namesGone(source, file)))) return true;
    const folders = this.buildsOf(suite).flatMap((build) => build.folders);
    return changed.some((file) => folders.some((folder) => file.startsWith(folder)));
  }

  /** The files that a file imports or names. */
  #named(file: string): readonly string[] {
    let named = this.#namedBy.get(file);
    if (named === undefined) {
      const found = new Set<string>();
      for (const path of this.#pathsOf(file)) {
        if (this.#files.has(path)) found.add(path);
        else if (this.#folders.has(path) && isWhole(path, file)) for (const one of this.#inside(path)) found.add(one);
      }
      found.delete(file);
      named = [...found];
      this.#namedBy.set(file, named);
    }
    return named;
  }

  /** Whether a file names one that is gone, or a folder that this one was in. */
  #namesGone(file: string, gone: string): boolean {
    const paths = this.#pathsOf(file);
    if (paths.has(gone)) return true;
    for (let folder = posix.dirname(gone); folder !== '.'; folder = posix.dirname(folder)) {
      if (paths.has(folder) && isWhole(folder, file)) return true;
    }
    return false;
  }

  /** What the strings of a file are as paths, whether or not there is something. */
  #pathsOf(file: string): ReadonlySet<string> {
    let paths = this.#pathsIn.get(file);
    if (paths === undefined) {
      paths = new Set(TABLES[file] ?? (/\.(?:ts|js)$/.test(file) ? readPaths(file) : []));
      this.#pathsIn.set(file, paths);
    }
    return paths;
  }

  *#inside(folder: string): Generator<string> {
    for (const file of this.#files) if (file.startsWith(`${folder}/`) && !file.endsWith('.test.ts')) yield file;
  }
}

function* readPaths(file: string): Generator<string> {
  for (const [, text] of readSource(file).code.matchAll(PATH)) {
    for (const path of [posix.join(posix.dirname(file), text), posix.normalize(text)]) yield path.replace(/\/$/, '');
  }
}

/** Whether a folder that a file names is a thing of its own: not a part of the project, and not around the file. */
function isWhole(folder: string, file: string): boolean {
  return folder.includes('/') && !file.startsWith(`${folder}/`);
}

/** Whether a suite with this code must run alone. */
export function isQuiet(code: string): boolean {
  return QUIET.test(code);
}

/** Whether a suite with this code needs no build, although it imports or names what is built. */
export function needsNoBuild(code: string): boolean {
  return NO_BUILD.test(code);
}

/** Whether a suite with this code says that it takes over half a minute. */
export function takesLong(code: string): boolean {
  return LONG.test(code);
}

/** The files that differ from a commit, and those that git does not know yet. Throws when there is no such commit. */
export function changedSince(commit: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const differing = git('diff', '--name-only', '--no-renames', commit, '--');
  const unknown = git('ls-files', '--others', '--exclude-standard');
  return `${differing}${unknown}`.split('\n').filter((path) => path !== '');
}
