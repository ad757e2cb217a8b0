/**
 * Moves: where a desktop joins when its relay stops for good, or does not answer any more.
 *
 * A relay that stops for good names another one. A desktop follows only to an address that its user could have typed, and only MOVES_MAX times
 * in MOVES_MS, so that relays that name each other can't make it run in circles. client-win/BEHAVIOUR.md has the rules, and
 * moves.vectors.json cases of them, which core/relay/moves.cc follows too.
 */
import { JOIN_URL_BYTES_MAX, LOST_LEASES } from '../../wire/rules.ts';
import { relayOf, type Seat } from './transport.ts';

export const MOVES_MAX = 4; // moves in MOVES_MS: several relays of a cluster may stop one after the other
export const MOVES_MS = 600_000; // ms for which a move counts: in circles that makes 24 joins an hour

/** An http or https address in ASCII, with a plain host and no user, as people type it. */
const ADDRESS = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#][!-~]*)?$/i;

/** Returns the origin of `join`, which the relay at the origin `relay` names; undefined when a desktop must not follow there. */
export function relayToJoin(relay: string, join: string): string | undefined {
  if (join.length > JOIN_URL_BYTES_MAX || !ADDRESS.test(join) || !URL.canParse(join)) return undefined;
  const { origin } = new URL(join);
  return relay.startsWith('https:') && !origin.startsWith('https:') ? undefined : origin;
}

/** Returns after how many ms without an answer the relay of a seat counts as gone. */
export function lostMs({ leaseSeconds }: Pick<Seat, 'leaseSeconds'>): number {
  return LOST_LEASES * leaseSeconds * 1000;
}

/** Returns whether to join at the address `began` again, because the relay of the seat, another one, has not answered for so long. */
export function isLost(began: string, seat: Pick<Seat, 'crossings' | 'leaseSeconds'>, silentMs: number): boolean {
  return began !== relayOf(seat) && silentMs >= lostMs(seat);
}

export class Moves {
  /** Where links for friends lead: to the address where the desktop began, or, if that was the relay that stopped, to the next relay. */
  site: string;
  /** When the last moves were, the oldest first: at most MOVES_MAX. */
  readonly #madeMs: number[] = [];

  constructor(began: string) {
    this.site = began;
  }

  /** Returns where to move when `relay` names `join`, and counts the move; undefined when the desktop stays. `nowMs` is on any clock. */
  follow(relay: string, join: string, nowMs: number): string | undefined {
    const to = relayToJoin(relay, join);
    while (this.#madeMs.length > 0 && nowMs - this.#madeMs[0] >= MOVES_MS) this.#madeMs.shift();
    if (to === undefined || this.#madeMs.length === MOVES_MAX) return undefined;
    this.#madeMs.push(nowMs);
    if (relay === this.site) this.site = to;
    return to;
  }
}
