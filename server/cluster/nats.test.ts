import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { NatsNetwork } from './nats.ts';
import { MESSAGE_BYTES_MAX, NobodyThere } from './peer_network.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The files of the repository with a pattern in them. */
function filesWith(pattern: RegExp): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.js'], {
    cwd: ROOT,
  });
  return files
    .toString()
    .trim()
    .split('\n')
    .filter((file) => !file.endsWith('.test.ts') && pattern.test(readFileSync(join(ROOT, file), 'utf8')));
}

describe('the client of NATS', () => {
  it('is imported by two files, which are imported only when the relay joins a cluster', () => {
    const own = ['server/cluster/nats.ts', 'server/cluster/nats_bucket.ts'];
    assert.deepEqual(filesWith(/from '@nats-io/).toSorted(), own);
    assert.deepEqual(filesWith(/\/nats_bucket\.ts'/), [own[0]]);
    assert.deepEqual(filesWith(/cluster\/nats\.ts'|from '\.\/nats\.ts'/), ['server/roles/primary.ts']);
    const primary = readFileSync(join(ROOT, 'server/roles/primary.ts'), 'utf8');
    assert.match(
      primary,
      /if \(nats === undefined\) return \{\};\s+const \{ NatsNetwork \} = await import\('\.\.\/cluster\/nats\.ts'\);/,
    );
  });
});

/** A NATS whose `max_payload` the test chooses, and networks of relays on it. */
class LimitedNats {
  readonly warned: string[] = [];
  readonly #t: TestContext;
  readonly #config: string;
  #server: NatsServer | undefined;

  constructor(t: TestContext) {
    this.#t = t;
    const folder = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    this.#config = join(folder, 'nats.conf');
  }

  /** Starts NATS, or starts it again, with this limit. */
  async start(bytesMax: number): Promise<void> {
    writeFileSync(this.#config, `max_payload: ${bytesMax}`);
    await this.#server?.kill();
    if (this.#server) await this.#server.restart();
    else {
      const server = await NatsServer.start('-c', this.#config);
      this.#t.after(() => server.kill());
      this.#server = server;
    }
  }

  network(name: string): NatsNetwork {
    const warn = (...given: unknown[]) => void this.warned.push(String(given.at(-1)));
    const log = { info: () => {}, warn } as unknown as Logger;
    const network = new NatsNetwork({ url: (this.#server as NatsServer).url, name }, log);
    this.#t.after(() => network.close());
    return network;
  }

  /** The warnings that the limit is too low. */
  get refusals(): string[] {
    return this.warned.filter((text) => text.includes('max_payload'));
  }
}

describe('the limit of NATS for messages', { skip: whyNoNats(), timeout: 60_000 }, () => {
  it('must be MESSAGE_BYTES_MAX, else the relay does not use that NATS, and says what to do: one below, at, above', async (t) => {
    for (const bytesMax of [65_536, MESSAGE_BYTES_MAX - 1, MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX + 1]) {
      const nats = new LimitedNats(t);
      await nats.start(bytesMax);
      const network = nats.network('one');
      while (!network.isConnected && nats.refusals.length === 0) await sleep(5);
      assert.equal(network.isConnected, bytesMax >= MESSAGE_BYTES_MAX, `${bytesMax} bytes`);
      if (network.isConnected) continue;
      await assert.rejects(network.request('question', Buffer.alloc(1), 5_000), NobodyThere);
      assert.match(nats.refusals[0], new RegExp(`${bytesMax} bytes.*${MESSAGE_BYTES_MAX}`));
    }
  });

  it('may become too low while a relay is connected, and high enough again', async (t) => {
    const nats = new LimitedNats(t);
    await nats.start(65_536);
    const [one, other] = ['one', 'other'].map((name) => nats.network(name));
    const [large, received] = [Buffer.alloc(MESSAGE_BYTES_MAX), [] as number[]];
    other.subscribe('large', (bytes) => void received.push(bytes.length));
    for (let times = 1; times <= 2; times++) {
      while (nats.refusals.length < 2 * times) await sleep(5);
      assert.ok(!one.isConnected && !other.isConnected);
      await nats.start(MESSAGE_BYTES_MAX);
      while (received.length < times) {
        one.publish('large', large);
        await sleep(50);
      }
      received.splice(times);
      assert.equal(nats.refusals.length, 2 * times, 'each says it once');
      // A slow reader of so large messages may be cut off, and comes back.
      while (!one.isConnected || !other.isConnected) await sleep(5);
      await nats.start(65_536);
    }
  });

  it('keeps back a message that is larger, and a warning says so', async (t) => {
    const nats = new LimitedNats(t);
    await nats.start(MESSAGE_BYTES_MAX);
    const [one, other] = ['one', 'other'].map((name) => nats.network(name));
    while (!one.isConnected || !other.isConnected) await sleep(5);
    const answers = [Buffer.alloc(MESSAGE_BYTES_MAX + 1), Buffer.alloc(MESSAGE_BYTES_MAX)];
    other.subscribe('question', (_, answer) => answer?.(answers.shift() as Buffer));
    other.subscribe('ready', (_, answer) => answer?.(Buffer.alloc(0)));
    const isReady = () =>
      one.request('ready', Buffer.alloc(0), 1_000).then(
        () => true,
        () => false,
      );
    while (!(await isReady())) await sleep(5);
    await assert.rejects(one.request('question', Buffer.alloc(1), 200));
    assert.equal((await one.request('question', Buffer.alloc(1), 5_000)).length, MESSAGE_BYTES_MAX);
    one.publish('question', Buffer.alloc(MESSAGE_BYTES_MAX + 1));
    assert.equal(nats.warned.filter((text) => text.includes('was not sent')).length, 2);
  });
});
