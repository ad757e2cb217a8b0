/**
 * Generations: the part of an id that tells the owners of one slot apart.
 *
 * The n-th owner of a slot gets the n-th value of a permutation of 1 … 2^32 − 1 that depends on the slot and on a secret key.
 * So an id says nothing about any other id, and an id of this run is still known to be old: the permutation is inverted.
 * The permutation is a Feistel network of eight rounds whose round function is AES.
 * Invariant: ownerOf(slot, of(slot, n)) = n.
 * Cost: eight AES blocks, some 5 µs; for joins and for ids that are not live, never for a crossing or a good poll.
 */
import { type Cipheriv, createCipheriv } from 'node:crypto';

/** Bytes of the key: one AES-128 key. */
export const GENERATION_KEY_BYTES = 16;

const BLOCK_BYTES = 16;

/** Twice what makes a Feistel network a strong permutation; cheap enough here. */
const ROUNDS = 8;

export class Generations {
  readonly #cipher: Cipheriv;
  readonly #block = Buffer.alloc(BLOCK_BYTES);

  /** `key`: GENERATION_KEY_BYTES random bytes, new for each run of the relay. */
  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  }

  /** The generation of the n-th owner of a slot, n ≥ 1. Never 0. */
  of(slot: number, owner: number): number {
    // 0 is not a generation: the owner that would get it gets the value of 0 instead, which no owner has.
    return this.#permute(slot, owner) || this.#permute(slot, 0);
  }

  /** Which owner of the slot has this generation: 1 … 2^32 − 1. */
  ownerOf(slot: number, generation: number): number {
    return this.#invert(slot, generation) || this.#invert(slot, 0);
  }

  #permute(slot: number, value: number): number {
    let left = value >>> 16;
    let right = value & 0xffff;
    for (let round = 0; round < ROUNDS; round++) [left, right] = [right, left ^ this.#mix(slot, round, right)];
    return ((left << 16) | right) >>> 0;
  }

  #invert(slot: number, value: number): number {
    let left = value >>> 16;
    let right = value & 0xffff;
    for (let round = ROUNDS - 1; round >= 0; round--) [left, right] = [right ^ this.#mix(slot, round, left), left];
    return ((left << 16) | right) >>> 0;
  }

  /** 16 bits that depend on the key, the slot, the round and a half of the value. */
  #mix(slot: number, round: number, half: number): number {
    this.#block.writeUInt32LE(slot, 0);
    this.#block.writeUInt16LE(round, 4);
    this.#block.writeUInt16LE(half, 6);
    return this.#cipher.update(this.#block).readUInt16LE(0);
  }
}
