/**
 * A sprite that is thrown to somebody several desktops away: desktops that follow the rules of the way, over the relay's own domain.
 *
 * Each desktop knows only what the relay tells it: the thrower its company, the others their neighbours.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TICK_MS } from '../domain/slots/deadlines.ts';
import { wayBetween, widthOf } from '../domain/state/torus.ts';
import type { Goal } from '../web/motion/simulation.ts';
import { nextStep, type Step } from '../web/relay/goal.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { COMPANY_MAX, type EdgeNumber, GOAL_STEPS_MAX } from '../wire/rules.ts';
import { checkedCrossing } from './passages.ts';
import { randomOf } from './random.ts';
import { FILE, type Guest, RelayHarness } from './relay_harness.ts';

/** A world of desktops with these names, and the one sprite in it. */
class World {
  readonly harness = new RelayHarness();
  readonly desktops: Guest[];
  readonly #polls = new Map<Guest, { cursor: number; ticket: number }>();
  #crossing = 0;

  constructor(size: number) {
    this.desktops = Array.from({ length: size }, (_, n) => this.harness.join(`desktop ${n}`, { world: 'friends' }));
  }

  nameOf(desktop: Guest): string {
    return this.harness.relay.desktops.name(desktop.slot);
  }

  neighboursOf(desktop: Guest) {
    return this.harness.relay.directory.describe(desktop.slot).neighbours;
  }

  /** The first step from a desktop to a friend. */
  stepTo(from: Guest, to: Guest): Step | null {
    const friend = this.harness.relay.directory.company(from.slot).company.find(({ name }) => name === this.nameOf(to));
    return friend === undefined ? null : nextStep(friend, null, this.neighboursOf(from));
  }

  throw(from: Guest, { edge, goal }: Step): void {
    const sprite = { file: FILE, name: 'Miso' };
    const checked = checkCrossing({ crossing: ++this.#crossing, edge, at: 0.5, vx: 900, vy: 0, sprite, goal });
    const crossing = checkedCrossing(checked.crossing, checked.edge as EdgeNumber, checked.passage);
    assert.equal(this.harness.relay.accept(from, crossing).verdict, 'accepted');
  }

  /** Who gets the sprite, and its goal. Every desktop polls; exactly one has it. */
  receive(): { desktop: Guest; goal?: Goal } {
    const found: { desktop: Guest; goal?: Goal }[] = [];
    for (let turns = 0; found.length === 0; turns++) {
      assert.ok(turns < 100, 'the sprite is somewhere');
      this.harness.relay.endTurn();
      for (const desktop of this.desktops) found.push(...this.#spritesFor(desktop));
      if (found.length === 0) this.harness.pass(TICK_MS);
    }
    assert.equal(found.length, 1, 'and once');
    return found[0];
  }

  /** Reads the answer to the poll of a desktop, if there is one, and polls again. */
  #spritesFor(desktop: Guest): { desktop: Guest; goal?: Goal }[] {
    const polled = this.#polls.get(desktop) ?? { cursor: 0, ticket: this.harness.poll(desktop, 0) };
    this.#polls.set(desktop, polled);
    if (this.harness.isParked(polled.ticket)) return [];
    const { body } = this.harness.answered(polled.ticket);
    const cursor = Number(body.cursor.split('-')[1]);
    this.#polls.set(desktop, { cursor, ticket: this.harness.poll(desktop, cursor) });
    const sprites = body.events.filter(({ type }: { type: string }) => type === 'sprite');
    return sprites.map(({ goal }: { goal?: Goal }) => ({ desktop, goal }));
  }

  /** Lets desktops pass the sprite on until it stays. Returns who has it, and over how many edges it went. */
  follow(): { desktop: Guest; steps: number } {
    for (let steps = 1; ; steps++) {
      const { desktop, goal } = this.receive();
      const step = goal === undefined ? null : nextStep(goal, this.nameOf(desktop), this.neighboursOf(desktop));
      if (step === null) return { desktop, steps };
      this.throw(desktop, step);
    }
  }

  leave(desktop: Guest): void {
    this.desktops.splice(this.desktops.indexOf(desktop), 1);
    this.harness.relay.leave(desktop.slot);
  }
}

describe('a sprite for a friend', () => {
  it('has no farther to go than a goal may say, in any world whose desktops know each other', () => {
    for (let count = 2; count <= COMPANY_MAX; count++) {
      for (const before of [count, 4 * COMPANY_MAX]) {
        const width = widthOf(count, widthOf(before, 1));
        for (let to = 1; to < count; to++) {
          const { column, row } = wayBetween(0, to, count, width);
          assert.ok(Math.abs(column) + Math.abs(row) <= GOAL_STEPS_MAX, `${count} wide ${width}: ${to}`);
        }
      }
    }
  });

  it('arrives three desktops away, by the fewest edges', () => {
    const world = new World(12);
    const [from] = world.desktops;
    const company = world.harness.relay.directory.company(from.slot).company;
    const far = company.find(({ column, row }) => Math.abs(column) + Math.abs(row) === 3);
    const to = world.desktops.find((one) => world.nameOf(one) === far?.name) as Guest;
    world.throw(from, world.stepTo(from, to) as Step);
    assert.deepEqual(world.follow(), { desktop: to, steps: 3 });
  });

  it('arrives from everybody at everybody', () => {
    for (const size of [2, 3, 5, 8, 17, COMPANY_MAX]) {
      const world = new World(size);
      for (const to of world.desktops.slice(1)) {
        const [from] = world.desktops;
        world.throw(from, world.stepTo(from, to) as Step);
        assert.equal(world.follow().desktop, to);
      }
    }
  });

  it('stays where it is when the friend has left meanwhile', () => {
    const world = new World(12);
    const [from] = world.desktops;
    const to = world.desktops[7];
    world.throw(from, world.stepTo(from, to) as Step);
    world.leave(to);
    assert.notEqual(world.follow().desktop, from);
    assert.equal(world.stepTo(from, to), null, 'and is not thrown there any more');
  });

  it('is somewhere, once, when desktops on its way end and come meanwhile (seeded)', (t) => {
    const random = randomOf(t);
    let arrived = 0;
    for (let round = 0; round < 300; round++) {
      const world = new World(4 + Math.floor(random() * 40));
      const [from, ...others] = world.desktops;
      const to = others[Math.floor(random() * others.length)];
      let step = world.stepTo(from, to);
      let at = from;
      for (let steps = 0; step !== null; steps++) {
        assert.ok(steps <= 2 * GOAL_STEPS_MAX, 'the way ends');
        world.throw(at, step);
        // Any desktop may end now, also the one that has the sprite. Then the sprite goes on in its direction of travel.
        const ending =
          random() < 0.3 ? world.desktops[1 + Math.floor(random() * (world.desktops.length - 1))] : undefined;
        if (ending !== undefined && ending !== to && world.desktops.length > 2) world.leave(ending);
        if (random() < 0.3)
          world.desktops.push(world.harness.join(`newcomer ${steps}`, { world: 'friends', near: from }));
        const received = world.receive();
        at = received.desktop;
        step = received.goal === undefined ? null : nextStep(received.goal, world.nameOf(at), world.neighboursOf(at));
      }
      if (at === to) arrived++;
    }
    assert.ok(arrived > 150, `${arrived} of 300 arrived`);
  });
});
