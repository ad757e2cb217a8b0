/**
 * The requests of one connection for the fallback, which handles one of them at a time.
 *
 * A client may send further requests before the answers (pipelining). Each would open files or wait for the master, so a
 * stranger could use 640 files with one connection. Here they wait until the answer before them has left.
 * Invariant: at most one request is being handled; at most PIPELINED_MAX wait.
 * Cost: one timer a request.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests of one connection that wait for the answer to an earlier one. Browsers do not pipeline; a script may send a page of them. */
export const PIPELINED_MAX = 16;

export class FallbackQueue {
  readonly #handle: RequestListener;
  readonly #writeMs: number;
  readonly #answerMs: number;
  readonly #waiting: ServerResponse[] = [];
  #current: ServerResponse | undefined;

  /** `writeMs`: until the socket accepts more of an answer; `answerMs`: for a whole request and its answer. */
  constructor(handle: RequestListener, writeMs: number, answerMs: number) {
    this.#handle = handle;
    this.#writeMs = writeMs;
    this.#answerMs = answerMs;
  }

  /** Handles a request now or later. Returns false when too many wait: then the connection closes after the last of them. */
  add(reply: ServerResponse): boolean {
    if (!this.#current) this.#start(reply);
    else if (this.#waiting.length < PIPELINED_MAX) this.#waiting.push(reply);
    else {
      this.#waiting[PIPELINED_MAX - 1].shouldKeepAlive = false;
      return false;
    }
    return true;
  }

  /** Whether a request that has arrived whole is not answered yet. */
  hasWhole(): boolean {
    const isWhole = (reply: ServerResponse) => reply.req.complete && !reply.writableEnded;
    return (this.#current !== undefined && isWhole(this.#current)) || this.#waiting.some(isWhole);
  }

  /** The socket accepts more. For a connection from which node:http has removed its own listener for this. */
  drained(): void {
    this.#current?.emit('drain');
  }

  #start(reply: ServerResponse): void {
    const { req: request } = reply;
    const { socket } = request;
    this.#current = reply;
    // While its body arrives, the server's own deadline runs.
    const watch = () => socket.setTimeout(this.#writeMs);
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (encoding === undefined && length === '0') watch();
    else request.once('end', watch);
    const late = setTimeout(() => socket.destroy(), this.#answerMs);
    reply.once('close', () => {
      clearTimeout(late);
      this.#current = undefined;
      const next = this.#waiting.shift();
      if (next && !socket.destroyed) this.#start(next);
    });
    this.#handle(request as IncomingMessage, reply as Parameters<RequestListener>[1]);
  }
}
