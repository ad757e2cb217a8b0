/** The swarm against a relay behind a proxy with TLS, whose certificate is made for the test. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import tls from 'node:tls';
import { type Contender, start } from '../../tools/bench/contender.ts';
import { buildEngine } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { folderOf, reportIn, swarm } from './command.ts';

const lacking = ensurePrograms(['openssl'], ['openssl'])
  ? undefined
  : `openssl is missing: ${installHint(['openssl'])}`;
const why = buildEngine() ?? lacking ?? false;

/** A relay behind TLS at https://localhost:port, and the certificate to trust. */
async function startSecureRelay(t: TestContext): Promise<{ url: string; ca: string; relay: Contender }> {
  const folder = folderOf(t);
  const [key, ca] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', ca, ...subject], { stdio: 'ignore' });
  let relay: Contender | undefined;
  const open = new Set<net.Socket>();
  const proxy = tls.createServer({ key: readFileSync(key), cert: readFileSync(ca) }, (client) => {
    // A connection of the swarm is for one thing, so its first request decides where it goes.
    client.once('data', (first) => {
      const isPoll = /^GET \/v1\/desktops\/[^/]+\/events/.test(first.toString('latin1'));
      const upstream = net.connect({
        port: (isPoll ? relay?.events : relay?.api) ?? 0,
        host: '127.0.0.1',
        noDelay: true,
      });
      upstream.write(first);
      client.pipe(upstream).pipe(client);
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ]) {
        open.add(one);
        one.on('error', () => one.destroy()).on('close', () => other.destroy());
      }
    });
    client.setNoDelay(true).on('error', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `https://localhost:${(proxy.address() as AddressInfo).port}`;
  relay = await start({ name: 'relay', front: 'portable', workers: 1, flags: ['--public-url', url] });
  t.after(async () => {
    for (const socket of open) socket.destroy();
    proxy.close();
    await relay.stop();
  });
  return { url, ca, relay };
}

describe('swarm with TLS', { skip: why, timeout: 900_000 }, () => {
  it('accounts for every sprite, on polls and on sockets', async (t) => {
    const { url, ca } = await startSecureRelay(t);
    for (const transport of ['poll', 'socket']) {
      const out = folderOf(t);
      const load = ['--desktops', '60', '--rate', '200', '--duration', '4s', '--act-every', '1s'];
      const mix = ['--mix', 'throwing=40,sitting=10,storming=5,slow=5', '--read-late', '500ms'];
      const { code, stdout } = await swarm([
        ...[...load, ...mix, '--url', url, '--ca', ca, '--transport', transport, '--out', out],
        ...['--threshold', 'lost == 0', '--threshold', 'undelivered == 0', '--threshold', 'duplicated == 0'],
      ]);
      const report = reportIn(out);
      assert.equal(code, 0, stdout);
      assert.equal(report.relayIs, url);
      assert.equal(report.parked, 60);
      assert.ok(report.delivered > 700, String(report.delivered));
      assert.equal(report.delivered, report.accepted);
      assert.ok(report.behaviours.reconnects >= 15);
      assert.equal(report.connections.handshakesFailed, 0);
      assert.equal(report.connections.badAnswers, 0);
    }
  });

  it('refuses a certificate that nobody vouches for, and a file without one', async (t) => {
    const { url, ca } = await startSecureRelay(t);
    const out = folderOf(t);
    const load = ['--desktops', '5', '--rate', '10', '--duration', '1s', '--url', url];
    const untrusted = await swarm([...load, '--out', out]);
    assert.equal(untrusted.code, 1);
    assert.match(
      reportIn(out).message,
      /cannot reach a relay at https:\/\/localhost:\d+: its certificate was rejected: self-signed/,
    );
    const byAddress = await swarm([...load, '--url', url.replace('localhost', '127.0.0.1'), '--ca', ca, '--out', out]);
    assert.equal(byAddress.code, 1);
    assert.match(reportIn(out).message, /its certificate was rejected: IP address mismatch/);
    const empty = join(folderOf(t), 'empty.pem');
    writeFileSync(empty, '');
    for (const file of [empty, `${empty}.gone`]) {
      const { code, stderr } = await swarm([...load, '--ca', file]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^--ca: .*empty\.pem/m);
    }
  });
});
