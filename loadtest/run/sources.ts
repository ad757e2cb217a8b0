/**
 * Source addresses: the IPv4 addresses that the swarm connects from, and whether they belong to this machine.
 *
 * A connection has a port of its source address, so many connections need several addresses. An address of another machine
 * can't be bound; checked here, before the run, because in the engine it looks like a lack of ports.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Misused } from '../../tools/command.ts';

/** As many as the engine takes (engine/net/address.cc). */
const SOURCES_MAX = 65_536;

/** The addresses of a list such as "10.0.0.5-10.0.0.9,10.0.1.1"; undefined when it is not such a list. */
export function readSources(list: string): string[] | undefined {
  const addresses: string[] = [];
  for (const item of list.split(',')) {
    const [first, last = first, ...more] = item.split('-');
    if (more.length > 0 || !isIPv4(first) || !isIPv4(last)) return undefined;
    const [from, to] = [numberOf(first), numberOf(last)];
    if (to < from || addresses.length + to - from >= SOURCES_MAX) return undefined;
    for (let one = from; one <= to; one++) addresses.push(addressOf(one));
  }
  return addresses;
}

/** Throws Misused with the first address of the list that does not belong to this machine. An empty list is fine. */
export async function checkSources(list: string): Promise<void> {
  if (list === '') return;
  const own = new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
  for (const address of readSources(list) ?? []) {
    if (address.startsWith('127.') || own.has(address)) continue;
    if (!(await canBind(address))) {
      throw new Misused(
        `--sources: ${address} is not an address of this machine; it has ${[...own].filter(isIPv4).join(', ')} and 127.x.y.z`,
      );
    }
  }
}

/** A route of type "local" makes whole networks bindable that no interface lists. */
async function canBind(address: string): Promise<boolean> {
  const socket = createSocket('udp4');
  try {
    await once(socket.bind(0, address), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
