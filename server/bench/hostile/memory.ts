/** The resident memory of a relay: of its master and of every process that it has forked. Linux only (/proc). */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the process and its descendants; an empty list when it has ended. */
export function processesOf(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(processesOf)];
  } catch {
    return [];
  }
}

/** Returns the resident bytes of these processes together; pages that they share count several times. */
export function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentBytesOf(pid), 0);
}

function residentBytesOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
