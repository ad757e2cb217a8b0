/** Frames in a stream of bytes: cut anywhere, of any length, and hostile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickFrom, randomOf } from '../test/random.ts';
import { answerOf } from './answer.ts';
import { FRAME_BYTES_MAX, FRAME_HEAD, FrameWriter, MalformedFrame } from './frame.ts';
import { FrameStream } from './frame_stream.ts';

/** A frame of so many bytes, with one answer in it; of FRAME_HEAD bytes without. */
function frameOf(bytes: number, fill = 0): Buffer {
  const writer = new FrameWriter();
  const body = Buffer.alloc(Math.max(0, bytes - FRAME_HEAD - 12), fill);
  if (bytes > FRAME_HEAD) writer.answer(1, answerOf(200, body));
  const frame = writer.finish();
  assert.equal(frame.length, bytes);
  return frame;
}

/** A head that says how long its frame is. */
function headOf(length: number): Buffer {
  const head = new FrameWriter().finish();
  head.writeUInt32LE(length, 4);
  return head;
}

describe('a stream of frames', () => {
  it('passes on each frame once, whole and in order, wherever it is cut', () => {
    const frames = [FRAME_HEAD, 24, 100, FRAME_HEAD, FRAME_HEAD, 25].map((bytes, n) => frameOf(bytes, n));
    const bytes = Buffer.concat(frames);
    for (let size = 1; size <= bytes.length + 1; size++) {
      const stream = new FrameStream();
      const seen: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        // A copy: the piece is overwritten by the next one, as in the ring's buffer.
        const piece = Buffer.from(bytes.subarray(at, at + size));
        stream.receive(piece, (frame) => seen.push(Buffer.from(frame)));
        piece.fill(0xee);
      }
      assert.deepEqual(seen, frames, `in pieces of ${size}`);
    }
  });

  it('passes on random frames in random pieces', (t) => {
    const random = pickFrom(randomOf(t));
    const frames = Array.from({ length: 300 }, (_, n) => frameOf(24 + random(n % 30 === 0 ? 200_000 : 400), n));
    const bytes = Buffer.concat(frames);
    const stream = new FrameStream();
    const seen: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + random(random(2) ? 40 : 65_536);
      stream.receive(bytes.subarray(at, at + size), (frame) => seen.push(Buffer.from(frame)));
      at += size;
    }
    assert.deepEqual(seen, frames);
  });

  it('accepts a frame of FRAME_BYTES_MAX bytes, and none that says it is longer, or shorter than its head', () => {
    for (const [length, isAccepted] of [
      [FRAME_BYTES_MAX - 1, true],
      [FRAME_BYTES_MAX, true],
      [FRAME_BYTES_MAX + 1, false],
      [0xffffffff, false],
      [FRAME_HEAD - 1, false],
      [0, false],
    ] as const) {
      for (const pieces of [[headOf(length)], [headOf(length).subarray(0, 5), headOf(length).subarray(5)]]) {
        const stream = new FrameStream();
        const receive = () => {
          for (const piece of pieces) stream.receive(piece, () => assert.fail('it is not complete'));
        };
        if (isAccepted) receive();
        else assert.throws(receive, MalformedFrame, `${length} in ${pieces.length}`);
      }
    }
  });

  it('with hostile bytes passes on frames or throws MalformedFrame', (t) => {
    const random = pickFrom(randomOf(t));
    for (let round = 0; round < 3000; round++) {
      const stream = new FrameStream();
      try {
        for (let piece = 0; piece < 5; piece++) {
          // Short lengths are likely, so that some frames are complete.
          const bytes = Buffer.from(Array.from({ length: random(60) }, () => (random(4) ? 0 : random(64))));
          stream.receive(bytes, (frame) => assert.ok(frame.length >= FRAME_HEAD));
        }
      } catch (error) {
        assert.ok(error instanceof MalformedFrame, `${error}`);
      }
    }
  });
});
