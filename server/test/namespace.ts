/** A network namespace for a test. Needs root and Linux. */
import { spawnSync } from 'node:child_process';
import { ensurePrograms } from '../../tools/machine.js';

/** This variable is set in the namespace, so the test knows that it runs inside. */
const INSIDE = 'SPRITES_TEST_NAMESPACE';

/**
 * Starts this test again in a new namespace, and exits with its code. In the namespace, it returns when the loopback is up.
 *
 * Throws  when unshare or ip is missing. REQUIRES: root.
 */
export function enterNamespace(): void {
  if (process.env[INSIDE] === undefined) {
    if (!ensurePrograms(['unshare', 'ip'], ['util-linux', 'iproute2'])) throw new Error('unshare and ip are needed');
    const again = ['--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { status } = spawnSync('unshare', again, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
    process.exit(status ?? 1);
  }
  spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
}
