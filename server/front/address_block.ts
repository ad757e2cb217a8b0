/**
 * The block of addresses that clients are counted by: an IPv4 address alone, or an IPv6 /64.
 *
 * A /64 is what one household or one machine gets, and it may use any address of it. So what is limited by address is limited
 * by block.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const BLOCK_GROUPS = 4;

/** The address in its canonical form without a zone, and as IPv4 if it is one in IPv6 form; undefined when `text` is not an address. */
export function plainAddress(text: string): string | undefined {
  const bare = text.split('%', 1)[0];
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare).toString();
}

/** Returns the block of a plain address, like `192.0.2.1` or `2001:db8:1:2::/64`. What is not an address stands for itself. */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = (ipaddr.parse(address) as ipaddr.IPv6).parts.slice(0, BLOCK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
