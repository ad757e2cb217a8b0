/**
 * Isolation: runs the command again, inside a new network namespace.
 *
 * There, relay and swarm have all ports of all loopback addresses for themselves, and queues that a storm of connects does not
 * overflow; no other program can reach them. Linux only; without root where user namespaces are allowed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { ensurePrograms, installHint } from '../../tools/machine.js';

/** This variable is set inside the namespace, so that the command knows where it runs. */
const INSIDE = 'SPRITES_SWARM_NAMESPACE';

const SYSCTLS: Record<string, string> = {
  'net/ipv4/ip_local_port_range': '1024 65535',
  'net/core/somaxconn': '65535',
  'net/ipv4/tcp_max_syn_backlog': '65535',
  'net/ipv4/tcp_tw_reuse': '1',
};

export const isInside = (): boolean => process.env[INSIDE] !== undefined;

/** Runs this command line again inside, and returns its exit code. Throws Error when no namespace can be made. */
export async function runIsolated(): Promise<number> {
  if (process.platform !== 'linux') throw new Error('--isolate needs a network namespace, which only Linux has');
  if (!ensurePrograms(['unshare', 'ip'], ['util-linux', 'iproute2'])) {
    throw new Error(`--isolate needs unshare and ip: ${installHint(['util-linux', 'iproute2'])}`);
  }
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  if (spawnSync('unshare', [...asRoot, '--net', 'true']).status !== 0) {
    throw new Error('--isolate: this user may not make a network namespace: run it as root');
  }
  const again = [...asRoot, '--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', again, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/** Sets up the namespace: the loopback interface, all ports, long queues. A sysctl that can't be written keeps its value. */
export function setUpNamespace(): void {
  const up = spawnSync('ip', ['link', 'set', 'lo', 'up'], { encoding: 'utf8' });
  if (up.status !== 0) throw new Error(`the namespace has no loopback: ${up.stderr.trim()}`);
  for (const [name, value] of Object.entries(SYSCTLS)) {
    try {
      writeFileSync(`/proc/sys/${name}`, value);
    } catch {
      // The plan reads the values that are in effect.
    }
  }
}
