/**
 * Frames in a stream of bytes, whose pieces begin and end anywhere.
 *
 * Invariant: each frame is passed on once, whole and in order. Only the length of a frame is read here, and it is bounded.
 * Cost: a frame that arrives in one piece is not copied; one that arrives in several is copied once.
 */
import { FRAME_BYTES_MAX, FRAME_HEAD, MalformedFrame } from './frame.ts';

/** Where the length is in the head of a frame, in bytes. */
const LENGTH_AT = 4;

export class FrameStream {
  /** The frame whose beginning has arrived, or its head until the length is known. */
  #partial: Buffer | undefined;
  #received = 0;

  /**
   * Calls `each` for every frame that is complete with these bytes.
   *
   * Owner   a frame is valid until `each` returns.
   * Throws  MalformedFrame: nothing that follows can be read.
   */
  receive(bytes: Buffer, each: (frame: Buffer) => void): void {
    let at = this.#partial ? this.#complete(bytes, each) : 0;
    while (bytes.length - at >= FRAME_HEAD) {
      const end = at + lengthOf(bytes, at);
      if (end > bytes.length) break;
      each(bytes.subarray(at, end));
      at = end;
    }
    if (at < bytes.length) this.#begin(bytes, at);
  }

  /** Continues the partial frame with the first bytes. Returns how many it has used. */
  #complete(bytes: Buffer, each: (frame: Buffer) => void): number {
    let at = this.#fill(bytes, 0);
    let partial = this.#partial as Buffer;
    if (partial.length === FRAME_HEAD && this.#received === FRAME_HEAD) {
      const frame = Buffer.allocUnsafe(lengthOf(partial, 0));
      partial.copy(frame);
      this.#partial = partial = frame;
      at = this.#fill(bytes, at);
    }
    if (this.#received === partial.length) {
      this.#partial = undefined;
      each(partial);
    }
    return at;
  }

  /** Begins a partial frame with bytes[at, …). */
  #begin(bytes: Buffer, at: number): void {
    const isLengthKnown = bytes.length - at >= FRAME_HEAD;
    this.#partial = Buffer.allocUnsafe(isLengthKnown ? lengthOf(bytes, at) : FRAME_HEAD);
    this.#received = bytes.copy(this.#partial, 0, at);
  }

  /** Copies bytes[at, …) into the partial frame, as many as it lacks. Returns where the rest begins. */
  #fill(bytes: Buffer, at: number): number {
    const count = bytes.copy(this.#partial as Buffer, this.#received, at);
    this.#received += count;
    return at + count;
  }
}

function lengthOf(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at + LENGTH_AT);
  if (length < FRAME_HEAD || length > FRAME_BYTES_MAX) throw new MalformedFrame(`its length is ${length}`);
  return length;
}
