/**
 * The relay's recent past: named series of numbers with one value for each sample, the answer of GET /admin/history.
 *
 * Memory is fixed: one row of a typed array for each series, of which the oldest sample is overwritten by the newest.
 * Invariant: a sample has a number that only rises; its values are at `number % RING` of each row.
 * Cost: begin() and set() are O(rows) and O(1); a document is written in pieces, a few rows in each turn of the loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time between two samples, in ms: an answer that a person waits for, and still half an hour in 360 of them. */
export const SAMPLE_MS = 5_000;

/** Samples that are kept: thirty minutes. */
export const SAMPLES_MAX = 360;

/** Series that are kept: some 20 of the relay, and a dozen for each process of a machine with 16 cores. 380 KB. */
export const SERIES_MAX = 256;

/**
 * Samples beyond SAMPLES_MAX that have not been overwritten yet. A document is written while samples are taken; this is a
 * minute, in which it must have been sent.
 */
const SPARE_SAMPLES = 12;
export const DOCUMENT_MS_MAX = (SPARE_SAMPLES * SAMPLE_MS) / 2;

const RING = SAMPLES_MAX + SPARE_SAMPLES;

/** Series written in one turn of the loop: 0.3 ms with SAMPLES_MAX samples each. */
const SERIES_PER_TURN = 8;

export class History {
  /** When each sample was taken, in Unix ms. */
  readonly #times = new Float64Array(RING);
  readonly #values = new Float32Array(SERIES_MAX * RING).fill(Number.NaN);
  readonly #rows = new Map<string, number>();
  readonly #startedMs: number;
  /** The number of the newest sample; the first one is 1. */
  #newest = 0;

  /** `startedMs`: when this relay started, in Unix ms. It tells one run's sample numbers from another's. */
  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** Begins a sample. Values that set() does not give it are unknown. */
  begin(timeMs: number): void {
    const at = ++this.#newest % RING;
    this.#times[at] = timeMs;
    for (let i = at; i < this.#values.length; i += RING) this.#values[i] = Number.NaN;
  }

  /** Sets a value of the newest sample. Returns false when there are SERIES_MAX series with a value already. */
  set(name: string, value: number): boolean {
    const row = this.#rows.get(name) ?? this.#addRow(name);
    if (row === undefined) return false;
    this.#values[row * RING + (this.#newest % RING)] = value;
    return true;
  }

  /**
   * The samples after number `after`, as JSON text in pieces: a HistoryDocument of web/admin/readings.ts.
   *
   * Shape  everything when `after` is 0, is not known, or is a sample of another run.
   * Owner  must be read within DOCUMENT_MS_MAX; later, samples may have been overwritten.
   */
  async *document(after: number, about: object): AsyncGenerator<string> {
    const newest = this.#newest;
    const oldest = Math.max(1, newest - SAMPLES_MAX + 1);
    const first = after < oldest || after > newest ? oldest : after + 1;
    const places = Array.from({ length: newest - first + 1 }, (_, i) => (first + i) % RING);
    const times = places.map((at) => this.#times[at]);
    const head = { ...about, started: this.#startedMs, stepMs: SAMPLE_MS, samplesMax: SAMPLES_MAX, first, times };
    yield `${JSON.stringify(head).slice(0, -1)},"series":{`;
    let written = 0;
    for (const [name, row] of [...this.#rows]) {
      if (written > 0 && written % SERIES_PER_TURN === 0) await nextTurn();
      // NaN becomes null.
      const values = places.map((at) => Math.round(this.#values[row * RING + at] * 1000) / 1000);
      yield `${written++ > 0 ? ',' : ''}${JSON.stringify(name)}:${JSON.stringify(values)}`;
    }
    yield '}}';
  }

  #addRow(name: string): number | undefined {
    if (this.#rows.size === SERIES_MAX && !this.#removeEmptyRow()) return undefined;
    const taken = new Set(this.#rows.values());
    let row = 0;
    while (taken.has(row)) row++;
    this.#rows.set(name, row);
    return row;
  }

  /** Removes a series that has no value any more, such as one of a process that has ended. */
  #removeEmptyRow(): boolean {
    for (const [name, row] of this.#rows) {
      if (!this.#values.subarray(row * RING, (row + 1) * RING).every(Number.isNaN)) continue;
      return this.#rows.delete(name);
    }
    return false;
  }
}
