/** Peeks through the relay: which desktop sees the stage of which neighbour, and when. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedCrossing } from '../../test/passages.ts';
import { randomOf } from '../../test/random.ts';
import { FILE, type Guest, joined, makeRelay } from '../../test/relay_harness.ts';
import { checkCrossing } from '../../wire/crossing.ts';
import type { Identity } from '../../wire/identity.ts';
import { readInvitation, writeInvitation } from '../../wire/invitation.ts';
import type { Join } from '../../wire/join.ts';
import { Standing } from '../../wire/pictures.ts';
import { type ProblemCode, ProblemError } from '../../wire/problem.ts';
import {
  EDGES,
  type Edge,
  type EdgeNumber,
  opposite,
  PEEK_LEASE_MS,
  PEEKS_PER_SECOND_MAX,
  STAGE_BYTES_MAX,
  STAGE_REFRESH_MS,
  STAGE_TOLERANCE_PX,
  STAGES_PER_SECOND_MAX,
} from '../../wire/rules.ts';
import { checkStage } from '../../wire/stage.ts';
import type { Relay, RelayOptions } from '../relay.ts';
import { TICK_MS } from '../slots/deadlines.ts';
import {
  PEEK_STEP_MS,
  PEEKS_BURST_MAX,
  STAGES_BURST_MAX,
  WATCHED_MAX,
  WATCHED_PER_STEP_MAX,
  WATCHED_SILENT_MS,
  WATCHERS_PER_STEP_MAX,
  WATCHERS_PER_TICK_MAX,
} from '../state/limits.ts';
import { PEEK_EVENTS_BYTES_MAX } from './peeks.ts';

interface Sprite {
  id: number;
  x: number;
  y: number;
  vx?: number;
  animation?: string;
}

const SPRITE: Sprite = { id: 1, x: 100, y: 200 };

// biome-ignore lint/suspicious/noExplicitAny: what an event holds is what these tests ask.
type Event = any;

interface Desktop extends Guest {
  /** What it was sent, the neighbours and the company aside. */
  events: Event[];
  /** Whether it polls again after each answer. */
  isListening: boolean;
  isParked: boolean;
  seq: number;
}

class Harness {
  readonly relay: Relay;
  nowMs = 1_000_000;
  hasRoom = true;
  readonly #polls = new Map<number, Desktop>();
  readonly #desktops: Desktop[] = [];
  #tickets = 0;

  constructor(options: Partial<RelayOptions> = {}) {
    this.relay = makeRelay({
      ...{ slots: 3000, slabBytes: 16 << 20, nowMs: this.nowMs },
      answers: {
        room: (bytes) => Buffer.alloc(bytes),
        roomAt: () => 0,
        hasRoomForSayings: () => this.hasRoom,
        answer: (ticket, { status, body, start, end, shared = Buffer.alloc(0) }) => {
          const desktop = this.#polls.get(ticket) as Desktop;
          this.#polls.delete(ticket);
          desktop.isParked = false;
          if (status === 410) return;
          assert.equal(status, 200);
          const { cursor, events } = JSON.parse(Buffer.concat([body.subarray(start, end), shared]).toString());
          desktop.seq = Number(cursor.split('-')[1]);
          desktop.events.push(...events.filter(({ type }: Event) => type !== 'neighbours' && type !== 'company'));
        },
      },
      preciseMs: () => this.nowMs,
      ...options,
    });
  }

  join(join: Partial<Join> = {}): Desktop {
    const desktop = { ...joined(this.relay, join), events: [], isListening: true, isParked: false, seq: -1 };
    this.#desktops.push(desktop);
    this.advance(TICK_MS);
    return desktop;
  }

  /** Desktops of a private world, by place. */
  joinMany(count: number, world = 'w'): Desktop[] {
    return Array.from({ length: count }, () => this.join({ world }));
  }

  leave(desktop: Desktop): void {
    this.relay.leave(desktop.slot);
    this.#desktops.splice(this.#desktops.indexOf(desktop), 1);
  }

  /** Whether its lease has not ended. */
  isHere({ slot, generation }: Desktop): boolean {
    return this.relay.desktops.isLive(slot) && this.relay.desktops.generation(slot) === generation;
  }

  id({ slot }: Identity): string {
    return this.relay.desktops.id(slot);
  }

  poll(desktop: Desktop): void {
    this.#polls.set(++this.#tickets, desktop);
    desktop.isParked = true;
    this.relay.poll(desktop, this.#tickets, this.relay.epoch, desktop.seq);
  }

  /** Time passes, tick by tick; desktops that listen poll again. */
  advance(ms = TICK_MS): void {
    for (const end = this.nowMs + ms; this.nowMs < end; ) {
      this.pollAll();
      this.nowMs += TICK_MS;
      while (this.relay.advance(this.nowMs));
    }
    this.pollAll();
  }

  pollAll(): void {
    for (const desktop of this.#desktops)
      if (desktop.isListening && !desktop.isParked && this.isHere(desktop)) this.poll(desktop);
  }

  peek({ slot }: Desktop, edge: Edge | null): number {
    return this.relay.peek(slot, edge === null ? null : (EDGES.indexOf(edge) as EdgeNumber));
  }

  /** Shows a stage; returns the edges through which it is watched. */
  show({ slot }: Desktop, sprites: readonly object[] = [SPRITE], standing: Standing = Standing.unchecked): Edge[] {
    const { body } = checkStage({ width: 1000, height: 500, files: [FILE], sprites });
    const edges = this.relay.show(slot, { body, start: 0, end: body.length, standing });
    return EDGES.filter((_, edge) => edges & (1 << edge));
  }

  /** What a desktop was sent since this was called last. */
  take(desktop: Desktop): Event[] {
    return desktop.events.splice(0);
  }
}

function refusal(action: () => unknown): ProblemCode | undefined {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ProblemError, String(error));
    return error.document.code;
  }
  return undefined;
}

const END = (edge: Edge) => ({ type: 'stage', edge, files: [], sprites: [] });
const WATCHED = (...edges: Edge[]) => ({ type: 'watched', edges });

describe('a peek', () => {
  it('tells the neighbour through which edge it is watched, and shows its stage until the watch ends', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    assert.deepEqual(harness.show(bob), [], 'nobody watches');
    assert.equal(harness.peek(ann, 'left'), PEEK_LEASE_MS);
    harness.advance();
    assert.deepEqual(harness.take(bob), [WATCHED('right')]);
    assert.deepEqual(harness.take(ann), [], 'there is no stage yet');
    assert.deepEqual(harness.show(bob), ['right']);
    harness.advance();
    const from = { desktop: harness.id(bob), name: harness.relay.desktops.name(bob.slot) };
    assert.deepEqual(harness.take(ann), [
      ...[
        {
          type: 'stage',
          edge: 'left',
          ageMs: TICK_MS,
          from,
          width: 1000,
          height: 500,
          files: [FILE],
          sprites: [SPRITE],
        },
      ],
    ]);
    assert.deepEqual(harness.take(bob), []);
    assert.equal(harness.peek(ann, null), 0);
    harness.advance();
    assert.deepEqual(harness.take(ann), [], 'it knows');
    assert.deepEqual(harness.take(bob), [WATCHED()]);
    assert.deepEqual(harness.show(bob, [{ ...SPRITE, x: 500 }]), []);
    harness.advance();
    assert.deepEqual([harness.relay.peeks.count, harness.relay.peeks.stages.count], [0, 0]);
  });

  it('goes through one edge at a time: another edge replaces it', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    harness.show(bob);
    harness.peek(ann, 'right');
    harness.advance();
    assert.deepEqual(harness.take(bob), [WATCHED('left')]);
    assert.deepEqual(harness.take(ann), [], 'neither the stage of the old edge nor its end');
    harness.show(bob);
    harness.advance();
    assert.equal(harness.take(ann)[0].edge, 'right');
    assert.equal(harness.relay.peeks.count, 1);
  });

  it('is refused without a neighbour, or when the neighbour hides its stage, and then ends the older one', () => {
    const harness = new Harness();
    const alone = harness.join({ world: 'alone' });
    assert.equal(
      refusal(() => harness.peek(alone, 'left')),
      'no-neighbour',
    );
    const [ann, bob, carol] = harness.joinMany(3);
    harness.peek(ann, 'right');
    harness.advance();
    harness.relay.setShows(carol.slot, false);
    assert.equal(
      refusal(() => harness.peek(ann, 'left')),
      'stage-hidden',
    );
    harness.advance();
    assert.deepEqual(harness.take(bob), [WATCHED('left'), WATCHED()]);
    assert.deepEqual(harness.take(ann), []);
    harness.relay.drain();
    assert.equal(
      refusal(() => harness.peek(ann, 'right')),
      'draining',
    );
  });

  it('is refused in the default world unless the neighbour has chosen to show its stage', () => {
    const harness = new Harness();
    const [ann, bob] = [harness.join(), harness.join()];
    assert.equal(
      refusal(() => harness.peek(ann, 'left')),
      'stage-hidden',
    );
    harness.relay.setShows(bob.slot, true);
    harness.peek(ann, 'left');
    const carol = harness.join({ stage: true });
    harness.peek(ann, 'left');
    harness.show(carol);
    harness.advance();
    assert.equal(harness.take(ann).at(-1).from.desktop, harness.id(carol));
  });

  it('is allowed in private worlds unless their first desktop or the neighbour itself has chosen otherwise', () => {
    const harness = new Harness();
    const shown = (world: string, ...stages: (boolean | undefined)[]) =>
      stages.map((stage) => harness.relay.directory.describe(harness.join({ world, stage }).slot).stage);
    assert.deepEqual(shown('open', undefined, undefined, false, true), [true, true, false, true]);
    assert.deepEqual(shown('shy', false, undefined, true, undefined), [false, false, true, false]);
    assert.deepEqual(shown('also open', true, undefined, false, undefined), [true, true, false, true]);
    const again = harness.joinMany(1, 'once')[0];
    harness.relay.setShows(again.slot, false);
    harness.leave(again);
    const next = harness.join({ world: 'other', stage: undefined });
    assert.equal(next.slot, again.slot);
    assert.ok(harness.relay.directory.describe(next.slot).stage, 'the choice of an earlier owner of the slot');
  });

  it('has a lease: one tick below, at the limit, and with a renewal', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    harness.advance(PEEK_LEASE_MS - TICK_MS);
    assert.deepEqual(harness.take(ann), []);
    harness.advance();
    assert.deepEqual(harness.relay.peeks.count, 0);
    assert.deepEqual(harness.take(ann), [END('left')]);
    assert.deepEqual(harness.take(bob), [WATCHED('right'), WATCHED()]);
    harness.peek(ann, 'left');
    harness.show(bob);
    harness.advance(PEEK_LEASE_MS - TICK_MS);
    harness.peek(ann, 'left');
    harness.advance(PEEK_LEASE_MS - TICK_MS);
    assert.equal(harness.relay.peeks.count, 1);
    assert.deepEqual(
      harness.take(ann).map(({ sprites }) => sprites),
      [[SPRITE]],
      'a renewal sends nothing again',
    );
    harness.advance();
    assert.equal(harness.relay.peeks.count, 0);
  });

  it('tells a silent neighbour again that it is watched, with a renewal: below WATCHED_SILENT_MS, and at it', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    harness.advance(WATCHED_SILENT_MS - TICK_MS);
    harness.peek(ann, 'left');
    harness.advance();
    assert.deepEqual(harness.take(bob), [WATCHED('right')]);
    harness.peek(ann, 'left');
    harness.advance();
    assert.deepEqual(harness.take(bob), [WATCHED('right')]);
    harness.show(bob);
    harness.peek(ann, 'left');
    harness.advance();
    assert.deepEqual(harness.take(bob), [], 'it posts');
  });

  it('is limited: PEEKS_BURST_MAX at once, one more, and again at the sustained rate', () => {
    const harness = new Harness();
    const [ann] = harness.joinMany(2);
    const peek = () => refusal(() => harness.peek(ann, 'left'));
    for (let n = 0; n < PEEKS_BURST_MAX; n++) assert.equal(peek(), undefined, `${n}`);
    assert.equal(peek(), 'too-fast');
    assert.equal(harness.relay.peeks.count, 1, 'the watch goes on');
    harness.advance(1000 / PEEKS_PER_SECOND_MAX);
    assert.equal(peek(), undefined);
    assert.equal(peek(), 'too-fast');
    assert.equal(
      refusal(() => harness.peek(ann, null)),
      'too-fast',
    );
    const slot = ann.slot;
    harness.leave(ann);
    const next = harness.joinMany(1)[0];
    assert.equal(next.slot, slot);
    assert.equal(
      refusal(() => harness.peek(next, 'left')),
      undefined,
      'another owner of the slot',
    );
  });

  it('finds room for as many watched desktops as there are rows: below, at the limit, above, and after one ended', () => {
    assert.equal(new Harness().relay.peeks.stages.max, WATCHED_MAX);
    const harness = new Harness({ peeks: { watchedMax: 2 } });
    const desktops = harness.joinMany(4);
    const [a, b, c] = desktops;
    assert.equal(
      refusal(() => harness.peek(a, 'right')),
      undefined,
    );
    assert.equal(
      refusal(() => harness.peek(b, 'right')),
      undefined,
    );
    assert.equal(
      refusal(() => harness.peek(c, 'right')),
      'relay-busy',
    );
    assert.equal(
      refusal(() => harness.peek(c, 'left')),
      undefined,
      'it watches one that is watched',
    );
    harness.peek(a, null);
    assert.equal(harness.relay.peeks.stages.count, 2);
    harness.peek(c, null);
    assert.equal(harness.relay.peeks.stages.count, 1);
    assert.equal(
      refusal(() => harness.peek(c, 'right')),
      undefined,
    );
  });
});

describe('a stage', () => {
  it('is forwarded to every watcher, once, and only the newest to one that does not poll', () => {
    const harness = new Harness();
    const [ann, bob, carol] = harness.joinMany(3);
    harness.peek(ann, 'right');
    harness.peek(carol, 'left');
    carol.isListening = false;
    harness.advance();
    // Its poll is answered by something else, and then it is away.
    harness.relay.say(carol.slot, { saying: 1, text: 'Back in a minute' });
    harness.advance(200);
    for (const desktop of [ann, bob, carol]) harness.take(desktop);
    for (let x = 0; x < 500; x += 100) {
      harness.show(bob, [{ ...SPRITE, x }]);
      harness.advance(100);
    }
    const seen = (desktop: Desktop) => harness.take(desktop).map(({ sprites }) => sprites[0].x);
    assert.deepEqual(seen(ann), [0, 100, 200, 300, 400]);
    assert.deepEqual(seen(carol), []);
    harness.poll(carol);
    harness.advance();
    assert.deepEqual(seen(carol), [400]);
    carol.isListening = true;
    harness.advance(200);
    assert.deepEqual([seen(ann), seen(carol)], [[], []]);
    assert.deepEqual(harness.relay.peeks.counters, {
      ...{ posted: 5, forwarded: 5, filtered: 0, unwatched: 0, sent: 6, refusedFast: 0 },
    });
  });

  it('is not forwarded when a watcher could have predicted it, but again after STAGE_REFRESH_MS', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    const show = (sprite: object) => {
      harness.advance(100);
      harness.take(ann);
      harness.show(bob, [{ ...SPRITE, vx: 60, ...sprite }]);
      harness.advance(TICK_MS);
      return harness.take(ann).length;
    };
    assert.equal(show({}), 1);
    // It walks 9 px between two of these.
    assert.equal(show({ x: SPRITE.x + 9 }), 0);
    assert.equal(show({ x: SPRITE.x + 18 + STAGE_TOLERANCE_PX }), 0);
    assert.equal(show({ x: SPRITE.x + 27 + STAGE_TOLERANCE_PX + 1 }), 1);
    assert.equal(show({ x: SPRITE.x + 51, animation: 'walk' }), 1);
    const { counters } = harness.relay.peeks;
    assert.deepEqual([counters.posted, counters.forwarded, counters.filtered], [5, 3, 2]);
    harness.peek(ann, 'left');
    harness.advance(STAGE_REFRESH_MS);
    harness.show(bob, [{ ...SPRITE, x: SPRITE.x + 51 + 126, vx: 60, animation: 'walk' }]);
    assert.equal(counters.forwarded, 4);
  });

  it('is always forwarded when the filter is off', () => {
    const harness = new Harness({ peeks: { tolerancePx: 'off' } });
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    for (let n = 0; n < STAGES_BURST_MAX; n++) harness.show(bob);
    assert.equal(harness.relay.peeks.counters.forwarded, STAGES_BURST_MAX);
  });

  it('is limited: STAGES_BURST_MAX at once, one more, and again at the sustained rate', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    const show = () => refusal(() => harness.show(bob));
    for (let n = 0; n < STAGES_BURST_MAX; n++) assert.equal(show(), undefined);
    assert.equal(show(), 'too-fast');
    harness.advance(1000 / STAGES_PER_SECOND_MAX);
    assert.equal(show(), undefined);
    assert.equal(show(), 'too-fast');
  });

  it('comes at once to a second watcher, with its age', () => {
    const harness = new Harness();
    const [ann, bob, carol] = harness.joinMany(3);
    harness.peek(ann, 'right');
    harness.show(bob);
    harness.advance(500);
    harness.peek(carol, 'left');
    harness.advance();
    assert.deepEqual(
      harness.take(carol).map(({ edge, ageMs, sprites }) => [edge, ageMs, sprites]),
      [['left', 500 + TICK_MS, [SPRITE]]],
    );
  });

  it('ends for the watchers when its desktop leaves or hides it, and goes on with the next neighbour that shows one', () => {
    const harness = new Harness();
    const [ann, bob, carol, dora] = harness.joinMany(4);
    harness.peek(ann, 'right');
    harness.show(bob);
    harness.advance();
    harness.take(ann);
    harness.relay.setShows(bob.slot, false);
    harness.advance();
    assert.deepEqual(harness.take(ann), [END('right')]);
    assert.deepEqual(harness.show(bob), []);
    assert.deepEqual(harness.take(bob), [WATCHED('left'), WATCHED()]);
    harness.relay.setShows(bob.slot, true);
    harness.peek(ann, 'right');
    harness.leave(bob);
    harness.advance();
    // The last desktop has moved into the gap.
    assert.deepEqual(harness.take(ann), [], 'the watch goes on');
    assert.deepEqual(harness.take(dora), [WATCHED('left')]);
    harness.show(dora);
    harness.advance();
    assert.equal(harness.take(ann)[0].from.desktop, harness.id(dora));
    harness.relay.setShows(carol.slot, false);
    harness.leave(dora);
    harness.advance();
    assert.deepEqual(harness.take(ann), [END('right')], 'the next one hides its stage');
    assert.equal(harness.relay.peeks.count, 0);
  });

  for (const shows of [true, false]) {
    it(`stops when a desktop comes between that ${shows ? 'shows its own: the watch goes on with that one' : 'hides its own'}`, () => {
      const harness = new Harness();
      const [ann, bob] = harness.joinMany(3);
      harness.peek(ann, 'right');
      harness.show(bob);
      harness.advance();
      assert.equal(harness.take(ann).length, 1);
      harness.take(bob);
      const near = readInvitation(writeInvitation(ann.slot, ann.invitation));
      const eve = harness.join({ world: 'w', near, stage: shows });
      assert.deepEqual(harness.show(bob, [{ ...SPRITE, x: 900 }]), [], 'it is not watched any more');
      harness.advance(PEEK_STEP_MS);
      assert.deepEqual(harness.take(ann), shows ? [] : [END('right')]);
      assert.deepEqual(harness.take(bob), [WATCHED()]);
      assert.deepEqual(harness.take(eve), shows ? [WATCHED('left')] : []);
      if (!shows) return;
      harness.show(eve);
      harness.advance();
      assert.equal(harness.take(ann)[0].from.desktop, harness.id(eve));
    });
  }

  it('that waits is not sent after another desktop has come between', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(3);
    harness.peek(ann, 'right');
    harness.advance();
    harness.hasRoom = false;
    harness.show(bob);
    harness.join({ world: 'w', near: readInvitation(writeInvitation(ann.slot, ann.invitation)), stage: false });
    harness.hasRoom = true;
    harness.advance();
    assert.deepEqual(harness.take(ann), [END('right')]);
  });

  it('is not sent to a desktop that its own mutes, nor to one that mutes its own, and neither notices', () => {
    for (const muterIsWatched of [true, false]) {
      const harness = new Harness();
      const [ann, bob] = harness.joinMany(2);
      const [muter, muted] = muterIsWatched ? [bob, ann] : [ann, bob];
      harness.peek(ann, 'left');
      harness.show(bob);
      harness.advance();
      harness.take(ann);
      harness.take(bob);
      harness.show(bob, [{ ...SPRITE, x: 900 }]);
      harness.relay.mute(muter.slot, muted);
      harness.advance();
      assert.deepEqual(harness.take(ann), [END('left')]);
      assert.deepEqual(harness.take(bob), [WATCHED()]);
      assert.equal(harness.peek(ann, 'left'), PEEK_LEASE_MS);
      harness.show(bob);
      harness.advance();
      assert.deepEqual([harness.take(ann), harness.take(bob)], [[], []]);
      harness.relay.unmute(muter.slot, muted);
      harness.peek(ann, 'left');
      harness.show(bob);
      harness.advance();
      assert.equal(harness.take(ann).length, 1);
    }
  });

  it('is refused in a world that does not carry all of its pictures', () => {
    const harness = new Harness();
    const ann = harness.join({ world: 'strict', pictures: 'known' });
    const bob = harness.join({ world: 'strict' });
    harness.peek(ann, 'left');
    assert.equal(
      refusal(() => harness.show(bob, [SPRITE], Standing.unknown)),
      'picture-refused',
    );
    assert.equal(
      refusal(() => harness.show(bob, [SPRITE], Standing.known)),
      undefined,
    );
  });

  it('fits into the room for it with the longest name, the longest stage and all edges watched', () => {
    const harness = new Harness();
    const name = '"'.repeat(64);
    const [ann, bob] = [harness.join({ world: 'w', name }), harness.join({ world: 'w', name })];
    harness.peek(ann, 'right');
    harness.peek(bob, 'right');
    const sprites = Array.from({ length: 32 }, (_, id) => ({ id, x: 1, y: 1, animation: 'a'.repeat(23) }));
    const { body } = checkStage({ width: 65_535, height: 65_535, files: [FILE], sprites });
    harness.relay.show(bob.slot, { body, start: 0, end: body.length, standing: Standing.unchecked });
    const out = Buffer.alloc(2 * PEEK_EVENTS_BYTES_MAX);
    const end = harness.relay.peeks.write(ann.slot, out, 0, false, harness.nowMs + 2 ** 31);
    const json = body.length - 8 - 32 * 24;
    assert.ok(json > STAGE_BYTES_MAX - 64 && json <= STAGE_BYTES_MAX, `${json} bytes`);
    // Three more edges could be named, and the stage be as long as it may.
    assert.ok(end + 27 + STAGE_BYTES_MAX - json <= PEEK_EVENTS_BYTES_MAX, `${end} bytes`);
  });
});

describe('stages beside sprites', () => {
  it('wait for the clock while sprites do not, and ride with a sprite', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    harness.advance();
    harness.take(ann);
    harness.show(bob);
    harness.relay.endTurn();
    assert.ok(ann.isParked, 'a stage does not answer a poll at the end of a turn');
    const { passage } = checkCrossing({ crossing: 1, edge: 'right', at: 0.5, vx: 1, vy: 1, sprite: { file: FILE } });
    assert.equal(harness.relay.accept(bob, checkedCrossing(1, 1, passage)).verdict, 'accepted');
    harness.relay.endTurn();
    assert.deepEqual(
      harness.take(ann).map(({ type }) => type),
      ['sprite', 'stage'],
    );
    harness.poll(ann);
    assert.deepEqual(harness.take(ann), []);
    assert.ok(ann.isParked, 'it is not sent again');
    ann.isListening = false;
    harness.advance(500);
    assert.ok(ann.isParked, 'nor is the poll answered empty');
  });

  it('wait while their receiver has no room for them, and sprites still pass', () => {
    const harness = new Harness();
    const [ann, bob] = harness.joinMany(2);
    harness.peek(ann, 'left');
    harness.advance();
    harness.hasRoom = false;
    harness.show(bob);
    harness.advance(500);
    const { passage } = checkCrossing({ crossing: 1, edge: 'right', at: 0.5, vx: 1, vy: 1, sprite: { file: FILE } });
    harness.relay.accept(bob, checkedCrossing(1, 1, passage));
    harness.advance();
    assert.deepEqual(
      harness.take(ann).map(({ type }) => type),
      ['sprite'],
    );
    harness.hasRoom = true;
    harness.advance();
    assert.deepEqual(
      harness.take(ann).map(({ type }) => type),
      ['stage'],
    );
  });

  it('are answered WATCHERS_PER_STEP_MAX in a step and WATCHERS_PER_TICK_MAX in a tick', () => {
    const harness = new Harness({ peeks: { tolerancePx: 'off' } });
    const desktops = harness.joinMany(WATCHERS_PER_TICK_MAX + 1);
    for (const desktop of desktops) harness.peek(desktop, 'right');
    harness.advance(500);
    for (const desktop of desktops) harness.show(desktop);
    for (const desktop of desktops) harness.take(desktop);
    const seen = () => desktops.filter(({ events }) => events.some(({ type }) => type === 'stage')).length;
    harness.nowMs += TICK_MS;
    assert.ok(harness.relay.advance(harness.nowMs));
    assert.equal(seen(), WATCHERS_PER_STEP_MAX);
    while (harness.relay.advance(harness.nowMs));
    assert.equal(seen(), WATCHERS_PER_TICK_MAX);
    harness.nowMs += TICK_MS;
    while (harness.relay.advance(harness.nowMs));
    assert.equal(seen(), WATCHERS_PER_TICK_MAX + 1);
  });
});

describe('many peeks while desktops come and go', () => {
  it('show each stage only to neighbours that may see it, and leave nothing behind', (t) => {
    const random = randomOf(t);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
    const harness = new Harness({ peeks: { watchedMax: 12, tolerancePx: random() < 0.5 ? 'off' : 4 } });
    let desktops: Desktop[] = [];
    const stages = new Map<string, number>();
    for (let step = 0; step < 3000; step++) {
      const roll = random();
      desktops = desktops.filter((desktop) => harness.isHere(desktop));
      if (desktops.length < 2 || (roll < 0.05 && desktops.length < 24)) {
        const friend = random() < 0.5 && desktops.length > 0 ? pick(desktops) : undefined;
        const near = friend && readInvitation(writeInvitation(friend.slot, friend.invitation));
        desktops.push(harness.join({ world: 'w', near, stage: random() < 0.8 }));
      } else if (roll < 0.08) {
        harness.leave(desktops.splice(Math.floor(random() * desktops.length), 1)[0]);
      } else if (roll < 0.12) harness.relay.setShows(pick(desktops).slot, random() < 0.7);
      else if (roll < 0.14) refusal(() => harness.relay.mute(pick(desktops).slot, pick(desktops)));
      else if (roll < 0.2) harness.relay.unmute(pick(desktops).slot, pick(desktops));
      else if (roll < 0.5) refusal(() => harness.peek(pick(desktops), random() < 0.9 ? pick(EDGES) : null));
      else if (roll < 0.9) {
        const desktop = pick(desktops);
        const shown = refusal(() => {
          if (harness.show(desktop, [{ ...SPRITE, x: step }]).length > 0) stages.set(harness.id(desktop), step);
        });
        assert.ok(shown === undefined || shown === 'too-fast');
      } else {
        const desktop = pick(desktops);
        desktop.isListening = !desktop.isListening;
        harness.advance(TICK_MS * Math.ceil(random() * 10));
      }
      const { relay } = harness;
      for (const desktop of desktops) {
        // Every event that it is sent now must be true now.
        harness.take(desktop);
        if (!desktop.isListening || !desktop.isParked) continue;
        const out = Buffer.alloc(8192);
        const end = relay.peeks.write(desktop.slot, out, 0, true, harness.nowMs);
        for (const event of JSON.parse(`[${out.toString('utf8', 0, end)}]`)) {
          if (event.type === 'watched') {
            assert.deepEqual(
              event.edges,
              EDGES.filter((_, edge) => relay.peeks.edgesOf(desktop.slot) & (1 << edge)),
            );
          } else if (event.from !== undefined) {
            const neighbour = relay.torus.neighbour(desktop.slot, EDGES.indexOf(event.edge) as EdgeNumber);
            assert.equal(event.from.desktop, relay.desktops.id(neighbour), 'the neighbour beyond this edge');
            assert.ok(relay.desktops.shows(neighbour) && neighbour !== desktop.slot);
            assert.ok(!relay.mutes.has(neighbour, desktop.slot, desktop.generation), 'it mutes the watcher');
            assert.ok(event.sprites[0].x <= (stages.get(event.from.desktop) ?? -1), 'a stage of its own');
          }
        }
      }
      let watchers = 0;
      for (const { slot } of desktops) {
        const edges = relay.peeks.edgesOf(slot);
        for (let edge = 0; edge < 4; edge++) if (edges & (1 << edge)) watchers++;
      }
      assert.ok(watchers <= relay.peeks.count, `${watchers} watchers of ${relay.peeks.count} watches`);
      assert.ok(relay.peeks.stages.count <= Math.min(12, watchers));
    }
    for (const desktop of desktops.splice(0)) harness.leave(desktop);
    harness.advance(PEEK_STEP_MS);
    assert.deepEqual([harness.relay.peeks.count, harness.relay.peeks.stages.count], [0, 0]);
  });

  it('checks watches against the torus in steps, and ends with the last one', () => {
    const harness = new Harness();
    const desktops = harness.joinMany(300);
    for (const desktop of desktops) harness.peek(desktop, 'bottom');
    harness.advance(PEEK_STEP_MS);
    // The width of the world changes, so that every desktop has another neighbour below.
    for (const desktop of desktops.splice(20)) harness.leave(desktop);
    harness.advance(PEEK_STEP_MS + TICK_MS);
    const { relay } = harness;
    for (const { slot } of desktops) {
      const below = relay.torus.neighbour(slot, 3);
      assert.ok(relay.peeks.edgesOf(below) & (1 << opposite(3)), `${slot} watches what is below it now`);
    }
    assert.equal(relay.peeks.count, desktops.length);
    assert.equal(relay.peeks.stages.count, desktops.length);
  });

  it('checks WATCHED_PER_STEP_MAX rows in a step: one below, at the limit, one above', () => {
    const harness = new Harness();
    const desktops = harness.joinMany(WATCHED_PER_STEP_MAX + 1);
    const { peeks } = harness.relay;
    for (const [rows, steps] of [
      [WATCHED_PER_STEP_MAX - 1, 1],
      [WATCHED_PER_STEP_MAX, 1],
      [WATCHED_PER_STEP_MAX + 1, 2],
    ]) {
      while (peeks.stages.count < rows) harness.peek(desktops[peeks.stages.count], 'right');
      harness.nowMs += PEEK_STEP_MS;
      let count = 1;
      while (peeks.step(harness.nowMs)) count++;
      assert.equal(count, steps, `${rows} rows`);
    }
  });
});
