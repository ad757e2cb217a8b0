import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passageOf } from '../../test/passages.ts';
import { randomOf } from '../../test/random.ts';
import { PEER_EVENT_BYTES_MAX } from '../../wire/peers/peer_frame.ts';
import { type EdgeNumber, PASSAGE_BYTES_MAX, POLL_BYTES_MAX } from '../../wire/rules.ts';
import { blockBytes, Slab } from '../slots/slab.ts';
import { CARRIED_FACTOR, MAILBOX_BYTES_MAX, MAILBOX_EVENTS_MAX } from './limits.ts';
import { EVENT_BYTES_MAX, Mailboxes, type MailboxLimits, writeNumber } from './mailboxes.ts';

const LIMITS: MailboxLimits = { eventsMax: MAILBOX_EVENTS_MAX, bytesMax: MAILBOX_BYTES_MAX };
const BLOCK_HEAD_BYTES = 28;

function open(limits: Partial<MailboxLimits> = {}, slab = new Slab(0)): Mailboxes {
  return new Mailboxes(8, slab, { ...LIMITS, ...limits });
}

/** An event of exactly `bytes` bytes that contains `n`. */
function event(n: number, bytes = 12): Buffer {
  return Buffer.from(`"n":${n}`.padEnd(bytes - 1).concat('}'));
}

function append(mailboxes: Mailboxes, slot: number, n: number, edge: EdgeNumber = 0, bytes = 12): boolean {
  return mailboxes.append(slot, passageOf(edge, event(n, bytes)));
}

function appendMany(mailboxes: Mailboxes, slot: number, from: number, to: number): void {
  for (let n = from; n <= to; n++) assert.ok(append(mailboxes, slot, n));
}

const out = Buffer.alloc(2 * POLL_BYTES_MAX);

/** The events that a poll would get, as [seq, n]. */
function read(mailboxes: Mailboxes, slot: number, eventsMax = 1e6, bytesMax = out.length): [number, number][] {
  const end = mailboxes.write(slot, out, 7, eventsMax, bytesMax);
  const events = JSON.parse(`[${out.toString('utf8', 7, end)}]`);
  const seen = events.map(({ seq, n }: { seq: number; n: number }) => [seq, n]);
  assert.equal(mailboxes.batchSeq, seen.at(-1)?.[0] ?? mailboxes.acknowledged(slot));
  return seen;
}

/** Acknowledges as a client does: events that it has read. */
function acknowledge(mailboxes: Mailboxes, slot: number, seq: number): number {
  read(mailboxes, slot);
  return mailboxes.acknowledge(slot, seq);
}

describe('remove', () => {
  it('frees one unsent event, wherever it is in its list, and keeps the others in order', () => {
    for (const [gone, left] of [
      [1, [2, 3]],
      [2, [1, 3]],
      [3, [1, 2]],
    ] as [number, number[]][]) {
      const slab = new Slab(0);
      const mailboxes = open({}, slab);
      appendMany(mailboxes, 1, 1, 3);
      assert.ok(append(mailboxes, 1, 9, 2));
      const stamps: number[] = [];
      mailboxes.visitUnsent(1, 0, ({ arrived }) => stamps.push(arrived) > 0);
      assert.equal(stamps.length, 3);
      assert.equal(mailboxes.remove(1, 1, stamps[gone - 1]), false, 'another edge');
      assert.equal(mailboxes.remove(1, 0, stamps[gone - 1]), true);
      assert.equal(mailboxes.remove(1, 0, stamps[gone - 1]), false, 'it has gone');
      assert.deepEqual([mailboxes.count(1), mailboxes.waiting], [3, 3]);
      assert.ok(append(mailboxes, 1, 10));
      assert.deepEqual(
        read(mailboxes, 1).map(([, n]) => n),
        [...left, 9, 10],
      );
      acknowledge(mailboxes, 1, 4);
      assert.deepEqual([mailboxes.usedBytes(1), slab.usedBytes], [0, 0]);
    }
  });
});

describe('mailbox', () => {
  it('is empty at first: no event waits, none is written', () => {
    const mailboxes = open();
    assert.deepEqual(read(mailboxes, 0), []);
    assert.deepEqual(
      [mailboxes.count(0), mailboxes.newest(0), mailboxes.acknowledged(0), mailboxes.waiting],
      [0, 0, 0, 0],
    );
  });

  it('writes its events oldest first, with sequences from 1 without a gap', () => {
    const mailboxes = open();
    appendMany(mailboxes, 3, 10, 12);
    assert.deepEqual(read(mailboxes, 3), [
      [1, 10],
      [2, 11],
      [3, 12],
    ]);
    assert.deepEqual(read(mailboxes, 2), []);
    assert.equal(mailboxes.waiting, 3);
  });

  it('writes an event as its seq, head and tail', () => {
    const mailboxes = open();
    const head = Buffer.from('"from":{"desktop":"0-1","name":"Zoë"},????');
    assert.ok(mailboxes.append(0, passageOf(1, Buffer.from('"edge":"right"}'), head, head.length - 4)));
    const end = mailboxes.write(0, out, 0, 1, POLL_BYTES_MAX);
    const text = '{"type":"sprite","seq":1,"from":{"desktop":"0-1","name":"Zoë"},"edge":"right"}';
    assert.equal(out.toString('utf8', 0, end), text);
  });

  it('keeps events until they are acknowledged, however often they are read', () => {
    const mailboxes = open();
    appendMany(mailboxes, 0, 1, 5);
    assert.deepEqual(read(mailboxes, 0), read(mailboxes, 0));
    assert.equal(acknowledge(mailboxes, 0, 2), 2);
    assert.deepEqual(read(mailboxes, 0), [
      [3, 3],
      [4, 4],
      [5, 5],
    ]);
    assert.deepEqual([mailboxes.acknowledged(0), mailboxes.newest(0), mailboxes.waiting], [2, 5, 3]);
  });

  it('acknowledges once: none, one, all, and an older sequence again', () => {
    const mailboxes = open();
    appendMany(mailboxes, 0, 1, 5);
    assert.equal(acknowledge(mailboxes, 0, 0), 0);
    assert.equal(acknowledge(mailboxes, 0, 1), 1);
    assert.equal(acknowledge(mailboxes, 0, 1), 0);
    assert.equal(acknowledge(mailboxes, 0, 5), 4);
    assert.equal(acknowledge(mailboxes, 0, 3), 0);
    assert.equal(mailboxes.waiting, 0);
    appendMany(mailboxes, 0, 6, 6);
    assert.deepEqual(read(mailboxes, 0), [[6, 6]]);
  });

  it('copies the bytes: the caller may overwrite its buffer', () => {
    const mailboxes = open();
    const tail = event(1);
    mailboxes.append(0, passageOf(0, tail));
    tail.fill(0);
    assert.deepEqual(read(mailboxes, 0), [[1, 1]]);
  });
});

describe('mailbox, its limits', () => {
  it('accepts eventsMax events, refuses the next, and accepts one again when one is acknowledged', () => {
    for (const eventsMax of [1, 2, MAILBOX_EVENTS_MAX]) {
      const mailboxes = open({ eventsMax });
      appendMany(mailboxes, 0, 1, eventsMax);
      assert.equal(append(mailboxes, 0, 999), false);
      assert.deepEqual([mailboxes.count(0), mailboxes.waiting], [eventsMax, eventsMax]);
      assert.ok(append(mailboxes, 1, 1), 'another mailbox is not full');
      acknowledge(mailboxes, 0, 1);
      assert.ok(append(mailboxes, 0, eventsMax + 1));
      assert.equal(append(mailboxes, 0, 999), false);
      assert.equal(read(mailboxes, 0).at(-1)?.[1], eventsMax + 1);
    }
  });

  it('accepts bytesMax bytes, counted in blocks of the slab', () => {
    const bytes = 500 - BLOCK_HEAD_BYTES;
    const block = blockBytes(500);
    for (const [spare, taken] of [
      [-1, 3],
      [0, 4],
      [1, 4],
      [block - 1, 4],
      [block, 5],
    ]) {
      const mailboxes = open({ bytesMax: 4 * block + spare });
      for (let n = 0; n < taken; n++) assert.ok(append(mailboxes, 0, n, 0, bytes));
      assert.equal(append(mailboxes, 0, 99, 0, bytes), false);
      assert.equal(mailboxes.count(0), taken);
    }
  });

  it('has room again for the bytes of events that were acknowledged or have moved away', () => {
    const mailboxes = open({ bytesMax: 1024 });
    const bytes = 1024 - BLOCK_HEAD_BYTES;
    for (let n = 1; n <= 3; n++) {
      assert.ok(append(mailboxes, 0, n, 0, bytes));
      assert.equal(append(mailboxes, 0, 9, 0, 12), false);
      acknowledge(mailboxes, 0, n);
    }
    assert.ok(append(mailboxes, 0, 4, 0, bytes));
    mailboxes.moveAll(0, () => 1);
    assert.ok(append(mailboxes, 0, 5, 0, bytes));
    assert.equal(append(mailboxes, 1, 9), false);
  });

  it('reach MAILBOX_BYTES_MAX before MAILBOX_EVENTS_MAX with the longest events only', () => {
    const full = (bytes: number) => {
      const mailboxes = open();
      let n = 0;
      while (append(mailboxes, 0, n, 0, bytes)) n++;
      return n;
    };
    assert.equal(full(320), MAILBOX_EVENTS_MAX);
    assert.equal(full(512 - BLOCK_HEAD_BYTES), MAILBOX_EVENTS_MAX);
    assert.equal(full(512 - BLOCK_HEAD_BYTES + 1), Math.floor(MAILBOX_BYTES_MAX / 768));
    assert.equal(full(EVENT_BYTES_MAX), MAILBOX_BYTES_MAX / 1024);
  });

  it('accepts an event of EVENT_BYTES_MAX', () => {
    const mailboxes = open();
    assert.ok(PASSAGE_BYTES_MAX < EVENT_BYTES_MAX);
    assert.ok(PEER_EVENT_BYTES_MAX <= EVENT_BYTES_MAX);
    assert.ok(append(mailboxes, 0, 1, 3, EVENT_BYTES_MAX));
    assert.ok(append(mailboxes, 0, 2, 3, EVENT_BYTES_MAX - 1));
    const end = mailboxes.write(0, out, 0, 1, POLL_BYTES_MAX);
    assert.equal(end, '{"type":"sprite","seq":1,'.length + EVENT_BYTES_MAX);
    assert.deepEqual(
      read(mailboxes, 0).map(([seq]) => seq),
      [1, 2],
    );
  });

  it('changes nothing when the slab is full, and accepts events again when it has room', () => {
    const slab = new Slab(0);
    const mailboxes = new Mailboxes(2, slab, { eventsMax: 1e6, bytesMax: 2 ** 31 });
    let n = 0;
    while (append(mailboxes, 0, n + 1, 0, EVENT_BYTES_MAX)) n++;
    const before = [mailboxes.count(0), mailboxes.newest(0), mailboxes.waiting, slab.usedBytes];
    assert.deepEqual(before, [n, 0, n, n * 1024]);
    assert.equal(append(mailboxes, 1, 1, 0, EVENT_BYTES_MAX), false);
    assert.deepEqual([mailboxes.count(0), mailboxes.newest(0), mailboxes.waiting, slab.usedBytes], before);
    acknowledge(mailboxes, 0, 1);
    assert.ok(append(mailboxes, 1, 1, 0, EVENT_BYTES_MAX));
    assert.equal(append(mailboxes, 1, 2, 0, EVENT_BYTES_MAX), false);
  });

  it('frees all its blocks of the slab', () => {
    const slab = new Slab(0);
    const mailboxes = open({}, slab);
    for (let n = 1; n <= 100; n++) append(mailboxes, n % 3, n, 0, 12 + n * 9);
    mailboxes.moveAll(1, () => 2);
    mailboxes.clear(0);
    acknowledge(mailboxes, 2, mailboxes.count(2));
    assert.deepEqual([slab.usedBytes, mailboxes.waiting], [0, 0]);
  });

  it('is full after the last sequence, until its owner changes', () => {
    const mailboxes = open({ seqMax: 5 });
    appendMany(mailboxes, 0, 1, 4);
    acknowledge(mailboxes, 0, 4);
    assert.ok(append(mailboxes, 0, 5));
    assert.equal(append(mailboxes, 0, 6), false);
    acknowledge(mailboxes, 0, 5);
    assert.equal(append(mailboxes, 0, 6), false);
    mailboxes.clear(0);
    assert.ok(append(mailboxes, 0, 1));
    assert.deepEqual(read(mailboxes, 0), [[1, 1]]);
  });
});

describe('mailbox, a batch', () => {
  it('has at most eventsMax events: none, one fewer than wait, as many, one more', () => {
    const mailboxes = open();
    appendMany(mailboxes, 0, 1, 64);
    for (const [eventsMax, written] of [
      [0, 0],
      [1, 1],
      [63, 63],
      [64, 64],
      [65, 64],
    ]) {
      assert.equal(read(mailboxes, 0, eventsMax).length, written);
    }
  });

  it('has at most bytesMax bytes, but at least one event', () => {
    const mailboxes = open();
    for (let n = 1; n <= 60; n++) append(mailboxes, 0, n, 0, EVENT_BYTES_MAX - n);
    for (let bytesMax = 0; bytesMax < 5000; bytesMax++) {
      const end = mailboxes.write(0, out, 3, 1e6, bytesMax);
      assert.ok(end - 3 <= bytesMax || mailboxes.batchSeq === 1, `${end - 3} of ${bytesMax}`);
      if (bytesMax > 4200) assert.ok(mailboxes.batchSeq >= 3);
    }
    assert.equal(read(mailboxes, 0, 64, POLL_BYTES_MAX).length, 60);
  });

  it('leaves the other events for the next batch', () => {
    const mailboxes = open();
    appendMany(mailboxes, 0, 1, 100);
    const seen: number[] = [];
    while (mailboxes.count(0) > 0) {
      seen.push(...read(mailboxes, 0, 64).map(([, n]) => n));
      acknowledge(mailboxes, 0, mailboxes.batchSeq);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  });
});

describe('mailbox, moving', () => {
  it('moves each event by its edge, keeps the order, and gives new sequences', () => {
    const mailboxes = open();
    appendMany(mailboxes, 1, 100, 101);
    acknowledge(mailboxes, 1, 1);
    for (let n = 0; n < 8; n++) append(mailboxes, 0, n, (n & 3) as EdgeNumber);
    const moved = mailboxes.moveAll(0, (edge) => 1 + (edge >> 1));
    assert.deepEqual([moved, mailboxes.count(0), mailboxes.waiting], [8, 0, 9]);
    assert.deepEqual(read(mailboxes, 1), [
      [2, 101],
      [3, 0],
      [4, 1],
      [5, 4],
      [6, 5],
    ]);
    assert.deepEqual(read(mailboxes, 2), [
      [1, 2],
      [2, 3],
      [3, 6],
      [4, 7],
    ]);
  });

  it('keeps the edge for the next move', () => {
    const mailboxes = open();
    for (const edge of [0, 1, 2, 3] as EdgeNumber[]) append(mailboxes, 0, edge, edge);
    const seen: number[][] = [[], []];
    mailboxes.moveAll(0, (edge) => {
      seen[0].push(edge);
      return 1;
    });
    mailboxes.moveAll(1, (edge) => {
      seen[1].push(edge);
      return 2;
    });
    assert.deepEqual(seen, [
      [0, 1, 2, 3],
      [0, 1, 2, 3],
    ]);
  });

  it('never fails: the receiver exceeds its limit, and refuses throws until it is below it again', () => {
    const mailboxes = open({ eventsMax: 4 });
    appendMany(mailboxes, 0, 1, 4);
    appendMany(mailboxes, 1, 5, 8);
    assert.equal(
      mailboxes.moveAll(0, () => 1),
      4,
    );
    assert.equal(mailboxes.count(1), 8);
    for (let seq = 1; seq <= 4; seq++) {
      assert.equal(append(mailboxes, 1, 9), false);
      acknowledge(mailboxes, 1, seq);
    }
    assert.equal(append(mailboxes, 1, 9), false);
    acknowledge(mailboxes, 1, 5);
    assert.ok(append(mailboxes, 1, 9));
  });

  it('leaves events for which there is no target, in their order, those that were sent before the others of their edge', () => {
    const mailboxes = open();
    for (let n = 0; n < 8; n++) append(mailboxes, 0, n, (n & 1) as EdgeNumber);
    assert.deepEqual(read(mailboxes, 0, 3), [
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    assert.equal(
      mailboxes.moveAll(0, (edge) => (edge === 1 ? 1 : -1)),
      4,
    );
    assert.deepEqual([mailboxes.count(0), mailboxes.count(1), mailboxes.waiting], [4, 4, 8]);
    assert.deepEqual(
      read(mailboxes, 1).map(([, n]) => n),
      [1, 3, 5, 7],
    );
    mailboxes.moveAll(0, () => 2);
    assert.deepEqual(
      read(mailboxes, 2).map(([, n]) => n),
      [0, 2, 4, 6],
    );
  });

  it('tells the target how many events and bytes of its edge there are', () => {
    const mailboxes = open();
    for (let n = 0; n < 5; n++) append(mailboxes, 0, n, n < 2 ? 0 : 3, 300);
    const told: number[][] = [];
    mailboxes.moveAll(0, (...edge) => told.push(edge) - 1000);
    const block = blockBytes(300 + BLOCK_HEAD_BYTES);
    assert.deepEqual(told, [
      [0, 2, 2 * block],
      [3, 3, 3 * block],
    ]);
    assert.equal(mailboxes.usedBytes(0), 5 * block);
  });

  it('carries CARRIED_FACTOR times its limits, in events, bytes and sequences', () => {
    const block = blockBytes(12 + BLOCK_HEAD_BYTES);
    const cases: Partial<MailboxLimits>[] = [{ eventsMax: 3 }, { bytesMax: 3 * block }, { seqMax: 3 * CARRIED_FACTOR }];
    for (const limits of cases) {
      const mailboxes = open(limits);
      const limit = 3 * CARRIED_FACTOR;
      for (const [events, can] of [
        [limit - 1, true],
        [limit, true],
        [limit + 1, false],
      ] as const) {
        assert.equal(mailboxes.canCarry(1, events, events * block), can);
      }
      append(mailboxes, 1, 0);
      assert.ok(mailboxes.canCarry(1, limit - 1, (limit - 1) * block));
      assert.equal(mailboxes.canCarry(1, limit, limit * block), false);
    }
  });

  it('moves some: the oldest of an edge, at most as many as asked, and as the other can carry', () => {
    for (const [asked, room, moved] of [
      [0, 9, 0],
      [2, 9, 2],
      [3, 9, 3],
      [4, 9, 3],
      [4, 1, 1],
      [4, 0, 0],
    ]) {
      const mailboxes = open({ eventsMax: 20 });
      for (let n = 0; n < 6; n++) append(mailboxes, 0, n, n & 1 ? 2 : 0);
      for (let full = CARRIED_FACTOR * 20 - room; full > 0; full -= 20) {
        for (let n = 0; n < Math.min(full, 20); n++) append(mailboxes, 3, 100);
        mailboxes.moveAll(3, () => 1);
      }
      const before = mailboxes.count(1);
      assert.equal(mailboxes.moveSome(0, 2, 1, asked), moved);
      assert.deepEqual([mailboxes.count(0), mailboxes.count(1)], [6 - moved, before + moved]);
      assert.deepEqual(
        read(mailboxes, 1)
          .map(([, n]) => n)
          .filter((n) => n < 100),
        [1, 3, 5].slice(0, moved),
      );
    }
  });

  it('costs the same, however many unsent events wait', () => {
    class CountingSlab extends Slab {
      written = 0;
      override setWord(ref: number, value: number, index?: number): void {
        this.written++;
        super.setWord(ref, value, index);
      }
    }
    const costs = [1, 2, 60].map((each) => {
      const slab = new CountingSlab(0);
      const mailboxes = open({}, slab);
      for (let n = 0; n < 4 * each; n++) {
        append(mailboxes, 0, n, (n & 3) as EdgeNumber);
        append(mailboxes, 1, n, (n & 3) as EdgeNumber);
      }
      slab.written = 0;
      assert.equal(
        mailboxes.moveAll(0, () => 1),
        4 * each,
      );
      assert.equal(mailboxes.count(1), 8 * each);
      return slab.written;
    });
    assert.deepEqual(costs, Array(3).fill(costs[0]));
  });

  it('writes events of all four edges in the order in which they were thrown, also after a move, and when stamps wrap', () => {
    for (const firstArrival of [0, 2 ** 31 - 3, 2 ** 32 - 3, 2 ** 32]) {
      const mailboxes = open({ firstArrival });
      for (let n = 0; n < 9; n++) append(mailboxes, n % 2, n, ((n * 3) % 4) as EdgeNumber);
      mailboxes.moveAll(0, () => 1);
      assert.deepEqual(
        read(mailboxes, 1).map(([, n]) => n),
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        `${firstArrival}`,
      );
    }
  });

  it('moves nothing out of an empty mailbox', () => {
    const mailboxes = open();
    assert.equal(
      mailboxes.moveAll(0, () => assert.fail('asked where to')),
      0,
    );
  });

  it('begins at sequence 1 for the next owner after clear()', () => {
    const mailboxes = open();
    appendMany(mailboxes, 0, 1, 5);
    acknowledge(mailboxes, 0, 2);
    assert.equal(mailboxes.clear(0), 3);
    assert.deepEqual([mailboxes.count(0), mailboxes.newest(0), mailboxes.waiting], [0, 0, 0]);
    appendMany(mailboxes, 0, 7, 7);
    assert.deepEqual(read(mailboxes, 0), [[1, 7]]);
  });
});

describe('mailbox, waits', () => {
  it('last until an event is first sent, and an answer that was lost is not counted again', () => {
    let nowMs = 1000;
    const mailboxes = new Mailboxes(8, new Slab(0), LIMITS, () => nowMs);
    const waited = () => [mailboxes.waits.counts.reduce((sum, count) => sum + count), mailboxes.waits.sumMs];
    appendMany(mailboxes, 1, 1, 2);
    nowMs = 1003;
    assert.ok(append(mailboxes, 1, 3));
    assert.deepEqual(waited(), [0, 0]);
    nowMs = 1010;
    read(mailboxes, 1, 1);
    assert.deepEqual(waited(), [1, 10]);
    nowMs = 1020;
    read(mailboxes, 1);
    assert.deepEqual(waited(), [3, 10 + 20 + 17]);
    nowMs = 9000;
    read(mailboxes, 1);
    assert.deepEqual(waited(), [3, 47]);
  });
});

describe('mailboxes, a long random run', () => {
  it('hold what plain lists would hold, through appends, acknowledgements and moves (seeded)', (t) => {
    const random = randomOf(t);
    const pick = (end: number) => Math.floor(random() * end);
    const slots = 40;
    const slab = new Slab(0);
    const mailboxes = new Mailboxes(slots, slab, { eventsMax: 20, bytesMax: 8192 });
    // The first `sent` of the events have their sequences; the others keep their order within each edge.
    const model = Array.from({ length: slots }, () => ({
      acknowledged: 0,
      sent: 0,
      events: [] as [n: number, edge: number, bytes: number][],
    }));
    const send = (box: (typeof model)[number]) => {
      for (; box.sent < box.events.length; box.sent++) {
        const unsent = box.events.slice(box.sent);
        const next = [0, 1, 2, 3].flatMap((edge) => unsent.find((one) => one[1] === edge)?.[0] ?? []);
        const at = box.events.findIndex(([n]) => n === Math.min(...next));
        box.events.splice(box.sent, 0, ...box.events.splice(at, 1));
      }
    };
    const blocks = (events: [number, number, number][]) =>
      events.reduce((sum, [, , bytes]) => sum + blockBytes(bytes + BLOCK_HEAD_BYTES), 0);
    for (let n = 0; n < 30_000; n++) {
      const slot = pick(slots);
      const own = model[slot];
      const dice = random();
      if (dice < 0.7) {
        const bytes = 12 + pick(EVENT_BYTES_MAX - 11);
        const edge = pick(4) as EdgeNumber;
        const room = own.events.length < 20 && blocks(own.events) + blockBytes(bytes + BLOCK_HEAD_BYTES) <= 8192;
        assert.equal(append(mailboxes, slot, n, edge, bytes), room);
        if (room) own.events.push([n, edge, bytes]);
      } else if (dice < 0.95) {
        const acknowledged = pick(own.sent + 1);
        assert.equal(mailboxes.newest(slot), own.acknowledged + own.sent);
        assert.equal(mailboxes.acknowledge(slot, own.acknowledged + acknowledged), acknowledged);
        own.acknowledged += acknowledged;
        own.sent -= acknowledged;
        own.events.splice(0, acknowledged);
      } else {
        const targets = [0, 1, 2, 3].map((edge) => (slot + 1 + edge * 7) % slots);
        assert.equal(
          mailboxes.moveAll(slot, (edge) => targets[edge]),
          own.events.length,
        );
        for (const moved of own.events.splice(0)) model[targets[moved[1]]].events.push(moved);
        own.sent = 0;
      }
      const checked = model[pick(slots)];
      send(checked);
      assert.deepEqual(
        read(mailboxes, model.indexOf(checked)),
        checked.events.map(([id], index) => [checked.acknowledged + 1 + index, id]),
      );
      if (n % 1000) continue;
      const all = model.flatMap(({ events }) => events);
      assert.equal(mailboxes.waiting, all.length);
      assert.equal(slab.usedBytes, blocks(all));
    }
  });
});

describe('writeNumber', () => {
  it('writes any sequence as String() does', () => {
    const bytes = Buffer.alloc(16);
    const numbers = [0, 1, 9, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 4_294_967_291, Number.MAX_SAFE_INTEGER];
    for (let power = 10; power < 1e10; power *= 10) numbers.push(power - 1, power, power + 1);
    for (const number of numbers.filter((value) => value < 1e13)) {
      const end = writeNumber(bytes, 2, number);
      assert.equal(bytes.toString('latin1', 2, end), String(number));
    }
  });
});
