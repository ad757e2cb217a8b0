/**
 * Turns: each pass of the master's loop, in which the relay changes, what has changed is committed, and what was promised leaves.
 *
 * Invariant: nothing that promises something leaves before a commit. Answers leave first, then what goes to other relays.
 * Cost: the relay's, and one copy of each answer.
 */
import type { Relay } from '../domain/relay.ts';
import type { AnswerSink } from '../domain/way_down.ts';
import { Links } from './links.ts';

/** A record of the relay that outlives it, such as the journal. */
export interface Committing {
  /** Everything so far survives when this returns. */
  commit(): void;
}

/** What sends at the end of a turn: answers, and frames to other relays. They promise something, so a commit comes first. */
export interface Sender {
  /** Whether flush() will send something. */
  readonly hasToSend: boolean;
  flush(): void;
}

export class Turns {
  readonly links = new Links();
  readonly relay: Relay;
  readonly #committing: Committing | undefined;
  /** In the order in which they send. */
  readonly #senders: Sender[] = [this.links];
  #onActivity = (): void => {};

  /** `committing`: without it, answers promise nothing beyond this process. */
  constructor(makeRelay: (answers: AnswerSink) => Relay, committing?: Committing) {
    this.relay = makeRelay(this.links);
    this.#committing = committing;
  }

  /** From now on it sends at the end of each turn, after those that were added before. */
  addSender(sender: Sender): void {
    this.#senders.push(sender);
  }

  /** From now on `happened` is called with each turn that something from outside has begun: not with those of the clock. */
  onActivity(happened: () => void): void {
    this.#onActivity = happened;
  }

  /** Makes all facts so far durable. Call it before answers are sent in the middle of a turn. */
  commit(): void {
    this.#committing?.commit();
  }

  /**
   * Ends the turn: wakes the parked polls that have events, and sends all answers of this turn. A turn without answers is committed
   * with the next one that has some, or by advance(), whichever is first: at low rates this saves one of the two commits of a sprite.
   */
  end(): void {
    this.#onActivity();
    this.#end();
  }

  #end(): void {
    this.relay.endTurn();
    for (const sender of this.#senders) {
      if (!sender.hasToSend) continue;
      this.commit();
      break;
    }
    for (const sender of this.#senders) sender.flush();
  }

  /** Advances the relay to a time (monotonic, ms), ends the turn and commits. Returns whether more is due soon. */
  advance(nowMs: number): boolean {
    const isMoreDue = this.relay.advance(nowMs);
    this.#end();
    this.commit();
    return isMoreDue;
  }

  /** As Relay.sendAway(). */
  sendAway(returnMs: number): void {
    this.relay.sendAway(returnMs);
    this.end();
  }

  /** As Relay.drain(). */
  drain(joins?: readonly string[]): void {
    this.relay.drain(joins);
    this.end();
  }

  /** A link has room again: sends it what was left in the mailboxes. */
  linkHasRoom(): void {
    this.relay.down.retryDeferred();
    this.end();
  }

  /** Removes a worker that has died, and the polls of its sockets. */
  removeLink(number: number): void {
    if (this.links.remove(number)) this.relay.down.closedAll((ticket) => this.links.isOf(number, ticket));
  }
}
