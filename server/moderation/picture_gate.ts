/**
 * The picture gate: which pictures a worker carries. It knows the relay's policy and the banned pictures.
 *
 * Cost: nothing while every picture may pass (`isOpen`). Otherwise a search of some 40 bytes and one or two look-ups a
 * crossing; with the policy `known`, one stat for a picture that is seen for the first time.
 */

import type { SpriteStore } from '../store/sprite_store.ts';
import { fileAt, readFile } from '../wire/passage.ts';
import { isCarried, type Pictures, Standing } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Bans, BansCopy } from './bans.ts';

const REFUSALS = {
  known: 'This relay carries only pictures that it has already; throw one of these.',
  shipped: 'This relay carries only its own characters; throw one of these.',
} as const;

export class PictureGate {
  readonly #policy: Pictures;
  readonly #bans: Bans;
  readonly #store: SpriteStore;
  /** A world may be stricter than the relay: the standing of every picture is needed. */
  #strictWorlds = false;
  /** Every picture may pass: crossings need no check. */
  isOpen: boolean;

  constructor(policy: Pictures, bans: Bans, store: SpriteStore) {
    this.#policy = policy;
    this.#bans = bans;
    this.#store = store;
    this.isOpen = policy === 'any' && !bans.anyPicture;
  }

  /** Replaces the bans. */
  update(copy: BansCopy): void {
    this.#bans.update(copy);
    this.#strictWorlds = copy.strictWorlds;
    this.isOpen = this.#policy === 'any' && !this.#bans.anyPicture && !this.#strictWorlds;
  }

  /** Checks the picture of the passage that begins at bytes[start], and returns its standing. Throws picture-refused. */
  checkPassage(bytes: Buffer, start: number): Standing {
    return this.#check(readFile(bytes, fileAt(bytes, start)));
  }

  /** Checks the pictures of a stage, and returns the lowest standing of one. Throws picture-refused. */
  checkFiles(files: readonly string[]): Standing {
    let lowest: Standing = Standing.shipped;
    for (const file of files) lowest = Math.min(lowest, this.#check(file)) as Standing;
    return lowest;
  }

  #check(file: string): Standing {
    this.#bans.checkPicture(file);
    if (this.#policy === 'any' && !this.#strictWorlds) return Standing.unchecked;
    const standing = this.#standingOf(file);
    if (this.#policy !== 'any' && !isCarried(this.#policy, standing)) {
      throw new ProblemError('picture-refused', REFUSALS[this.#policy]);
    }
    return standing;
  }

  #standingOf(file: string): Standing {
    if (this.#store.isShipped(file)) return Standing.shipped;
    return this.#store.has(file) ? Standing.known : Standing.unknown;
  }

  /** Throws picture-refused. */
  checkUpload(file: string): void {
    this.#bans.checkPicture(file);
    if (this.#policy !== 'any') throw new ProblemError('picture-refused', REFUSALS[this.#policy]);
  }

  /** Whether a file is served: a banned one is not. */
  isServed(file: string): boolean {
    return !this.#bans.isPictureBanned(file);
  }
}
