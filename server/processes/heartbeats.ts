/**
 * Heartbeats: tells workers that run from workers that hang, such as one that is stopped or whose event loop never returns.
 *
 * Time is counted in beats of the master's own timer, not by a clock. A master that was itself blocked, or a machine that was
 * suspended, counts one beat for the whole pause, so it blames nobody for its own pause.
 */
import { ok } from 'node:assert';
import { LEASE_MS } from '../wire/rules.ts';

/** How often a worker sends a message that it is alive, and how often the master counts, in ms. */
export const HEARTBEAT_MS = 500;

/**
 * A worker that was silent for this long is killed and replaced, in ms. Its clients wait at most this long before their
 * connections break and they retry. Longer than any pause of a collection.
 */
export const WORKER_SILENCE_MS_MAX = 5_000;
ok(6 * WORKER_SILENCE_MS_MAX <= LEASE_MS);

/** A worker that was forked must be ready within this time, in ms: loading takes one second, on a busy machine twenty. */
export const WORKER_START_MS_MAX = 60_000;

/** After this many beats without a message a worker is late: its sample is not read. One beat may pass between messages. */
const LATE_BEATS = 3;

interface Pulse {
  silentBeats: number;
  beatsMax: number;
}

export class Heartbeats<W> {
  readonly #pulses = new Map<W, Pulse>();

  /** A worker was forked. It is silent while it loads. */
  add(worker: W): void {
    this.#pulses.set(worker, { silentBeats: 0, beatsMax: WORKER_START_MS_MAX / HEARTBEAT_MS });
  }

  /** A worker is ready: from now on it sends messages. */
  ready(worker: W): void {
    const pulse = this.#pulses.get(worker);
    if (pulse) pulse.beatsMax = WORKER_SILENCE_MS_MAX / HEARTBEAT_MS;
    this.heard(worker);
  }

  /** A message of a worker has arrived. */
  heard(worker: W): void {
    const pulse = this.#pulses.get(worker);
    if (pulse) pulse.silentBeats = 0;
  }

  remove(worker: W): void {
    this.#pulses.delete(worker);
  }

  /** Returns whether a worker may be stuck: it has missed some beats. */
  isLate(worker: W): boolean {
    return (this.#pulses.get(worker)?.silentBeats ?? 0) >= LATE_BEATS;
  }

  /** Counts a beat. Returns the workers that have now been silent for too long, and forgets them. */
  beat(): W[] {
    const hung: W[] = [];
    for (const [worker, pulse] of this.#pulses) {
      pulse.silentBeats++;
      if (pulse.silentBeats > pulse.beatsMax) hung.push(worker);
    }
    for (const worker of hung) this.#pulses.delete(worker);
    return hung;
  }
}
