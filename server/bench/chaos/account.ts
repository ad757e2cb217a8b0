/**
 * The account of a chaos run: where each sprite is, what happened to it, and what the relays owe at the end.
 *
 * The desktops tell what they do and what they are answered. A roll-back tells what the journal of a relay held when its machine died, and
 * what its older copy held: a sprite that only the first had is lost with the machine, and one that only the second has comes back. A throw
 * without an answer is repeated; it may become two sprites when only the first has its number, or has it in a frame. A frame of another relay
 * that only the first has taken may be taken once more.
 * Invariant: a sprite is on a desktop from `made` or `received` until `accepted` or `dropped`. At the end each one is on one desktop or in one
 * mailbox; what a roll-back took or brought back is counted apart, and at most once for each roll-back.
 * Memory: SPRITES_MAX sprites, each with the last NOTES_MAX lines of its history.
 */
import { keyOfThrow } from '../../domain/peers/peer_memory.ts';
import type { Identity } from '../../wire/identity.ts';

/** Sprites that are made in a run; then desktops only throw what they have. Each takes some 1 KB here. */
export const SPRITES_MAX = 400_000;

/** Lines of one sprite's history: a journey of four throws takes some twenty. */
export const NOTES_MAX = 48;

/** A round trip counts as disturbed for this long after a fault has healed, in ms: the relays find each other again in that time. */
export const MARGIN_MS = 3_000;

interface Sprite {
  /** The desktops that have it. */
  holders: number[];
  throws: number;
  /** When the throw that is on its way was sent; 0 for none. */
  sentMs: number;
  notes: string[];
}

/** A fault, while it lasts and afterwards. */
export interface FaultSpan {
  readonly fault: string;
  /** The relay that it concerns; undefined for all of them, or none. */
  readonly relay: string | undefined;
  /** Whether it hurts a relay or its links: desktops that leave hurt no other. */
  readonly isFelt: boolean;
  readonly fromMs: number;
  /** Infinity while it lasts. */
  untilMs: number;
  detail: string;
}

/** A throw without an answer. */
export interface Throw {
  sprite: number;
  /** The relay of the desktop that throws, and the desktop there. */
  relay: string;
  identity: Identity;
  crossing: number;
}

/** A sprite in a frame to another relay that has no verdicts. */
export interface Flying {
  /** Identifies the frame. */
  readonly frame: string;
  /** Its throw, by keyOfThrow(); undefined for a sprite that is handed on from a mailbox. */
  readonly thrown: string | undefined;
  /** It is in custody: its thrower was answered 202. */
  readonly isKept: boolean;
}

/** What a relay holds, and what it knows. */
export interface Custody {
  /** The sprites in its mailboxes, and where each is: in several places when an earlier roll-back has brought it back. */
  readonly held: ReadonlyMap<number, readonly string[]>;
  /** The mailboxes of each from which it was sent to a desktop that has not acknowledged it. */
  readonly sent: ReadonlyMap<number, readonly string[]>;
  /** The sprites in frames without verdicts. One that is handed on is in its mailbox, too. */
  readonly flying: ReadonlyMap<number, readonly Flying[]>;
  /** The frames in which each sprite came from another relay. */
  readonly taken: ReadonlyMap<number, readonly string[]>;
  /** Of the throws that were asked for, by keyOfThrow(), those whose numbers are known as accepted. */
  readonly known: ReadonlySet<string>;
}

/** A sprite that waits in a mailbox at the end, or on its way to another relay. */
export interface Waiting {
  sprite: number;
  relay: string;
  world: string;
  /** Nobody has the mailbox: its desktop has ended. */
  isKept: boolean;
}

export type Wrong = 'lost' | 'doubled' | 'stranded';

export interface Finding {
  sprite: number;
  wrong: Wrong;
  /** Why the documents allow it; undefined when they do not. */
  allowed: string | undefined;
  where: string[];
  history: string[];
}

/** Reasons for which a sprite may be missing, or be there once more. */
interface Allowance {
  lost: string[];
  back: string[];
}

export class Account {
  readonly #sprites: Sprite[] = [];
  readonly #allowances = new Map<number, Allowance>();
  readonly #unanswered = new Set<Throw>();
  /** By keyOfTaken(): frames that a relay took in a time that its machine lost, and why a sprite in one may be there once more. */
  readonly #forgotten = new Map<string, string>();
  readonly spans: FaultSpan[] = [];
  /** Relays whose machine has died. */
  readonly rolled = new Set<string>();
  readonly counts = {
    thrown: 0,
    repeated: 0,
    accepted: 0,
    received: 0,
    acknowledged: 0,
    dropped: 0,
    joins: 0,
    ended: 0,
  };
  /** Refused throws, polls and joins by code. */
  readonly refused = new Map<string, number>();
  /** What must not happen at all. */
  readonly anomalies: string[] = [];
  longestWait = { ms: 0, sprite: 0, to: '' };
  longestTrip = { ms: 0, disturbedMs: 0, who: '' };
  readonly #now: () => number;

  /** `now`: ms since the beginning of the run. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#sprites.length;
  }

  throwsOf(sprite: number): number {
    return this.#sprites[sprite].throws;
  }

  /** A new sprite on a desktop; undefined when there are enough. */
  made(desktop: number): number | undefined {
    if (this.#sprites.length >= SPRITES_MAX) return undefined;
    this.#sprites.push({ holders: [desktop], throws: 0, sentMs: 0, notes: [] });
    const sprite = this.#sprites.length - 1;
    this.note(sprite, `made by d${desktop}`);
    return sprite;
  }

  /** A throw that was sent waits for its answer. Call answered() with the same one. */
  awaits(thrown: Throw): void {
    this.#unanswered.add(thrown);
  }

  answered(thrown: Throw): void {
    this.#unanswered.delete(thrown);
  }

  /** The throws of desktops of a relay that have no answer. */
  unansweredAt(relay: string): Throw[] {
    return [...this.#unanswered].filter((one) => one.relay === relay);
  }

  /** A throw is sent for the first time. It is repeated until it has a verdict. */
  thrown(sprite: number, desktop: number, how: string): void {
    const row = this.#sprites[sprite];
    row.throws++;
    row.sentMs = this.#now();
    this.counts.thrown++;
    this.note(sprite, `d${desktop} throws it ${how}`);
  }

  accepted(sprite: number, desktop: number, detail: string): void {
    this.#release(sprite, desktop);
    this.counts.accepted++;
    this.note(sprite, `d${desktop} is answered 202, ${detail}`);
  }

  refusedThrow(sprite: number, desktop: number, code: string): void {
    this.refuse(code);
    this.note(sprite, `d${desktop} is answered ${code} and keeps it`);
  }

  refuse(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }

  received(sprite: number, desktop: number, how: string): void {
    const row = this.#sprites[sprite];
    if (row === undefined) {
      this.anomaly(`d${desktop} received sprite ${sprite}, which nobody made`);
      return;
    }
    row.holders.push(desktop);
    this.counts.received++;
    const ms = row.sentMs === 0 ? 0 : this.#now() - row.sentMs;
    row.sentMs = 0;
    if (ms > this.longestWait.ms) this.longestWait = { ms, sprite, to: `d${desktop}` };
    this.note(sprite, `d${desktop} receives it, ${how}`);
  }

  acknowledged(sprites: number): void {
    this.counts.acknowledged += sprites;
  }

  /** A desktop removes a sprite because the relay has given it to another one. */
  dropped(sprite: number, desktop: number, why: string): void {
    this.#release(sprite, desktop);
    this.counts.dropped++;
    this.note(sprite, `d${desktop} removes it: ${why}`);
  }

  #release(sprite: number, desktop: number): void {
    const { holders } = this.#sprites[sprite];
    const at = holders.indexOf(desktop);
    if (at < 0) this.anomaly(`d${desktop} gives sprite ${sprite} away, which it does not have`);
    else holders.splice(at, 1);
  }

  /** The desktop cannot know whether the relay has given this sprite to another one. */
  unknowable(sprite: number, why: string): void {
    this.#allow(sprite).lost.push(why);
    this.#allow(sprite).back.push(why);
  }

  /** A throw had no answer in this try: the line of the history counts how often. */
  repeated(sprite: number, desktop: number): void {
    this.counts.repeated++;
    const { notes } = this.#sprites[sprite];
    const what = `d${desktop} has no answer and repeats it`;
    const [known, times] = / s (.*) \((\d+) times\)$/.exec(notes[notes.length - 1])?.slice(1) ?? [];
    if (known === what) notes.pop();
    this.note(sprite, `${what} (${known === what ? Number(times) + 1 : 1} times)`);
  }

  note(sprite: number, what: string): void {
    const { notes } = this.#sprites[sprite];
    if (notes.length === NOTES_MAX) notes.shift();
    notes.push(`${seconds(this.#now())} ${what}`);
  }

  anomaly(what: string): void {
    if (this.anomalies.length < 1_000) this.anomalies.push(`${seconds(this.#now())} ${what}`);
  }

  begin(fault: string, relay: string | undefined, isFelt = true): FaultSpan {
    const span = { fault, relay, isFelt, fromMs: this.#now(), untilMs: Number.POSITIVE_INFINITY, detail: '' };
    this.spans.push(span);
    return span;
  }

  end(span: FaultSpan, detail: string): void {
    span.untilMs = this.#now();
    span.detail = detail;
  }

  /** A throw was answered. Whether a fault could reach it: at the relays on its way, or anywhere while `to` is not known. */
  trip(desktop: number, ms: number, relay: string, to: string | undefined): void {
    const fromMs = this.#now() - ms;
    const reaches = (span: FaultSpan) => span.relay === undefined || span.relay === relay || to !== relay;
    const isDisturbed = this.spans.some((span) => span.isFelt && span.untilMs + MARGIN_MS > fromMs && reaches(span));
    const { longestTrip } = this;
    if (isDisturbed) longestTrip.disturbedMs = Math.max(longestTrip.disturbedMs, ms);
    else if (ms > longestTrip.ms)
      Object.assign(longestTrip, { ms, who: `d${desktop} at ${relay} to ${to}, ${seconds(this.#now())}` });
  }

  /**
   * The machine of a relay has died: what it held then is replaced by what it held earlier. Returns the counts: lost with it, and back.
   *
   * Call it while the relay is down, so that no throw gets its answer meanwhile. `earlier` and `then` were asked for unansweredAt(relay).
   * `lastBatches`: the sprites that its desktops have received and not acknowledged, as far as they know. If the relay ends such a desktop, its
   * client is told an older cursor than the one that the machine knew, and removes the sprite.
   */
  rolledBack(
    relay: string,
    earlier: Custody,
    then: Custody,
    lastBatches: readonly number[] = [],
  ): { lost: number; back: number } {
    const reason = `the roll-back of ${relay} at ${seconds(this.#now())}`;
    const found = { lost: 0, back: 0 };
    this.rolled.add(relay);
    this.took(relay, then);
    const throws = Map.groupBy(this.unansweredAt(relay), ({ sprite }) => sprite);
    const concerned = [earlier, then].flatMap(({ held, flying, taken }) => [held, flying, taken]);
    const batches = Map.groupBy(lastBatches, (sprite) => sprite);
    for (const sprite of new Set([...concerned, throws, batches].flatMap((sprites) => [...sprites.keys()]))) {
      if (this.#sprites[sprite] === undefined) continue;
      const unanswered = new Set(throws.get(sprite)?.map(keyOf));
      const { lost, back, inFrame, known, taken } = changeOf(sprite, earlier, then, unanswered);
      const received = batches.get(sprite)?.length ?? 0;
      // What is in a mailbox of either journal is lost with that, or comes again.
      const unsure = earlier.held.has(sprite) || then.held.has(sprite) ? 0 : received;
      const again = back + inFrame + known;
      const allowance = lost + unsure + again > 0 ? this.#allow(sprite) : undefined;
      allowance?.lost.push(...Array<string>(lost + unsure).fill(reason));
      allowance?.back.push(...Array<string>(again).fill(reason));
      for (const frame of taken) this.#forgotten.set(keyOfTaken(relay, sprite, frame), reason);
      if (lost > 0) this.note(sprite, `lost with the machine of ${relay}`);
      if (unsure > 0) this.note(sprite, `acknowledged to the machine of ${relay} only`);
      if (back > 0)
        this.note(sprite, `back in ${earlier.held.get(sprite)?.join(' and ')} of ${relay} with its older copy`);
      if (inFrame > 0) this.note(sprite, `in a frame of ${relay} that only its machine or its older copy knows`);
      if (known > 0) this.note(sprite, `accepted by ${relay}, which has forgotten its number`);
      found.lost += lost;
      found.back += back;
    }
    return found;
  }

  /** What a relay has taken, by its journal at the end, or when its machine dies: sprites of a frame that it had forgotten came twice. */
  took(relay: string, { taken }: Pick<Custody, 'taken'>): void {
    for (const [sprite, frames] of taken) {
      for (const frame of frames) {
        const key = keyOfTaken(relay, sprite, frame);
        const reason = this.#forgotten.get(key);
        if (reason === undefined) continue;
        this.#forgotten.delete(key);
        this.#allow(sprite).back.push(reason);
        this.note(sprite, `taken by ${relay} once more in the same frame, after ${reason}`);
      }
    }
  }

  #allow(sprite: number): Allowance {
    let allowance = this.#allowances.get(sprite);
    if (!allowance) {
      allowance = { lost: [], back: [] };
      this.#allowances.set(sprite, allowance);
    }
    return allowance;
  }

  /** Every sprite that is not where it must be, on one desktop: one that still waits in a mailbox is stranded. */
  settle(waiting: readonly Waiting[]): Finding[] {
    const inMailboxes = new Map<number, Waiting[]>();
    for (const one of waiting) inMailboxes.set(one.sprite, [...(inMailboxes.get(one.sprite) ?? []), one]);
    const findings: Finding[] = [];
    for (const [sprite, { holders }] of this.#sprites.entries()) {
      const boxes = inMailboxes.get(sprite) ?? [];
      const where = [...holders.map((desktop) => `d${desktop}`), ...boxes.map(placeOf)];
      const { lost, back } = this.#allowances.get(sprite) ?? { lost: [], back: [] };
      const add = (wrong: Wrong, allowed: string | undefined) =>
        findings.push({ sprite, wrong, allowed, where, history: this.historyOf(sprite) });
      if (where.length === 0) add('lost', lost[0]);
      if (where.length > 1) add('doubled', back.length >= where.length - 1 ? back[0] : undefined);
      for (const _ of boxes) add('stranded', undefined);
    }
    for (const sprite of inMailboxes.keys()) {
      if (this.#sprites[sprite] === undefined) this.anomaly(`sprite ${sprite} is in a mailbox, but nobody made it`);
    }
    return findings;
  }

  /** What happened to a sprite, with the faults that were on. */
  historyOf(sprite: number): string[] {
    const { notes } = this.#sprites[sprite];
    const firstMs = Number.parseFloat(notes[0]) * 1000;
    const lastMs = Number.parseFloat(notes[notes.length - 1]) * 1000;
    const faults = this.spans
      .filter(({ fromMs, untilMs }) => untilMs >= firstMs - MARGIN_MS && fromMs <= lastMs + MARGIN_MS)
      .map((span) => `${seconds(span.fromMs)} FAULT ${textOf(span)}`);
    return [...notes, ...faults].sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b));
  }
}

/** What a roll-back does to a sprite. */
interface Change {
  /** Copies that are lost. */
  lost: number;
  /** Copies that have left since, or were sent since: they are there again. */
  back: number;
  /** In a frame that only the machine or only the older copy knew: it may arrive, and the sprite is thrown or handed on again. */
  inFrame: number;
  /** Throws without an answer whose number is known to the machine only, and whose sprite is gone or was sent. */
  known: number;
  /** The same for frames of other relays. */
  taken: string[];
}

/** `unanswered`: the throws of it at this relay without an answer, by keyOfThrow(). */
function changeOf(sprite: number, earlier: Custody, then: Custody, unanswered: ReadonlySet<string>): Change {
  const count = ({ held }: Custody) => held.get(sprite)?.length ?? 0;
  const gained = Math.max(0, count(then) - count(earlier));
  const gone = Math.max(0, count(earlier) - count(then));
  const sentBefore = new Set(earlier.sent.get(sprite));
  const sent = (then.sent.get(sprite) ?? []).filter((mailbox) => !sentBefore.has(mailbox)).length;
  const takenBefore = new Set(earlier.taken.get(sprite));
  const taken = (then.taken.get(sprite) ?? []).filter((frame) => !takenBefore.has(frame));
  const newest = flyingOnlyIn(then, earlier, sprite);
  const mayArrive = newest.filter(({ thrown, isKept }) => !isKept && (thrown === undefined || unanswered.has(thrown)));
  const inFrames = [...mayArrive, ...flyingOnlyIn(earlier, then, sprite)];
  const thrown = new Set(inFrames.map((one) => one.thrown).filter((key) => key !== undefined));
  const isForgotten = (key: string) => then.known.has(key) && !earlier.known.has(key) && !thrown.has(key);
  const known = [...unanswered].filter(isForgotten).length;
  // What still waits is lost with the machine.
  const waits = Math.max(0, gained - sent);
  const back = gone + (count(earlier) > 0 ? sent : 0);
  // A sprite that is handed on is in its mailbox, too.
  const isHandedOn = back === 0 && inFrames.some((one) => one.thrown === undefined);
  return {
    lost: gained + newest.filter(({ isKept }) => isKept).length,
    back,
    inFrame: thrown.size + (isHandedOn ? 1 : 0),
    known: Math.max(0, known - waits),
    taken: taken.slice(Math.max(0, waits - known)),
  };
}

/** The frames of a sprite that one journal has, and the other has not. */
function flyingOnlyIn(one: Custody, other: Custody, sprite: number): Flying[] {
  const frames = new Set(other.flying.get(sprite)?.map(({ frame }) => frame));
  return (one.flying.get(sprite) ?? []).filter(({ frame }) => !frames.has(frame));
}

function keyOfTaken(relay: string, sprite: number, frame: string): string {
  return `${relay} ${sprite} ${frame}`;
}

export function keyOf({ identity: { slot, generation }, crossing }: Throw): string {
  return keyOfThrow({ slot, generation, crossing });
}

export function textOf({ fault, relay, untilMs, detail }: FaultSpan): string {
  const end = untilMs === Number.POSITIVE_INFINITY ? 'not healed' : `healed at ${seconds(untilMs)}`;
  return `${fault}${relay === undefined ? '' : ` ${relay}`}, ${end}${detail === '' ? '' : `: ${detail}`}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

function placeOf({ relay, world, isKept }: Waiting): string {
  return `${isKept ? 'a kept mailbox' : 'a mailbox'} at ${relay} in ${world}`;
}
