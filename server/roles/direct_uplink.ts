/**
 * The direct uplink: the worker and the master in one process (`--workers 0`).
 *
 * Each request is one call of the master, which answers everything but polls before the call returns. The master's turn
 * ends with flush(): the front calls it after each batch, and other requests schedule it.
 */
import type { CheckedCrossing } from '../wire/crossing.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';
import type { Master } from './master.ts';
import type { PendingRequests } from './pending.ts';
import type { Query, Uplink } from './uplink.ts';

export class DirectUplink implements Uplink {
  readonly #master: Master;
  readonly #link: number;
  #flushDue = false;

  constructor(master: Master, pending: PendingRequests) {
    this.#master = master;
    this.#link = master.addLink({ answer: pending.answer, hasRoom: () => true, flush: () => {} });
  }

  crossing(
    request: number,
    from: Identity,
    { crossing, edge, body, start, end }: CheckedCrossing,
    standing?: Standing,
  ): void {
    this.#master.crossing(this.#link, request, from, crossing, edge, body, start, end, standing);
  }

  poll(request: number, desktop: Identity, epoch: number, seq: number): void {
    this.#master.poll(this.#link, request, desktop, epoch, seq);
    this.#flushSoon();
  }

  closed(request: number, desktop: Identity): void {
    this.#master.closed(this.#link, request, desktop.slot);
  }

  query(query: Query, request: number, desktop: Identity, json = ''): void {
    this.#master[query](this.#link, request, desktop, json);
    this.#flushSoon();
  }

  join(request: number, join: Join): void {
    this.#master.join(this.#link, request, join);
  }

  flush(): void {
    this.#master.endTurn();
  }

  #flushSoon(): void {
    if (this.#flushDue) return;
    this.#flushDue = true;
    setImmediate(() => {
      this.#flushDue = false;
      this.flush();
    });
  }
}
