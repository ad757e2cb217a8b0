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
 * Rare requests, by the names of the kinds of records that carry them; the master has a row for each (master.ts). Those of the first line
 * are about the desktop that sends them; `verify` checks its token: 204 when it is good. Those of the second line are too, and have JSON
 * with them. The others need no token: `count` and `flying` are about the whole relay, `fetch` and `feedback` have JSON.
 */
export const QUERIES = [
  ...(['leave', 'describe', 'company', 'verify', 'renew'] as const),
  ...(['mute', 'unmute', 'report', 'say', 'peek', 'setShows', 'setNamed', 'askSwap', 'answerSwap', 'publish'] as const),
  ...(['count', 'flying', 'fetch', 'feedback'] as const),
] as const;

export type Query = (typeof QUERIES)[number];

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
