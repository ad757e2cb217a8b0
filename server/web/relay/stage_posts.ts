/**
 * Posts the stage of this desktop while neighbours watch it, and not otherwise.
 *
 * Invariant: at most one post is unanswered, and at most one is sent in POST_GAP_MS.
 */
import { type Edge, STAGE_REFRESH_MS, STAGES_PER_SECOND_MAX } from '../../wire/rules.ts';
import { isNews } from './stage.ts';
import type { Stage, StageVerdict } from './transport.ts';

export const POST_GAP_MS = 1000 / STAGES_PER_SECOND_MAX; // ms between two posts, at least
export const ALIVE_MS = STAGE_REFRESH_MS; // ms after which a stage that has not changed is posted again, as a sign of life
export const RETRY_MS = 1_000; // ms until the next post after one that was refused or lost

export interface StagePostHandlers {
  now(): number;
  /** Returns the stage that these edges show, without the sprites of these files. */
  stage(edges: readonly Edge[], without: ReadonlySet<string>): Stage;
  post(stage: Stage): Promise<StageVerdict>;
  /** Called when the edges through which somebody watches may have changed. */
  watched(edges: readonly Edge[]): void;
}

export class StagePosts {
  #edges: readonly Edge[] = [];
  /** What the watchers have; null when that is not known. */
  #posted: { stage: Stage; ms: number } | null = null;
  #notBeforeMs = 0;
  #isBusy = false;
  #eventsReceived = 0;
  /** The files of accepted stages, and the other files of stages that were refused because of a picture. */
  readonly #carried = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #handlers: StagePostHandlers;

  constructor(handlers: StagePostHandlers) {
    this.#handlers = handlers;
  }

  /** Handles a `watched` event: the stage is posted at once, and then whenever it changes. */
  watched(edges: readonly Edge[]): void {
    this.#eventsReceived++;
    this.#posted = null;
    this.#setEdges(edges);
    this.tick();
  }

  /** Posts the stage if that is due. Call it several times a POST_GAP_MS. */
  tick(): void {
    const { now, stage: look } = this.#handlers;
    const nowMs = now();
    if (this.#edges.length === 0 || this.#isBusy || nowMs < this.#notBeforeMs) return;
    const stage = look(this.#edges, this.#refused);
    if (this.#posted !== null) {
      const passedMs = nowMs - this.#posted.ms;
      if (passedMs < ALIVE_MS && !isNews(this.#posted.stage, passedMs, stage)) return;
    }
    this.#posted = { stage, ms: nowMs };
    this.#notBeforeMs = nowMs + POST_GAP_MS;
    void this.#post(stage);
  }

  async #post(stage: Stage): Promise<void> {
    this.#isBusy = true;
    const eventsBefore = this.#eventsReceived;
    const verdict = await this.#handlers.post(stage);
    this.#isBusy = false;
    if (verdict !== 'unknown' && 'edges' in verdict) {
      for (const file of stage.files) this.#carried.add(file);
      // An event that came before this answer may be newer than the answer.
      if (verdict.edges.length === 0 && eventsBefore === this.#eventsReceived) this.#setEdges([]);
      return;
    }
    this.#posted = null;
    this.#notBeforeMs = this.#handlers.now() + RETRY_MS;
    if (verdict === 'unknown' || verdict.refused.code === 'too-fast') return;
    if (verdict.refused.code === 'picture-refused') {
      for (const file of stage.files) if (!this.#carried.has(file)) this.#refused.add(file);
    } else {
      this.#setEdges([]);
    }
  }

  #setEdges(edges: readonly Edge[]): void {
    this.#edges = edges;
    this.#handlers.watched(edges);
  }
}
