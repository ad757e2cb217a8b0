import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { type EdgeNumber, STAGE_BYTES_MAX, STAGE_SPRITES_MAX } from '../rules.ts';
import { PEER_PEEKS_BYTES_MAX, PEER_PEEKS_VERSION, PeerPeeksWriter, readPeerPeeks } from './peer_peeks.ts';

const FILE = 'a'.repeat(64);
const WATCH = { edge: 3 as EdgeNumber, slot: 4_000_000_000, generation: 17, place: 65_536 };
const REFERENCE = Buffer.from('{"desktop":"9-3e","name":"Bob"}');

const stageOf = (sprites: object[]) =>
  Buffer.from(JSON.stringify({ width: 1920, height: 1080, files: [FILE], sprites }));
const STAGE = stageOf([{ id: 7, x: 1890, y: 1040, vx: 60, animation: 'walk' }]);

function read(message: Uint8Array) {
  const found = readPeerPeeks(message);
  assert.ok(typeof found === 'object', `${found}`);
  return found;
}

describe('messages about peeks over relays', () => {
  it('come back as they were written', () => {
    const writer = new PeerPeeksWriter('relay-1');
    assert.ok(writer.watch(WATCH, 12, true));
    assert.ok(writer.end(WATCH));
    assert.ok(writer.hidden(WATCH));
    assert.ok(writer.stage(WATCH, 90_000, REFERENCE, STAGE));
    const { sender, peeks } = read(writer.finish());
    assert.equal(sender, 'relay-1');
    assert.deepEqual(peeks.slice(0, 3), [
      { kind: 'watch', watch: WATCH, from: 12, hasStage: true },
      { kind: 'end', watch: WATCH },
      { kind: 'hidden', watch: WATCH },
    ]);
    const [, , , stage] = peeks;
    assert.ok(stage.kind === 'stage');
    assert.deepEqual([stage.watch, stage.ageMs, stage.stage.files], [WATCH, 90_000, [FILE]]);
    assert.ok(stage.reference.equals(REFERENCE));
  });

  it('leave out stages that no desktop could have posted, and stages without a valid desktop', () => {
    const sprite = { id: 1, x: 0, y: 0 };
    const many = Array.from({ length: STAGE_SPRITES_MAX + 1 }, (_, id) => ({ ...sprite, id }));
    const bad = [Buffer.from('{'), stageOf([{ ...sprite, x: 1e9 }]), stageOf([sprite, sprite]), stageOf(many)];
    bad.push(Buffer.concat([STAGE, Buffer.alloc(STAGE_BYTES_MAX + 2 - STAGE.length, ' ')]));
    const writer = new PeerPeeksWriter('a');
    for (const stage of bad) writer.stage(WATCH, 0, REFERENCE, stage);
    writer.stage(WATCH, 0, Buffer.from('{"desktop":1,"name":"Bob"}'), STAGE);
    writer.stage(WATCH, 0, Buffer.from('"Bob"'), STAGE);
    assert.deepEqual(read(writer.finish()).peeks, []);
    const good = new PeerPeeksWriter('a');
    good.stage(WATCH, 0, REFERENCE, stageOf(many.slice(1)));
    good.stage(WATCH, 0, REFERENCE, Buffer.concat([STAGE, Buffer.alloc(STAGE_BYTES_MAX + 1 - STAGE.length, ' ')]));
    assert.equal(read(good.finish()).peeks.length, 2);
  });

  it('have at most PEER_PEEKS_BYTES_MAX bytes', () => {
    const writer = new PeerPeeksWriter('a');
    while (writer.stage(WATCH, 0, REFERENCE, STAGE));
    while (writer.end(WATCH));
    assert.ok(!writer.watch(WATCH, 0, false) && !writer.hidden(WATCH));
    const message = writer.finish();
    assert.ok(message.length > PEER_PEEKS_BYTES_MAX - 16 && message.length <= PEER_PEEKS_BYTES_MAX);
    assert.ok(read(message).peeks.length > 50);
    assert.equal(readPeerPeeks(Buffer.concat([message, Buffer.alloc(PEER_PEEKS_BYTES_MAX)])), 'malformed');
    const more = Buffer.concat([message, message.subarray(-16)]);
    more.writeUInt16LE(message.readUInt16LE(2) + 1, 2);
    assert.equal(readPeerPeeks(more), 'malformed', 'one record more');
    const whole = Buffer.concat([message, Buffer.alloc(PEER_PEEKS_BYTES_MAX - message.length)]);
    assert.equal(readPeerPeeks(whole), 'malformed', 'what follows is not a record');
  });

  it('may have more members and other kinds in a later release', () => {
    const writer = new PeerPeeksWriter('a');
    writer.end(WATCH);
    writer.watch(WATCH, 5, false);
    const message = writer.finish();
    message[5 + 2] = 99;
    const later = Buffer.concat([message, Buffer.from('more')]);
    later.writeUInt16LE(21 + 4, 5 + 16);
    assert.deepEqual(read(later).peeks, [{ kind: 'watch', watch: WATCH, from: 5, hasStage: false }]);
    message[0] = PEER_PEEKS_VERSION + 1;
    assert.equal(readPeerPeeks(message), 'version');
  });

  it('have whole records', () => {
    for (const [kind, bytes] of [
      [1, 16],
      [1, 20],
      [4, 16],
      [4, 23],
    ]) {
      const writer = new PeerPeeksWriter('a');
      writer.end(WATCH);
      const message = Buffer.concat([writer.finish(), Buffer.alloc(bytes - 16)]);
      message.writeUInt16LE(bytes, 5);
      message[5 + 2] = kind;
      assert.equal(readPeerPeeks(message), 'malformed', `${bytes} bytes of kind ${kind}`);
    }
  });

  it('are refused or read within the limits, whatever the bytes are', (t) => {
    const random = randomOf(t);
    const writer = new PeerPeeksWriter('abc');
    writer.watch(WATCH, 1, true);
    writer.stage(WATCH, 5, REFERENCE, STAGE);
    writer.end(WATCH);
    const whole = writer.finish();
    for (let end = 0; end < whole.length; end++) assert.equal(readPeerPeeks(whole.subarray(0, end)), 'malformed');
    for (let n = 0; n < 2_000; n++) {
      const bytes = Buffer.from(whole);
      for (let changes = 0; changes < 3; changes++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      const found = readPeerPeeks(bytes);
      if (typeof found === 'string') continue;
      for (const { watch } of found.peeks) assert.ok(watch.edge < 4);
    }
  });
});
