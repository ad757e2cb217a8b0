/**
 * No sprite is lost or doubled over real sockets while workers are killed: each accepted sprite is received once, or waits.
 *
 * Each sprite is named after its thrower and number, so the test can tell at the end what became of it.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Crowd } from './crowd.ts';
import { onEachFront } from './fronts.ts';
import { randomOf } from './random.ts';
import { type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS = 16;
const KILLS = 3;

/** The most accepted throws between a worker's return and the next kill. */
const THROWS_BETWEEN_MAX = 200;

/** Pause of a desktop after each throw, in ms: the test is to stress the relay, not the machine. */
const REST_MS = 40;

onEachFront('a relay whose workers are killed', (front) => {
  let relay: RelayProcess;
  const crowd = new Crowd();
  before(async () => {
    relay = await startRelay({ workers: 2, front });
  });
  after(async () => {
    await crowd.stop();
    await relay?.stop();
  });

  it('loses no accepted sprite, and delivers none twice', async (t) => {
    const random = randomOf(t);
    await crowd.join(relay.url, DESKTOPS);
    const { accepted } = crowd;
    await crowd.throwDuring(random, REST_MS, async () => {
      for (let kill = 1; kill <= KILLS; kill++) {
        const due = accepted.size + 50 + random() * THROWS_BETWEEN_MAX;
        await until(`${Math.round(due)} throws are accepted`, () => accepted.size >= due);
        const { workers } = relay.pids;
        const victim = workers[Math.floor(random() * workers.length)];
        relay.kill(victim, 'SIGKILL');
        await relay.waitForLog(({ msg, workerPid }) => msg.startsWith('a worker died') && workerPid === victim);
        // The next kill waits until this worker is back: a relay without workers is another test's subject.
        await until('another is ready', () => relay.pids.workers.length === 2 && !relay.pids.workers.includes(victim));
      }
    });

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
    assert.equal(of('left_total'), 0, 'no lease ended because of a dead worker');

    crowd.assertConserved();
    const { retries } = crowd;
    assert.ok(retries > 0, 'the kills had an effect');
    t.diagnostic(
      `${KILLS} workers killed, ${accepted.size} sprites, ${retries} retries, ${of('repeated_total')} repeats`,
    );
  });
});
