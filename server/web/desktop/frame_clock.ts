/**
 * The clock of the simulation: it advances with the frames of the page and stands still while the page is paused.
 *
 * Units: ms; frame times are those of requestAnimationFrame.
 */
interface FrameClock {
  nowMs: number;
  lastFrameMs: number;
  paused: boolean;
}

const FRAME_MS_MAX = 100; // ms one frame may count: a tab that was in the background does not catch up

export function createFrameClock(): FrameClock {
  return { nowMs: 0, lastFrameMs: 0, paused: false };
}

/** Counts the time since the last frame. Returns false while paused. */
export function advance(clock: FrameClock, frameMs: number): boolean {
  const passedMs = Math.min(FRAME_MS_MAX, Math.max(0, frameMs - clock.lastFrameMs));
  clock.lastFrameMs = frameMs;
  if (clock.paused) return false;
  clock.nowMs += passedMs;
  return true;
}
