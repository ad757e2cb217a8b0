/** Peeks over relays: desktops of one relay watch desktops of another one; the test carries the messages. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beat, ClusterRelay } from '../../test/cluster_relays.ts';
import { FILE } from '../../test/relay_harness.ts';
import type { Identity } from '../../wire/identity.ts';
import { PeerPeeksWriter } from '../../wire/peers/peer_peeks.ts';
import { Standing } from '../../wire/pictures.ts';
import { ProblemError } from '../../wire/problem.ts';
import {
  EDGES,
  type Edge,
  type EdgeNumber,
  opposite,
  PEEK_LEASE_MS,
  STAGE_REFRESH_MS,
  STAGE_SPRITES_MAX,
} from '../../wire/rules.ts';
import { checkStage } from '../../wire/stage.ts';
import { TICK_MS } from '../slots/deadlines.ts';
import {
  HIDDEN_REMEMBERED_MS,
  PEEK_STEP_MS,
  PEER_PEEKS_STEP_MS,
  PEER_WATCH_LEASE_MS,
  STAGES_BURST_MAX,
} from '../state/limits.ts';
import { REMOTE } from '../state/torus.ts';
import type { PeeksOptions } from '../talk/peeks.ts';

interface Desktop extends Identity {
  at: ClusterRelay;
  ticket: number;
  seq: number;
  /** Its stages and `watched`, the newest last. */
  // biome-ignore lint/suspicious/noExplicitAny: what an event holds is what tests ask.
  events: any[];
}

/** Relays whose desktops always poll. */
class Cluster {
  readonly relays: ClusterRelay[];
  readonly #desktops: Desktop[] = [];
  /** Whether messages between the relays arrive. */
  isCut = false;

  /** Relays with so many desktops each, all of which show their stage. */
  constructor(counts: readonly number[], ...peeks: PeeksOptions[]) {
    this.relays = counts.map((_, n) => new ClusterRelay('abc'[n], n + 1, () => {}, { peeks: peeks[n] }));
    for (const [n, count] of counts.entries()) for (let place = 0; place < count; place++) this.join(n);
    beat(...this.relays);
    this.pass(PEER_PEEKS_STEP_MS);
  }

  join(n: number): Desktop {
    const at = this.relays[n];
    const identity = at.join(`${at.membership.name}${at.relay.directory.count().desktops}`);
    at.relay.setShows(identity.slot, true);
    const desktop = { ...identity, at, ticket: 0, seq: -1, events: [] };
    this.#desktops.push(desktop);
    return desktop;
  }

  leave(desktop: Desktop): void {
    this.#desktops.splice(this.#desktops.indexOf(desktop), 1);
    desktop.at.relay.leave(desktop.slot);
  }

  /** The desktop at a place of a relay. */
  at(n: number, place: number): Desktop {
    const { relay } = this.relays[n];
    const slot = relay.torus.find('commons')?.slots[place];
    return this.#desktops.find((one) => one.at === this.relays[n] && one.slot === slot) as Desktop;
  }

  /** Lets time pass. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= TICK_MS) {
      for (const desktop of this.#desktops) this.#poll(desktop);
      for (const relay of this.relays) relay.turn(TICK_MS);
      for (let round = 0; round < 3; round++) this.#carry();
    }
    for (const desktop of this.#desktops) this.#poll(desktop);
  }

  #carry(): void {
    for (const relay of this.relays) {
      for (const [peer, message] of relay.peeks.outbox.popMessages()) {
        const to = this.relays.find(({ membership }) => membership.name === peer) as ClusterRelay;
        if (!this.isCut) assert.ok(to.peeks.receive(message));
      }
    }
  }

  #poll(desktop: Desktop): void {
    const { at } = desktop;
    const answer = at.answers.get(desktop.ticket);
    if (desktop.ticket !== 0 && answer === undefined) return;
    if (answer !== undefined) {
      const { cursor, events } = JSON.parse(answer.body);
      desktop.seq = Number(cursor.split('-')[1]);
      desktop.events.push(...events.filter(({ type }: { type: string }) => type === 'stage' || type === 'watched'));
    }
    desktop.ticket = at.poll(desktop, desktop.seq);
  }
}

const peek = ({ at, slot }: Desktop, edge: Edge | null) =>
  at.relay.peek(slot, edge === null ? null : (EDGES.indexOf(edge) as EdgeNumber));

/** Shows a stage with a sprite at x; returns through which edges it is watched. */
function show(desktop: Desktop, x: number, vx = 0): Edge[] {
  return showSprites(desktop, [{ id: 1, x, y: 200, vx }]);
}

function showSprites({ at, slot }: Desktop, sprites: object[]): Edge[] {
  const { body } = checkStage({ width: 1920, height: 1080, files: [FILE], sprites });
  const edges = at.relay.show(slot, { body, start: 0, end: body.length, standing: Standing.unchecked });
  return EDGES.filter((_, edge) => edges & (1 << edge));
}

const stagesOf = ({ events }: Desktop) => events.filter(({ type, from }) => type === 'stage' && from !== undefined);
const xsOf = (desktop: Desktop) => stagesOf(desktop).map(({ sprites }) => sprites[0].x);
const watchedOf = ({ events }: Desktop) => events.filter(({ type }) => type === 'watched').map(({ edges }) => edges);
const END = (edge: Edge) => ({ type: 'stage', edge, files: [], sprites: [] });
const isCode = (code: string) => (error: unknown) => error instanceof ProblemError && error.document.code === code;

/** Of two relays with three desktops each, two in a row: an edge of each desktop of the first one that leads to the second one. */
const BORDER = ['left', 'bottom', 'right'] as const;

/** Ann of relay a and Bob of relay b, who are each other's only neighbour. Ann watches. */
function watching() {
  const cluster = new Cluster([1, 1]);
  const [ann, bob] = [cluster.at(0, 0), cluster.at(1, 0)];
  assert.equal(peek(ann, 'right'), PEEK_LEASE_MS);
  cluster.pass(2 * PEER_PEEKS_STEP_MS);
  return { cluster, ann, bob };
}

describe('a peek at a desktop of another relay', () => {
  it('tells that desktop, and brings its stage with its name and its age', () => {
    const { cluster, ann, bob } = watching();
    assert.deepEqual(watchedOf(bob), [['left']]);
    assert.deepEqual(show(bob, 100), ['left']);
    cluster.pass(4 * PEER_PEEKS_STEP_MS);
    assert.equal(stagesOf(ann).length, 1);
    const [{ ageMs, ...stage }] = stagesOf(ann);
    const from = { desktop: bob.at.relay.desktops.id(bob.slot), name: 'b0' };
    const sprites = [{ id: 1, x: 100, y: 200 }];
    assert.deepEqual(stage, { type: 'stage', edge: 'right', from, width: 1920, height: 1080, files: [FILE], sprites });
    assert.ok(ageMs <= 2 * PEER_PEEKS_STEP_MS, `${ageMs} ms`);
    assert.equal(ann.at.peers.files.relayOf(FILE), 'b', 'its picture can be fetched there');
  });

  it('goes on for as long as it is renewed, and ends with its lease', () => {
    const { cluster, ann, bob } = watching();
    for (let ms = 0; ms < 2 * PEEK_LEASE_MS; ms += PEEK_LEASE_MS / 2) {
      assert.equal(peek(ann, 'right'), PEEK_LEASE_MS);
      show(bob, ms);
      cluster.pass(PEEK_LEASE_MS / 2);
    }
    assert.equal(stagesOf(ann).length, 4);
    assert.ok(show(bob, 1).length > 0);
    cluster.pass(PEEK_LEASE_MS);
    assert.deepEqual([ann.events.at(-1), bob.events.at(-1)], [END('right'), { type: 'watched', edges: [] }]);
    assert.deepEqual(show(bob, 2), []);
    assert.deepEqual([ann.at.peeks.watches, bob.at.peeks.watchers], [0, 0]);
  });

  it('brings the newest stage, at most one in a step', () => {
    const { cluster, ann, bob } = watching();
    for (let x = 1; x <= STAGES_BURST_MAX; x++) show(bob, 1000 * x);
    cluster.pass(4 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(xsOf(ann), [1000 * STAGES_BURST_MAX]);
    const before = bob.at.peeks.counters.sent;
    for (let x = 1; x <= 4; x++) {
      show(bob, 2000 * x);
      cluster.pass(TICK_MS);
    }
    const sent = bob.at.peeks.counters.sent - before;
    assert.ok(sent <= 2, `${sent} in ${4 * TICK_MS} ms`);
    cluster.pass(4 * PEER_PEEKS_STEP_MS);
    assert.equal(xsOf(ann).at(-1), 8000);
  });

  it('brings no stage that could have been predicted, but a sign of life', () => {
    const { cluster, ann, bob } = watching();
    show(bob, 10, 100);
    cluster.pass(1_000);
    show(bob, 110, 100);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(xsOf(ann), [10], 'the second one is where the first one leads');
    assert.equal(bob.at.peeks.counters.sent, 1);
    cluster.pass(STAGE_REFRESH_MS);
    show(bob, 110 + 120 + STAGE_REFRESH_MS / 10, 100);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.equal(stagesOf(ann).length, 2);
  });

  it('ends with an event when the desktop hides its stage, and then is refused for a while', () => {
    const { cluster, ann, bob } = watching();
    show(bob, 100);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    bob.at.relay.setShows(bob.slot, false);
    assert.deepEqual(show(bob, 500), []);
    cluster.pass(PEEK_STEP_MS + 2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(ann.events.at(-1), END('right'));
    assert.deepEqual(xsOf(ann), [100]);
    assert.throws(() => peek(ann, 'right'), isCode('stage-hidden'));
    bob.at.relay.setShows(bob.slot, true);
    cluster.pass(HIDDEN_REMEMBERED_MS);
    peek(ann, 'right');
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(show(bob, 700), ['left']);
  });

  it('brings nothing of a desktop that never showed its stage', () => {
    const cluster = new Cluster([1, 1]);
    const [ann, bob] = [cluster.at(0, 0), cluster.at(1, 0)];
    bob.at.relay.setShows(bob.slot, false);
    peek(ann, 'top');
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual([ann.events, bob.events], [[END('top')], []]);
  });

  it('brings nothing when either mutes the other, and says nothing of it', () => {
    for (const isWatcherMuting of [true, false]) {
      const { cluster, ann, bob } = watching();
      const [one, other] = isWatcherMuting ? [ann, bob] : [bob, ann];
      show(bob, 100);
      cluster.pass(2 * PEER_PEEKS_STEP_MS);
      one.at.relay.mute(one.slot, { slot: other.slot, generation: other.generation });
      show(bob, 500);
      cluster.pass(PEER_WATCH_LEASE_MS);
      assert.deepEqual(xsOf(ann), [100]);
      const events = isWatcherMuting ? [END('right')] : [];
      assert.deepEqual(ann.events.slice(1), events);
      assert.equal(peek(ann, 'right'), PEEK_LEASE_MS);
      cluster.pass(PEER_WATCH_LEASE_MS);
      show(bob, 900);
      cluster.pass(PEER_WATCH_LEASE_MS);
      assert.deepEqual(ann.events.slice(1), events);
    }
  });

  it('ends at once at the other relay when the watcher ends it, turns round or leaves', () => {
    for (const end of ['null', 'turn', 'leave']) {
      const { cluster, ann, bob } = watching();
      if (end === 'null') peek(ann, null);
      else if (end === 'turn') peek(ann, 'left');
      else cluster.leave(ann);
      cluster.pass(3 * PEER_PEEKS_STEP_MS);
      assert.deepEqual(bob.events.at(-1).edges, end === 'turn' ? ['right'] : [], end);
    }
  });

  it('ends with the lease between the relays when the relay of the watcher is gone', () => {
    const { cluster, bob } = watching();
    cluster.isCut = true;
    cluster.pass(PEER_WATCH_LEASE_MS - PEEK_STEP_MS - 2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(show(bob, 100), ['left'], 'renewals may be lost');
    cluster.pass(2 * PEEK_STEP_MS);
    assert.deepEqual(show(bob, 200), []);
    cluster.pass(PEEK_STEP_MS);
    assert.deepEqual(bob.events.at(-1), { type: 'watched', edges: [] });
  });

  it('gets the stage again that was lost on the way', () => {
    const { cluster, ann, bob } = watching();
    cluster.isCut = true;
    show(bob, 100);
    cluster.pass(PEER_PEEKS_STEP_MS);
    cluster.isCut = false;
    cluster.pass(PEEK_STEP_MS + 2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(xsOf(ann), [100]);
  });

  it('goes on with the desktop that gets the place of one that leaves', () => {
    const cluster = new Cluster([1, 2]);
    const [ann, bob, ben] = [cluster.at(0, 0), cluster.at(1, 0), cluster.at(1, 1)];
    peek(ann, 'right');
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual([watchedOf(bob), watchedOf(ben)], [[['left']], []]);
    cluster.leave(bob);
    beat(...cluster.relays);
    cluster.pass(PEEK_STEP_MS + 3 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(show(ben, 300), ['left']);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(xsOf(ann), [300]);
    assert.equal(stagesOf(ann)[0].from.desktop, ben.at.relay.desktops.id(ben.slot));
  });

  it('follows the world when a desktop joins between the two', () => {
    const cluster = new Cluster([1, 1]);
    const [ann, bob] = [cluster.at(0, 0), cluster.at(1, 0)];
    peek(ann, 'right');
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    const amy = cluster.join(0);
    beat(...cluster.relays);
    cluster.pass(PEEK_STEP_MS + 3 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(show(amy, 100), ['left']);
    assert.deepEqual(show(bob, 500), []);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(xsOf(ann), [100]);
  });

  it('is refused while the other relay cannot be reached', () => {
    const cluster = new Cluster([1, 1]);
    const ann = cluster.at(0, 0);
    ann.at.peers.isConnected = false;
    assert.throws(() => peek(ann, 'right'), isCode('relay-busy'));
  });

  it('is refused beyond the limit of the relay of the watcher', () => {
    for (const [remoteWatchesMax, refused] of [
      [2, ['right']],
      [3, []],
      [4, []],
    ] as const) {
      const cluster = new Cluster([3, 3], { remoteWatchesMax });
      const tried = BORDER.filter((edge, place) => {
        try {
          peek(cluster.at(0, place), edge);
          return false;
        } catch (error) {
          assert.ok(isCode('relay-busy')(error));
          return true;
        }
      });
      assert.deepEqual(tried, refused);
      cluster.pass(2 * PEER_PEEKS_STEP_MS);
      assert.equal(cluster.relays[1].peeks.watchers, 3 - refused.length);
    }
  });

  it('ends with an event beyond the limit of the relay of the watched desktop', () => {
    for (const [remoteWatchesMax, events] of [
      [2, [END('right')]],
      [3, []],
      [4, []],
    ] as const) {
      const cluster = new Cluster([3, 3], {}, { remoteWatchesMax });
      for (const [place, edge] of BORDER.entries()) peek(cluster.at(0, place), edge);
      cluster.pass(3 * PEER_PEEKS_STEP_MS);
      assert.deepEqual(cluster.at(0, 2).events, events);
      cluster.pass(2 * PEER_WATCH_LEASE_MS); // those that have room are renewed, whatever their edge
      assert.equal(cluster.relays[1].peeks.watchers, Math.min(3, remoteWatchesMax));
    }
  });

  it('is refused at once where the desktop is known to hide its stage, up to the limit', () => {
    for (const [remoteWatchesMax, isRefused] of [
      [1, false],
      [2, true],
      [3, true],
    ] as const) {
      const cluster = new Cluster([1, 2], { remoteWatchesMax });
      const ann = cluster.at(0, 0);
      for (const place of [0, 1]) cluster.relays[1].relay.setShows(cluster.at(1, place).slot, false);
      for (const edge of ['right', 'left'] as const) {
        peek(ann, edge);
        cluster.pass(3 * PEER_PEEKS_STEP_MS);
        assert.throws(() => peek(ann, edge), isCode('stage-hidden'));
      }
      if (isRefused) assert.throws(() => peek(ann, 'right'), isCode('stage-hidden'));
      else peek(ann, 'right');
    }
  });

  it('sends so many stages in a step, and the others in the next ones', () => {
    for (const remoteStagesPerStepMax of [1, 2, 3, 4]) {
      const cluster = new Cluster([3, 3], {}, { remoteStagesPerStepMax });
      const watchers = [0, 1, 2].map((place) => cluster.at(0, place));
      for (const [place, edge] of BORDER.entries()) peek(watchers[place], edge);
      cluster.pass(2 * PEER_PEEKS_STEP_MS);
      const { counters } = cluster.relays[1].peeks;
      for (const place of [0, 2]) assert.ok(show(cluster.at(1, place), 100).length > 0);
      while (counters.sent === 0) cluster.pass(TICK_MS);
      assert.equal(counters.sent, Math.min(3, remoteStagesPerStepMax));
      cluster.pass(4 * PEER_PEEKS_STEP_MS);
      assert.deepEqual(watchers.map(xsOf), [[100], [100], [100]]);
    }
  });

  it('does not wait for stages to a third relay, whose message is full', () => {
    const watchersMax = 14;
    const cluster = new Cluster([60, 60, 1], {}, { remoteStagesPerStepMax: watchersMax });
    const { relay, peers, peeks } = cluster.relays[1];
    const watched = new Set<Desktop>();
    /** Lets up to `max` desktops of relay n watch a desktop of relay b each. Returns these and their watchers. */
    const watchFrom = (n: number, max: number): Map<Desktop, Desktop> => {
      const found = new Map<Desktop, Desktop>();
      for (let at = 0; at < 60 * EDGES.length && found.size < max; at++) {
        const [bob, edge] = [cluster.at(1, at >> 2), (at & 3) as EdgeNumber];
        if (watched.has(bob) || relay.torus.neighbour(bob.slot, edge) !== REMOTE) continue;
        if (peers.membership.view.names[peers.remotePlace.relay] !== 'abc'[n]) continue;
        const watcher = cluster.at(n, peers.remotePlace.place);
        if ([...found.values()].includes(watcher)) continue;
        peek(watcher, EDGES[opposite(edge)]);
        watched.add(bob);
        found.set(bob, watcher);
      }
      return found;
    };
    const [[zoe, cat]] = watchFrom(2, 1);
    const crowd = watchFrom(0, watchersMax);
    assert.equal(crowd.size, watchersMax);
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.equal(peeks.watchers, watchersMax + 1);
    const sprites = Array.from({ length: STAGE_SPRITES_MAX }, (_, id) => ({
      id,
      x: -10_000,
      y: -10_000,
      vx: -1000,
      vy: -1000,
    }));
    for (const bob of [...crowd.keys(), zoe]) showSprites(bob, sprites);
    while (peeks.counters.sent === 0) cluster.pass(TICK_MS);
    assert.ok(peeks.counters.sent < watchersMax, 'the message to the crowd is full');
    cluster.pass(TICK_MS);
    assert.equal(stagesOf(cat).length, 1);
    cluster.pass(4 * PEER_PEEKS_STEP_MS);
    for (const watcher of crowd.values()) assert.equal(stagesOf(watcher).length, 1);
  });

  it('is not granted to a desktop that is not the neighbour, or of a relay that is not known', () => {
    const cluster = new Cluster([2, 2]);
    const [a, b] = cluster.relays;
    const watcher = cluster.at(0, 1);
    const watch = { edge: 1 as EdgeNumber, slot: watcher.slot, generation: watcher.generation, place: 0 };
    const from = (sender: string, place: number, named = watch) => {
      const writer = new PeerPeeksWriter(sender);
      writer.watch(named, place, false);
      return writer.finish();
    };
    assert.ok(b.peeks.receive(from('a', 0)), 'another place');
    assert.ok(b.peeks.receive(from('a', 1, { ...watch, place: 9 })), 'a place without a desktop');
    assert.ok(b.peeks.receive(from('z', 1)), 'another relay');
    assert.deepEqual([b.peeks.watchers, b.peeks.outbox.hasMessages], [0, false]);
    assert.ok(b.peeks.receive(from('a', 1)));
    assert.equal(b.peeks.watchers, 1);
    assert.equal(a.peeks.watches, 0);
  });

  it('gets no stage that it has not asked for', () => {
    const { cluster, ann, bob } = watching();
    const watch = { edge: 1 as EdgeNumber, slot: ann.slot, generation: ann.generation, place: 0 };
    const reference = Buffer.from('{"desktop":"0-1","name":"Eve"}');
    const stage = Buffer.from('{"width":1,"height":1,"files":[],"sprites":[]}');
    const from = (sender: string, named = watch) => {
      const writer = new PeerPeeksWriter(sender);
      writer.stage(named, 0, reference, stage);
      writer.hidden(named);
      return writer.finish();
    };
    for (const named of [
      { ...watch, place: 1 },
      { ...watch, generation: 1 },
      { ...watch, edge: 0 as EdgeNumber },
      { ...watch, slot: 99 },
    ]) {
      assert.ok(ann.at.peeks.receive(from('b', named)));
    }
    assert.ok(ann.at.peeks.receive(from('z')));
    cluster.pass(2 * PEER_PEEKS_STEP_MS);
    assert.deepEqual(ann.events, []);
    assert.equal(ann.at.peeks.counters.received, 0);
    assert.deepEqual(show(bob, 1), ['left']);
  });
});
