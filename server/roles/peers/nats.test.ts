import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { NatsServer, whyNoNats } from '../../../tools/bench/nats_server.ts';
import { NatsNetwork } from './nats.ts';

const ROOT = join(import.meta.dirname, '../../..');

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
    const own = ['server/roles/peers/nats.ts', 'server/roles/peers/nats_bucket.ts'];
    assert.deepEqual(filesWith(/from '@nats-io/).toSorted(), own);
    assert.deepEqual(filesWith(/\/nats_bucket\.ts'/), [own[0]]);
    assert.deepEqual(filesWith(/peers\/nats\.ts'|from '\.\/nats\.ts'/), ['server/roles/primary.ts']);
    const primary = readFileSync(join(ROOT, 'server/roles/primary.ts'), 'utf8');
    assert.match(
      primary,
      /if \(nats === undefined\) return \{\};\s+const \{ NatsNetwork \} = await import\('\.\/peers\/nats\.ts'\);/,
    );
  });
});

describe('a message that is larger than NATS allows', { skip: whyNoNats(), timeout: 20_000 }, () => {
  it('is not sent, and a warning says so', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const config = join(folder, 'nats.conf');
    writeFileSync(config, 'max_payload: 1024');
    const server = await NatsServer.start('-c', config);
    t.after(() => server.kill());
    const warned: string[] = [];
    const log = { info: () => {}, warn: (_: object, text: string) => void warned.push(text) } as unknown as Logger;
    const networks = ['one', 'other'].map((name) => new NatsNetwork({ url: server.url, name }, log));
    t.after(() => Promise.all(networks.map((network) => network.close())));
    const [one, other] = networks;
    while (!networks.every(({ isConnected }) => isConnected)) await sleep(5);
    const answers = [Buffer.alloc(1025), Buffer.alloc(1024)];
    other.subscribe('question', (_, answer) => answer?.(answers.shift() as Buffer));
    other.subscribe('ready', (_, answer) => answer?.(Buffer.alloc(0)));
    const isReady = () =>
      one.request('ready', Buffer.alloc(0), 1_000).then(
        () => true,
        () => false,
      );
    while (!(await isReady())) await sleep(5);
    await assert.rejects(one.request('question', Buffer.alloc(1), 200));
    assert.equal((await one.request('question', Buffer.alloc(1), 5_000)).length, 1024);
    one.publish('question', Buffer.alloc(1025));
    assert.deepEqual(
      warned.map((text) => /max_payload/.test(text)),
      [true, true],
    );
  });
});
