/**
 * The seats of a desktop, one after the other: it joins again when its seat has ended, and elsewhere when its relay stops for good or is gone.
 *
 * client-win/BEHAVIOUR.md has the rules (Moving to another relay; The end of a seat).
 * Invariant: one seat at a time is being replaced, and the last batch of a former seat stays until its relay has said what became of it.
 */
import type { Arrivals, Batch } from './arrivals.ts';
import { Connection, type OpenTransport, type TransportKind } from './connection.ts';
import { endFormer } from './farewell.ts';
import { Refused } from './joining.ts';
import { isLost, lostMs, Moves } from './moves.ts';
import { browserEnvironment, type FetchEnvironment } from './posts.ts';
import { byeMs, joinPauseMs, type RelayEvent, relayOf, type Seat, type Transport } from './transport.ts';

/** Why a desktop has another seat: the one before had ended; its relay has stopped for good; its relay does not answer. */
export type Reason = 'ended' | 'stopped' | 'gone';

interface SeatingHandlers {
  /** Joins at the relay with this origin, in the world of a former seat. Rejects when that fails. */
  join(relay: string, former: Seat): Promise<Seat>;
  /** The desktop has this seat now, and the connection serves it. */
  seated(seat: Seat): void;
  /** The seat is being replaced. Meanwhile throws may still get their verdicts. */
  leaving(): void;
  replaced(reason: Reason): void;
  /** See Connection. */
  opened(seat: Seat, transport: Transport, kind: TransportKind): void;
  changed(seat: Seat, up: boolean): void;
  /** Handles a batch, after its sprites have entered. */
  received(seat: Seat, events: RelayEvent[]): void;
  /** The seat, its cursor, or what is here has changed, and must be saved now. */
  save(): void;
}

interface SeatingOptions<Guest extends { readonly file: string }> {
  /** The origin of the relay that the person named. */
  began: string;
  first: TransportKind;
  open: Record<TransportKind, OpenTransport>;
  arrivals: Arrivals<Guest>;
  environment?: FetchEnvironment;
}

export class Seating<Guest extends { readonly file: string }> {
  readonly connection: Connection;
  readonly moves: Moves;
  readonly #began: string;
  readonly #arrivals: Arrivals<Guest>;
  readonly #handlers: SeatingHandlers;
  readonly #environment: FetchEnvironment;
  readonly #closing = new AbortController();
  /** The seat that is being replaced by another one. `mayStop`: it stays when its relay answers again. */
  #replacing: { readonly seat: Seat; mayStop: boolean } | null = null;

  constructor(
    { began, first, open, arrivals, environment = browserEnvironment() }: SeatingOptions<Guest>,
    handlers: SeatingHandlers,
  ) {
    this.#began = began;
    this.#arrivals = arrivals;
    this.#handlers = handlers;
    this.#environment = environment;
    this.moves = new Moves(began);
    this.connection = new Connection(first, open, {
      opened: (seat, transport, kind) => handlers.opened(seat, transport, kind),
      events: (seat, events, cursor) => this.#receive(seat, events, cursor),
      cursorLost: (seat, cursor) => {
        arrivals.restart();
        seat.cursor = cursor;
        handlers.save();
      },
      changed: (seat, up) => handlers.changed(seat, up),
      lost: (seat) => {
        if (isLost(began, seat, lostMs(seat))) void this.#replace(seat, [began], 'gone', true);
      },
      ended: (seat, lostAfter) => this.#ended(seat, lostAfter),
    });
  }

  /** Takes a seat instead of the former one, if there was one. */
  take(seat: Seat): void {
    const former = this.connection.seat;
    const doubtful = this.#arrivals.changeSeat();
    this.resume(seat);
    if (former !== null && doubtful.size > 0) void this.#settle(former, doubtful);
  }

  /** Goes on with a seat that was saved, and with what its last batch has brought. */
  resume(seat: Seat): void {
    this.connection.sit(seat);
    this.#handlers.seated(seat);
  }

  /** Closes the connection for good, and joins no more. */
  close(): void {
    this.#closing.abort();
    this.connection.close();
  }

  async #receive(seat: Seat, events: RelayEvent[], cursor: string): Promise<boolean> {
    this.#arrivals.receive(events);
    this.#handlers.received(seat, events);
    seat.cursor = cursor;
    this.#handlers.save();
    const bye = events.find((event) => event.type === 'bye');
    if (bye?.join !== undefined && !this.#isGivenUp(seat)) {
      const to = this.moves.follow(relayOf(seat), bye.join, performance.now());
      if (to !== undefined) void this.#move(seat, to, byeMs(events, this.#environment.random));
    }
    await this.#arrivals.untilRoom();
    return !this.#isGivenUp(seat);
  }

  /** Whether this seat will be replaced, whatever its relay does. */
  #isGivenUp(seat: Seat): boolean {
    return this.#replacing?.seat === seat && !this.#replacing.mayStop;
  }

  #ended(seat: Seat, lostAfter: number): void {
    this.#arrivals.removeAfter(lostAfter);
    this.#arrivals.restart(); // the relay has told what becomes of the last batch
    this.#handlers.save();
    this.#handlers.leaving();
    void this.#replace(seat, [this.#began, relayOf(seat)], 'ended');
  }

  /** Moves to another relay after `waitMs`. Meanwhile the seat still gets the verdicts on what has been thrown. */
  async #move(seat: Seat, to: string, waitMs: number): Promise<void> {
    this.#replacing = { seat, mayStop: false };
    this.#handlers.leaving();
    await this.#environment.sleep(waitMs, this.#closing.signal);
    this.#replacing = null;
    await this.#replace(seat, [to, this.#began], 'stopped');
  }

  /**
   * Joins at these relays in turn until one accepts. With `mayStop`, it also ends when the relay of the seat answers again.
   * A second call for the same seat starts nothing. Without `mayStop`, it removes `mayStop` from the first call.
   */
  async #replace(seat: Seat, relays: readonly string[], reason: Reason, mayStop = false): Promise<void> {
    const { connection } = this;
    const { random, sleep } = this.#environment;
    const { signal } = this.#closing;
    if (this.#replacing?.seat === seat) {
      this.#replacing.mayStop &&= mayStop;
      return;
    }
    const replacing = { seat, mayStop };
    this.#replacing = replacing;
    const isWanted = () => !signal.aborted && connection.seat === seat && !(replacing.mayStop && connection.up);
    for (let attempt = 0; isWanted(); attempt++) {
      try {
        const next = await this.#handlers.join(relays[attempt % relays.length], seat);
        if (signal.aborted) return; // nobody polls for that one, so it ends
        this.take(next);
        this.#handlers.replaced(reason);
      } catch (error) {
        await sleep(joinPauseMs(attempt, random, error instanceof Refused ? error.problem : undefined), signal);
      }
    }
    if (this.#replacing === replacing) this.#replacing = null;
  }

  /** Learns from the relay of a former seat, once that answers, whether it has passed on the last batch. */
  async #settle(former: Seat, batch: Batch<Guest>): Promise<void> {
    this.#arrivals.settle(batch, await endFormer(former, this.#environment));
    this.#handlers.save();
  }
}
