/**
 * Workers that hang, and workers that cannot be forked: the relay goes on with the others, replaces them as soon as it can,
 * and its metrics answer all the time.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { whyNoNativeFront } from '../front/native.ts';
import { WORKER_SILENCE_MS_MAX } from '../processes/heartbeats.ts';
import { DesktopClient, type HttpResponse, sendRequest } from './desktop_client.ts';
import { BOUNDED, LEVEL, type LogLine, type RelayProcess, startRelay, until } from './relay_process.ts';

const linuxOnly = process.platform === 'linux' ? false : 'uses signals and limits of Linux';

const isDeath =
  (victim: number) =>
  ({ msg, workerPid }: LogLine) =>
    msg.startsWith('a worker died') && workerPid === victim;

/** The relays of this suite run side by side, because it mostly waits; the tests of a relay run one after the other. */
const SERIAL = { ...BOUNDED, concurrency: 1 };

describe('workers', { ...BOUNDED, concurrency: 3 }, () => {
  describe('a relay with a worker that hangs', { ...SERIAL, skip: linuxOnly || whyNoNativeFront() }, () => {
    let relay: RelayProcess;
    const clients: DesktopClient[] = [];
    before(async () => {
      relay = await startRelay({ workers: 2, front: 'native' });
    });
    after(async () => {
      await Promise.all(clients.map((client) => client.stop()));
      await relay?.stop();
    });

    it('answers a scrape without the worker, and leaves it alone when it hangs no longer than that', async () => {
      const [victim] = relay.pids.workers;
      relay.kill(victim, 'SIGSTOP');
      await until('it is silent', async () => (await relay.metrics()).get('sprites_workers_unanswered') === 1);
      const scraped = await relay.metrics();
      assert.equal(scraped.get('sprites_workers'), 2);
      assert.ok((scraped.get('sprites_worker_rss_bytes') as number) > 0, 'the metrics of the other worker are there');
      assert.equal(relay.log.some(isDeath(victim)), false, 'a scrape answers before the worker is given up');
      relay.kill(victim, 'SIGCONT');
      await until('it answers again', async () => (await relay.metrics()).get('sprites_workers_unanswered') === 0);
      assert.equal(relay.log.some(isDeath(victim)), false);
    });

    it('answers every request, and replaces the worker', async (t) => {
      for (const [name, transport] of [
        ['Ann', 'poll'],
        ['Bob', 'socket'],
        ['Cid', 'socket'],
      ] as const) {
        clients.push(await DesktopClient.join(relay.url, { name, transport }));
      }
      const [victim] = relay.pids.workers;
      relay.kill(victim, 'SIGSTOP');
      const startMs = performance.now();
      let retries = 0;
      const request = async (): Promise<HttpResponse> => {
        try {
          return await sendRequest(`${relay.url}/sprites/index.json`);
        } catch {
          retries++;
          return request();
        }
      };
      const answers = await Promise.all(Array.from({ length: 20 }, request));
      for (const { status } of answers) assert.equal(status, 200);
      t.diagnostic(`20 requests took ${Math.round(performance.now() - startMs)} ms, with ${retries} retries`);
      const death = await relay.waitForLog(isDeath(victim));
      assert.equal(death.how, 'silent');
      await until('there are two workers again', () => {
        const { workers } = relay.pids;
        return workers.length === 2 && !workers.includes(victim);
      });
      assert.equal((await relay.metrics()).get('sprites_workers_unanswered'), 0);
      for (const [n, client] of clients.entries()) {
        assert.equal((await client.throw('right', `${n}`))?.problem, undefined);
      }
      await until('each sprite is received once', () => clients.every(({ received }) => received.length === 1));
      assert.equal((await relay.metrics()).get('sprites_leases_ended_total'), 0);
    });
  });

  describe('a relay that can fork no worker', { ...SERIAL, skip: linuxOnly }, () => {
    let relay: RelayProcess;
    const clients: DesktopClient[] = [];
    before(async () => {
      relay = await startRelay({ workers: 2 });
    });
    after(async () => {
      await Promise.all(clients.map((client) => client.stop()));
      await relay?.stop();
    });

    it('serves with the workers it has, tries again, and recovers', async () => {
      for (const name of ['Ann', 'Bob']) clients.push(await DesktopClient.join(relay.url, { name }));
      await until('both polls are held', async () => (await relay.metrics()).get('sprites_polls_parked') === 2);
      const { master, workers } = relay.pids;
      const [victim] = workers;
      const limitFiles = (soft: number) => execFileSync('prlimit', [`--pid=${master}`, `--nofile=${soft}:`]);
      // From now on the master can open no file, and a process needs two.
      limitFiles(3);
      relay.kill(victim, 'SIGKILL');
      const tries = () => relay.log.filter(({ msg }) => msg.startsWith('a worker could not be forked'));
      await until('two forks have failed', () => tries().length >= 2);
      const [first, second] = tries();
      assert.ok((second.againMs as number) > (first.againMs as number), 'the delay grows');
      const [ann, bob] = clients;
      assert.equal((await ann.throw('right', 'meanwhile'))?.problem, undefined);
      await until('the sprite is received', () => bob.received.length === 1);
      limitFiles(4096);
      await until('there are two workers again', () => {
        const { workers: now } = relay.pids;
        return now.length === 2 && !now.includes(victim);
      });
      assert.equal((await relay.metrics()).get('sprites_workers'), 2);
    });

    it('blames no worker after the master itself was stopped for longer than a worker may be silent', async () => {
      const deaths = () => relay.log.filter(({ msg }) => msg.startsWith('a worker died')).length;
      const before = deaths();
      relay.kill(relay.pids.master, 'SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, WORKER_SILENCE_MS_MAX + 1_000));
      relay.kill(relay.pids.master, 'SIGCONT');
      await until('it answers', async () => (await relay.metrics()).get('sprites_workers') === 2);
      assert.equal(deaths(), before);
    });
  });

  describe('a relay that stops while a worker starts', { ...SERIAL, skip: linuxOnly }, () => {
    it('ends that worker, and does not call it an error', async () => {
      const relay = await startRelay({ workers: 1 });
      const { master, workers } = relay.pids;
      const [victim] = workers;
      // A child has its own environment once it runs: one that is stopped before that would stop the master, which waits for it.
      const isStarting = (pid: number) =>
        pid > 0 && pid !== victim && readFileSync(`/proc/${pid}/environ`, 'utf8').includes('SPRITES_WORKER=');
      const starting = () =>
        readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').split(' ').map(Number).find(isStarting);
      relay.kill(victim, 'SIGKILL');
      await until('another is starting', () => starting() !== undefined);
      relay.kill(starting() as number, 'SIGSTOP');
      const { code } = await relay.stop();
      assert.equal(code, 0);
      const errors = relay.log.filter((line) => line.level >= LEVEL.error && !isDeath(victim)(line));
      assert.deepEqual(errors, []);
    });
  });
});
