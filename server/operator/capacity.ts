/**
 * How much this process can hold, by its file limit and the machine's memory. It is logged at start, and enforced: at the
 * limit the relay refuses requests and keeps running.
 */
import { totalmem } from 'node:os';
import { FILES_RESERVED_MAX, FILES_RESERVED_MIN } from '../front/file_limit.ts';
import { SLOTS_MAX } from '../wire/identity.ts';

/** A lower file limit is logged as a warning, with the remedy. */
export const FILES_RECOMMENDED = 4096;

/** Memory of one parked poll in bytes: the portable front's objects, the kernel's socket and its buffers. */
const POLL_BYTES = { portable: 24_000, native: 5_000 } as const;

/** The part of it in V8's heap on the portable front, in bytes: the objects of a request, a response and a socket. */
const POLL_HEAP_BYTES = 10_500;

/** V8's heap without polls, in bytes: the relay's code, and the requests being handled. */
const OWN_HEAP_BYTES = 48 * 2 ** 20;

/** Default number of slots. Their rows of 100 bytes use no memory until they are touched. */
const DESKTOPS_DEFAULT = 1 << 20;

/** Connections for `desktops` with a poll each; some more, because a new connection may come before the old one is closed. */
export function connectionsForDesktops(desktops: number): number {
  return Math.ceil(desktops * 1.02) + FILES_RESERVED_MIN;
}

/** Slots to allocate: as many as the connections that all `processes` together can hold. */
export function desktopsFor(connections: number, processes: number): number {
  return Math.min(SLOTS_MAX, Math.max(DESKTOPS_DEFAULT, connections), connections * processes);
}

/**
 * Why fewer than `desktops` can hold a poll at once, and what to do: a sentence for the log. Undefined when all of them can.
 *
 * Shape   `connections`: what the front holds. `byMemory` and `byHeap`: what pollsByMemory() and pollsByHeap() allow.
 */
export function whyFewerPolls(
  desktops: number,
  { connections, byMemory, byHeap }: { connections: number; byMemory: number; byHeap: number },
): string | undefined {
  if (connections >= desktops) return undefined;
  const why =
    connections >= byHeap
      ? "V8's heap has no room for more; give it more with SPRITES_NODE_FLAGS=--max-old-space-size=MIB, or take the native front"
      : connections >= byMemory
        ? 'the memory of the machine, or of its container, has no room for more'
        : `the file limit allows no more; raise it with "ulimit -n ${connectionsForDesktops(desktops) + FILES_RESERVED_MAX}" (or LimitNOFILE= of the service) before starting`;
  return `--max-desktops is ${desktops}, but only ${connections} desktops can hold a long-poll at once: ${why}`;
}

/**
 * Bytes of memory that this process may plan with: the machine's, or what its container or service is limited to.
 *
 * Shape   `constrained` is 0, or more than the machine has, where there is no limit.
 */
export function memoryBytes(constrained = process.constrainedMemory(), total = totalmem()): number {
  return constrained > 0 ? Math.min(constrained, total) : total;
}

/** Bytes of the slab, for the sprites in all mailboxes: an eighth of the memory, at most 2 GiB. */
export function slabBytes(bytes = memoryBytes()): number {
  return Math.min(2 ** 31, Math.floor(bytes / 8));
}

/** Parked polls that fit into four fifths of the memory. */
export function pollsByMemory(kind: keyof typeof POLL_BYTES, bytes = memoryBytes()): number {
  return Math.floor((bytes * 0.8) / POLL_BYTES[kind]);
}

/** Parked polls that fit into V8's heap. With more V8 would abort, so the front refuses them. The native front uses no heap. */
export function pollsByHeap(kind: keyof typeof POLL_BYTES, heapBytes: number): number {
  if (kind === 'native') return Number.POSITIVE_INFINITY;
  return Math.max(16, Math.floor((heapBytes - OWN_HEAP_BYTES) / POLL_HEAP_BYTES));
}
