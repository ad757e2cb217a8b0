/** The file limit of this process, and how many connections fit into one file table under it. */
import { readFileSync } from 'node:fs';

/**
 * Descriptors reserved for everything that is not a client: libraries, logs, IPC, sprite files being read, connections being
 * refused. An eighth of all, within these bounds.
 */
export const FILES_RESERVED_MIN = 64;
export const FILES_RESERVED_MAX = 256;

/** The file limit where the system does not report one: macOS's default for a service. */
const FILES_ASSUMED = 10_240;

/** A process that holds fewer connections could not serve at all. */
const CONNECTIONS_MIN = 16;

/** The file limit as the kernel tells it; undefined where there is no /proc of Linux, or it must not be read. */
function limitInProc(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+(\d+|unlimited)/m)?.[1];
  } catch {
    return undefined;
  }
}

/** The file limit as Node tells it, which takes some ms; undefined on Windows. */
export function limitInReport(): string | undefined {
  Object.assign(process.report, { excludeNetwork: true }); // else it looks up the names of all peers
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  return userLimits?.open_files?.soft?.toString();
}

/**
 * Files this process may have open. On Linux each I/O thread has its own file table with this limit.
 *
 * Source  Node raised the soft limit to the hard limit at start.
 */
export function fileLimit(sources: readonly (() => string | undefined)[] = [limitInProc, limitInReport]): number {
  for (const source of sources) {
    const limit = source();
    if (limit !== undefined) return limit === 'unlimited' ? FILES_ASSUMED * 100 : Number(limit);
  }
  return FILES_ASSUMED;
}

/** Client connections that fit into a file table of `files` descriptors. */
export function connectionsFor(files: number): number {
  const reserved = Math.min(Math.max(Math.floor(files / 8), FILES_RESERVED_MIN), FILES_RESERVED_MAX);
  return Math.max(CONNECTIONS_MIN, files - reserved);
}
