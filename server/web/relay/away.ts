/**
 * The own sprites that are away: thrown from here, and not home again. Where the relay last said that each is.
 *
 * A sprite is known by its picture and the second in which its journey began. The rules are those of client-win/BEHAVIOUR.md (Away, and home
 * again); `relay.vectors.json` is played here and in core/relay/crossings/away.cc. Cost: O(AWAY_MAX) a call.
 */
import { JOURNEY_HOPS_MAX } from '../../wire/rules.ts';
import type { Journey } from '../motion/simulation.ts';

export const AWAY_MAX = 16; // sprites: as many as a menu shows at once; the one thrown longest ago is forgotten

export interface AwaySprite {
  file: string;
  name: string;
  /** When its journey began, and when the relay last told of it, in s since 1970. */
  since: number;
  seen: number;
  /** Of its journey, then. */
  hops: number;
  /** Who had it then; empty when the relay has not said. */
  with: string;
}

/** A sprite that leaves, with this throw. */
export interface Leaving {
  readonly sprite: { readonly file: string; readonly name: string };
  readonly journey?: Journey;
}

export class Away {
  /** The newest throw last. */
  readonly all: AwaySprite[];

  constructor(saved: readonly AwaySprite[] = []) {
    this.all = [...saved];
  }

  /** An own sprite is thrown. */
  leave({ sprite, journey }: Leaving, nowS: number): void {
    if (journey === undefined) return;
    const { file, name } = sprite;
    this.all.push({ file, name, since: journey.since, seen: nowS, hops: journey.hops, with: '' });
    if (this.all.length > AWAY_MAX) this.all.shift();
  }

  /** The relay has accepted a throw, perhaps of an own sprite that only came by. */
  accept({ sprite, journey }: Leaving, to: string, nowS: number): void {
    const one = this.#find(sprite.file, journey);
    if (one !== undefined && journey !== undefined) Object.assign(one, { seen: nowS, hops: journey.hops, with: to });
  }

  /** The relay has refused the throw of an own sprite: it is here. */
  refuse({ sprite, journey }: Leaving): void {
    this.#remove(this.#find(sprite.file, journey));
  }

  /**
   * A sprite comes in to stay. Returns its journey if it is an own one that is home again: unless it was thrown from here to here
   * (`isOwn`), somebody has thrown it since it was last seen.
   */
  comeHome(file: string, journey: Journey | undefined, isOwn: boolean): Journey | undefined {
    const one = this.#find(file, journey);
    if (one === undefined || journey === undefined) return undefined;
    this.#remove(one);
    if (isOwn) return journey;
    return { ...journey, hops: Math.min(Math.max(journey.hops, one.hops + 1), JOURNEY_HOPS_MAX) };
  }

  #find(file: string, journey: Journey | undefined): AwaySprite | undefined {
    return this.all.find((one) => one.file === file && one.since === journey?.since);
  }

  #remove(one: AwaySprite | undefined): void {
    if (one !== undefined) this.all.splice(this.all.indexOf(one), 1);
  }
}
