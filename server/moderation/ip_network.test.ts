import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isInNetwork, readAddress, readNetwork, writeAddress } from './ip_network.ts';

describe('an address', () => {
  it('is read and written in its canonical form, and an IPv4 address is the same over both kinds of sockets', () => {
    for (const [given, written = given] of [
      ['127.0.0.1'],
      ['255.255.255.255'],
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['2001:DB8:0:0::1', '2001:db8::1'],
      ['::1'],
    ]) {
      assert.equal(writeAddress(readAddress(given) as Uint32Array), written);
    }
    assert.deepEqual(readAddress('::ffff:10.0.0.1'), readAddress('10.0.0.1'));
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      'localhost',
      '10.1',
      '0x7f000001',
      '1.2.3.256',
      '1.2.3.4.5',
      'fe80::1%eth0',
      ':::',
      '1.2.3.4/8',
    ]) {
      assert.equal(readAddress(text), undefined, text);
    }
    assert.equal(writeAddress(new Uint32Array(4)), undefined);
  });
});

describe('a network', () => {
  const contains = (network: string, address: string) => {
    const read = readNetwork(network);
    assert.ok(read, network);
    return isInNetwork(readAddress(address) as Uint32Array, read);
  };

  it('contains its first and last address, and not those beside them', () => {
    for (const [network, first, last, below, above] of [
      ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
      ['192.0.2.128/25', '192.0.2.128', '192.0.2.255', '192.0.2.127', '192.0.3.0'],
      ['192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2.6', '192.0.2.8'],
      ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
      ['2001:db8::/33', '2001:db8::', '2001:db8:7fff:ffff::1', '2001:db7::', '2001:db8:8000::'],
      ['2001:db8::1', '2001:db8::1', '2001:db8::1', '2001:db8::', '2001:db8::2'],
    ]) {
      assert.ok(contains(network, first) && contains(network, last), network);
      assert.ok(!contains(network, below) && !contains(network, above), network);
    }
  });

  it('of all IPv4 addresses contains these only, and that of length 0 everything', () => {
    assert.ok(contains('0.0.0.0/0', '203.0.113.9'));
    assert.equal(contains('0.0.0.0/0', '2001:db8::1'), false);
    assert.ok(contains('::/0', '2001:db8::1') && contains('::/0', '203.0.113.9'));
    assert.equal(readNetwork('::/0')?.text, '::/0');
  });

  it('has one text, in which the bits beyond its length are cleared', () => {
    for (const [given, text] of [
      ['192.0.2.77/24', '192.0.2.0/24'],
      ['192.0.2.7/32', '192.0.2.7'],
      ['::ffff:192.0.2.77/120', '192.0.2.0/24'],
      ['2001:db8::1/128', '2001:db8::1'],
      ['2001:db8:1::/32', '2001:db8::/32'],
    ]) {
      const network = readNetwork(given);
      assert.equal(network?.text, text);
      assert.deepEqual(readNetwork(text), network);
    }
  });

  it('is nothing else', () => {
    for (const text of [
      '192.0.2.0/33',
      '2001:db8::/129',
      '192.0.2.0/',
      '192.0.2.0/-1',
      '192.0.2.0/024',
      '/8',
      '',
      '192.0.2',
      '192.0.2.0/8/8',
      'fe80::1%lo',
      'example.org',
      '::ffff:1.2.3.4/8',
    ]) {
      assert.equal(readNetwork(text), undefined, text);
    }
  });
});
