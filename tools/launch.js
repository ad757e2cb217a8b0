/**
 * The launcher: makes this machine ready, then runs one of the project's commands under the project's own Node.
 *
 * Plain JavaScript for whatever Node is there (18 or newer): `npm start` and `npm test` begin here on a fresh clone. It
 * installs the npm packages when the lockfile changed, and looks for what is built; the second time it does nothing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildAddon } from './build.js';
import { aptInstall } from './machine.js';
import { flagsIn, presetFor, whyNot } from './presets.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NODE_MAJOR = 26;

/** Each command: what runs, and with which flags of Node. Arguments of the command line follow. */
const COMMANDS = {
  relay: () => {
    const program = node();
    const native = wantsNative();
    const why = native ? buildAddon(program) : undefined;
    if (why) console.error(`No native front: ${why}. The relay runs with the portable one.`);
    run(program, [...relayFlags(native && !why ? 'native' : 'portable'), 'server/bin/relay.ts']);
  },
  test: () => run(node(), ['tools/test.ts']),
  admin: () => run(node(), ['server/bin/admin.ts']),
  bench: () => run(node(), ['server/bin/bench.ts']),
  'bench:heap': () => run(node(), ['v8-patches/bench/heap.ts']),
  'bench:http': () => run(node(), ['--disable-warning=ExperimentalWarning', 'loadtest/bin/http.ts']),
  swarm: () => run(node(), ['--disable-warning=ExperimentalWarning', 'loadtest/bin/swarm.ts']),
  fleet: () => run(node(), ['--disable-warning=ExperimentalWarning', 'ec2/bin/fleet.ts']),
  spr: () => run(node(), ['server/bin/spr.ts']),
  client: () => run(node(), ['tools/client.ts']),
  lint: () => run(node(), ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']),
  types: () => run(node(), ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']),
};

const [command, ...rest] = process.argv.slice(2);
if (!(command in COMMANDS)) {
  console.error(`Usage: node tools/launch.js ${Object.keys(COMMANDS).join('|')} [arguments]`);
  process.exit(2);
}
process.chdir(['relay', 'admin', 'spr', 'swarm', 'fleet'].includes(command) ? process.cwd() : ROOT);
packages();
COMMANDS[command]();

/** Installs the npm packages, if those of this lockfile are not there yet. */
function packages() {
  const stamp = join(ROOT, 'node_modules', '.sprites-lock');
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error('Installing packages (npm ci) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const done = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) fail(`npm ci failed (${done.error?.message ?? `exit ${done.status}`}); its output is above.`);
  writeFileSync(stamp, wanted);
}

/** The path of a Node of the right age: the one that came as an npm package, or the one this runs on. */
function node() {
  const packaged = join(ROOT, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(packaged)) {
    if (works(packaged)) return packaged;
    // The usual reason on a minimal Debian.
    aptInstall(['libatomic1']);
    if (works(packaged)) return packaged;
    fail(`${packaged} does not run here; install libatomic1 (apt-get install libatomic1) and try again.`);
  }
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return process.execPath;
  return fail(
    `Node ${NODE_MAJOR} is needed, and there is no npm package of it for ${process.platform}-${process.arch}.`,
  );
}

function works(path) {
  return spawnSync(path, ['--version']).status === 0;
}

/** Whether this relay may run with the native front: unless it is told not to, or only asked for help. */
function wantsNative() {
  if (rest.includes('--help') || rest.includes('--front=portable')) return false;
  const flag = rest.indexOf('--front');
  return (flag < 0 ? process.env.SPRITES_FRONT : rest[flag + 1]) !== 'portable';
}

/**
 * V8's flags for the relay: the preset for this machine and front, then SPRITES_NODE_FLAGS, which win.
 * server/README.md gives each its reason. Ends here when V8 would not run with them.
 */
function relayFlags(front) {
  const own = flagsIn(process.env.SPRITES_NODE_FLAGS);
  const inherited = flagsIn(process.env.NODE_OPTIONS);
  const why = whyNot([...inherited, ...own]);
  if (why) {
    console.error(`The flags of SPRITES_NODE_FLAGS and NODE_OPTIONS can't be: ${why}.`);
    process.exit(2);
  }
  const preset = presetFor(memoryMiB(), front, [...inherited, ...own]);
  // The relay says it once it runs, beside where to find it.
  process.env.SPRITES_PRESET = `${preset.name}: ${preset.why}`;
  return [...preset.flags, ...own];
}

/** Memory of this machine, or of the container it is. */
function memoryMiB() {
  const limit = process.constrainedMemory?.() ?? 0;
  return (limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / 2 ** 20;
}

/** Becomes the command, where this Node can; else runs it, passes signals on, and ends as it ends. */
function run(program, leading) {
  const isOurs = (part) => !part.startsWith('-') && (part.endsWith('.ts') || part.startsWith('node_modules/'));
  const resolved = leading.map((part) => (isOurs(part) ? join(ROOT, part) : part));
  const args = [...resolved, ...rest];
  if (typeof process.execve === 'function') process.execve(program, [program, ...args], process.env);
  const child = spawn(program, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
  child.on('error', (error) => fail(`${program}: ${error.message}`));
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
