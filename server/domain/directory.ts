/** The directory: who is here, for those who ask. It writes nothing. */

import type { Pictures } from '../wire/pictures.ts';
import type { Edge, EdgeNumber } from '../wire/rules.ts';
import type { KeptMailboxes } from './state/kept.ts';
import type { World } from './state/torus.ts';
import type { Tables } from './tables.ts';

/** How many desktops are here, for everybody to see. */
export interface Counts {
  desktops: number;
  /** How many of them are residents. */
  residents: number;
  /** Worlds that have a name for the public, with their desktops. The names of the others are secret. */
  worlds: { world: string; desktops: number }[];
  /** Worlds with a secret name that have a desktop. */
  privateWorlds: number;
}

/** The response of GET /v1/desktops/{id}. */
interface DesktopDetails {
  desktop: string;
  name: string;
  world: string;
  /** The pictures that the world carries; the relay may carry fewer. */
  pictures: Pictures;
  /** Whether it shows its stage. */
  stage: boolean;
  place: number;
  /** Without the edges whose neighbour is at another relay and not known yet. */
  neighbours: Partial<Record<Edge, { desktop: string; name: string }>>;
}

export class Directory {
  readonly #tables: Tables;
  readonly #kept: KeptMailboxes;

  constructor(tables: Tables, kept: KeptMailboxes) {
    this.#tables = tables;
    this.#kept = kept;
  }

  describe(slot: number): DesktopDetails {
    const { torus, desktops, abroad } = this.#tables;
    const beyond = (edge: EdgeNumber) => {
      const neighbour = torus.neighbour(slot, edge);
      if (neighbour < 0) {
        const remote = abroad.peers?.reference(slot);
        return remote === undefined ? undefined : JSON.parse(remote.toString());
      }
      return { desktop: desktops.id(neighbour), name: desktops.name(neighbour) };
    };
    return {
      desktop: desktops.id(slot),
      name: desktops.name(slot),
      world: torus.worldOf(slot).name,
      pictures: torus.worldOf(slot).pictures,
      stage: desktops.shows(slot),
      place: torus.placeOf(slot),
      neighbours: { left: beyond(0), right: beyond(1), top: beyond(2), bottom: beyond(3) },
    };
  }

  /** How many desktops are here. The names of private worlds are secret, so those are only counted. */
  count(): Counts {
    const { desktops, torus, defaultWorld } = this.#tables;
    const { name, count } = defaultWorld;
    return {
      desktops: desktops.count,
      residents: desktops.residents,
      worlds: [{ world: name, desktops: count }],
      privateWorlds: torus.worldCount - 1 - this.#kept.emptyCount(defaultWorld),
    };
  }

  /** How many mailboxes have sprites, and of how many worlds. */
  get waitingIn(): { mailboxes: number; worlds: number } {
    const { desktops, mailboxes: all, torus } = this.#tables;
    const worlds = new Set<World>();
    let mailboxes = 0;
    for (let slot = 0; slot < desktops.untouched; slot++) {
      if (all.count(slot) === 0) continue;
      mailboxes++;
      worlds.add(torus.worldOf(slot));
    }
    return { mailboxes, worlds: worlds.size };
  }
}
