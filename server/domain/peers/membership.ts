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
 * Cost: hear() is O(1), a view O(relays), both without allocation for each desktop; some 500 bytes a relay.
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

/** A relay as it is known here. */
interface Row {
  readonly name: string;
  readonly hash: number;
  life: number;
  isForgotten: boolean;
  newest: Heartbeat | undefined;
  /** The remembered heartbeats: that of step s is at s mod REMEMBERED. */
  heartbeats: (Heartbeat | undefined)[];
}

/** A step that no heartbeat has. */
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

  readonly #rowOf = new Map<string, Row>();
  /** Rows in order of their names. */
  readonly #order: Row[] = [];
  /** The row of this relay. */
  readonly #own: Row;

  #view: ClusterView | undefined;
  /** The row of each relay of the view. */
  #viewRows: Row[] = [];
  /** The row of the relay whose width the view has. */
  #widthRow: Row;
  /** This relay's own views, by step mod REMEMBERED. */
  readonly #ownViews: ClusterView[] = [];

  constructor({ name, life, width, step }: MembershipOptions) {
    this.name = name;
    this.life = life;
    this.#width = width;
    this.#firstStep = step;
    this.#own = this.#add(name, life);
    this.#widthRow = this.#own;
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
    this.#width = widthOf(total, this.#widthRow === this.#own ? this.#width : view.width);
    const heartbeat = {
      name: this.name,
      life: this.life,
      step: this.#step,
      count,
      width: this.#width,
      digest: view.digest,
      leaving: this.#leaves,
    };
    this.#note(this.#own, heartbeat);
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
    if (life < row.life && !this.#isSilent(row)) return 'old-life';
    if (life !== row.life) this.#beginLife(row, life);
    else if (row.isForgotten) return 'forgotten';
    if (step > this.#step) {
      this.#follow(step);
      this.#isAhead = true;
    }
    return this.#note(row, heartbeat);
  }

  /** The newest life of a relay that is known. */
  lifeOf(name: string): number | undefined {
    return this.#rowOf.get(name)?.life;
  }

  stateOf(name: string): RelayState | undefined {
    const row = this.#rowOf.get(name);
    return row === undefined ? undefined : this.#stateOf(row);
  }

  /** Whether crossings may be sent to a relay of the present view. */
  isReachable(relay: number): boolean {
    const row = this.#viewRows[relay];
    return row === this.#own || this.#stateOf(row) === 'here';
  }

  /** An operator declares that this life of a relay will not come back. Returns false when there is no such relay. */
  forget(name: string): boolean {
    const row = this.#rowOf.get(name);
    if (row === undefined || row === this.#own) return false;
    row.isForgotten = true;
    this.#view = undefined;
    return true;
  }

  /** All relays that are known, in order of their names. */
  *relays(): IterableIterator<RelayRow> {
    for (const row of this.#order) {
      const { newest } = row;
      const own = newest && this.#ownViews[newest.step % REMEMBERED];
      yield {
        name: row.name,
        life: row.life,
        state: this.#stateOf(row),
        silentSteps: newest === undefined ? 0 : Math.max(0, this.#step - newest.step),
        count: newest?.count ?? 0,
        width: newest?.width ?? 0,
        agrees: newest && own?.step === newest.step ? own.digest === newest.digest : undefined,
      };
    }
  }

  #stateOf(row: Row): RelayState {
    if (row.isForgotten) return 'forgotten';
    if (row.newest?.leaving) return 'left';
    if (row === this.#own || this.#silenceOf(row) <= SUSPECTED_AFTER_STEPS) return 'here';
    return this.#isSilent(row) ? 'gone' : 'suspected';
  }

  /** Steps since the newest heartbeat of a relay. */
  #silenceOf(row: Row): number {
    return this.#step - (row.newest?.step ?? NONE);
  }

  /** Whether a relay has been silent for so long that it has no place in the view. */
  #isSilent(row: Row): boolean {
    return this.#silenceOf(row) > GONE_AFTER_STEPS;
  }

  /** One that stops gives the name up: if this relay stopped for it, nobody would have it. */
  #hearNamesake({ life, leaving }: Heartbeat): HeartbeatOutcome {
    if (life === this.life) return 'own';
    if (life < this.life) return 'old-life';
    return leaving ? 'late' : 'superseded';
  }

  #note(row: Row, heartbeat: Heartbeat): HeartbeatOutcome {
    const { step } = heartbeat;
    const held = row.heartbeats[step % REMEMBERED]?.step ?? NONE;
    if (held >= step) return held === step ? 'repeated' : 'late';
    row.heartbeats[step % REMEMBERED] = heartbeat;
    if (step > (row.newest?.step ?? NONE)) row.newest = heartbeat;
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
      for (const row of this.#order) {
        row.heartbeats = row.heartbeats.map((one) => one && { ...one, step: one.step + moved });
        row.newest &&= row.heartbeats[row.newest.step % REMEMBERED];
      }
    }
    this.#moveTo(step);
  }

  /** The newest heartbeat of a relay that the view of this step may use. */
  #usable(row: Row): Heartbeat | undefined {
    const until = this.#step - VIEW_LAG_STEPS;
    let best: Heartbeat | undefined;
    for (const one of row.heartbeats) {
      if (one !== undefined && one.step <= until && one.step > (best?.step ?? NONE)) best = one;
    }
    if (best === undefined || best.leaving || row.isForgotten) return undefined;
    return row === this.#own || until - best.step <= GONE_AFTER_STEPS ? best : undefined;
  }

  #makeView(): ClusterView {
    const names: string[] = [];
    const counts: number[] = [];
    const rows: Row[] = [];
    let carried = this.#width;
    let widthRow: Row | undefined;
    let self = 0;
    let digest = 0x811c9dc5;
    for (const row of this.#order) {
      const heartbeat = this.#usable(row);
      if (heartbeat === undefined && row !== this.#own) continue;
      if (row === this.#own) self = rows.length;
      const count = heartbeat?.count ?? 0;
      if (count > 0) digest = mix(mix(digest, row.hash), count);
      if (heartbeat !== undefined && count > 0 && widthRow === undefined) {
        widthRow = row;
        carried = heartbeat.width;
      }
      rows.push(row);
      names.push(row.name);
      counts.push(count);
    }
    const bases = basesOf(counts);
    const width = widthOf(bases[counts.length], carried);
    digest = mix(digest, width) >>> 0;
    this.#viewRows = rows;
    this.#widthRow = widthRow ?? this.#own;
    const view = { step: this.#step, names, counts: Float64Array.from(counts), bases, width, digest, self };
    this.#ownViews[this.#step % REMEMBERED] = view;
    return view;
  }

  /** Adds a row for a new relay. When the table is full, it replaces one that left or was forgotten, and is silent. */
  #addIfRoom(name: string, life: number): Row | undefined {
    if (this.#order.length >= RELAYS_MAX) {
      const at = this.#order.findIndex(
        (row) => row !== this.#own && ['left', 'forgotten'].includes(this.#stateOf(row)) && this.#isSilent(row),
      );
      if (at < 0) return undefined;
      this.#rowOf.delete(this.#order[at].name);
      this.#order.splice(at, 1);
    }
    return this.#add(name, life);
  }

  #add(name: string, life: number): Row {
    const row: Row = { name, hash: hashOf(name), life, isForgotten: false, newest: undefined, heartbeats: [] };
    this.#rowOf.set(name, row);
    const after = this.#order.findIndex((one) => one.name > name);
    this.#order.splice(after < 0 ? this.#order.length : after, 0, row);
    this.#beginLife(row, life);
    return row;
  }

  #beginLife(row: Row, life: number): void {
    row.life = life;
    row.isForgotten = false;
    row.newest = undefined;
    row.heartbeats = new Array(REMEMBERED).fill(undefined);
    this.#view = undefined;
  }
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
