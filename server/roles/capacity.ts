/**
 * How much this process can hold, by its file limit and the machine's memory. It is logged at start, and enforced: at the
 * limit the relay refuses requests and keeps running.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { SLOTS_MAX } from '../wire/identity.ts';

/**
 * Descriptors reserved for everything that is not a client: libraries, logs, IPC, sprite files being read, connections being
 * refused. An eighth of all, but within these bounds.
 */
const FILES_RESERVED_MIN = 64;
const FILES_RESERVED_MAX = 256;

/** A lower file limit is logged as a warning, with the remedy. */
export const FILES_RECOMMENDED = 4096;

/** The file limit assumed where the system does not report it: macOS's default for a service. */
const FILES_ASSUMED = 10_240;

/** Memory of one parked poll in bytes: the portable front's objects, the kernel's socket and its buffers. */
export const POLL_BYTES = { portable: 24_000, native: 5_000 } as const;

/** The part of it in V8's heap on the portable front, in bytes: the objects of a request, a response and a socket. */
const POLL_HEAP_BYTES = 10_500;

/** V8's heap without polls, in bytes: the relay's code, and the requests being handled. */
const OWN_HEAP_BYTES = 48 * 2 ** 20;

/** Default number of slots. Their rows of 100 bytes use no memory until they are touched. */
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

/** Client connections of a process with `files` descriptors; at least 16, because with fewer it could not serve at all. */
export function connectionsFor(files: number): number {
  const reserved = Math.min(Math.max(Math.floor(files / 8), FILES_RESERVED_MIN), FILES_RESERVED_MAX);
  return Math.max(16, files - reserved);
}

/** Connections for `desktops` with a poll each; some more, because a new connection may come before the old one is closed. */
export function connectionsForDesktops(desktops: number): number {
  return Math.ceil(desktops * 1.02) + FILES_RESERVED_MIN;
}

/** Slots to allocate: as many as the connections that all `processes` together can hold. */
export function desktopsFor(connections: number, processes: number): number {
  return Math.min(SLOTS_MAX, Math.max(DESKTOPS_DEFAULT, connections), connections * processes);
}

/** Bytes of the slab, for the sprites in all mailboxes: an eighth of the machine's memory, at most 2 GiB. */
export function slabBytes(): number {
  return Math.min(2 ** 31, Math.floor(totalmem() / 8));
}

/** Parked polls that fit into four fifths of the memory. */
export function pollsByMemory(kind: keyof typeof POLL_BYTES, memoryBytes = totalmem()): number {
  return Math.floor((memoryBytes * 0.8) / POLL_BYTES[kind]);
}

/** Parked polls that fit into V8's heap. With more V8 would abort, so the front refuses them. The native front uses no heap. */
export function pollsByHeap(kind: keyof typeof POLL_BYTES, heapBytes: number): number {
  if (kind === 'native') return Number.POSITIVE_INFINITY;
  return Math.max(16, Math.floor((heapBytes - OWN_HEAP_BYTES) / POLL_HEAP_BYTES));
}
