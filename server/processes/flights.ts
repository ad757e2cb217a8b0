/**
 * Flights: how many sprites of each picture of the gallery crossed an edge in the last minute. In the master.
 *
 * A busy relay looks only at the first LOOKS_PER_STEP_MAX crossings of each step and estimates the counts from them, so those of rare
 * pictures are rough there. On a quiet relay they are exact.
 * Cost: one addition for each crossing; some 0.5 µs more for one that is looked at, so at most 0.3 ms a second.
 */

import { WorldMap } from './world_map.ts';

/** Crossings that are looked at in each step. */
export const LOOKS_PER_STEP_MAX = 64;
export const STEP_MS = 100;

/** The minute is counted in parts. A new part replaces the oldest one. */
const PARTS = 6;
export const PART_MS = 10_000;

const FILE_KEY = Buffer.from('"file":"');
const FILE_DIGITS = 64;

export class Flights {
  /** Of each picture, the crossings that were looked at in each part. */
  #counts = new Map<string, Uint32Array>();
  /** Crossings in each part, and how many of them were looked at. */
  readonly #all = new Uint32Array(PARTS);
  readonly #looked = new Uint32Array(PARTS);
  #part = 0;
  #partEndsMs = Number.NEGATIVE_INFINITY;
  #stepEndsMs = Number.NEGATIVE_INFINITY;
  #left = 0;
  /** Where some of the counted ones left. */
  readonly map = new WorldMap();

  /** Counts these pictures from now on, and no others. */
  track(files: Iterable<string>): void {
    const counts = new Map<string, Uint32Array>();
    for (const file of files) counts.set(file, this.#counts.get(file) ?? new Uint32Array(PARTS));
    this.#counts = counts;
  }

  /** Counts a crossing, whose passage begins at bytes[start]. Returns its picture if it was looked at and is tracked. */
  count(bytes: Buffer, start: number): string | undefined {
    this.#all[this.#part]++;
    if (this.#left === 0) return undefined;
    this.#left--;
    this.#looked[this.#part]++;
    // The first key of this name is the sprite's: only numbers and an edge are before it.
    const at = bytes.indexOf(FILE_KEY, start) + FILE_KEY.length;
    const file = bytes.toString('latin1', at, at + FILE_DIGITS);
    const counts = this.#counts.get(file);
    if (counts === undefined) return undefined;
    counts[this.#part]++;
    return file;
  }

  /** `nowMs`: monotonic. */
  advance(nowMs: number): void {
    this.map.advance(nowMs);
    if (nowMs < this.#stepEndsMs) return;
    this.#stepEndsMs = nowMs + STEP_MS;
    this.#left = LOOKS_PER_STEP_MAX;
    if (nowMs < this.#partEndsMs) return;
    this.#partEndsMs = nowMs + PART_MS;
    this.#part = (this.#part + 1) % PARTS;
    this.#all[this.#part] = 0;
    this.#looked[this.#part] = 0;
    for (const counts of this.#counts.values()) counts[this.#part] = 0;
  }

  /** How often each picture flew in the last minute. Pictures that did not are left out. */
  get newest(): Record<string, number> {
    const flying: Record<string, number> = {};
    for (const [file, counts] of this.#counts) {
      let sum = 0;
      for (let part = 0; part < PARTS; part++) {
        if (counts[part] > 0) sum += (counts[part] * this.#all[part]) / this.#looked[part];
      }
      if (sum > 0) flying[file] = Math.round(sum);
    }
    return flying;
  }
}
