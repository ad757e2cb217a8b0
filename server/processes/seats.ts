/** Seats: lets new desktops in at this relay, and makes their invitations. */
import type { Relay } from '../domain/relay.ts';
import { writeCursor } from '../wire/cursor.ts';
import { writeToken } from '../wire/identity.ts';
import { writeInvitation } from '../wire/invitation.ts';
import type { Join } from '../wire/join.ts';

/** Who may join, as the moderator (moderator.ts) decides. */
export interface Doorkeeper {
  /** Throws banned. */
  admit(address: string | undefined): void;
  joined(slot: number, address: string | undefined): void;
}

export class Seats {
  readonly #relay: Relay;
  readonly #doorkeeper: Doorkeeper | undefined;
  readonly #relayName: string | undefined;
  readonly #token = new Uint32Array(4);
  readonly #invitation = new Uint32Array(4);

  /** Without a doorkeeper, nobody is banned. `relayName`: in a cluster, so that invitations name the relay. */
  constructor(relay: Relay, doorkeeper?: Doorkeeper, relayName?: string) {
    this.#relay = relay;
    this.#doorkeeper = doorkeeper;
    this.#relayName = relayName;
  }

  /** Throws what seat() throws before it is known which relay has the world. */
  admit(join: Join): void {
    this.#doorkeeper?.admit(join.clientAddress);
    this.#relay.admitJoin(join);
  }

  /**
   * Seats a new desktop at this relay. Returns `{desktop, token, invitation, world, pictures, stage, named, cursor, here, pingSeconds}`.
   *
   * Throws  banned, and what Relay.join() throws.
   */
  seat(join: Join): object {
    const relay = this.#relay;
    this.#doorkeeper?.admit(join.clientAddress);
    const slot = relay.join(join, this.#token, this.#invitation);
    this.#doorkeeper?.joined(slot, join.clientAddress);
    const world = relay.torus.worldOf(slot);
    return {
      desktop: relay.desktops.id(slot),
      token: writeToken(slot, relay.desktops.generation(slot), this.#token),
      invitation: writeInvitation(slot, this.#invitation, this.#relayName),
      world: world.name,
      pictures: world.pictures,
      stage: relay.desktops.shows(slot),
      named: relay.desktops.isNamed(slot),
      cursor: writeCursor(relay.epoch, 0),
      here: { world: world.count, relay: relay.desktops.count },
      pingSeconds: relay.pingMs / 1000,
    };
  }

  /** A new invitation of a live desktop. */
  renew(slot: number): string {
    this.#relay.renewInvitation(slot, this.#invitation);
    return writeInvitation(slot, this.#invitation, this.#relayName);
  }
}
