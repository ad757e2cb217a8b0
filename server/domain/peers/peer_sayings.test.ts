import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acquaint, ClusterRelay, pair } from '../../test/cluster_relays.ts';
import { viewOf } from '../../test/cluster_views.ts';
import type { Identity } from '../../wire/identity.ts';
import { PEER_SAYINGS_BYTES_MAX, PeerSayingsWriter, readPeerSayings } from '../../wire/peers/peer_sayings.ts';
import { beyond } from '../state/cluster_torus.ts';
import { HEARERS_MAX, SAYINGS_BURST_MAX, SAYINGS_STEP_MS } from '../state/limits.ts';
import { REMOTE, type Routing, Torus, type World, widthOf } from '../state/torus.ts';
import { Hearers } from '../talk/hearers.ts';

/** Carries what was said, and returns how many messages that were. */
function carry(from: ClusterRelay, ...relays: ClusterRelay[]): number {
  const messages = from.sayings.outbox.popMessages();
  for (const [peer, message] of messages) {
    const to = relays.find(({ membership }) => membership.name === peer) as ClusterRelay;
    assert.ok(to.sayings.receive(message));
  }
  return messages.length;
}

/** What a desktop hears in the next round. */
function heard(relay: ClusterRelay, desktop: Identity): object[] {
  const ticket = relay.poll(desktop);
  relay.turn(SAYINGS_STEP_MS);
  relay.turn(SAYINGS_STEP_MS);
  relay.relay.down.closed(ticket, desktop.slot);
  return relay.eventsOf(ticket).filter(({ type }) => type === 'saying');
}

const reference = (name: string) => Buffer.from(`{"desktop":"1-2","name":"${name}"}`);

describe('sayings to other relays', () => {
  it('reach the neighbours there once, with the name of the speaker and the edge where it is', () => {
    const { a, b, ann, bob } = pair();
    assert.equal(
      a.relay.say(ann.slot, { saying: 1, text: 'Whose cat is that?' }),
      1,
      'all four edges lead to one desktop',
    );
    assert.equal(carry(a, b), 1);
    const from = { desktop: a.relay.desktops.id(ann.slot), name: 'Ann' };
    assert.deepEqual(heard(b, bob), [{ type: 'saying', from, text: 'Whose cat is that?', edge: 'right' }]);
    assert.deepEqual(heard(a, ann), [{ type: 'saying', from, text: 'Whose cat is that?' }]);
    assert.deepEqual([a.sayings.counters.sent, b.sayings.counters.received], [1, 1]);
  });

  it('leave in one message for each relay and turn', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name, n) => new ClusterRelay(name, n + 1));
    const speakers = ['Ann', 'Amy'].map((name) => a.join(name));
    for (const relay of [b, c]) for (const name of ['Bob', 'Bea', 'Ben']) relay.join(name);
    acquaint(a, b, c);
    for (const { slot } of speakers) a.relay.say(slot, { saying: 1, text: 'Hello' });
    assert.equal(carry(a, b, c), 2);
    assert.equal(carry(a, b, c), 0);
  });

  it('are not heard by a desktop that mutes the speaker', () => {
    const { a, b, ann, bob } = pair();
    b.relay.mute(bob.slot, { slot: ann.slot, generation: ann.generation });
    assert.equal(a.relay.say(ann.slot, { saying: 1, text: 'Hello' }), 1, 'the speaker does not notice');
    carry(a, b);
    assert.deepEqual(heard(b, bob), []);
  });

  it('are lost, counted and not promised while the other relay is not reachable', () => {
    const { a, b, ann } = pair();
    a.peers.isConnected = false;
    assert.equal(a.relay.say(ann.slot, { saying: 1, text: 'Hello' }), 0);
    assert.equal(carry(a, b), 0);
    assert.equal(a.sayings.counters.lost, 1);
  });

  it('are limited in each relay by what they cost it', () => {
    const { a, b, ann } = pair();
    const writer = new PeerSayingsWriter('a');
    const saying = { ...ann, reference: reference('Ann'), text: 'Hello', runs: [{ place: 0, count: 1, edge: 1 }] };
    while (writer.add(saying));
    const message = writer.finish();
    assert.ok(message.length <= PEER_SAYINGS_BYTES_MAX);
    while (b.sayings.counters.lost === 0) b.sayings.receive(message);
    const { received } = b.sayings.counters;
    b.turn(1000);
    a.relay.say(ann.slot, { saying: 1, text: 'Hello' });
    carry(a, b);
    assert.equal(b.sayings.counters.received, received + 1, 'a second later there is room again');
  });

  it('beyond the bytes of a message are lost, and counted', () => {
    const { a, b, ann } = pair();
    const amy = a.join('Amy');
    acquaint(a, b);
    const text = 'x'.repeat(280);
    for (let saying = 1; a.sayings.counters.lost === 0; saying++) {
      a.relay.say(saying % 2 ? ann.slot : amy.slot, { saying, text });
      if (saying % SAYINGS_BURST_MAX === 0) a.relay.advance(saying * 10_000);
    }
    assert.equal(carry(a, b), 1);
    assert.ok(b.sayings.counters.received > 100);
  });

  it('come from no message that is not understood, and are only what a client may say', () => {
    const { b, bob } = pair();
    for (const bytes of [Buffer.alloc(0), Buffer.from([1]), Buffer.from([2, 1, 0, 0, 97]), Buffer.alloc(80, 1)]) {
      assert.equal(b.sayings.receive(bytes), false);
    }
    const writer = new PeerSayingsWriter('a');
    const runs = [{ place: 0, count: 1, edge: 1 }];
    writer.add({ slot: 1, generation: 2, reference: reference('Ann'), text: 'a\nb', runs });
    writer.add({ slot: 1, generation: 2, reference: Buffer.from('{}'), text: 'ab', runs });
    writer.add({
      slot: 1,
      generation: 2,
      reference: reference('Ann'),
      text: 'good',
      runs: [{ place: 7, count: 9, edge: 4 }, ...runs],
    });
    const message = writer.finish();
    assert.ok(b.sayings.receive(message));
    assert.deepEqual(heard(b, bob).length, 1);
    for (let end = 0; end < message.length; end++) assert.equal(b.sayings.receive(message.subarray(0, end)), false);
  });

  it('reach one desktop beyond an edge, however many a message names', () => {
    const writer = new PeerSayingsWriter('a');
    const runs = [4, 1].map((edge) => ({ place: 3, count: 900, edge }));
    writer.add({ slot: 1, generation: 2, reference: reference('Ann'), text: 'good', runs });
    const read = readPeerSayings(writer.finish());
    assert.ok(typeof read === 'object');
    assert.deepEqual(
      read.sayings[0].runs.map(({ count }) => count),
      [900, 1],
    );
  });
});

describe('hearers near a speaker in a world of several relays', () => {
  /** Which places of the world hear the desktop at a place of a relay, each as often as it is named. */
  function near(counts: readonly number[], self: number, place: number): number[] {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const view = { ...viewOf(counts, widthOf(total, 1)), self };
    const to = { relay: 0, place: 0 };
    const routing: Routing = {
      ...{ remotePlace: to, shared: view },
      beyond: (world, at, edge) => {
        beyond(view, self, at, edge, to);
        return to.relay === self ? world.slots[to.place] : REMOTE;
      },
    };
    const torus = new Torus(counts[self], 1, { routing });
    const world = torus.findOrAdd('commons') as World;
    for (let slot = 0; slot < counts[self]; slot++) torus.seat(slot, world);
    const hearers = new Hearers();
    hearers.findNear(torus, world.slots[place]);
    const found = [...hearers.slots.subarray(0, hearers.count)].map((slot) => view.bases[self] + torus.placeOf(slot));
    for (const [relay, runs] of hearers.remote) {
      const one = new Torus(counts[relay], 1);
      const there = one.findOrAdd('commons') as World;
      for (let slot = 0; slot < counts[relay]; slot++) one.seat(slot, there);
      const others = new Hearers();
      others.findRuns(there, runs);
      found.push(...[...others.slots.subarray(0, others.count)].map((slot) => view.bases[relay] + one.placeOf(slot)));
    }
    return found.sort((a, b) => a - b);
  }

  it('are the same places as with one relay', () => {
    for (const [total, splits] of [
      [
        5,
        [
          [2, 3],
          [1, 0, 4],
        ],
      ],
      [
        64,
        [
          [63, 1],
          [20, 20, 24],
        ],
      ],
      [HEARERS_MAX, [[1000, 24]]],
      [
        HEARERS_MAX + 1,
        [
          [1, 1023, 1],
          [500, 525],
        ],
      ],
      [
        5000,
        [
          [2500, 2500],
          [1700, 10, 3290],
        ],
      ],
    ] as [number, number[][]][]) {
      for (const split of splits) {
        let base = 0;
        for (const [self, count] of split.entries()) {
          for (const place of new Set([0, count >> 1, count - 1])) {
            if (place >= count || place < 0) continue;
            assert.deepEqual(near(split, self, place), near([total], 0, base + place), `${split}: ${self}, ${place}`);
          }
          base += count;
        }
      }
    }
  });
});
