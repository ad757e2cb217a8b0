/**
 * Slices: node:http parses what a connection sends in small slices, and can stop between two of them.
 *
 * node:http parses a chunk of 64 KiB in one go, with a request and a response object for each of the 3,600 requests that it may
 * hold: 40 ms of work and 30 MB for one packet of a stranger. In slices, the requests behind the limit of a connection are
 * never parsed. And libuv reads up to 32 chunks of a connection in one go, 2 MB of requests that nobody has answered yet: here a
 * connection gets one chunk in each turn of the loop.
 * Cost: some 2 µs a chunk, and 1 µs for each slice after the first.
 */
import { Socket } from 'node:net';

/** Bytes of a slice: at most 56 requests without headers, some 0.5 ms of parsing. Most requests fit. */
export const SLICE_BYTES = 1024;

/** The chunks that libuv reads have this size when more has arrived, in bytes. */
const CHUNK_BYTES = 64 << 10;

/** The part of a socket that reads. Node's own code reads and sets `reading`. */
interface ReadingHandle {
  reading: boolean;
  readStart(): void;
  readStop(): void;
}

/** node:http gives its parser the socket itself. When a listener of its own is on the socket, it parses what is emitted instead. */
const emitted = (): void => {};

/**
 * Makes the method `push` of sockets that emit slices, one for all of them. While `isOver` returns true, what arrives is
 * discarded; its end still passes.
 */
export function slicedPush<S extends Socket>(isOver: (socket: S) => boolean): Socket['push'] {
  return function push(this: S, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (!(chunk instanceof Uint8Array)) return Socket.prototype.push.call(this, chunk, encoding);
    let isWanted = true;
    for (let at = 0; at < chunk.length && !isOver(this); at += SLICE_BYTES) {
      isWanted = Socket.prototype.push.call(this, chunk.subarray(at, at + SLICE_BYTES));
    }
    if (chunk.length >= CHUNK_BYTES) restUntilNextTurn(this);
    return isWanted;
  };
}

/** Reads no more of the socket in this turn of the loop: answers leave first, and other connections have their turn. */
function restUntilNextTurn(socket: Socket): void {
  const reader = socket as unknown as { _handle: ReadingHandle | null };
  const { _handle: handle } = reader;
  if (!handle) return;
  handle.readStop();
  setImmediate(() => {
    // Meanwhile the socket may have been closed, or node:http may have stopped reading it.
    if (reader._handle === handle && handle.reading) handle.readStart();
  });
}

/** From now on the socket emits slices. `push` is made by slicedPush(). */
export function sliceReads(socket: Socket, push: Socket['push']): void {
  socket.push = push;
  socket.on('data', emitted);
}

/** The socket is no longer node:http's: it emits whole chunks again. */
export function endSlices(socket: Socket): void {
  socket.off('data', emitted);
  socket.push = Socket.prototype.push;
}
