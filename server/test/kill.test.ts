/**
 * Conservation over real sockets while workers are killed: what was accepted is got once, by somebody, or still waits.
 *
 * Every sprite is named by its thrower and number, so each has one fate that can be told at the end.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { DesktopClient } from './desktop_client.ts';
import { onEachFront } from './fronts.ts';
import { randomOf } from './random.ts';
import { type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS = 120;
const KILLS = 5;

/** Accepted throws between a worker's return and the next kill, at the most. */
const THROWS_BETWEEN_MAX = 600;

/** A desktop rests this long after each throw, in ms: the relay, not the machine, is what is tried. */
const REST_MS = 40;

const EDGES = ['left', 'right', 'top', 'bottom'] as const;

onEachFront('a relay whose workers are killed', (front) => {
  let relay: RelayProcess;
  const clients: DesktopClient[] = [];
  before(async () => {
    relay = await startRelay({ workers: 2, front });
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.stop()));
    await relay?.stop();
  });

  it('loses no accepted sprite, and lets none be got twice', async (t) => {
    const random = randomOf(t);
    const transports = ['poll', 'socket'] as const;
    for (let n = 0; n < DESKTOPS; n++) {
      clients.push(await DesktopClient.join(relay.url, { name: `d${n}`, transport: transports[n % 2] }));
    }
    const accepted = new Set<string>();
    let over = false;
    const throws = clients.map(async (client, n) => {
      for (let at = 0; !over; at++) {
        const sprite = `${n}:${at}`;
        const verdict = await client.throw(EDGES[Math.floor(random() * 4)], sprite);
        if (!verdict) return;
        assert.equal(verdict.problem, undefined, `${sprite} was refused: ${verdict.problem?.detail}`);
        accepted.add(sprite);
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
      }
    });
    try {
      for (let kill = 1; kill <= KILLS; kill++) {
        const due = accepted.size + 100 + random() * THROWS_BETWEEN_MAX;
        await until(`${Math.round(due)} throws are accepted`, () => accepted.size >= due);
        const { workers } = relay.pids;
        const victim = workers[Math.floor(random() * workers.length)];
        relay.kill(victim, 'SIGKILL');
        await relay.waitForLog(({ msg, pid }) => msg.startsWith('a worker died') && pid === victim);
        // The next one only once this one is back: a relay without any worker is another test's.
        await until('another is ready', () => relay.pids.workers.length === 2 && !relay.pids.workers.includes(victim));
      }
    } finally {
      over = true;
    }
    await Promise.all(throws);

    const count = async () => {
      const metrics = await relay.metrics();
      const of = (name: string) => metrics.get(`sprites_${name}`) as number;
      return { accepted: of('accepted_total'), acknowledged: of('acknowledged_total'), waiting: of('waiting'), of };
    };
    await until('all that was accepted is acknowledged', async () => (await count()).waiting === 0);
    const { accepted: counted, acknowledged, waiting, of } = await count();
    assert.equal(counted, acknowledged + waiting + of('abandoned_total'));
    assert.equal(counted, accepted.size, 'a retried throw counts once');
    assert.equal(of('workers'), 2);
    assert.equal(of('left_total'), 0, 'nobody’s lease has ended over a dead worker');

    const seen = new Map<string, number>();
    for (const { received, ended } of clients) {
      assert.equal(ended, undefined);
      for (const { sprite } of received) seen.set(sprite.name, (seen.get(sprite.name) ?? 0) + 1);
      assert.deepEqual(
        received.map(({ seq }) => seq),
        received.map((_, index) => index + 1),
        'in order, without a gap',
      );
    }
    assert.deepEqual(
      [...seen].filter(([, times]) => times !== 1),
      [],
      'seen twice',
    );
    assert.deepEqual(
      [...accepted].filter((sprite) => !seen.has(sprite)),
      [],
      'lost',
    );
    assert.equal(seen.size, accepted.size, 'from nowhere');
    const retries = clients.reduce((sum, client) => sum + client.retries, 0);
    assert.ok(retries > 0, 'the kills were felt');
    t.diagnostic(
      `${KILLS} workers killed, ${accepted.size} sprites, ${retries} retries, ${of('repeated_total')} repeats`,
    );
  });
});
