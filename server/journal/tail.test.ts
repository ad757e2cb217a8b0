import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PretendDisk } from '../test/pretend_disk.ts';
import { readTail, TAIL, TAIL_HEAD_BYTES, Tail, TailDamaged, withTail } from './tail.ts';

/** Bytes of the tails here, and of the frames that fit. */
const BYTES = 200;
const ROOM = BYTES - TAIL_HEAD_BYTES;

const [SEGMENT, OFFSET] = [7, 2 ** 33];

interface Made {
  readonly disk: PretendDisk;
  readonly tail: Tail;
  add(text: string, offset?: number): boolean;
}

function made(): Made {
  const disk = new PretendDisk(() => 0.5);
  const file = disk.create(TAIL);
  disk.write(file, Buffer.alloc(BYTES), BYTES, 0);
  const tail = new Tail(disk.map(file, BYTES), BYTES);
  const add = (text: string, offset = OFFSET) =>
    tail.add(Buffer.from(`${text}, and more`), text.length, SEGMENT, offset);
  return { disk, tail, add };
}

describe('a tail', () => {
  it('keeps frames, their segment and where they begin in it', () => {
    const { disk, tail, add } = made();
    assert.equal(readTail(disk), undefined);
    add('one');
    add('three', OFFSET + 3);
    assert.deepEqual(readTail(disk), { segment: SEGMENT, offset: OFFSET, frames: Buffer.from('onethree') });
    assert.equal(tail.frames.toString(), 'onethree');
    assert.deepEqual([tail.offset, tail.length], [OFFSET, 8]);
  });

  it('begins elsewhere when it was cleared', () => {
    const { disk, tail, add } = made();
    add('one');
    tail.clear();
    assert.equal(readTail(disk), undefined);
    assert.equal(tail.length, 0);
    add('two', 900);
    assert.deepEqual(readTail(disk), { segment: SEGMENT, offset: 900, frames: Buffer.from('two') });
  });

  it('takes frames that fill it, and not a byte more', () => {
    for (const first of [0, 1, ROOM - 1, ROOM]) {
      const { disk, add } = made();
      if (first > 0) assert.equal(add('a'.repeat(first)), true);
      const rest = ROOM - first;
      assert.equal(add('b'.repeat(rest + 1)), false, `${rest + 1} bytes where ${rest} fit`);
      assert.equal(readTail(disk)?.frames.length ?? 0, first, 'nothing has changed');
      if (rest === 0) continue;
      assert.equal(add('b'.repeat(rest)), true);
      assert.equal(readTail(disk)?.frames.length, ROOM);
    }
  });

  it('has all of a frame or nothing of it, whenever the process dies', () => {
    for (let calls = 1; ; calls++) {
      const { disk, add } = made();
      add('one');
      disk.callsLeft = calls;
      try {
        add('two', OFFSET + 3);
      } catch {
        disk.restart(false);
        assert.equal(readTail(disk)?.frames.toString(), 'one');
        continue;
      }
      assert.ok(calls > 2, 'it died in each store');
      assert.equal(readTail(disk)?.frames.toString(), 'onetwo');
      return;
    }
  });

  it('is empty or has one frame, whenever the process dies while it begins', () => {
    for (let calls = 1; ; calls++) {
      const { disk, tail, add } = made();
      add('a frame of another place');
      disk.callsLeft = calls;
      try {
        tail.clear();
        add('one', 500);
      } catch {
        disk.restart(false);
        const content = readTail(disk);
        assert.ok(content === undefined || content.frames.toString() === 'a frame of another place');
        continue;
      }
      assert.ok(calls > 4, 'it died in each store');
      return;
    }
  });

  it('is refused when its head is damaged, or its length cannot be: its frames were answered', () => {
    for (let at = 0; at < 28; at++) {
      const { disk, add } = made();
      add('one');
      disk.flip(TAIL, at);
      assert.throws(() => readTail(disk), TailDamaged, `byte ${at}`);
    }
    const { disk, add } = made();
    add('a'.repeat(ROOM));
    disk.resize(TAIL, BYTES - 1);
    assert.throws(() => readTail(disk), TailDamaged, 'the file is shorter than its frames');
    disk.resize(TAIL, TAIL_HEAD_BYTES - 1);
    assert.equal(readTail(disk), undefined, 'the process died while it made the file');
  });
});

describe('a segment with its tail', () => {
  const own = Buffer.from('0123456789');
  const tail = (frames: string, offset: number) => ({ segment: 1, offset, frames: Buffer.from(frames) });

  it('has the bytes that only the tail has, wherever the file ends within them', () => {
    for (let length = 4; length < 10; length++) {
      assert.equal(withTail(own.subarray(0, length), 1, tail('456789', 4)).toString(), '0123456789');
    }
  });

  it('is its file when the tail adds nothing', () => {
    const unchanged = {
      'there is none': undefined,
      'it is of another segment': { ...tail('89ab', 8), segment: 2 },
      'the file has all of it': tail('6789', 6),
      'the file has more': tail('678', 6),
      'the file ends before it': tail('bc', 11),
      'the file has other bytes': tail('8xab', 8),
    };
    for (const [why, content] of Object.entries(unchanged)) assert.equal(withTail(own, 1, content), own, why);
  });
});
