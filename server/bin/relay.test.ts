/** `npm start` when the machine does not give it what its options ask for: it ends at once and names the option. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { EXIT } from '../../tools/command.ts';
import { EXIT_RESTART } from '../../tools/supervise.js';
import { BOUNDED, runRelay } from '../test/relay_process.ts';
import { Misused, type Options, readOptions } from './options.ts';

const FRONTS = ['portable', 'native'] as const;
const FREE = { api: 0, events: 0, admin: 0 };

describe('npm start', BOUNDED, () => {
  const other = net.createServer();
  let port: number;
  before(async () => {
    await once(other.listen(0, '127.0.0.1'), 'listening');
    port = (other.address() as AddressInfo).port;
  });
  after(() => other.close());

  for (const front of FRONTS) {
    it(`names the option whose port is occupied, with the ${front} front`, async () => {
      for (const [name, option] of [
        ['api', '--port'],
        ['events', '--events-port'],
        ['admin', '--admin-port'],
      ] as const) {
        const { code, err } = await runRelay({ front, workers: 1, ports: { ...FREE, [name]: port } });
        assert.equal(code, 1);
        assert.match(
          err,
          new RegExp(
            `^The relay could not start: ${option}: address already in use: .*:${port}; choose another port\\.$`,
            'm',
          ),
        );
        assert.doesNotMatch(err, /EADDRINUSE|^\s+at /m);
      }
    });
  }

  it('rejects one port for two listeners before it starts', () => {
    const misuse = (message: string) => ({ constructor: Misused, message });
    for (const [option, other] of [
      ['--events-port', '--port'],
      ['--admin-port', '--port'],
      ['--admin-port', '--events-port'],
    ]) {
      const message = `${option}: must differ from ${other}, which is 9000 too.`;
      assert.throws(() => readOptions([option, '9000', other, '9000'], {}), misuse(message));
      assert.ok(readOptions([option, '0', other, '0'], {}));
    }
  });

  it('takes an address as the contact, and a file that is there as the rules', () => {
    const read = (...words: string[]) => readOptions(words, {}) as Options;
    for (const contact of ['me@relay.example', 'https://relay.example/me/?a=1']) {
      assert.equal(read('--contact', contact).contact, contact);
    }
    for (const wrong of ['me', 'a b@c', 'javascript:alert(1)', 'ftp://relay.example', '<a@b>']) {
      assert.throws(() => read('--contact', wrong), Misused, wrong);
    }
    assert.equal(read('--rules', import.meta.filename).rules, import.meta.filename);
    const message = `--rules: there is no file ${import.meta.dirname}/nothing.md.`;
    assert.throws(() => read('--rules', `${import.meta.dirname}/nothing.md`), { constructor: Misused, message });
    assert.throws(() => read('--rules', import.meta.dirname), Misused);
  });

  it('accepts one port for two listeners of different addresses', () => {
    const ports = ['--port', '9000', '--admin-port', '9000'];
    assert.ok(readOptions([...ports, '--host', '192.0.2.1', '--admin-host', '127.0.0.1'], {}));
    for (const host of ['::', '0.0.0.0', '127.0.0.1']) {
      assert.throws(() => readOptions([...ports, '--host', host, '--admin-host', '127.0.0.1'], {}), Misused);
    }
  });

  it('names the option whose address is not of this machine', async () => {
    // 203.0.113.0/24 is for documentation only (RFC 5737).
    const { code, err } = await runRelay({ args: ['--admin-host', '203.0.113.5'], ports: { ...FREE, admin: 8083 } });
    assert.equal(code, 1);
    assert.match(err, /--admin-port: 203\.0\.113\.5 is not an address of this machine\.$/m);
  });

  it('is loaded without undici, which takes 45 ms and some MB of each process', () => {
    const load = `process.on('exit', () => console.log(process.moduleLoadList.filter((name) => name.includes('undici'))));
      await import(${JSON.stringify(import.meta.resolve('./relay.ts'))});`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', load, '--', 'relay', '--help'], {
      encoding: 'utf8',
    });
    assert.match(stdout, /^Usage: npm start/);
    assert.match(stdout, /^\[\]$/m);
  });

  for (const workers of [0, 1]) {
    it(`ends as told by a signal that comes before it is ready, with ${workers} workers`, async () => {
      for (const [signal, ended] of [
        ['SIGTERM', EXIT.done],
        ['SIGINT', EXIT.done],
        ['SIGUSR2', EXIT_RESTART],
      ] as const) {
        for (const file of ['admin-token', 'journal']) {
          const { code, out, err } = await runRelay({ workers, front: 'portable' }, { signal, file });
          assert.equal(code, ended, `${signal} ${file} ${err}`);
          assert.match(out, /"msg":"relay stopped"/);
        }
      }
    });
  }

  it('names the option whose folder can’t be made, and does not hang', async () => {
    for (const [args, message] of [
      [['--data', '/proc/x'], /could not start: --data: the folder \/proc\/x can't be made/],
      [['--data', '/dev/null'], /could not start: --data: \/dev\/null is a file, not a folder\.$/m],
      [['--admin-token-file', '/proc/x/token'], /could not start: --admin-token-file: the folder \/proc\/x can't/],
    ] as const) {
      const { code, err } = await runRelay({ args: [...args] });
      assert.equal(code, 1, err);
      assert.match(err, message);
    }
  });
});
