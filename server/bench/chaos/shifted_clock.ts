/**
 * Moves the wall clock of a relay back or forth. Load it with `--import`.
 *
 * The file in SPRITES_CHAOS_CLOCK has the number of ms to add to Date.now(), and may change at any time. Timers and performance.now() are
 * unchanged, as they are when the clock of a machine is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env.SPRITES_CHAOS_CLOCK ?? '';

/** How often the file is read, in ms. */
const READ_MS = 100;

const now = Date.now.bind(Date);
let shiftMs = 0;
let readMs = Number.NEGATIVE_INFINITY;

function shift(): number {
  if (performance.now() - readMs > READ_MS) {
    readMs = performance.now();
    try {
      shiftMs = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      // It is being written, and is read again.
    }
  }
  return shiftMs;
}

Date.now = () => now() + shift();
