/** Randomness for tests that can be run again: its seed is printed, and taken from SEED when given. */
import type { TestContext } from 'node:test';

/** Numbers in [0, 1) that follow from the seed that the test prints. */
export function randomOf(t: TestContext): () => number {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`SEED=${seed}`);
  return randomFrom(seed);
}

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whole numbers 0 … n − 1 of such a source. */
export function pickFrom(random: () => number): (n: number) => number {
  return (n) => Math.floor(random() * n);
}
