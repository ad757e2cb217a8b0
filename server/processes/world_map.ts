/**
 * The map of the default world: where in its torus some of the newest sprites crossed an edge. In the master.
 *
 * It says nothing about who threw: a place is a cell of a grid of at most MAP_SIDE × MAP_SIDE, so in a large world many desktops share
 * one. Only pictures that the gallery shows are on it, and no private world is. Where several relays share the world, it is this relay's
 * part of it.
 * Memory: FLIGHTS_KEPT entries. Cost: at most one entry in SAMPLE_MS.
 */
import { EDGES, type Edge, type EdgeNumber } from '../wire/rules.ts';

/** Sampled flights that are kept: with one in SAMPLE_MS, those of the last six seconds. */
export const FLIGHTS_KEPT = 64;

/** Between two samples, in ms: more would be a blur. */
export const SAMPLE_MS = 100;

/** Flights older than this are not shown, in ms: the page says "in the last minute". */
export const SHOWN_MS = 60_000;

/** Cells of the map from left to right, and from top to bottom. */
export const MAP_SIDE = 64;

interface MappedFlight {
  /** Rises with each flight, so a client knows which ones it has shown. */
  number: number;
  file: string;
  /** Where its thrower is on the map, 0 … 1 from the left and from the top. */
  x: number;
  y: number;
  /** The edge over which it left. */
  edge: Edge;
}

export interface MappedWorld {
  desktops: number;
  /** Of the torus's grid. The last row may be shorter. */
  columns: number;
  rows: number;
  /** The oldest first. */
  flights: MappedFlight[];
}

export class WorldMap {
  #flights: (MappedFlight & { atMs: number })[] = [];
  #number = 0;
  #nowMs = Number.NEGATIVE_INFINITY;
  #nextMs = Number.NEGATIVE_INFINITY;

  /** `nowMs`: monotonic. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** A sprite left `place` of the default world, which has `count` places and this width. */
  add(file: string, edge: EdgeNumber, place: number, count: number, width: number): void {
    if (this.#nowMs < this.#nextMs) return;
    this.#nextMs = this.#nowMs + SAMPLE_MS;
    const x = cellOf(place % width, width);
    const y = cellOf(Math.floor(place / width), Math.ceil(count / width));
    this.#flights.push({ number: ++this.#number, file, x, y, edge: EDGES[edge], atMs: this.#nowMs });
    if (this.#flights.length > FLIGHTS_KEPT) this.#flights.shift();
  }

  /** The map of a world of `count` places and this width, with the flights of the last minute. */
  show(count: number, width: number): MappedWorld {
    this.#flights = this.#flights.filter(({ atMs }) => atMs > this.#nowMs - SHOWN_MS);
    const flights = this.#flights.map(({ number, file, x, y, edge }) => ({ number, file, x, y, edge }));
    return { desktops: count, columns: width, rows: Math.ceil(count / width), flights };
  }
}

/** The middle of the `at`th of `of` parts of a line of 0 … 1, as the cell of the map that it is in. */
const cellOf = (at: number, of: number): number => Math.floor(((at + 0.5) / of) * MAP_SIDE) / MAP_SIDE;
