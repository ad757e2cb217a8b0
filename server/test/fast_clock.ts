/**
 * Loaded before a relay (`--import`), it makes the relay's clock run thirty times as fast: two minutes are four seconds.
 *
 * Only performance.now(), which is what the relay tells its domain; timers and the time limits of sockets are as ever.
 */
export const TIMES_AS_FAST = 30;

const now = performance.now.bind(performance);
performance.now = () => now() * TIMES_AS_FAST;
