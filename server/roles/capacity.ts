/**
 * What this process can hold: from its file limit and the machine's memory. Said at start, and held to: the relay refuses
 * at the limit instead of falling over it.
 */
import { totalmem } from 'node:os';
import { FILES_RESERVED_MIN } from '../front/file_limit.ts';
import { SLOTS_MAX } from '../wire/identity.ts';

export { connectionsFor, fileLimit } from '../front/file_limit.ts';

/** A file limit below this gets a warning with the remedy: a small village of desktops. */
export const FILES_WISHED = 4096;

/** Memory of one parked poll in bytes: the portable front's objects, the kernel's socket and its buffers. */
export const POLL_BYTES = { portable: 24_000, native: 5_000 } as const;

/** What of it is V8's heap, in bytes, on the portable front: a request, an answer and a socket, as objects. */
const POLL_HEAP_BYTES = 10_500;

/** V8's heap without any poll, in bytes: the relay's own code, and what requests on their way take. */
const OWN_HEAP_BYTES = 48 * 2 ** 20;

/** Rows taken when nothing else is wished: at 100 bytes each they cost nothing until used. */
const DESKTOPS_DEFAULT = 1 << 20;

/** Connections for so many desktops that hold a poll each, with some to spare for those that come again before they went. */
export function connectionsWanted(desktops: number): number {
  return Math.ceil(desktops * 1.02) + FILES_RESERVED_MIN;
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
