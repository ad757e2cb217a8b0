/**
 * The uplink: how a worker asks the master, and how the answer comes back.
 *
 * Two of them: frames over IPC (ipc.ts) and a direct call within one process (`--workers 0`, in master.ts).
 * Invariant: every request number given up gets one answer.
 */
import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';

/** What is asked about a desktop as a whole. `know` answers 204 when the token is good. */
export type Question = 'leave' | 'look' | 'know';

export interface Uplink {
  /** Owner: `crossing` is another one when this returns. */
  crossing(request: number, from: Identity, crossing: CheckedCrossing): void;
  poll(request: number, desktop: Identity, epoch: number, seq: number): void;
  /** The socket of poll number `request` is closed: if that was not answered yet, it is answered 204 now. */
  gone(request: number, desktop: Identity): void;
  ask(question: Question, request: number, desktop: Identity): void;
  join(request: number, join: Join): void;
  /** Hands over what was gathered. */
  flush(): void;
}
