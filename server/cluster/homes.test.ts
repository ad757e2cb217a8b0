/** Homes of private worlds: several relays without processes, which share a pretend bucket and a pretend network. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { Logger } from 'pino';
import { Membership, STEP_MS } from '../domain/peers/membership.ts';
import { KEPT_STEP_MS } from '../domain/state/limits.ts';
import type { World } from '../domain/state/torus.ts';
import type { Master } from '../processes/master.ts';
import { type Doorkeeper, Seats } from '../processes/seats.ts';
import { checkedCrossing } from '../test/passages.ts';
import { type PeeredRelay, PeeredRelays, seat, throwRight } from '../test/peered_relays.ts';
import { PretendStore } from '../test/pretend_bucket.ts';
import { PretendNetwork } from '../test/pretend_network.ts';
import { isProblemDocument } from '../test/problem_check.ts';
import { randomOf } from '../test/random.ts';
import { masterOf } from '../test/relay_harness.ts';
import { checkCrossing } from '../wire/crossing.ts';
import { blankIdentity, readToken } from '../wire/identity.ts';
import { readInvitation } from '../wire/invitation.ts';
import { decodePeerJoinAnswer, encodePeerJoin, encodePeerJoinAnswer } from '../wire/peers/peer_join.ts';
import { type ProblemCode, ProblemError } from '../wire/problem.ts';
import {
  ANSWER_MS,
  CLAIMS_AT_A_TIME,
  ENDS_PER_TURN,
  HOME_GONE_MS,
  Homes,
  JOINS_WAITING_MAX,
  TRIES_MAX,
} from './homes.ts';

const silent = { warn() {}, info() {}, debug() {}, error() {} } as unknown as Logger;

interface Seat {
  desktop: string;
  token: string;
  world: string;
  invitation: string;
  here: { world: number };
  at?: { apiPort: number };
}

/** What a relay is started with. */
interface Started {
  master: Master;
  machine: string;
  url: string;
  doorkeeper: Doorkeeper;
}

class Cluster {
  readonly network: PretendNetwork;
  readonly store = new PretendStore();
  readonly #random: () => number;
  /** The time of the network, and that of the relays. */
  networkMs = 0;
  nowMs = 0;

  constructor(t: TestContext) {
    this.#random = randomOf(t);
    this.network = new PretendNetwork(() => 0.5);
  }

  /** A relay that has started. `master`: it has recovered this one's state from its journal. */
  start(name: string, { master = this.master(), machine = 'one', ...others }: Partial<Started> = {}) {
    const { url, doorkeeper } = others;
    const { turns } = master;
    const seats = new Seats(turns.relay, doorkeeper, name);
    const membership = new Membership({ name, life: 1, width: 1, step: 1 });
    const node = this.network.node();
    const bucket = this.store.bucket();
    const homes = new Homes({
      ...{ name, turns, seats, membership, network: node, bucket, machine, log: silent, clock: () => this.nowMs },
    });
    const ended: number[] = [];
    /** How many desktops each turn has ended. */
    const endedPerTurn: number[] = [];
    let isTurnOver = true;
    const port = 8000 + Number(name.slice(1));
    homes.open({
      addresses: { url, apiPort: port, eventsPort: port + 100 },
      end: (slots, detail) => {
        ended.push(...slots);
        if (isTurnOver) endedPerTurn.push(0);
        endedPerTurn[endedPerTurn.length - 1] += slots.length;
        isTurnOver = false;
        setImmediate(() => {
          isTurnOver = true;
        });
        for (const slot of slots) master.relay.leave(slot, detail);
      },
    });
    const kill = () => {
      void node.close();
      bucket.cut();
    };
    return { name, master, seats, membership, homes, node, bucket, ended, endedPerTurn, port, kill };
  }

  master(slots = 16): Master {
    return masterOf({
      ...{ slots, slabBytes: 16 << 20, random: this.#random },
      randomize: (words) =>
        words.forEach((_, at) => {
          words[at] = this.#random() * 2 ** 32;
        }),
    });
  }

  /** What becomes of a promise, while the network delivers. */
  async settle<Result>(promise: Promise<Result>): Promise<Result> {
    let isSettled = false;
    const seen = promise.finally(() => {
      isSettled = true;
    });
    seen.catch(() => {});
    while (!isSettled) {
      this.networkMs += 10;
      this.network.advance(this.networkMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return seen;
  }

  /** The answer to a join at a relay, as its master makes it. */
  async join(at: Relayed, wish: { world?: string; near?: string }): Promise<Seat> {
    const near = wish.near === undefined ? undefined : readInvitation(wish.near);
    const join = { name: '', world: wish.world, near };
    if (at.homes.isHere(join)) return at.seats.seat(join) as Seat;
    return (await this.settle(at.homes.join(join))) as Seat;
  }

  async refused(at: Relayed, wish: { world?: string; near?: string }, code: ProblemCode): Promise<void> {
    await assert.rejects(this.join(at, wish), (error) => isRefusal(error, code));
  }

  async quiet(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await this.settle(Promise.resolve());
  }
}

function isRefusal(error: unknown, code: ProblemCode): boolean {
  assert.ok(error instanceof ProblemError, String(error));
  isProblemDocument(error.document, code);
  return true;
}

type Relayed = ReturnType<Cluster['start']>;

/** Lets promises settle while no time passes on the network. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A desktop throws a sprite to its right neighbour. */
function throwSprite({ master }: Relayed, { token }: Seat): void {
  const identity = blankIdentity();
  assert.ok(readToken(token, identity));
  const sprite = { file: 'f'.repeat(64), name: 'Blob' };
  const { edge, passage } = checkCrossing({ crossing: 1, edge: 'right', at: 0.5, vx: 900, vy: 0, sprite });
  assert.equal(master.relay.accept(identity, checkedCrossing(1, edge, passage)).verdict, 'accepted');
}

const hear = (at: Relayed, name: string, steps: number) => {
  const heartbeat = { name, life: 1, step: at.membership.step + 1, count: 0, width: 1, digest: 0, leaving: false };
  at.membership.hear(heartbeat);
  for (let step = 0; step < steps; step++) at.membership.tick(0);
};

describe('the home of a private world', () => {
  it('is the relay of the first join, and later joins elsewhere are passed on to it', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    const ann = await cluster.join(r1, { world: 'garden' });
    assert.equal(ann.at, undefined);
    const bob = await cluster.join(r2, { world: 'garden' });
    assert.deepEqual([bob.at?.apiPort, bob.here.world, r2.master.relay.desktops.count], [r1.port, 2, 0]);
    assert.deepEqual([r1.homes.count, r2.homes.count, r2.homes.counters.passed], [1, 0, 1]);
    const commons = await cluster.join(r2, {});
    assert.deepEqual([commons.world, commons.at], ['commons', undefined]);
  });

  it('is one relay, when several claim it at once', async (t) => {
    const cluster = new Cluster(t);
    const relays = ['r1', 'r2', 'r3', 'r4'].map((name) => cluster.start(name));
    const joins = relays.map((at) => at.homes.join({ name: '', world: 'garden' }));
    await cluster.settle(Promise.all(joins));
    const counts = relays.map(({ master }) => master.relay.torus.find('garden')?.count ?? 0);
    assert.deepEqual(counts.toSorted(), [0, 0, 0, 4]);
  });

  it('is stored under a hash of its name, which nobody can read it from', async (t) => {
    const cluster = new Cluster(t);
    await cluster.join(cluster.start('r1'), { world: 'garden' });
    const [[key, { value }]] = cluster.store.entries;
    assert.equal(key, createHash('sha256').update('garden').digest('hex'));
    assert.equal(Buffer.from(value).toString(), 'r1');
  });

  it('is given up when its last desktop has left, and then any relay may claim it', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    r1.master.relay.leave(0);
    await cluster.quiet();
    assert.deepEqual([cluster.store.entries.size, r1.homes.count], [0, 0]);
    const bob = await cluster.join(r2, { world: 'garden' });
    assert.deepEqual([bob.at, r2.homes.count], [undefined, 1]);
  });

  it('is given up when the join that claimed it is refused', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    for (let slot = 0; slot < 16; slot++) await cluster.join(r1, {});
    await cluster.refused(r1, { world: 'garden' }, 'relay-full');
    await cluster.quiet();
    assert.deepEqual([cluster.store.entries.size, r1.homes.count], [0, 0]);
  });

  it('is given up when the join that claimed it is refused before the world begins', async (t) => {
    const cluster = new Cluster(t);
    const admit = () => {
      throw new ProblemError('banned', 'The operator has banned this address.');
    };
    const r1 = cluster.start('r1', { doorkeeper: { admit, joined() {} } });
    await cluster.refused(r1, { world: 'garden' }, 'banned');
    await cluster.quiet();
    assert.deepEqual([cluster.store.entries.size, r1.homes.count], [0, 0]);
  });

  it('is given up when its relay stops for good, and then any relay may claim it', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    for (const world of ['garden', 'house']) await cluster.join(r1, { world });
    await cluster.join(r2, { world: 'yard' });
    assert.equal(await r1.homes.giveUp(), 2);
    assert.deepEqual([cluster.store.entries.size, r1.homes.count], [1, 0]);
    assert.equal((await cluster.join(r2, { world: 'garden' })).at, undefined);
  });

  it('is given up also when its relay stops before it has compared the claim', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    await cluster.join(r1, { world: 'garden' });
    r1.kill();
    const again = cluster.start('r1', { master: r1.master });
    again.bucket.connect = () => {};
    assert.equal(await again.homes.giveUp(), 1);
    assert.equal(cluster.store.entries.size, 0);
  });

  it('is not claimed again by a relay that stops for good', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    const remove = r1.bucket.remove.bind(r1.bucket);
    const removal = Promise.withResolvers<void>();
    r1.bucket.remove = async (...claim) => {
      await removal.promise;
      await remove(...claim);
    };
    const givenUp = r1.homes.giveUp();
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    const late = r1.homes.join({ name: '', world: 'garden' });
    removal.resolve();
    await assert.rejects(cluster.settle(late), (error) => isRefusal(error, 'relay-busy'));
    assert.equal(await givenUp, 1);
    r1.bucket.connect();
    await cluster.quiet();
    assert.equal(cluster.store.entries.size, 0);
    assert.equal((await cluster.join(r2, { world: 'garden' })).at, undefined);
  });

  it('stays when NATS is away while its relay stops', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    for (const world of ['garden', 'house']) await cluster.join(r1, { world });
    r1.bucket.cut();
    assert.equal(await r1.homes.giveUp(), 0);
    assert.equal(cluster.store.entries.size, 2);
  });

  it('goes on with what waits there when its relay comes back, if nobody has joined elsewhere', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    const [ann] = [await cluster.join(r1, { world: 'garden' }), await cluster.join(r1, { world: 'garden' })];
    throwSprite(r1, ann);
    await r1.homes.giveUp();
    r1.kill();
    const again = cluster.start('r1', { master: r1.master });
    await cluster.quiet();
    assert.deepEqual([again.ended, again.master.relay.waiting], [[], 1]);
    assert.equal((await cluster.join(r2, { world: 'garden' })).at?.apiPort, again.port);
  });

  it('keeps what waits there when its relay comes back later, and gives it to the next desktop for which it is the home', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    const [ann] = [await cluster.join(r1, { world: 'garden' }), await cluster.join(r1, { world: 'garden' })];
    throwSprite(r1, ann);
    await r1.homes.giveUp();
    r1.kill();
    await cluster.join(r2, { world: 'garden' });
    const again = cluster.start('r1', { master: r1.master });
    await cluster.quiet();
    assert.deepEqual([again.ended.length, again.master.relay.waiting], [2, 1]);
    r2.master.relay.leave(0);
    await cluster.quiet();
    assert.equal((await cluster.join(again, { world: 'garden' })).at, undefined);
    const { slots } = again.master.relay.torus.find('garden') as World;
    again.master.relay.advance(KEPT_STEP_MS);
    assert.equal(again.master.relay.mailboxes.count(slots[0]), 1);
  });

  it('stays when a desktop joins while its claim is being removed', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    await cluster.join(r1, { world: 'garden' });
    r1.master.relay.leave(0);
    assert.equal(r1.homes.isHere({ name: '', world: 'garden' }), false, 'it is not known yet');
    await cluster.join(r1, { world: 'garden' });
    await cluster.quiet();
    assert.deepEqual([cluster.store.entries.size, r1.homes.count], [1, 1]);
  });

  it('goes on while NATS is away; joins to other worlds are refused, and no second home begins', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    for (const { bucket, node } of [r1, r2]) {
      bucket.cut();
      node.isConnected = false;
    }
    assert.equal((await cluster.join(r1, { world: 'garden' })).here.world, 2);
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    await cluster.refused(r1, { world: 'house' }, 'relay-busy');
    assert.equal(r2.homes.counters.unreachable, 1);
  });

  it('stays with a relay that died, and is there again when that relay has recovered', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    r1.kill();
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    const again = cluster.start('r1', { master: r1.master });
    const bob = await cluster.join(r2, { world: 'garden' });
    assert.deepEqual([bob.at?.apiPort, bob.here.world], [again.port, 2]);
  });

  it('is claimed again by its relay when NATS has lost it', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    cluster.store.entries.clear();
    r1.bucket.connect();
    await cluster.quiet();
    assert.equal((await cluster.join(r2, { world: 'garden' })).at?.apiPort, r1.port);
  });

  it('moves when an operator has forgotten its relay, which ends its desktops when it comes back', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    hear(r2, 'r1', 1);
    r1.kill();
    r2.membership.forget('r1');
    assert.equal((await cluster.join(r2, { world: 'garden' })).at, undefined);
    const again = cluster.start('r1', { master: r1.master });
    await cluster.quiet();
    assert.deepEqual(again.ended, [0]);
    assert.equal(again.homes.count, 0);
    assert.equal((await cluster.join(again, { world: 'garden' })).at?.apiPort, r2.port);
  });

  it('is one relay, when several take it over at once', async (t) => {
    const cluster = new Cluster(t);
    const [r1, ...others] = ['r1', 'r2', 'r3', 'r4'].map((name) => cluster.start(name));
    await cluster.join(r1, { world: 'garden' });
    r1.kill();
    for (const at of others) {
      hear(at, 'r1', 1);
      at.membership.forget('r1');
    }
    await cluster.settle(Promise.all(others.map((at) => at.homes.join({ name: '', world: 'garden' }))));
    const counts = others.map(({ master }) => master.relay.torus.find('garden')?.count ?? 0);
    assert.deepEqual(counts.toSorted(), [0, 0, 3]);
  });

  it('is given up with all claims of a relay that an operator has forgotten, so that relays which start later may claim it', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    for (const world of ['garden', 'house']) await cluster.join(r1, { world });
    await cluster.join(r2, { world: 'yard' });
    r1.kill();
    assert.equal(await r2.homes.forget('r1'), 2);
    assert.equal(cluster.store.entries.size, 1);
    const r3 = cluster.start('r3');
    assert.equal((await cluster.join(r3, { world: 'garden' })).at, undefined);
  });

  it('moves when its relay has been gone for ten minutes, and not before', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    hear(r2, 'r1', 1);
    r1.kill();
    const silentSteps = () => [...r2.membership.relays()].find(({ name }) => name === 'r1')?.silentSteps as number;
    while (silentSteps() * STEP_MS < HOME_GONE_MS) r2.membership.tick(0);
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    r2.membership.tick(0);
    assert.equal((await cluster.join(r2, { world: 'garden' })).at, undefined);
  });

  it('moves when its relay was gone before this one started, ten minutes after that', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    await cluster.join(r1, { world: 'garden' });
    r1.kill();
    const r2 = cluster.start('r2');
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    cluster.nowMs = HOME_GONE_MS;
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    cluster.nowMs++;
    assert.equal((await cluster.join(r2, { world: 'garden' })).at, undefined);
  });

  it('ends its desktops ENDS_PER_TURN in a turn when it has moved: one below, at the limit, one above', async (t) => {
    for (const [desktops, perTurn] of [
      [ENDS_PER_TURN - 1, [ENDS_PER_TURN - 1]],
      [ENDS_PER_TURN, [ENDS_PER_TURN]],
      [ENDS_PER_TURN + 1, [ENDS_PER_TURN, 1]],
    ] as const) {
      const cluster = new Cluster(t);
      const [r1, r2] = [cluster.start('r1', { master: cluster.master(desktops) }), cluster.start('r2')];
      for (let n = 0; n < desktops; n++) await cluster.join(r1, { world: 'garden' });
      hear(r2, 'r1', 1);
      r1.kill();
      r2.membership.forget('r1');
      await cluster.join(r2, { world: 'garden' });
      const again = cluster.start('r1', { master: r1.master });
      await cluster.quiet();
      assert.deepEqual(again.endedPerTurn, perTurn);
    }
  });

  it('is compared with its claim, CLAIMS_AT_A_TIME worlds at once: one below, at the limit, one above', async (t) => {
    for (const worlds of [CLAIMS_AT_A_TIME - 1, CLAIMS_AT_A_TIME, CLAIMS_AT_A_TIME + 1]) {
      const cluster = new Cluster(t);
      const r1 = cluster.start('r1', { master: cluster.master(worlds) });
      for (let n = 0; n < worlds; n++) await cluster.join(r1, { world: `garden ${n}` });
      const get = r1.bucket.get.bind(r1.bucket);
      const answers: (() => void)[] = [];
      let asked = 0;
      r1.bucket.get = async (key) => {
        asked++;
        await new Promise<void>((resolve) => void answers.push(resolve));
        return get(key);
      };
      const confirmed = r1.homes.confirm();
      await cluster.quiet();
      assert.equal(asked, Math.min(worlds, CLAIMS_AT_A_TIME));
      while (asked < worlds || answers.length > 0) {
        for (const answer of answers.splice(0)) answer();
        await cluster.quiet();
      }
      await cluster.settle(confirmed);
      assert.deepEqual([asked, r1.homes.count], [worlds, worlds]);
    }
  });

  it('is looked for TRIES_MAX times while its claim changes: one below, at the limit, one above', async (t) => {
    for (const tries of [TRIES_MAX - 1, TRIES_MAX, TRIES_MAX + 1]) {
      const cluster = new Cluster(t);
      const r1 = cluster.start('r1');
      const create = r1.bucket.create.bind(r1.bucket);
      let tried = 0;
      r1.bucket.create = async (key, value) => (++tried < tries ? undefined : create(key, value));
      if (tries <= TRIES_MAX) await cluster.join(r1, { world: 'garden' });
      else await cluster.refused(r1, { world: 'garden' }, 'relay-busy');
      assert.equal(tried, Math.min(tries, TRIES_MAX));
    }
  });

  it('is asked TRIES_MAX times while it says that it is another relay: one below, at the limit, one above', async (t) => {
    for (const tries of [TRIES_MAX - 1, TRIES_MAX, TRIES_MAX + 1]) {
      const cluster = new Cluster(t);
      const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
      await cluster.join(r1, { world: 'garden' });
      const request = r2.node.request.bind(r2.node);
      let tried = 0;
      r2.node.request = async (...question) =>
        ++tried < tries ? encodePeerJoinAnswer({ elsewhere: true }) : request(...question);
      if (tries <= TRIES_MAX) await cluster.join(r2, { world: 'garden' });
      else await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
      assert.equal(tried, Math.min(tries, TRIES_MAX));
    }
  });

  it('has ANSWER_MS to answer a join that was passed on: one below, at the limit, one above', async (t) => {
    for (const [ms, isInTime] of [
      [ANSWER_MS - 1, true],
      [ANSWER_MS, false],
      [ANSWER_MS + 1, false],
    ] as const) {
      const cluster = new Cluster(t);
      const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
      await cluster.join(r1, { world: 'garden' });
      const { network, networkMs } = cluster;
      // Half of it each way.
      network.faults.delayMs = ms;
      const joined = r2.homes.join({ name: '', world: 'garden' }).then(
        () => true,
        (error) => !isRefusal(error, 'relay-busy'),
      );
      await turns();
      network.advance(networkMs + ms / 2);
      await turns();
      network.advance(networkMs + ms);
      assert.equal(await joined, isInTime, `after ${ms} ms`);
    }
  });

  it('is asked for at most JOINS_WAITING_MAX times at once', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.join(r1, { world: 'garden' });
    // Nobody delivers, so all of them wait.
    const joins = Array.from({ length: JOINS_WAITING_MAX }, () => r2.homes.join({ name: '', world: 'garden' }));
    for (const join of joins) join.catch(() => {});
    await assert.rejects(r2.homes.join({ name: '', world: 'garden' }), (error) => isRefusal(error, 'relay-busy'));
    await cluster.settle(Promise.allSettled(joins));
    await cluster.join(r2, { world: 'garden' }).catch((error) => assert.equal(error.document.code, 'relay-full'));
  });

  it('is looked for at most JOINS_WAITING_MAX times at once, also when other relays ask', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    r1.bucket.get = () => new Promise(() => {}); // NATS does not answer
    for (let n = 0; n < JOINS_WAITING_MAX; n++) r1.homes.join({ name: '', world: `garden ${n}` }).catch(() => {});
    const question = encodePeerJoin({ name: '', world: 'house' });
    const bytes = await cluster.settle(r2.node.request('sprites.joins.r1', question, 1_000));
    const answer = decodePeerJoinAnswer(bytes);
    assert.equal(answer && 'problem' in answer && answer.problem.code, 'relay-busy');
  });

  it('must have public addresses to be joined from another machine', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1', { machine: 'other' }), cluster.start('r2')];
    const r3 = cluster.start('r3', { machine: 'other', url: 'https://r3.example' });
    await cluster.join(r1, { world: 'garden' });
    await cluster.refused(r2, { world: 'garden' }, 'relay-busy');
    await cluster.join(r3, { world: 'house' });
    assert.equal((await cluster.join(r2, { world: 'house' })).at?.apiPort, r3.port);
  });
});

describe('a private world with two homes', () => {
  /** Sprites that wait at the relay that was the home, of which Ann and Amy are told to join again. */
  const SPRITES = 20;

  /** A world at r1 with sprites that wait, which r2 takes over after an operator has forgotten r1. */
  async function takeOver(t: TestContext, cut: (r1: PeeredRelay) => void) {
    const cluster = new PeeredRelays(t);
    const [r1, r2] = [cluster.start('r1', 1), cluster.start('r2', 2)];
    await cluster.settle(r1.homes.join({ name: 'Ann', world: 'garden' }));
    const ann = { slot: 0, generation: r1.relay.desktops.generation(0), token: new Uint32Array(4) };
    seat(r1, 'Amy', 'garden');
    await cluster.run(3_000);
    for (let crossing = 1; crossing <= SPRITES; crossing++) throwRight(r1, ann, crossing);
    assert.equal(r1.relay.waiting, SPRITES);
    cut(r1);
    await cluster.run(3_000);
    r2.peering.membership.forget('r1');
    await cluster.settle(r2.homes.join({ name: 'Bob', world: 'garden' }));
    assert.equal(r2.homes.count, 1, 'it is at home there');
    const bob = { slot: 0, generation: r2.relay.desktops.generation(0), token: new Uint32Array(4) };
    r2.master.poll(r2.link, 1, bob, 2, -1);
    return { cluster, r1, r2, ann };
  }

  /** Every sprite is at the home, once, and the accounts are exact. */
  function assertMoved(r1: PeeredRelay, r2: PeeredRelay): void {
    assert.deepEqual([r1.homes.count, r1.relay.torus.find('garden'), r1.relay.waiting], [0, undefined, 0]);
    assert.deepEqual([r2.relay.torus.find('garden')?.count, r2.relay.waiting], [1, SPRITES]);
    const { accepted, acknowledged, abandoned } = r1.relay.counters;
    assert.deepEqual([accepted, acknowledged, abandoned], [SPRITES, SPRITES, 0]);
    assert.equal(r2.relay.counters.accepted, SPRITES);
  }

  it('has one again as soon as the other one claims it, although the first never lost NATS; what waits follows, once', async (t) => {
    // Others do not hear r1 any more, but it reaches the bucket.
    const { cluster, r1, r2, ann } = await takeOver(t, ({ node }) => {
      node.isConnected = false;
    });
    await cluster.run(100);
    assert.equal(r1.relay.desktops.isLive(ann.slot), false, 'its desktops are told to join again');
    assert.deepEqual([r1.homes.count, r1.relay.waiting], [0, SPRITES]);
    Object.assign(cluster.network.faults, { lost: 0.2, repeated: 0.3 });
    r1.node.isConnected = true;
    await cluster.run(20_000);
    assertMoved(r1, r2);
  });

  it('has one again when NATS, which had two parts, is whole; what waits follows, once', async (t) => {
    const { cluster, r1, r2 } = await takeOver(t, ({ node, bucket }) => {
      node.isConnected = false;
      bucket.cut();
    });
    await cluster.run(1_000);
    assert.deepEqual([r1.homes.count, r2.homes.count], [1, 1], 'each part has one');
    Object.assign(cluster.network.faults, { lost: 0.2, repeated: 0.3 });
    r1.node.isConnected = true;
    r1.bucket.connect();
    await cluster.run(20_000);
    assertMoved(r1, r2);
  });

  it('keeps what waits while the other one has no desktop, and gets it back when it is at home there again', async (t) => {
    const { cluster, r1, r2 } = await takeOver(t, ({ node }) => {
      node.isConnected = false;
    });
    await cluster.run(100);
    r2.relay.leave(0);
    await cluster.run(100);
    await cluster.settle(r1.homes.join({ name: 'Ann', world: 'garden' }));
    r1.node.isConnected = true;
    await cluster.run(5_000);
    assert.deepEqual([r1.homes.count, r2.homes.count], [1, 0]);
    assert.deepEqual([r1.relay.waiting, r2.relay.waiting, r1.relay.keptBytes], [SPRITES, 0, 0]);
  });

  it('sends what waits to a third relay when that is the home in the end', async (t) => {
    const { cluster, r1, r2 } = await takeOver(t, ({ node }) => {
      node.isConnected = false;
    });
    const r3 = cluster.start('r3', 3);
    await cluster.run(100);
    r2.relay.leave(0);
    await cluster.run(100);
    await cluster.settle(r3.homes.join({ name: 'Bob', world: 'garden' }));
    r1.node.isConnected = true;
    await cluster.run(5_000);
    assert.deepEqual(
      [r1, r2, r3].map(({ relay }) => relay.waiting),
      [0, 0, SPRITES],
    );
  });

  it('does not bring pictures into a world that is stricter about them', async (t) => {
    const { cluster, r1, r2 } = await takeOver(t, ({ node }) => {
      node.isConnected = false;
    });
    const garden = r2.relay.torus.find('garden') as World;
    garden.pictures = 'known';
    r1.node.isConnected = true;
    await cluster.run(5_000);
    assert.deepEqual([r1.relay.waiting, r2.relay.waiting], [SPRITES, 0]);
    garden.pictures = 'any';
    await cluster.run(5_000);
    assert.deepEqual([r1.relay.waiting, r2.relay.waiting], [0, SPRITES]);
  });
});

describe('an invitation in a cluster', () => {
  it('leads to the relay that it is of, beside the friend', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    const ann = await cluster.join(r1, { world: 'garden' });
    assert.match(ann.invitation, /\.r1$/);
    const bob = await cluster.join(r2, { near: ann.invitation });
    assert.deepEqual([bob.world, bob.at?.apiPort, bob.here.world], ['garden', r1.port, 2]);
    const carol = await cluster.join(r1, { near: ann.invitation });
    assert.deepEqual([carol.at, carol.here.world], [undefined, 3]);
    await cluster.refused(r2, { near: ann.invitation, world: 'house' }, 'near-gone');
  });

  it('is refused for good when its relay is not known, and for now when it is only away', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    const ann = await cluster.join(r1, {});
    r1.kill();
    await cluster.refused(r2, { near: ann.invitation }, 'near-gone');
    hear(r2, 'r1', 1);
    await cluster.refused(r2, { near: ann.invitation }, 'relay-busy');
  });
});
