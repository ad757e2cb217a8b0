import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DayRow, Facts } from '../domain/state/facts.ts';
import { MOST_THROWN_MAX } from '../domain/state/limits.ts';
import { RecordWriter, readRecords } from './records.ts';

const FRAME = { sender: 'r1', epoch: 7, incarnation: '0123456789abcdef', number: 2 ** 40 + 5 };

/** The facts that these records have. */
function factsIn(bytes: Buffer, end: number): unknown[][] {
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
      assert.deepEqual(factsIn(bytes, end), [
        ['peerVerdicts', 'r1', FRAME.incarnation, FRAME.number, verdicts],
        ['peerTaken', FRAME, verdicts],
      ]);
    }
  });
});

describe('a record of the day', () => {
  it('is read as it was written, with every number of pictures and any name', () => {
    const counted = Array.from({ length: MOST_THROWN_MAX }, (_, i) => ({
      file: `${i}a`.repeat(32),
      times: 2 ** 32 - 1 - i,
    }));
    const writer = new RecordWriter(0);
    writer.peerVerdicts('r1', FRAME.incarnation, 1, new Uint8Array(400).fill(255)); // no byte of the day is zero by chance
    writer.clear();
    const days: DayRow[] = [];
    for (let pictures = 0; pictures <= MOST_THROWN_MAX; pictures++) {
      for (const name of ['', 'Ann', '猫'.repeat(21)]) {
        const farthest = { file: 'f0'.repeat(32), desktops: 9, slot: 3, generation: 0xfedcba98, name };
        const mostThrown = counted.slice(0, pictures);
        days.push({ thrown: 2 ** 40 + 7, day: 20_000, mostThrown, farthest });
      }
      days.push({ thrown: 0, day: 0, mostThrown: [], farthest: undefined });
    }
    for (const day of days) writer.day(day);
    assert.deepEqual(
      factsIn(writer.bytes, writer.end),
      days.map((day) => ['day', day]),
    );
    assert.equal(writer.promises, false, 'nobody was promised what was counted');
  });
});
