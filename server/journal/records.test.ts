import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Facts } from '../domain/state/facts.ts';
import { RecordWriter, readRecords } from './records.ts';

const FRAME = { sender: 'r1', epoch: 7, incarnation: '0123456789abcdef', number: 2 ** 40 + 5 };

/** The facts about peers that these records have. */
function peerFactsIn(bytes: Buffer, end: number): unknown[][] {
  const facts: unknown[][] = [];
  const receiver = new Proxy({} as Facts, {
    get:
      (_, fact) =>
      (...members: unknown[]) =>
        facts.push([fact, ...structuredClone(members)]),
  });
  readRecords(bytes, 0, end, receiver);
  return facts;
}

/** Writes the facts about a frame whose verdicts are these. */
function written(verdicts: Uint8Array): RecordWriter {
  const writer = new RecordWriter(0);
  writer.peerVerdicts('r1', FRAME.incarnation, FRAME.number, verdicts);
  writer.peerTaken(FRAME, verdicts);
  return writer;
}

describe('records about peers', () => {
  it('are read as they were written, whatever the length of the verdicts', () => {
    for (let count = 0; count < 9; count++) {
      const verdicts = new Uint8Array(count).fill(1);
      const { bytes, end } = written(verdicts);
      assert.deepEqual(peerFactsIn(bytes, end), [
        ['peerVerdicts', 'r1', FRAME.incarnation, FRAME.number, verdicts],
        ['peerTaken', FRAME, verdicts],
      ]);
    }
  });
});
