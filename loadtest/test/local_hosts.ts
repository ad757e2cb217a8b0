/** Hosts without ssh: each is this machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The options of the swarm for so many of them. */
export function hostsIn(folder: string, hosts: number): string[] {
  const shell = join(folder, 'shell');
  writeFileSync(shell, `export XDG_CACHE_HOME='${folder}'\nshift\nexec sh -c "$1"\n`);
  const names = Array.from({ length: hosts }, (_, i) => `host-${i + 1}`);
  return ['--hosts', names.join(','), '--ssh', `sh ${shell}`];
}
