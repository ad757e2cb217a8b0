/**
 * Clients: how many desktops each kind and version of a client has, and what was refused to them.
 *
 * A version has a row while there is room, otherwise its desktops are in the row of their kind without a version. A row without desktops
 * makes room for another version, and its refusals then count in the row of its kind: a stranger who invents versions uses no memory.
 * It does not survive the relay: the desktops of the one before are `unknown` until they join again.
 * Cost: a byte for each slot; refusals allocate nothing after the first of their kind.
 */
import { CLIENT_KINDS, type Client } from '../../wire/client.ts';

/** Rows in all. */
export const CLIENT_ROWS_MAX = 32;

interface ClientRow extends Client {
  desktops: number;
  /** How often something was refused to them, by the code of the problem. It only rises, and begins with `malformed`. */
  readonly refused: Map<string, number>;
}

const UNKNOWN = CLIENT_KINDS.indexOf('unknown');

export class Clients {
  /** The first ones are those of the kinds, without a version, in the order of CLIENT_KINDS. */
  readonly rows: ClientRow[] = CLIENT_KINDS.map((kind) => newRow(kind, ''));
  /** The row of the owner of each slot, plus 1; 0 for none. */
  readonly #rowOf: Uint8Array;

  constructor(slots: number) {
    this.#rowOf = new Uint8Array(slots);
  }

  /** A desktop has joined. Without a client, it joined an earlier relay. */
  add(slot: number, client?: Client): void {
    const row = client === undefined ? UNKNOWN : this.#rowFor(client);
    this.#rowOf[slot] = row + 1;
    this.rows[row].desktops++;
  }

  /** A desktop has ended. */
  remove(slot: number): void {
    this.rows[this.#of(slot)].desktops--;
    this.#rowOf[slot] = 0;
  }

  /** The client of a live desktop. */
  of(slot: number): Client {
    return this.rows[this.#of(slot)];
  }

  /** Something was refused to the desktop of a slot; to nobody known when it has ended. */
  refused(slot: number, reason: string, times = 1): void {
    count(this.rows[this.#of(slot)], reason, times);
  }

  /** A join was refused. */
  refusedJoin(client: Client | undefined, reason: string): void {
    count(this.rows[client === undefined ? UNKNOWN : this.#rowFor(client)], reason, 1);
  }

  #of(slot: number): number {
    const row = slot < this.#rowOf.length ? this.#rowOf[slot] : 0;
    return row === 0 ? UNKNOWN : row - 1;
  }

  #rowFor({ kind, version }: Client): number {
    const own = CLIENT_KINDS.indexOf(kind);
    if (version === '') return own;
    const found = this.rows.findIndex((row) => row.kind === kind && row.version === version);
    if (found >= 0) return found;
    if (this.rows.length < CLIENT_ROWS_MAX) return this.rows.push(newRow(kind, version)) - 1;
    const free = this.rows.findIndex((row) => row.version !== '' && row.desktops === 0);
    if (free < 0) return own;
    const gone = this.rows[free];
    for (const [reason, times] of gone.refused) count(this.rows[CLIENT_KINDS.indexOf(gone.kind)], reason, times);
    this.rows[free] = newRow(kind, version);
    return free;
  }
}

function newRow(kind: Client['kind'], version: string): ClientRow {
  return { kind, version, desktops: 0, refused: new Map([['malformed', 0]]) };
}

function count({ refused }: ClientRow, reason: string, times: number): void {
  refused.set(reason, (refused.get(reason) ?? 0) + times);
}
