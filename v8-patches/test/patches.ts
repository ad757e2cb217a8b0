/**
 * What the suites of this folder share: what the patches contain, and how the scripts are run on V8's source.
 *
 * V8 14.6 comes as a crate from the crate registry. What is fetched stays in build/v8, so only the first run fetches it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const FOLDER = join(import.meta.dirname, '..');
export const CRATE = join(FOLDER, '../build/v8/crate');

/** The longest that fetching, unpacking and patching the crate may take, in ms. */
export const FETCH_MS_MAX = 120_000;

/** Exit code of crate.sh when the registry does not deliver the crate. */
const EXIT_NOT_FETCHED = 3;

export const PATCHES = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.patch$/.test(name));
export const patchText = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

/** The flags that the patches add, as flag-definitions.h spells them. */
export const FLAGS = PATCHES.flatMap((name) =>
  [...patchText(name).matchAll(/^\+DEFINE_\w+\((\w+),/gm)].map(([, flag]) => flag),
);

/** The files that the patches change, relative to V8's root. */
export const CHANGED_FILES = [
  ...new Set(PATCHES.flatMap((name) => [...patchText(name).matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file]) => file))),
];

/** The first of these programs that is not installed. */
export const missingProgram = (...programs: string[]) =>
  programs.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);

export interface Ran {
  status: number | null;
  out: string;
  err: string;
}

/** Runs a script of this folder. After `msMax` it kills the script and its children, and returns undefined. */
export async function sh(script: string, args: string[], msMax = FETCH_MS_MAX): Promise<Ran | undefined> {
  const child = spawn('sh', [join(FOLDER, script), ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let late = false;
  const bound = setTimeout(() => {
    late = true;
    process.kill(-(child.pid as number), 'SIGTERM');
  }, msMax);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(bound);
  return late ? undefined : { status, out, err };
}

/** Fetches and patches the source. Returns why that is not possible here, or undefined when the source is there. */
export async function whyNoSource(): Promise<string | undefined> {
  const missing = missingProgram('cargo', 'patch', 'flock');
  if (missing) return `${missing} is missing, so the patches are not tested against V8`;
  const ran = await sh('crate.sh', ['source']);
  if (!ran) return `the crate registry did not answer within ${FETCH_MS_MAX / 1000} s`;
  return ran.status === EXIT_NOT_FETCHED ? ran.err.trim().split('\n').at(-1) : undefined;
}
