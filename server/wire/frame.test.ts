import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickFrom, randomOf } from '../test/random.ts';
import { answerOf } from './answer.ts';
import type { CheckedCrossing } from './crossing.ts';
import { FRAME_HEAD, FrameWriter, MalformedFrame, RecordKind, type RecordView, readFrame } from './frame.ts';
import type { Identity } from './identity.ts';
import { Standing } from './pictures.ts';
import type { EdgeNumber } from './rules.ts';

const ADA: Identity = { slot: 0x1a2b, generation: 0x3f, token: Uint32Array.of(0x00112233, 1, 0, 0xffffffff) };
const LAST: Identity = { slot: 0xffffff, generation: 0xffffffff, token: new Uint32Array(4).fill(0xffffffff) };
const REQUEST_MAX = 0xffffffff;
const CROSSING_MAX = Number.MAX_SAFE_INTEGER;

interface Seen {
  kind: number;
  request: number;
  body: string;
  [member: string]: unknown;
}

/** A checked crossing whose passage is surrounded by other bytes. */
function checked(crossing: number, edge: EdgeNumber, passage: string): CheckedCrossing {
  const body = Buffer.from(`##${passage}##`);
  return { crossing, edge, body, start: 2, end: body.length - 2 };
}

/** The content of each record of a frame, copied. */
function read(frame: Uint8Array): Seen[] {
  const seen: Seen[] = [];
  readFrame(frame, (record) => seen.push(copyOf(record)));
  return seen;
}

function copyOf(record: RecordView): Seen {
  const { kind, request, body, start, end } = record;
  const common = { kind, request, body: body.toString('utf8', start, end) };
  const { status, retryAfterSeconds, shared } = record;
  if (kind === RecordKind.answer) return { ...common, status, retryAfterSeconds };
  if (kind === RecordKind.sharingAnswer) return { ...common, status, retryAfterSeconds, shared: shared?.toString() };
  if (kind === RecordKind.join) return common;
  const identityOf = { slot: record.slot, generation: record.generation, token: [...record.token] };
  if (kind === RecordKind.crossing)
    return { ...common, ...identityOf, crossing: record.crossing, edge: record.edge, standing: record.standing };
  if (kind === RecordKind.poll) return { ...common, ...identityOf, epoch: record.epoch, seq: record.seq };
  if (kind === RecordKind.show) return { ...common, ...identityOf, standing: record.standing };
  return { ...common, ...identityOf };
}

const identityOf = ({ slot, generation, token }: Identity) => ({ slot, generation, token: [...token] });

/** Two records of each kind, with the smallest and with the largest values. */
function everything(): { frame: Buffer; expected: Seen[] } {
  const writer = new FrameWriter();
  const expected: Seen[] = [];
  for (const [request, desktop] of [
    [0, ADA],
    [REQUEST_MAX, LAST],
  ] as const) {
    const isLargest = desktop === LAST;
    const passage = isLargest ? '"edge":"左","sprite":{"name":"Zoë 😀"}}' : '';
    const crossing = isLargest ? CROSSING_MAX : 1;
    const edge = isLargest ? 3 : 0;
    const standing = isLargest ? Standing.shipped : Standing.unchecked;
    writer.crossing(request, desktop, checked(crossing, edge, passage), standing);
    const thrown = { crossing, edge, standing };
    expected.push({ kind: RecordKind.crossing, request, body: passage, ...identityOf(desktop), ...thrown });
    const [epoch, seq] = isLargest ? [0xffffffff, 0xffffffff] : [0, -1];
    writer.poll(request, desktop, epoch, seq);
    expected.push({ kind: RecordKind.poll, request, body: '', ...identityOf(desktop), epoch, seq });
    const json = isLargest ? '{"name":"名前"}' : '{}';
    writer.join(request, json);
    expected.push({ kind: RecordKind.join, request, body: json });
    const { closed, leave, describe: look, company, verify, renew, count, flying } = RecordKind;
    for (const kind of [closed, leave, look, company, verify, renew, count, flying]) {
      writer.desktop(kind, request, desktop);
      expected.push({ kind, request, body: '', ...identityOf(desktop) });
    }
    const { mute, unmute, report, say, peek, setShows, setNamed, publish, feedback, fetch, askSwap, answerSwap } =
      RecordKind;
    for (const kind of [
      mute,
      unmute,
      report,
      say,
      peek,
      setShows,
      setNamed,
      publish,
      feedback,
      fetch,
      askSwap,
      answerSwap,
    ]) {
      writer.desktop(kind, request, desktop, json);
      expected.push({ kind, request, body: json, ...identityOf(desktop) });
    }
    const stage = Buffer.from(isLargest ? 'a sketch and its JSON' : '');
    writer.show(request, desktop, stage, standing);
    expected.push({ kind: RecordKind.show, request, body: stage.toString(), standing, ...identityOf(desktop) });
    const body = Buffer.from(isLargest ? '#{"to":"ö"}#' : '##');
    const [status, retryAfterSeconds] = isLargest ? [503, 255] : [200, 0];
    const answer = { ...answerOf(status, body, retryAfterSeconds), start: 1, end: body.length - 1 };
    writer.answer(request, answer);
    const answered = body.toString('utf8', 1, body.length - 1);
    expected.push({ kind: RecordKind.answer, request, body: answered, status, retryAfterSeconds });
    const shared = Buffer.from(isLargest ? '"ü"}' : '');
    writer.answer(request, { ...answer, shared });
    const sharing = { status, retryAfterSeconds, shared: shared.toString() };
    expected.push({ kind: RecordKind.sharingAnswer, request, body: answered, ...sharing });
  }
  return { frame: writer.finish(), expected };
}

describe('frame', () => {
  it('is read as it was written, for every kind with its smallest and largest values', () => {
    const { frame, expected } = everything();
    // What is shared is read with the answers that share it.
    const kinds = [...expected.map(({ kind }) => kind), RecordKind.shared];
    assert.deepEqual(new Set(kinds), new Set(Object.values(RecordKind)));
    assert.deepEqual(read(frame), expected);
  });

  it('is read at any offset in its ArrayBuffer', () => {
    const { frame, expected } = everything();
    for (const offset of [0, 1, 2, 3, 7]) {
      const memory = new Uint8Array(frame.length + 16).fill(0xee);
      memory.set(frame, offset);
      assert.deepEqual(read(memory.subarray(offset, offset + frame.length)), expected);
    }
  });

  it('without records is twelve bytes long', () => {
    const frame = new FrameWriter().finish();
    assert.equal(frame.length, 12);
    assert.deepEqual(read(frame), []);
  });

  it('that is cut at any byte is refused', () => {
    const { frame } = everything();
    for (let length = 0; length < frame.length; length++) {
      // The rest of the frame is still in memory: the reader must stop at the end of the frame, not of its buffer.
      const cut = frame.subarray(0, length);
      let whole = 0;
      const each = ({ end }: RecordView) => {
        whole = end;
      };
      assert.throws(() => readFrame(cut, each), MalformedFrame, `${length} of ${frame.length}`);
      assert.ok(whole <= length, `a record that ends at ${whole} was read from ${length} bytes`);
      assert.throws(() => read(Uint8Array.prototype.slice.call(frame, 0, length)), MalformedFrame);
    }
  });

  it('with bytes after its last record is refused', () => {
    const { frame } = everything();
    for (const more of [1, 4, 12, 100]) {
      assert.throws(() => read(Buffer.concat([frame, Buffer.alloc(more)])), /bytes after the last record/);
    }
    assert.throws(() => read(Buffer.concat([new FrameWriter().finish(), Buffer.alloc(1)])), /1 bytes after/);
  });

  it('of another version is refused', () => {
    const { frame } = everything();
    for (const at of [0, 1, 2, 3]) {
      const other = Buffer.from(frame);
      other[at] ^= 2;
      assert.throws(() => read(other), /version/);
    }
  });

  it('with a record shorter than its kind needs, or longer than the frame, is refused', () => {
    for (const kind of [
      RecordKind.crossing,
      RecordKind.poll,
      RecordKind.closed,
      RecordKind.leave,
      RecordKind.describe,
      RecordKind.company,
      RecordKind.verify,
      RecordKind.renew,
      RecordKind.count,
    ]) {
      const writer = new FrameWriter();
      if (kind === RecordKind.crossing) writer.crossing(1, ADA, checked(1, 0, ''));
      else if (kind === RecordKind.poll) writer.poll(1, ADA, 0, 0);
      else writer.desktop(kind, 1, ADA);
      writer.join(2, '{"name":"more than enough bytes to read on into"}');
      const frame = writer.finish();
      const whole = frame.readUInt32LE(FRAME_HEAD);
      for (const length of [0, 1, whole - 1, whole + 1, frame.length, 0x7fffffff, 0xffffffff]) {
        frame.writeUInt32LE(length, FRAME_HEAD);
        assert.throws(() => read(frame), MalformedFrame, `kind ${kind}, ${length} for ${whole}`);
      }
    }
  });

  it('with hostile bytes is read inside itself, or refused as malformed', (t) => {
    const random = pickFrom(randomOf(t));
    const { frame } = everything();
    for (let round = 0; round < 20_000; round++) {
      const hostile = Buffer.from(frame);
      for (let bytes = 1 + random(4); bytes > 0; bytes--) hostile[4 + random(hostile.length - 4)] = random(256);
      const each = ({ start, end }: RecordView) => assert.ok(start <= end && end <= hostile.length);
      try {
        readFrame(hostile, each);
      } catch (error) {
        assert.ok(error instanceof MalformedFrame, `${error}`);
      }
    }
  });

  it('counts its records, and is empty after finish()', () => {
    const writer = new FrameWriter();
    assert.equal(writer.count, 0);
    writer.join(1, '');
    writer.join(2, '');
    assert.equal(writer.count, 2);
    const first = writer.finish();
    assert.equal(writer.count, 0);
    assert.equal(writer.length, FRAME_HEAD);
    writer.join(3, '');
    const second = writer.finish();
    assert.deepEqual(
      [...read(first), ...read(second)].map(({ request }) => request),
      [1, 2, 3],
    );
  });

  it('belongs to the caller of finish(): later records don’t change it', () => {
    const writer = new FrameWriter();
    writer.join(1, 'first');
    const frame = writer.finish();
    const copy = Buffer.from(frame);
    writer.join(2, 'other');
    writer.finish();
    assert.deepEqual(frame, copy);
  });

  it('grows for bodies of any size, and keeps the earlier records', () => {
    const writer = new FrameWriter();
    const sizes = [0, 1, (64 << 10) - FRAME_HEAD - 12, 1, (64 << 10) - 1, 64 << 10, (1 << 20) + 7, 3];
    sizes.forEach((size, request) => {
      writer.answer(request, answerOf(200, Buffer.alloc(size, 0x30 + request)));
    });
    writer.join(100, '名'.repeat(1 << 18));
    const long = '😀'.repeat(1 << 16);
    writer.crossing(101, ADA, checked(9, 2, long));
    const seen = read(writer.finish());
    assert.deepEqual(
      seen.slice(0, sizes.length).map(({ request, body }) => [request, body.length]),
      sizes.map((size, request) => [request, size]),
    );
    for (const { request, body } of seen.slice(0, sizes.length))
      assert.equal(body, String(request).repeat(body.length));
    assert.equal(seen.at(-2)?.body, '名'.repeat(1 << 18));
    assert.equal(seen.at(-1)?.body, '😀'.repeat(1 << 16));
  });

  it('fills its first buffer to the last byte, and grows after that', () => {
    for (const spare of [-1, 0, 1]) {
      const writer = new FrameWriter();
      const size = (64 << 10) - FRAME_HEAD - 12 - 12 + spare;
      writer.answer(1, answerOf(200, Buffer.alloc(size, 0x61)));
      writer.join(2, '');
      const frame = writer.finish();
      assert.equal(frame.length, (64 << 10) + spare);
      assert.deepEqual(
        read(frame).map(({ body }) => body.length),
        [size, 0],
      );
    }
  });

  it('keeps passages in any script, byte for byte', () => {
    const passages = [
      '',
      'a',
      'ß',
      '名',
      '😀',
      '\u0000',
      '\u007f\u0080\u07ff\u0800\uffff\u{10ffff}',
      '👨\u200d👩\u200d👧',
    ];
    const writer = new FrameWriter();
    for (const passage of passages) {
      writer.crossing(1, ADA, checked(1, 1, passage));
    }
    assert.deepEqual(
      read(writer.finish()).map(({ body }) => body),
      passages,
    );
  });

  it('carries what answers share once, up to the next one and to the end of the frame', () => {
    const shared = ['first', 'second', ''].map((text) => Buffer.from(text));
    const own = Buffer.from('##own##');
    const writer = new FrameWriter();
    const write = (request: number, end?: Buffer) =>
      writer.answer(request, { ...answerOf(200, own, 0, end), start: 2, end: 5 });
    write(1, shared[0]);
    write(2);
    write(3, shared[0]);
    write(4, shared[1]);
    write(5, shared[2]);
    write(6, shared[0]);
    const seen: [number, string, string | undefined][] = [];
    const collect = (frame: Buffer) =>
      readFrame(frame, (r) => seen.push([r.request, r.body.toString('utf8', r.start, r.end), r.shared?.toString()]));
    const frame = writer.finish();
    assert.equal(frame.toString('latin1').split('first').length - 1, 2, 'once for two answers, once after others');
    collect(frame);
    // Another frame has nothing of this one.
    write(7, shared[0]);
    write(8);
    collect(writer.finish());
    assert.deepEqual(seen, [
      [1, 'own', 'first'],
      [2, 'own', undefined],
      [3, 'own', 'first'],
      [4, 'own', 'second'],
      [5, 'own', ''],
      [6, 'own', 'first'],
      [7, 'own', 'first'],
      [8, 'own', undefined],
    ]);
  });

  it('copies the body of an answer from a Buffer or another Uint8Array, whole or in part', () => {
    const text = new TextEncoder().encode('0123456789');
    const writer = new FrameWriter();
    writer.answer(1, answerOf(200, text));
    writer.answer(2, { ...answerOf(200, text), start: 3, end: 7 });
    writer.answer(3, { ...answerOf(200, Buffer.from(text)), start: 9 });
    writer.answer(4, { ...answerOf(204, text), start: 5, end: 5 });
    assert.deepEqual(
      read(writer.finish()).map(({ body }) => body),
      ['0123456789', '3456', '9', ''],
    );
  });
});
