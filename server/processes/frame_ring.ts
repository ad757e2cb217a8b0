/**
 * Frames through shared memory: one end of the link between the master and a worker (native/ring/byte_ring.h).
 *
 * It carries the same frames as Node's channel, without its system calls, its serialization and its turns of the loop. Where there is no
 * addon, and for everything that is not a frame, processes use the channel.
 * Invariant: frames arrive once, whole and in order. Nothing that a worker writes into the memory does more to the master than to end
 * this link.
 * Cost: one copy into the ring and one out of it; a system call only when the other process sleeps.
 */
import { addon, type NativeRing, type RingOptions } from '../front/native.ts';
import { MalformedFrame } from '../wire/frame.ts';
import { FrameStream } from '../wire/frame_stream.ts';

/** What one turn reads of one link, in bytes: some 180 frames with one crossing, a millisecond of the master's work. */
const INBOUND_BYTES = 64 << 10;

/** All links of a process read into the same memory, one after the other. */
let inbound: Buffer | undefined;

export interface FrameReceiver {
  /** A frame has arrived. Owner: it is valid until this returns. */
  frame(frame: Buffer): void;
  /** All frames of this turn were passed on. */
  turn(): void;
  /** The other process has written something that is not a frame. The link is closed. */
  broken(why: string): void;
}

/** The part of the addon that a link needs; tests pass their own. */
type MakeRing = (options: RingOptions) => NativeRing;

interface Unsent {
  readonly frame: Buffer;
  /** The bytes from here on are not in the ring yet. */
  from: number;
  readonly sent: () => void;
}

export class FrameRing {
  readonly #native: NativeRing;
  readonly #receiver: FrameReceiver;
  readonly #stream = new FrameStream();
  /** Frames that the ring has no room for, the oldest first. Their senders bound the bytes (ipc.ts). */
  #unsent: Unsent[] = [];

  /** `descriptors`: what the master passed on; absent in the master. Throws the system's error. */
  constructor(receiver: FrameReceiver, descriptors?: readonly number[], make: MakeRing = makeNative) {
    this.#receiver = receiver;
    inbound ??= Buffer.from(new ArrayBuffer(INBOUND_BYTES));
    this.#native = make({
      inbound: inbound.buffer as ArrayBuffer,
      descriptors,
      receive: (bytes) => this.#receive((inbound as Buffer).subarray(0, bytes)),
      room: () => this.#sendRest(),
      broken: () => receiver.broken('a position in the shared memory is impossible'),
    });
  }

  /** In the master: what the worker needs to open its end. */
  get descriptors(): readonly number[] {
    return this.#native.descriptors;
  }

  /** Call it when the worker has the descriptors. */
  passedOn(): void {
    this.#native.passedOn();
  }

  /** Calls `sent` once, now or later, when all of the frame is in the ring. When the link is closed first, it does not call it. */
  send(frame: Buffer, sent: () => void): void {
    const from = this.#unsent.length > 0 ? 0 : this.#native.write(frame, 0);
    if (from === frame.length) sent();
    else this.#unsent.push({ frame, from, sent });
  }

  close(): void {
    this.#native.close();
    this.#unsent = [];
  }

  #receive(bytes: Buffer): void {
    try {
      this.#stream.receive(bytes, this.#receiver.frame);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.close();
      this.#receiver.broken(error.message);
    }
    this.#receiver.turn();
  }

  #sendRest(): void {
    let count = 0;
    for (const unsent of this.#unsent) {
      unsent.from += this.#native.write(unsent.frame, unsent.from);
      if (unsent.from < unsent.frame.length) break;
      count++;
    }
    // First removed, then reported: a report may send more.
    for (const { sent } of this.#unsent.splice(0, count)) sent();
  }
}

function makeNative(options: RingOptions): NativeRing {
  return new (addon().Ring)(options);
}
