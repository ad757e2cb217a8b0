#!/usr/bin/env node
/**
 * The launcher: makes this machine ready, then runs one of the project's commands under the project's own Node.
 *
 * Plain JavaScript for any Node from 18 on: `npm start` and `npm test` begin here on a fresh clone. It installs the npm packages
 * if the lockfile changed, and builds what is missing; the second time it does nothing. It is also the `sprites` command of the
 * package that `npm pack` makes: there npm has installed what it needs, and the relay is what runs when no command is named.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildAddon, buildX11Client, X11_CLIENT } from './build.js';
import { didYouMean } from './nearest.js';
import { findNode } from './node.js';
import { ensurePackages, hasPackages, isInstalled } from './packages.js';
import { flagsIn, presetFor, whyNot } from './presets.js';
import { supervise } from './supervise.js';
import { unknownVariables } from './variables.js';
import { versionWords } from './version.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

const BIOME = 'node_modules/@biomejs/biome/bin/biome';
const TSC = 'node_modules/typescript/bin/tsc';
const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * Each command: what it does; its program with Node's flags; the words it begins with; the packages it needs (`runtime` unless it says `all`); whether paths
 * among its arguments are relative to where the user stands (`here`) or to the project; and whether it has no options to list (`plain`).
 */
const COMMANDS = {
  relay: { about: 'starts the relay (npm start)', run: relay, here: true },
  admin: { about: 'asks a running relay, moderates it, stops it', run: ['server/bin/admin.ts'], here: true },
  bench: { about: 'measures what the relay costs', run: ['server/bench/bench.ts'] },
  'bench:heap': { about: "measures what V8's flags do to pauses", run: ['v8-patches/bench/heap.ts'] },
  'bench:pacing': { about: 'measures the ticks of the desktop client', run: ['client-win/bench/pacing.ts'] },
  client: { about: 'builds the program for Windows and its installer', run: ['tools/client.ts'] },
  desktop: { about: 'builds and starts the program for this Linux desktop', run: desktop, here: true },
  fleet: {
    about: 'runs the swarm, or relays, on EC2',
    run: [QUIET, 'ec2/bin/fleet.ts'],
    packages: 'all',
    here: true,
  },
  release: { about: 'builds what people download, and tags it', run: ['tools/release/release.ts'], packages: 'all' },
  setup: { about: 'installs and builds what a relay needs, and starts nothing', run: setup, plain: true },
  libraries: {
    about: 'packs the libraries for other programs',
    run: ['server/libraries/pack.ts'],
    packages: 'all',
    here: true,
  },
  lint: {
    about: 'checks form and style of the sources',
    run: [BIOME, 'check', '--error-on-warnings', '.'],
    packages: 'all',
    plain: true,
  },
  spr: { about: 'makes, shows and checks sprite files', run: ['server/bin/spr.ts'], here: true },
  swarm: { about: 'tests a relay under load', run: [QUIET, 'loadtest/bin/swarm.ts'], here: true },
  test: { about: 'runs lint, types and the suites', run: ['tools/test/test.ts'], packages: 'all' },
  'test:long': {
    about: 'runs the suites that take minutes',
    run: ['tools/test/test.ts'],
    begins: ['--long'],
    packages: 'all',
  },
  'test:repeat': {
    about: 'runs the suites many times',
    run: ['tools/test/test.ts'],
    begins: ['--repeat'],
    packages: 'all',
  },
  types: { about: 'checks the types', run: [TSC, '--noEmit', '-p', '.'], packages: 'all', plain: true },
};

/** What the package has of them: it brings no tests, no swarm and no fleet. */
const PACKAGED_COMMANDS = ['relay', 'admin', 'spr', 'setup'];

const packaged = isInstalled(ROOT);
const known = packaged ? PACKAGED_COMMANDS : Object.keys(COMMANDS);
const words = process.argv.slice(2);
const [name, ...rest] = packaged && !(words[0] && /^[^-]/.test(words[0])) ? ['relay', ...words] : words;
const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
const asksHelp = own.includes('--help') || own.includes('-h');
if (name === '--version' || own.includes('--version')) end(`Sprites ${versionWords()}`);
if (name === undefined || name === '--help' || name === '-h') end(listOfCommands());
const command = COMMANDS[name];
if (!known.includes(name)) {
  console.error(`There is no command ${JSON.stringify(name)}.${didYouMean(name, known)} --help lists them.`);
  process.exit(EXIT_MISUSED);
}
for (const sentence of unknownVariables(process.env)) console.error(sentence);
if (!command.here) process.chdir(ROOT);
if (asksHelp) helpWithoutInstalling();
const why = asksHelp ? undefined : ensurePackages(ROOT, command.packages ?? 'runtime');
if (why) fail(`The packages can't be installed: ${why}.`);
const node = chosenNode();
if (typeof command.run === 'function') command.run();
else become([...command.run, ...(asksHelp ? [] : (command.begins ?? []))]); // the last one may take a value

function end(text) {
  console.log(text);
  process.exit(0);
}

function listOfCommands() {
  const width = Math.max(...known.map((one) => one.length)) + 2;
  const rows = known.map((one) => `  ${one.padEnd(width)}${COMMANDS[one].about}`);
  return `Usage: ${packaged ? 'sprites' : 'node tools/launch.js'} COMMAND [arguments]\n\n${rows.join('\n')}\n\nEach has --help and --version.`;
}

/** Ends with what is known of a command that is not installed or built yet. One that is there prints its own help later. */
function helpWithoutInstalling() {
  process.env.SPRITES_NO_APT = '1';
  const isInstalledHere = hasPackages(ROOT, command.packages ?? 'runtime');
  if (isInstalledHere && (name !== 'desktop' || existsSync(X11_CLIENT)) && !command.plain) return;
  const missing = isInstalledHere ? 'built yet' : 'installed yet: npm ci does that';
  const options = command.plain ? '' : `\n\nIts options can't be listed, because it is not ${missing}.`;
  end(
    `Usage: npm ${name === 'relay' ? 'start' : `run ${name}`} -- [arguments]\n\nThis command ${command.about}.${options}`,
  );
}

function chosenNode() {
  try {
    return findNode(ROOT);
  } catch (error) {
    return fail(error.message);
  }
}

/** The relay, with the native front where it is wanted and can be built. */
function relay() {
  const wanted = asksHelp ? 'portable' : wantedFront();
  const missing = wanted === 'portable' ? undefined : buildAddon(node);
  if (missing && wanted === 'native') fail(`--front native: it can't be built: ${missing}.`);
  if (missing) {
    console.error(`The relay runs with the portable front, because the native one can't be built: ${missing}.`);
    rest.push('--front=portable'); // an addon of other sources may be there
  }
  const isNative = wanted !== 'portable' && !missing;
  const leading = [...relayFlags(isNative ? 'native' : 'portable'), 'server/bin/relay.ts'];
  // What restarts it itself (systemd, Docker, a test) needs no second one to do so.
  if (asksHelp || process.env.SPRITES_RESTART === 'never') become(leading);
  else {
    const endsWithParent = process.env.npm_lifecycle_event !== undefined;
    supervise(node, argumentsOf(leading), (code) => process.exit(code ?? EXIT_FAILED), { endsWithParent });
  }
}

/** Sprites on this desktop: builds the program for X11 if its sources have changed, and becomes it. */
function desktop() {
  const missing = asksHelp ? undefined : buildX11Client();
  if (missing) fail(`The program for this desktop can't be built: ${missing}.`);
  replaceBy(X11_CLIENT, rest);
}

/** Installs and builds what a relay needs, and starts nothing: for images and machines that start it later, without a compiler. */
function setup() {
  const missing = buildAddon(node);
  console.log(missing ? `Ready, with the portable front only: ${missing}.` : 'Ready, with the native front.');
}

/** The front that an option or variable of the relay names; the relay refuses one that there is not. */
function wantedFront() {
  const at = rest.findLastIndex((word) => word === '--front' || word.startsWith('--front='));
  if (at < 0) return process.env.SPRITES_FRONT;
  return rest[at] === '--front' ? rest[at + 1] : rest[at].slice('--front='.length);
}

/**
 * V8's flags for the relay: the preset for this machine and front, then SPRITES_NODE_FLAGS, which override it. server/OPERATING.md
 * gives the reason of each. Ends the process if V8 can't run with them.
 */
function relayFlags(front) {
  const own = flagsIn(process.env.SPRITES_NODE_FLAGS);
  const inherited = flagsIn(process.env.NODE_OPTIONS);
  const invalid = whyNot([...inherited, ...own]);
  if (invalid) {
    console.error(`The flags of SPRITES_NODE_FLAGS and NODE_OPTIONS can't be used: ${invalid}.`);
    process.exit(EXIT_MISUSED);
  }
  const preset = presetFor(memoryMiB(), front, [...inherited, ...own]);
  // The relay prints it when it is ready.
  process.env.SPRITES_PRESET = `${preset.name}: ${preset.why}`;
  return [...preset.flags, ...own];
}

/** Memory of this machine, or the limit of the container that this process runs in. */
function memoryMiB() {
  const limit = process.constrainedMemory?.() ?? 0;
  return (limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / 2 ** 20;
}

/** Replaces this process by a command under Node. */
function become(leading) {
  replaceBy(node, argumentsOf(leading));
}

/**
 * Replaces this process by the program, where this Node can do that. Otherwise runs it as a child, forwards signals, and ends
 * with its exit code.
 */
function replaceBy(program, args) {
  if (typeof process.execve === 'function') process.execve(program, [program, ...args], process.env);
  const child = spawn(program, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? EXIT_FAILED : code));
  child.on('error', (error) => fail(`${program}: ${error.message}`));
}

/** Node's arguments that run a command. */
function argumentsOf(leading) {
  const isOurs = (part) => !part.startsWith('-') && (part.endsWith('.ts') || part.startsWith('node_modules/'));
  const strip = packaged ? [QUIET, '--import', pathToFileURL(join(ROOT, 'tools', 'strip.js')).href] : [];
  return [...strip, ...leading.map((part) => (isOurs(part) ? join(ROOT, part) : part)), ...rest];
}

function fail(sentence) {
  console.error(sentence);
  process.exit(EXIT_FAILED);
}
