import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cursor, readCursor, SEQ_MAX, writeCursor } from './cursor.ts';

const blank = (): Cursor => ({ epoch: 0, seq: 0 });

describe('cursor', () => {
  it('is the epoch in eight hex digits and the sequence in decimal', () => {
    assert.equal(writeCursor(0x6a1f03c2, 81), '6a1f03c2-81');
    assert.equal(writeCursor(0, 0), '00000000-0');
    assert.equal(writeCursor(0xffffffff, SEQ_MAX), 'ffffffff-4294967295');
  });

  it('is read as it was written', () => {
    const into = blank();
    for (const epoch of [0, 1, 0x0000000f, 0x10000000, 0x7fffffff, 0x80000000, 0xffffffff]) {
      for (const seq of [0, 1, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, SEQ_MAX - 1, SEQ_MAX]) {
        assert.ok(readCursor(writeCursor(epoch, seq), into));
        assert.deepEqual(into, { epoch, seq });
      }
    }
  });

  it('ends at SEQ_MAX', () => {
    assert.equal(readCursor(`00000000-${SEQ_MAX - 1}`, blank()), true);
    assert.equal(readCursor(`00000000-${SEQ_MAX}`, blank()), true);
    assert.equal(readCursor(`00000000-${SEQ_MAX + 1}`, blank()), false);
    assert.equal(readCursor('00000000-9999999999', blank()), false);
    assert.equal(readCursor('00000000-10000000000', blank()), false);
    assert.equal(readCursor(`00000000-${'9'.repeat(400)}`, blank()), false);
  });

  it('has exactly one text for each value', () => {
    const wrong = ['', '-', '0', '00000000', '00000000-', '0000000-0', '000000000-0', '00000000-00', '00000000-01'];
    wrong.push('0000000A-0', '0000000g-0', '00000000_0', '00000000--1', '00000000-+1', '00000000- 1', '00000000-1 ');
    wrong.push(
      ' 0000000-1',
      '00000000-1e3',
      '00000000-0x1',
      '00000000-1.0',
      '00000000-١',
      '00000000-1\n',
      '00000000-\0',
    );
    for (const text of wrong) assert.equal(readCursor(text, blank()), false, JSON.stringify(text));
  });
});
