/**
 * Recovery: applies facts to an empty relay, so that it goes on where the one that told them ended.
 *
 * The facts may begin with a snapshot that was written while the relay went on: the state of each slot comes once, before its
 * sprites move. What concerns a slot before that is ignored. Call finish() after the last fact.
 * Invariant: after finish() the relay has the desktops, places, mailboxes, sequences and accepted crossings of the one before.
 * Cost: O(1) a fact; 17 bytes a slot until finish().
 */

import {
  type FrameIdentity,
  type PeerFrame,
  readPeerFrame,
  readPeerRecords,
  type WaitingSprite,
} from '../wire/peers/peer_frame.ts';
import type { Pictures } from '../wire/pictures.ts';
import type { EdgeNumber } from '../wire/rules.ts';
import { isPassed, keyOfThrow } from './peers/peer_memory.ts';
import type { Relay } from './relay.ts';
import type { AcceptedCrossing, DayRow, DesktopRow, EndedRow, Facts, MailboxEvent } from './state/facts.ts';

/** The facts contradict each other, or do not fit into this relay. */
export class RecoveryError extends Error {}

/** The facts are good, but this relay is too small for them. */
export class TooSmall extends Error {}

/** What is known of a slot so far. */
const UNKNOWN = 0;
const FREE = 1;
const LIVE = 2;
const KEPT = 3;

interface RestoredWorld {
  name: string;
  width: number;
  pictures: Pictures;
  stage: boolean;
  desktops: number;
}

export class Recovery implements Facts {
  readonly hasRoom = true;
  readonly isLong = false;
  readonly #relay: Relay;
  readonly #nowMs: number;
  readonly #state: Uint8Array;
  readonly #world: Uint32Array;
  readonly #place: Uint32Array;
  readonly #worlds = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #widths: number[] = [];
  readonly #pictures: Pictures[] = [];
  readonly #stages: boolean[] = [];
  /** Slots whose mailboxes are kept, the oldest first. */
  readonly #kept = new Set<number>();
  /** Slots from this one on were never used. */
  #untouched = 0;

  /** `relay` has just been made. `nowMs` is its time. */
  constructor(relay: Relay, nowMs: number) {
    this.#relay = relay;
    this.#nowMs = nowMs;
    this.#state = new Uint8Array(relay.desktops.max);
    this.#world = new Uint32Array(relay.desktops.max);
    this.#place = new Uint32Array(relay.desktops.max);
  }

  desktop(row: DesktopRow): void {
    const { slot } = row;
    this.#enter(slot, LIVE);
    if (!this.#relay.desktops.restore(row)) throw this.#noMemory();
    this.#place[slot] = row.place;
    this.#world[slot] = this.#worldOf(row.world);
    this.#widths[this.#world[slot]] = row.width;
    this.#pictures[this.#world[slot]] = row.pictures;
    this.#stages[this.#world[slot]] = row.worldStage;
    this.#relay.mutes.clear(slot);
  }

  free(slot: number, owners: number): void {
    this.#enter(slot, FREE);
    this.#leave(slot, owners);
    this.#relay.mailboxes.restore(slot, 0);
  }

  kept(slot: number, owners: number, world: string, place: number): void {
    this.#enter(slot, KEPT);
    this.#leave(slot, owners);
    this.#world[slot] = this.#worldOf(world);
    this.#place[slot] = place;
    this.#kept.add(slot);
  }

  place(slot: number, place: number): void {
    this.#place[slot] = place;
  }

  width(world: string, width: number): void {
    this.#widths[this.#worldOf(world)] = width;
  }

  invitation(slot: number, secret: Uint32Array): void {
    if (this.#state[slot] === LIVE) this.#relay.desktops.setInvitation(slot, secret);
  }

  mutes(slot: number, pairs: readonly number[]): void {
    if (this.#state[slot] === LIVE) this.#relay.mutes.restore(slot, pairs);
  }

  shown(slot: number, stage: boolean, named: boolean): void {
    if (this.#state[slot] !== LIVE) return;
    this.#relay.desktops.setShows(slot, stage);
    this.#relay.desktops.setNamed(slot, named);
  }

  ended(row: EndedRow): void {
    this.#relay.ended.restore(row, this.#nowMs);
  }

  accepted(accepted: Readonly<AcceptedCrossing>): void {
    const { desktops, mailboxes } = this.#relay;
    const { slot, crossing, to } = accepted;
    if (this.#state[slot] === LIVE) {
      desktops.restoreAccepted(slot, crossing, accepted.receiver, accepted.receiverGeneration);
    }
    if (this.#state[to] === UNKNOWN) return;
    if (!mailboxes.restoreEvent(to, false, accepted)) throw this.#noMemory();
  }

  sent(slot: number, newest: number): void {
    if (this.#state[slot] === UNKNOWN) return;
    if (!this.#relay.mailboxes.restoreSent(slot, newest)) throw this.#contradiction(slot, 'sprites were sent');
  }

  acknowledged(slot: number, seq: number): void {
    if (this.#state[slot] === UNKNOWN) return;
    const { mailboxes } = this.#relay;
    if (seq > mailboxes.newest(slot)) throw this.#contradiction(slot, 'sprites were acknowledged');
    mailboxes.acknowledge(slot, seq);
  }

  moving(): void {}

  unsent(slot: number): void {
    if (this.#state[slot] !== UNKNOWN) this.#relay.mailboxes.unsend(slot);
  }

  moved(slot: number, edge: EdgeNumber, to: number, events: number): void {
    // The state of `slot` was written before its sprites moved, unless that of `to` comes later.
    if (this.#state[slot] === UNKNOWN) return;
    const { mailboxes } = this.#relay;
    if (!mailboxes.restoreMoved(slot, edge, to, events)) throw this.#contradiction(slot, 'sprites were moved');
    if (this.#state[to] === UNKNOWN) mailboxes.restore(to, 0);
  }

  peerFrame(peer: string, number: number, frame: Buffer): void {
    // The bytes of the journal's file are reused, so these are a copy.
    const bytes = Buffer.from(frame);
    const read = readPeerFrame(bytes);
    if (typeof read === 'string') throw new RecoveryError(`frame ${number} to ${peer} is ${read}`);
    this.#relay.peerMemory.addFrame(peer, { incarnation: read.incarnation, number, bytes });
  }

  peerVerdicts(peer: string, incarnation: string, number: number, verdicts: Uint8Array): void {
    const { peerMemory } = this.#relay;
    const sent = peerMemory.frame(peer, incarnation, number);
    if (sent === undefined) throw new RecoveryError(`frame ${number} to ${peer} has verdicts, but was not sent`);
    const frame = readPeerFrame(sent.bytes) as PeerFrame;
    readPeerRecords(frame, (record, index) => {
      const { slot, generation, crossing, waiting } = record;
      // A sprite in custody that was refused is in a mailbox by the facts that follow.
      peerMemory.custody.delete(keyOfThrow(record));
      if (!isPassed(verdicts[index])) return;
      if (crossing === 0) {
        this.#removeWaiting(waiting);
        return;
      }
      this.#recordPassed(slot, generation, crossing);
    });
    peerMemory.settle(peer, incarnation, number);
  }

  custody(slot: number, generation: number, crossing: number): void {
    this.#relay.peerMemory.custody.add(keyOfThrow({ slot, generation, crossing }));
    this.#recordPassed(slot, generation, crossing);
  }

  #recordPassed(slot: number, generation: number, crossing: number): void {
    const { desktops } = this.#relay;
    if (this.#state[slot] !== LIVE || desktops.generation(slot) !== generation) return;
    desktops.recordPassed(slot, crossing);
  }

  peerTaken(frame: FrameIdentity, verdicts: Uint8Array): void {
    this.#relay.peerMemory.remember(frame, Uint8Array.from(verdicts));
  }

  life(life: number): void {
    this.#relay.peerMemory.life = life;
  }

  peersForgotten(): void {
    this.#relay.peerMemory.clear();
  }

  mailbox(slot: number, acknowledged: number): void {
    this.#relay.mailboxes.restore(slot, acknowledged);
  }

  event(slot: number, isSent: boolean, event: Readonly<MailboxEvent>): void {
    if (!this.#relay.mailboxes.restoreEvent(slot, isSent, event)) throw this.#noMemory();
  }

  day(row: Readonly<DayRow>): void {
    this.#relay.day.restore(row);
  }

  counters(accepted: number, acknowledged: number, abandoned: number): void {
    Object.assign(this.#relay.counters, { accepted, acknowledged, abandoned });
  }

  /** Makes the worlds and goes on. Throws RecoveryError when the facts contradict each other. */
  finish(): void {
    const { desktops, torus, counters } = this.#relay;
    const free: number[] = [];
    const worlds = this.#names.map((name, world): RestoredWorld => {
      const [pictures, stage] = [this.#pictures[world] ?? 'any', this.#stages[world] ?? false];
      return { name, width: this.#widths[world] ?? 1, pictures, stage, desktops: 0 };
    });
    for (let slot = this.#untouched - 1; slot >= 0; slot--) {
      const state = this.#state[slot];
      if (state === UNKNOWN) throw new RecoveryError(`slot ${slot} was used, but nothing tells its state`);
      if (state === FREE) free.push(slot);
      if (state === LIVE) worlds[this.#world[slot]].desktops++;
    }
    const slotsOf = worlds.map((world) => new Uint32Array(world.desktops).fill(0xffffffff));
    const keptOf = worlds.map((): number[][] => []);
    for (let slot = 0; slot < this.#untouched; slot++) {
      if (this.#state[slot] !== LIVE) continue;
      const slots = slotsOf[this.#world[slot]];
      const place = this.#place[slot];
      if (place >= slots.length || slots[place] !== 0xffffffff) {
        throw new RecoveryError(`place ${place} of a world of ${slots.length} desktops is not that of slot ${slot}`);
      }
      slots[place] = slot;
    }
    for (const slot of this.#kept) keptOf[this.#world[slot]].push([slot, this.#place[slot]]);
    for (const [world, restored] of worlds.entries()) {
      if (slotsOf[world].length === 0 && keptOf[world].length === 0) continue;
      if (!torus.restore(restored, slotsOf[world], keptOf[world])) {
        throw new TooSmall('there are more worlds than this relay has room for');
      }
    }
    desktops.restoreFree(this.#untouched, free);
    this.#relay.resume([...this.#kept]);
    const waiting = this.#relay.waiting;
    if (counters.accepted !== counters.acknowledged + counters.abandoned + waiting) {
      const { accepted, acknowledged, abandoned } = counters;
      throw new RecoveryError(
        `${accepted} sprites were accepted, but ${acknowledged} acknowledged, ${abandoned} given up, ${waiting} wait`,
      );
    }
  }

  /** Another relay has a sprite that waited here. */
  #removeWaiting({ slot, owners, edge, arrived }: WaitingSprite): void {
    if (this.#state[slot] !== KEPT || this.#relay.desktops.owners(slot) !== owners) return;
    // It is not there if a life without a cluster has moved it on.
    this.#relay.mailboxes.remove(slot, edge, arrived);
  }

  /** The state of a slot begins. */
  #enter(slot: number, state: number): void {
    if (slot >= this.#state.length) {
      const room = this.#state.length;
      throw new TooSmall(`there are more desktops than ${room}; start with --max-desktops ${slot + 1} or more`);
    }
    this.#state[slot] = state;
    this.#kept.delete(slot);
    if (slot >= this.#untouched) this.#untouched = slot + 1;
  }

  #leave(slot: number, owners: number): void {
    this.#relay.desktops.restoreEnded(slot, owners);
    this.#relay.mutes.clear(slot);
  }

  #worldOf(name: string): number {
    const known = this.#worlds.get(name);
    if (known !== undefined) return known;
    this.#names.push(name);
    this.#worlds.set(name, this.#names.length - 1);
    return this.#names.length - 1;
  }

  #noMemory(): TooSmall {
    return new TooSmall('the memory for sprites and names is too small for what waits; start with more memory');
  }

  #contradiction(slot: number, what: string): RecoveryError {
    return new RecoveryError(`more ${what} than the mailbox of slot ${slot} has`);
  }
}
