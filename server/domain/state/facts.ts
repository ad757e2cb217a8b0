/**
 * Facts: what must survive the relay, as the relay tells it while it happens.
 *
 * The relay calls one method for each change, in order, in the turn in which it happens. A journal writes them down
 * (server/journal/journal.ts); recovery.ts applies them to an empty relay. The relay also writes the state of one slot as facts
 * when it is asked (Relay.writeState), so a journal can write a snapshot of all slots while the relay goes on.
 * Invariant: the state after a sequence of facts depends on nothing but these facts.
 * Owner: rows, passages, buffers and lists are valid until the call returns.
 * Cost: the hot ones (accepted, sent, acknowledged) allocate nothing.
 */

import type { Passage, ThrownPassage } from '../../wire/passage.ts';
import type { FrameIdentity } from '../../wire/peers/peer_frame.ts';
import type { Pictures } from '../../wire/pictures.ts';
import type { EdgeNumber } from '../../wire/rules.ts';

/** Everything about a live desktop but its sprites. */
export interface DesktopRow {
  slot: number;
  /** How many owners the slot has had, this one included. */
  owners: number;
  generation: number;
  /** Four words. */
  token: Uint32Array;
  /** Four words. */
  invitation: Uint32Array;
  world: string;
  /** The width of its world now. */
  width: number;
  /** The pictures that its world carries. */
  pictures: Pictures;
  /** Whether it shows its stage, and whether desktops of its world do unless they choose for themselves. */
  stage: boolean;
  worldStage: boolean;
  /** Whether public pages may show its name. */
  named: boolean;
  place: number;
  /** The highest accepted crossing, and one bit for each of the 32 numbers below it. */
  newestCrossing: number;
  acceptedBits: number;
  /** The crossing accepted last: how far it is below the newest one, and its receiver. */
  lastAcceptedBehind: number;
  receiver: number;
  receiverGeneration: number;
  /** The name as JSON; empty when the desktop has none of its own. */
  name: Buffer;
}

/** A desktop that has ended: which of its crossings were accepted, and which sprites it had received, is remembered. */
export interface EndedRow {
  /** Its row in the ring, and the row that is used next. */
  row: number;
  nextRow: number;
  slot: number;
  generation: number;
  /** Four words. */
  token: Uint32Array;
  newestCrossing: number;
  acceptedBits: number;
  /** The last sequence that it acknowledged. */
  acknowledged: number;
}

/** An event of a mailbox. */
export interface MailboxEvent extends Passage {
  /** The stamp that the mailboxes gave to it: the order in which events have arrived. */
  arrived: number;
}

/** A crossing that was accepted: its event is in the mailbox of `to`. Its thrower and its receiver are NO_SLOT when it came from another relay. */
export interface AcceptedCrossing extends ThrownPassage, MailboxEvent {
  to: number;
  /** The desktop that the response names. */
  receiver: number;
  receiverGeneration: number;
}

/** A picture, and how often it was thrown. */
export interface CountedPicture {
  readonly file: string;
  readonly times: number;
}

/** The sprite that came farthest. */
export interface Farthest {
  readonly file: string;
  /** How far it was from where it set out: columns and rows together. */
  readonly desktops: number;
  /** The desktop that threw it there. */
  readonly slot: number;
  readonly generation: number;
  /** The name of that desktop; empty unless public pages may show it. */
  readonly name: string;
}

/** What was counted for the page about the world (day.ts). */
export interface DayRow {
  /** Sprites thrown since the relay began. */
  readonly thrown: number;
  /** Days since 1970. */
  readonly day: number;
  /** The pictures that were thrown most, at most MOST_THROWN_MAX; the first one most often. */
  readonly mostThrown: readonly CountedPicture[];
  readonly farthest: Farthest | undefined;
}

export interface Facts {
  /** Whether new joins and crossings can be kept. If not, the relay refuses them. */
  readonly hasRoom: boolean;
  /** Whether this turn has told so much that what can wait should wait for the next one. */
  readonly isLong: boolean;

  /** A desktop is here, in a slot that was free; or all about one that is here, without its sprites. */
  desktop(row: DesktopRow): void;
  /** The slot has no owner: its desktop has ended, and its sprites have moved on or were given up. */
  free(slot: number, owners: number): void;
  /** The slot's desktop has ended, and its sprites wait for another desktop of the world. `place` is the one it had. */
  kept(slot: number, owners: number, world: string, place: number): void;
  /** A desktop has another place. */
  place(slot: number, place: number): void;
  /** A world has another width. */
  width(world: string, width: number): void;
  /** A desktop has another invitation: four words. */
  invitation(slot: number, secret: Uint32Array): void;
  /** The desktops that a desktop mutes: pairs of slot and generation. */
  mutes(slot: number, pairs: readonly number[]): void;
  /** From now on a desktop shows its stage, or does not, and public pages may show its name, or may not. */
  shown(slot: number, stage: boolean, named: boolean): void;
  /** A desktop that has ended is remembered. */
  ended(row: EndedRow): void;

  accepted(crossing: Readonly<AcceptedCrossing>): void;
  /** The events of a mailbox up to the sequence `newest` were sent. */
  sent(slot: number, newest: number): void;
  /** The events of a mailbox up to `seq` were acknowledged. */
  acknowledged(slot: number, seq: number): void;
  /** The sprites of `slot` are about to move to other mailboxes. The relay's state is whole; it changes with the next facts. */
  moving(slot: number): void;
  /** The sent events of a mailbox count as unsent again. */
  unsent(slot: number): void;
  /** The first `events` unsent events of `slot` that enter by `edge` are now in the mailbox of `to`. */
  moved(slot: number, edge: EdgeNumber, to: number, events: number): void;

  /** The mailbox of a slot is empty but for the event()s that follow. Its desktop has acknowledged all up to `acknowledged`. */
  mailbox(slot: number, acknowledged: number): void;
  /** One event of a mailbox, in the order of its list. It is whole in `body`. */
  event(slot: number, isSent: boolean, event: Readonly<MailboxEvent>): void;
  /** A frame is sent to a peer (peer_memory.ts), and has no verdicts yet. `frame`: its bytes. */
  peerFrame(peer: string, number: number, frame: Buffer): void;
  /** A frame that was sent to a peer has got its verdicts. */
  peerVerdicts(peer: string, incarnation: string, number: number, verdicts: Uint8Array): void;
  /** A frame of a peer was received, and got these verdicts. */
  peerTaken(frame: FrameIdentity, verdicts: Uint8Array): void;
  /** This start has this life for other relays (membership.ts). */
  life(life: number): void;
  /** A crossing in a frame without verdicts was answered as accepted: the relay has its sprite in custody until the verdict comes. */
  custody(slot: number, generation: number, crossing: number): void;
  /** Earlier facts about peers no longer count: all that is still true of them follows. */
  peersForgotten(): void;
  /** What was counted for the page about the world. */
  day(row: Readonly<DayRow>): void;
  /** Sprites since the first start. */
  counters(accepted: number, acknowledged: number, abandoned: number): void;
}
