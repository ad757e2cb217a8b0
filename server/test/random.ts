/** Random numbers for tests that can be repeated: the seed is printed, and SEED sets it. */
import type { TestContext } from 'node:test';

/** Returns a generator of numbers in [0, 1). The test prints its seed. */
export function randomOf(t: TestContext): () => number {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`SEED=${seed}`);
  return randomFrom(seed);
}

/** Returns a generator of numbers in [0, 1) that depend only on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a generator of whole numbers 0 … n − 1. */
export function pickFrom(random: () => number): (n: number) => number {
  return (n) => Math.floor(random() * n);
}
