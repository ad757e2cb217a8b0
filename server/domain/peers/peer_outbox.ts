/**
 * Peer outbox: what a turn has for other relays that gets no answer, in one message for each of them.
 *
 * `Writer` gathers the records of one message, and has its limit.
 */

export class PeerOutbox<Writer extends { finish(): Buffer }> {
  readonly #begin: () => Writer;
  #writers = new Map<string, Writer>();

  /** `begin` makes the writer of a message. */
  constructor(begin: () => Writer) {
    this.#begin = begin;
  }

  /** The message for this relay. */
  to(peer: string): Writer {
    let writer = this.#writers.get(peer);
    if (writer === undefined) {
      writer = this.#begin();
      this.#writers.set(peer, writer);
    }
    return writer;
  }

  /** Whether popMessages() will return something. */
  get hasMessages(): boolean {
    return this.#writers.size > 0;
  }

  /** Returns the messages of this turn, each with the relay that gets it, and removes them here. */
  popMessages(): [peer: string, message: Buffer][] {
    if (this.#writers.size === 0) return NONE;
    const messages = [...this.#writers].map(([peer, writer]): [string, Buffer] => [peer, writer.finish()]);
    this.#writers = new Map();
    return messages;
  }
}

const NONE: [string, Buffer][] = [];
