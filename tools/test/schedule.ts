/**
 * Which suite starts next, and whether it may run beside those that run already.
 *
 * A suite waits until everything that it needs is built. Of those that are ready the longest starts first, so that none is left for the
 * end. As many run at once as there are cores, and more while cores idle, because most long suites wait for other programs. Suites
 * that need a quiet machine run at the end, one at a time. Pure: how idle the machine is comes from the caller.
 */

/** Cores that must have idled before one more suite starts than there are cores. */
const IDLE_CORES_MIN = 0.3; // with 0.6 a seventh of two cores idled through a whole run

/** Suites at once for each core: each takes up to 500 MB, a machine with two cores has 4 GB or more. */
const SUITES_A_CORE_MAX = 3;

export interface Planned {
  readonly file: string;
  /** What must be built first. */
  readonly needs: readonly string[];
  /** What it took before, or a guess, in seconds. */
  readonly seconds: number;
  /** Nothing else may run beside it. */
  readonly isQuiet: boolean;
}

export class Schedule {
  readonly #cores: number;
  readonly #waiting: Planned[];
  readonly #running = new Set<Planned>();
  readonly #building: Set<string>;

  /** `building`: what is not built yet. */
  constructor(suites: readonly Planned[], building: readonly string[], cores: number) {
    this.#cores = cores;
    this.#waiting = suites.toSorted((a, b) => b.seconds - a.seconds);
    this.#building = new Set(building);
  }

  get isDone(): boolean {
    return this.#waiting.length === 0 && this.#running.size === 0;
  }

  /** Whether compilers run. */
  get isBuilding(): boolean {
    return this.#building.size > 0;
  }

  /** The suite to start now, which counts as running from here on; undefined when none may start. */
  next(idleCores: number): Planned | undefined {
    const next = this.#hasRoom(idleCores) ? this.#waiting.find((suite) => this.#mayStart(suite)) : undefined;
    if (next === undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#running.add(next);
    return next;
  }

  /** A suite has ended. */
  end(suite: Planned): void {
    this.#running.delete(suite);
  }

  /** Something is built, or can't be: a suite that needs it says so itself. */
  built(what: string): void {
    this.#building.delete(what);
  }

  #hasRoom(idleCores: number): boolean {
    const count = this.#running.size;
    const compilers = this.isBuilding ? 1 : 0; // they leave one core to the suites, and suites one to them
    if (count < Math.max(1, this.#cores - compilers)) return true;
    return idleCores >= IDLE_CORES_MIN && count < SUITES_A_CORE_MAX * this.#cores;
  }

  #mayStart(suite: Planned): boolean {
    if ([...this.#running].some(({ isQuiet }) => isQuiet)) return false;
    if (suite.isQuiet) {
      return this.#running.size === 0 && !this.isBuilding && this.#waiting.every(({ isQuiet }) => isQuiet);
    }
    return !suite.needs.some((what) => this.#building.has(what));
  }
}
