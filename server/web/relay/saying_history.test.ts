import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HISTORY_MAX, type HistoryLine, SayingHistory } from './saying_history.ts';

const said = (text: string): HistoryLine => ({
  ...{ kind: 'said', from: { desktop: '1-1', name: 'Ann' } },
  ...{ text, own: false, atMs: 0 },
});
const missed = (sayings: number, atMs = 0): HistoryLine => ({ kind: 'missed', sayings, atMs });
const shown = ({ lines }: SayingHistory) => lines.map((line) => (line.kind === 'said' ? line.text : line.sayings));

describe('the history', () => {
  it(`keeps the last ${HISTORY_MAX} lines, oldest first`, () => {
    const history = new SayingHistory();
    assert.deepEqual(shown(history), []);
    for (let i = 1; i <= HISTORY_MAX; i++) history.add(said(`${i}`));
    assert.deepEqual([history.lines.length, shown(history)[0]], [HISTORY_MAX, '1']);
    history.add(said('one more'));
    assert.deepEqual([history.lines.length, shown(history)[0], shown(history).at(-1)], [HISTORY_MAX, '2', 'one more']);
  });

  it('adds up sayings that were missed one after the other, and only those', () => {
    const history = new SayingHistory();
    for (const line of [missed(2, 1), missed(3, 7), said('a'), missed(1, 9)]) history.add(line);
    assert.deepEqual(shown(history), [5, 'a', 1]);
    assert.equal(history.lines[0].atMs, 7);
  });
});
