/** Blocks of addresses. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addressBlock, plainAddress } from './address_block.ts';

const blockOf = (text: string) => addressBlock(plainAddress(text) as string);

it('takes an IPv4 address alone, however it is written', () => {
  assert.equal(blockOf('192.0.2.1'), '192.0.2.1');
  assert.equal(blockOf('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(blockOf('::FFFF:192.0.2.1'), '192.0.2.1');
});

it('takes an IPv6 /64 together, however its addresses are written', () => {
  for (const address of [
    '2001:db8:1:2::1',
    '2001:0DB8:0001:2:ffff:ffff:ffff:ffff',
    '2001:db8:1:2::',
    '2001:db8:1:2::3.4.5.6',
  ]) {
    assert.equal(blockOf(address), '2001:db8:1:2::/64', address);
  }
  assert.equal(blockOf('2001:db8:1:3::1'), '2001:db8:1:3::/64');
  assert.equal(blockOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(blockOf('::1'), '0:0:0:0::/64');
  assert.equal(blockOf('::'), '0:0:0:0::/64');
  assert.equal(blockOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(blockOf('1:2:3:4:5:6:7::'), '1:2:3:4::/64');
});

it('knows what is not an address', () => {
  for (const text of ['', 'relay', '1.2.3', '999.1.1.1', ':::', '1:2']) assert.equal(plainAddress(text), undefined);
  assert.equal(addressBlock('unknown'), 'unknown');
});
