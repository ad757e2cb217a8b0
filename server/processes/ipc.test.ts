/** The master's end of a worker: the byte budget of its link, and frames that arrive after its end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEARERS_PER_STEP_MAX, SMALL_WORLD_MAX } from '../domain/state/limits.ts';
import { checkedCrossing } from '../test/passages.ts';
import { type Guest, joined, masterOf } from '../test/relay_harness.ts';
import { answerOf } from '../wire/answer.ts';
import { FRAME_BYTES_TARGET, FRAME_HEAD, FrameWriter, MalformedFrame, RecordKind, readFrame } from '../wire/frame.ts';
import type { EdgeNumber } from '../wire/rules.ts';
import { IpcLink, LINK_BYTES_MAX, LINK_SAYINGS_BYTES_MAX, receiveFrame } from './ipc.ts';
import type { Master } from './master.ts';

const PASSAGE = Buffer.from(`"at":0.25,"vx":900,"vy":-50,"sprite":{"name":"${'x'.repeat(200)}"}}`);

/** A link whose frames are collected. The test decides when the system has accepted them. */
function collectingLink(onRoom = () => {}) {
  const frames: Buffer[] = [];
  const unsent: (() => void)[] = [];
  const link = new IpcLink((frame, onSent) => {
    frames.push(frame);
    unsent.push(onSent);
  }, onRoom);
  return { link, frames, unsent };
}

function seated(desktops: number, worldOf = (n: number) => `w${n}`): { master: Master; identities: Guest[] } {
  const master = masterOf({ slots: desktops, slabBytes: 64 << 20 });
  const identities = Array.from({ length: desktops }, (_, n) => joined(master.relay, { world: worldOf(n) }));
  return { master, identities };
}

describe('the link to a worker', () => {
  it('has room up to its budget, and again when half of it was sent', () => {
    let rooms = 0;
    const { link, unsent } = collectingLink(() => rooms++);
    const body = Buffer.alloc(FRAME_BYTES_TARGET);
    const sent = () => unsent.shift()?.();
    while (link.hasRoom()) {
      assert.ok(unsent.length <= LINK_BYTES_MAX / FRAME_BYTES_TARGET);
      link.answer(1, answerOf(200, body));
    }
    assert.equal(unsent.length, LINK_BYTES_MAX / FRAME_BYTES_TARGET);
    sent();
    sent();
    assert.deepEqual([link.hasRoom(), rooms], [false, 0], 'a little more than half is on the way');
    sent();
    assert.deepEqual([link.hasRoom(), rooms], [true, 1]);
    sent();
    assert.equal(rooms, 1);
  });

  it('leaves the sprites of a worker that does not read in the mailboxes, and sends each once it reads again', () => {
    const desktops = 400;
    const sprites = 64;
    const { master, identities } = seated(desktops);
    const { link, frames, unsent } = collectingLink(() => master.turns.linkHasRoom());
    const number = master.turns.links.add(link);
    for (const identity of identities) {
      for (let n = 1; n <= sprites; n++) master.relay.accept(identity, checkedCrossing(n, 1, PASSAGE));
    }
    for (const [n, identity] of identities.entries()) master.poll(number, n, identity, 0, -1);
    master.turns.end();
    const onTheWay = frames.reduce((sum, frame) => sum + frame.length, 0);
    assert.ok(onTheWay > LINK_BYTES_MAX, 'there is more to send than the budget');
    assert.ok(onTheWay < LINK_BYTES_MAX + FRAME_BYTES_TARGET, `${onTheWay} bytes are on the way`);
    assert.equal(master.relay.waiting, desktops * sprites, 'what was sent is not acknowledged');
    for (let sent = unsent.shift(); sent; sent = unsent.shift()) sent();
    const answered: number[] = [];
    for (const frame of frames) readFrame(frame, ({ request }) => answered.push(request));
    assert.deepEqual(
      answered.sort((a, b) => a - b),
      identities.map((_, n) => n),
    );
  });

  it('has no room for sayings above LINK_SAYINGS_BYTES_MAX, when it still has room for sprites', () => {
    for (const [spare, hasRoom] of [
      [-1, true],
      [0, true],
      [1, false],
    ] as const) {
      const { link } = collectingLink();
      // A frame and a record have heads of 12 bytes each.
      const body = Buffer.alloc(LINK_SAYINGS_BYTES_MAX - FRAME_HEAD - 12 + spare);
      link.answer(1, answerOf(200, body));
      assert.deepEqual([link.hasRoomForSayings(), link.hasRoom()], [hasRoom, true], `${spare}`);
    }
  });

  it('sends what sockets hear in one frame for each step, with the sayings once', () => {
    const desktops = SMALL_WORLD_MAX + 1;
    const { master, identities } = seated(desktops, () => 'w');
    const { link, frames } = collectingLink();
    const number = master.turns.links.add(link);
    for (const nowMs of [1000, 2000, 3000]) master.turns.advance(nowMs);
    for (const [n, identity] of identities.entries()) master.poll(number, n, identity, 0, -1);
    master.turns.end();
    for (const [n, identity] of identities.entries()) master.poll(number, 500 + n, identity, 0, -1);
    frames.length = 0;
    master.query('say', number, 1000, identities[0], JSON.stringify({ saying: 1, text: 'Hello' }));
    for (const nowMs of [3050, 3100, 3150, 3200]) master.turns.advance(nowMs);
    const heard = new Map<number, string>();
    for (const frame of frames) {
      readFrame(frame, (r) => heard.set(r.request, r.body.toString('utf8', r.start, r.end) + (r.shared ?? '')));
    }
    assert.equal(heard.get(1000), `{"heard":${desktops - 1}}`);
    for (let n = 0; n < desktops; n++) {
      const { events } = JSON.parse(heard.get(500 + n) as string);
      assert.deepEqual(
        events.map(({ text }: { text: string }) => text),
        ['Hello'],
      );
    }
    const copies = frames.map((frame) => frame.toString('latin1').split('Hello').length - 1);
    assert.equal(Math.max(...copies), 1);
    assert.equal(
      copies.reduce((sum, count) => sum + count),
      Math.ceil(desktops / HEARERS_PER_STEP_MAX),
    );
  });

  it('drops a frame that arrives after the end of its worker, so no poll stays parked', () => {
    const { master, identities } = seated(1);
    const number = master.turns.links.add(collectingLink().link);
    master.relay.advance(2000);
    const writer = new FrameWriter();
    writer.poll(0, identities[0], 0, -1);
    const acknowledge = writer.finish();
    receiveFrame(master, number, acknowledge);
    master.turns.end();
    assert.equal(master.relay.parkedCount, 0, 'the first poll gets the neighbours');
    writer.poll(1, identities[0], 0, -1);
    writer.join(2, JSON.stringify({ name: '' }));
    const late = writer.finish();
    master.turns.removeLink(number);
    receiveFrame(master, number, late);
    master.turns.end();
    assert.equal(master.relay.parkedCount, 0);
    assert.equal(master.relay.desktops.count, 1, 'nobody would receive the answer to the join');
  });

  it('refuses frames with an edge, a kind or JSON that a worker never sends, after the records before', () => {
    const { master, identities } = seated(1);
    const { link, frames } = collectingLink();
    const number = master.turns.links.add(link);
    const [desktop] = identities;
    const crossing = checkedCrossing(1, 4 as EdgeNumber, PASSAGE);
    const faults: Record<string, (writer: FrameWriter) => void> = {
      edge: (writer) => writer.crossing(1, desktop, crossing),
      kind: (writer) => writer.desktop(31, 1, desktop),
      'an answer': (writer) => writer.answer(1, answerOf(200, PASSAGE)),
      'no join': (writer) => writer.join(1, '{"name":'),
      'no saying': (writer) => writer.desktop(RecordKind.say, 1, desktop, 'Hello'),
    };
    for (const [fault, write] of Object.entries(faults)) {
      const writer = new FrameWriter();
      writer.desktop(RecordKind.verify, 0, desktop);
      write(writer);
      assert.throws(() => receiveFrame(master, number, writer.finish()), MalformedFrame, fault);
      master.turns.end();
      const answered: number[] = [];
      for (const frame of frames.splice(0)) readFrame(frame, ({ request }) => answered.push(request));
      assert.deepEqual(answered, [0], fault);
    }
  });
});
