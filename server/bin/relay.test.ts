/** `npm start` when the machine does not give it what its options ask for: it ends at once and names the option. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { BOUNDED, runRelay } from '../test/relay_process.ts';
import { Misused, readOptions } from './options.ts';

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

  it('rejects one port for both listeners before it starts', () => {
    assert.throws(() => readOptions(['--port', '9000', '--events-port', '9000'], {}), {
      constructor: Misused,
      message: '--events-port: must differ from --port, which is 9000 too.',
    });
    assert.ok(readOptions(['--port', '0', '--events-port', '0'], {}));
  });

  it('names the option whose address is not of this machine', async () => {
    // 203.0.113.0/24 is for documentation only (RFC 5737).
    const { code, err } = await runRelay({ args: ['--admin-host', '203.0.113.5'], ports: { ...FREE, admin: 8083 } });
    assert.equal(code, 1);
    assert.match(err, /--admin-port: 203\.0\.113\.5 is not an address of this machine\.$/m);
  });

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
