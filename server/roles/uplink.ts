/**
 * The uplink: how a worker sends requests to the master.
 *
 * Data runs one way: worker → uplink → master → pending requests. A worker adds each request to its PendingRequests and
 * passes the number to the uplink; the answer comes back under that number. There are two uplinks: frames over IPC
 * (ipc.ts), and direct calls within one process (direct_uplink.ts, for `--workers 0`).
 * Invariant: every request number gets one answer.
 */
import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';

/**
 * Rare requests about one desktop. `verify` checks the token: 204 when it is good. `count` and `flying` are about all, and
 * `feedback` is from anybody: they need no token; `fetch` is about a sprite file, which is all that it has. Those of the second line
 * have JSON with them.
 */
export type Query =
  | ('leave' | 'describe' | 'verify' | 'renew' | 'count' | 'fetch' | 'flying')
  | ('mute' | 'unmute' | 'report' | 'say' | 'peek' | 'setShows' | 'publish' | 'feedback');

export interface Uplink {
  /** `standing`: of its picture, when that was checked. Owner: `crossing` is valid until this returns. */
  crossing(request: number, from: Identity, crossing: CheckedCrossing, standing?: Standing): void;
  /** A stage: `body` as readStage() made it. `standing`: the lowest of its pictures. Owner: `body` is valid until this returns. */
  show(request: number, from: Identity, body: Buffer, standing: Standing): void;
  poll(request: number, desktop: Identity, epoch: number, seq: number): void;
  /** The socket of poll `request` is closed. If that poll is still parked, it is answered 204 now. */
  closed(request: number, desktop: Identity): void;
  query(query: Query, request: number, desktop: Identity, json?: string): void;
  join(request: number, join: Join): void;
  /** Sends what was gathered. */
  flush(): void;
}
