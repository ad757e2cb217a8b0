/** BEHAVIOUR.md, relay.vectors.json and what the page does with a relay agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { poll } from '../../server/web/relay/poll.ts';
import {
  BACKOFF_MS_FIRST,
  BACKOFF_MS_MAX,
  pauseMsMax,
  readSeat,
  type Seat,
  silenceMs,
} from '../../server/web/relay/transport.ts';
import { BYE_MS_MAX } from '../../server/wire/rules.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const vectors = JSON.parse(read('../relay.vectors.json'));

const joined = {
  ...{ desktop: '1-1', token: '1-1.aa', invitation: '1.aa', world: 'commons', cursor: '00000001-0' },
  ...{ events: 'http://r/events', crossings: 'http://r/v1/desktops/1-1/crossings', socket: 'ws://r/socket' },
} as Seat;

interface Answer {
  /** 0 for none. */
  status: number;
  body?: unknown;
}

/** A relay that gives the answers of a case, and a sleep that adds up how long it should be. */
class Relay {
  readonly urls: string[] = [];
  sleptMs = 0;
  #answer: (answer: Answer) => void = () => {};
  readonly environment = {
    fetch: ((url: string, { signal }: RequestInit) => {
      this.urls.push(url);
      return new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
        this.#answer = ({ status, body }) =>
          status === 0
            ? reject(new TypeError('network'))
            : resolve(new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }));
      });
    }) as typeof fetch,
    random: () => 0.5,
    sleep: async (ms: number) => {
      this.sleptMs += ms;
    },
  };

  /** Gives an answer, and resolves when the next request is here. Returns how long the page waited before it. */
  async answer(answer: Answer): Promise<number> {
    const before = this.urls.length;
    this.sleptMs = 0;
    this.#answer(answer);
    for (let turns = 0; this.urls.length === before; turns++) {
      assert.ok(turns < 1000, 'no request follows');
      await turn();
    }
    return this.sleptMs;
  }
}

describe('what the page does with a relay', () => {
  it('has the same constants in BEHAVIOUR.md as in the vectors', () => {
    assert.deepEqual({ BACKOFF_MS_FIRST, BACKOFF_MS_MAX, BYE_MS_MAX }, vectors.constants);
    const text = read('../BEHAVIOUR.md').split('\n## Waiting for a relay\n')[1].split('\n## ')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  for (const { name, said, silenceMs: silence, pauseMsMax: pause } of vectors.times) {
    it(`times › ${name}`, () => {
      const seat = readSeat({ ...joined, ...said });
      assert.deepEqual([silenceMs(seat), pauseMsMax(seat)], [silence, pause]);
    });
  }

  for (const { name, leaseSeconds, steps } of vectors.polls) {
    it(`polls › ${name}`, async () => {
      const relay = new Relay();
      const handlers = { connected: () => {} };
      const transport = poll(readSeat({ ...joined, leaseSeconds }), handlers as never, relay.environment);
      for (const { answer, waitMs, poll: cursor } of steps) {
        assert.equal(await relay.answer(answer), waitMs);
        assert.equal(relay.urls.at(-1), `http://r/events?cursor=${cursor}`);
      }
      transport.close();
    });
  }
});
