/** A network namespace for a test. Needs root and Linux. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { ensurePrograms } from '../../tools/machine.js';

/** Settings of the namespace: all ports are for connections, and the queues hold a storm of connects. */
const SYSCTLS: Record<string, string> = {
  'net/ipv4/ip_local_port_range': '1024 65535',
  'net/core/somaxconn': '65535',
  'net/ipv4/tcp_max_syn_backlog': '65535',
  'net/ipv4/tcp_tw_reuse': '1',
};

/** This variable is set in the namespace, so the command knows that it runs inside. */
const INSIDE = 'SPRITES_BENCH_NAMESPACE';

/**
 * Starts this command again in a new namespace, and exits with its code. In the namespace, it returns when the loopback is up.
 *
 * Throws  when the user is not root, or unshare or ip is missing.
 */
export function enterNamespace(): void {
  if (process.env[INSIDE] === undefined) {
    if (process.getuid?.() !== 0) throw new Error('a network namespace needs root: run it with sudo');
    if (!ensurePrograms(['unshare', 'ip'], ['util-linux', 'iproute2'])) throw new Error('unshare and ip are needed');
    const again = ['--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { status } = spawnSync('unshare', again, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
    process.exit(status ?? 1);
  }
  spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
  for (const [name, value] of Object.entries(SYSCTLS)) writeFileSync(`/proc/sys/${name}`, value);
}
