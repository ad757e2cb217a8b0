/**
 * The address of a client: of its socket, or behind a trusted proxy the one that the proxy forwarded.
 *
 * X-Forwarded-For is a list to which each proxy appends the address it was connected from. It is read from the right, as long as what
 * was connected is a trusted proxy: whatever stands further left, the client may have written itself.
 */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { addressBlock, plainAddress } from '../front/address_block.ts';
import { type IpNetwork, isInNetwork, readAddress, readNetwork } from '../moderation/ip_network.ts';

export class ClientAddresses {
  readonly #trusted: readonly IpNetwork[];
  #onForwarded: ((peer: string) => void) | undefined;

  /**
   * `proxies`: addresses and networks of trusted proxies, as readNetwork() reads them. `onForwarded`: called once, with the address of
   * the peer, when a request brings X-Forwarded-For although no proxy is trusted.
   */
  constructor(proxies: readonly string[], onForwarded?: (peer: string) => void) {
    this.#onForwarded = onForwarded;
    this.#trusted = proxies.flatMap((proxy) => readNetwork(proxy) ?? []);
  }

  /** The network of the client of a request: its block of addresses. */
  networkOf(request: IncomingMessage): string {
    return addressBlock(this.addressOf(request));
  }

  /** The whole address of the client of a request; `unknown` when its connection has closed. */
  addressOf(request: IncomingMessage): string {
    let address = plainOf(request.socket.remoteAddress ?? '') ?? 'unknown';
    if (this.#trusted.length === 0) {
      if (request.headers['x-forwarded-for'] !== undefined) this.#reportForwarded(address);
      return address;
    }
    // Node joins several headers of this name with commas.
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (this.#isTrusted(address)) {
      const hop = plainOf((hops.pop() ?? '').trim());
      if (hop === undefined) break;
      address = hop;
    }
    return address;
  }

  #reportForwarded(peer: string): void {
    this.#onForwarded?.(peer);
    this.#onForwarded = undefined;
  }

  #isTrusted(address: string): boolean {
    const words = readAddress(address);
    return words !== undefined && this.#trusted.some((network) => isInNetwork(words, network));
  }
}

/** An address with a port, as some proxies forward it. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\])(?::\d+)?$/i;

/** The address without its port; undefined when `text` is not an address. */
function plainOf(text: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? [];
  return plainAddress(v4 ?? v6 ?? text);
}

/** Warns once in the log when a proxy forwards addresses that are not believed. */
export function warnOfForwarded(log: Logger): (peer: string) => void {
  return (peer) => {
    const remedy = `if a proxy is there, start the relay with --trust-proxy ${peer}; until then all its clients count as one address`;
    log.warn({ peer }, `a request brings X-Forwarded-For, but no proxy is trusted: ${remedy}`);
  };
}
