/** Random numbers that depend only on a seed, so that a run can be repeated (mulberry32). */

export interface Random {
  /** Returns a whole number 0 … n − 1. */
  below(n: number): number;
  /** Returns an element. */
  of<T>(list: readonly T[]): T;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (n) => Math.floor(next() * n),
    of: (list) => list[Math.floor(next() * list.length)],
    chance: (probability) => next() < probability,
  };
}
