import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORMER_TRIES_MAX } from './departures.ts';
import { endFormer } from './farewell.ts';
import type { Seat } from './transport.ts';

const seat = {
  ...{ desktop: '1-1', token: '1-1.aa', cursor: '00000001-9', crossings: 'http://r/v1/desktops/1-1/crossings' },
} as Seat;
const ended = (cursor?: string) => ({ status: 410, body: { code: 'desktop-ended', title: '', cursor } });
const silent = { status: 0 };

/** Ends the seat at a relay that gives these answers, the last of them for ever. */
async function end(answers: { status: number; body?: object }[]) {
  const asked: string[] = [];
  const sleeps: number[] = [];
  const lostAfter = await endFormer(seat, {
    fetch: (async (url: string, { method, headers }: RequestInit) => {
      const { status, body } = answers[Math.min(asked.length, answers.length - 1)];
      asked.push(`${method} ${url} ${(headers as Record<string, string>).authorization}`);
      if (status === 0) throw new TypeError('network');
      return new Response(body && JSON.stringify(body), { status });
    }) as typeof fetch,
    random: () => 0.5,
    sleep: async (ms) => {
      sleeps.push(ms);
    },
  });
  return { lostAfter, asked, sleeps };
}

describe('the farewell to a seat', () => {
  it('asks until its relay answers, with its own token, and then knows what was acknowledged', async () => {
    for (const [cursor, lostAfter] of [
      ['00000001-9', 9],
      ['00000001-7', 7],
      [undefined, Number.POSITIVE_INFINITY],
      ['00000002-0', Number.POSITIVE_INFINITY],
    ] as const) {
      const one = await end([silent, { status: 502 }, ended(cursor)]);
      assert.equal(one.lostAfter, lostAfter);
      assert.deepEqual(one.asked, Array(3).fill('DELETE http://r/v1/desktops/1-1 Bearer 1-1.aa'));
      assert.deepEqual(one.sleeps, [300, 600]);
    }
  });

  it('asks once more at once when the relay has ended the seat, because that tells nothing', async () => {
    const { lostAfter, asked, sleeps } = await end([silent, { status: 204 }, ended('00000001-7')]);
    assert.equal(lostAfter, 7);
    assert.deepEqual([asked.length, sleeps], [3, [300]]);
  });

  it('keeps the batch when the relay does not know the seat, or never says what it knows', async () => {
    const unknown = { status: 401, body: { code: 'unknown-desktop', title: '' } };
    assert.equal((await end([unknown])).lostAfter, Number.POSITIVE_INFINITY);
    for (const answer of [silent, { status: 204 }]) {
      const { lostAfter, asked, sleeps } = await end([answer]);
      assert.equal(lostAfter, Number.POSITIVE_INFINITY);
      assert.equal(asked.length, FORMER_TRIES_MAX);
      assert.ok(sleeps.length >= FORMER_TRIES_MAX - 1, 'with pauses');
    }
  });
});
