/**
 * Notices: short events that concern every desktop, such as a removed picture.
 *
 * All desktops share one list; a slot only has the number of the newest notice that it was sent. A notice rides with the
 * next answer to a poll, is sent at most once, and is not counted by cursors.
 * Invariant: a slot gets each notice that was added while it was here, in order, unless NOTICES_KEPT newer ones came first.
 * Cost: 4 bytes a slot, untouched before the first notice; write() copies at most NOTICES_PER_POLL_MAX events.
 */
import { ok } from 'node:assert';
import { ANNOUNCEMENT_BYTES_MAX, NOTICES_PER_POLL_MAX } from '../../wire/rules.ts';

/** Notices kept. A desktop that polls has received them long before this many more come: an operator sends them by hand. */
export const NOTICES_KEPT = 64;

/** Bytes of one notice as JSON. */
export const NOTICE_BYTES_MAX = 1024;
ok(NOTICE_BYTES_MAX >= '{"type":"announcement","text":""}'.length + 2 * ANNOUNCEMENT_BYTES_MAX);

/** Bytes of the notices in one answer, with the commas between them. */
export const NOTICES_BYTES_MAX = NOTICES_PER_POLL_MAX * (NOTICE_BYTES_MAX + 1);

const COMMA = 0x2c;

export class Notices {
  /** The last NOTICES_KEPT notices; number n is at n % NOTICES_KEPT. */
  readonly #kept: Buffer[] = [];
  readonly #sent: Uint32Array;
  #newest = 0;

  constructor(slots: number) {
    this.#sent = new Uint32Array(slots);
  }

  /** Adds an event. REQUIRES: its JSON has at most NOTICE_BYTES_MAX bytes. */
  add(event: object): void {
    const bytes = Buffer.from(JSON.stringify(event));
    if (bytes.length > NOTICE_BYTES_MAX) throw new RangeError(`a notice of ${bytes.length} bytes`);
    this.#kept[++this.#newest % NOTICES_KEPT] = bytes;
  }

  /** A slot has a new owner, whom earlier notices do not concern. */
  join(slot: number): void {
    if (this.#newest > 0) this.#sent[slot] = this.#newest;
  }

  isDue(slot: number): boolean {
    return this.#sent[slot] !== this.#newest;
  }

  /** Writes the oldest notices that the slot was not sent to out[at], with commas between them; returns where they end. */
  write(slot: number, out: Buffer, at: number): number {
    const first = Math.max(this.#sent[slot] + 1, this.#newest - NOTICES_KEPT + 1);
    const last = Math.min(this.#newest, first + NOTICES_PER_POLL_MAX - 1);
    let end = at;
    for (let number = first; number <= last; number++) {
      if (end > at) out[end++] = COMMA;
      end += this.#kept[number % NOTICES_KEPT].copy(out, end);
    }
    this.#sent[slot] = last;
    return end;
  }
}
