/**
 * moto: a server that simulates AWS. pip installs it into build/.
 *
 * Invariant: it listens only on the given host, and ends with the test's process. It does not simulate quotas, prices,
 * capacity and expired addresses correctly; tests of these use a stub of the SDK's transport instead (stub.ts).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { aptInstall, ensurePrograms, installHint } from '../../tools/machine.js';

const ROOT = join(import.meta.dirname, '../..');
const VERSION = '5.2.5';

/** What the server needs for the services that fleets use. All that moto[server] installs is three times as much. */
const PACKAGES = [`moto[ec2,s3,ssm]==${VERSION}`, 'flask', 'flask-cors'];
const VENV = join(ROOT, `build/moto-${VERSION}`);
const SERVER = join(VENV, 'bin/moto_server');

/** The longest that it may take to start, in ms: Python's imports are slow on a busy machine. */
const START_MS_MAX = 60_000;

/** Credentials that belong to no account. The SDK does not search for others in files or at a metadata service. */
export const NOBODY = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
} as const;

/** Installs it if need be. Returns undefined, or why that is not possible. */
export function installMoto(): string | undefined {
  if (existsSync(join(VENV, 'whole'))) return undefined;
  if (!ensurePrograms(['python3', 'flock'], ['python3', 'python3-venv', 'util-linux']))
    return `no python3: ${installHint(['python3', 'python3-venv'])}`;
  mkdirSync(join(ROOT, 'build'), { recursive: true });
  console.error(`Installing moto ${VERSION} (pip) …`);
  // The lock: suites run at the same time, and only one of them installs it.
  // The file `whole`: a venv that pip did not finish is made again.
  // Python compiles a module when it is first imported; most of the packages' modules never are.
  const script =
    '[ -e "$0/whole" ] || { rm -rf "$0" && python3 -m venv "$0" && "$0/bin/pip" install -q --no-compile "$@" && touch "$0/whole"; }';
  const install = () =>
    spawnSync('flock', [`${VENV}.lock`, 'sh', '-c', script, VENV, ...PACKAGES], { encoding: 'utf8' });
  let done = install();
  if (done.status !== 0 && aptInstall(['python3-venv'])) done = install();
  if (done.status === 0) return undefined;
  const last = `${done.stdout}${done.stderr}`.trim().split('\n').at(-1);
  return `moto could not be installed (${last}): apt-get install python3-venv, and a package index that pip reaches`;
}

export interface Moto {
  url: string;
  stop(): Promise<void>;
}

/** Starts it on `host`, in a network namespace if one is given. */
export async function startMoto(host = '127.0.0.1', namespace?: string): Promise<Moto> {
  const [port] = namespace ? [5000] : await freePorts(1, host);
  const command = [
    ...(namespace ? ['nsenter', `--net=/run/netns/${namespace}`] : []),
    SERVER,
    '-H',
    host,
    '-p',
    `${port}`,
  ];
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  await waitUntilRunning(child);
  return {
    url: `http://${host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        process.off('exit', kill);
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

async function waitUntilRunning(child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  for (const untilMs = performance.now() + START_MS_MAX; !/Running on http/.test(output); await sleep(50)) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error(`moto did not start:\n${output}`);
  }
}
