import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FetchEnvironment } from '../web/relay/posts.ts';
import { HOLD_MS_MAX, RETRY_MS, Resident } from './resident.ts';
import { TEMPERS } from './tempers.ts';

const STEP_MS = 100;
const FLIGHT_MS = 10_000; // ms for what comes in to land, and for what is thrown to leave
const PROMISED_MS = 120_000; // ms that a resident keeps a sprite at most

const SEAT = {
  ...{ desktop: '1-1', token: '1-1.00', invitation: '1.00', world: 'commons', cursor: 'e-0' },
  ...{ events: 'http://events/v1/desktops/1-1/events', crossings: 'http://api/v1/desktops/1-1/crossings' },
  socket: 'ws://api/v1/desktops/1-1/socket',
};

const PERSON = { desktop: '2-1', name: 'Ann' };
const RESIDENT = { desktop: '3-1', name: 'Juniper (resident)' };

interface Throw {
  readonly edge: string;
  readonly atMs: number;
}

/** A resident with a pretended relay, which gives it one sprite, from the left. `refusals` of its throws are refused. */
class Visit {
  readonly throws: Throw[] = [];
  nowMs = 0;
  readonly #t: TestContext;
  readonly #neighbours: object;
  #refusals: number;

  constructor(t: TestContext, neighbours: object, refusals = 0) {
    this.#t = t;
    this.#neighbours = neighbours;
    this.#refusals = refusals;
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const environment: FetchEnvironment = {
      fetch: ((url: string, init: RequestInit) => this.#answer(new URL(url), init)) as typeof fetch,
      random: () => 0.5,
      sleep: async () => {},
    };
    const resident = new Resident(TEMPERS[0], {
      ...{ api: 'http://api', events: 'http://events', environment, now: () => this.nowMs },
      ...{ save: () => {}, answer: () => undefined, fileOf: () => undefined, left: () => {} },
    });
    t.after(() => resident.leave());
  }

  async pass(ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += STEP_MS;
      this.#t.mock.timers.tick(STEP_MS);
      for (let turns = 0; turns < 4; turns++) await nextTurn();
    }
  }

  async #answer({ pathname, searchParams }: URL, { body, signal }: RequestInit): Promise<Response> {
    if (pathname === '/v1/desktops') return Response.json(SEAT, { status: 201 });
    if (pathname.endsWith('/crossings')) {
      this.throws.push({ edge: JSON.parse(body as string).edge, atMs: this.nowMs });
      if (this.#refusals-- > 0) return Response.json({ code: 'mailbox-full', title: 'Full.' }, { status: 503 });
      return Response.json({ to: PERSON }, { status: 202 });
    }
    if (!pathname.endsWith('/events')) return Response.json({ neighbours: this.#neighbours });
    if (searchParams.get('cursor') !== SEAT.cursor) {
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    }
    const sprite = { file: 'ab'.repeat(32), name: 'Blob', animation: 'fall', facing: 'right', scale: 2 };
    const came = { type: 'sprite', seq: 1, from: PERSON, edge: 'left', at: 0.5, vx: 500, vy: 0, sprite };
    return Response.json({ cursor: 'e-1', events: [{ type: 'neighbours', ...this.#neighbours }, came] });
  }
}

describe('a resident', () => {
  it('plays with a sprite for some seconds, and throws it back to the person that it came from', async (t) => {
    const visit = new Visit(t, { left: PERSON, right: RESIDENT, top: PERSON, bottom: RESIDENT });
    await visit.pass(TEMPERS[0].playMs);
    assert.deepEqual(visit.throws, []);
    await visit.pass(TEMPERS[0].playMsSpread + FLIGHT_MS);
    assert.deepEqual(
      visit.throws.map(({ edge }) => edge),
      ['left'],
    );
  });

  it('keeps a sprite for less than two minutes when only residents are near, and then throws it on', async (t) => {
    const visit = new Visit(t, { left: RESIDENT, right: RESIDENT });
    await visit.pass(HOLD_MS_MAX - STEP_MS);
    assert.deepEqual(visit.throws, []);
    await visit.pass(PROMISED_MS - HOLD_MS_MAX);
    assert.equal(visit.throws.length, 1);
  });

  it('keeps a sprite while nobody else is there', async (t) => {
    const self = { desktop: SEAT.desktop, name: TEMPERS[0].name };
    const visit = new Visit(t, { left: self, right: self, top: self, bottom: self });
    await visit.pass(2 * PROMISED_MS);
    assert.deepEqual(visit.throws, []);
  });

  it('throws again, after a pause, what the relay has refused', async (t) => {
    const visit = new Visit(t, { left: PERSON }, 2);
    await visit.pass(60_000);
    assert.equal(visit.throws.length, 3);
    for (const [i, { atMs }] of visit.throws.slice(1).entries()) assert.ok(atMs - visit.throws[i].atMs >= RETRY_MS);
  });
});
