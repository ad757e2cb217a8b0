/**
 * What this process can hold: from its file limit and the machine's memory. Said at start, and held to: the relay refuses
 * at the limit instead of falling over it.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { SLOTS_MAX } from '../wire/identity.ts';

/**
 * Descriptors kept for everything that is not a client: libraries, logs, IPC, sprite files being read, connections being
 * refused. An eighth of all, within these.
 */
const FILES_RESERVED = { least: 64, most: 256 } as const;

/** A file limit below this gets a warning with the remedy: a small village of desktops. */
export const FILES_WISHED = 4096;

/** The file limit where the system does not say: macOS's default for a service. */
const FILES_ASSUMED = 10_240;

/** Memory of one parked poll in bytes: the portable front's objects, the kernel's socket and its buffers. */
export const POLL_BYTES = { portable: 24_000, native: 5_000 } as const;

/** What of it is V8's heap, in bytes, on the portable front: a request, an answer and a socket, as objects. */
const POLL_HEAP_BYTES = 10_500;

/** V8's heap without any poll, in bytes: the relay's own code, and what requests on their way take. */
const OWN_HEAP_BYTES = 48 * 2 ** 20;

/** Rows taken when nothing else is wished: at 100 bytes each they cost nothing until used. */
const DESKTOPS_DEFAULT = 1 << 20;

/** Open files this process may have. Source: /proc/self/limits; Node has raised the soft limit to the hard one at start. */
export function fileLimit(): number {
  try {
    const line = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+(\d+|unlimited)/m);
    if (line) return line[1] === 'unlimited' ? FILES_ASSUMED * 100 : Number(line[1]);
  } catch {
    // Not Linux: the assumption below.
  }
  return FILES_ASSUMED;
}

/** Client connections a process of `files` descriptors can hold; 16 at the least, or it could not serve at all. */
export function connectionsFor(files: number): number {
  const reserved = Math.min(Math.max(Math.floor(files / 8), FILES_RESERVED.least), FILES_RESERVED.most);
  return Math.max(16, files - reserved);
}

/** Connections for so many desktops that hold a poll each, with some to spare for those that come again before they went. */
export function connectionsWanted(desktops: number): number {
  return Math.ceil(desktops * 1.02) + FILES_RESERVED.least;
}

/** Desktops to have rows for: as many as there can be connections for in all the processes that hold some. */
export function desktopsFor(connections: number, processes: number): number {
  return Math.min(SLOTS_MAX, Math.max(DESKTOPS_DEFAULT, connections), connections * processes);
}

/** Bytes of sprites that may wait in all mailboxes: an eighth of the machine, 2 GiB at the most. */
export function slabBytes(): number {
  return Math.min(2 ** 31, Math.floor(totalmem() / 8));
}

/** Parked polls that a fifth less than all memory carries. */
export function pollsByMemory(kind: keyof typeof POLL_BYTES, memoryBytes = totalmem()): number {
  return Math.floor((memoryBytes * 0.8) / POLL_BYTES[kind]);
}

/** Parked polls that V8's heap carries: beyond it V8 would abort, so the front refuses before. The native front needs none. */
export function pollsByHeap(kind: keyof typeof POLL_BYTES, heapBytes: number): number {
  if (kind === 'native') return Number.POSITIVE_INFINITY;
  return Math.max(16, Math.floor((heapBytes - OWN_HEAP_BYTES) / POLL_HEAP_BYTES));
}
