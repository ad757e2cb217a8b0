/**
 * The npm packages: installed when those of the lockfile are not there yet, and only those that the command needs.
 *
 * Plain JavaScript, because the launcher runs it under any Node, without a package. Invariant: node_modules is either what it
 * was or complete. `npm ci` works in a folder beside it, which replaces it by a rename once it is whole; a machine without a
 * network keeps what it has. Several starts at once: one installs, the others wait.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { withLockOrWhy } from './lock.js';

/** What is installed: what a relay and its tools run with, or also what tests, the fleet and development need. */
const RUNTIME = 'runtime';
const ALL = 'all';

/**
 * Makes sure that node_modules has what is needed. Returns undefined, or why it has not.
 *
 * Shape   group: `runtime` or `all`.
 */
export function ensurePackages(root, group) {
  if (isInstalled(root) || isComplete(root, group)) return undefined;
  return withLockOrWhy(
    join(root, 'build', 'packages.lock'),
    () => {
      if (isComplete(root, group)) return undefined;
      if (matchesLockfile(root, group)) {
        writeStamp(join(root, 'node_modules'), root, group);
        return undefined;
      }
      return install(root, group);
    },
    (pid) => console.error(`Waiting for process ${pid}, which is installing the packages …`),
  );
}

/** Whether what is needed is there. Changes nothing. */
export function hasPackages(root, group) {
  return isInstalled(root) || isComplete(root, group) || matchesLockfile(root, group);
}

/** Whether the project is itself a package that npm has installed, with what it depends on, as `npx` does; its name may have a scope. */
export function isInstalled(root) {
  const around = dirname(join(root, '.'));
  return basename(basename(around).startsWith('@') ? dirname(around) : around) === 'node_modules';
}

/** The path of a file in an installed package, like `ws/package.json`, as Node would find it from here; undefined if absent. */
export function findInModules(root, path) {
  for (let folder = join(root, '.'); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', path);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

const stampIn = (modules) => join(modules, '.sprites-lock');

function lockfileHash(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** Whether the stamp says that this lockfile's packages are there. Reads one line. */
function isComplete(root, group) {
  const stamp = stampIn(join(root, 'node_modules'));
  if (!existsSync(stamp)) return false;
  const [hash, installed] = readFileSync(stamp, 'utf8').trim().split(' ');
  return hash === lockfileHash(root) && (installed === ALL || installed === group);
}

function writeStamp(modules, root, group) {
  const unfinished = `${stampIn(modules)}.${process.pid}`;
  writeFileSync(unfinished, `${lockfileHash(root)} ${group}\n`);
  renameSync(unfinished, stampIn(modules));
}

/** Whether npm itself has installed what the lockfile names, say by an `npm ci` that somebody ran by hand. */
function matchesLockfile(root, group) {
  const list = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(list)) return false;
  const installed = JSON.parse(readFileSync(list, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(([path, wanted]) => {
    if (path === '' || (group === RUNTIME && (wanted.dev || wanted.devOptional)) || !fitsMachine(wanted)) return true;
    return installed[path]?.version === wanted.version && installed[path]?.integrity === wanted.integrity;
  });
}

/** Whether npm installs an optional package here: it may name the systems and processors it is for. */
function fitsMachine({ os = [process.platform], cpu = [process.arch], libc }) {
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch) && libc === undefined;
}

function install(root, group) {
  console.error(`Installing packages (npm ci${group === RUNTIME ? ' --omit=dev' : ''}) …`);
  const build = join(root, 'build');
  // Only one installs at a time, so what is there was left by one that was interrupted.
  for (const name of readdirSync(build).filter((one) => /^packages-\d+$/.test(one))) {
    rmSync(join(build, name), { recursive: true, force: true });
  }
  const stage = join(build, `packages-${process.pid}`);
  mkdirSync(stage);
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(root, file), join(stage, file));
    const why = npm(stage, ['ci', ...(group === RUNTIME ? ['--omit=dev'] : [])]);
    if (why) return why;
    writeStamp(join(stage, 'node_modules'), root, group);
    const modules = join(root, 'node_modules');
    if (existsSync(modules)) renameSync(modules, join(stage, 'replaced'));
    renameSync(join(stage, 'node_modules'), modules);
    return undefined;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Runs npm: the one that started this process, or the one in PATH. Returns undefined, or why it failed. */
function npm(cwd, args) {
  const own = process.env.npm_execpath;
  const isScript = own !== undefined && /\.c?js$/.test(own) && existsSync(own);
  const [program, ...leading] = isScript ? [process.execPath, own] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const done = spawnSync(program, [...leading, ...args, ...flags], {
    cwd,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && !isScript,
  });
  if (done.status === 0) return undefined;
  if (done.error?.code === 'ENOENT') return 'there is no npm in PATH; it comes with Node.js';
  return `npm ci failed (${done.error?.message ?? `exit ${done.status}`}); its output is above`;
}
