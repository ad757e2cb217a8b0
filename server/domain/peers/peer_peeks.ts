/**
 * Peer peeks: desktops here that watch a neighbour at another relay, and desktops of other relays that watch a neighbour here.
 *
 * The relay of the watcher sends `watch` and repeats it each second; that is a lease. The relay of the watched desktop checks each time, and
 * again before each stage, that the two are neighbours, that the desktop shows its stage and that it does not mute the watcher. Then it
 * sends the stages that pass its filter (stages.ts), so none that the watcher could have predicted, and always the newest one: a watcher
 * that waits for a stage is in a set, and the stage is read from its row when the message is written.
 * All of this is sent once and gets no answer, and a part of it may be lost: the next `watch` or the next stage replaces it within two
 * seconds, and what ends is found by the end of a lease.
 * Relays may disagree on who is whose neighbour for the moment in which a change of the world is on its way. A `watch` that this relay finds
 * wrong is ignored, because the next one is right.
 * Limits: REMOTE_WATCHES_MAX in each direction, and as many desktops known to hide their stage. In PEER_PEEKS_STEP_MS, one message of
 * PEER_PEEKS_BYTES_MAX with watches and stages goes to each relay, and REMOTE_STAGES_PER_STEP_MAX stages go to all of them; what has no room
 * waits for the next step. Ends of watches, and answers to them, leave with their turn.
 * Cost: O(watches to other relays) a step, some 20 ns each; O(log relays) and a copy for each stage.
 */

import { blankIdentity, readId } from '../../wire/identity.ts';
import { type PeerPeek, PeerPeeksWriter, readPeerPeeks, type Watch } from '../../wire/peers/peer_peeks.ts';
import { type EdgeNumber, opposite, STAGE_BYTES_MAX } from '../../wire/rules.ts';
import {
  HIDDEN_REMEMBERED_MS,
  PEEK_STEP_MS,
  PEER_PEEKS_STEP_MS,
  PEER_WATCH_LEASE_MS,
  REMOTE_STAGES_PER_STEP_MAX,
  REMOTE_WATCHES_MAX,
} from '../state/limits.ts';
import { REMOTE, type World } from '../state/torus.ts';
import type { Neighbourhood, Peeks, PeeksOptions, RemotePeeks } from '../talk/peeks.ts';
import { keepNewest } from './keep_newest.ts';
import { PeerOutbox } from './peer_outbox.ts';
import type { Peers } from './peers.ts';

/** A desktop here watches what is at a place of another relay. */
interface RemoteWatch {
  readonly watch: Watch;
  readonly relay: string;
  /** When `watch` is sent next. */
  dueMs: number;
  /** The desktop there, of the newest stage; empty until there is one. */
  reference: Buffer;
}

/** A desktop at a place of another relay watches one here. */
interface RemoteWatcher {
  readonly watch: Watch;
  readonly relay: string;
  readonly from: number;
  readonly untilMs: number;
}

interface PeerPeeksOptions {
  peers: Peers;
  peeks: Peeks;
  neighbourhood: Neighbourhood;
  /** The world that relays share. */
  world: World;
  /** Tests lower them. */
  limits?: Pick<PeeksOptions, 'remoteWatchesMax' | 'remoteStagesPerStepMax'>;
  /** The time of the relay, and the more precise one by which stages are predicted. */
  nowMs: () => number;
  preciseMs: () => number;
}

export class PeerPeeks implements RemotePeeks {
  /** Counts since the start. */
  readonly counters = {
    /** Stages sent to other relays, each counted for each watcher. */
    sent: 0,
    /** Stages of other relays that a desktop here watches. */
    received: 0,
  };
  readonly outbox: PeerOutbox<PeerPeeksWriter>;
  readonly #options: PeerPeeksOptions;
  readonly #watchesMax: number;
  readonly #stagesMax: number;
  /** By the row of the watch. */
  readonly #watches = new Map<number, RemoteWatch>();
  /** By the row of the watched desktop and the edge there, row * 4 + edge. */
  readonly #watchers = new Map<number, RemoteWatcher>();
  /** The watchers for which a stage waits. Those that wait longest are first. */
  readonly #stagesDue = new Set<number>();
  /** Places of other relays whose desktop hid its stage, as `relay:place`, and until when that is remembered; the newest is the last. */
  readonly #hidden = new Map<string, number>();
  #nextStepMs = 0;
  readonly #watched = blankIdentity();
  readonly #reference = Buffer.alloc(512);
  /** A brace and the members of a stage. */
  readonly #stage = Buffer.alloc(1 + STAGE_BYTES_MAX, '{');

  constructor(options: PeerPeeksOptions) {
    this.#options = options;
    this.outbox = new PeerOutbox(() => new PeerPeeksWriter(options.peers.membership.name));
    const { remoteWatchesMax = REMOTE_WATCHES_MAX, remoteStagesPerStepMax = REMOTE_STAGES_PER_STEP_MAX } =
      options.limits ?? {};
    this.#watchesMax = remoteWatchesMax;
    this.#stagesMax = remoteStagesPerStepMax;
  }

  /** Watches of desktops of other relays, and watchers of other relays. */
  get watches(): number {
    return this.#watches.size;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  get isHidden(): boolean {
    const untilMs = this.#hidden.get(`${this.#relayFound}:${this.#options.peers.remotePlace.place}`);
    return untilMs !== undefined && this.#options.nowMs() < untilMs;
  }

  /** The relay at which the torus has just found a neighbour. */
  get #relayFound(): string {
    const { peers } = this.#options;
    return peers.membership.view.names[peers.remotePlace.relay];
  }

  watch(row: number, slot: number, edge: EdgeNumber): boolean {
    const { peers, neighbourhood } = this.#options;
    const { relay, place } = peers.remotePlace;
    if (this.#watches.size >= this.#watchesMax || !peers.isReachable(relay)) return false;
    const watch = { edge, slot, generation: neighbourhood.generation(slot), place };
    this.#watches.set(row, { watch, relay: this.#relayFound, dueMs: 0, reference: NOTHING });
    return true;
  }

  isSame(row: number): boolean {
    const known = this.#watches.get(row);
    return known?.watch.place === this.#options.peers.remotePlace.place && known.relay === this.#relayFound;
  }

  isMuted(row: number): boolean {
    const known = this.#watches.get(row);
    return known !== undefined && known.reference.length > 0 && this.#isMuting(known.watch.slot, known.reference);
  }

  /** Whether a desktop mutes the one that a reference names. */
  #isMuting(slot: number, reference: Buffer): boolean {
    const { neighbourhood } = this.#options;
    if (!neighbourhood.isMuting(slot)) return false;
    const { desktop } = JSON.parse(reference.toString());
    const watched = this.#watched;
    return readId(desktop, watched) && neighbourhood.mutes.has(slot, watched.slot, watched.generation);
  }

  unwatch(row: number): void {
    const known = this.#watches.get(row);
    if (known === undefined) return;
    this.#watches.delete(row);
    // If there is no room, the lease ends.
    if (known.dueMs > 0) this.outbox.to(known.relay).end(known.watch);
  }

  writeReference(row: number, out: Buffer, at: number): number {
    return at + (this.#watches.get(row)?.reference.copy(out, at) ?? 0);
  }

  stageChanged(at: number): void {
    this.#stagesDue.add(at);
  }

  maySee(at: number, target: number): boolean {
    const watcher = this.#watchers.get(at);
    return watcher !== undefined && this.#options.nowMs() < watcher.untilMs && this.#isAllowed(watcher, target, at & 3);
  }

  lost(at: number): void {
    this.#watchers.delete(at);
    this.#stagesDue.delete(at);
  }

  /** Whether a watcher is beyond this edge of `target`, and `target` does not mute it. */
  #isAllowed({ watch, relay, from }: RemoteWatcher, target: number, edge: number): boolean {
    const { neighbourhood, peers } = this.#options;
    if (neighbourhood.torus.neighbour(target, edge as EdgeNumber) !== REMOTE) return false;
    if (peers.remotePlace.place !== from || this.#relayFound !== relay) return false;
    return !(neighbourhood.isMuting(target) && neighbourhood.mutes.has(target, watch.slot, watch.generation));
  }

  /** Writes what is due to the messages, if it is time for that. */
  step(nowMs: number): void {
    if (nowMs < this.#nextStepMs) return;
    this.#nextStepMs = nowMs + PEER_PEEKS_STEP_MS;
    const { peers, peeks, neighbourhood } = this.#options;
    if (!peers.isConnected) return;
    for (const [row, known] of this.#watches) {
      if (nowMs < known.dueMs) continue;
      const from = neighbourhood.torus.placeOf(known.watch.slot);
      if (this.outbox.to(known.relay).watch(known.watch, from, peeks.stages.has(row)))
        known.dueMs = nowMs + PEEK_STEP_MS;
    }
    let left = this.#stagesMax;
    // Relays whose message has no room left: stages to them do not hold up those to others.
    const full = new Set<string>();
    for (const at of this.#stagesDue) {
      const { relay } = this.#watchers.get(at) as RemoteWatcher;
      if (full.has(relay)) continue;
      if (left-- === 0) return;
      if (!peeks.checkRemote(at)) continue;
      if (this.#sendStage(at)) this.#stagesDue.delete(at);
      else full.add(relay);
    }
  }

  /** Returns false when there is no room. */
  #sendStage(at: number): boolean {
    const { neighbourhood, peeks, preciseMs } = this.#options;
    const { watch, relay } = this.#watchers.get(at) as RemoteWatcher;
    const row = at >> 2;
    const slot = peeks.watchedBy(row);
    const stage = this.#stage.subarray(0, peeks.stages.write(row, this.#stage, 1));
    const reference = this.#reference.subarray(0, neighbourhood.writeReference(slot, this.#reference, 0));
    const ageMs = peeks.stages.ageMs(row, preciseMs());
    if (!this.outbox.to(relay).stage(watch, ageMs, reference, stage)) return false;
    this.counters.sent++;
    return true;
  }

  /** A message of another relay. Returns false when it is not understood. */
  receive(message: Uint8Array): boolean {
    const read = readPeerPeeks(message);
    if (typeof read === 'string') return false;
    const { sender } = read;
    for (const peek of read.peeks) {
      if (peek.kind === 'watch') this.#receiveWatch(sender, peek);
      else if (peek.kind === 'end') this.#receiveEnd(sender, peek);
      else if (peek.kind === 'hidden') this.#receiveHidden(sender, peek);
      else this.#receiveStage(sender, peek);
    }
    return true;
  }

  #receiveWatch(relay: string, { watch, from, hasStage }: PeerPeek & { kind: 'watch' }): void {
    const { peeks, neighbourhood, world, nowMs } = this.#options;
    if (watch.place >= world.count) return;
    const target = world.slots[watch.place];
    const edge = opposite(watch.edge);
    const watcher = { watch, relay, from, untilMs: nowMs() + PEER_WATCH_LEASE_MS };
    if (!this.#isAllowed(watcher, target, edge)) return;
    const row = peeks.rowOf(target);
    const known = row < 0 ? undefined : this.#watchers.get(row * 4 + edge);
    const hasRoom = known !== undefined || this.#watchers.size < this.#watchesMax;
    if (!neighbourhood.shows(target) || !hasRoom || !peeks.admit(target, edge)) {
      // If there is no room for the answer, the next `watch` gets it.
      this.outbox.to(relay).hidden(watch);
      return;
    }
    const at = peeks.rowOf(target) * 4 + edge;
    this.#watchers.set(at, watcher);
    const isSame = known !== undefined && isSameWatcher(known, watcher);
    if ((!isSame || !hasStage) && peeks.stages.has(at >> 2)) this.#stagesDue.add(at);
  }

  #receiveEnd(relay: string, { watch }: PeerPeek): void {
    const { peeks, world } = this.#options;
    if (watch.place >= world.count) return;
    const row = peeks.rowOf(world.slots[watch.place]);
    const at = row * 4 + opposite(watch.edge);
    const known = row < 0 ? undefined : this.#watchers.get(at);
    if (known !== undefined && isSameWatcher(known, { watch, relay })) peeks.expel(at);
  }

  #receiveHidden(relay: string, { watch }: PeerPeek): void {
    if (this.#find(relay, watch) === undefined) return;
    const key = `${relay}:${watch.place}`;
    this.#hidden.delete(key);
    this.#hidden.set(key, this.#options.nowMs() + HIDDEN_REMEMBERED_MS);
    keepNewest(this.#hidden, this.#watchesMax);
    this.#options.peeks.end(watch.slot);
  }

  #receiveStage(relay: string, { watch, ageMs, reference, stage }: PeerPeek & { kind: 'stage' }): void {
    const { peeks, peers, preciseMs } = this.#options;
    const known = this.#find(relay, watch);
    if (known === undefined) return;
    if (this.#isMuting(watch.slot, reference)) {
      peeks.forget(watch.slot);
      return;
    }
    this.counters.received++;
    known.reference = Buffer.from(reference);
    if (stage.files.length > 0) {
      const { desktop } = JSON.parse(reference.toString());
      for (const file of stage.files) peers.files.note(file, relay, desktop);
    }
    const row = peeks.rowSeenBy(watch.slot);
    peeks.stages.set(row, stage.body, 0, stage.body.length, preciseMs() - ageMs);
    peeks.stageArrived(watch.slot);
  }

  /** The watch that a message of another relay is about; undefined when there is none, or a newer one. */
  #find(relay: string, watch: Watch): RemoteWatch | undefined {
    const known = this.#watches.get(this.#options.peeks.rowSeenBy(watch.slot));
    const isIt = known !== undefined && known.watch.place === watch.place && isSameWatcher(known, { watch, relay });
    return isIt ? known : undefined;
  }
}

function isSameWatcher(
  one: Pick<RemoteWatch, 'watch' | 'relay'>,
  other: Pick<RemoteWatch, 'watch' | 'relay'>,
): boolean {
  const [a, b] = [one.watch, other.watch];
  return one.relay === other.relay && a.slot === b.slot && a.generation === b.generation && a.edge === b.edge;
}

const NOTHING = Buffer.alloc(0);
