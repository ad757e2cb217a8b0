/**
 * The bans that a process enforces: addresses that may not join or upload, and pictures that are not carried.
 *
 * The master owns the list (moderation_list.ts) and sends a copy to each worker after every change. A ban ends by itself.
 * Cost: a check of an address compares it with each ban, some 10 ns each; a check of a picture is one Map look-up.
 */

import { ProblemError } from '../wire/problem.ts';
import type { GalleryCopy } from './gallery_list.ts';
import { type IpNetwork, isInNetwork, readAddress, readNetwork } from './ip_network.ts';

/** The longest ban that ends by itself, in seconds: ten years. */
export const BAN_SECONDS_MAX = 10 * 365 * 86_400;

/** What the master sends to its workers. Times are those of the wall clock in ms; null: for ever. */
export interface BansCopy {
  addresses: readonly { network: string; untilMs: number | null }[];
  pictures: readonly { file: string; untilMs: number | null }[];
  /** A world here has a policy of its own for pictures: crossings must bring the standing of theirs. */
  strictWorlds: boolean;
}

/** What the master tells each worker after every change. */
export interface ModerationCopy extends BansCopy {
  gallery: GalleryCopy;
}

export class Bans {
  #networks: { network: IpNetwork; untilMs: number }[] = [];
  #pictures = new Map<string, number>();
  readonly #clock: () => number;

  /** `clock`: the wall clock in ms. */
  constructor(clock = Date.now) {
    this.#clock = clock;
  }

  /** Replaces all bans. */
  update({ addresses, pictures }: BansCopy): void {
    this.#networks = addresses.flatMap(({ network, untilMs }) => {
      const read = readNetwork(network);
      return read ? [{ network: read, untilMs: untilMs ?? Number.POSITIVE_INFINITY }] : [];
    });
    this.#pictures = new Map(pictures.map(({ file, untilMs }) => [file, untilMs ?? Number.POSITIVE_INFINITY]));
  }

  /** Whether any picture is banned: only then must crossings be checked. */
  get anyPicture(): boolean {
    return this.#pictures.size > 0;
  }

  isAddressBanned(words: Uint32Array | undefined): boolean {
    if (this.#networks.length === 0 || words === undefined) return false;
    const nowMs = this.#clock();
    return this.#networks.some(({ network, untilMs }) => untilMs > nowMs && isInNetwork(words, network));
  }

  isPictureBanned(file: string): boolean {
    const untilMs = this.#pictures.get(file);
    return untilMs !== undefined && untilMs > this.#clock();
  }

  /** Throws banned. */
  checkAddress(address: string): void {
    if (this.#networks.length > 0 && this.isAddressBanned(readAddress(address)))
      throw new ProblemError('banned', BANNED);
  }

  /** Throws picture-refused. */
  checkPicture(file: string): void {
    if (this.isPictureBanned(file)) throw new ProblemError('picture-refused', REMOVED);
  }
}

export const BANNED = 'The operator of this relay has banned your address.';
const REMOVED = 'The operator of this relay has banned this picture; throw another one.';
