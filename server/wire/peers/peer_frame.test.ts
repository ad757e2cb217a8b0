import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passageOf } from '../../test/passages.ts';
import { pickFrom, randomOf } from '../../test/random.ts';
import type { Passage } from '../passage.ts';
import { PICTURES } from '../pictures.ts';
import { NAME_BYTES_MAX } from '../rules.ts';
import {
  fitted,
  numbered,
  originOfEvent,
  PEER_EVENT_BYTES_LEAST,
  PEER_EVENT_BYTES_MAX,
  PEER_FRAME_BYTES_MAX,
  PEER_RECORDS_MAX,
  PEER_VERSION,
  type PeerFrame,
  PeerFrameWriter,
  PeerKind,
  type PeerRecord,
  PeerStatus,
  PeerVerdict,
  REFERENCE_BYTES_MAX,
  readPeerAnswer,
  readPeerFrame,
  readPeerRecords,
  writePeerAnswer,
} from './peer_frame.ts';

const FILE = '0123456789abcdef'.repeat(4);
const PASSAGE = Buffer.from(`"edge":"left","at":0.5,"vx":900,"vy":0,"sprite":{"file":"${FILE}","name":"Blob"}}`);
const HEAD = Buffer.from('"from":{"desktop":"1-2","name":"Ann"},');
const REFERENCE = Buffer.from('{"desktop":"1-2","name":"Ann"}');
const THROWN = { slot: 5, generation: 0xfffffffe, crossing: 2 ** 40 };

const WRITTEN_BY = { sender: 'r1', epoch: 7, to: 9, incarnation: '0123456789abcdef' };

function read(bytes: Uint8Array): PeerFrame {
  const frame = readPeerFrame(bytes);
  assert.ok(typeof frame !== 'string', frame as string);
  return frame;
}

type Read = Omit<PeerRecord, 'head' | 'headLength' | 'body' | 'waiting'>;

function recordsOf(frame: PeerFrame): Read[] {
  const records: Read[] = [];
  readPeerRecords(frame, ({ head: _, headLength: __, body: ___, waiting: ____, ...record }) => records.push(record));
  return records;
}

function frameOf(records: number, event = PASSAGE): Buffer {
  const writer = new PeerFrameWriter(WRITTEN_BY);
  for (let n = 0; n < records; n++) writer.crossing(n, { ...THROWN, ...passageOf(2, event, HEAD) });
  return writer.finish(81, 3);
}

const ANSWER = {
  ...{ status: PeerStatus.done, epoch: 9, number: 81 },
  verdicts: Uint8Array.of(PeerVerdict.accepted, PeerVerdict.full),
  references: [REFERENCE, Buffer.alloc(0)],
};

describe('peer frame', () => {
  it('says where a sprite that is handed on waits, to its sender only', () => {
    const writer = new PeerFrameWriter(WRITTEN_BY);
    const event = Buffer.concat([HEAD, PASSAGE]);
    const sprites = ([0, 3] as const).map((edge) => ({
      slot: 0xfffffe,
      owners: 0xfffffffe,
      edge,
      arrived: 0xffffffff - edge,
    }));
    const thrower = { slot: 5, generation: 6 };
    for (const sprite of sprites) writer.waiting(3, thrower, sprite, passageOf(sprite.edge, event));
    writer.crossing(4, { ...thrower, crossing: 1, ...passageOf(2, PASSAGE, HEAD) });
    const frame = read(writer.finish(81, 3));
    const waiting: object[] = [];
    readPeerRecords(frame, (record) => {
      assert.equal(frame.bytes.toString('latin1', record.start, record.end), `${event}`);
      assert.deepEqual([record.kind, record.slot, record.generation], [PeerKind.crossing, 5, 6]);
      if (record.crossing === 0) waiting.push({ ...record.waiting });
    });
    assert.deepEqual(waiting, sprites);
  });

  it('names the private world of a sprite that is handed on: with 0, 1 and NAME_BYTES_MAX bytes, and no part of a name', () => {
    const waiting = { slot: 1, owners: 2, edge: 3, arrived: 4 } as const;
    for (const name of ['', 'u', 'a'.repeat(NAME_BYTES_MAX)]) {
      for (const pictures of PICTURES) {
        const writer = new PeerFrameWriter(WRITTEN_BY);
        const sprite = { ...waiting, moved: { name, pictures } };
        for (let n = 0; n < 2; n++) writer.waiting(3, { slot: 5, generation: 6 }, sprite, passageOf(3, PASSAGE));
        const bytes = writer.finish(81, 3);
        const records = recordsOf(read(bytes));
        assert.deepEqual(
          records.map(({ moved }) => moved),
          [
            { name, pictures },
            { name, pictures },
          ],
        );
        assert.deepEqual(
          records.map(({ kind }) => kind),
          [PeerKind.moved, PeerKind.moved],
        );
        // The length of the last name is one too large, or its pictures are of a later release.
        const atName = bytes.length - name.length;
        for (const [at, value] of [
          [atName - 1, name.length + 1],
          [atName - 2, PICTURES.length],
        ]) {
          const broken = Buffer.from(bytes);
          broken[at] = value;
          assert.deepEqual(
            recordsOf(read(broken)).map(({ moved }) => moved),
            [{ name, pictures }, undefined],
          );
        }
      }
    }
  });

  it('is read as it was written', () => {
    const writer = new PeerFrameWriter(WRITTEN_BY);
    writer.crossing(3, { ...THROWN, ...passageOf(2, PASSAGE, HEAD) });
    writer.name(4);
    const frame = read(writer.finish(81, 3));
    assert.deepEqual(
      { ...frame, bytes: undefined, start: undefined },
      { ...WRITTEN_BY, number: 81, earlier: 3, count: 2, bytes: undefined, start: undefined },
    );
    const [crossing, name] = recordsOf(frame);
    assert.equal(frame.bytes.toString('latin1', crossing.start, crossing.end), `${HEAD}${PASSAGE}`);
    assert.deepEqual(
      { ...crossing, start: 0, end: 0 },
      {
        ...{ kind: PeerKind.crossing, edge: 2, place: 3, slot: 5 },
        generation: 0xfffffffe,
        crossing: 2 ** 40,
        start: 0,
        end: 0,
        moved: undefined,
      },
    );
    assert.equal(name.kind, PeerKind.name);
    assert.equal(name.place, 4);
  });

  it('gets another number without another change', () => {
    const frame = frameOf(2);
    const again = read(numbered(frame, 82, 0));
    assert.deepEqual([again.number, again.earlier], [82, 0]);
    assert.ok(numbered(again.bytes, 81, 3).equals(frame));
  });

  it('has room for any record until it is full', () => {
    for (const length of [1, 400, PEER_EVENT_BYTES_MAX - HEAD.length]) {
      const writer = new PeerFrameWriter({ ...WRITTEN_BY, sender: 'r'.repeat(32) });
      const event = Buffer.alloc(length, 0x20);
      const passage = { slot: 0, generation: 1, crossing: 1, ...passageOf(0, event, HEAD) };
      while (writer.hasRoom) writer.crossing(0, passage);
      const bytes = writer.finish(81, 3);
      assert.ok(bytes.length <= PEER_FRAME_BYTES_MAX);
      assert.equal(read(bytes).count, writer.count);
      assert.ok(writer.count === PEER_RECORDS_MAX || bytes.length > PEER_FRAME_BYTES_MAX - 1200);
    }
  });

  it('skips what a later release adds to its head and to its records', () => {
    const bytes = frameOf(1);
    const start = bytes.readUInt16LE(4);
    const longer = Buffer.concat([
      bytes.subarray(0, start),
      Buffer.from('new'),
      bytes.subarray(start),
      Buffer.from('more'),
    ]);
    longer.writeUInt16LE(start + 3, 4);
    longer.writeUInt16LE(bytes.readUInt16LE(start) + 4, start + 3);
    const [record] = recordsOf(read(longer));
    assert.equal(longer.toString('latin1', record.start, record.end), `${HEAD}${PASSAGE}`);
  });

  it('refuses another version', () => {
    const bytes = frameOf(1);
    bytes[0] = PEER_VERSION + 1;
    assert.equal(readPeerFrame(bytes), 'version');
    const answer = writePeerAnswer(ANSWER);
    answer[0] = PEER_VERSION + 1;
    assert.equal(readPeerAnswer(answer), 'malformed', 'it does not say that the frame was not read');
    answer[1] = PeerStatus.version;
    assert.equal(readPeerAnswer(answer), 'version');
  });

  it('refuses each frame that is cut off, and each that has bytes too many', () => {
    const bytes = frameOf(3);
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(readPeerFrame(bytes.subarray(0, length)), 'malformed', `${length} bytes`);
    }
    assert.equal(readPeerFrame(Buffer.concat([bytes, Buffer.alloc(1)])), 'malformed');
    assert.equal(readPeerFrame(Buffer.alloc(PEER_FRAME_BYTES_MAX + 1, PEER_VERSION)), 'malformed');
  });

  it('never throws, and stays within its bounds, for any bytes', (t) => {
    const random = randomOf(t);
    const pick = pickFrom(random);
    let whole = 0;
    for (let n = 0; n < 20_000; n++) {
      const isAnswer = random() < 0.5;
      const bytes = isAnswer ? writePeerAnswer(ANSWER) : frameOf(1 + pick(3));
      for (let changes = pick(4); changes > 0; changes--) bytes[pick(bytes.length)] = pick(256);
      const cut = bytes.subarray(0, random() < 0.2 ? pick(bytes.length) : bytes.length);
      if (isAnswer) {
        const answer = readPeerAnswer(cut);
        if (typeof answer === 'string') continue;
        for (const reference of answer.references) {
          assert.ok(reference.length === 0 || JSON.parse(reference.toString()).desktop !== undefined);
        }
      } else {
        const frame = readPeerFrame(cut);
        if (typeof frame === 'string') continue;
        for (const { start, end, edge } of recordsOf(frame)) {
          assert.ok(start <= end && end <= cut.length && edge <= 3);
          originOfEvent(frame.bytes, start, end);
        }
      }
      whole++;
    }
    assert.ok(whole > 1000, 'many were read');
  });
});

describe('answer to a peer frame', () => {
  it('is read as it was written, and says how long an event its sender takes', () => {
    assert.deepEqual(readPeerAnswer(writePeerAnswer(ANSWER)), { ...ANSWER, eventBytesMax: PEER_EVENT_BYTES_MAX });
  });

  it('of an earlier release does not say that, so its events are those that all take', () => {
    const answer = readPeerAnswer(writePeerAnswer(ANSWER).subarray(0, -2));
    assert.deepEqual(answer, { ...ANSWER, eventBytesMax: PEER_EVENT_BYTES_LEAST });
  });

  it('drops a reference that a client could not read', () => {
    for (const bad of [
      '{"desktop":"1-2"}',
      '},{',
      '{"desktop":1,"name":"x"}',
      `{"desktop":"1","name":"${'x'.repeat(REFERENCE_BYTES_MAX)}"}`,
    ]) {
      const read = readPeerAnswer(writePeerAnswer({ ...ANSWER, references: [Buffer.from(bad)] }));
      assert.ok(typeof read !== 'string');
      assert.equal(read.references[0].length, 0, bad);
    }
  });
});

describe('event of a peer', () => {
  it('must be what a mailbox holds', () => {
    const isEvent = (text: string) => originOfEvent(Buffer.from(text), 0, Buffer.byteLength(text)) !== undefined;
    const event = Buffer.concat([HEAD, PASSAGE]);
    assert.deepEqual(originOfEvent(event, 0, event.length), { file: FILE, desktop: '1-2' });
    for (const bad of [
      '',
      `${PASSAGE}`,
      `${HEAD}"edge":"left"},{"type":"ping"}`,
      `${HEAD}"edge":1,"sprite":{}}`,
      `${HEAD}"edge":"left"}`,
    ]) {
      assert.ok(!isEvent(bad), bad);
    }
  });

  it('loses its journey, and then its goal, only where it is too long for its receiver', () => {
    const name = '"'.repeat(NAME_BYTES_MAX);
    const sprite = { file: FILE, name, animation: 'a'.repeat(32), facing: 'right', scale: 1 };
    const journey = { hops: 1, since: 0, by: '', from: ['b'.repeat(64), 'c'.repeat(64)] };
    const goal = { name: '"'.repeat(40), column: -16, row: -16 };
    const longest = { edge: 'left', at: 0.5, vx: -1.2345678901234566e-7, vy: -1.2345678901234566e-7 };
    const from = { desktop: `${'r'.repeat(32)}-4294967295-4294967295`, name };
    const head = Buffer.from(`"from":${JSON.stringify(from)},`);
    const passage = (one: object) => passageOf(2, Buffer.from(JSON.stringify(one).slice(1)), head);
    const written = ({ head, headLength, body, start, end }: Passage) =>
      JSON.parse(`{${head.subarray(0, headLength)}${body.subarray(start, end)}`);
    const plain = { ...longest, sprite };
    const whole = passage({ ...longest, sprite: { ...sprite, journey }, goal });
    const bytes = whole.headLength + whole.end;
    assert.equal(fitted(whole, bytes), whole);
    assert.deepEqual(written(fitted(whole, bytes - 1)), { from, ...plain, goal });
    const least = fitted(whole, PEER_EVENT_BYTES_LEAST);
    assert.deepEqual(written(least), { from, ...plain });
    assert.ok(least.headLength + least.end - least.start <= PEER_EVENT_BYTES_LEAST);
  });
});
