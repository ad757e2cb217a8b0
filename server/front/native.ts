/**
 * The native front: parked polls in C++, JavaScript entered once a turn. Linux, when the addon is built.
 *
 * Invariant: see front.ts. What the addon can't serve (any route that is not hot, chunked bodies, upgrades) goes, with the
 * bytes already read, to a PortableFront that never listens itself, so nothing is refused that the portable front takes.
 * Cost: no object for a request; records are read from, and answers written to, one buffer each way.
 */

import { lookup } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP, Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Answer } from '../wire/answer.ts';
import { CROSSING_BYTES_MAX, type EdgeNumber } from '../wire/crossing.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemDocument } from '../wire/problem.ts';
import { connectionsFor, fileLimit } from './file_limit.ts';
import {
  type Front,
  type FrontGauges,
  type FrontOptions,
  NO_CURSOR,
  PATIENCE,
  type RequestView,
  type Ticket,
} from './front.ts';
import { OpenTickets } from './open_tickets.ts';
import { PortableFront } from './portable.ts';

/** What the addon exports; addon.cc is its other half. */
interface Addon {
  NativeFront: new (options: object) => NativeObject;
  inboundHeadBytes: number;
  outboundHeadBytes: number;
  threadsMax: number;
  problems: number;
  libuv: string;
}

interface NativeObject {
  listen(): number[];
  setOutbound(buffer: ArrayBuffer): void;
  send(): void;
  released(): void;
  gauges(): FrontGauges;
  drain(): void;
  close(closed: () => void): void;
}

export interface NativeOptions extends FrontOptions {
  /** I/O threads beside the JavaScript thread; 0 (the default): it does the I/O itself, with no hop. */
  threads?: number;
}

/** Records of one batch: 2,048 polls or 400 crossings, two milliseconds or three. An inbox of an I/O thread holds no more (native_front.cc). */
const INBOUND_BYTES = 128 << 10;

/** Answers of one turn, at first: a thousand small ones. It grows to the largest single answer. */
const OUTBOUND_BYTES = 256 << 10;

/** Partial requests, and as much again for unsent answers, over all threads: 6,000 slow peers with the largest request. */
const BUFFER_BYTES_MAX = 64 << 20;

/** Layout of records, by word: record.h is its other half; the sizes are compared when the addon is loaded. */
const INBOUND_HEAD_BYTES = 64;
const OUTBOUND_HEAD_BYTES = 296;

/** The word 0 behind the last answer. */
const END_BYTES = 8;
const KIND = { poll: 1, crossing: 2, closed: 3, handover: 4, outdated: 5 } as const;

/** Tickets of the portable front within begin here: the thread number 255, which the addon does not give. */
const FIRST_PORTABLE_TICKET: Ticket = 255 * 2 ** 40;

const TWO_32 = 2 ** 32;

/** The front's own answers, in the order of `enum class Problem` in answer.h. */
const OWN_PROBLEMS: readonly ProblemDocument[] = [
  FRONT_PROBLEMS.malformed,
  FRONT_PROBLEMS.cursor,
  FRONT_PROBLEMS.tooLarge,
  FRONT_PROBLEMS.headTooLarge,
  FRONT_PROBLEMS.notFound,
  FRONT_PROBLEMS.methodNotAllowed,
  FRONT_PROBLEMS.requestTimeout,
  FRONT_PROBLEMS.relayFull,
];

let loaded: Addon | undefined;
let unavailable: string | undefined;

/** Why there is no native front here, as a sentence for the log; undefined when there is one. */
export function whyNoNativeFront(): string | undefined {
  if (loaded || unavailable) return unavailable;
  if (process.platform !== 'linux') {
    unavailable = `The native front needs Linux; this is ${process.platform}.`;
    return unavailable;
  }
  try {
    const addon = createRequire(import.meta.url)('../native/build/Release/front.node') as Addon;
    const isOurs =
      addon.inboundHeadBytes === INBOUND_HEAD_BYTES &&
      addon.outboundHeadBytes === OUTBOUND_HEAD_BYTES &&
      addon.problems === OWN_PROBLEMS.length;
    if (isOurs) loaded = addon;
    else unavailable = 'The addon of the native front is of another version; build it again.';
  } catch (error) {
    unavailable = `The addon of the native front is not built, or does not load: ${(error as Error).message}`;
  }
  return unavailable;
}

function addon(): Addon {
  const why = whyNoNativeFront();
  if (!loaded) throw new Error(why);
  return loaded;
}

/** The version of libuv whose headers the addon was compiled with; of another one than Node's it waits by slower means. */
export function compiledForLibuv(): string {
  return addon().libuv;
}

/** How connections are spread, and how many that is. */
export interface ThreadPlan {
  /** For NativeOptions.threads. */
  threads: number;
  /** Connections that fit: the wanted number, or what the limits leave of it. */
  connectionsMax: number;
  /** A sentence for the log. */
  reason: string;
}

/** The kernel spreads connections over threads by a hash: each thread gets room for so much more than its share. */
const UNEVEN = 1.05;

/** One thread's table: 20 bits of a ticket. */
const THREAD_CONNECTIONS_MAX = 2 ** 20;

const THREADS_MAX = 254;

/**
 * How many I/O threads `wanted` connections take. Pure.
 *
 * Shape   threads 0 when everything fits in the process's own file table and `alone`: the JavaScript thread then does the
 *         I/O itself, which costs least. Otherwise at least one thread, and so many that each stays below `fileLimit`.
 */
export function planThreads(wanted: number, limits: { fileLimit: number; cores: number; alone: boolean }): ThreadPlan {
  const perTable = Math.min(THREAD_CONNECTIONS_MAX, connectionsFor(limits.fileLimit));
  if (wanted <= perTable && (limits.alone || limits.cores === 1)) {
    const reason = `${wanted} connections on the JavaScript thread: they fit in the file limit of ${limits.fileLimit}.`;
    return { threads: 0, connectionsMax: wanted, reason };
  }
  const needed = wanted <= perTable ? 1 : Math.ceil((wanted * UNEVEN) / perTable);
  if (needed <= THREADS_MAX) {
    const reason = `${wanted} connections on ${needed} I/O thread(s) of at most ${perTable}: the file limit is ${limits.fileLimit} a thread.`;
    return { threads: needed, connectionsMax: wanted, reason };
  }
  const most = Math.floor((THREADS_MAX * perTable) / UNEVEN);
  const reason = `${most} connections of the ${wanted} wanted: ${THREADS_MAX} I/O threads at a file limit of ${limits.fileLimit}. Raise it (ulimit -n) for more.`;
  return { threads: THREADS_MAX, connectionsMax: most, reason };
}

/** The limits of this machine and process, for planThreads(). */
export function machineLimits(alone: boolean): { fileLimit: number; cores: number; alone: boolean } {
  return { fileLimit: fileLimit(), cores: availableParallelism(), alone };
}

export class NativeFront implements Front {
  readonly kind = 'native';
  readonly #options: NativeOptions;
  readonly #portable: PortableFront;
  readonly #open: OpenTickets;
  #native: NativeObject | undefined;
  readonly #inbound = new ArrayBuffer(INBOUND_BYTES);
  readonly #words = new Uint32Array(this.#inbound);
  readonly #bytes = Buffer.from(this.#inbound);
  #out!: Buffer;
  #outWords!: Uint32Array;
  #outEnd = 0;
  roomAt = 0;
  /** In a batch answers are handed over at its end. */
  #inBatch = false;
  #readAt = 0;
  readonly #handedOver = new Set<Socket>();
  readonly #view: RequestView = {
    ...{ ticket: 0, slot: 0, generation: 0, token: new Uint32Array(4), epoch: 0, seq: NO_CURSOR },
    ...{ edge: -1 as const, crossing: 0, body: this.#bytes, start: 0, end: 0 },
  };

  constructor(options: NativeOptions) {
    addon();
    this.#options = options;
    this.#portable = new PortableFront(options, FIRST_PORTABLE_TICKET);
    this.#open = new OpenTickets(options.threads ?? 0);
    this.#setOutbound(OUTBOUND_BYTES);
  }

  async listen(): Promise<number[]> {
    const { listeners, threads = 0, connectionsMax, patience } = this.#options;
    const numeric = await Promise.all(
      listeners.map(async ({ host }) => (isIP(host) ? host : (await lookup(host)).address)),
    );
    const make = (hosts: readonly string[]) => {
      const native = new (addon().NativeFront)({
        listeners: listeners.map(({ port, shared, routes, fallback }, index) => {
          return { host: hosts[index], port, shared, routes, handsOver: fallback !== undefined };
        }),
        ...{ threads, connectionsMax, bufferBytesMax: BUFFER_BYTES_MAX },
        ...{ ...PATIENCE, ...patience },
        problems: OWN_PROBLEMS.map((document) => {
          const { retryAfterSeconds } = PROBLEMS[document.code];
          return { status: document.status, retryAfterSeconds, body: JSON.stringify(document) };
        }),
        inbound: this.#inbound,
        deliver: (bytes: number) => this.#deliver(bytes),
      });
      native.setOutbound(this.#out.buffer as ArrayBuffer);
      const ports = native.listen();
      this.#native = native;
      for (const index of listeners.keys()) {
        // It never listens, but its deadlines for slow peers begin when it says so.
        this.#portable.server(index).emit('listening');
      }
      return ports;
    };
    try {
      return make(numeric);
    } catch (error) {
      // A system without IPv6 has no `::`.
      if ((error as NodeJS.ErrnoException).code === 'EAFNOSUPPORT' && numeric.includes('::')) {
        return make(numeric.map((host) => (host === '::' ? '0.0.0.0' : host)));
      }
      const wanted = listeners.map(({ port }, index) => `${numeric[index]}:${port}`).join(', ');
      throw Object.assign(error as Error, { message: `${(error as Error).message} (${wanted})` });
    }
  }

  readonly answer: Answer = (ticket, status, body, start, end, retryAfterSeconds) => {
    if (ticket >= FIRST_PORTABLE_TICKET) {
      this.#portable.answer(ticket, status, body, start, end, retryAfterSeconds);
      return;
    }
    if (!this.#open.close(ticket)) return;
    const length = end - start;
    if (body !== this.#out) {
      this.room(length);
      // Buffer's copy takes half the time of set(), which needs a view made for it.
      if (body instanceof Buffer) body.copy(this.#out, this.roomAt, start, end);
      else this.#out.set(body.subarray(start, end), this.roomAt);
    }
    const at = body === this.#out ? start : this.roomAt;
    const bytes = (at + length - this.#outEnd + 7) & ~7;
    const words = this.#outWords;
    const word = this.#outEnd >> 2;
    words[word] = bytes;
    words[word + 1] = ticket;
    words[word + 2] = ticket / TWO_32;
    words[word + 3] = status;
    words[word + 4] = length;
    words[word + 5] = retryAfterSeconds;
    words[word + 6] = at - this.#outEnd;
    this.#outEnd += bytes;
  };

  room(bytes: number): Buffer {
    const wanted = OUTBOUND_HEAD_BYTES + bytes + 7 + END_BYTES;
    if (this.#outEnd + wanted > this.#out.length) this.#makeRoom(wanted);
    this.roomAt = this.#outEnd + OUTBOUND_HEAD_BYTES;
    return this.#out;
  }

  flush(): void {
    if (!this.#inBatch) this.#send();
  }

  gauges(): FrontGauges {
    const own = this.#native?.gauges() ?? { connections: 0, waiting: 0, refused: 0, stalled: 0 };
    own.waiting += this.#portable.gauges().waiting;
    return own;
  }

  drain(): void {
    this.#native?.drain();
    this.#portable.drain();
  }

  async close(): Promise<void> {
    for (const socket of this.#handedOver) socket.destroy();
    const portable = this.#portable.close();
    const native = this.#native;
    this.#native = undefined;
    if (native) await new Promise<void>((resolve) => native.close(resolve));
    await portable;
  }

  /** A batch of records has come. */
  #deliver(bytes: number): void {
    this.#inBatch = true;
    this.#readAt = 0;
    while (this.#readAt < bytes) {
      try {
        this.#read(bytes);
      } catch (error) {
        this.#raise(error);
      }
    }
    try {
      this.#options.handlers.turn();
    } catch (error) {
      this.#raise(error);
    }
    this.#inBatch = false;
    // Before this returns: then tasks run that may answer too, and would write over what is still here.
    this.#send();
  }

  /** Hands records on, from #readAt to `bytes`. When a handler throws, #readAt is behind its record. */
  #read(bytes: number): void {
    const { handlers } = this.#options;
    const words = this.#words;
    const view = this.#view;
    while (this.#readAt < bytes) {
      const start = this.#readAt;
      const word = start >> 2;
      this.#readAt = start + words[word + 1];
      const kind = words[word];
      if (kind === KIND.handover) {
        this.#takeOver(start);
        continue;
      }
      const ticket = words[word + 2] + words[word + 3] * TWO_32;
      if (kind === KIND.closed) {
        if (this.#open.close(ticket)) handlers.closed(ticket, words[word + 4]);
        continue;
      }
      if (kind === KIND.outdated) {
        if (this.#open.isOpen(ticket)) handlers.outdated(ticket, words[word + 4]);
        continue;
      }
      this.#open.open(ticket);
      view.ticket = ticket;
      view.slot = words[word + 4];
      view.generation = words[word + 5];
      view.token[0] = words[word + 6];
      view.token[1] = words[word + 7];
      view.token[2] = words[word + 8];
      view.token[3] = words[word + 9];
      if (kind === KIND.poll) {
        const hasCursor = words[word + 12] !== 0;
        view.epoch = words[word + 10];
        view.seq = hasCursor ? words[word + 11] : NO_CURSOR;
        handlers.poll(view);
      } else {
        view.edge = (words[word + 15] - 1) as EdgeNumber | -1;
        view.crossing = words[word + 10] + words[word + 11] * TWO_32;
        view.start = start + INBOUND_HEAD_BYTES;
        view.end = view.start + words[word + 12];
        handlers.crossing(view);
      }
    }
  }

  /** A fault of a handler is reported like any uncaught one, but the other requests of the batch are served first. */
  #raise(error: unknown): void {
    process.nextTick(() => {
      throw error;
    });
  }

  /** A connection that is not for the addon: node:http goes on with it where the addon stopped. */
  #takeOver(start: number): void {
    const word = start >> 2;
    const native = this.#native;
    const fd = this.#words[word + 13];
    const from = start + INBOUND_HEAD_BYTES;
    const read = Buffer.from(this.#bytes.subarray(from, from + this.#words[word + 12]));
    const socket = new Socket({ fd, readable: true, writable: true, allowHalfOpen: true } as object);
    this.#handedOver.add(socket);
    socket.once('close', () => {
      this.#handedOver.delete(socket);
      native?.released();
    });
    socket.unshift(read);
    this.#portable.server(this.#words[word + 14]).emit('connection', socket);
  }

  #send(): void {
    if (this.#outEnd === 0) return;
    this.#endOutbound();
    this.#native?.send();
  }

  /** The buffer is whole: a word 0 stands where the next answer would, and the next one begins anew. */
  #endOutbound(): void {
    this.#outWords[this.#outEnd >> 2] = 0;
    this.#outEnd = 0;
  }

  /** What is there goes out now; a single answer larger than the buffer gets a larger one. */
  #makeRoom(wanted: number): void {
    this.#send();
    if (wanted > this.#out.length) this.#setOutbound(2 ** Math.ceil(Math.log2(wanted)));
  }

  #setOutbound(bytes: number): void {
    const memory = new ArrayBuffer(bytes);
    this.#out = Buffer.from(memory);
    this.#outWords = new Uint32Array(memory);
    this.#native?.setOutbound(memory);
  }
}

// A crossing's longest body fits in one record with all that stands before it.
if (INBOUND_HEAD_BYTES + CROSSING_BYTES_MAX > INBOUND_BYTES) throw new Error('INBOUND_BYTES is too small');
