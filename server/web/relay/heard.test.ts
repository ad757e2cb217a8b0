import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Heard, HISTORY_MAX, type HistoryLine } from './heard.ts';

const said = (text: string): HistoryLine => ({
  ...{ kind: 'said', from: { desktop: '1-1', name: 'Ann' } },
  ...{ text, own: false, atMs: 0 },
});
const missed = (sayings: number, atMs = 0): HistoryLine => ({ kind: 'missed', sayings, atMs });
const shown = ({ lines }: Heard) => lines.map((line) => (line.kind === 'said' ? line.text : line.sayings));

describe('the history', () => {
  it(`keeps the last ${HISTORY_MAX} lines, oldest first`, () => {
    const heard = new Heard();
    assert.deepEqual(shown(heard), []);
    for (let i = 1; i <= HISTORY_MAX; i++) heard.add(said(`${i}`));
    assert.deepEqual([heard.lines.length, shown(heard)[0]], [HISTORY_MAX, '1']);
    heard.add(said('one more'));
    assert.deepEqual([heard.lines.length, shown(heard)[0], shown(heard).at(-1)], [HISTORY_MAX, '2', 'one more']);
  });

  it('adds up sayings that were missed one after the other, and only those', () => {
    const heard = new Heard();
    for (const line of [missed(2, 1), missed(3, 7), said('a'), missed(1, 9)]) heard.add(line);
    assert.deepEqual(shown(heard), [5, 'a', 1]);
    assert.equal(heard.lines[0].atMs, 7);
  });
});
