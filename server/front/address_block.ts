/**
 * The block of addresses that a peer's address belongs to: an IPv4 address alone, or an IPv6 /64.
 *
 * A /64 is what one household or one machine gets, and it may use any address of it. So what is limited by address is limited
 * by block. An IPv4 address mapped into IPv6 (`::ffff:192.0.2.1`, how a listener on `::` reports it) is the IPv4 address.
 */
import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = '::ffff:';
const GROUPS = 8;
const BLOCK_GROUPS = 4;

/**
 * Returns the block, like `192.0.2.1` or `2001:db8:1:2::/64`; undefined for anything that is not an address.
 *
 * Shape   equal texts are equal blocks: no leading zeros, lowercase, no zone.
 */
export function addressBlock(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  if (isIPv4(address)) return address;
  const plain = address.split('%')[0].toLowerCase();
  if (!isIPv6(plain)) return undefined;
  if (plain.startsWith(MAPPED) && isIPv4(plain.slice(MAPPED.length))) return plain.slice(MAPPED.length);
  const [front, back] = plain.split('::');
  const first = front === '' ? [] : front.split(':');
  // An address in dots at the end takes two groups, but it is never in the first half.
  const last = back === undefined || back === '' ? [] : back.split(':');
  const lastCount = last.length + (plain.includes('.') ? 1 : 0);
  const groups =
    back === undefined ? first : [...first, ...Array(GROUPS - first.length - lastCount).fill('0'), ...last];
  const block = groups.slice(0, BLOCK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${block.join(':')}::/64`;
}
