import { readFileSync } from 'node:fs';
import { parseThread } from '../metrics/proc.ts';

/** The CPU time of all threads of a process, also of those that have ended; undefined when the process has ended. */
export function processCpuSeconds(pid: number): number | undefined {
  try {
    return parseThread(readFileSync(`/proc/${pid}/stat`, 'utf8'), pid, pid).cpuSeconds;
  } catch {
    return undefined;
  }
}
