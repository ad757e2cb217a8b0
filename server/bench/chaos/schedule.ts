/** Which faults come when, and at which relay: drawn from the seed before the run begins, so that a seed names the same faults again. */
import { type Random, randomFrom } from '../hostile/random.ts';
import { FAULTS } from './faults.ts';

/** The pause between two faults, in ms. */
const PAUSE_MS = [500, 6_000] as const;

/** Seeds of what a fault chooses itself. */
const SEEDS = 2 ** 31;

export interface Planned {
  fault: string;
  /** The index of the relay, of those that can have it. */
  relay: number;
  /** How long after the fault before it, in ms. */
  pauseMs: number;
  seed: number;
}

/** Endless. `faults`: the names to choose from. `workers`: of each relay. */
export function* schedule(
  seed: number,
  faults: readonly string[],
  fits: (fault: string) => number[],
): Generator<Planned> {
  const random = randomFrom(seed);
  // Each name as often as its weight says.
  const names = faults.filter((name) => fits(name).length > 0).flatMap((name) => Array(FAULTS[name].weight).fill(name));
  while (names.length > 0) {
    const fault: string = random.of(names);
    const relay = random.of(fits(fault));
    yield { fault, relay, pauseMs: pauseOf(random), seed: random.below(SEEDS) };
  }
}

function pauseOf(random: Random): number {
  return PAUSE_MS[0] + random.below(PAUSE_MS[1] - PAUSE_MS[0]);
}
