/**
 * Sprite files that only another relay has: a worker asks the master for one, and stores it like an upload.
 *
 * Requests for the same file share one fetch. It takes from the share of the client that asked first (budget.ts). When that share is used
 * up, only this client is refused: the next one asks for itself.
 */

import type { PictureGate } from '../moderation/picture_gate.ts';
import type { SpriteStore } from '../store/sprite_store.ts';
import { blankIdentity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Worker } from './worker.ts';

const NO_DESKTOP = blankIdentity();

/** A fetch that runs. `outcome` rejects where every client gets the same problem. */
interface Fetch {
  readonly client: string | undefined;
  readonly outcome: Promise<'stored' | 'missing' | 'refused'>;
}

export class FetchedSprites {
  readonly #worker: Worker;
  readonly #store: SpriteStore;
  readonly #gate: PictureGate;
  readonly #fetches = new Map<string, Fetch>();

  constructor(worker: Worker, store: SpriteStore, gate: PictureGate) {
    this.#worker = worker;
    this.#store = store;
    this.#gate = gate;
  }

  /** Fetches a file for a client (budget.ts); resolves to whether it is stored now. Throws relay-busy, store-full, draining. */
  async fetch(file: string, client: string | undefined): Promise<boolean> {
    for (;;) {
      const fetch = this.#fetches.get(file) ?? this.#start(file, client);
      const outcome = await fetch.outcome;
      if (outcome !== 'refused') return outcome === 'stored';
      if (fetch.client === client) {
        throw new ProblemError('relay-busy', 'The relay is fetching too many sprite files; try again in a second.');
      }
    }
  }

  #start(file: string, client: string | undefined): Fetch {
    const outcome = this.#fetch(file, client).finally(() => this.#fetches.delete(file));
    const fetch = { client, outcome };
    this.#fetches.set(file, fetch);
    return fetch;
  }

  async #fetch(file: string, client: string | undefined): Promise<'stored' | 'missing' | 'refused'> {
    try {
      this.#store.checkName(file);
      this.#gate.checkUpload(file);
    } catch (error) {
      return missingOrThrow(error);
    }
    const { status, body } = await this.#worker.query('fetch', NO_DESKTOP, JSON.stringify({ file, client }));
    if (status === 429) return 'refused';
    if (status === 503)
      throw new ProblemError('relay-busy', 'The relay that may have this sprite file did not answer.');
    if (status !== 200) return 'missing';
    try {
      await this.#store.put(file, body, client);
      return 'stored';
    } catch (error) {
      if (error instanceof ProblemError && error.document.code === 'relay-busy') return 'refused';
      return missingOrThrow(error);
    }
  }
}

/** For what is not a sprite, or a picture that this relay does not carry, there is no such file here. */
function missingOrThrow(error: unknown): 'missing' {
  if (error instanceof ProblemError && error.document.status < 429) return 'missing';
  throw error;
}
