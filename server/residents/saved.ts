/**
 * What survives the process of the residents: their seats, and every sprite that they are responsible for.
 *
 * Invariant: the file is written before a poll acknowledges a sprite, and before a throw is sent (PROTOCOL.md, What is lost, and when).
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Carried } from '../web/motion/simulation.ts';
import type { Arrival, Crossing, Seat, Sender } from '../web/relay/transport.ts';

export interface SavedGuest {
  sprite: Carried;
  /** The number of the event that brought it with the last batch. */
  seq?: number;
}

export interface SavedResident {
  name: string;
  seat: Seat;
  seq: number;
  nextCrossing: number;
  nextSaying: number;
  guests: SavedGuest[];
  leaving: { crossing: Crossing; sender: Sender }[];
  /** Waiting for room. */
  waiting: Arrival[];
}

export class SavedFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns none when there is no file. Throws Error when the file can't be read. */
  read(): SavedResident[] {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  /** Without residents, the file is removed. */
  write(residents: readonly SavedResident[]): void {
    if (residents.length === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    writeFileSync(`${this.#path}.new`, JSON.stringify(residents), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}
