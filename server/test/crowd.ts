/** A crowd of desktops that throw all the time, and the account of every sprite, by name: thrower and number. */
import assert from 'node:assert/strict';
import { EDGES } from '../wire/rules.ts';
import { DesktopClient } from './desktop_client.ts';

export class Crowd {
  readonly clients: DesktopClient[] = [];
  /** The sprites whose throw was accepted. */
  readonly accepted = new Set<string>();
  readonly #sprite: Record<string, unknown>;
  #over = false;

  /** `sprite`: members that each of its sprites has. */
  constructor(sprite: Record<string, unknown> = {}) {
    this.#sprite = sprite;
  }

  /** Throws that were sent again. */
  get retries(): number {
    return this.clients.reduce((sum, client) => sum + client.retries, 0);
  }

  /** Every other desktop is on a socket. */
  async join(url: string, count: number, nameOf = (n: number) => `d${n}`): Promise<void> {
    const transports = ['poll', 'socket'] as const;
    for (let n = 0; n < count; n++) {
      this.clients.push(await DesktopClient.join(url, { name: nameOf(n), transport: transports[n % 2] }));
    }
  }

  /** Throws over random edges while `act` runs; each desktop rests for `restMs` after a throw. */
  async throwDuring(random: () => number, restMs: number, act: () => Promise<void>): Promise<void> {
    const throws = this.clients.map(async (client, n) => {
      for (let at = 0; !this.#over; at++) {
        const sprite = `${n}:${at}`;
        const verdict = await client.throw(EDGES[Math.floor(random() * 4)], sprite, this.#sprite);
        if (!verdict) return;
        assert.equal(verdict.problem, undefined, `${sprite} was refused: ${verdict.problem?.detail}`);
        this.accepted.add(sprite);
        await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    });
    try {
      await act();
    } finally {
      this.#over = true;
    }
    await Promise.all(throws);
  }

  /** Asserts that every accepted sprite was received once, in order and without a gap, and nothing else. */
  assertConserved(): void {
    const seen = new Map<string, number>();
    for (const { received, ended } of this.clients) {
      assert.equal(ended, undefined);
      for (const { sprite } of received) seen.set(sprite.name, (seen.get(sprite.name) ?? 0) + 1);
      assert.deepEqual(
        received.map(({ seq }) => seq),
        received.map((_, index) => index + 1),
        'in order and without a gap',
      );
    }
    const doubled = [...seen].filter(([, times]) => times !== 1);
    assert.deepEqual(doubled, [], 'seen twice');
    const lost = [...this.accepted].filter((sprite) => !seen.has(sprite));
    assert.deepEqual(lost, [], 'lost');
    assert.equal(seen.size, this.accepted.size, 'from nowhere');
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.stop()));
  }

  /**
   * As assertConserved(); and the relays of a cluster, to which nothing else was thrown, agree. `sum`: a metric without `sprites_`, over all
   * of them, after everything was acknowledged.
   */
  async assertConservedBy(sum: (name: string) => Promise<number>): Promise<void> {
    assert.equal(await sum('accepted_total'), this.accepted.size);
    assert.equal(await sum('acknowledged_total'), this.accepted.size);
    assert.equal((await sum('abandoned_total')) + (await sum('peers_malformed_total')), 0);
    assert.equal(await sum('peers_passed_total'), await sum('peers_received_total'));
    this.assertConserved();
  }
}
