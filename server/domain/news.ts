/**
 * News: what a batch says besides sprites, stages and sayings: notices to every desktop, who one's neighbours are, that others are here, and
 * who changes places.
 *
 * Neighbours are named in small worlds only, once in NEIGHBOURS_STEP_MS for all changes of a world, and with every ping. In the same step
 * desktops of small private worlds are told that their company has changed: in each world once, however much has changed.
 * Writer: of which worlds have changed, which slots have been looked at for the newest notice, and the marks NEIGHBOURS_DUE, COMPANY_DUE and
 * NOTICES_DUE; it clears SWAP_DUE.
 * Cost: a step is bounded by the desktops that it may mark and by NOTICE_SLOTS_PER_STEP.
 */
import { EDGES, type EdgeNumber } from '../wire/rules.ts';
import { COMPANY_DUE, NEIGHBOURS_DUE, NOTICES_DUE, SWAP_DUE } from './slots/marks.ts';
import { Notices } from './slots/notices.ts';
import { NEIGHBOURS_STEP_MS, SMALL_WORLD_MAX } from './state/limits.ts';
import { writeNumber } from './state/mailboxes.ts';
import type { World } from './state/torus.ts';
import type { Tables } from './tables.ts';

/** Slots that one step looks at to find the live ones that get a notice: some 30 µs. */
export const NOTICE_SLOTS_PER_STEP = 16_384;

const COMPANY = Buffer.from('{"type":"company"}');
const SWAP = Buffer.from('{"type":"swap"');
const WITH = Buffer.from(',"with":');
const FROM = Buffer.from(',"from":');
const LEASE = Buffer.from(',"leaseMs":');
const NEIGHBOURS = Buffer.from('{"type":"neighbours"');
const EDGE_KEYS = EDGES.map((edge) => Buffer.from(`,"${edge}":`));
const COMMA = 0x2c;
const CLOSE = 0x7d;

export class News {
  readonly #tables: Tables;
  readonly #notices: Notices;
  /** Slots below this have been marked for the newest notice. */
  #noticed: number;
  /** Small worlds that changed since the last step, and those whose desktops are being notified of it, with the marks that they get. */
  #changed = new Map<World, number>();
  #notifying = new Map<World, number>();
  #nextStepMs: number;

  constructor(tables: Tables) {
    const { max } = tables.desktops;
    this.#tables = tables;
    this.#notices = new Notices(max);
    this.#noticed = max;
    this.#nextStepMs = tables.nowMs + NEIGHBOURS_STEP_MS;
  }

  /** Sends an event to every desktop that is here, with its next answer. Parked polls are answered in the next steps. */
  notify(event: object): void {
    this.#notices.add(event);
    this.#noticed = 0;
  }

  /** A slot has a new owner, whom earlier notices do not concern. */
  join(slot: number): void {
    this.#notices.join(slot);
  }

  /** The desktops of a world have changed, if it is small enough for them to be told. */
  worldChanged(world: World): void {
    if (world.count <= SMALL_WORLD_MAX) this.#changed.set(world, NEIGHBOURS_DUE | this.#companyDue(world));
  }

  /** A desktop of this world has gone away, or has come back. */
  awayChanged(world: World): void {
    const due = this.#companyDue(world);
    if (due !== 0 && !this.#changed.has(world)) this.#changed.set(world, due);
  }

  #companyDue(world: World): number {
    return world !== this.#tables.defaultWorld && world.count <= SMALL_WORLD_MAX ? COMPANY_DUE : 0;
  }

  worldRemoved(world: World): void {
    this.#changed.delete(world);
    this.#notifying.delete(world);
  }

  /** The next batch of a desktop names its neighbours. */
  tellNeighbours(slot: number): void {
    this.#tables.marks.set(slot, NEIGHBOURS_DUE);
  }

  /** Whether a desktop has to be told something now. */
  isDue(slot: number): boolean {
    return this.#tables.marks.has(slot, NEIGHBOURS_DUE | COMPANY_DUE | SWAP_DUE | NOTICES_DUE);
  }

  /** Marks the desktops that are to be told something, and calls `markReady` with each: `max` or somewhat more. Returns whether more are left. */
  step(max: number, markReady: (slot: number) => void): boolean {
    const { nowMs, desktops } = this.#tables;
    if (nowMs >= this.#nextStepMs && this.#notifying.size === 0) {
      this.#nextStepMs = nowMs + NEIGHBOURS_STEP_MS;
      [this.#notifying, this.#changed] = [this.#changed, this.#notifying];
    }
    const isMoreDue = this.#notifySmallWorlds(max, markReady);
    return (this.#noticed < desktops.max && this.#markNoticed(max, markReady)) || isMoreDue;
  }

  /** Notifies the desktops of small worlds of what has changed, until at least `max` desktops are notified. Returns whether worlds are left. */
  #notifySmallWorlds(max: number, markReady: (slot: number) => void): boolean {
    let left = max;
    for (const [world, due] of this.#notifying) {
      if (left <= 0) return true;
      this.#notifying.delete(world);
      if (world.count > SMALL_WORLD_MAX) continue;
      left -= world.count;
      for (let place = 0; place < world.count; place++) {
        const slot = world.slots[place];
        this.#tables.marks.set(slot, due);
        markReady(slot);
      }
    }
    return false;
  }

  /** Marks slots that the newest notice is due for, at most `max` of them or one. Returns whether slots are left. */
  #markNoticed(max: number, markReady: (slot: number) => void): boolean {
    const { desktops, marks } = this.#tables;
    let left = Math.max(1, max);
    const end = Math.min(desktops.max, this.#noticed + NOTICE_SLOTS_PER_STEP);
    for (; this.#noticed < end && left > 0; this.#noticed++) {
      const slot = this.#noticed;
      if (!desktops.isLive(slot) || !this.#notices.isDue(slot)) continue;
      marks.set(slot, NOTICES_DUE);
      markReady(slot);
      left--;
    }
    return this.#noticed < desktops.max;
  }

  /** Writes what is due for a desktop behind the events in out[start, at), without room its neighbours only; returns where it ends. */
  write(slot: number, out: Buffer, start: number, at: number, hasRoom: boolean): number {
    const { marks } = this.#tables;
    let end = at;
    if (marks.has(slot, NEIGHBOURS_DUE)) end = this.#writeNeighbours(slot, out, separated(out, start, end));
    if (hasRoom && marks.has(slot, COMPANY_DUE)) end = this.#writeCompany(slot, out, separated(out, start, end));
    if (hasRoom && marks.has(slot, SWAP_DUE)) end = this.#writeSwap(slot, out, separated(out, start, end));
    if (hasRoom && marks.has(slot, NOTICES_DUE)) end = this.#writeNotices(slot, out, separated(out, start, end));
    return end;
  }

  /** Writes the oldest notices that a desktop was not sent to out[at]; returns where they end. */
  #writeNotices(slot: number, out: Buffer, at: number): number {
    const end = this.#notices.write(slot, out, at);
    if (!this.#notices.isDue(slot)) this.#tables.marks.clear(slot, NOTICES_DUE);
    return end;
  }

  /** Writes the event that the company of a desktop has changed to out[at]; returns where it ends. */
  #writeCompany(slot: number, out: Buffer, at: number): number {
    this.#tables.marks.clear(slot, COMPANY_DUE);
    return at + COMPANY.copy(out, at);
  }

  /** Writes with whom a desktop has changed places, and who asks it to, to out[at]; returns where the event ends. */
  #writeSwap(slot: number, out: Buffer, at: number): number {
    const { swaps, desktops, marks, nowMs } = this.#tables;
    const [partner, question] = [swaps.popPartner(slot), swaps.questionOf(slot)];
    let end = at + SWAP.copy(out, at);
    if (partner !== undefined) {
      end += WITH.copy(out, end);
      end += partner.copy(out, end);
    }
    if (question !== undefined) {
      end += FROM.copy(out, end);
      end = desktops.writeReference(question.asker, out, end);
      end += LEASE.copy(out, end);
      end = writeNumber(out, end, Math.max(0, Math.floor(question.endMs - nowMs)));
    }
    out[end] = CLOSE;
    marks.clear(slot, SWAP_DUE);
    return end + 1;
  }

  /** Writes the event that names the neighbours of a desktop to out[at]; returns where it ends. */
  #writeNeighbours(slot: number, out: Buffer, at: number): number {
    const { torus, desktops, peerParts, marks } = this.#tables;
    let end = at + NEIGHBOURS.copy(out, at);
    for (let edge = 0; edge < 4; edge++) {
      const neighbour = torus.neighbour(slot, edge as EdgeNumber);
      const remote = neighbour < 0 ? peerParts.peers?.reference(slot) : undefined;
      // When its name has come, another event has it.
      if (neighbour < 0 && remote === undefined) continue;
      end += EDGE_KEYS[edge].copy(out, end);
      if (remote === undefined) end = desktops.writeReference(neighbour, out, end);
      else end += remote.copy(out, end);
    }
    out[end] = CLOSE;
    marks.clear(slot, NEIGHBOURS_DUE);
    return end + 1;
  }
}

/** Writes a comma to out[at] unless the first event begins there; returns where the next one begins. */
export function separated(out: Buffer, start: number, at: number): number {
  if (at === start) return at;
  out[at] = COMMA;
  return at + 1;
}
