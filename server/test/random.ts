/** Random numbers for tests that can be repeated: the seed is printed, and SEED sets it. */
import type { TestContext } from 'node:test';
import { randomFrom } from '../../tools/bench/random.ts';

export { randomFrom };

/** Returns a generator of numbers in [0, 1). The test prints its seed. */
export function randomOf(t: TestContext): () => number {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`SEED=${seed}`);
  return randomFrom(seed);
}

/** Returns a generator of whole numbers 0 … n − 1. */
export function pickFrom(random: () => number): (n: number) => number {
  return (n) => Math.floor(random() * n);
}
