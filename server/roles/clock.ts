/**
 * The relay's clock: advances the relay every tick, and again with each turn of the event loop while more is due.
 *
 * Units   ms, monotonic. After a pause of the process (a suspended machine) the clock moves by CLOCK_STEP_MS_MAX only, so
 *         that the pause does not end the leases of all desktops.
 */
import { TICK_MS } from '../domain/slots/deadlines.ts';

/** The most the clock moves at once. */
const CLOCK_STEP_MS_MAX = 1_000;

/** Starts the clock at a time; returns how to stop it. `advance` returns whether more is due at this time. */
export function startClock(startMs: number, advance: (nowMs: number) => boolean): () => void {
  let nowMs = startMs;
  let lastMs = performance.now();
  let again: NodeJS.Immediate | undefined;
  const step = () => {
    again = advance(nowMs) ? setImmediate(step) : undefined;
  };
  const ticks = setInterval(() => {
    const elapsedMs = performance.now() - lastMs;
    lastMs += elapsedMs;
    nowMs += Math.min(elapsedMs, CLOCK_STEP_MS_MAX);
    if (!again) step();
  }, TICK_MS);
  return () => {
    clearInterval(ticks);
    clearImmediate(again);
  };
}
