/**
 * The search for a capacity: the highest value of a load, such as a rate, at which a run still holds.
 *
 * Doubling (or halving) until one value holds and one does not, then bisection, then a longer run at the value that was found, then the
 * lowest value that did not hold once more, because either may have been luck. What is known is derived from all tries alone, so a search
 * may end after any of them. A try in which the relay was not the limit bounds the search from above all the same, and says who was.
 * Invariant: `held` is below `notHeld`. Cost: some ten tries.
 */

import type { CapacityTry } from '../report/capacity.ts';

/** What a run showed. */
export type Tried = Pick<CapacityTry, 'at' | 'long' | 'holds' | 'limit' | 'reason'>;

/** A run that is to be done. */
export type Next = Pick<CapacityTry, 'at' | 'long'>;

export interface Bounds {
  /** The value that is tried first, the least and the most. */
  first: number;
  least: number;
  most: number;
}

export interface Known<Try extends Tried> {
  /** The highest value that holds; undefined: none. */
  held?: Try;
  /** Whether `held` is of a longer run. */
  confirmed: boolean;
  /** The lowest value that does not hold; undefined: none. */
  notHeld?: Try;
}

/** Values closer to each other than this are not told apart: a machine's own speed varies more. */
const PRECISION = 1.1;

/** Far more than a search without noise needs. */
const TRIES_MAX = 60;

/** What is known after these tries: of each value its last try counts, or its last longer one. */
export function knownOf<Try extends Tried>(tries: readonly Try[]): Known<Try> {
  const verdicts = new Map<number, Try>();
  for (const one of tries) {
    const before = verdicts.get(one.at);
    if (one.long || !before?.long) verdicts.set(one.at, one);
  }
  const rising = [...verdicts.values()].sort((a, b) => a.at - b.at);
  const notHeld = rising.find(({ holds }) => !holds);
  const held = rising.findLast(({ holds, at }) => holds && at < (notHeld?.at ?? Number.POSITIVE_INFINITY));
  return { held, notHeld, confirmed: held?.long ?? false };
}

/** What to try next; undefined when the search is over. */
export function nextTry(tries: readonly Tried[], { first, least, most }: Bounds): Next | undefined {
  const { held, notHeld, confirmed } = knownOf(tries);
  const short = (at: number) => ({ at, long: false });
  if (tries.length >= TRIES_MAX) return undefined;
  if (tries.length === 0) return short(Math.min(most, Math.max(least, first)));
  if (!held) {
    const lowest = notHeld?.at ?? first;
    return lowest > least ? short(Math.max(least, rounded(lowest / 2))) : undefined;
  }
  if (!notHeld && held.at < most) return short(Math.min(most, rounded(held.at * 2)));
  if (notHeld && notHeld.at > held.at * PRECISION) {
    const middle = rounded(Math.sqrt(held.at * notHeld.at));
    if (middle > held.at && middle < notHeld.at) return short(middle);
  }
  if (!confirmed) return { at: held.at, long: true };
  const isOnce = notHeld && tries.filter(({ at }) => at === notHeld.at).length === 1;
  return isOnce ? short(notHeld.at) : undefined;
}

/**
 * Searches. `hasTime` says whether there is time for a run; without it the search goes on to the longer run, and then ends. `run` resolves
 * to undefined when it was interrupted.
 */
export async function search<Try extends Tried>(
  bounds: Bounds,
  hasTime: (next: Next) => boolean,
  run: (next: Next) => Promise<Try | undefined>,
): Promise<{ tries: Try[]; ended: 'found' | 'time' | 'interrupted' }> {
  const tries: Try[] = [];
  for (;;) {
    let next = nextTry(tries, bounds);
    if (!next) return { tries, ended: 'found' };
    if (tries.length > 0 && !hasTime(next)) {
      const { held, confirmed } = knownOf(tries);
      if (!held || confirmed) return { tries, ended: 'time' };
      next = { at: held.at, long: true };
      if (!hasTime(next)) return { tries, ended: 'time' };
    }
    const tried = await run(next);
    if (!tried) return { tries, ended: 'interrupted' };
    tries.push(tried);
  }
}

/** Two digits, as people write such values. */
function rounded(value: number): number {
  return value < 10 ? Number(value.toPrecision(2)) : Math.round(Number(value.toPrecision(2)));
}
