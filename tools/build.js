/**
 * What is compiled here: the addon of the native front and the swarm's engine. Each only when its sources have changed.
 *
 * Plain JavaScript, for the launcher needs it under any Node. A build answers why it can't be, and never stops a command.
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
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ensureFiles, ensurePrograms } from './machine.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where the engine's program lies once built. */
export const ENGINE = join(ROOT, 'build', 'swarm', 'swarm-engine');

/** Where the desktop client is built natively: its core's tests, the headless desktop, the bench. */
export const CLIENT = join(ROOT, 'build', 'client');
export const HEADLESS = join(CLIENT, 'headless', 'headless-desktop');

/** Where the program for Windows lies once built. */
const WINDOWS = join(ROOT, 'build', 'client-win32');
export const WINDOWS_CLIENT = join(WINDOWS, 'win32', 'Sprites.exe');

/** What people download: the installer, and the program alone. The relay's site offers what is here. */
export const DIST = join(ROOT, 'client-win', 'dist');
export const WINDOWS_SETUP = join(DIST, 'Sprites-Setup.exe');

/** What the client's core is built with: headers, each with the Debian package it comes in. */
const CLIENT_HEADERS = {
  '/usr/include/nlohmann/json.hpp': 'nlohmann-json3-dev',
  '/usr/include/stb/stb_image.h': 'libstb-dev',
  '/usr/include/doctest/doctest.h': 'doctest-dev',
  '/usr/include/openssl/evp.h': 'libssl-dev',
};
const CLIENT_PACKAGES = [...Object.values(CLIENT_HEADERS), 'libcurl4-openssl-dev'];

/** Where the floor of the benches lies once built. */
export const FLOOR = join(ROOT, 'build', 'floor', 'floor');

/** Builds the addon. Answers undefined, or why there is none. */
export function buildAddon(node) {
  if (process.platform !== 'linux') return 'the native front is for Linux';
  const sources = join(ROOT, 'server', 'native');
  const target = join(sources, 'build', 'Release', 'front.node');
  return built('addon', [sources, join(ROOT, 'package-lock.json')], target, () => {
    if (!ensurePrograms(['g++', 'make', 'python3'], ['g++', 'make', 'python3'])) {
      return 'no compiler: apt-get install g++ make python3';
    }
    // The headers are those of the Node that will load it.
    const headers = join(ROOT, 'node_modules', `node-${process.platform}-${process.arch}`);
    const gyp = join(ROOT, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
    const nodedir = existsSync(join(headers, 'include')) ? [`--nodedir=${headers}`] : [];
    return ran(node, [gyp, 'rebuild', ...nodedir, '-j', '2'], sources, 'node-gyp');
  });
}

/** Builds the swarm's engine. Answers undefined, or why there is none. */
export function buildEngine() {
  return builtByCMake('engine', join(ROOT, 'loadtest', 'engine'), ENGINE);
}

/** Builds the floor that the benches compare with. Answers undefined, or why there is none. */
export function buildFloor() {
  const source = join(ROOT, 'server', 'bench', 'floor', 'floor.c');
  return built('floor', [source], FLOOR, () => {
    if (!ensurePrograms(['cc'], ['gcc', 'libc6-dev'])) return 'no compiler: apt-get install gcc libc6-dev';
    mkdirSync(join(FLOOR, '..'), { recursive: true });
    return ran('cc', ['-O2', '-Wall', '-o', FLOOR, source], ROOT, 'cc');
  });
}

/** Builds the desktop client's core, its tests and the headless desktop. Answers undefined, or why there is none. */
export function buildClient() {
  if (process.platform !== 'linux') return 'the headless desktop is for Linux';
  const libraries = () => ensureFiles(Object.keys(CLIENT_HEADERS), CLIENT_PACKAGES);
  if (!ensurePrograms(['curl-config'], CLIENT_PACKAGES) || !libraries()) {
    return `libraries are missing: apt-get install ${CLIENT_PACKAGES.join(' ')}`;
  }
  return builtByCMake('client', join(ROOT, 'client-win'), HEADLESS, CLIENT);
}

/** Builds the desktop client for Windows. Answers undefined, or why there is none. */
export function buildWindowsClient() {
  if (process.platform !== 'linux') return 'the client is cross-compiled on Linux';
  const headers = Object.fromEntries(Object.entries(CLIENT_HEADERS).filter(([path]) => !path.includes('openssl')));
  if (!ensureFiles(Object.keys(headers), Object.values(headers))) {
    return `headers are missing: apt-get install ${Object.values(headers).join(' ')}`;
  }
  const compiler = 'g++-mingw-w64-x86-64-posix';
  if (!ensurePrograms(['x86_64-w64-mingw32-g++-posix', 'cmake', 'ninja'], [compiler, 'cmake', 'ninja-build'])) {
    return `no compiler for Windows: apt-get install ${compiler} cmake ninja-build`;
  }
  const client = join(ROOT, 'client-win');
  return built('windows-client', [client, join(ROOT, 'server', 'web', 'sprites')], WINDOWS_CLIENT, () => {
    const toolchain = `-DCMAKE_TOOLCHAIN_FILE=${join(client, 'win32', 'toolchain.cmake')}`;
    const configure = ['-S', client, '-B', WINDOWS, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', toolchain];
    return ran('cmake', configure, ROOT, 'cmake') ?? ran('cmake', ['--build', WINDOWS], ROOT, 'cmake --build');
  });
}

/** Builds the installer of a program that is built, and lays both into DIST. Answers undefined, or why there is none. */
export function buildInstaller() {
  if (!ensurePrograms(['makensis'], ['nsis'])) return 'no makensis: apt-get install nsis';
  const client = join(ROOT, 'client-win');
  const script = join(client, 'installer', 'sprites.nsi');
  const about = join(ROOT, 'package.json');
  const program = join(DIST, 'Sprites.exe');
  if (!existsSync(program)) rmSync(WINDOWS_SETUP, { force: true }); // both are laid there, or none
  return built('installer', [WINDOWS_CLIENT, script, about], WINDOWS_SETUP, () => {
    mkdirSync(DIST, { recursive: true });
    const { version } = JSON.parse(readFileSync(about, 'utf8'));
    const icon = join(client, 'win32', 'sprites.ico');
    const unfinished = `${WINDOWS_SETUP}.part`; // a relay may be offering the one before
    const given = { EXE: WINDOWS_CLIENT, ICON: icon, OUT: unfinished, VERSION: version };
    const defines = Object.entries(given).map(([name, value]) => `-D${name}=${value}`);
    const why = ran('makensis', ['-V2', ...defines, script], ROOT, 'makensis');
    if (why !== undefined) return why;
    copyFileSync(WINDOWS_CLIENT, program);
    renameSync(unfinished, WINDOWS_SETUP);
    return undefined;
  });
}

function builtByCMake(name, sources, target, build = join(target, '..')) {
  return built(name, [sources], target, () => {
    if (!ensurePrograms(['g++', 'cmake', 'ninja'], ['g++', 'cmake', 'ninja-build'])) {
      return 'no compiler: apt-get install g++ cmake ninja-build';
    }
    return (
      ran('cmake', ['-S', sources, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'], ROOT, 'cmake') ??
      ran('cmake', ['--build', build], ROOT, 'cmake --build')
    );
  });
}

/** Runs `build` unless the target was built from just these sources. */
function built(name, sources, target, build) {
  const stamps = join(ROOT, 'build');
  const stamp = join(stamps, `${name}.sources`);
  const hash = createHash('sha256').update(process.arch);
  for (const source of sources) hashOf(source, hash);
  const wanted = hash.digest('hex');
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return undefined;
  console.error(`Building the ${name} …`);
  const why = build();
  if (why === undefined) {
    mkdirSync(stamps, { recursive: true });
    writeFileSync(stamp, wanted);
  }
  return why;
}

function hashOf(path, hash) {
  if (!existsSync(path)) return;
  if (!/\.[a-z]+$/.test(path)) {
    const entries = readdirSync(path, { withFileTypes: true }).filter(
      ({ name }) => name !== 'build' && name !== 'dist',
    );
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory() || /\.(cc|c|h|gyp|txt|json|rc|manifest|ico|cmake|spr)$/.test(entry.name))
        hashOf(join(path, entry.name), hash);
    }
    return;
  }
  hash.update(path.slice(ROOT.length)).update(readFileSync(path));
}

/** Runs a step of a build; what it prints is shown only when it fails. */
function ran(program, args, cwd, name) {
  // npm's configuration may name the headers of another Node, and node-gyp takes the environment's word over its flags'.
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_config_/i.test(key)));
  const done = spawnSync(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  if (done.status === 0) return undefined;
  console.error(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  return `${name} failed (${done.error?.message ?? `exit ${done.status}`})`;
}
