import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { look, outstanding, type Standing } from './barrier.ts';

const FLEET = 'swarm-261121-0000-abcd';
const ids = (n: number) => Array.from({ length: n }, (_, i) => `i-${i}`);
const posted = (end: string, which: readonly string[]) => which.map((id) => `runs/${FLEET}/${id}${end}`);

const standing = (changes: Partial<Standing> = {}): Standing => ({
  ...{
    fleet: FLEET,
    wanted: 4,
    atLeast: 4,
    started: ids(4),
    alive: new Set(ids(4)),
    posted: [],
    nowMs: 0,
    deadlineMs: 1000,
  },
  ...changes,
});

describe('barrier', () => {
  it('waits while somebody may still come', () => {
    assert.deepEqual(look(standing({ posted: posted('.ready.json', ids(3)) })), { word: 'wait', ready: 3, pending: 1 });
  });

  it('goes at once when all are ready', () => {
    assert.deepEqual(look(standing({ posted: posted('.ready.json', ids(4)) })), {
      word: 'go',
      ready: ids(4),
      missing: '',
    });
  });

  it('gives up at the deadline when too few are ready, not a moment before', () => {
    const three = posted('.ready.json', ids(3));
    assert.equal(look(standing({ posted: three, nowMs: 999 })).word, 'wait');
    assert.deepEqual(look(standing({ posted: three, nowMs: 1000 })), {
      word: 'give up',
      missing: '3 of 4 instances are ready: 1 not ready in time',
    });
  });

  it('goes with a part at the deadline when that is enough, and says who is missing', () => {
    const word = look(standing({ posted: posted('.ready.json', ids(3)), nowMs: 1000, atLeast: 3 }));
    assert.deepEqual(word, { word: 'go', ready: ids(3), missing: '3 of 4 instances are ready: 1 not ready in time' });
  });

  it('waits no longer for one that EC2 took back or that failed', () => {
    const alive = new Set(['i-0', 'i-1', 'i-3']);
    const word = look(
      standing({ alive, posted: [...posted('.ready.json', ['i-0', 'i-1']), ...posted('.log', ['i-3'])] }),
    );
    assert.deepEqual(word, {
      word: 'give up',
      missing: '2 of 4 instances are ready: 1 failed and posted a log, 1 ended without a word',
    });
  });

  it('does not count one that was ready and ended since', () => {
    const alive = new Set(ids(3));
    assert.equal(look(standing({ alive, posted: posted('.ready.json', ids(4)) })).word, 'give up');
  });

  it('knows of those that never started', () => {
    const word = look(
      standing({ started: ids(2), alive: new Set(ids(2)), posted: posted('.ready.json', ids(2)), atLeast: 2 }),
    );
    assert.deepEqual(word, { word: 'go', ready: ids(2), missing: '2 of 4 instances are ready: 2 never started' });
  });

  it('never goes with nobody', () => {
    assert.equal(look(standing({ started: [], alive: new Set(), atLeast: 0 })).word, 'give up');
  });

  it('waits for results only of those who live and have not told yet', () => {
    const seen = standing({
      alive: new Set(ids(3)),
      posted: [...posted('.result.json', ['i-0']), ...posted('.log', ['i-1'])],
    });
    assert.deepEqual(outstanding(seen, ids(4)), ['i-2']);
  });
});
