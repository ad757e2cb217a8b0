/**
 * The metrics of the workers, which the master collects over IPC for each scrape.
 *
 * A worker that is stuck or dies meanwhile does not answer. The scrape then has the metrics of the others, and says how many
 * did not answer. (prom-client's own collection over a cluster fails as a whole after five seconds.)
 */
import { AggregatorRegistry, type MetricObject } from 'prom-client';

/** How long a scrape waits for the workers, in ms: well below the ten seconds after which Prometheus gives up. */
export const WORKER_METRICS_MS_MAX = 1_000;

/** The message to a worker, and its answer. */
export interface MetricsRequest {
  type: 'metrics';
  scrape: number;
}
export interface MetricsAnswer extends MetricsRequest {
  metrics: MetricObject[];
}

interface Scrape {
  answers: MetricObject[][];
  missing: number;
  end: () => void;
}

export class WorkerMetrics {
  readonly #scrapes = new Map<number, Scrape>();
  #next = 0;

  /**
   * Asks workers for their metrics; each function sends the message to one of them.
   *
   * Shape   `text` is their sum in Prometheus' text format; `unanswered` says how many did not answer in time.
   */
  async collect(
    workers: readonly ((request: MetricsRequest) => void)[],
  ): Promise<{ text: string; unanswered: number }> {
    const number = this.#next++;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const scrape: Scrape = { answers: [], missing: workers.length, end };
    this.#scrapes.set(number, scrape);
    const late = setTimeout(end, WORKER_METRICS_MS_MAX);
    for (const send of workers) send({ type: 'metrics', scrape: number });
    if (scrape.missing === 0) end();
    await over;
    clearTimeout(late);
    this.#scrapes.delete(number);
    return { text: await AggregatorRegistry.aggregate(scrape.answers).metrics(), unanswered: scrape.missing };
  }

  /** An answer of a worker has arrived. An answer to a scrape that has ended is dropped. */
  receive({ scrape: number, metrics }: MetricsAnswer): void {
    const scrape = this.#scrapes.get(number);
    if (!scrape) return;
    scrape.answers.push(metrics);
    if (--scrape.missing === 0) scrape.end();
  }
}
