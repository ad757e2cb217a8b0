/**
 * Flights: what crosses edges, for those who look at the world: how often each picture of the gallery flew in the last minute, the map, and the
 * pictures and travellers of the day. In the master.
 *
 * The map and the day are about the default world only. A busy relay looks only at the first LOOKS_PER_STEP_MAX crossings of each step and
 * estimates the counts from them, so those of rare pictures are rough there, and it loses sight of travellers. On a quiet relay all is exact.
 * Cost: one addition for each crossing; some 0.7 µs more for one that is looked at, so at most 0.5 ms a second.
 */

import { crc32 } from 'node:zlib';
import type { Relay } from '../domain/relay.ts';
import type { CountedPicture, Farthest } from '../domain/state/facts.ts';
import { DAY_STEP_MS, MOST_THROWN_MAX } from '../domain/state/limits.ts';
import type { World } from '../domain/state/torus.ts';
import type { CheckedCrossing } from '../wire/crossing.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { fileAt, readFile } from '../wire/passage.ts';
import { Travellers } from './travellers.ts';
import { type MappedWorld, WorldMap } from './world_map.ts';

/** Crossings that are looked at in each step. */
export const LOOKS_PER_STEP_MAX = 64;
export const STEP_MS = 100;

/** The minute is counted in parts. A new part replaces the oldest one. */
const PARTS = 6;
export const PART_MS = 10_000;

export const DAY_MS = 86_400_000;

/** It follows the name of the sprite, in which a quote has a backslash. */
const ANIMATION_KEY = Buffer.from(',"animation":');

/** Crossings of a picture that were looked at. */
interface Picture {
  /** In each part. */
  readonly parts: Uint32Array;
  /** In the default world: in the present part, and how many there were today before it. */
  fresh: number;
  today: number;
}

/** What the master answers to those who look at the world. */
export interface Flying {
  /** Pictures that flew in the last minute, and how often. */
  counts: Record<string, number>;
  map: MappedWorld;
  /** Since the relay began, and today. */
  thrown: number;
  mostThrown: readonly CountedPicture[];
  farthest: (Pick<Farthest, 'file' | 'desktops'> & { name: string | null }) | null;
}

export class Flights {
  readonly #relay: Relay;
  readonly #commons: World;
  #pictures = new Map<string, Picture>();
  /** Crossings in each part, and how many of them were looked at. */
  readonly #all = new Uint32Array(PARTS);
  readonly #looked = new Uint32Array(PARTS);
  #part = 0;
  #partEndsMs = Number.NEGATIVE_INFINITY;
  #stepEndsMs = Number.NEGATIVE_INFINITY;
  #left = 0;
  readonly #map = new WorldMap();
  readonly #travellers: Travellers;
  /** When the pictures of the day are ranked next, and whether there is something to rank. */
  #rankMs = Number.NEGATIVE_INFINITY;
  #isUnranked = false;

  constructor(relay: Relay) {
    const { desktops, torus } = relay;
    this.#relay = relay;
    this.#commons = torus.find(DEFAULT_WORLD) as World; // it is never removed
    this.#travellers = new Travellers((slot) => desktops.generation(slot));
  }

  /** Counts these pictures from now on, and no others. */
  track(files: Iterable<string>): void {
    const { day } = this.#relay;
    const pictures = new Map<string, Picture>();
    for (const file of files) {
      const today = () => day.mostThrown.find((counted) => counted.file === file)?.times ?? 0;
      pictures.set(file, this.#pictures.get(file) ?? { parts: new Uint32Array(PARTS), fresh: 0, today: today() });
    }
    this.#pictures = pictures;
    this.#isUnranked = true;
    if (day.farthest && !pictures.has(day.farthest.file)) day.setFarthest(undefined);
  }

  /** Counts a crossing of this desktop that was accepted just now. */
  count(slot: number, { crossing, edge, body, start }: CheckedCrossing): void {
    this.#all[this.#part]++;
    if (this.#left === 0) return;
    this.#left--;
    this.#looked[this.#part]++;
    const at = fileAt(body, start);
    const file = readFile(body, at);
    const picture = this.#pictures.get(file);
    if (picture === undefined) return;
    picture.parts[this.#part]++;
    const { torus, desktops } = this.#relay;
    const { count, width } = this.#commons;
    if (torus.worldOf(slot) !== this.#commons) return;
    picture.fresh++;
    this.#isUnranked = true;
    this.#map.add(file, edge, torus.placeOf(slot), count, width);
    const to = desktops.receiverOf(slot, crossing);
    if (to < 0 || to === slot) return; // another relay's, or nobody else is here
    const sprite = crc32(body.subarray(at, body.indexOf(ANIMATION_KEY, at)));
    const distance = this.#travellers.crossed(sprite, slot, to, edge);
    if (distance > (this.#relay.day.farthest?.desktops ?? 0)) this.#setFarthest(file, distance, slot);
  }

  #setFarthest(file: string, distance: number, slot: number): void {
    const { desktops, day } = this.#relay;
    const name = desktops.isNamed(slot) ? desktops.name(slot) : '';
    day.setFarthest({ file, desktops: distance, slot, generation: desktops.generation(slot), name });
  }

  /** `nowMs`: monotonic. `timeOfDayMs`: since 1970, in UTC. */
  advance(nowMs: number, timeOfDayMs: number): void {
    this.#map.advance(nowMs);
    if (nowMs < this.#stepEndsMs) return;
    this.#stepEndsMs = nowMs + STEP_MS;
    this.#left = LOOKS_PER_STEP_MAX;
    if (this.#relay.day.begin(Math.floor(timeOfDayMs / DAY_MS))) this.#beginDay();
    if (nowMs >= this.#partEndsMs) this.#beginPart(nowMs);
    if (nowMs >= this.#rankMs && this.#isUnranked) this.#rank(nowMs);
  }

  #beginDay(): void {
    this.#travellers.clear();
    for (const picture of this.#pictures.values()) {
      picture.fresh = 0;
      picture.today = 0;
    }
  }

  #beginPart(nowMs: number): void {
    this.#partEndsMs = nowMs + PART_MS;
    for (const picture of this.#pictures.values()) {
      picture.today = this.#timesToday(picture);
      picture.fresh = 0;
    }
    this.#part = (this.#part + 1) % PARTS;
    this.#all[this.#part] = 0;
    this.#looked[this.#part] = 0;
    for (const { parts } of this.#pictures.values()) parts[this.#part] = 0;
  }

  /** Those that were thrown most today. */
  #rank(nowMs: number): void {
    this.#rankMs = nowMs + DAY_STEP_MS;
    this.#isUnranked = false;
    const counted: CountedPicture[] = [];
    for (const [file, picture] of this.#pictures) {
      const times = Math.round(this.#timesToday(picture));
      if (times > 0) counted.push({ file, times });
    }
    counted.sort((a, b) => b.times - a.times);
    this.#relay.day.setMostThrown(counted.slice(0, MOST_THROWN_MAX));
  }

  /** How often a picture was thrown in the default world today. */
  #timesToday({ today, fresh }: Picture): number {
    return fresh === 0 ? today : today + this.#estimate(fresh, this.#part);
  }

  /** How many crossings of a part are like these, which were looked at. */
  #estimate(looked: number, part: number): number {
    return (looked * this.#all[part]) / this.#looked[part];
  }

  /** How often each picture flew in the last minute. Pictures that did not are left out. */
  get newest(): Record<string, number> {
    const flying: Record<string, number> = {};
    for (const [file, { parts }] of this.#pictures) {
      let sum = 0;
      for (let part = 0; part < PARTS; part++) if (parts[part] > 0) sum += this.#estimate(parts[part], part);
      if (sum > 0) flying[file] = Math.round(sum);
    }
    return flying;
  }

  show(): Flying {
    const { count, width } = this.#commons;
    const { thrown, mostThrown, farthest } = this.#relay.day;
    return {
      counts: this.newest,
      map: this.#map.show(count, width),
      thrown,
      mostThrown,
      farthest: farthest
        ? { file: farthest.file, desktops: farthest.desktops, name: farthest.name === '' ? null : farthest.name }
        : null,
    };
  }
}
