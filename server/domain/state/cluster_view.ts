/** What a relay knows of a world that several relays share, and a place in it. cluster_torus.ts computes with them. */

/** What a relay knows of the whole world in one step. Relays are in order of their names; an index here is one of them. */
export interface ClusterView {
  readonly step: number;
  readonly names: readonly string[];
  /** Desktops of each relay. */
  readonly counts: Float64Array;
  /** The first place of each relay; one element more, which is the count of the whole world. */
  readonly bases: Float64Array;
  /** The width of the whole world: the distance between a place and the one below it. */
  readonly width: number;
  /** Equal in views that agree: 32 bits of names, counts and width, without relays that have no desktop. */
  readonly digest: number;
  /** The index of the relay whose view this is. */
  readonly self: number;
}

/** A place of one relay. Owner: the caller, who passes the same object again. */
export interface ClusterPlace {
  relay: number;
  /** 0 … n_r − 1, counted from the relay's first place. */
  place: number;
}
