import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo, type ListenOptions } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { throwIfTaken } from './free_port.ts';

/** A port of 127.0.0.1 that a server has, and the server. */
async function takenPort(t: TestContext): Promise<{ port: number; other: net.Server }> {
  const other = net.createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  t.after(() => other.close());
  return { port: (other.address() as AddressInfo).port, other };
}

/** A server of a system without IPv6. */
function withoutIpv6(): net.Server {
  const server = net.createServer();
  const listen = server.listen.bind(server) as (options: ListenOptions) => net.Server;
  server.listen = ((options: ListenOptions) => {
    if (!options.host?.includes(':')) return listen(options);
    const error = Object.assign(new Error('address family not supported'), { code: 'EAFNOSUPPORT' });
    setImmediate(() => server.emit('error', error));
    return server;
  }) as typeof server.listen;
  return server;
}

describe('a port', () => {
  it('is free once nobody has it, and is free after it was tried', async (t) => {
    const { port, other } = await takenPort(t);
    await assert.rejects(throwIfTaken('127.0.0.1', port), { code: 'EADDRINUSE' });
    await once(other.close(), 'close');
    await throwIfTaken('127.0.0.1', port);
    await throwIfTaken('127.0.0.1', port);
  });

  it('of every address is tried as one of IPv4 where the system has no IPv6', async (t) => {
    const { port, other } = await takenPort(t);
    await assert.rejects(throwIfTaken('::', port, withoutIpv6), { code: 'EADDRINUSE' });
    await once(other.close(), 'close');
    await throwIfTaken('::', port, withoutIpv6);
  });

  it('of one address of IPv6 can’t be had there', async () => {
    await assert.rejects(throwIfTaken('::1', 0, withoutIpv6), { code: 'EAFNOSUPPORT' });
  });
});
