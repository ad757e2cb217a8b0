/**
 * The addresses that desktops joined from, one row per slot: four 32-bit words, IPv4 as the IPv6 address it is mapped to.
 *
 * A row of zeros means that the address is not known. Cost: 16 bytes a slot that was used.
 */
export class Addresses {
  readonly words: Uint32Array;

  constructor(slots: number) {
    this.words = new Uint32Array(slots * 4);
  }

  /** Sets the address of a slot; undefined when it is not known. */
  set(slot: number, address: Uint32Array | undefined): void {
    if (address) this.words.set(address, slot * 4);
    else this.words.fill(0, slot * 4, slot * 4 + 4);
  }

  /** The address of a slot. Owner: a view of the row. */
  of(slot: number): Uint32Array {
    return this.words.subarray(slot * 4, slot * 4 + 4);
  }
}
