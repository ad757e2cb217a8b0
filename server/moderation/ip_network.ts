/**
 * IP addresses as four 32-bit words, and networks of them (CIDR). IPv4 is the IPv6 address it is mapped to (::ffff:a.b.c.d), so a client
 * has the same words over both kinds of sockets.
 */
import ipaddr from 'ipaddr.js';

export interface IpNetwork {
  /** The canonical text: 192.0.2.7, 192.0.2.0/24, 2001:db8::/32. */
  text: string;
  words: Uint32Array;
  /** The leading bits that count, 0 … 128. */
  bits: number;
}

const IPV4_BITS = 96; // that come before an IPv4 address in the IPv6 address it is mapped to

/** The words of an address; undefined when it is not one. */
export function readAddress(text: string): Uint32Array | undefined {
  if (!isAddress(text)) return undefined;
  return wordsOf(ipaddr.process(text));
}

/** The text of an address; undefined for zeros, which stand for an unknown one. */
export function writeAddress(words: Uint32Array): string | undefined {
  if (words.every((word) => word === 0)) return undefined;
  const bytes = new Uint8Array(16);
  for (let at = 0; at < 16; at++) bytes[at] = words[at >> 2] >>> (24 - 8 * (at & 3));
  const address = ipaddr.fromByteArray([...bytes]) as ipaddr.IPv6;
  return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString();
}

/** Reads an address or a network such as 192.0.2.0/24; undefined when `text` is neither. Bits beyond its length are cleared. */
export function readNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  const base = slash < 0 ? text : text.slice(0, slash);
  if (!isAddress(base)) return undefined;
  const address = ipaddr.process(base);
  const isIPv4 = address.kind() === 'ipv4';
  const mapped = isIPv4 && base.includes(':');
  let length = isIPv4 ? 32 : 128;
  if (slash >= 0) {
    const digits = text.slice(slash + 1);
    if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
    const given = Number(digits) - (mapped ? IPV4_BITS : 0);
    if (given < 0 || given > length) return undefined;
    length = given;
  }
  const bits = length + (isIPv4 ? IPV4_BITS : 0);
  const words = wordsOf(address);
  for (let word = 0; word < 4; word++) {
    const counting = Math.min(32, Math.max(0, bits - 32 * word));
    if (counting < 32) words[word] = counting === 0 ? 0 : (words[word] >>> (32 - counting)) << (32 - counting);
  }
  const whole = length === (isIPv4 ? 32 : 128);
  // The network of everything has only zeros, which writeAddress() would take for an unknown address.
  const first = writeAddress(words) ?? '::';
  return { text: whole ? first : `${first}/${length}`, words, bits };
}

/**
 * Reads what an operator bans. An IPv6 address alone stands for its /64 network, as everywhere where addresses count: its owner has all of
 * them. `/128` bans one address.
 */
export function readBanned(text: string): IpNetwork | undefined {
  const network = readNetwork(text);
  const isWhole = network === undefined || text.includes('/') || readAddress(text)?.[2] === 0xffff;
  return isWhole ? network : readNetwork(`${text}/64`);
}

/** Whether the address in the four words from `at` on is in a network. */
export function isInNetwork(addresses: Uint32Array, { words, bits }: IpNetwork, at = 0): boolean {
  let left = bits;
  for (let word = 0; word < 4 && left > 0; word++, left -= 32) {
    const differing = addresses[at + word] ^ words[word];
    if (left >= 32 ? differing !== 0 : differing >>> (32 - left) !== 0) return false;
  }
  return true;
}

/** ipaddr.js also reads `10.1` and `0x7f000001`, which no socket reports and an operator can only have mistyped. */
function isAddress(text: string): boolean {
  return ipaddr.IPv6.isValid(text) ? !text.includes('%') : ipaddr.IPv4.isValidFourPartDecimal(text);
}

function wordsOf(address: ipaddr.IPv4 | ipaddr.IPv6): Uint32Array {
  const words = new Uint32Array(4);
  if (address.kind() === 'ipv4') words[2] = 0xffff;
  const bytes = address.toByteArray();
  const first = 16 - bytes.length;
  for (let at = 0; at < bytes.length; at++) words[(first + at) >> 2] |= bytes[at] << (24 - 8 * ((first + at) & 3));
  return words;
}
