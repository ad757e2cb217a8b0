import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import {
  EDGES,
  type Edge,
  NAME_BYTES_MAX,
  SAYING_TEXT_BYTES_MAX,
  SAYINGS_BYTES_PER_POLL_MAX,
  SAYINGS_PER_POLL_MAX,
} from '../../wire/rules.ts';
import { NO_EDGE } from '../../wire/saying.ts';
import { SAYINGS_WAITING_MAX } from '../state/limits.ts';
import { MISSED_BYTES_MAX, SAYINGS_NODES, SAYINGS_RING_BYTES, Sayings } from './sayings.ts';

const FROM = { desktop: '1a-3f', name: 'Ann' };
const SPEAKER = 7;
const GENERATION = 0x3f;

function say(sayings: Sayings, text: string, from: object = FROM, speaker = SPEAKER, generation = GENERATION): void {
  const reference = Buffer.from(JSON.stringify(from));
  sayings.add(speaker, generation, reference, reference.length, text);
}

interface SayingEvent {
  type: 'saying';
  text: string;
  edge?: string;
}

/** What waits for a slot: the events, and how many it has missed. */
function pop(sayings: Sayings, slot: number): { events: SayingEvent[]; missed: number; bytes: Buffer } {
  const { bytes, count, missed } = sayings.pop(slot);
  const { events } = JSON.parse(`{"events":[${bytes}`);
  assert.equal(events.length, count);
  return { events, missed, bytes };
}

/** Sayings of which a desktop has heard nothing yet: their texts are their numbers. */
function sayMany(count: number): Sayings {
  const sayings = new Sayings(1);
  for (let n = 0; n < count; n++) {
    say(sayings, `${n}`);
    sayings.hear(0, NO_EDGE);
  }
  return sayings;
}

const texts = (sayings: Sayings, slot: number) => pop(sayings, slot).events.map(({ text }) => text);

describe('sayings', () => {
  it('wait for each hearer in their order, with the edge of their speaker', () => {
    const sayings = new Sayings(4);
    say(sayings, 'One "quoted" \\ 😀');
    sayings.hear(1, NO_EDGE);
    sayings.hear(2, 3);
    say(sayings, 'Two');
    sayings.hear(1, 0);
    assert.deepEqual([sayings.waiting(0), sayings.waiting(1), sayings.waiting(2)], [0, 2, 1]);
    assert.deepEqual(pop(sayings, 1).events, [
      { type: 'saying', from: FROM, text: 'One "quoted" \\ 😀' },
      { type: 'saying', from: FROM, text: 'Two', edge: 'left' },
    ]);
    assert.deepEqual(pop(sayings, 2).events, [
      { type: 'saying', from: FROM, text: 'One "quoted" \\ 😀', edge: 'bottom' },
    ]);
    assert.deepEqual([sayings.waiting(1), sayings.waitingCount], [0, 0]);
    assert.deepEqual(sayings.counters, { heard: 3, sent: 3, missed: 0, givenUp: 0 });
  });

  it('are rendered once for all who wait for the same', () => {
    const sayings = new Sayings(100);
    for (const text of ['a', 'b', 'c']) {
      say(sayings, text);
      for (let slot = 0; slot < 100; slot++) if (slot !== 50 || text !== 'b') sayings.hear(slot, NO_EDGE);
    }
    const { bytes } = pop(sayings, 0);
    for (let slot = 1; slot < 100; slot++) {
      assert.equal(pop(sayings, slot).bytes === bytes, slot !== 50, `slot ${slot}`);
    }
  });

  it('are shared again by hearers that have received different ones before', () => {
    const sayings = new Sayings(3);
    say(sayings, 'a');
    sayings.hear(0, NO_EDGE);
    sayings.hear(1, NO_EDGE);
    pop(sayings, 0);
    sayings.endRound();
    say(sayings, 'b');
    for (const slot of [1, 0, 2]) sayings.hear(slot, NO_EDGE);
    const first = pop(sayings, 0);
    assert.deepEqual(
      first.events.map(({ text }) => text),
      ['b'],
    );
    assert.equal(pop(sayings, 2).bytes, first.bytes);
    assert.deepEqual(texts(sayings, 1), ['a', 'b']);
  });

  it('are sent SAYINGS_PER_POLL_MAX at a time, the oldest first: one below, at the limit, one above', () => {
    for (const said of [SAYINGS_PER_POLL_MAX - 1, SAYINGS_PER_POLL_MAX, SAYINGS_PER_POLL_MAX + 1]) {
      const sayings = sayMany(said);
      const sent = Math.min(said, SAYINGS_PER_POLL_MAX);
      assert.deepEqual(
        texts(sayings, 0),
        Array.from({ length: sent }, (_, n) => `${n}`),
      );
      assert.equal(sayings.waiting(0), said - sent);
      // What is left is followed by what is said later.
      say(sayings, 'later');
      sayings.hear(0, NO_EDGE);
      assert.deepEqual(texts(sayings, 0), [...(said > sent ? [`${said - 1}`] : []), 'later']);
      assert.deepEqual(sayings.counters, { heard: said + 1, sent: said + 1, missed: 0, givenUp: 0 });
    }
  });

  it('are missed, the oldest first, above SAYINGS_WAITING_MAX: one below, at the limit, one above', () => {
    for (const said of [SAYINGS_WAITING_MAX - 1, SAYINGS_WAITING_MAX, SAYINGS_WAITING_MAX + 1]) {
      const sayings = sayMany(said);
      const missed = Math.max(0, said - SAYINGS_WAITING_MAX);
      const popped = pop(sayings, 0);
      assert.deepEqual([popped.missed, popped.events[0].text], [missed, `${missed}`]);
      let count = popped.events.length;
      while (sayings.waiting(0) > 0) count += texts(sayings, 0).length;
      assert.equal(count, said - missed);
      assert.deepEqual(sayings.counters, { heard: said, sent: said - missed, missed, givenUp: 0 });
    }
  });

  it('are sent SAYINGS_BYTES_PER_POLL_MAX at a time', () => {
    const longest = { desktop: 'ffffff-ffffffff', name: '"'.repeat(NAME_BYTES_MAX) };
    const text = '"'.repeat(SAYING_TEXT_BYTES_MAX);
    const bytes = Buffer.byteLength(JSON.stringify({ type: 'saying', from: longest, text, edge: 'bottom' }));
    const fitting = Math.floor(SAYINGS_BYTES_PER_POLL_MAX / (bytes + 1));
    for (const said of [fitting - 1, fitting, fitting + 1]) {
      const sayings = new Sayings(1);
      for (let n = 0; n < said; n++) {
        say(sayings, text, longest);
        sayings.hear(0, 3);
      }
      const popped = pop(sayings, 0);
      const left = Math.max(0, said - fitting);
      assert.deepEqual([popped.events.length, popped.missed, sayings.waiting(0)], [said - left, 0, left]);
      assert.ok(popped.bytes.length <= SAYINGS_BYTES_PER_POLL_MAX + 2);
    }
  });

  it('that the ring of bytes no longer has are missed, and those behind it are whole', () => {
    const sayings = new Sayings(2, 1024);
    const said = 100;
    for (let n = 0; n < said; n++) {
      say(sayings, `saying ${n}`);
      sayings.hear(0, NO_EDGE);
    }
    const { events, missed } = pop(sayings, 0);
    assert.equal(events.length + missed, said);
    assert.ok(events.length >= 5 && missed > 0, `${events.length} left`);
    assert.deepEqual(
      events.map(({ text }) => text),
      events.map((_, n) => `saying ${n + missed}`),
    );
  });

  it('are missed above SAYINGS_RING_BYTES: one below, at the limit, one above', () => {
    // In the ring a saying has 12 bytes before it, and lacks its last brace.
    const bytes = 256;
    const bare = 12 + Buffer.byteLength(JSON.stringify({ type: 'saying', from: FROM, text: '' })) - 1;
    const text = 'x'.repeat(bytes - bare);
    const fitting = SAYINGS_RING_BYTES / bytes;
    for (const [said, missed] of [
      [fitting - 1, 0],
      [fitting, 0],
      [fitting + 1, 1],
    ]) {
      const sayings = new Sayings(1);
      for (let n = 0; n < said; n++) {
        say(sayings, text);
        if (n === 0) sayings.hear(0, NO_EDGE);
      }
      assert.deepEqual([pop(sayings, 0).missed, sayings.counters.sent], [missed, 1 - missed], `${said} sayings`);
    }
  });

  it('are missed above SAYINGS_NODES: one below, at the limit, one above', () => {
    for (const [nodes, missed] of [
      [SAYINGS_NODES - 1, 0],
      [SAYINGS_NODES, 0],
      [SAYINGS_NODES + 1, 1],
    ]) {
      const sayings = new Sayings(2);
      say(sayings, 'a');
      sayings.hear(0, NO_EDGE);
      // Edge 0: its first node is another one than that of slot 0.
      for (let n = 1; n < nodes; n++) sayings.hear(1, 0);
      assert.deepEqual([pop(sayings, 0).missed, sayings.counters.sent], [missed, 1 - missed], `${nodes} nodes`);
    }
  });

  it('whose node was used again are missed, and counted', () => {
    const sayings = new Sayings(20, 1 << 16, 16);
    say(sayings, 'old');
    sayings.hear(0, NO_EDGE);
    for (let n = 0; n < 17; n++) {
      // Each hearer waits for other sayings, so each needs a node.
      say(sayings, `${n}`);
      sayings.hear(1 + n, NO_EDGE);
    }
    assert.deepEqual(pop(sayings, 0), { events: [], missed: 1, bytes: Buffer.from(']}') });
    assert.deepEqual(texts(sayings, 17), ['16']);
    say(sayings, 'new');
    sayings.hear(1, NO_EDGE);
    const late = pop(sayings, 1);
    assert.deepEqual([late.events.map(({ text }) => text), late.missed], [['new'], 1]);
  });

  it('of a desktop that the operator has ended are missed; its successor in the slot is heard', () => {
    const sayings = new Sayings(8);
    say(sayings, 'rude');
    sayings.hear(0, NO_EDGE);
    say(sayings, 'kind', FROM, 3, 1);
    sayings.hear(0, NO_EDGE);
    sayings.silence(SPEAKER, GENERATION);
    say(sayings, 'new', FROM, SPEAKER, GENERATION + 1);
    sayings.hear(0, NO_EDGE);
    const { events, missed } = pop(sayings, 0);
    assert.deepEqual([events.map(({ text }) => text), missed], [['kind', 'new'], 1]);
    sayings.endSilence();
    say(sayings, 'later');
    sayings.hear(0, NO_EDGE);
    assert.deepEqual(texts(sayings, 0), ['later']);
  });

  it('for a desktop that has ended are given up', () => {
    const sayings = new Sayings(1);
    say(sayings, 'a');
    sayings.hear(0, NO_EDGE);
    sayings.clear(0);
    sayings.clear(0);
    assert.deepEqual(sayings.counters, { heard: 1, sent: 0, missed: 0, givenUp: 1 });
    assert.deepEqual([sayings.waiting(0), sayings.waitingCount], [0, 0]);
  });

  it('tell what was missed in an event of at most MISSED_BYTES_MAX', () => {
    const out = Buffer.alloc(100);
    const sayings = new Sayings(1);
    const end = sayings.writeMissed(2 ** 32 - 1, out, 3);
    assert.deepEqual(JSON.parse(out.toString('latin1', 3, end)), { type: 'missed', sayings: 2 ** 32 - 1 });
    assert.ok(end - 3 < MISSED_BYTES_MAX);
  });

  it('reach every hearer, or are counted as missed, whatever is said and heard in whatever order', (t) => {
    const random = randomOf(t);
    const slots = 12;
    for (const [ringBytes, nodes] of [
      [1 << 20, 1 << 12],
      [4096, 64],
      [1 << 20, 16],
      [1024, 1 << 12],
    ]) {
      const sayings = new Sayings(slots, ringBytes, nodes);
      const expected: [string, number][][] = Array.from({ length: slots }, () => []);
      for (let step = 0; step < 4000; step++) {
        const pick = (end: number) => Math.floor(random() * end);
        if (random() < 0.7) {
          const text = `${step}${'é'.repeat(pick(60))}`;
          say(sayings, text);
          const share = random();
          for (let slot = 0; slot < slots; slot++) {
            if (random() > share) continue;
            const edge = random() < 0.8 ? NO_EDGE : pick(4);
            sayings.hear(slot, edge);
            expected[slot].push([text, edge]);
          }
        } else {
          const slot = pick(slots);
          if (sayings.waiting(slot) === 0) continue;
          const { events, missed } = pop(sayings, slot);
          const given = expected[slot].splice(0, missed + events.length).slice(missed);
          assert.deepEqual(
            events.map(({ text, edge }) => [text, edge === undefined ? NO_EDGE : EDGES.indexOf(edge as Edge)]),
            given,
            `step ${step}`,
          );
          if (random() < 0.5) sayings.endRound();
        }
      }
      const waiting = expected.reduce((sum, list) => sum + list.length, 0);
      assert.equal(sayings.waitingCount, waiting);
      if (ringBytes === 1 << 20 && nodes === 1 << 12) assert.equal(sayings.counters.missed, 0);
      else assert.ok(sayings.counters.missed > 0);
    }
  });
});
