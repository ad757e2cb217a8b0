/**
 * Membership: which relays share the world, and how many desktops each has, from the heartbeats of all.
 *
 * All relays count the same steps, four a second. A relay that receives a heartbeat of a later step adopts it, so the fastest clock
 * leads, and the clocks need not agree on the time of day. The view of a step is a pure function of the heartbeats that are at least
 * VIEW_LAG_STEPS older: the newest of each relay, in order of names. So relays that have received the same heartbeats have the same
 * view. They also agree on which relays are gone, because silence is counted in steps and not in milliseconds of a clock. Late, repeated
 * and reordered heartbeats only delay the moment at which views become the same.
 * The width has hysteresis, so it depends on the past. One relay decides it, the first of the view that has desktops; its heartbeats have it.
 * Invariant: the view has each relay at most once and always this one.
 * Cost: hear() is O(1), a view O(relays), both without allocation for each desktop; 120 bytes a relay.
 */
import { ok } from 'node:assert';
import type { Heartbeat } from '../../wire/peers/heartbeat.ts';
import { basesOf } from '../state/cluster_torus.ts';
import type { ClusterView } from '../state/cluster_view.ts';
import { widthOf } from '../state/torus.ts';

/** Time between two heartbeats of a relay. A join or leave changes the neighbours of others after half a second. */
export const STEP_MS = 250;

/**
 * Age in steps of the newest heartbeats that a view uses. A relay sends its heartbeat of a step up to one step after the first relay has
 * begun it, so with two steps the heartbeat may take one more step to arrive.
 */
export const VIEW_LAG_STEPS = 2;

/** A relay that is silent for longer, 2 s, is suspected: crossings to it are refused. Long for a pause of a collector or of a network. */
export const SUSPECTED_AFTER_STEPS = 8;

/** A relay that is silent for longer, 10 s, is no longer in the view. A restart takes less, so its desktops keep their neighbours. */
export const GONE_AFTER_STEPS = 40;

/** Steps that a new relay listens before its first heartbeat, so that it adopts the step of the others instead of bringing its own. */
export const LISTEN_STEPS = 4;

/** Relays of a cluster. Each hears four heartbeats a second of every other one. */
export const RELAYS_MAX = 1024;

/** Heartbeats that are remembered of each relay. Those of the newest VIEW_LAG_STEPS steps are not in the view yet. */
const REMEMBERED = 4;
ok(VIEW_LAG_STEPS < REMEMBERED && REMEMBERED < SUSPECTED_AFTER_STEPS && SUSPECTED_AFTER_STEPS < GONE_AFTER_STEPS);

/** `left`: it said that it stops. `gone`: silent for too long. `forgotten`: an operator declared it gone for ever. */
export type RelayState = 'here' | 'suspected' | 'gone' | 'left' | 'forgotten';

/**
 * What became of a heartbeat. `repeated`, `late` and `old-life` change nothing. `old-life`: a later life of this relay has been heard, and may
 * still be here. `superseded`: another relay runs under this relay's name, started later, and does not stop. `full`: RELAYS_MAX are known
 * already.
 */
export type HeartbeatOutcome = 'noted' | 'repeated' | 'late' | 'old-life' | 'forgotten' | 'own' | 'superseded' | 'full';

interface RelayRow {
  name: string;
  life: number;
  state: RelayState;
  /** Steps since its newest heartbeat. */
  silentSteps: number;
  /** Desktops and width, by its newest heartbeat. */
  count: number;
  width: number;
  /** Whether its view was the same in the step of its newest heartbeat; undefined when that step is too long ago. */
  agrees: boolean | undefined;
}

interface MembershipOptions {
  /** REQUIRES: isRelayName(name). */
  name: string;
  /** Larger than that of any earlier start. A relay with a smaller one is heard when the later life has been silent for GONE_AFTER_STEPS. */
  life: number;
  /** The width of this relay's own world. */
  width: number;
  /** The step to begin with when no other relay is heard: the time of day in steps. At least 1. */
  step: number;
}

/** A label that no heartbeat has. */
const NONE = -1;

export class Membership {
  readonly name: string;
  readonly life: number;
  readonly #firstStep: number;
  /** 0 until the first heartbeat, of this relay or another. */
  #step = 0;
  #isListening = true;
  /** Whether another relay has begun a step since the last tick. */
  #isAhead = false;
  #width: number;
  #leaves = false;

  /** The table of relays, one row each. Row 0 is this relay. */
  readonly #rowOf = new Map<string, number>();
  #names: string[] = [];
  #hashes = new Uint32Array(4);
  #lives = new Float64Array(4);
  #newest = new Float64Array(4);
  #isForgotten = new Uint8Array(4);
  /** The remembered heartbeats: that of step s is at REMEMBERED · row + s mod REMEMBERED. */
  #labels = new Float64Array(4 * REMEMBERED);
  #counts = new Float64Array(4 * REMEMBERED);
  #widths = new Uint32Array(4 * REMEMBERED);
  #digests = new Uint32Array(4 * REMEMBERED);
  #leaving = new Uint8Array(4 * REMEMBERED);
  /** Rows in order of their names. */
  #order: number[] = [];

  #view: ClusterView | undefined;
  /** The row of each relay of the view. */
  #viewRows: number[] = [];
  /** The row of the relay whose width the view has. */
  #widthRow = 0;
  /** The digests of this relay's own views, by step mod REMEMBERED. */
  readonly #ownSteps = new Float64Array(REMEMBERED).fill(NONE);
  readonly #ownDigests = new Uint32Array(REMEMBERED);

  constructor({ name, life, width, step }: MembershipOptions) {
    this.name = name;
    this.life = life;
    this.#width = width;
    this.#firstStep = step;
    this.#add(name, life);
  }

  get step(): number {
    return this.#step;
  }

  /** The present view: the same object until something changes. */
  get view(): ClusterView {
    this.#view ??= this.#makeView();
    return this.#view;
  }

  /** Begins the next step, unless another relay has begun one since the last tick. Returns the heartbeat to send. Call it every STEP_MS. */
  tick(count: number): Heartbeat {
    if (this.#isListening) {
      this.#isListening = false;
      if (this.#step === 0) this.#moveTo(this.#firstStep);
    } else if (!this.#isAhead) this.#moveTo(this.#step + 1);
    this.#isAhead = false;
    const view = this.view;
    const total = view.bases[view.counts.length];
    this.#width = widthOf(total, this.#widthRow === 0 ? this.#width : view.width);
    const heartbeat = {
      name: this.name,
      life: this.life,
      step: this.#step,
      count,
      width: this.#width,
      digest: view.digest,
      leaving: this.#leaves,
    };
    this.#note(0, heartbeat);
    return heartbeat;
  }

  /** From now on the heartbeats say that this relay stops. */
  leave(): void {
    this.#leaves = true;
  }

  /** Receives a heartbeat. It may be one of this relay's own. */
  hear(heartbeat: Heartbeat): HeartbeatOutcome {
    const { name, life, step } = heartbeat;
    if (name === this.name) return this.#hearNamesake(heartbeat);
    const row = this.#rowOf.get(name) ?? this.#addIfRoom(name, life);
    if (row === undefined) return 'full';
    if (life < this.#lives[row] && !this.#isSilent(row)) return 'old-life';
    if (life !== this.#lives[row]) this.#beginLife(row, life);
    else if (this.#isForgotten[row]) return 'forgotten';
    if (step > this.#step) {
      this.#follow(step);
      this.#isAhead = true;
    }
    return this.#note(row, heartbeat);
  }

  /** The newest life of a relay that is known. */
  lifeOf(name: string): number | undefined {
    const row = this.#rowOf.get(name);
    return row === undefined ? undefined : this.#lives[row];
  }

  stateOf(name: string): RelayState | undefined {
    const row = this.#rowOf.get(name);
    return row === undefined ? undefined : this.#stateOf(row);
  }

  /** Whether crossings may be sent to a relay of the present view. */
  isReachable(relay: number): boolean {
    const row = this.#viewRows[relay];
    return row === 0 || this.#stateOf(row) === 'here';
  }

  /** An operator declares that this life of a relay will not come back. Returns false when there is no such relay. */
  forget(name: string): boolean {
    const row = this.#rowOf.get(name);
    if (row === undefined || row === 0) return false;
    this.#isForgotten[row] = 1;
    this.#view = undefined;
    return true;
  }

  /** All relays that are known, in order of their names. */
  *relays(): IterableIterator<RelayRow> {
    for (const row of this.#order) {
      const newest = this.#newest[row];
      const at = this.#indexOf(row, newest);
      const own = newest % REMEMBERED;
      yield {
        name: this.#names[row],
        life: this.#lives[row],
        state: this.#stateOf(row),
        silentSteps: newest === NONE ? 0 : Math.max(0, this.#step - newest),
        count: this.#counts[at],
        width: this.#widths[at],
        agrees: this.#ownSteps[own] === newest ? this.#ownDigests[own] === this.#digests[at] : undefined,
      };
    }
  }

  #stateOf(row: number): RelayState {
    if (this.#isForgotten[row]) return 'forgotten';
    if (this.#leaving[this.#indexOf(row, this.#newest[row])]) return 'left';
    const silent = this.#step - this.#newest[row];
    return silent <= SUSPECTED_AFTER_STEPS || row === 0 ? 'here' : this.#isSilent(row) ? 'gone' : 'suspected';
  }

  /** Whether a relay has been silent for so long that it has no place in the view. */
  #isSilent(row: number): boolean {
    return this.#step - this.#newest[row] > GONE_AFTER_STEPS;
  }

  /** One that stops gives the name up: if this relay stopped for it, nobody would have it. */
  #hearNamesake({ life, leaving }: Heartbeat): HeartbeatOutcome {
    if (life === this.life) return 'own';
    if (life < this.life) return 'old-life';
    return leaving ? 'late' : 'superseded';
  }

  #note(row: number, { step, count, width, digest, leaving }: Heartbeat): HeartbeatOutcome {
    const at = this.#indexOf(row, step);
    if (this.#labels[at] >= step) return this.#labels[at] === step ? 'repeated' : 'late';
    this.#labels[at] = step;
    this.#counts[at] = count;
    this.#widths[at] = width;
    this.#digests[at] = digest;
    this.#leaving[at] = leaving ? 1 : 0;
    if (step > this.#newest[row]) this.#newest[row] = step;
    if (step <= this.#step - VIEW_LAG_STEPS) this.#view = undefined;
    return 'noted';
  }

  #moveTo(step: number): void {
    this.#step = step;
    this.#view = undefined;
  }

  /**
   * Adopts the step of another relay. After a long jump, as when two clusters that were apart meet, all others would seem to have been
   * silent for the length of the jump, so their heartbeats move with it.
   */
  #follow(step: number): void {
    const jump = step - this.#step;
    if (jump > SUSPECTED_AFTER_STEPS && this.#step > 0) {
      // Less than the jump, so that no heartbeat is of the new step; a multiple of REMEMBERED, so that each stays where it is.
      const moved = jump - 1 - ((jump - 1) % REMEMBERED);
      for (let row = 0; row < this.#names.length; row++) {
        if (this.#newest[row] !== NONE) this.#newest[row] += moved;
      }
      for (let at = 0; at < this.#names.length * REMEMBERED; at++) {
        if (this.#labels[at] !== NONE) this.#labels[at] += moved;
      }
    }
    this.#moveTo(step);
  }

  /** The index of the newest heartbeat of a row that the view of this step may use; NONE if there is none. */
  #usable(row: number): number {
    const until = this.#step - VIEW_LAG_STEPS;
    let best = NONE;
    for (let at = row * REMEMBERED; at < (row + 1) * REMEMBERED; at++) {
      const label = this.#labels[at];
      if (label !== NONE && label <= until && (best === NONE || label > this.#labels[best])) best = at;
    }
    if (best === NONE || this.#leaving[best] || this.#isForgotten[row]) return NONE;
    return row === 0 || until - this.#labels[best] <= GONE_AFTER_STEPS ? best : NONE;
  }

  #makeView(): ClusterView {
    const names: string[] = [];
    const counts: number[] = [];
    const rows: number[] = [];
    let carried = this.#width;
    let widthRow = NONE;
    let self = 0;
    let digest = 0x811c9dc5;
    for (const row of this.#order) {
      const at = this.#usable(row);
      if (at === NONE && row !== 0) continue;
      if (row === 0) self = rows.length;
      const count = at === NONE ? 0 : this.#counts[at];
      if (count > 0) digest = mix(mix(digest, this.#hashes[row]), count);
      if (count > 0 && widthRow === NONE) {
        widthRow = row;
        carried = this.#widths[at];
      }
      rows.push(row);
      names.push(this.#names[row]);
      counts.push(count);
    }
    const bases = basesOf(counts);
    const width = widthOf(bases[counts.length], carried);
    digest = mix(digest, width) >>> 0;
    this.#viewRows = rows;
    this.#widthRow = Math.max(0, widthRow);
    this.#ownSteps[this.#step % REMEMBERED] = this.#step;
    this.#ownDigests[this.#step % REMEMBERED] = digest;
    return { step: this.#step, names, counts: Float64Array.from(counts), bases, width, digest, self };
  }

  /** Adds a row for a new relay. When the table is full, it replaces one that left or was forgotten, and is silent. */
  #addIfRoom(name: string, life: number): number | undefined {
    if (this.#names.length < RELAYS_MAX) return this.#add(name, life);
    const row = this.#order.find(
      (one) => one !== 0 && ['left', 'forgotten'].includes(this.#stateOf(one)) && this.#isSilent(one),
    );
    if (row === undefined) return undefined;
    this.#rowOf.delete(this.#names[row]);
    this.#order.splice(this.#order.indexOf(row), 1);
    this.#name(row, name, life);
    return row;
  }

  #add(name: string, life: number): number {
    const row = this.#names.length;
    if (row === this.#lives.length) this.#grow();
    this.#name(row, name, life);
    return row;
  }

  #name(row: number, name: string, life: number): void {
    this.#rowOf.set(name, row);
    this.#names[row] = name;
    this.#hashes[row] = hashOf(name);
    const after = this.#order.findIndex((one) => this.#names[one] > name);
    this.#order.splice(after < 0 ? this.#order.length : after, 0, row);
    this.#beginLife(row, life);
  }

  #beginLife(row: number, life: number): void {
    this.#lives[row] = life;
    this.#newest[row] = NONE;
    this.#isForgotten[row] = 0;
    this.#labels.fill(NONE, row * REMEMBERED, (row + 1) * REMEMBERED);
    this.#leaving.fill(0, row * REMEMBERED, (row + 1) * REMEMBERED);
    this.#view = undefined;
  }

  #grow(): void {
    const rows = this.#lives.length * 2;
    this.#hashes = grown(this.#hashes, new Uint32Array(rows));
    this.#lives = grown(this.#lives, new Float64Array(rows));
    this.#newest = grown(this.#newest, new Float64Array(rows));
    this.#isForgotten = grown(this.#isForgotten, new Uint8Array(rows));
    this.#labels = grown(this.#labels, new Float64Array(rows * REMEMBERED));
    this.#counts = grown(this.#counts, new Float64Array(rows * REMEMBERED));
    this.#widths = grown(this.#widths, new Uint32Array(rows * REMEMBERED));
    this.#digests = grown(this.#digests, new Uint32Array(rows * REMEMBERED));
    this.#leaving = grown(this.#leaving, new Uint8Array(rows * REMEMBERED));
  }

  #indexOf(row: number, step: number): number {
    return row * REMEMBERED + (step === NONE ? 0 : step % REMEMBERED);
  }
}

function grown<Column extends Float64Array | Uint32Array | Uint8Array>(from: Column, into: Column): Column {
  into.set(from);
  return into;
}

/** FNV-1a of 32-bit words, with the high half folded in, so that counts beyond 16 bits reach all bits. */
function mix(digest: number, word: number): number {
  const mixed = Math.imul(digest ^ word, 0x01000193);
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) ^ (mixed >>> 13);
}

function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = mix(hash, name.charCodeAt(at));
  return hash >>> 0;
}
