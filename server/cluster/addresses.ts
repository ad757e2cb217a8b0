/**
 * Addresses: where desktops can join the other relays of the cluster. A relay that stops sends them to its desktops.
 *
 * A relay sends its address when it starts, and again when another relay appears. A relay without --public-url does not know its address,
 * and sends none.
 * Limits: RELAYS_MAX addresses of JOIN_URL_BYTES_MAX bytes.
 */

import { keepNewest } from '../domain/peers/keep_newest.ts';
import { type Membership, RELAYS_MAX } from '../domain/peers/membership.ts';
import { isRelayName } from '../wire/identity.ts';
import { JOIN_URL_BYTES_MAX } from '../wire/rules.ts';
import type { PeerNetwork } from './peer_network.ts';

const SUBJECT = 'sprites.addresses';

/** What a message has: the name of a relay, a space, and the URL of its joins. */
const ADDRESS = /^([a-z0-9-]+) (https?:\/\/[\x21-\x7e]+)$/;

export class Addresses {
  readonly #network: PeerNetwork;
  readonly #membership: Membership;
  readonly #urls = new Map<string, string>();
  #own: Buffer | undefined;

  constructor(network: PeerNetwork, membership: Membership) {
    this.#network = network;
    this.#membership = membership;
    network.subscribe(SUBJECT, (bytes) => {
      const [, name, url] = ADDRESS.exec(Buffer.from(bytes).toString('latin1')) ?? [];
      if (name === undefined || !isRelayName(name) || !isAddress(url)) return;
      this.#urls.delete(name);
      this.#urls.set(name, url);
      keepNewest(this.#urls, RELAYS_MAX);
    });
  }

  /** From now on this relay has an address: the URL of its site. */
  announce(publicUrl: string): void {
    const url = new URL('v1/desktops', publicUrl.endsWith('/') ? publicUrl : `${publicUrl}/`).href;
    if (!isAddress(url)) return;
    this.#own = Buffer.from(`${this.#membership.name} ${url}`);
    this.send();
  }

  /** Sends the address of this relay, if it has one. */
  send(): void {
    if (this.#own !== undefined) this.#network.publish(SUBJECT, this.#own);
  }

  /** Where desktops can join the other relays that are here now. */
  others(): string[] {
    const isHere = (name: string) => name !== this.#membership.name && this.#membership.stateOf(name) === 'here';
    return [...this.#urls].filter(([name]) => isHere(name)).map(([, url]) => url);
  }
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && url.length <= JOIN_URL_BYTES_MAX && !/["\\]/.test(url);
}
