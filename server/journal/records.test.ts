import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Facts } from '../domain/facts.ts';
import { NO_INCARNATION } from '../wire/peer_frame.ts';
import { RecordKind, RecordWriter, readRecords } from './records.ts';

const FRAME = { sender: 'r1', epoch: 7, incarnation: '0123456789abcdef', number: 2 ** 40 + 5 };
const VERDICTS = Uint8Array.of(0, 1, 255);

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

  it('of format 2 have no incarnation, and the last number of a peer is skipped', () => {
    for (let count = 0; count < 9; count++) {
      const verdicts = VERDICTS.subarray(0, count);
      const { bytes, end } = written(verdicts);
      const records: Buffer[] = [];
      for (let at = 0; at < end; ) {
        const words = bytes.readUInt16LE(at + 2);
        // The incarnation has eight bytes, and what pads the record is zeros.
        const record = Buffer.from(bytes.subarray(at, at + 4 * words - 8));
        record.fill(0, 20 + FRAME.sender.length + verdicts.length);
        record.writeUInt16LE(words - 2, 2);
        records.push(record);
        at += 4 * words;
      }
      const number = Buffer.from(records[0]);
      number[0] = RecordKind.peerNumber;
      const old = Buffer.concat([number, ...records], 4096);
      const incarnation = NO_INCARNATION;
      assert.deepEqual(peerFactsIn(old, number.length + records[0].length + records[1].length), [
        ['peerVerdicts', 'r1', incarnation, FRAME.number, verdicts],
        ['peerTaken', { ...FRAME, incarnation }, verdicts],
      ]);
    }
  });
});
