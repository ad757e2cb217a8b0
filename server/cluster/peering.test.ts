import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import type { Logger } from 'pino';
import { Recovery } from '../domain/recovery.ts';
import { RecordWriter, readRecords } from '../journal/records.ts';
import { PeeredRelays, seat, silent, throwRight } from '../test/peered_relays.ts';
import { PretendNetwork } from '../test/pretend_network.ts';
import { turnsOf } from '../test/relay_harness.ts';
import { encodeHeartbeat } from '../wire/peers/heartbeat.ts';
import { ANSWER_MS, beginMembership, Peering } from './peering.ts';

describe('peering', () => {
  it('waits ANSWER_MS for the answer to a frame: one below, at the limit, one above', async (t) => {
    for (const ms of [ANSWER_MS - 1, ANSWER_MS, ANSWER_MS + 1]) {
      const network = new PretendNetwork(() => 0.5);
      // Half of it each way.
      network.faults.delayMs = ms;
      const turns = turnsOf({ slots: 1 });
      const peering = new Peering({
        ...{ turns, membership: beginMembership('a', turns.relay), network: network.node(), log: silent },
        ...{ data: tmpdir(), superseded: () => {} },
      });
      t.after(() => peering.close());
      peering.membership.hear({ name: 'b', life: 7, step: 1, count: 0, width: 1, digest: 0, leaving: false });
      network.node().subscribe('sprites.frames.b.7', (bytes, answer) => answer?.(bytes));
      const { peers } = peering;
      const frame = { peer: 'b', number: 1, frame: Buffer.from('frame'), places: [] };
      t.mock.method(peers, 'popOutgoing', () => [frame], { times: 1 });
      const outcome = Promise.withResolvers<string>();
      t.mock.method(peers, 'answered', () => outcome.resolve('answered'));
      t.mock.method(peers, 'failed', (_: unknown, isCertain: boolean) => outcome.resolve(`failed, ${isCertain}`));
      peering.flush();
      network.advance(ms / 2);
      network.advance(ms);
      assert.equal(await outcome.promise, ms < ANSWER_MS ? 'answered' : 'failed, false', `after ${ms} ms`);
    }
  });

  it('has a later life with each start, also when the clock was set back, and writes it down again when the journal is compacted', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1e12 });
    let records = new RecordWriter(0);
    const start = (nowMs: number) => {
      t.mock.timers.setTime(nowMs);
      const turns = turnsOf({ slots: 1 });
      const { relay } = turns;
      readRecords(records.bytes, 0, records.end, new Recovery(relay, 0));
      records = new RecordWriter(0);
      relay.peerMemory.writeState(records);
      relay.setFacts(records);
      const membership = beginMembership('a', relay);
      const options = { turns, membership, network: new PretendNetwork(() => 0.5).node(), log: silent, data: tmpdir() };
      const peering = new Peering({ ...options, superseded: () => {} });
      t.after(() => peering.close());
      return peering.membership.life;
    };
    const lives = [0, -60_000, -60_000, 1, 5_000].map((ms) => start(1e12 + ms) - 1e12);
    assert.deepEqual(lives, [0, 1, 2, 3, 5_000]);
  });

  it('logs once a minute that it ignores a relay with an earlier life, or an earlier process under its own name', (t) => {
    const lines: string[] = [];
    const warning = {
      ...silent,
      warn: ({ relay }: { relay: string }, text: string) => lines.push(`${relay}: ${text}`),
    };
    const network = new PretendNetwork(() => 0.5);
    const turns = turnsOf({ slots: 1 });
    const membership = beginMembership('a', turns.relay);
    const peering = new Peering({
      ...{ turns, membership, network: network.node(), log: warning as unknown as Logger },
      ...{ data: tmpdir(), superseded: () => {} },
    });
    t.after(() => peering.close());
    const { life } = peering.membership;
    const other = network.node();
    const beat = (name: string, life: number) =>
      encodeHeartbeat({ name, life, step: 1, count: 0, width: 1, digest: 0, leaving: false });
    for (const heartbeat of [beat('b', 7), beat('b', 6), beat('b', 6), beat('a', life - 1)]) {
      other.publish('sprites.heartbeat', heartbeat);
      network.advance(0);
    }
    assert.equal(lines.length, 1);
    assert.match(lines[0], /^b: a relay is ignored, because a later start of it is known/);
  });

  it('brings each throw to one relay while another one takes over its name, and refuses none that is shown', async (t) => {
    const cluster = new PeeredRelays(t);
    const [older, thrower] = [cluster.start('a', 1), cluster.start('b', 2)];
    const bob = seat(thrower, 'Bob');
    seat(older, 'Ann');
    await cluster.run(3_000);
    let crossing = 0;
    const throwOne = () => {
      if (cluster.nowMs % 50 === 0) throwRight(thrower, bob, ++crossing);
    };
    await cluster.run(500, throwOne);
    assert.ok([...thrower.statuses.values()].includes(202), 'they are accepted before');
    const newer = cluster.start('a', 3);
    seat(newer, 'Ann');
    await cluster.run(4_000, throwOne);
    await cluster.run(2 * ANSWER_MS);
    assert.equal(thrower.statuses.size, crossing, 'every throw has an answer');
    const accepted = [...thrower.statuses.values()].filter((status) => status === 202).length;
    // While nobody else is in the world, he is his own neighbour.
    const shown = [older, newer, thrower].reduce((sum, { relay }) => sum + relay.waiting, 0);
    assert.equal(shown, accepted);
    assert.ok(older.relay.draining && newer.relay.waiting > 0, 'the newer one has taken over');
  });

  it('asks the earlier process of a name about what was in doubt when another one took over', async (t) => {
    const cluster = new PeeredRelays(t);
    const [older, thrower] = [cluster.start('a', 1), cluster.start('b', 2)];
    const bob = seat(thrower, 'Bob');
    seat(older, 'Ann');
    await cluster.run(3_000);
    const newer = cluster.start('a', 3);
    seat(newer, 'Ann');
    let crossing = 0;
    // Half of the messages are lost, heartbeats and answers too.
    cluster.network.faults.lost = 0.5;
    await cluster.run(2_500, () => {
      if (cluster.nowMs % 100 === 0) throwRight(thrower, bob, ++crossing);
    });
    cluster.network.faults.lost = 0;
    await cluster.run(4 * ANSWER_MS);
    assert.ok(thrower.peering.peers.counters.repeats > 0);
    assert.equal(thrower.relay.counters.abandoned, 0, 'nothing is given up');
    const accepted = [...thrower.statuses.values()].filter((status) => status === 202).length;
    assert.equal(
      [older, newer, thrower].reduce((sum, { relay }) => sum + relay.waiting, 0),
      accepted,
    );
  });
});
