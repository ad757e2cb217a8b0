/**
 * Sayings: lines of text on their way to those who hear them.
 *
 * A saying is stored once, in a ring of bytes that all worlds share. What a desktop has not heard yet is a list of sayings, and
 * desktops that wait for the same sayings share one list: a list is a node, which names its newest saying and the list of the
 * sayings before it. So a saying to a thousand desktops writes a thousand numbers, and what they get is rendered once. Nodes
 * are in a ring too: nothing is freed or counted by references, and a desktop that does not poll holds nothing.
 * Invariant: heard = sent + missed + given up + waiting, at every moment. A desktop misses its oldest sayings first: those
 * that the rings have overwritten, and those above SAYINGS_WAITING_MAX. Its next batch gives their number.
 * Memory: the two rings, 8 + 4 MiB once something is said; 8 bytes a slot, untouched until its desktop hears something.
 * Cost: hear() some 10 ns, pop() O(batch) for each different list of a round, else O(1).
 */

import { ok } from 'node:assert';
import { EDGES, SAYINGS_BYTES_PER_POLL_MAX, SAYINGS_PER_POLL_MAX } from '../../wire/rules.ts';
import { NO_EDGE } from '../../wire/saying.ts';
import { SAYINGS_WAITING_MAX } from '../state/limits.ts';
import { writeNumber } from '../state/mailboxes.ts';

/** Bytes of the ring of sayings: 50,000 usual ones. The busiest relay uses it up in half a second, which is five rounds. A power of two. */
export const SAYINGS_RING_BYTES = 8 << 20;
ok(Number.isInteger(Math.log2(SAYINGS_RING_BYTES)));

/** Nodes in the ring of lists: four times what a round of the busiest relay makes when nobody shares a list. A power of two. */
export const SAYINGS_NODES = 1 << 18;
ok(Number.isInteger(Math.log2(SAYINGS_NODES)));

/** A saying in the ring: words for its length, and for slot and generation of its speaker; then its event up to the text. */
const HEAD_BYTES = 12;

/** Positions in the ring are in units of this many bytes. */
const UNIT_BYTES = 8;

/** Words of a node: the list before it, the position of its saying, the edge, and a list that was made from it. */
const NODE_WORDS = 4;
const PREVIOUS = 0;
const SAYING = 1;
const EDGE = 2;
const NEXT = 3;

/** The empty list. */
const EMPTY = 0;

/** Words of a slot: its list, and how many sayings wait for it: the newest ones of the list. It was sent those before. */
const SLOT_WORDS = 2;

/** A batch is found by its list and how many of it wait: above the largest list, which is 2^32 - 1, there are 21 bits of a number. */
const WAITING_KEYS = 2 ** 21;

const SAYING_KEY = Buffer.from('{"type":"saying","from":');
const TEXT_KEY = Buffer.from(',"text":');
const EDGE_ENDS = EDGES.map((edge) => Buffer.from(`,"edge":"${edge}"}`));
const EDGE_END_BYTES_MAX = Math.max(...EDGE_ENDS.map(({ length }) => length));
const END = Buffer.from('}');
const MISSED = Buffer.from('{"type":"missed","sayings":');
const COMMA = 0x2c;
const CLOSE = 0x7d;

/** Bytes of the event that tells how many sayings a desktop has missed, with a comma. */
export const MISSED_BYTES_MAX = MISSED.length + 12;

/** What a desktop gets: the oldest sayings that wait for it, and how many it has missed before them. */
export interface SayingBatch {
  /** The events and the end of a batch, `…]}`. The same Buffer for all that wait for the same sayings; it does not change. */
  bytes: Buffer;
  /** Sayings in `bytes`. When it is 0, `bytes` is the end of a batch only. */
  count: number;
  missed: number;
}

/** The batch of a list: as SayingBatch; `left` sayings do not fit into it. */
interface Rendered {
  bytes: Buffer;
  count: number;
  left: number;
}

export class Sayings {
  /** The rings; empty until something is said. */
  #ring: Buffer = Buffer.alloc(0);
  #ringWords: Uint32Array = new Uint32Array(0);
  #nodes: Uint32Array = new Uint32Array(0);
  #scratch: Buffer = this.#ring;
  readonly #slots: Uint32Array;
  /** The position after the newest saying, in units, and the number of the next node. Both wrap at 2^32. */
  #end = 0;
  #nextNode = 1;
  /** The position of the newest saying. */
  #newest = 0;
  /** Units and nodes since the start, up to the size of their ring: before that no position is too old. */
  #usedUnits = 0;
  #usedNodes = 0;
  /** A list of one that was made from the empty list. */
  #first = EMPTY;
  /** The list and its successor in the last hear(), for those who wait for the same. */
  #lastList = EMPTY;
  #lastEdge = NO_EDGE;
  #lastNode = EMPTY;
  /** The batches of this round, by list and how many of it wait. */
  readonly #rendered = new Map<number, Rendered>();
  readonly #found = new Uint32Array(SAYINGS_WAITING_MAX);
  readonly #batch: SayingBatch = { bytes: this.#scratch, count: 0, missed: 0 };
  /** Generations of desktops that were silenced, by slot. */
  readonly #silenced = new Map<number, number>();
  /** The sizes of the rings: units and nodes. As powers of two, they make a place of a number by a mask. */
  readonly #units: number;
  readonly #nodesMax: number;
  /** Sayings to a desktop, each counted for each desktop that it is for. */
  readonly counters = { heard: 0, sent: 0, missed: 0, givenUp: 0 };

  /** `ringBytes` and `nodes` are powers of two; tests lower them. */
  constructor(slots: number, ringBytes = SAYINGS_RING_BYTES, nodes = SAYINGS_NODES) {
    this.#slots = new Uint32Array(slots * SLOT_WORDS);
    this.#units = ringBytes / UNIT_BYTES;
    this.#nodesMax = nodes;
  }

  /** Sayings that wait for a desktop, those included that it has missed. */
  waiting(slot: number): number {
    return this.#slots[slot * SLOT_WORDS + 1];
  }

  /** Sayings that wait for all desktops. */
  get waitingCount(): number {
    const { heard, sent, missed, givenUp } = this.counters;
    return heard - sent - missed - givenUp;
  }

  /**
   * Stores a saying of a desktop, whose reference is reference[0, length), as the newest one. hear() passes it on.
   *
   * Shape   it overwrites the oldest sayings, also those that a desktop still waits for.
   */
  add(slot: number, generation: number, reference: Buffer, length: number, text: string): void {
    if (this.#ring.length === 0) this.#allocate();
    const quoted = JSON.stringify(text);
    const bytes = SAYING_KEY.length + length + TEXT_KEY.length + Buffer.byteLength(quoted);
    const units = Math.ceil((HEAD_BYTES + bytes) / UNIT_BYTES);
    // A saying does not wrap: the rest of the ring is left unused.
    const at = this.#end & (this.#units - 1);
    const start = at + units > this.#units ? this.#end + this.#units - at : this.#end;
    this.#newest = start >>> 0;
    this.#usedUnits = Math.min(this.#units, this.#usedUnits + start + units - this.#end);
    this.#end = (start + units) >>> 0;
    const from = (start & (this.#units - 1)) * UNIT_BYTES;
    this.#ringWords.set([bytes, slot, generation], from / 4);
    let end = from + HEAD_BYTES;
    end += SAYING_KEY.copy(this.#ring, end);
    end += reference.copy(this.#ring, end, 0, length);
    end += TEXT_KEY.copy(this.#ring, end);
    this.#ring.write(quoted, end);
    this.#lastNode = EMPTY;
  }

  /** Lets the newest saying wait for a desktop. `edge` is where the speaker is, NO_EDGE when that is not told. */
  hear(slot: number, edge: number): void {
    const at = slot * SLOT_WORDS;
    const list = this.#slots[at];
    if (this.#lastNode === EMPTY || list !== this.#lastList || edge !== this.#lastEdge) {
      this.#lastNode = this.#successor(list, edge);
      this.#lastList = list;
      this.#lastEdge = edge;
    }
    this.#slots[at] = this.#lastNode;
    this.#slots[at + 1]++;
    this.counters.heard++;
  }

  /**
   * Removes the oldest of what waits for a desktop and returns it. REQUIRES: waiting(slot) > 0.
   *
   * Shape   at most SAYINGS_PER_POLL_MAX sayings and SAYINGS_BYTES_PER_POLL_MAX bytes.
   * Owner   the result is valid until the next call; its `bytes` do not change.
   */
  pop(slot: number): Readonly<SayingBatch> {
    const at = slot * SLOT_WORDS;
    const list = this.#slots[at];
    const waiting = this.#slots[at + 1];
    // Above the limit it makes no difference how many wait.
    const key = list * WAITING_KEYS + Math.min(waiting, SAYINGS_WAITING_MAX);
    let rendered = this.#rendered.get(key);
    if (rendered === undefined) {
      rendered = this.#render(list, waiting);
      this.#rendered.set(key, rendered);
    }
    const batch = this.#batch;
    batch.bytes = rendered.bytes;
    batch.count = rendered.count;
    batch.missed = waiting - rendered.count - rendered.left;
    if (rendered.left === 0) this.#slots[at] = EMPTY;
    this.#slots[at + 1] = rendered.left;
    this.counters.sent += batch.count;
    this.counters.missed += batch.missed;
    return batch;
  }

  /** Ends a round: what was rendered may be forgotten. Call it often enough that the rings do not come round meanwhile. */
  endRound(): void {
    if (this.#rendered.size > 0) this.#rendered.clear();
  }

  /** Gives up what waits for a desktop that has ended. */
  clear(slot: number): void {
    const at = slot * SLOT_WORDS;
    if (this.#slots[at + 1] === 0) return;
    this.counters.givenUp += this.#slots[at + 1];
    this.#slots[at] = EMPTY;
    this.#slots[at + 1] = 0;
  }

  /** Nobody hears any more what this desktop has said: it counts as missed. */
  silence(slot: number, generation: number): void {
    this.#silenced.set(slot, generation);
    this.#rendered.clear();
  }

  /** Forgets whom silence() was called for. Call it when none of their sayings waits any more. */
  endSilence(): void {
    this.#silenced.clear();
  }

  /** Writes the event that tells a desktop what it has missed to out[at]; returns where it ends. */
  writeMissed(missed: number, out: Buffer, at: number): number {
    const end = writeNumber(out, at + MISSED.copy(out, at), missed);
    out[end] = CLOSE;
    return end + 1;
  }

  #allocate(): void {
    const memory = new ArrayBuffer(this.#units * UNIT_BYTES);
    this.#ring = Buffer.from(memory);
    this.#ringWords = new Uint32Array(memory);
    this.#nodes = new Uint32Array(this.#nodesMax * NODE_WORDS);
    this.#scratch = Buffer.alloc(SAYINGS_BYTES_PER_POLL_MAX + 2);
  }

  /** The list that has the newest saying after those of `list`. */
  #successor(list: number, edge: number): number {
    const nodes = this.#nodes;
    const isKnown = list !== EMPTY && this.#hasNode(list);
    const previous = isKnown ? list : EMPTY;
    const at = (list & (this.#nodesMax - 1)) * NODE_WORDS;
    const made = isKnown ? nodes[at + NEXT] : this.#first;
    if (made !== EMPTY && this.#hasNode(made)) {
      const madeAt = (made & (this.#nodesMax - 1)) * NODE_WORDS;
      const isSame = nodes[madeAt + PREVIOUS] === previous && nodes[madeAt + SAYING] === this.#newest;
      if (isSame && nodes[madeAt + EDGE] === edge) return made;
    }
    const node = this.#nextNode;
    // 0 is the empty list.
    this.#nextNode = (node + 1) >>> 0 || 1;
    this.#usedNodes = Math.min(this.#nodesMax, this.#usedNodes + 1);
    const nodeAt = (node & (this.#nodesMax - 1)) * NODE_WORDS;
    nodes[nodeAt + PREVIOUS] = previous;
    nodes[nodeAt + SAYING] = this.#newest;
    nodes[nodeAt + EDGE] = edge;
    nodes[nodeAt + NEXT] = EMPTY;
    // The node may have taken the place of the list itself.
    if (isKnown && this.#hasNode(list)) nodes[at + NEXT] = node;
    else if (!isKnown) this.#first = node;
    return node;
  }

  /** Whether the ring still has a node. */
  #hasNode(node: number): boolean {
    return (this.#nextNode - node) >>> 0 <= this.#usedNodes;
  }

  /** Whether the ring still has a saying. */
  #hasSaying(position: number): boolean {
    return (this.#end - position) >>> 0 <= this.#usedUnits;
  }

  /** Renders the oldest of the newest `waiting` sayings of a list. */
  #render(list: number, waiting: number): Rendered {
    const nodes = this.#nodes;
    const found = this.#found;
    const max = Math.min(waiting, found.length);
    let left = 0;
    for (let node = list; node !== EMPTY && left < max && this.#hasNode(node); ) {
      const at = (node & (this.#nodesMax - 1)) * NODE_WORDS;
      if (!this.#hasSaying(nodes[at + SAYING])) break;
      found[left++] = at;
      node = nodes[at + PREVIOUS];
    }
    const out = this.#scratch;
    let end = 0;
    let count = 0;
    // The last one found is the oldest.
    for (; left > 0 && count < SAYINGS_PER_POLL_MAX; left--) {
      const at = found[left - 1];
      const from = (nodes[at + SAYING] & (this.#units - 1)) * UNIT_BYTES;
      const word = from / 4;
      const length = this.#ringWords[word];
      if (this.#silenced.size > 0 && this.#silenced.get(this.#ringWords[word + 1]) === this.#ringWords[word + 2])
        continue;
      if (end + 1 + length + EDGE_END_BYTES_MAX > SAYINGS_BYTES_PER_POLL_MAX) break;
      if (end > 0) out[end++] = COMMA;
      const start = from + HEAD_BYTES;
      end += this.#ring.copy(out, end, start, start + length);
      const edge = nodes[at + EDGE];
      end += edge === NO_EDGE ? END.copy(out, end) : EDGE_ENDS[edge].copy(out, end);
      count++;
    }
    out[end++] = 0x5d;
    out[end++] = CLOSE;
    return { bytes: Buffer.from(out.subarray(0, end)), count, left };
  }
}
