/**
 * What each suite cost when it last ran here, so that the longest can start first. Kept in `build/`, because it is true of one machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Seconds that a suite is expected to take which has never run: the more is built for it, the more of the project it starts. */
const UNKNOWN_SECONDS = 5;
const UNKNOWN_SECONDS_A_BUILD = 10;

/** Seconds that one is expected to take whose header says that it takes long: more than what is guessed of all others. */
const LONG_SECONDS = 90;

export interface Cost {
  readonly seconds: number;
  /** Of it and the processes that it waited for. */
  readonly cpuSeconds: number;
}

export class SuiteCosts {
  readonly #path: string;
  readonly #costs: Map<string, Cost>;

  constructor(path: string) {
    this.#path = path;
    this.#costs = new Map(Object.entries(read(path)));
  }

  /** Seconds that a suite will take, for which so many things are built, and whose header says whether it takes long. */
  expected(suite: string, builds: number, takesLong = false): number {
    const guess = takesLong ? LONG_SECONDS : UNKNOWN_SECONDS + builds * UNKNOWN_SECONDS_A_BUILD;
    return this.#costs.get(suite)?.seconds ?? guess;
  }

  note(suite: string, cost: Cost): void {
    this.#costs.set(suite, cost);
  }

  /** What these suites cost, the slowest first; without those that never ran. */
  slowest(suites: readonly string[]): [suite: string, cost: Cost][] {
    const known = [...this.#costs].filter(([suite]) => suites.includes(suite));
    return known.sort(([, a], [, b]) => b.seconds - a.seconds);
  }

  write(): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(Object.fromEntries(this.#costs), null, 1));
  }
}

/** A file that is not there, or that a run left half written, is no reason to fail. */
function read(path: string): Record<string, Cost> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
