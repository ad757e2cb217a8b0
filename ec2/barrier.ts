/**
 * The start barrier: whom the swarm waits for, and for how long.
 *
 * Pure: states of the instances and keys in the bucket go in, one word comes out. Invariant: an instance that failed, or that
 * EC2 took back, is waited for no longer, and nothing is waited for beyond its deadline; so no fleet hangs.
 */
import { keys, POSTED } from './job.ts';

/** How a fleet stands: who was started, who of them still lives, and what has been posted. */
export interface Standing {
  fleet: string;
  /** Instances that were asked for. */
  wanted: number;
  atLeast: number;
  started: readonly string[];
  alive: ReadonlySet<string>;
  posted: readonly string[];
  nowMs: number;
  deadlineMs: number;
}

export type Word =
  | { word: 'wait'; ready: number; pending: number }
  | { word: 'go'; ready: readonly string[]; missing: string }
  | { word: 'give up'; missing: string };

/** Go when all are ready; when no more can come, or it is time, go with those who are, if they are enough. */
export function look(standing: Standing): Word {
  const { wanted, atLeast, started, alive, nowMs, deadlineMs } = standing;
  const ready = started.filter((id) => has(standing, id, 'ready') && alive.has(id) && !has(standing, id, 'log'));
  const failed = started.filter((id) => has(standing, id, 'log'));
  const gone = started.filter((id) => !alive.has(id) && !failed.includes(id));
  const pending = started.length - ready.length - failed.length - gone.length;
  if (ready.length === wanted) return { word: 'go', ready, missing: '' };
  if (pending > 0 && nowMs < deadlineMs) return { word: 'wait', ready: ready.length, pending };
  const missing = sentence(wanted, ready.length, [
    [wanted - started.length, 'never started'],
    [failed.length, 'failed and posted a log'],
    [gone.length, 'ended without a word'],
    [pending, 'not ready in time'],
  ]);
  return ready.length >= atLeast && ready.length > 0 ? { word: 'go', ready, missing } : { word: 'give up', missing };
}

/** Of those who went, who may still post a result: neither has one, nor has ended. */
export function outstanding(standing: Standing, went: readonly string[]): string[] {
  return went.filter((id) => standing.alive.has(id) && !has(standing, id, 'result') && !has(standing, id, 'log'));
}

export function has(
  { fleet, posted }: Pick<Standing, 'fleet' | 'posted'>,
  id: string,
  what: keyof typeof POSTED,
): boolean {
  return posted.includes(`${keys.prefix(fleet)}${id}${POSTED[what]}`);
}

function sentence(wanted: number, ready: number, parts: readonly [number, string][]): string {
  const told = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
  return `${ready} of ${wanted} instances are ready${told.length > 0 ? `: ${told.join(', ')}` : ''}`;
}
