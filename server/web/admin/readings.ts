/**
 * What the page knows of the relay's past: the answers of GET /admin/history, put together.
 *
 * Invariant: every series has as many values as there are times; null where the relay knows none.
 */

import type { ClusterDocument } from '../../wire/peers/cluster_document.ts';

/** The answer of GET /admin/history. */
export interface HistoryDocument {
  /** When this run of the relay started, in Unix ms; sample numbers of another run mean nothing. */
  started: number;
  stepMs: number;
  samplesMax: number;
  /** The number of the first sample in this answer. */
  first: number;
  /** Unix ms. */
  times: number[];
  cores: number;
  /** Process ids by name. */
  processes: Record<string, number>;
  /** Null when this relay is not in a cluster. */
  cluster: ClusterDocument | null;
  /** The journal cannot be written, so joins and throws are refused. */
  isJournalFull: boolean;
  /** Pictures of this relay that wait for the operator: reported ones, and those for the gallery. */
  waiting: { reports: number; pictures: number };
  /** Rates are a second, wait/… and delay/… ms, slab, rss/… and heap/… bytes, cpu/… and machine/… cores. */
  series: Record<string, (number | null)[]>;
}

export type Values = (number | null)[];

export class Readings {
  times: number[] = [];
  readonly #series = new Map<string, Values>();
  #started = 0;
  /** The number of the newest sample: what to ask after. */
  newest = 0;

  append({ started, samplesMax, first, times, series }: HistoryDocument): void {
    if (started !== this.#started || first !== this.newest + 1) {
      this.times = [];
      this.#series.clear();
      this.#started = started;
    }
    this.newest = first + times.length - 1;
    const before = this.times.length;
    const over = Math.max(0, before + times.length - samplesMax);
    this.times = [...this.times, ...times].slice(over);
    for (const name of Object.keys(series))
      if (!this.#series.has(name)) this.#series.set(name, Array(before).fill(null));
    for (const [name, values] of this.#series) {
      const whole = [...values, ...(series[name] ?? Array(times.length).fill(null))].slice(over);
      if (whole.every((value) => value === null)) this.#series.delete(name);
      else this.#series.set(name, whole);
    }
  }

  /** Names of the series that begin with `prefix`. */
  names(prefix: string): string[] {
    return [...this.#series.keys()].filter((name) => name.startsWith(prefix));
  }

  values(name: string): Values {
    return this.#series.get(name) ?? this.times.map(() => null);
  }

  /** The sum of several series at each time; null where none has a value. */
  sum(names: readonly string[]): Values {
    return names.length === 0 ? this.times.map(() => null) : sumOf(names.map((name) => this.values(name)));
  }
}

/** The sum of series of the same length; null where none has a value. */
export function sumOf(series: readonly Values[]): Values {
  return series[0].map((_, i) =>
    series.reduce<number | null>((sum, values) => (values[i] === null ? sum : (sum ?? 0) + values[i]), null),
  );
}

/** The names of processes in order: `master`, `worker:1`, `worker:2` … `worker:10`. */
export function inOrder(names: readonly string[]): string[] {
  return names.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
