/**
 * A network like a fleet's, made of network namespaces: one with a bridge, where moto and the relay run, and one for each
 * instance, with the metadata service's address on its loopback.
 *
 * Invariant: these namespaces are connected only to each other, and the machine's own network is not changed.
 */
import { spawnSync } from 'node:child_process';

export const GATEWAY = '10.77.0.1';

export interface Network {
  name: string;
  remove(): void;
}

/** Makes the network with a number of slots for instances. Returns a string that says why when that is not possible. */
export function makeNetwork(slots: number): Network | string {
  const name = `spr${process.pid}`;
  const made: string[] = [];
  const remove = () => {
    for (const one of made) spawnSync('ip', ['netns', 'del', one]);
  };
  process.once('exit', remove);
  const ip = (...words: string[]) => {
    const { status, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr.trim()}`);
    if (words[0] === 'netns') made.push(words[2]);
  };
  try {
    ip('netns', 'add', name);
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'link', 'add', 'bridge0', 'type', 'bridge');
    ip('-n', name, 'addr', 'add', `${GATEWAY}/24`, 'dev', 'bridge0');
    ip('-n', name, 'link', 'set', 'bridge0', 'up');
    for (let slot = 0; slot < slots; slot++) {
      const own = `${name}-${slot}`;
      ip('netns', 'add', own);
      ip('-n', name, 'link', 'add', `port${slot}`, 'type', 'veth', 'peer', 'name', 'host0', 'netns', own);
      ip('-n', name, 'link', 'set', `port${slot}`, 'master', 'bridge0', 'up');
      ip('-n', own, 'addr', 'add', `10.77.0.${10 + slot}/24`, 'dev', 'host0');
      ip('-n', own, 'addr', 'add', '169.254.169.254/32', 'dev', 'lo');
      ip('-n', own, 'link', 'set', 'lo', 'up');
      ip('-n', own, 'link', 'set', 'host0', 'up');
    }
    return { name, remove };
  } catch (error) {
    remove();
    return `network namespaces can't be made: ${(error as Error).message}`;
  }
}
