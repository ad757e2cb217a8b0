/**
 * Slices: node:http parses what a connection sends in small slices, and can stop between two of them.
 *
 * node:http parses a chunk of 64 KiB in one go, with a request and a response object for each of the 3,600 requests that it may
 * hold: 40 ms of work and 30 MB for one packet of a stranger. In slices, the requests behind the limit of a connection are
 * never parsed.
 * Cost: some 2 µs a chunk, and 1 µs for each slice after the first.
 */
import { Socket } from 'node:net';

/** Bytes of a slice: at most 56 requests without headers, some 0.5 ms of parsing. Most requests fit. */
export const SLICE_BYTES = 1024;

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
    return isWanted;
  };
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
