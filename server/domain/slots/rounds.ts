/**
 * Rounds: lists of desktops that are each visited once.
 *
 * A desktop is listed when something waits for it that may wait a little, such as a saying. A round visits all desktops that were listed
 * before it began. It does so in steps, so that sprites pass between them. The next round visits desktops that are listed during this one.
 * Invariant: a listed slot is either in the list of this round or in that of the next one, once.
 * Cost: O(1), no allocation except when a list grows; one byte a slot, untouched until it is listed.
 */
export class Rounds {
  readonly #isListed: Uint8Array;
  /** The slots of this round, of which #visited were visited, and those of the next one. */
  #round: SlotList = new SlotList();
  #visited = 0;
  #next: SlotList = new SlotList();

  constructor(slots: number) {
    this.#isListed = new Uint8Array(slots);
  }

  isListed(slot: number): boolean {
    return this.#isListed[slot] !== 0;
  }

  /** Lists a slot for the next round, unless it is listed already. */
  list(slot: number): void {
    if (this.#isListed[slot] !== 0) return;
    this.#isListed[slot] = 1;
    this.#next.push(slot);
  }

  /** Whether this round has slots left. */
  get isOpen(): boolean {
    return this.#visited < this.#round.count;
  }

  /** Begins the next round. REQUIRES: !isOpen. */
  begin(): void {
    this.#round.count = 0;
    this.#visited = 0;
    [this.#round, this.#next] = [this.#next, this.#round];
  }

  /** The next slot of this round. REQUIRES: isOpen. */
  visit(): number {
    const slot = this.#round.slots[this.#visited++];
    this.#isListed[slot] = 0;
    return slot;
  }
}

/** A list of slots that grows. */
class SlotList {
  slots = new Uint32Array(1024);
  count = 0;

  push(slot: number): void {
    if (this.count === this.slots.length) {
      const larger = new Uint32Array(this.count * 2);
      larger.set(this.slots);
      this.slots = larger;
    }
    this.slots[this.count++] = slot;
  }
}
