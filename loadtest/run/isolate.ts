/**
 * Isolation: the command once more, in a network namespace of its own.
 *
 * Relay and swarm then have all ports of all loopback addresses for themselves, queues that a storm of connects does not
 * overflow, and nothing else on the machine sees them. Linux; without root where user namespaces are allowed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { ensurePrograms } from '../../tools/machine.js';

/** Set in the namespace, so that the command knows it is inside. */
const INSIDE = 'SPRITES_SWARM_NAMESPACE';

const SYSCTLS: Record<string, string> = {
  'net/ipv4/ip_local_port_range': '1024 65535',
  'net/core/somaxconn': '65535',
  'net/ipv4/tcp_max_syn_backlog': '65535',
  'net/ipv4/tcp_tw_reuse': '1',
};

export const isInside = (): boolean => process.env[INSIDE] !== undefined;

/** Runs this command line anew inside; answers its exit code. Throws Error when there can be no namespace. */
export async function isolate(): Promise<number> {
  if (process.platform !== 'linux') throw new Error('--isolate needs a network namespace: it is for Linux');
  if (!ensurePrograms(['unshare', 'ip'], ['util-linux', 'iproute2'])) {
    throw new Error('--isolate needs unshare and ip: apt-get install util-linux iproute2');
  }
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  if (spawnSync('unshare', [...asRoot, '--net', 'true']).status !== 0) {
    throw new Error('--isolate may not make a network namespace here: run it as root');
  }
  const again = [...asRoot, '--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', again, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Makes the namespace ready: loopback up, ports and queues wide. A sysctl this kernel keeps for itself is left as it is. */
export function furnish(): void {
  const up = spawnSync('ip', ['link', 'set', 'lo', 'up'], { encoding: 'utf8' });
  if (up.status !== 0) throw new Error(`no loopback in the namespace: ${up.stderr.trim()}`);
  for (const [name, value] of Object.entries(SYSCTLS)) {
    try {
      writeFileSync(`/proc/sys/${name}`, value);
    } catch {
      // The plan reads what it has got.
    }
  }
}
