import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { healthOf } from './health.ts';
import { type HistoryDocument, Readings } from './readings.ts';

const WELL = {
  ...{ desktops: 30, parked: 28, 'sprites/accepted': 4, 'wait/p50': 1, 'wait/p99': 3, 'delay/master': 5 },
  ...{ 'cpu/master/main': 0.1, 'machine/steal': 0, 'refused/mailbox-full': 0, 'refused/connections': 0 },
};

const HERE = { relay: 'r1', connected: true, relays: [{ relay: 'r1', state: 'here' }] };

/** The health of a relay that has been as `state` says for `samples` samples. */
function health(state: Record<string, number | null>, about: object = {}, samples = 3) {
  const answer: HistoryDocument = {
    ...{ started: 1, stepMs: 5000, samplesMax: 360, first: 1, cores: 2, processes: {}, cluster: null },
    ...{ isJournalFull: false, waiting: { reports: 0, pictures: 0 } },
    times: Array.from({ length: samples }, (_, i) => i * 5000),
    series: Object.fromEntries(
      Object.entries({ ...WELL, ...state }).map(([name, value]) => [name, Array(samples).fill(value)]),
    ),
    ...about,
  };
  const readings = new Readings();
  readings.append(answer);
  return healthOf(readings, answer);
}

describe('the health of the relay', () => {
  it('says that all is well', () => {
    assert.deepEqual(health({}), { level: 'good', text: 'All is well.' });
    assert.deepEqual(health({}, { cluster: HERE }), { level: 'good', text: 'All is well.' });
  });

  it('says what waits for the operator', () => {
    assert.equal(
      health({}, { waiting: { reports: 1, pictures: 0 } }).text,
      'All is well. One reported picture waits for you below.',
    );
    assert.equal(
      health({}, { waiting: { reports: 0, pictures: 2 } }).text,
      'All is well. 2 pictures for the gallery wait for you below.',
    );
  });

  const FAULTS: [what: string, state: Record<string, number>, about: object, level: string, text: RegExp][] = [
    ['a full disk', {}, { isJournalFull: true }, 'bad', /disk is full.*Make room/],
    ['NATS away', {}, { cluster: { ...HERE, connected: false } }, 'bad', /NATS.*Start it/],
    [
      'a relay gone',
      {},
      { cluster: { ...HERE, relays: [{ relay: 'r2', state: 'gone' }] } },
      'bad',
      /relay r2 is gone.*start it/i,
    ],
    ['missing polls', { parked: 14 }, {}, 'bad', /hold a poll.*events port/],
    ['late sprites', { 'wait/p50': 101 }, {}, 'bad', /101 ms.*look at the loop delay/i],
    ['late desktops', { 'wait/p99': 1001 }, {}, 'warn', /1001 ms.*too rarely/],
    ['a blocked loop', { 'delay/master': 51 }, {}, 'warn', /51 ms.*other programs/],
    ['a loop blocked for long', { 'delay/master': 251 }, {}, 'bad', /251 ms/],
    ['a busy master', { 'cpu/master/main': 0.81 }, {}, 'warn', /81 % of a core.*faster core/],
    ['steal', { 'machine/steal': 0.12 }, {}, 'warn', /6 % of the processor's time.*host/],
    ['no connections left', { 'refused/connections': 2 }, {}, 'warn', /2 a second.*connections.*open files/],
    ['another refusal', { 'refused/mailbox-full': 3 }, {}, 'warn', /3 a second.*mailbox-full.*OPERATING/],
  ];
  for (const [what, state, about, level, text] of FAULTS) {
    it(`says what is wrong and what to do: ${what}`, () => {
      const found = health(state, about);
      assert.equal(found.level, level);
      assert.match(found.text, text);
    });
  }

  it('names the worst first, and what else there is', () => {
    const found = health({ 'delay/master': 60 }, { isJournalFull: true });
    assert.equal(found.level, 'bad');
    assert.match(found.text, /^The disk is full.* The master/);
  });

  it('waits until a number was wrong three times, and says nothing of a desktop without a poll among few', () => {
    assert.equal(health({ 'delay/master': 300 }, {}, 2).level, 'good');
    assert.equal(health({ desktops: 20, parked: 0 }).level, 'good');
    assert.equal(health({ desktops: 21, parked: 0 }).level, 'bad');
  });

  it('leaves out what is not known', () => {
    assert.equal(health({ 'wait/p50': null, 'wait/p99': null }).level, 'good');
  });
});
