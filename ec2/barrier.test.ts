import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideStart, type FleetState, outstanding } from './barrier.ts';

const FLEET = 'swarm-261121-0000-abcd';
const ids = (n: number) => Array.from({ length: n }, (_, i) => `i-${i}`);
const posted = (end: string, which: readonly string[]) => which.map((id) => `runs/${FLEET}/${id}${end}`);

const state = (changes: Partial<FleetState> = {}): FleetState => ({
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

describe('start barrier', () => {
  it('opens for throwing when all have parked, whatever they posted before', () => {
    const ready = posted('.ready.json', ids(4));
    assert.equal(decideStart(state({ posted: ready }), 'parked').kind, 'wait');
    const three = state({ posted: [...ready, ...posted('.parked.json', ids(3))], nowMs: 1000 });
    assert.deepEqual(decideStart(three, 'parked'), {
      kind: 'give up',
      missing: '3 of 4 instances are parked: 1 not parked in time',
    });
    assert.equal(decideStart(state({ posted: [...ready, ...posted('.parked.json', ids(4))] }), 'parked').kind, 'go');
  });

  it('waits while an instance may still become ready', () => {
    assert.deepEqual(decideStart(state({ posted: posted('.ready.json', ids(3)) })), {
      kind: 'wait',
      ready: 3,
      pending: 1,
    });
  });

  it('opens at once when all instances are ready', () => {
    assert.deepEqual(decideStart(state({ posted: posted('.ready.json', ids(4)) })), {
      kind: 'go',
      ready: ids(4),
      missing: '',
    });
  });

  it('gives up at the deadline, not earlier, when too few instances are ready', () => {
    const three = posted('.ready.json', ids(3));
    assert.equal(decideStart(state({ posted: three, nowMs: 999 })).kind, 'wait');
    assert.deepEqual(decideStart(state({ posted: three, nowMs: 1000 })), {
      kind: 'give up',
      missing: '3 of 4 instances are ready: 1 not ready in time',
    });
  });

  it('opens at the deadline for those that are ready, when they are enough, and says which are missing', () => {
    const decision = decideStart(state({ posted: posted('.ready.json', ids(3)), nowMs: 1000, atLeast: 3 }));
    assert.deepEqual(decision, {
      kind: 'go',
      ready: ids(3),
      missing: '3 of 4 instances are ready: 1 not ready in time',
    });
  });

  it('does not wait for an instance that EC2 took back or that failed', () => {
    const alive = new Set(['i-0', 'i-1', 'i-3']);
    const decision = decideStart(
      state({ alive, posted: [...posted('.ready.json', ['i-0', 'i-1']), ...posted('.log', ['i-3'])] }),
    );
    assert.deepEqual(decision, {
      kind: 'give up',
      missing: '2 of 4 instances are ready: 1 failed and posted a log, 1 ended without posting a log',
    });
  });

  it('does not count an instance that was ready and has ended since', () => {
    const alive = new Set(ids(3));
    assert.equal(decideStart(state({ alive, posted: posted('.ready.json', ids(4)) })).kind, 'give up');
  });

  it('counts instances that never started as missing', () => {
    const decision = decideStart(
      state({ started: ids(2), alive: new Set(ids(2)), posted: posted('.ready.json', ids(2)), atLeast: 2 }),
    );
    assert.deepEqual(decision, { kind: 'go', ready: ids(2), missing: '2 of 4 instances are ready: 2 never started' });
  });

  it('never opens without a single instance', () => {
    assert.equal(decideStart(state({ started: [], alive: new Set(), atLeast: 0 })).kind, 'give up');
  });

  it('waits for results only from instances that are alive and have posted neither result nor log', () => {
    const seen = state({
      alive: new Set(ids(3)),
      posted: [...posted('.result.json', ['i-0']), ...posted('.log', ['i-1'])],
    });
    assert.deepEqual(outstanding(seen, ids(4)), ['i-2']);
  });
});
