/**
 * Posts the metrics of a run to an OpenTelemetry collector (OTLP/HTTP with JSON), every some seconds and at the end.
 *
 * Invariant: a collector that is slow, gone or refuses never fails a run, and never delays its load: one request is under way at a
 * time, an interval that finds one is skipped, and metrics are cumulative, so the next request has what was skipped. Only the end
 * waits, for less than a minute. The first failure is reported.
 */
import { Misused } from '../../tools/command.ts';
import type { EngineSecond } from '../report/engine_result.ts';
import type { Report } from '../report/merge.ts';
import { type MetricsRequest, metricsAtEnd, metricsSoFar, type OtlpOrigin } from '../report/otlp.ts';

/** Between two posts of a run, in seconds: some points a minute for a run of minutes. */
export const OTLP_EVERY_SECONDS = 10;

/** A collector on another continent answers in less. */
const ANSWER_MS_MAX = 5_000;

/** The last request, which has the account, is tried so often while the collector says that it is busy. */
const LAST_TRIES_MAX = 3;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 10_000;

/** Responses after which the protocol lets a client try again. */
const BUSY: readonly number[] = [429, 502, 503, 504];

export class OtlpExporter {
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #origin: OtlpOrigin;
  readonly #warn: (sentence: string) => void;
  readonly #seconds: EngineSecond[] = [];
  #posting: Promise<void> | undefined;
  #hasWarned = false;

  /**
   * `url`: of the collector; without a path metrics go to /v1/metrics. `headers`: as in OTEL_EXPORTER_OTLP_HEADERS. `warn` is
   * called at most once.
   */
  constructor(url: string, headers: string, origin: OtlpOrigin, warn: (sentence: string) => void) {
    this.#url = metricsUrl(url);
    this.#headers = { ...readHeaders(headers), 'content-type': 'application/json' };
    this.#origin = origin;
    this.#warn = warn;
  }

  second(second: EngineSecond): void {
    this.#seconds.push(second);
    if (this.#seconds.length % OTLP_EVERY_SECONDS !== 0 || this.#posting) return;
    const posting = this.#post(metricsSoFar(this.#origin, this.#seconds, Date.now()), 1);
    this.#posting = posting.finally(() => {
      this.#posting = undefined;
    });
  }

  /** Posts the end of the run and waits until the collector has it, or has refused it. */
  async end(report: Report): Promise<void> {
    await this.#posting;
    await this.#post(metricsAtEnd(this.#origin, this.#seconds, report, Date.now()), LAST_TRIES_MAX);
  }

  async #post(request: MetricsRequest, tries: number): Promise<void> {
    let why = '';
    for (let i = 1; i <= tries; i++) {
      try {
        const body = JSON.stringify(request);
        const signal = AbortSignal.timeout(ANSWER_MS_MAX);
        const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body, signal });
        const text = await response.text();
        if (response.ok) {
          why = rejectedIn(text);
          break;
        }
        why = `${response.status} ${response.statusText}`;
        if (!BUSY.includes(response.status) || i === tries) break;
        await pause(Number(response.headers.get('retry-after')) * 1000 || PAUSE_MS);
      } catch (error) {
        why = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
        if (i < tries) await pause(PAUSE_MS);
      }
    }
    if (why === '' || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(`the collector at ${this.#url.origin} has not taken the metrics: ${why}`);
  }
}

/** Why the collector did not take all of it; empty when it did. */
function rejectedIn(text: string): string {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { errorMessage?: string } };
    return partialSuccess?.errorMessage ?? '';
  } catch {
    return '';
  }
}

export function metricsUrl(url: string): URL {
  const whole = new URL(url);
  if (whole.pathname === '/') whole.pathname = '/v1/metrics';
  return whole;
}

/** "api-key=secret,tenant=a%20b": the form of OpenTelemetry's own variable. Throws Misused. */
export function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split(/=(.*)/s).map((part) => part.trim()));
  try {
    return Object.fromEntries(
      pairs.flatMap(([name, value]) => (name && value ? [[name, decodeURIComponent(value)]] : [])),
    );
  } catch {
    throw new Misused(
      'OTEL_EXPORTER_OTLP_HEADERS must be pairs such as api-key=secret, with values that are URI-encoded.',
    );
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, PAUSE_MS_MAX)));
}
