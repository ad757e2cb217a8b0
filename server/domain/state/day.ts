/**
 * The day: what the page about the world says of the default world beside its map. Private worlds are not in it.
 *
 * The relay counts `thrown`, which is of all days; flights (processes/flights.ts) write the rest, which is of the present day in UTC. The journal
 * gets all of it at most once in DAY_STEP_MS, so a relay that dies has counted a second less.
 */
import type { CountedPicture, DayRow, Facts, Farthest } from './facts.ts';
import { DAY_STEP_MS } from './limits.ts';

export class Day implements DayRow {
  thrown = 0;
  #day = 0;
  #mostThrown: readonly CountedPicture[] = [];
  #farthest: Farthest | undefined;
  /** What the journal has: `thrown`, and whether it lacks anything else. */
  #toldThrown = 0;
  #isChanged = false;
  #tellMs = Number.NEGATIVE_INFINITY;

  get day(): number {
    return this.#day;
  }

  get mostThrown(): readonly CountedPicture[] {
    return this.#mostThrown;
  }

  get farthest(): Farthest | undefined {
    return this.#farthest;
  }

  /** It is this day now. Returns whether it is another one than before: also when the clock was set back. */
  begin(day: number): boolean {
    if (day === this.#day) return false;
    this.#day = day;
    this.#mostThrown = [];
    this.setFarthest(undefined);
    return true;
  }

  setFarthest(farthest: Farthest | undefined): void {
    this.#farthest = farthest;
    this.#isChanged = true;
  }

  setMostThrown(pictures: readonly CountedPicture[]): void {
    this.#mostThrown = pictures;
    this.#isChanged = true;
  }

  /** The name of this desktop is no longer shown. */
  hideName(slot: number, generation: number): void {
    const farthest = this.#farthest;
    if (farthest?.slot === slot && farthest.generation === generation) this.setFarthest({ ...farthest, name: '' });
  }

  /** Tells what has changed, if DAY_STEP_MS have passed; without a time, at once. */
  tell(facts: Facts, nowMs = Number.POSITIVE_INFINITY): void {
    if (nowMs < this.#tellMs || (this.thrown === this.#toldThrown && !this.#isChanged)) return;
    this.#tellMs = nowMs + DAY_STEP_MS;
    this.writeState(facts);
  }

  writeState(facts: Facts): void {
    facts.day(this);
    this.#toldThrown = this.thrown;
    this.#isChanged = false;
  }

  /** Recovery: it goes on from here. */
  restore({ thrown, day, mostThrown, farthest }: DayRow): void {
    this.thrown = thrown;
    this.#toldThrown = thrown;
    this.#day = day;
    this.#mostThrown = mostThrown;
    this.#farthest = farthest;
  }
}
