/**
 * Makes the clock of a relay run thirty times as fast, so two minutes take four seconds. Load it with `--import`.
 *
 * It changes only performance.now(), which the relay passes to its domain. Timers and socket timeouts are unchanged.
 */
export const TIMES_AS_FAST = 30;

const now = performance.now.bind(performance);
performance.now = () => now() * TIMES_AS_FAST;
