/** Sprite files that only another relay has: a worker asks the master for one, and stores it like an upload. */
import { blankIdentity } from '../../wire/identity.ts';
import { ProblemError } from '../../wire/problem.ts';
import type { PictureGate } from '../picture_gate.ts';
import type { SpriteStore } from '../sprite_store.ts';
import type { Worker } from '../worker.ts';

const NO_DESKTOP = blankIdentity();

export class FetchedSprites {
  readonly #worker: Worker;
  readonly #store: SpriteStore;
  readonly #gate: PictureGate;
  /** Files that are being fetched. Requests for the same file share one fetch. */
  readonly #fetches = new Map<string, Promise<boolean>>();

  constructor(worker: Worker, store: SpriteStore, gate: PictureGate) {
    this.#worker = worker;
    this.#store = store;
    this.#gate = gate;
  }

  /** Fetches a file for a client (budget.ts); resolves to whether it is stored now. Throws relay-busy, store-full, draining. */
  fetch(file: string, client: string | undefined): Promise<boolean> {
    const running = this.#fetches.get(file);
    if (running) return running;
    const fetch = this.#fetch(file, client).finally(() => this.#fetches.delete(file));
    this.#fetches.set(file, fetch);
    return fetch;
  }

  async #fetch(file: string, client: string | undefined): Promise<boolean> {
    try {
      this.#store.checkName(file);
      this.#gate.checkUpload(file);
      const { status, body } = await this.#worker.query('fetch', NO_DESKTOP, JSON.stringify({ file, client }));
      if (status === 503)
        throw new ProblemError('relay-busy', 'The relay that may have this sprite file did not answer.');
      if (status !== 200) return false;
      await this.#store.put(file, body, client);
      return true;
    } catch (error) {
      // It is not a sprite, or this relay does not carry it.
      if (error instanceof ProblemError && error.document.status < 429) return false;
      throw error;
    }
  }
}
