/**
 * The barriers: which instances the fleet waits for, and for how long, before it connects and again before it throws.
 *
 * Pure: states of the instances and keys in the bucket go in, a decision comes out. Invariant: the fleet does not wait for an
 * instance that failed or that EC2 took back, nor for anything beyond the deadline, so it never hangs.
 */
import { keys, POSTED } from './job.ts';

/** The state of a fleet: which instances were started, which of them are alive, and what they have posted. */
export interface FleetState {
  fleet: string;
  /** Instances that were requested. */
  wanted: number;
  /** Instances without which the fleet does not start. */
  atLeast: number;
  started: readonly string[];
  alive: ReadonlySet<string>;
  /** Keys in the bucket. */
  posted: readonly string[];
  nowMs: number;
  deadlineMs: number;
}

/** What a barrier waits for: until instances are ready to connect, or until all their desktops are parked. */
export type Milestone = 'ready' | 'parked';

/** `missing` is a sentence that says why instances have not reached the milestone; '' when all have. */
export type StartDecision =
  | { kind: 'wait'; ready: number; pending: number }
  | { kind: 'go'; ready: readonly string[]; missing: string }
  | { kind: 'give up'; missing: string };

/**
 * Decides whether the fleet goes on now.
 *
 * It goes on when all instances have reached the milestone. When no further instance can reach it, or the deadline has passed,
 * it goes on with those that have, if they are enough.
 */
export function decideStart(state: FleetState, milestone: Milestone = 'ready'): StartDecision {
  const { wanted, atLeast, started, alive, nowMs, deadlineMs } = state;
  const ready = started.filter(
    (id) => hasPosted(state, id, milestone) && alive.has(id) && !hasPosted(state, id, 'log'),
  );
  const failed = started.filter((id) => hasPosted(state, id, 'log'));
  const gone = started.filter((id) => !alive.has(id) && !failed.includes(id));
  const pending = started.length - ready.length - failed.length - gone.length;
  if (ready.length === wanted) return { kind: 'go', ready, missing: '' };
  if (pending > 0 && nowMs < deadlineMs) return { kind: 'wait', ready: ready.length, pending };
  const missing = sentence(milestone, wanted, ready.length, [
    [wanted - started.length, 'never started'],
    [failed.length, 'failed and posted a log'],
    [gone.length, 'ended without posting a log'],
    [pending, `not ${milestone} in time`],
  ]);
  return ready.length >= atLeast && ready.length > 0 ? { kind: 'go', ready, missing } : { kind: 'give up', missing };
}

/** The instances that may still post a result: they are alive and have posted neither a result nor a log. */
export function outstanding(state: FleetState, running: readonly string[]): string[] {
  return running.filter((id) => state.alive.has(id) && !hasPosted(state, id, 'result') && !hasPosted(state, id, 'log'));
}

export function hasPosted(
  { fleet, posted }: Pick<FleetState, 'fleet' | 'posted'>,
  id: string,
  what: keyof typeof POSTED,
): boolean {
  return posted.includes(`${keys.prefix(fleet)}${id}${POSTED[what]}`);
}

function sentence(milestone: Milestone, wanted: number, ready: number, parts: readonly [number, string][]): string {
  const reasons = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
  return `${ready} of ${wanted} instances are ${milestone}${reasons.length > 0 ? `: ${reasons.join(', ')}` : ''}`;
}
