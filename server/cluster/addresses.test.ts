import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Membership } from '../domain/peers/membership.ts';
import { PretendNetwork } from '../test/pretend_network.ts';
import { JOIN_URL_BYTES_MAX } from '../wire/rules.ts';
import { Addresses } from './addresses.ts';

/** Relays that have heard of each other. */
function cluster(...names: string[]) {
  const network = new PretendNetwork(() => 0.5);
  const relays = names.map((name) => {
    const membership = new Membership({ name, life: 1, width: 1, step: 1 });
    const node = network.node();
    return { membership, node, addresses: new Addresses(node, membership) };
  });
  for (const { membership } of relays) {
    const heartbeat = membership.tick(1);
    for (const other of relays) if (other.membership !== membership) other.membership.hear({ ...heartbeat });
  }
  return { network, relays };
}

describe('addresses of relays', () => {
  it('are those of the others that are here', () => {
    const { network, relays } = cluster('r1', 'r2', 'r3');
    const [r1, r2, r3] = relays;
    r2.addresses.announce('https://r2.example.org');
    r3.addresses.announce('https://example.org/r3/');
    network.advance(1);
    assert.deepEqual(r1.addresses.others(), [
      'https://r2.example.org/v1/desktops',
      'https://example.org/r3/v1/desktops',
    ]);
    assert.deepEqual(r2.addresses.others(), ['https://example.org/r3/v1/desktops']);
    r3.membership.leave();
    r1.membership.hear({ ...r3.membership.tick(0) });
    assert.deepEqual(r1.addresses.others(), ['https://r2.example.org/v1/desktops']);
  });

  it('are at most JOIN_URL_BYTES_MAX long, and only URLs of http', () => {
    const { network, relays } = cluster('r1', 'r2');
    const [r1, r2] = relays;
    const sent = (url: string) => {
      r2.node.publish('sprites.addresses', Buffer.from(`r2 ${url}`));
      network.advance(1);
      return r1.addresses.others().includes(url);
    };
    const longest = 'https://a/'.padEnd(JOIN_URL_BYTES_MAX, 'x');
    assert.deepEqual(
      [sent(longest.slice(1)), sent(longest.slice(0, -1)), sent(longest), sent(`${longest}x`)],
      [...[false, true, true, false]],
    );
    for (const url of ['javascript:1', 'http://a b', 'http://a/"', 'http://a/\\', 'http://', '']) {
      assert.equal(sent(url), false, url);
    }
  });
});
