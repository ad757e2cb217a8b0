/**
 * Stages: the newest stage of each watched desktop, as its watchers got it or will get it.
 *
 * Each watched desktop has one row; the number of rows and their size are fixed. A newer stage overwrites the older one: there is no
 * queue. The stage in the row is the one that the watchers know. A newer one is not stored if they could have predicted it: each of its
 * sprites looks the same, and is where its speed has moved it since, within a tolerance.
 * Invariant: a row in use belongs to one desktop; a row without a stage is never sent.
 * Memory: STAGE_ROW_BYTES a row, one block for all, allocated when somebody peeks first; the system provides the pages that are used.
 * Cost: set() copies ≤ 3 KB, isPredicted() is O(sprites), some 10 ns each. No allocation.
 */
import { STAGE_BYTES_MAX, STAGE_REFRESH_MS } from '../../wire/rules.ts';
import { SKETCH_BYTES_MAX, SKETCH_HEAD_WORDS, SKETCH_SPRITE_WORDS } from '../../wire/stage.ts';
import { WATCHED_MAX } from '../state/limits.ts';

/** Bytes of a row: the sketch, whose words are aligned, and the JSON. */
export const STAGE_ROW_BYTES = SKETCH_BYTES_MAX + STAGE_BYTES_MAX;

const ROW_WORDS = STAGE_ROW_BYTES / 4;

export class Stages {
  readonly #rows: number;
  /** The block of all rows; empty until the first add(). */
  #bytes: Buffer = Buffer.alloc(0);
  #words: Int32Array = new Int32Array(0);
  /** The sketch that isPredicted() compares with a row. */
  readonly #given = new Int32Array(SKETCH_BYTES_MAX / 4);
  readonly #givenBytes = Buffer.from(this.#given.buffer);
  /** Bytes of JSON in each row; 0: it has no stage. */
  readonly #jsonBytes: Uint16Array;
  readonly #receivedMs: Float64Array;
  /** Released rows, a stack; rows from #untouched on were never used. */
  readonly #free: Uint32Array;
  #freeCount = 0;
  #untouched = 0;

  constructor(rows = WATCHED_MAX) {
    this.#rows = rows;
    this.#jsonBytes = new Uint16Array(rows);
    this.#receivedMs = new Float64Array(rows);
    this.#free = new Uint32Array(rows);
  }

  get max(): number {
    return this.#rows;
  }

  /** Rows in use. */
  get count(): number {
    return this.#untouched - this.#freeCount;
  }

  /** Rows that were used so far: a row in use is below it. */
  get untouched(): number {
    return this.#untouched;
  }

  /** Reserves a row, without a stage, and returns it; -1 when there is none left. */
  add(): number {
    if (this.count === this.#rows) return -1;
    if (this.#bytes.length === 0) {
      const memory = new ArrayBuffer(this.#rows * STAGE_ROW_BYTES);
      this.#bytes = Buffer.from(memory);
      this.#words = new Int32Array(memory);
    }
    return this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#untouched++;
  }

  release(row: number): void {
    this.#jsonBytes[row] = 0;
    this.#free[this.#freeCount++] = row;
  }

  has(row: number): boolean {
    return this.#jsonBytes[row] !== 0;
  }

  /** How old the stage of a row is, in whole ms. */
  ageMs(row: number, nowMs: number): number {
    return Math.max(0, Math.round(nowMs - this.#receivedMs[row]));
  }

  /**
   * Whether a watcher that has the stage of a row could have predicted the stage at body[start] (its sketch first, wire/stage.ts), within
   * `tolerancePx` along each axis. A row without a stage, or with one older than STAGE_REFRESH_MS, predicts nothing.
   */
  isPredicted(row: number, body: Buffer, start: number, nowMs: number, tolerancePx: number): boolean {
    const elapsedMs = nowMs - this.#receivedMs[row];
    if (!this.has(row) || elapsedMs >= STAGE_REFRESH_MS || elapsedMs < 0) return false;
    const known = this.#words;
    const given = this.#given;
    const from = row * ROW_WORDS;
    body.copy(this.#givenBytes, 0, start, start + SKETCH_HEAD_WORDS * 4);
    const sprites = given[1];
    if (given[0] !== known[from] || sprites !== known[from + 1]) return false;
    const end = SKETCH_HEAD_WORDS + sprites * SKETCH_SPRITE_WORDS;
    body.copy(this.#givenBytes, 0, start, start + end * 4);
    const seconds = elapsedMs / 1000;
    for (let at = SKETCH_HEAD_WORDS; at < end; at += SKETCH_SPRITE_WORDS) {
      const was = from + at;
      if (given[at] !== known[was] || given[at + 5] !== known[was + 5]) return false;
      if (Math.abs(given[at + 1] - known[was + 1] - known[was + 3] * seconds) > tolerancePx) return false;
      if (Math.abs(given[at + 2] - known[was + 2] - known[was + 4] * seconds) > tolerancePx) return false;
    }
    return true;
  }

  /** Makes body[start, end), a stage with its sketch, the stage of a row. */
  set(row: number, body: Buffer, start: number, end: number, nowMs: number): void {
    const sprites = body.readUInt32LE(start + 4);
    const json = start + 4 * (SKETCH_HEAD_WORDS + sprites * SKETCH_SPRITE_WORDS);
    const at = row * STAGE_ROW_BYTES;
    body.copy(this.#bytes, at, start, json);
    body.copy(this.#bytes, at + SKETCH_BYTES_MAX, json, end);
    this.#jsonBytes[row] = end - json;
    this.#receivedMs[row] = nowMs;
  }

  /** Writes the JSON of the stage of a row to out[at]; returns where it ends. */
  write(row: number, out: Buffer, at: number): number {
    const from = row * STAGE_ROW_BYTES + SKETCH_BYTES_MAX;
    return at + this.#bytes.copy(out, at, from, from + this.#jsonBytes[row]);
  }
}
