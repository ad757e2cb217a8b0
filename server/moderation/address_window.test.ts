import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADDRESSES_MAX, AddressWindow } from './address_window.ts';
import { readAddress } from './ip_network.ts';

const of = (text: string) => readAddress(text) as Uint32Array;

describe('a window of counts by address', () => {
  it('allows a limited number to one address until the window ends', () => {
    let nowMs = 0;
    const window = new AddressWindow(3, 1000, () => nowMs);
    const ask = (address: string) => window.countIfAllowed(of(address));
    assert.deepEqual(
      [ask('192.0.2.1'), ask('192.0.2.1'), ask('192.0.2.1'), ask('192.0.2.1')],
      [true, true, true, false],
    );
    assert.ok(ask('192.0.2.2'), 'another address has its own count');
    nowMs = 999;
    assert.equal(ask('192.0.2.1'), false);
    nowMs = 1000;
    assert.equal(ask('192.0.2.1'), true);
  });

  it('counts an IPv6 /64 as one address', () => {
    const window = new AddressWindow(1, 1000, () => 0);
    assert.ok(window.countIfAllowed(of('2001:db8::1')));
    assert.ok(!window.countIfAllowed(of('2001:db8::2')));
    assert.ok(window.countIfAllowed(of('2001:db8:0:1::1')));
  });

  it('refuses addresses beyond those that it can count', () => {
    const window = new AddressWindow(2, 1000, () => 0);
    for (let n = 0; n < ADDRESSES_MAX; n++) assert.ok(window.countIfAllowed([0, 0, 0xffff, n]));
    assert.ok(!window.countIfAllowed([0, 0, 0xffff, ADDRESSES_MAX]));
    assert.ok(window.countIfAllowed([0, 0, 0xffff, 0]), 'one that it counts already has its share');
  });
});
