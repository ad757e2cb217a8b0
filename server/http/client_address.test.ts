import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { ClientAddresses } from './client_address.ts';

function requestFrom(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage;
}

describe('client address', () => {
  it('is that of the socket without a trusted proxy, whatever the client writes', () => {
    const addresses = new ClientAddresses([]);
    assert.equal(addresses.networkOf(requestFrom('203.0.113.7', '198.51.100.1')), '203.0.113.7');
    assert.equal(addresses.networkOf(requestFrom('::ffff:203.0.113.7')), '203.0.113.7');
    assert.equal(addresses.networkOf(requestFrom('fe80::1%eth0')), 'fe80:0:0:0::/64');
    assert.equal(addresses.networkOf(requestFrom(undefined)), 'unknown');
  });

  it('reports once that a proxy forwards addresses although none is trusted', () => {
    const reported: string[] = [];
    const untrusting = new ClientAddresses([], (peer) => reported.push(peer));
    untrusting.networkOf(requestFrom('127.0.0.1'));
    assert.equal(reported.join(), '');
    for (let n = 0; n < 2; n++) untrusting.networkOf(requestFrom('127.0.0.1', '198.51.100.1'));
    assert.equal(reported.join(), '127.0.0.1');
    const trusting = new ClientAddresses(['10.0.0.1'], (peer) => reported.push(peer));
    trusting.networkOf(requestFrom('127.0.0.1', '198.51.100.1'));
    assert.equal(reported.length, 1, 'an operator who trusts some proxy has thought of it');
  });

  it('is the rightmost one that is not a trusted proxy', () => {
    const addresses = new ClientAddresses(['127.0.0.1', '::1', '10.0.0.0/8', 'fd00::/8']);
    const cases: [string, string | undefined, string][] = [
      ['203.0.113.7', '198.51.100.1', '203.0.113.7'], // not through a proxy
      ['127.0.0.1', '198.51.100.1', '198.51.100.1'],
      ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
      ['::1', 'evil, 192.0.2.1,198.51.100.1', '198.51.100.1'],
      ['127.0.0.1', '192.0.2.1, 198.51.100.1 , 10.1.2.3', '198.51.100.1'],
      ['fd12::1', '2001:db8:1:2:3::1', '2001:db8:1:2::/64'],
      ['127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
      ['127.0.0.1', '[2001:db8:1:2::1]:4711', '2001:db8:1:2::/64'],
      ['127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
      ['127.0.0.1', undefined, '127.0.0.1'],
      ['127.0.0.1', '', '127.0.0.1'],
      ['127.0.0.1', '198.51.100.1, _hidden', '127.0.0.1'],
      ['127.0.0.1', '10.0.0.1, 10.0.0.2', '10.0.0.1'], // proxies only: the one furthest away
    ];
    for (const [remote, forwarded, expected] of cases) {
      assert.equal(addresses.networkOf(requestFrom(remote, forwarded)), expected, `${remote} for ${forwarded}`);
    }
  });
});
