import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickFrom, randomOf } from '../../test/random.ts';
import type { Heartbeat } from '../../wire/peers/heartbeat.ts';
import { opposite } from '../../wire/rules.ts';
import { beyond } from '../state/cluster_torus.ts';
import { widthOf } from '../state/torus.ts';
import {
  GONE_AFTER_STEPS,
  type HeartbeatOutcome,
  Membership,
  RELAYS_MAX,
  SUSPECTED_AFTER_STEPS,
  VIEW_LAG_STEPS,
} from './membership.ts';

const FIRST_STEP = 1000;

const joined = (name: string, life = 1) => new Membership({ name, life, width: 1, step: FIRST_STEP });

const beat = (name: string, step: number, count: number, more: Partial<Heartbeat> = {}): Heartbeat => ({
  ...{ name, life: 1, step, count, width: widthOf(count, 1), digest: 0, leaving: false },
  ...more,
});

/** The view as {name: count}. */
const counted = ({ view }: Membership) => Object.fromEntries(view.names.map((name, at) => [name, view.counts[at]]));

/** Relays whose heartbeats reach all others at once. */
class Cluster {
  readonly relays = new Map<string, { relay: Membership; count: number }>();

  add(name: string, count: number, life = 1): Membership {
    const relay = joined(name, life);
    this.relays.set(name, { relay, count });
    return relay;
  }

  /** All relays tick once, in the order of their names. `passes` says which heartbeats arrive. */
  step(passes: (from: string, to: string) => boolean = () => true): void {
    for (const [from, { relay, count }] of this.relays) {
      const heartbeat = relay.tick(count);
      for (const [to, other] of this.relays) if (passes(from, to)) other.relay.hear(heartbeat);
    }
  }

  steps(count: number, passes?: (from: string, to: string) => boolean): void {
    for (let step = 0; step < count; step++) this.step(passes);
  }

  get views() {
    return [...this.relays.values()].map(({ relay }) => relay.view);
  }

  agree(): void {
    const [first, ...others] = this.views;
    for (const view of others) {
      assert.deepEqual({ ...view, self: 0 }, { ...first, self: 0 });
    }
  }
}

describe('membership, the step', () => {
  it('begins at the time of day in a relay that is alone, and rises by one at each tick', () => {
    const relay = joined('a');
    assert.deepEqual([relay.tick(1).step, relay.tick(1).step, relay.tick(1).step], [1000, 1001, 1002]);
  });

  it('is adopted from a relay that is ahead, whose ticks lead from then on', () => {
    const relay = joined('a');
    relay.tick(1);
    relay.hear(beat('b', 1003, 1));
    assert.equal(relay.step, 1003);
    assert.equal(relay.tick(1).step, 1003, 'the step had begun already');
    assert.equal(relay.tick(1).step, 1004, 'nobody else began one');
  });

  it('is that of the other relays in one that listened first, even if its own clock is ahead', () => {
    const relay = joined('a');
    relay.hear(beat('b', 7, 1));
    relay.hear(beat('c', 6, 1));
    assert.equal(relay.tick(1).step, 7);
  });

  it('is the same in all relays at the end of each round, with random clocks', (t) => {
    const random = randomOf(t);
    const periods = [250, 249, 251, 250.5, 249.5];
    const relays = periods.map((_, at) => joined(`r${at}`));
    const dues = periods.map((period) => random() * period);
    const steps = new Set<number>();
    for (let n = 0; n < 5_000; n++) {
      const at = dues.indexOf(Math.min(...dues));
      const heartbeat = relays[at].tick(10);
      steps.add(heartbeat.step);
      for (const other of relays) other.hear(heartbeat);
      if (n > 10) for (const other of relays) assert.equal(other.step, heartbeat.step);
      dues[at] += periods[at];
    }
    assert.equal(Math.max(...steps) - Math.min(...steps) + 1, steps.size, 'a step was skipped');
    assert.ok(steps.size <= 1 + Math.max(...dues) / Math.min(...periods), `${steps.size} steps, faster than any clock`);
  });
});

describe('membership, the view', () => {
  it('has only this relay before the first heartbeat of another, and no desktops until its own heartbeat is old enough', () => {
    const relay = joined('a');
    assert.deepEqual(counted(relay), { a: 0 });
    for (let step = 0; step < VIEW_LAG_STEPS; step++) {
      relay.tick(5);
      assert.deepEqual(counted(relay), { a: 0 });
    }
    relay.tick(6);
    assert.deepEqual(counted(relay), { a: 5 });
    assert.equal(relay.view.width, 2);
  });

  it('uses heartbeats that are two steps old: newer ones wait, and late ones count at once', () => {
    const relay = joined('a');
    relay.hear(beat('b', 10, 1));
    for (let step = 0; step < 3; step++) relay.tick(0);
    assert.equal(relay.step, 12);
    assert.deepEqual(counted(relay), { a: 0, b: 1 });
    relay.hear(beat('b', 12, 3));
    assert.deepEqual(counted(relay), { a: 0, b: 1 }, 'too new');
    relay.hear(beat('b', 11, 2));
    relay.tick(0);
    assert.deepEqual([relay.step, counted(relay)], [13, { a: 0, b: 2 }]);
    relay.tick(0);
    assert.deepEqual([relay.step, counted(relay)], [14, { a: 0, b: 3 }]);
  });

  it('is the same for every order of heartbeats, and with repeats', (t) => {
    const random = randomOf(t);
    const pick = pickFrom(random);
    for (let round = 0; round < 300; round++) {
      const sent = ['b', 'c', 'd'].flatMap((name) => [0, 1, 2, 3].map((step) => beat(name, 20 + step, pick(9))));
      const views = [0, 1].map(() => {
        const relay = joined('a');
        relay.hear(beat('x', 23, 7));
        const order = [...sent, ...sent, ...sent].sort(() => random() - 0.5);
        // Each is heard at least once before the view is looked at.
        for (const heartbeat of [...order, ...sent]) relay.hear(heartbeat);
        return counted(relay);
      });
      assert.deepEqual(views[0], views[1]);
      for (const name of ['b', 'c', 'd'])
        assert.equal(views[0][name], sent.find((one) => one.name === name && one.step === 21)?.count);
    }
  });

  it('is equal in all relays that receive the same heartbeats, with relays in order of their names', () => {
    const cluster = new Cluster();
    for (const [name, count] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
    ] as const)
      cluster.add(name, count);
    cluster.steps(5);
    cluster.agree();
    assert.deepEqual([...cluster.views[0].names], ['a', 'b', 'c']);
    assert.deepEqual([...cluster.views[0].bases], [0, 10, 30, 60]);
    assert.deepEqual(
      cluster.views.map(({ self }) => self),
      [2, 0, 1],
    );
  });

  it('has the same digest where views agree, even if only one of them has an empty relay, and another one where they differ', () => {
    const digest = (...heard: Heartbeat[]) => {
      const relay = joined('z');
      for (const heartbeat of [...heard, beat('y', 12, 0)]) relay.hear(heartbeat);
      return relay.view.digest;
    };
    const same = digest(beat('a', 10, 5), beat('b', 10, 6));
    assert.equal(digest(beat('b', 10, 6), beat('a', 10, 5), beat('c', 10, 0)), same);
    for (const other of [
      digest(beat('a', 10, 6), beat('b', 10, 5)),
      digest(beat('a', 10, 5), beat('c', 10, 6)),
      digest(beat('a', 10, 5)),
      digest(beat('a', 10, 5, { width: 4 }), beat('b', 10, 7)),
      digest(beat('a', 10, 5), beat('b', 10, 7)),
      digest(beat('a', 10, 5 + 2 ** 24), beat('b', 10, 6)),
    ]) {
      assert.notEqual(other, same);
    }
  });

  it('leads back by the opposite edge where views agree', (t) => {
    const pick = pickFrom(randomOf(t));
    const cluster = new Cluster();
    for (let relay = 0; relay < 7; relay++) cluster.add(`r${relay}`, pick(50));
    cluster.steps(6);
    cluster.agree();
    const views = cluster.views;
    const [to, back] = [
      { relay: 0, place: 0 },
      { relay: 0, place: 0 },
    ];
    for (const [relay, view] of views.entries()) {
      for (let place = 0; place < view.counts[relay]; place++) {
        for (const edge of [0, 1, 2, 3] as const) {
          beyond(view, relay, place, edge, to);
          beyond(views[to.relay], to.relay, to.place, opposite(edge), back);
          assert.deepEqual({ ...back }, { relay, place });
        }
      }
    }
  });
});

describe('membership, the width', () => {
  it('is that of the first relay with desktops, which has the hysteresis, in all views', () => {
    const cluster = new Cluster();
    for (const name of ['a', 'b', 'c']) cluster.add(name, 6);
    cluster.steps(6);
    assert.deepEqual(
      cluster.views.map(({ width }) => width),
      [4, 4, 4],
      'grown at 16',
    );
    for (const member of cluster.relays.values()) member.count = 4;
    cluster.steps(6);
    assert.deepEqual(
      cluster.views.map(({ width }) => width),
      [4, 4, 4],
      '12 is ¾ of 16',
    );
    for (const member of cluster.relays.values()) member.count = 3;
    cluster.steps(6);
    assert.deepEqual(
      cluster.views.map(({ width }) => width),
      [2, 2, 2],
    );
    for (const member of cluster.relays.values()) member.count = 5;
    cluster.steps(6);
    assert.deepEqual(
      cluster.views.map(({ width }) => width),
      [2, 2, 2],
      'not grown again below 16',
    );
  });

  it('does not change when the first relay goes, nor when a new relay becomes the first', () => {
    const cluster = new Cluster();
    for (const name of ['b', 'c', 'd']) cluster.add(name, 6);
    cluster.steps(6);
    for (const member of cluster.relays.values()) member.count = 4;
    cluster.steps(6);
    cluster.add('a', 0);
    cluster.steps(6);
    assert.deepEqual(
      cluster.views.map(({ names, width }) => [names.length, width]),
      [
        [4, 4],
        [4, 4],
        [4, 4],
        [4, 4],
      ],
    );
    (cluster.relays.get('a') as { count: number }).count = 1;
    cluster.relays.delete('b');
    cluster.add('e', 4);
    cluster.steps(GONE_AFTER_STEPS + 6);
    for (const { names, width } of cluster.views) assert.deepEqual([names.join(''), width], ['acde', 4]);
  });

  it('fits the count of the view at once, also when most relays go in one step', () => {
    const relay = joined('z');
    relay.hear(beat('a', 10, 3, { width: 1024 }));
    relay.hear(beat('a', 12, 3, { width: 1024 }));
    assert.deepEqual([counted(relay), relay.view.width], [{ a: 3, z: 0 }, 2]);
  });

  it('settles after the count was below the bound for a single step', () => {
    const cluster = new Cluster();
    const setCounts = (count: number) => {
      for (const member of cluster.relays.values()) member.count = count;
    };
    for (const name of ['a', 'b']) cluster.add(name, 8);
    cluster.steps(6);
    setCounts(5);
    cluster.step();
    setCounts(7);
    cluster.steps(6);
    for (let step = 0; step < 6; step++) {
      cluster.step();
      for (const { bases, width } of cluster.views) assert.deepEqual([bases[2], width], [14, 2], `step ${step}`);
    }
  });

  it('does not change back and forth while the count stays between the bounds', (t) => {
    const pick = pickFrom(randomOf(t));
    const cluster = new Cluster();
    for (const name of ['a', 'b', 'c', 'd']) cluster.add(name, 18);
    cluster.steps(6);
    let changes = 0;
    let width = cluster.views[0].width;
    for (let step = 0; step < 500; step++) {
      for (const member of cluster.relays.values()) member.count = 13 + pick(3);
      cluster.step();
      if (cluster.views[0].width !== width) changes++;
      width = cluster.views[0].width;
    }
    assert.ok(changes <= 1, `${changes} changes between 52 and 60 desktops`);
  });
});

describe('membership, silence', () => {
  /** A relay that heard b two steps ago, at its step 12, and `silent` steps later. */
  const after = (silent: number) => {
    const relay = joined('a');
    relay.hear(beat('b', 9, 4));
    relay.hear(beat('b', 10, 5));
    for (let step = 0; step <= silent; step++) relay.tick(1);
    assert.equal(relay.step, 10 + silent);
    return relay;
  };
  const reachable = (relay: Membership) => relay.isReachable(relay.view.names.indexOf('b'));

  it('makes a relay suspected after two seconds: it keeps its places, and gets no crossings', () => {
    const [before, then] = [after(SUSPECTED_AFTER_STEPS), after(SUSPECTED_AFTER_STEPS + 1)];
    assert.deepEqual([before.stateOf('b'), reachable(before)], ['here', true]);
    assert.deepEqual([then.stateOf('b'), reachable(then)], ['suspected', false]);
    assert.equal(counted(then).b, 5);
  });

  it('makes a relay gone after ten seconds; its places are removed with the view of that age', () => {
    const [before, then] = [after(GONE_AFTER_STEPS), after(GONE_AFTER_STEPS + 1)];
    assert.equal(before.stateOf('b'), 'suspected');
    assert.deepEqual([then.stateOf('b'), counted(then).b], ['gone', 5]);
    assert.equal(counted(after(GONE_AFTER_STEPS + VIEW_LAG_STEPS)).b, 5);
    assert.deepEqual(counted(after(GONE_AFTER_STEPS + VIEW_LAG_STEPS + 1)), { a: 1 });
  });

  it('ends with the next heartbeat, of the same life or a new one; the places come back with the view', () => {
    for (const life of [1, 2]) {
      const relay = after(100);
      assert.equal(relay.hear(beat('b', relay.step, 7, { life })), 'noted');
      assert.equal(relay.stateOf('b'), 'here');
      assert.deepEqual(counted(relay), { a: 1 });
      relay.tick(1);
      relay.tick(1);
      assert.equal(counted(relay).b, 7, `life ${life}`);
    }
  });

  it('does not count for the relay itself, which is always here', () => {
    const relay = joined('a');
    relay.tick(3);
    for (let step = 0; step < 3; step++) relay.hear(beat('b', 1000 + 30 * step, 1));
    assert.equal(relay.stateOf('a'), 'here');
    assert.ok(relay.view.names.includes('a') && relay.isReachable(relay.view.self));
  });

  it('does not count for the others in a relay that was paused for a minute', () => {
    const cluster = new Cluster();
    for (const name of ['a', 'b', 'c', 'd']) cluster.add(name, 10);
    cluster.steps(5);
    const paused = cluster.relays.get('d');
    assert.ok(paused);
    cluster.relays.delete('d');
    cluster.steps(240);
    assert.deepEqual(counted(cluster.relays.get('a')?.relay as Membership), { a: 10, b: 10, c: 10 });
    cluster.relays.set('d', paused);
    cluster.step();
    assert.deepEqual(counted(paused.relay), { a: 10, b: 10, c: 10, d: 10 });
    cluster.steps(5);
    cluster.agree();
    assert.equal(cluster.views[0].names.length, 4);
  });

  it('does not count when two clusters meet, however far apart their steps are', () => {
    const [one, other] = [new Cluster(), new Cluster()];
    for (const name of ['a', 'c']) one.add(name, 10);
    for (const name of ['b', 'd'])
      other.relays.set(name, { relay: new Membership({ name, life: 1, width: 1, step: 9_999 }), count: 10 });
    one.steps(5);
    other.steps(5);
    for (const [name, member] of other.relays) one.relays.set(name, member);
    for (let step = 0; step < 6; step++) {
      one.step();
      for (const { names } of one.views) assert.ok(names.length >= 2, names.join());
    }
    one.agree();
    assert.equal(one.views[0].names.length, 4);
  });
});

describe('membership, lives', () => {
  const hears = (relay: Membership, ...heartbeats: Heartbeat[]): HeartbeatOutcome[] =>
    heartbeats.map((one) => relay.hear(one));

  it('notes each heartbeat once, and ignores one that is older than what is remembered', () => {
    assert.deepEqual(
      hears(joined('a'), beat('b', 10, 1), beat('b', 10, 1), beat('b', 14, 1), beat('b', 10, 1), beat('b', 11, 1)),
      ['noted', 'repeated', 'noted', 'late', 'noted'],
    );
  });

  it('ignores what an earlier life sent, and forgets its counts with the first heartbeat of a new one', () => {
    const relay = joined('a');
    assert.deepEqual(
      hears(relay, beat('b', 10, 5), beat('b', 12, 5), beat('b', 12, 0, { life: 2 }), beat('b', 13, 6)),
      ['noted', 'noted', 'noted', 'old-life'],
    );
    assert.deepEqual(counted(relay), { a: 0 });
  });

  it('hears an earlier life again when the later one has been silent for GONE_AFTER_STEPS: one below, at the limit, one above', () => {
    for (const steps of [GONE_AFTER_STEPS - 1, GONE_AFTER_STEPS, GONE_AFTER_STEPS + 1]) {
      const relay = joined('a');
      hears(relay, beat('b', FIRST_STEP, 5, { life: 9 }));
      const returns = beat('b', FIRST_STEP + steps, 3, { life: 2 });
      while (relay.step < FIRST_STEP + steps) relay.tick(1);
      const isHeard = steps > GONE_AFTER_STEPS;
      assert.deepEqual(hears(relay, returns), [isHeard ? 'noted' : 'old-life'], `${steps} steps`);
      assert.equal(relay.lifeOf('b'), isHeard ? 2 : 9);
    }
  });

  it('recognises its own heartbeats, and those of a later relay with its name', () => {
    const relay = joined('a', 5);
    assert.deepEqual(
      hears(relay, beat('a', 1, 1, { life: 5 }), beat('a', 1, 1, { life: 4 }), beat('a', 1, 1, { life: 6 })),
      ['own', 'old-life', 'superseded'],
    );
  });

  it('is not superseded by a later relay with its name that stops already', () => {
    const relay = joined('a', 5);
    assert.deepEqual(hears(relay, beat('a', 1, 1, { life: 6, leaving: true })), ['late']);
  });

  it('removes a relay that leaves from the view, two steps after its notice, and sends it nothing from then on', () => {
    const cluster = new Cluster();
    for (const name of ['a', 'b']) cluster.add(name, 10);
    cluster.steps(5);
    cluster.relays.get('b')?.relay.leave();
    cluster.step();
    const a = cluster.relays.get('a')?.relay as Membership;
    assert.deepEqual([a.stateOf('b'), a.isReachable(1), counted(a)], ['left', false, { a: 10, b: 10 }]);
    cluster.steps(VIEW_LAG_STEPS);
    assert.deepEqual(counted(a), { a: 10 });
  });

  it('forgets one life of a relay for ever, and accepts the next one', () => {
    const relay = joined('a');
    hears(relay, beat('b', 10, 5), beat('b', 12, 5));
    assert.equal(relay.forget('b'), true);
    assert.deepEqual([relay.stateOf('b'), counted(relay)], ['forgotten', { a: 0 }]);
    assert.deepEqual(hears(relay, beat('b', 13, 5), beat('b', 14, 5, { life: 2 })), ['forgotten', 'noted']);
    assert.equal(relay.stateOf('b'), 'here');
    assert.deepEqual([relay.forget('a'), relay.forget('nobody')], [false, false]);
  });

  it('has room for RELAYS_MAX relays; a place becomes free when one that left or was forgotten is gone', () => {
    const relay = joined('a');
    for (let n = 1; n < RELAYS_MAX; n++) assert.equal(relay.hear(beat(`r${n}`, 10, 1)), 'noted');
    assert.equal(relay.hear(beat('more', 10, 1)), 'full');
    relay.forget('r7');
    assert.equal(relay.hear(beat('more', 10, 1)), 'full', 'its heartbeats may still come');
    relay.hear(beat('r8', 11, 0, { leaving: true }));
    for (let step = 0; step < GONE_AFTER_STEPS + 2; step++) relay.tick(1);
    assert.equal(relay.hear(beat('more', relay.step, 1)), 'noted');
    assert.equal(relay.hear(beat('most', relay.step, 1)), 'noted');
    assert.equal(relay.hear(beat('last', relay.step, 1)), 'full');
    assert.deepEqual([relay.stateOf('r7'), relay.stateOf('r8'), relay.stateOf('r9')], [undefined, undefined, 'gone']);
  });

  it('lists all relays, and whether their views agree', () => {
    const cluster = new Cluster();
    for (const name of ['a', 'b', 'c']) cluster.add(name, 10);
    cluster.steps(5);
    cluster.steps(3, (from, to) => !(from === 'c' && to === 'a'));
    const [a] = cluster.relays.values();
    const rows = [...a.relay.relays()];
    assert.deepEqual(
      rows.map(({ name, state, silentSteps, count, agrees }) => [name, state, silentSteps, count, agrees]),
      [
        ['a', 'here', 0, 10, true],
        ['b', 'here', 0, 10, true],
        ['c', 'here', 3, 10, true],
      ],
    );
    (cluster.relays.get('c') as { count: number }).count = 11;
    cluster.steps(1);
    cluster.steps(3, (from, to) => !(from === 'c' && to === 'a'));
    cluster.step();
    assert.equal([...a.relay.relays()][1].agrees, true);
  });

  it('agrees with no relay, itself included, before a heartbeat', () => {
    assert.deepEqual(
      [...joined('a').relays()].map(({ name, agrees }) => [name, agrees]),
      [['a', undefined]],
    );
  });
});

describe('membership, a partition', () => {
  it('makes two worlds after ten seconds, and one again half a second after it heals', () => {
    const cluster = new Cluster();
    const half = (name: string) => name < 'c';
    for (const name of ['a', 'b', 'c', 'd']) cluster.add(name, 10);
    cluster.steps(5);
    cluster.steps(GONE_AFTER_STEPS + 5, (from, to) => half(from) === half(to));
    assert.deepEqual(
      cluster.views.map(({ names }) => names.join('')),
      ['ab', 'ab', 'cd', 'cd'],
    );
    cluster.steps(VIEW_LAG_STEPS + 1);
    cluster.agree();
    assert.equal(cluster.views[0].names.join(''), 'abcd');
  });
});
