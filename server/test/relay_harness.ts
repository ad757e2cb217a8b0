/**
 * A relay without processes: a clock that the test moves, a record of every answer, and what desktops do as one call each.
 *
 * Suites with words of their own extend it; those that only need a relay, a master or a desktop make one with makeRelay(), masterOf() or
 * joined(). Invariant: an answer is recorded once, and stays until the test pops it.
 */
import assert from 'node:assert/strict';
import { Relay, type RelayOptions } from '../domain/relay.ts';
import type { CrossingResponse, Verdict } from '../domain/responses.ts';
import { TICK_MS } from '../domain/slots/deadlines.ts';
import { NEIGHBOURS_STEP_MS } from '../domain/state/limits.ts';
import { wayBetween } from '../domain/state/torus.ts';
import { Master } from '../processes/master.ts';
import { Seats } from '../processes/seats.ts';
import { type Committing, Turns } from '../processes/turns.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Pictures, Standing } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Edge } from '../wire/rules.ts';
import { checkedCrossing } from './passages.ts';

export const EPOCH = 0x6a1f03c2;
export const KEY = Buffer.alloc(GENERATION_KEY_BYTES, 0x3e);
export const START_MS = 1_000_000;
export const FILE = '0123456789abcdef'.repeat(4);
export const NO_CURSOR = -1;

export interface RecordedAnswer {
  ticket: number;
  status: number;
  retryAfterSeconds: number;
  /** Without the part that is shared with other answers. */
  bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what these tests ask.
  body: any;
  /** The part that is shared with other answers. */
  shared: Buffer | undefined;
}

/** A desktop, as it knows itself after its join. */
export interface Guest extends Identity {
  invitation: Uint32Array;
}

/** A relay with defaults for what a test leaves open. No two of its secrets are the same, and its answers are lost. */
export function makeRelay(options: Partial<RelayOptions> = {}): Relay {
  let secrets = 0;
  return new Relay({
    ...{ slots: 200, slabBytes: 0, epoch: EPOCH, generationKey: KEY, nowMs: START_MS },
    answers: { room: (bytes) => Buffer.alloc(bytes), roomAt: () => 0, answer: () => {} },
    randomize: (words) => words.fill(++secrets),
    random: () => 0.5,
    ...options,
  });
}

/** The turns of such a relay, whose clock starts at 0. */
export function turnsOf(options: Partial<RelayOptions> = {}, committing?: Committing): Turns {
  return new Turns((answers) => makeRelay({ epoch: 1, nowMs: 0, answers, ...options }), committing);
}

/** A master with such a relay. */
export function masterOf(options: Partial<RelayOptions> = {}): Master {
  const turns = turnsOf(options);
  return new Master({ turns, seats: new Seats(turns.relay) });
}

export function joined(relay: Relay, join: Partial<Join> = {}): Guest {
  const [token, invitation] = [new Uint32Array(4), new Uint32Array(4)];
  const slot = relay.join({ name: '', ...join }, token, invitation);
  return { slot, generation: relay.desktops.generation(slot), token, invitation };
}

/** One desktop asks another one to change places, and that agrees. Returns whether they are changed: not in different worlds, for example. */
export function swapWith(relay: Relay, asker: Omit<Identity, 'token'>, asked: Omit<Identity, 'token'>): boolean {
  const { torus, desktops, swaps } = relay;
  const { count, width } = torus.worldOf(asker.slot);
  const way = wayBetween(torus.placeOf(asker.slot), torus.placeOf(asked.slot), count, width);
  try {
    const { swap } = swaps.ask(asker.slot, { name: desktops.name(asked.slot), ...way });
    if (swap === 'asked') swaps.answer(asked.slot, { from: asker, accept: true });
    return true;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return false;
  }
}

export class RelayHarness {
  readonly relay: Relay;
  readonly answers: RecordedAnswer[] = [];
  nowMs = START_MS;
  /** The next "random" number, 0 … 1. */
  luck = 0.5;
  /** Whether the receiver of a ticket has room for a batch. */
  hasRoom = (_ticket: number) => true;
  hasRoomForSayings = true;
  #tickets = 0;

  constructor(options: Partial<RelayOptions> = {}) {
    this.relay = makeRelay({
      answers: {
        room: (bytes) => Buffer.alloc(bytes),
        roomAt: () => 0,
        hasRoom: (ticket) => this.hasRoom(ticket),
        hasRoomForSayings: () => this.hasRoomForSayings,
        answer: (ticket, { status, body, start, end, retryAfterSeconds, shared = Buffer.alloc(0) }) => {
          const text = Buffer.concat([body.subarray(start, end), shared]).toString();
          this.answers.push({
            ...{
              ticket,
              status,
              retryAfterSeconds,
              bytes: end - start,
              body: text === '' ? undefined : JSON.parse(text),
            },
            shared: shared.length > 0 ? shared : undefined,
          });
        },
      },
      random: () => this.luck,
      ...options,
    });
  }

  join(name = '', more: { world?: string; near?: Guest; address?: string; pictures?: Pictures } = {}): Guest {
    const { near, ...rest } = more;
    const join = near ? { name, ...rest, near: { slot: near.slot, secret: [...near.invitation] } } : { name, ...rest };
    return joined(this.relay, join);
  }

  joinMany(count: number, world?: string): Guest[] {
    return Array.from({ length: count }, () => this.join('', world === undefined ? {} : { world }));
  }

  id({ slot }: Identity): string {
    return this.relay.desktops.id(slot);
  }

  throw(from: Identity, crossing: number, edge: Edge = 'right', name = ''): Verdict {
    return this.throwForResponse(from, crossing, edge, name).verdict;
  }

  throwForResponse(
    from: Identity,
    crossing: number,
    edge: Edge = 'right',
    name = '',
    standing?: Standing,
  ): Readonly<CrossingResponse> {
    const sprite = { file: FILE, name };
    const checked = checkCrossing({ crossing, edge, at: 0.25, vx: 900, vy: -50, sprite });
    return this.relay.accept(from, checkedCrossing(checked.crossing, checked.edge, checked.passage), standing);
  }

  /** Polls; returns the ticket. */
  poll({ slot, generation, token }: Identity, seq = NO_CURSOR, epoch = EPOCH): number {
    this.relay.poll({ slot, generation, token }, ++this.#tickets, epoch, seq);
    return this.#tickets;
  }

  /** Polls and pops the answer, which must come at once. */
  ask(identity: Identity, seq = NO_CURSOR, epoch = EPOCH): RecordedAnswer {
    return this.answered(this.poll(identity, seq, epoch));
  }

  /** Pops the answer of a ticket; there must be exactly one. */
  answered(ticket: number): RecordedAnswer {
    const found = this.answers.filter((answer) => answer.ticket === ticket);
    assert.equal(found.length, 1, `answers of ticket ${ticket}`);
    this.answers.splice(this.answers.indexOf(found[0]), 1);
    return found[0];
  }

  isParked(ticket: number): boolean {
    return !this.answers.some((answer) => answer.ticket === ticket);
  }

  /** Advances the clock at once, in as many steps as the relay asks for. Returns their number. */
  pass(ms: number): number {
    this.nowMs += ms;
    let steps = 1;
    while (this.relay.advance(this.nowMs)) steps++;
    return steps;
  }

  /** Advances the clock tick by tick. */
  tick(ms: number): void {
    for (const end = this.nowMs + ms; this.nowMs < end; ) this.pass(TICK_MS);
  }

  /** Parks a poll of each desktop, after the events that are due first; returns the tickets. */
  settle(...desktops: Identity[]): number[] {
    this.pass(NEIGHBOURS_STEP_MS);
    const tickets = desktops.map((identity) => {
      const first = this.poll(identity);
      return this.isParked(first) ? first : this.poll(identity);
    });
    this.answers.length = 0;
    return tickets;
  }
}
