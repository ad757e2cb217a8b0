/**
 * The bundle: a checkout with everything built, which runs on any Linux with this machine's architecture.
 *
 * Nothing is built or installed at boot. Node, the engine and the native front come with their libraries, including the C
 * library, and with the path at which instances unpack them. So it does not matter which libraries the image has. The bundle
 * is packed again only when something in it has changed, and by one process at a time. Cost: about 66 MB, 5 s.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { buildAddon, buildEngine } from '../tools/build.js';
import { withLock } from '../tools/lock.js';
import { ensurePrograms, findProgram, installHint } from '../tools/machine.js';
import { commit } from '../tools/version.js';
import type { Architecture } from './plan.ts';

const ROOT = join(import.meta.dirname, '..');
const STAGE = join(ROOT, 'build/fleet/bundle');
const FILE = join(ROOT, 'build/fleet/bundle.tar.gz');
const STAMP = join(ROOT, 'build/fleet/bundle.sources');
const LOCK = join(ROOT, 'build/fleet/bundle.lock');

/** For gzip. Its default, 6, takes twice as long and saves 3 % of 66 MB. */
const COMPRESSION = 4;

/** Where boot/instance.sh unpacks the bundle. The programs look for their libraries there. */
const HOME = '/opt/sprites/current';

/** Files and folders of the checkout. They have the same paths in the bundle. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'server',
  'tools',
  'loadtest',
  'ec2/boot/network.sh',
  'ec2/slice.ts',
  'ec2/job.ts',
  'ec2/engine_machine.ts',
  'ec2/post.ts',
  'ec2/relay_samples.ts',
  'ec2/samples.ts',
  'build/engine.sources',
  'build/addon.sources',
  'build/swarm/swarm-engine',
  'node_modules/.sprites-lock',
];

/**
 * Not needed on an instance: tests, benches, commands for developers, and the files that compilers leave behind.
 *
 * C++ sources stay, the tests among them: addon.sources is a hash of all of them, and with another hash the launcher would
 * try to build the native front on the instance.
 */
const LEFT_OUT =
  /\.(?:test|contract)\.ts$|^(?:server|loadtest|tools)\/test$|^server\/(?:bench|native\/build)$|^tools\/client\.ts$/;

export const ADDON = 'server/native/build/Release/front.node';
const NODE = `node_modules/node-${process.platform}-${process.arch}`;
const ENGINE = 'build/swarm/swarm-engine';
const NATS = 'nats-server';

export interface Bundle {
  file: string;
  sha256: string;
  sizeBytes: number;
}

export function architecture(): Architecture {
  return process.arch === 'arm64' ? 'arm64' : 'x86_64';
}

/**
 * Makes the bundle, unless it is up to date. It includes this machine's NATS server if there is one; `needsNats` installs it.
 * Throws Error, with a sentence for people, when this machine can't make the bundle.
 */
export async function makeBundle(say: (line: string) => void, needsNats = false): Promise<Bundle> {
  if (process.platform !== 'linux')
    throw new Error('The bundle contains programs for Linux: make it on a Linux machine.');
  const why = buildEngine() ?? (ensurePrograms(['patchelf'], ['patchelf']) ? undefined : installHint(['patchelf']));
  if (why) throw new Error(`The bundle can't be made: ${why}.`);
  if (needsNats && !ensurePrograms(['nats-server'], ['nats-server'])) {
    throw new Error(`The bundle can't be made: ${installHint(['nats-server'])}.`);
  }
  const noFront = buildAddon(process.execPath);
  if (noFront) say(`The bundle has no native front: ${noFront}.`);
  const packOnce = () => {
    if (isPacked()) return;
    say('Packing the bundle …');
    const wanted = fingerprint();
    stage();
    pack();
    writeFileSync(STAMP, wanted);
  };
  const waiting = (pid: number) => say(`Waiting for process ${pid}, which is packing the bundle …`);
  if (!isPacked()) withLock(LOCK, packOnce, waiting);
  const hash = createHash('sha256');
  await pipeline(createReadStream(FILE), hash);
  return { file: FILE, sha256: hash.digest('hex'), sizeBytes: statSync(FILE).size };
}

function isPacked(): boolean {
  return existsSync(FILE) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint();
}

function stage(): void {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(join(STAGE, 'lib'), { recursive: true });
  for (const path of [...SOURCES, `${NODE}/package.json`, `${NODE}/bin/node`, ADDON, ...packages()]) copy(path);
  mkdirSync(join(STAGE, 'bin'));
  symlinkSync(`../${NODE}/bin/node`, join(STAGE, 'bin/node'));
  writeFileSync(join(STAGE, 'tools/commit.txt'), `${commit()}\n`);
  const nats = findProgram(NATS);
  if (nats) copyFileSync(nats, join(STAGE, `bin/${NATS}`));
  const programs = [`${NODE}/bin/node`, ENGINE, ADDON, `bin/${NATS}`].filter((path) => existsSync(join(STAGE, path)));
  for (const path of programs) copyLibraries(path);
}

function copy(path: string): void {
  if (!existsSync(join(ROOT, path))) return;
  cpSync(join(ROOT, path), join(STAGE, path), {
    recursive: true,
    filter: (source) => !LEFT_OUT.test(relative(ROOT, source)),
  });
}

/** Copies the libraries that a program is linked with, and writes their path on the instance into the program. */
function copyLibraries(path: string): void {
  const linked = spawnSync('ldd', [join(STAGE, path)], { encoding: 'utf8' }).stdout;
  if (!linked.includes('=>')) return; // linked statically, as programs in Go may be
  const libraries = [...linked.matchAll(/(\/\S+) \(0x/g)].map(([, library]) => library);
  for (const library of libraries) copyFileSync(realpathSync(library), join(STAGE, 'lib', basename(library)));
  const loader = libraries.map((library) => basename(library)).find((name) => name.startsWith('ld-'));
  const interpreter = path.endsWith('.node') ? [] : ['--set-interpreter', `${HOME}/lib/${loader}`];
  execFileSync('patchelf', [...interpreter, '--force-rpath', '--set-rpath', `${HOME}/lib`, join(STAGE, path)]);
}

/** The same files produce the same bytes, and so the same hash. */
function pack(): void {
  const packed = `${STAGE}.part`;
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', [...same, '-I', `gzip -n -${COMPRESSION}`, '-C', STAGE, '-cf', packed, '.']);
  renameSync(packed, FILE);
  rmSync(STAGE, { recursive: true });
}

/** Paths of the relay's packages and of all that they depend on: npm marks the others. Those for other machines are not here. */
function packages(): string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages as Record<
    string,
    { dev?: boolean; optionalDependencies?: Record<string, string> }
  >;
  const { '': project, ...all } = lock;
  const nodes = Object.keys(project.optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.keys(all).filter((path) => !all[path].dev && !nodes.includes(path));
}

/** A hash over everything in the bundle: the commit, and the names, sizes and times of files. */
function fingerprint(): string {
  const hash = createHash('sha256')
    .update(`${process.arch} ${commit()}`)
    .update(readFileSync(import.meta.filename));
  const visit = (path: string): void => {
    const full = join(ROOT, path);
    if (LEFT_OUT.test(path) || !existsSync(full)) return;
    const stat = statSync(full);
    if (stat.isDirectory()) for (const name of readdirSync(full).sort()) visit(`${path}/${name}`);
    else hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
  };
  for (const path of [...SOURCES, `${NODE}/bin/node`, ADDON]) visit(path);
  const nats = findProgram(NATS);
  if (nats) hash.update(`${nats} ${statSync(nats).size} ${statSync(nats).mtimeMs}\n`);
  return hash.digest('hex');
}
