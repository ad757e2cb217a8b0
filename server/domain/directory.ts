/** The directory: who is here, for those who ask. It writes nothing. */

import type { Pictures } from '../wire/pictures.ts';
import { isResident } from '../wire/resident.ts';
import { AWAY_MS, COMPANY_MAX, EDGES, type Edge, type EdgeNumber } from '../wire/rules.ts';
import type { KeptMailboxes } from './state/kept.ts';
import { type Way, type World, wayBetween } from './state/torus.ts';
import type { Tables } from './tables.ts';
import type { WayDown } from './way_down.ts';

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

/** Another desktop: how far to the right and down it is, and for how long it has been away, if it is. */
interface Companion extends Way {
  name: string;
  awaySeconds?: number;
}

/** The response of GET /v1/desktops/{id}/company. No ids: a name gives no power over its desktop. */
interface Company {
  /** Desktops of the world, with the one that asks. */
  desktops: number;
  /** How many of them are residents, as far as this relay knows. */
  residents: number;
  /** Everybody else in a private world of up to COMPANY_MAX, in the order of places; otherwise the neighbours. */
  company: Companion[];
}

/** The way to the neighbour beyond each edge. */
const BESIDE: readonly Way[] = [
  { column: -1, row: 0 },
  { column: 1, row: 0 },
  { column: 0, row: -1 },
  { column: 0, row: 1 },
];

export class Directory {
  readonly #tables: Tables;
  readonly #kept: KeptMailboxes;
  readonly #down: WayDown;

  constructor(tables: Tables, kept: KeptMailboxes, down: WayDown) {
    this.#tables = tables;
    this.#kept = kept;
    this.#down = down;
  }

  describe(slot: number): DesktopDetails {
    const { torus, desktops, peerParts } = this.#tables;
    const beyond = (edge: EdgeNumber) => {
      const neighbour = torus.neighbour(slot, edge);
      if (neighbour < 0) {
        const remote = peerParts.peers?.reference(slot);
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

  /** Who else is in the world of a desktop. Cost: O(COMPANY_MAX · rows) at most, some 60 µs. */
  company(slot: number): Company {
    const { torus, defaultWorld, desktops } = this.#tables;
    const world = torus.worldOf(slot);
    const { count, width, slots } = world;
    if (world === defaultWorld || count > COMPANY_MAX) {
      const view = torus.sharedView(slot);
      const all = view?.bases[view.counts.length] ?? count;
      const residents = world === defaultWorld ? desktops.residents : 0; // they have no need of a large private world
      return { desktops: all, residents, company: this.#neighbours(slot) };
    }
    const own = torus.placeOf(slot);
    const company: Companion[] = [];
    for (let place = 0; place < count; place++) {
      if (place !== own) company.push(this.#companion(slots[place], wayBetween(own, place, count, width)));
    }
    const residents = company.filter(({ name }) => isResident(name)).length;
    return { desktops: count, residents, company };
  }

  /** The neighbours, each once. Without those at another relay whose name is not known yet. */
  #neighbours(slot: number): Companion[] {
    const { torus, peerParts } = this.#tables;
    const known = new Map<number | string, Companion>();
    for (let edge = 0; edge < EDGES.length; edge++) {
      const neighbour = torus.neighbour(slot, edge as EdgeNumber);
      if (neighbour === slot) continue;
      const remote = neighbour < 0 ? peerParts.peers?.reference(slot)?.toString() : undefined;
      const key = remote ?? neighbour;
      if (known.has(key) || (neighbour < 0 && remote === undefined)) continue;
      if (remote === undefined) known.set(key, this.#companion(neighbour, BESIDE[edge]));
      else known.set(key, { name: JSON.parse(remote).name, ...BESIDE[edge] });
    }
    return [...known.values()];
  }

  #companion(slot: number, way: Way): Companion {
    const silentMs = this.#down.silentMs(slot);
    const away = silentMs >= AWAY_MS ? { awaySeconds: Math.floor(silentMs / 1000) } : {};
    return { name: this.#tables.desktops.name(slot), ...way, ...away };
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
