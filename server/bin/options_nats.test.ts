import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused, type Options, readOptions } from './options.ts';

const NAMED = ['--relay-name', 'r1'];

function misuse(args: readonly string[]): string {
  try {
    readOptions(args, {});
  } catch (error) {
    assert.ok(error instanceof Misused, `${error}`);
    return error.message;
  }
  return assert.fail(`${args.join(' ')} was accepted`);
}

describe('options of a cluster', () => {
  it('name NATS and the relay', () => {
    const options = readOptions(
      ['--nats', 'nats://127.0.0.1:4222', ...NAMED, '--nats-credentials', 'r1.creds'],
      {},
    ) as Options;
    assert.equal(options.nats, 'nats://127.0.0.1:4222');
    assert.equal(options.relayName, 'r1');
    assert.equal(options.natsCredentials, 'r1.creds');
  });

  it('go together', () => {
    assert.match(misuse(['--nats', 'nats://localhost:4222']), /^--nats: needs --relay-name/);
    assert.equal(misuse(NAMED), '--relay-name: needs --nats.');
    assert.equal(misuse(['--nats-credentials', 'x']), '--nats-credentials: needs --nats.');
  });

  it('refuse plain text to another machine, unless it is allowed', () => {
    for (const host of ['10.0.0.7', 'nats.example.org', '[2001:db8::1]', '127.example.org']) {
      const args = ['--nats', `nats://${host}:4222`, ...NAMED];
      assert.match(
        misuse(args),
        /^--nats: .* is another machine, and nats: is not encrypted; use tls:, or --nats-plaintext/,
      );
      assert.ok(readOptions([...args, '--nats-plaintext'], {}));
      assert.ok(readOptions(['--nats', `tls://${host}:4222`, ...NAMED], {}));
    }
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      assert.ok(readOptions(['--nats', `nats://${host}:4222`, ...NAMED], {}), host);
    }
  });

  it('refuse what is not a name or an address', () => {
    for (const name of ['', 'R1', 'r 1', '-r', 'r.1', 'r'.repeat(33)])
      misuse(['--nats', 'nats://localhost', '--relay-name', name]);
    assert.ok(readOptions(['--nats', 'nats://localhost', '--relay-name', 'r'.repeat(32)], {}));
    for (const url of [
      'localhost:4222',
      'http://localhost',
      'nats://',
      'nats://user:word@localhost',
      'nats://localhost/x',
    ]) {
      misuse(['--nats', url, ...NAMED]);
    }
  });
});
