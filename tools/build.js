/**
 * The builds: the addon of the native front, the swarm's engine, the benches' floor, the desktop clients, the installer.
 *
 * Plain JavaScript, because the launcher runs it under any Node. Each is built only when its sources have changed; two processes
 * that want the same build take turns. A build that is impossible returns the reason, and never stops a command.
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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { withLockOrWhy } from './lock.js';
import { aptInstall, ensureFiles, ensurePrograms, installHint } from './machine.js';
import { packagedNode } from './node.js';
import { findInModules } from './packages.js';
import { VERSION, versionWords } from './version.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The rules that all programs in C++ share with the relay. */
const RULES = join(ROOT, 'server', 'wire', 'rules.h');

/** Where the version of the desktop clients comes from. */
const VERSIONS = [join(ROOT, 'package.json'), join(ROOT, 'tools', 'commit.txt')];

/** The path of the engine's program once it is built. */
export const ENGINE = join(ROOT, 'build', 'swarm', 'swarm-engine');

/** Where the desktop client is built natively: its core, once, and what is made of it: tests, headless desktop, benches, X11. */
export const CLIENT = join(ROOT, 'build', 'client');
export const HEADLESS = join(CLIENT, 'test', 'headless-desktop');

/** The path of the program for X11 once it is built, of a window for its tests, and of its unit tests. */
export const X11_CLIENT = join(CLIENT, 'x11', 'sprites');
export const X11_STAND_IN = join(CLIENT, 'x11', 'x11-stand-in');
export const WAYLAND_FILES = join(CLIENT, 'x11', 'wayland-files');
export const X11_TESTS = join(CLIENT, 'x11', 'x11-tests');

/** What CMake builds of the client for each stamp; core and shell are built with the first that needs them. */
const CLIENT_TARGETS = {
  client: ['core-tests', 'posix-tests', 'headless-desktop', 'ticks-bench', 'pacing-bench'],
  desktop: ['sprites', 'x11-stand-in', 'wayland-files'],
  'desktop-tests': ['x11-tests'],
};

/** The path of the program for Windows once it is built. */
const WINDOWS = join(ROOT, 'build', 'client-win32');
export const WINDOWS_CLIENT = join(WINDOWS, 'win32', 'Sprites.exe');
const WITH_SYMBOLS = join(WINDOWS, 'win32', 'Sprites.whole.exe');

/** What people download: the installer, and the program alone. The relay's site offers what lies here. */
export const DIST = join(ROOT, 'client-win', 'dist');
export const WINDOWS_SETUP = join(DIST, 'Sprites-Setup.exe');
export const WINDOWS_LATEST = join(DIST, 'latest.json');
export const WINGET = join(DIST, 'winget');
/** The whole program of each build that was packed, by the time in its header, which a minidump has too. */
export const SYMBOLS = join(DIST, 'symbols');
export const LINUX_PACKAGE = join(DIST, 'sprites_amd64.deb');
export const LINUX_ARCHIVE = join(DIST, 'sprites-linux-x86_64.tar.xz');
export const LINUX_LATEST = join(DIST, 'linux.json');

/** The headers that the client's core needs, each with its Debian package. */
const CLIENT_HEADERS = {
  '/usr/include/nlohmann/json.hpp': 'nlohmann-json3-dev',
  '/usr/include/stb/stb_image.h': 'libstb-dev',
  '/usr/include/doctest/doctest.h': 'doctest-dev',
  '/usr/include/openssl/evp.h': 'libssl-dev',
  '/usr/include/turbojpeg.h': 'libturbojpeg0-dev',
};
const CLIENT_PACKAGES = [...Object.values(CLIENT_HEADERS), 'libcurl4-openssl-dev'];

/** The libraries that the program for X11 needs, as pkg-config calls them, each with its Debian package. */
const X11_LIBRARIES = {
  xcb: 'libxcb1-dev',
  'xcb-randr': 'libxcb-randr0-dev',
  'xcb-shape': 'libxcb-shape0-dev',
  'xcb-xfixes': 'libxcb-xfixes0-dev',
  'gtk+-x11-3.0': 'libgtk-3-dev',
  'gtk+-wayland-3.0': 'libgtk-3-dev',
  'gtk-layer-shell-0': 'libgtk-layer-shell-dev',
  'wayland-client': 'libwayland-dev',
  'gio-2.0 >= 2.70': 'libglib2.0-dev',
};

/** The path of the benches' floor once it is built. */
export const FLOOR = join(ROOT, 'build', 'floor', 'floor');

/** The flags of the addon. Node-API is the same in every Node, so the packaged headers serve whichever Node loads it. */
const ADDON_FLAGS = [
  ...[
    '-std=c++20',
    '-O3',
    '-fno-omit-frame-pointer', // for perf, which reads Node's stacks by them, too
    '-Wall',
    '-Wextra',
    '-Wno-missing-field-initializers',
    '-fvisibility=hidden',
    '-fPIC',
    '-pthread',
  ],
  ...['-DNAPI_VERSION=9', '-DNODE_ADDON_API_DISABLE_CPP_EXCEPTIONS', '-DNODE_ADDON_API_DISABLE_DEPRECATED'],
];

/** Builds the addon of all sources in server/native but tests and fuzzers. Returns undefined, or why it can't be built. */
export function buildAddon(node) {
  if (process.platform !== 'linux') return 'the native front is for Linux';
  const folder = join(ROOT, 'server', 'native');
  const target = join(folder, 'build', 'Release', 'front.node');
  return built('addon', [folder, RULES, join(ROOT, 'package-lock.json')], target, () => {
    if (!ensurePrograms(['g++'], ['g++'])) return `a compiler is missing: ${installHint(['g++'])}`;
    const headers = [findInModules(ROOT, 'node-addon-api/napi.h'), nodeHeader(node)];
    if (headers.includes(undefined)) return `the headers of Node are missing: ${node} has none beside it`;
    const includes = ['-I.', '-I..', ...headers.flatMap((path) => ['-isystem', join(path, '..')])];
    const files = readdirSync(folder, { recursive: true });
    const sources = files.filter((path) => path.endsWith('.cc') && !/_(?:test|fuzz)\.cc$/.test(path));
    const objects = join(folder, 'build', 'objects');
    rmSync(objects, { recursive: true, force: true });
    for (const path of [objects, join(target, '..')]) mkdirSync(path, { recursive: true });
    const one = 'for source; do :; done; exec g++ "$@" $CXXFLAGS -c -o "$OBJECTS/$(echo "$source" | tr / _).o"';
    const each = ['-0', '-n1', '-P2', 'sh', '-c', one, 'g++', ...ADDON_FLAGS, ...includes]; // any machine has two cores
    const unfinished = `${target}.part`; // a relay may have the previous one in use
    const link = () =>
      readdirSync(objects)
        .sort()
        .map((name) => join(objects, name));
    const why =
      ran('xargs', each, folder, 'g++', { OBJECTS: objects }, sources.join('\0')) ??
      ran('g++', ['-shared', '-pthread', '-o', unfinished, ...link()], folder, 'g++');
    if (why === undefined) renameSync(unfinished, target);
    return why;
  });
}

/** The path of node_api.h beside the packaged Node, or beside another one; undefined if neither has it. */
function nodeHeader(node) {
  return [packagedNode(ROOT), node]
    .filter((program) => program !== undefined)
    .map((program) => join(program, '..', '..', 'include', 'node', 'node_api.h'))
    .find((path) => existsSync(path));
}

/** Builds the swarm's engine. Returns undefined, or why it can't be built. */
export function buildEngine() {
  const packages = ['libssl-dev', 'nlohmann-json3-dev'];
  if (!ensureFiles(['/usr/include/openssl/ssl.h', '/usr/include/nlohmann/json.hpp'], packages)) {
    return `a library is missing: ${installHint(packages)}`;
  }
  const sources = join(ROOT, 'loadtest', 'engine');
  return built(
    'engine',
    [sources, RULES, ...VERSIONS],
    ENGINE,
    () => whyNoCompiler() ?? ranCMake(sources, join(ENGINE, '..')),
  );
}

/** Builds the floor that the benches compare with. Returns undefined, or why it can't be built. */
export function buildFloor() {
  const source = join(ROOT, 'server', 'bench', 'floor', 'floor.c');
  return built('floor', [source], FLOOR, () => {
    if (!ensurePrograms(['cc'], ['gcc', 'libc6-dev']))
      return `a compiler is missing: ${installHint(['gcc', 'libc6-dev'])}`;
    mkdirSync(join(FLOOR, '..'), { recursive: true });
    return ran('cc', ['-O2', '-Wall', '-o', FLOOR, source], ROOT, 'cc');
  });
}

/** Builds the desktop client's core, its tests and the headless desktop. Returns undefined, or why it can't be built. */
export function buildClient() {
  if (process.platform !== 'linux') return 'the headless desktop is for Linux';
  const libraries = () => ensureFiles(Object.keys(CLIENT_HEADERS), CLIENT_PACKAGES);
  if (!ensurePrograms(['curl-config'], CLIENT_PACKAGES) || !libraries()) {
    return `libraries are missing: ${installHint(CLIENT_PACKAGES)}`;
  }
  return builtClient('client', HEADLESS);
}

/** Builds the desktop client for X11. Returns undefined, or why it can't be built. */
export function buildX11Client() {
  if (process.platform !== 'linux') return 'the client for X11 is built on Linux';
  const { '/usr/include/doctest/doctest.h': _, ...headers } = CLIENT_HEADERS;
  const own = [...Object.values(headers), 'libcurl4-openssl-dev'];
  // With ALSA's library the program has sounds; it works without them.
  const packages = ['pkgconf', ...own, ...Object.values(X11_LIBRARIES), 'libasound2-dev'];
  const hasAll = () =>
    ensurePrograms(['curl-config', 'pkg-config'], packages) &&
    ensureFiles(Object.keys(headers), packages) &&
    hasLibraries(Object.keys(X11_LIBRARIES));
  if (!hasAll() && !(aptInstall(packages) && hasAll())) return `libraries are missing: ${installHint(packages)}`;
  return builtClient('desktop', X11_CLIENT);
}

/** Builds the unit tests of the program for X11, after the program itself. Returns undefined, or why they can't be built. */
export function buildX11Tests() {
  const why = buildX11Client();
  if (why !== undefined) return why;
  if (!ensureFiles(Object.keys(CLIENT_HEADERS), CLIENT_PACKAGES)) {
    return `libraries are missing: ${installHint(CLIENT_PACKAGES)}`;
  }
  return builtClient('desktop-tests', X11_TESTS);
}

/** Builds a part of the client in CLIENT, with X11 where its libraries are. One part at a time, because all share the folder. */
function builtClient(part, target) {
  const client = join(ROOT, 'client-win');
  const x11 = hasLibraries(Object.keys(X11_LIBRARIES)) ? 'ON' : 'OFF';
  const sources = [client, RULES, ...VERSIONS, join(ROOT, 'server', 'web', 'sprites')];
  const build = () => whyNoCompiler() ?? ranCMake(client, CLIENT, [`-DX11=${x11}`], CLIENT_TARGETS[part]);
  return built(part, sources, target, build, 'client');
}

/** Whether pkg-config knows all of these libraries. */
function hasLibraries(names) {
  return spawnSync('pkg-config', ['--exists', ...names]).status === 0;
}

/** Builds the desktop client for Windows. Returns undefined, or why it can't be built. */
export function buildWindowsClient() {
  if (process.platform !== 'linux') return 'the client is cross-compiled on Linux';
  const headers = Object.fromEntries(
    Object.entries(CLIENT_HEADERS).filter(([path]) => !/openssl|turbojpeg/.test(path)),
  );
  if (!ensureFiles(Object.keys(headers), Object.values(headers))) {
    return `headers are missing: ${installHint(Object.values(headers))}`;
  }
  const packages = ['g++-mingw-w64-x86-64-posix', 'cmake', 'ninja-build'];
  if (!ensurePrograms(['x86_64-w64-mingw32-g++-posix', 'cmake', 'ninja'], packages)) {
    return `a compiler for Windows is missing: ${installHint(packages)}`;
  }
  const client = join(ROOT, 'client-win');
  const sources = [client, RULES, ...VERSIONS, join(ROOT, 'server', 'web', 'sprites')];
  return built('windows-client', sources, WINDOWS_CLIENT, () => {
    const toolchain = `-DCMAKE_TOOLCHAIN_FILE=${join(client, 'win32', 'toolchain.cmake')}`;
    return ranCMake(client, WINDOWS, [toolchain]);
  });
}

/**
 * Builds the installer of a program that is built, and puts both into DIST, with a signature if there is a `signer`, a script
 * (signing.js). Returns undefined, or why it can't be built.
 */
export function buildInstaller(signer) {
  if (!ensurePrograms(['makensis'], ['nsis'])) return `makensis is missing: ${installHint(['nsis'])}`;
  const client = join(ROOT, 'client-win');
  const sources = join(client, 'installer');
  const program = join(DIST, 'Sprites.exe');
  // DIST holds both or neither; what is there may not be signed.
  if (signer !== undefined || !existsSync(program)) rmSync(WINDOWS_SETUP, { force: true });
  const signed = (path) => (signer === undefined ? undefined : ran('sh', [signer, path], ROOT, 'osslsigncode'));
  return built('installer', [WINDOWS_CLIENT, sources, ...VERSIONS], WINDOWS_SETUP, () => {
    mkdirSync(DIST, { recursive: true });
    const icon = join(client, 'win32', 'sprites.ico');
    const packed = `${program}.part`; // a relay may be serving the previous ones
    const unfinished = `${WINDOWS_SETUP}.part`;
    copyFileSync(WINDOWS_CLIENT, packed);
    const given = { EXE: packed, ICON: icon, OUT: unfinished, VERSION, WORDS: versionWords() };
    const defines = Object.entries({ ...given, ...(signer && { SIGNER: signer }) }).map(
      (define) => `-D${define.join('=')}`,
    );
    const epoch = Number(process.env.SOURCE_DATE_EPOCH);
    if (epoch > 0) utimesSync(packed, epoch, epoch); // NSIS keeps the times of the files that it packs
    const compile = () => ran('makensis', ['-V2', ...defines, join(sources, 'sprites.nsi')], ROOT, 'makensis');
    const why = signed(packed) ?? compile() ?? signed(unfinished);
    if (why !== undefined) return why;
    keepSymbols(packed);
    renameSync(packed, program);
    describeInstaller(unfinished);
    renameSync(unfinished, WINDOWS_SETUP);
    return undefined;
  });
}

/** Keeps the whole program that `packed` was made of. */
function keepSymbols(packed) {
  mkdirSync(SYMBOLS, { recursive: true });
  writeFileSync(join(SYMBOLS, symbolsOf(linkTime(readFileSync(packed)))), gzipSync(readFileSync(WITH_SYMBOLS)));
}

/**
 * Where a forge has the installer of a release, by the `repository` of package.json; undefined without one.
 *
 * @param {{ version: string, repository?: any }} manifest
 */
export function installerAddress({ repository, version }) {
  const address = (repository?.url ?? repository)?.replace(/^git\+|\.git$/g, '');
  return address && `${address}/releases/download/v${version}/${basename(WINDOWS_SETUP)}`;
}

/** Writes version, hash and address of the installer into winget's manifests, and its version, hash and size into `latest.json`, which a relay offers. */
export function describeInstaller(installer = WINDOWS_SETUP) {
  const { sha256, size } = aboutFile(installer);
  writeFileSync(WINDOWS_LATEST, `${JSON.stringify({ version: VERSION, sha256, size })}\n`);
  const templates = join(ROOT, 'client-win', 'installer', 'winget');
  const address = installerAddress(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  mkdirSync(WINGET, { recursive: true });
  for (const name of readdirSync(templates)) {
    const manifest = readFileSync(join(templates, name), 'utf8');
    const filled = manifest
      .replace(/^(PackageVersion:).*$/m, `$1 ${VERSION}`)
      .replace(/^( *InstallerSha256:).*$/m, `$1 ${sha256.toUpperCase()}`)
      .replace(/^( *InstallerUrl:) (.*)$/m, (_, key, placeholder) => `${key} ${address ?? placeholder}`);
    writeFileSync(join(WINGET, name), filled);
  }
}

/**
 * Builds the program for X11, and puts a package for Debian and an archive for other systems into DIST. All times in them are that of the commit.
 * Returns undefined, or why they can't be built.
 */
export function buildLinuxPackages() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'they are built on Linux on x86-64';
  const why = buildX11Client();
  if (why !== undefined) return why;
  const programs = ['cpack', 'dpkg-shlibdeps', 'git', 'gzip', 'tar', 'xz'];
  const packages = ['cmake', 'dpkg-dev', 'git', 'gzip', 'tar', 'xz-utils'];
  if (!ensurePrograms(programs, packages)) return `programs are missing: ${installHint(packages)}`;
  const wait = (pid) => console.error(`Waiting for process ${pid}, which is building the client …`);
  return withLockOrWhy(join(ROOT, 'build', 'client.lock'), packLinux, wait);
}

function packLinux() {
  const stage = join(ROOT, 'build', 'linux-packages');
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  mkdirSync(stage, { recursive: true });
  const epoch = process.env.SOURCE_DATE_EPOCH ?? commitSeconds();
  const folder = basename(LINUX_ARCHIVE, '.tar.xz');
  const inDeb = ['--config', join(CLIENT, 'CPackConfig.cmake'), '-G', 'DEB', '-B', stage];
  const asFiles = ['--install', CLIENT, '--component', 'linux', '--strip', '--prefix', join(stage, folder)];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const inTar = ['--sort=name', `--mtime=@${epoch}`, ...owner, '-cJf', join(stage, basename(LINUX_ARCHIVE)), folder];
  const variables = { SOURCE_DATE_EPOCH: epoch, XZ_OPT: '-9' };
  const failed =
    ran('cmake', ['-S', join(ROOT, 'client-win'), '-B', CLIENT], ROOT, 'cmake') ??
    ran('cpack', inDeb, ROOT, 'cpack', variables) ??
    ran('cmake', asFiles, ROOT, 'cmake --install') ??
    ran('tar', inTar, stage, 'tar', variables);
  if (failed !== undefined) return failed;
  // Each in one step, because a relay may be serving the previous one.
  for (const path of [LINUX_PACKAGE, LINUX_ARCHIVE]) renameSync(join(stage, basename(path)), path);
  const files = [LINUX_PACKAGE, LINUX_ARCHIVE].map((path) => [basename(path), aboutFile(path)]);
  writeFileSync(LINUX_LATEST, `${JSON.stringify({ version: VERSION, files: Object.fromEntries(files) })}\n`);
  return undefined;
}

/** The time of the commit that is checked out, in s since 1970; 0 outside of a repository. */
function commitSeconds() {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '0';
}

function aboutFile(path) {
  const bytes = readFileSync(path);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

/** The time in the header of a Windows program: stripping sets it, signing keeps it. */
export function linkTime(program) {
  return program.readUInt32LE(program.readUInt32LE(0x3c) + 8);
}

/** The name of the whole program in SYMBOLS. */
export const symbolsOf = (time) => `Sprites-${time.toString(16)}.exe.gz`;

function whyNoCompiler() {
  const packages = ['g++', 'cmake', 'ninja-build'];
  if (ensurePrograms(['g++', 'cmake', 'ninja'], packages)) return undefined;
  return `a compiler is missing: ${installHint(packages)}`;
}

/** Configures and builds with CMake: these targets, or all. */
function ranCMake(sources, folder, options = [], targets = []) {
  const configure = ['-S', sources, '-B', folder, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', ...options];
  const wanted = targets.length > 0 ? ['--target', ...targets] : [];
  return ran('cmake', configure, ROOT, 'cmake') ?? shown('cmake', ['--build', folder, ...wanted], 'cmake --build');
}

/** Runs a step of a build that takes long. A terminal shows how far it is: Ninja counts its steps on one line. */
function shown(program, args, name) {
  if (!process.stderr.isTTY) return ran(program, args, ROOT, name);
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  return status === 0 ? undefined : `${name} failed (${error?.message ?? `exit ${status}`}); its output is above`;
}

/** Runs `build` unless the target was built from exactly these sources. Builds with the same lock take turns. */
export function built(name, sources, target, build, lock = name) {
  const stamp = join(ROOT, 'build', `${name}.sources`);
  const hash = createHash('sha256').update(process.arch);
  for (const source of sources) hashOf(source, hash);
  const wanted = hash.digest('hex');
  const isBuilt = () => existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isBuilt()) return undefined;
  return withLockOrWhy(
    join(ROOT, 'build', `${lock}.lock`),
    () => {
      if (isBuilt()) return undefined;
      console.error(`Building the ${name} …`);
      const why = build();
      if (why === undefined) writeFileSync(stamp, wanted);
      return why;
    },
    (pid) => console.error(`Waiting for process ${pid}, which is building the ${lock} …`),
  );
}

/** The files of a folder from which something is built. */
const SOURCES = /\.(bmp|cc|c|h|gyp|txt|json|rc|manifest|ico|cmake|nsi|spr|yaml|desktop|png)$/;

function hashOf(path, hash) {
  if (!existsSync(path)) return;
  if (!/\.[a-z]+$/.test(path)) {
    const without = ['build', 'dist', 'screenshots'];
    const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !without.includes(name));
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory() || SOURCES.test(entry.name)) hashOf(join(path, entry.name), hash);
    }
    return;
  }
  hash.update(path.slice(ROOT.length)).update(readFileSync(path));
}

/** Runs a step of a build. Its output is shown only if it fails; isFault() of test/builds.ts knows the reason by its words. */
export function ran(program, args, cwd, name, variables = {}, input = '') {
  const env = { ...process.env, ...variables };
  const done = spawnSync(program, args, { cwd, env, input, encoding: 'utf8' });
  if (done.status === 0) return undefined;
  console.error(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  return `${name} failed (${done.error?.message ?? `exit ${done.status}`})`;
}
