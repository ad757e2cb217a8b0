/** The bucket of NATS, on a real NATS. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Logger } from 'pino';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { BOUNDED, until } from '../test/relay_process.ts';
import type { Bucket } from './bucket.ts';
import { NatsNetwork } from './nats.ts';
import { ANSWER_MS } from './nats_bucket.ts';

const log = { warn() {}, info() {}, debug() {}, error() {} } as unknown as Logger;
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();
const bytes = (value: string) => Buffer.from(value);

/** Lets promises settle; NATS does not answer meanwhile. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a bucket of NATS', { ...BOUNDED, skip: whyNoNats() }, () => {
  let nats: NatsServer;
  let networks: NatsNetwork[];
  let one: Bucket;
  let two: Bucket;
  const seen: string[] = [];
  const changed: string[] = [];
  /** How often each of the two has been told that it is connected. */
  const connections = [0, 0];

  before(async () => {
    nats = await NatsServer.start();
    networks = ['r1', 'r2'].map((name) => new NatsNetwork({ url: nats.url, name }, log));
    [one, two] = networks.map((network) => network.bucket('tests', 1 << 20));
    one.watch({
      connected: () => {
        connections[0]++;
      },
      changed: ({ key, value }) => void changed.push(`${key} ${text(value)}`),
    });
    two.watch({
      connected: () => {
        connections[1]++;
      },
      receive: ({ key, value }) => void seen.push(`${key} ${text(value)}`),
    });
    await until('both are open', () => connections.every((count) => count > 0));
  });
  after(async () => {
    for (const network of networks ?? []) await network.close();
    await nats?.kill();
  });

  it('lets one of two create a key, and each replace or remove only the value that it names', async () => {
    const made = await Promise.all([one.create('home', bytes('r1')), two.create('home', bytes('r2'))]);
    const [first] = made.filter((revision) => revision !== undefined) as number[];
    assert.equal(made.filter((revision) => revision === undefined).length, 1);
    assert.equal((await two.get('home'))?.revision, first);
    const second = (await two.update('home', bytes('r3'), first)) as number;
    assert.equal(await one.update('home', bytes('r4'), first), undefined);
    await one.remove('home', first);
    assert.equal(text((await one.get('home'))?.value), 'r3');
    await one.remove('home', second);
    assert.equal(await two.get('home'), undefined);
    await one.remove('home', second);
    assert.ok(await two.create('home', bytes('r5')), 'as if it had never been there');
  });

  it('lists what is there', async () => {
    await one.put('other', bytes('a'));
    await one.put('other', bytes('b'));
    const found: string[] = [];
    await two.each(({ key, value }) => void found.push(`${key} ${text(value)}`));
    assert.deepEqual(found.toSorted(), ['home r5', 'other b']);
  });

  it('calls a watcher with each change, and with every value again when NATS was away', async () => {
    await until('the last change is seen', () => seen.at(-1) === 'other b');
    const before = [...connections];
    await nats.kill();
    await until('the connection is lost', () => !networks[1].isConnected);
    await assert.rejects(two.put('other', bytes('c')));
    seen.length = 0;
    await nats.restart();
    await until('both are connected again', () => connections.every((count, n) => count > before[n]));
    assert.deepEqual(new Set(seen), new Set(['home r5', 'other b']));
    await until('it can be written', () => one.put('other', bytes('d')).then(Boolean, () => false));
    await until('and the watch goes on', () => seen.at(-1) === 'other d');
    await until('also that of changes alone', () => changed.at(-1) === 'other d');
    assert.equal(changed.filter((change) => change === 'other b').length, 1, 'which tells nothing again');
  });

  it('notifies a watcher when NATS has lost everything, before its new values', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-nats-bucket-'));
    const server = await NatsServer.start('-js', '-sd', folder);
    const network = new NatsNetwork({ url: server.url, name: 'r3' }, log);
    t.after(async () => {
      await network.close();
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    });
    const bucket = network.bucket('tests', 1 << 20);
    const events: string[] = [];
    bucket.watch({
      connected: () => void events.push('connected'),
      receive: ({ revision }) => void events.push(`${revision}`),
      lost: () => void events.push('lost'),
    });
    await until('it is open', () => events.includes('connected'));
    await bucket.put('key', bytes('a'));
    await until('the value is seen', () => events.at(-1) === '1');
    await server.kill();
    await until('the connection is lost', () => !network.isConnected);
    rmSync(folder, { recursive: true, force: true });
    await server.restart();
    await until('it is connected again', () => events.at(-1) === 'connected');
    await bucket.put('key', bytes('b'));
    await until('the new value is seen', () => events.at(-1) === '1');
    assert.deepEqual(events, ['connected', '1', 'lost', 'connected', '1']);
  });

  const noStop = process.platform === 'win32' && 'Windows cannot stop a process';
  it('has ANSWER_MS to answer: one below, at the limit', { skip: noStop }, async (t) => {
    // It stops without closing its connections.
    process.kill(nats.pid, 'SIGSTOP');
    t.after(() => process.kill(nats.pid, 'SIGCONT'));
    const state = () => execFileSync('ps', ['-o', 'stat=', '-p', `${nats.pid}`]).toString();
    await until('NATS has stopped', () => state().startsWith('T'));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const requests: Record<string, () => Promise<unknown>> = {
      get: () => one.get('home'),
      create: () => one.create('new', bytes('r1')),
      update: () => one.update('home', bytes('r1'), 1),
      put: () => one.put('other', bytes('e')),
      remove: () => one.remove('home', 1),
      request: () => networks[0].request('sprites.tests', bytes('a'), ANSWER_MS),
    };
    for (const [name, request] of Object.entries(requests)) {
      let isOver = false;
      const over = assert.rejects(request()).then(() => {
        isOver = true;
      });
      await turns();
      t.mock.timers.tick(ANSWER_MS - 1);
      await turns();
      assert.equal(isOver, false, `${name} waits`);
      t.mock.timers.tick(1);
      await turns();
      assert.equal(isOver, true, `${name} has waited`);
      await over;
    }
  });
});
