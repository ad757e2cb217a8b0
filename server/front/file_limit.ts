/** The file limit of this process, and how many connections fit into one file table under it. */
import { readFileSync } from 'node:fs';

/**
 * Descriptors reserved for everything that is not a client: libraries, logs, IPC, sprite files being read, connections being
 * refused. An eighth of all, within these bounds.
 */
export const FILES_RESERVED_MIN = 64;
const FILES_RESERVED_MAX = 256;

/** The file limit where the system does not report one: macOS's default for a service. */
const FILES_ASSUMED = 10_240;

/** A process that holds fewer connections could not serve at all. */
const CONNECTIONS_MIN = 16;

/**
 * Files this process may have open. On Linux each I/O thread has its own file table with this limit.
 *
 * Source  /proc/self/limits; Node raised the soft limit to the hard limit at start.
 */
export function fileLimit(): number {
  try {
    const line = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+(\d+|unlimited)/m);
    if (line) return line[1] === 'unlimited' ? FILES_ASSUMED * 100 : Number(line[1]);
  } catch {
    // Not Linux: use the assumption.
  }
  return FILES_ASSUMED;
}

/** Client connections that fit into a file table of `files` descriptors. */
export function connectionsFor(files: number): number {
  const reserved = Math.min(Math.max(Math.floor(files / 8), FILES_RESERVED_MIN), FILES_RESERVED_MAX);
  return Math.max(CONNECTIONS_MIN, files - reserved);
}
