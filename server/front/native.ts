/**
 * The native front: polls park in C++, and JavaScript is entered once a turn. For Linux, when the addon is built.
 *
 * Invariant: see front.ts. A request that the addon can't handle (a route that is not hot, a chunked body, an upgrade) goes
 * to a PortableFront that never listens itself, with the bytes already read. So this front accepts all that the portable
 * front accepts.
 * Cost: no object for a request; records are read from one buffer, and answers are written to another.
 */

import { lookup } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP, Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Answer } from '../wire/answer.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemDocument } from '../wire/problem.ts';
import { type EdgeNumber, STAGE_BYTES_MAX } from '../wire/rules.ts';
import { connectionsFor, fileLimit } from './file_limit.ts';
import {
  blankView,
  type Front,
  type FrontGauges,
  type FrontOptions,
  lacksIpv6,
  NO_CURSOR,
  TIMEOUTS,
  type Ticket,
} from './front.ts';
import { OpenTickets } from './open_tickets.ts';
import { PortableFront } from './portable.ts';

/** What the addon exports; see addon.cc. */
interface Addon {
  NativeFront: new (options: object) => NativeObject;
  Ring: new (options: RingOptions) => NativeRing;
  writeAt(descriptor: number, bytes: Buffer, length: number, at: number): number;
  mapFile(descriptor: number, bytes: number): Buffer;
  openListener(host: string, port: number): number;
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
  released(blockLow: number, blockHigh: number): void;
  gauges(): FrontGauges;
  drain(): void;
  close(closed: () => void): void;
}

export interface RingOptions {
  /** Where bytes are when `receive` is called, until it returns. */
  inbound: ArrayBuffer;
  receive(bytes: number): void;
  /** The ring was full, and has room again. */
  room(): void;
  /** The other process has written what it must not write; the ring is closed. */
  broken(): void;
  /** What the other process gave this one; absent in the process that makes the ring. */
  descriptors?: readonly number[];
}

/** One end of a link to another process through shared memory; see byte_ring.h. */
export interface NativeRing {
  /** The memory, the doorbell of the other process, and that of this one: for the other process, in the process that makes the ring. */
  readonly descriptors: readonly number[];
  /** Call it when the other process has the descriptors. */
  passedOn(): void;
  /** Writes bytes[from, …), as many as there is room for. Returns how many. */
  write(bytes: Uint8Array, from: number): number;
  close(): void;
}

interface NativeOptions extends FrontOptions {
  /** I/O threads beside the JavaScript thread. 0, the default: the JavaScript thread does the I/O, with no hop. */
  threads?: number;
}

/** Records of one batch: 2,048 polls or 400 crossings, some 3 ms of work. The inbox of an I/O thread holds at most as much. */
const INBOUND_BYTES = 128 << 10;

/** Answers of one turn, initially: a thousand small ones. It grows to the largest single answer. */
const OUTBOUND_BYTES = 256 << 10;

/** For partial requests, and as much again for unsent answers, over all threads: 6,000 slow peers with the largest request. */
const BUFFER_BYTES_MAX = 64 << 20;

/** The layout of records by word, as in record.h; the sizes are compared when the addon is loaded. */
const INBOUND_HEAD_BYTES = 64;
const OUTBOUND_HEAD_BYTES = 344;

/** The head of a shared body: the words of an answer's head, without the gap for its HTTP head. */
const SHARED_HEAD_BYTES = 32;

/** The word 0 after the last answer, padded. */
const END_BYTES = 8;
const KIND = { poll: 1, crossing: 2, closed: 3, handover: 4, outdated: 5, saying: 6, stage: 7 } as const;

/** Tickets of the inner portable front begin here: thread number 255, which the addon does not use. */
const FIRST_PORTABLE_TICKET: Ticket = 255 * 2 ** 40;

const TWO_32 = 2 ** 32;

/** The problems that the addon reports itself, in the order of `enum class Problem` in answer.h. */
const OWN_PROBLEMS: readonly ProblemDocument[] = [
  FRONT_PROBLEMS.malformed,
  FRONT_PROBLEMS.cursor,
  FRONT_PROBLEMS.tooLarge,
  FRONT_PROBLEMS.headTooLarge,
  FRONT_PROBLEMS.notFound,
  FRONT_PROBLEMS.methodNotAllowed,
  FRONT_PROBLEMS.requestTimeout,
  FRONT_PROBLEMS.relayFull,
  FRONT_PROBLEMS.tooManyConnections,
];

let loaded: Addon | undefined;
let unavailable: string | undefined;

/** Returns why the native front is not available here, as a sentence for the log; undefined when it is. */
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
    else unavailable = 'The addon of the native front was built from another version; build it again.';
  } catch (error) {
    unavailable = `The addon of the native front is not built or does not load: ${(error as Error).message}`;
  }
  return unavailable;
}

/** The addon. Throws Error when it is not available. */
export function addon(): Addon {
  const why = whyNoNativeFront();
  if (!loaded) throw new Error(why);
  return loaded;
}

/**
 * Opens a socket that listens on a port of the host, beside others of this user that share the port. Clients that connect wait until a front
 * has its descriptor, to which this resolves. Throws the system's error.
 */
export async function openListener(host: string, port: number): Promise<number> {
  const address = await addressOf(host);
  try {
    return addon().openListener(address, port);
  } catch (error) {
    if (!lacksIpv6(error, address)) throw error;
    return addon().openListener('0.0.0.0', port);
  }
}

async function addressOf(host: string): Promise<string> {
  return isIP(host) ? host : (await lookup(host)).address;
}

/** How many I/O threads a front uses, and how many connections it holds. */
interface ThreadPlan {
  /** For NativeOptions.threads. */
  threads: number;
  /** Connections that fit: the wanted number, or fewer if the limits are lower. */
  connectionsMax: number;
  /** A sentence for the log. */
  reason: string;
}

/** The kernel spreads connections over threads by a hash, unevenly: each thread has room for this much of its share. */
const UNEVEN_SHARE = 1.05;

/** Connections of one thread: 20 bits of a ticket. */
const THREAD_CONNECTIONS_MAX = 2 ** 20;

const THREADS_MAX = 254;

/**
 * The share of the process's own file table that its I/O threads may use. Each has an eventfd in it; the rest is for the API's
 * connections, for sprite files and for logs.
 */
const THREAD_FILES_SHARE = 1 / 4;

/**
 * Plans the I/O threads for `wanted` connections. Pure.
 *
 * Shape   threads is 0 when all connections fit into the process's own file table and the process is `alone` or has one core:
 *         the JavaScript thread then does the I/O itself, which is cheapest. Otherwise there is at least one thread, and so
 *         many that each stays below `fileLimit`.
 */
export function planThreads(wanted: number, limits: { fileLimit: number; cores: number; alone: boolean }): ThreadPlan {
  const perTable = Math.min(THREAD_CONNECTIONS_MAX, connectionsFor(limits.fileLimit));
  if (wanted <= perTable && (limits.alone || limits.cores === 1)) {
    const reason = `${wanted} connections on the JavaScript thread: they fit into the file limit of ${limits.fileLimit}.`;
    return { threads: 0, connectionsMax: wanted, reason };
  }
  const needed = wanted <= perTable ? 1 : Math.ceil((wanted * UNEVEN_SHARE) / perTable);
  const threadsMax = Math.max(1, Math.min(THREADS_MAX, Math.floor(limits.fileLimit * THREAD_FILES_SHARE)));
  if (needed <= threadsMax) {
    const reason = `${wanted} connections on ${needed} I/O thread(s) of at most ${perTable} each: the file limit of a thread is ${limits.fileLimit}.`;
    return { threads: needed, connectionsMax: wanted, reason };
  }
  const connectionsMax = Math.floor((threadsMax * perTable) / UNEVEN_SHARE);
  const reason = `${connectionsMax} connections of the ${wanted} wanted: ${threadsMax} I/O threads at a file limit of ${limits.fileLimit}. Raise it (ulimit -n) for more.`;
  return { threads: threadsMax, connectionsMax, reason };
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
  /** The newest shared body in the outbound buffer: answers behind it may share it. */
  #shared: Buffer | undefined;
  roomAt = 0;
  /** In a batch: answers are sent at its end. */
  #inBatch = false;
  #readAt = 0;
  readonly #handedOver = new Set<Socket>();
  readonly #view = blankView(this.#bytes);

  constructor(options: NativeOptions) {
    addon();
    this.#options = options;
    // The addon has counted the connections that it hands over.
    this.#portable = new PortableFront({ ...options, connectionsPerAddressMax: 0 }, FIRST_PORTABLE_TICKET);
    this.#open = new OpenTickets(options.threads ?? 0);
    this.#setOutbound(OUTBOUND_BYTES);
  }

  async listen(): Promise<number[]> {
    const { listeners, threads = 0, connectionsMax, connectionsPerAddressMax = 0, timeouts } = this.#options;
    const numeric = await Promise.all(listeners.map(({ host }) => addressOf(host)));
    const make = (hosts: readonly string[]) => {
      const native = new (addon().NativeFront)({
        listeners: listeners.map(({ port, shared, descriptor = -1, routes, fallback }, index) => {
          return { host: hosts[index], port, shared, descriptor, routes, handsOver: fallback !== undefined };
        }),
        threads,
        connectionsMax,
        connectionsPerAddressMax,
        bufferBytesMax: BUFFER_BYTES_MAX,
        ...TIMEOUTS,
        ...timeouts,
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
        // The server never listens, but it starts to enforce its deadlines on this event.
        this.#portable.server(index).emit('listening');
      }
      return ports;
    };
    try {
      return make(numeric);
    } catch (error) {
      if (numeric.some((address) => lacksIpv6(error, address))) {
        return make(numeric.map((host) => (host === '::' ? '0.0.0.0' : host)));
      }
      const wanted = listeners.map(({ port }, index) => `${numeric[index]}:${port}`).join(', ');
      throw Object.assign(error as Error, { message: `${(error as Error).message} (${wanted})` });
    }
  }

  readonly answer: Answer = (ticket, answer) => {
    if (ticket >= FIRST_PORTABLE_TICKET) {
      this.#portable.answer(ticket, answer);
      return;
    }
    if (!this.#open.close(ticket)) return;
    const { status, body, start, end, retryAfterSeconds, shared } = answer;
    const length = end - start;
    if (shared !== undefined) this.#share(shared, length);
    if (body !== this.#out) {
      this.room(length);
      // copy() takes half the time of set(), which needs a new view.
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
    words[word + 7] = shared === undefined ? 0 : 1;
    this.#outEnd += bytes;
  };

  room(bytes: number): Buffer {
    const wanted = OUTBOUND_HEAD_BYTES + bytes + 7 + END_BYTES;
    if (this.#outEnd + wanted > this.#out.length) this.#makeRoom(wanted);
    this.roomAt = this.#outEnd + OUTBOUND_HEAD_BYTES;
    return this.#out;
  }

  /** Puts a shared body into the buffer unless it is the newest one there, with room behind it for an answer of `length` bytes. */
  #share(shared: Buffer, length: number): void {
    const answerBytes = OUTBOUND_HEAD_BYTES + length + 7 + END_BYTES;
    if (shared === this.#shared && this.#outEnd + answerBytes <= this.#out.length) return;
    const bytes = (SHARED_HEAD_BYTES + shared.length + 7) & ~7;
    if (this.#outEnd + bytes + answerBytes > this.#out.length) this.#makeRoom(bytes + answerBytes);
    const word = this.#outEnd >> 2;
    this.#outWords.fill(0, word, word + SHARED_HEAD_BYTES / 4);
    // No answer has the status 0.
    this.#outWords[word] = bytes;
    this.#outWords[word + 4] = shared.length;
    this.#outWords[word + 6] = SHARED_HEAD_BYTES;
    shared.copy(this.#out, this.#outEnd + SHARED_HEAD_BYTES);
    this.#outEnd += bytes;
    this.#shared = shared;
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

  /** A batch of records has arrived. */
  #deliver(bytes: number): void {
    this.#inBatch = true;
    this.#readAt = 0;
    while (this.#readAt < bytes) {
      try {
        this.#read(bytes);
      } catch (error) {
        this.#throwLater(error);
      }
    }
    try {
      this.#options.handlers.turn();
    } catch (error) {
      this.#throwLater(error);
    }
    this.#inBatch = false;
    // Send before returning: the tasks that run next may answer too, and would overwrite these answers.
    this.#send();
  }

  /** Passes records to the handlers, from #readAt to `bytes`. When a handler throws, #readAt is after its record. */
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
        this.#handToNode(start);
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
        if (kind === KIND.saying) handlers.saying(view);
        else if (kind === KIND.stage) handlers.stage(view);
        else handlers.crossing(view);
      }
    }
  }

  /** Reports an error of a handler as an uncaught exception, after the other requests of the batch were handled. */
  #throwLater(error: unknown): void {
    process.nextTick(() => {
      throw error;
    });
  }

  /** Gives a connection that the addon handed over to node:http, which continues where the addon stopped. */
  #handToNode(start: number): void {
    const word = start >> 2;
    const native = this.#native;
    const [blockLow, blockHigh] = [this.#words[word + 10], this.#words[word + 11]];
    const fd = this.#words[word + 13];
    const from = start + INBOUND_HEAD_BYTES;
    const read = Buffer.from(this.#bytes.subarray(from, from + this.#words[word + 12]));
    const socket = new Socket({ fd, readable: true, writable: true, allowHalfOpen: true } as object);
    this.#handedOver.add(socket);
    socket.once('close', () => {
      this.#handedOver.delete(socket);
      native?.released(blockLow, blockHigh);
    });
    socket.unshift(read);
    this.#portable.server(this.#words[word + 14]).emit('connection', socket);
  }

  #send(): void {
    this.#portable.flush();
    if (this.#outEnd === 0) return;
    this.#options.handlers.sending?.();
    this.#endOutbound();
    this.#native?.send();
  }

  /** Ends the buffer with a word 0 in the place of the next answer; the next answer goes to its beginning. */
  #endOutbound(): void {
    this.#outWords[this.#outEnd >> 2] = 0;
    this.#outEnd = 0;
    this.#shared = undefined;
  }

  /** Sends the answers in the buffer now. Makes the buffer larger if a single answer needs that. */
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

// The longest body must fit into a batch with its record.
if (INBOUND_HEAD_BYTES + STAGE_BYTES_MAX > INBOUND_BYTES) throw new Error('INBOUND_BYTES is too small');
