import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Edge, PEEK_LEASE_MS, PEEKS_PER_LEASE } from '../../wire/rules.ts';
import { ASK_GAP_MS, Peek, REFUSED_MS, RETRY_MS } from './peek.ts';
import type { PeekVerdict } from './transport.ts';

const refused = (code: string): PeekVerdict => ({ refused: { code, title: '' } });

/** A relay that answers as the test says. */
function begin(verdict: PeekVerdict = { leaseMs: PEEK_LEASE_MS }) {
  const state = { nowMs: 10_000, verdict };
  const asked: { ms: number; edge: Edge | null }[] = [];
  const refusals: string[] = [];
  const peek = new Peek({
    now: () => state.nowMs,
    ask: async (edge) => {
      asked.push({ ms: state.nowMs, edge });
      return edge === null ? { leaseMs: 0 } : state.verdict;
    },
    refused: (edge, { code }) => refusals.push(`${edge}: ${code}`),
  });
  const pass = async (ms: number) => {
    for (const untilMs = state.nowMs + ms; state.nowMs < untilMs; ) {
      state.nowMs += 10;
      peek.tick();
      await turn();
    }
  };
  const edges = () => asked.map(({ edge }) => edge);
  return { state, peek, asked, edges, refusals, pass };
}

describe('peek', () => {
  it('asks at once, renews the lease when half of it is over, and ends it', async () => {
    const { peek, asked, edges, pass } = begin();
    peek.look('left');
    await pass(2 * PEEK_LEASE_MS - 100);
    assert.deepEqual(edges(), ['left', 'left', 'left', 'left']);
    assert.ok(asked.slice(1).every(({ ms }, i) => ms - asked[i].ms <= PEEK_LEASE_MS / PEEKS_PER_LEASE + 20));
    peek.look(null);
    await pass(2 * PEEK_LEASE_MS);
    assert.deepEqual(edges().slice(4), [null]);
  });

  it(`asks at most once in ${ASK_GAP_MS} ms, for the newest edge`, async () => {
    const { peek, asked, edges, pass } = begin();
    for (const edge of ['left', 'top', 'right', null, 'bottom'] as const) {
      peek.look(edge);
      await pass(20);
    }
    await pass(2_000);
    assert.deepEqual(edges(), ['left', 'bottom']);
    assert.ok(asked[1].ms - asked[0].ms >= ASK_GAP_MS);
  });

  it('tells why an edge shows nothing, and tries it again later, or soon when something has changed', async () => {
    const { state, peek, asked, refusals, pass } = begin(refused('stage-hidden'));
    peek.look('left');
    await pass(REFUSED_MS - 20);
    assert.deepEqual([asked.length, refusals], [1, ['left: stage-hidden']]);
    await pass(50);
    assert.equal(asked.length, 2);
    peek.askSoon();
    state.verdict = { leaseMs: PEEK_LEASE_MS };
    await pass(RETRY_MS + 20);
    assert.equal(asked.length, 3);
    assert.equal(refusals.length, 2);
  });

  it('asks again after a lost request and a refusal that passes by itself, without a word', async () => {
    for (const verdict of ['unknown', ...['too-fast', 'draining', 'relay-busy'].map(refused)] as const) {
      const { peek, asked, refusals, pass } = begin(verdict);
      peek.look('left');
      await pass(RETRY_MS + 20);
      assert.deepEqual([asked.length, refusals], [2, []]);
    }
  });

  it('never asks again a relay that knows no peeks, and says nothing', async () => {
    const { peek, asked, refusals, pass } = begin(refused('not-found'));
    peek.look('left');
    await pass(100);
    peek.look('right');
    await pass(60_000);
    assert.equal(asked.length, 1);
    assert.deepEqual([peek.wanted, refusals], [null, []]);
  });

  it('asks again at a new seat', async () => {
    const { peek, edges, pass } = begin();
    peek.look('left');
    await pass(1_000);
    peek.restart();
    await pass(1_000);
    assert.deepEqual(edges(), ['left', 'left']);
  });
});
