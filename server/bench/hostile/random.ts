/** Random choices that depend only on a seed, so that a run can be repeated. */
import { randomFrom as numbersFrom } from '../../../tools/bench/random.ts';

export interface Random {
  /** Returns a whole number 0 … n − 1. */
  below(n: number): number;
  /** Returns an element. */
  of<T>(list: readonly T[]): T;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

export function randomFrom(seed: number): Random {
  const next = numbersFrom(seed);
  return {
    below: (n) => Math.floor(next() * n),
    of: (list) => list[Math.floor(next() * list.length)],
    chance: (probability) => next() < probability,
  };
}
