/**
 * The relay's clock: advances the relay every tick, and again with each turn of the event loop while more is due.
 *
 * While nothing happens the clock is quiet: its ticks are so rare that an idle relay costs nothing. A ping, or the end of a lease, then
 * comes half a second late at most. The first turn with a request ends that.
 * Units   ms, monotonic. After a pause of the process (a suspended machine) the clock moves by TICKS_AT_ONCE_MAX ticks only, so
 *         that the pause does not end the leases of all desktops.
 */
import { ok } from 'node:assert';
import { TICK_MS } from '../domain/slots/deadlines.ts';
import { LEASE_MS } from '../wire/rules.ts';

/** The length of a tick while nothing happens, in ms. */
const QUIET_TICK_MS = 500;

/** The clock is quiet after so many ticks in which nothing happened: two seconds, longer than what follows a request may take. */
const TICKS_UNTIL_QUIET = 40;

/** The most ticks that the clock moves at once. */
const TICKS_AT_ONCE_MAX = 20;
ok(QUIET_TICK_MS * TICKS_AT_ONCE_MAX <= LEASE_MS / 3);

export interface ClockParts {
  /** Advances the relay to a time; returns whether more is due at this time. */
  advance(nowMs: number): boolean;
  /** Whether something is due soon although nothing happens. */
  isBusy(): boolean;
  /** The clock is quiet from now on, or is not any more. */
  quiet(isQuiet: boolean): void;
}

export class Clock {
  readonly #parts: ClockParts;
  #nowMs: number;
  #lastMs = performance.now();
  #tickMs = TICK_MS;
  #idleTicks = 0;
  #ticks: NodeJS.Timeout;
  #again: NodeJS.Immediate | undefined;

  /** Starts at a time. */
  constructor(startMs: number, parts: ClockParts) {
    this.#parts = parts;
    this.#nowMs = startMs;
    this.#ticks = setInterval(this.#tick, TICK_MS);
  }

  /** Something has happened: a request, or an answer of another process. Cheap; call it once a turn. */
  readonly wake = (): void => {
    this.#idleTicks = 0;
    if (this.#tickMs !== TICK_MS) this.#setTick(TICK_MS);
  };

  stop(): void {
    clearInterval(this.#ticks);
    clearImmediate(this.#again);
  }

  readonly #tick = (): void => {
    const elapsedMs = performance.now() - this.#lastMs;
    this.#lastMs += elapsedMs;
    this.#nowMs += Math.min(elapsedMs, this.#tickMs * TICKS_AT_ONCE_MAX);
    if (!this.#again) this.#step();
    if (this.#again || this.#parts.isBusy()) this.wake();
    else if (++this.#idleTicks === TICKS_UNTIL_QUIET) this.#setTick(QUIET_TICK_MS);
  };

  readonly #step = (): void => {
    this.#again = this.#parts.advance(this.#nowMs) ? setImmediate(this.#step) : undefined;
  };

  #setTick(ms: number): void {
    clearInterval(this.#ticks);
    this.#tickMs = ms;
    this.#ticks = setInterval(this.#tick, ms);
    this.#parts.quiet(ms !== TICK_MS);
  }
}
