/**
 * What a relay holds, read from its data directory: the sprites in its mailboxes, and those that it is about to pass on.
 *
 * A relay is made from the journal, as after a death, and asked for its whole state. Sprites are found by their names in the bytes of each fact,
 * whatever kind of fact it is. It is also asked which throws it knows, as a repeat would ask. Reading blocks for a while, so it is done in a
 * thread (custody_thread.ts).
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { keyOfThrow } from '../../domain/peers/peer_memory.ts';
import { Recovery } from '../../domain/recovery.ts';
import { Relay } from '../../domain/relay.ts';
import { NO_SLOT } from '../../domain/state/desktops.ts';
import type { Facts } from '../../domain/state/facts.ts';
import { FolderDisk } from '../../journal/disk.ts';
import { readJournal } from '../../journal/journal.ts';
import { JOURNAL_FOLDER } from '../../roles/journaling.ts';
import type { Passage } from '../../wire/passage.ts';
import { type FrameIdentity, type PeerFrame, readPeerFrame, readPeerRecords } from '../../wire/peers/peer_frame.ts';
import { type Custody, type Flying, keyOf, type Throw, type Waiting } from './account.ts';

/** Desktops at once that relays of a chaos run are started for. */
export const SLOTS = 4_096;

const SLAB_BYTES = 2 ** 32;
const NAME = /"name":"sprite-(\d+)"/g;

/** What the journal of a relay holds. */
export interface Held extends Custody {
  waiting: Omit<Waiting, 'relay'>[];
}

/** What is asked of a journal: its data directory, and throws that it may know. */
export interface Question {
  data: string;
  throws: readonly Throw[];
}

/** Reads the journal in a data directory in a thread. Rejects when no relay could start with it. */
export function readCustody(data: string, throws: readonly Throw[] = []): Promise<Held> {
  return new Promise((resolve, reject) => {
    const workerData: Question = { data, throws };
    const thread = new Worker(join(import.meta.dirname, 'custody_thread.ts'), { workerData });
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error(`the journal of ${data} was not read`)));
  });
}

/** Reads the journal in a data directory. Throws as the recovery of a relay does. */
export function custodyOf({ data, throws }: Question): Held {
  const relay = new Relay({
    slots: SLOTS,
    slabBytes: SLAB_BYTES,
    epoch: 0,
    generationKey: Buffer.alloc(16),
    nowMs: 0,
    random: () => 0,
    answers: { room: (bytes) => Buffer.alloc(bytes), roomAt: () => 0, answer: () => {} },
    randomize: () => {},
  });
  const recovery = new TakenRecovery(relay, 0);
  const { frames } = readJournal(new FolderDisk(join(data, JOURNAL_FOLDER)), recovery);
  if (frames > 0) recovery.finish();
  const held = new Map<number, string[]>();
  const sent = new Map<number, string[]>();
  const waiting: Held['waiting'] = [];
  for (let slot = 0; slot < relay.desktops.untouched; slot++) {
    const isKept = !relay.desktops.isLive(slot);
    const mailbox = `${slot} of owner ${relay.desktops.owners(slot)}`;
    const inMailbox = (sprite: number, fact: keyof Facts, args: readonly unknown[]) => {
      const [, isSent] = args;
      if (fact === 'event' && isSent === true) sent.set(sprite, [...(sent.get(sprite) ?? []), mailbox]);
      const world = relay.torus.worldOf(slot).name;
      waiting.push({ sprite, world, isKept });
      held.set(sprite, [...(held.get(sprite) ?? []), `${isKept ? 'a kept mailbox' : 'a mailbox'} in ${world}`]);
    };
    relay.writeState(slot, watching(inMailbox));
  }
  const flying = flyingIn(relay);
  // A sprite that is handed on is in its mailbox until the other relay has accepted it.
  for (const sprite of flying.keys()) {
    if (!held.has(sprite)) waiting.push({ sprite, world: 'a frame to a peer', isKept: false });
  }
  const known = new Set(throws.filter((one) => isKnown(relay, one)).map(keyOf));
  return { held, sent, flying, taken: recovery.taken, known, waiting };
}

/** A recovery that notes in which frames of other relays sprites came. */
class TakenRecovery extends Recovery {
  readonly taken = new Map<number, string[]>();
  /** The sprites of a frame are accepted before the frame is taken. */
  #accepted: number[] = [];

  override accepted(...fact: Parameters<Facts['accepted']>): void {
    const [crossing] = fact;
    if (crossing.slot === NO_SLOT) this.#accepted.push(...spritesIn(eventOf(crossing)));
    super.accepted(...fact);
  }

  override peerTaken(frame: FrameIdentity, verdicts: Uint8Array): void {
    const { sender, epoch, incarnation, number } = frame;
    for (const sprite of this.#accepted.splice(0)) {
      this.taken.set(sprite, [...(this.taken.get(sprite) ?? []), `${sender}/${epoch}/${incarnation}/${number}`]);
    }
    super.peerTaken(frame, verdicts);
  }

  /** The end of a turn: what else was accepted did not come in a frame. */
  override counters(...fact: Parameters<Facts['counters']>): void {
    this.#accepted = [];
    super.counters(...fact);
  }
}

/** The sprites in frames without verdicts. */
function flyingIn({ peerMemory }: Relay): Map<number, Flying[]> {
  const flying = new Map<number, Flying[]>();
  for (const { frames } of peerMemory.sent.values()) {
    for (const [frame, { bytes }] of frames) {
      readPeerRecords(readPeerFrame(bytes) as PeerFrame, (record) => {
        const key = keyOfThrow(record);
        const thrown = record.crossing === 0 ? undefined : key;
        const one: Flying = { frame, thrown, isKept: peerMemory.custody.has(key) };
        for (const sprite of spritesIn(record.body.subarray(record.start, record.end))) {
          flying.set(sprite, [...(flying.get(sprite) ?? []), one]);
        }
      });
    }
  }
  return flying;
}

/** Whether the relay knows that it has accepted this throw, and so would not accept a repeat. */
function isKnown({ desktops, ended }: Relay, { identity, crossing }: Throw): boolean {
  if (desktops.authenticate(identity) !== 'live') return ended.isAccepted(identity, crossing, 0);
  return desktops.recencyOf(identity.slot, crossing) === 'repeated';
}

/** The buffers among the arguments of a fact, and the event of a passage. */
function bytesOf(args: readonly unknown[]): Buffer[] {
  return args.flatMap((one) => {
    if (Buffer.isBuffer(one)) return [one];
    if (!isRecord(one)) return [];
    return 'body' in one ? [eventOf(one as Passage)] : bytesOf(Object.values(one));
  });
}

function eventOf({ head, headLength, body, start, end }: Passage): Buffer {
  return Buffer.concat([head.subarray(0, headLength), body.subarray(start, end)]);
}

function spritesIn(bytes: Buffer): number[] {
  return [...bytes.toString('latin1').matchAll(NAME)].map(([, sprite]) => Number(sprite));
}

/** Called with a sprite that a fact names. */
type Found = (sprite: number, fact: keyof Facts, args: readonly unknown[]) => void;

/** Facts of which nothing is kept: `found` is called with each sprite that they name. */
function watching(found: Found): Facts {
  return new Proxy({} as Facts, {
    get:
      (_, fact: keyof Facts) =>
      (...args: unknown[]) => {
        for (const bytes of bytesOf(args)) for (const sprite of spritesIn(bytes)) found(sprite, fact, args);
      },
  });
}

function isRecord(one: unknown): one is object {
  return typeof one === 'object' && one !== null && !ArrayBuffer.isView(one) && !Array.isArray(one);
}
