/**
 * Watch: records a relay that people use, from its metrics, once a second, until the time is over or it is interrupted.
 *
 * It joins no world of people and throws nothing there: they must not notice. Cost for the relay: one scrape and one request for its site a
 * second, and what two canaries cost if they are wanted. Invariant: a second in which the relay does not answer is missed, and the record goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOver, gcMaxMs, type RelaySample, sampleOf } from '../report/relay_sample.ts';
import type { Watched, WatchSecond } from '../report/watched.ts';
import { Canaries } from './canaries.ts';
import { metricsOf } from './relay_target.ts';

const EVERY_MS = 1000;
/** The site is asked once a second, so a longer wait would overlap the next one. */
const ANSWER_MS_MAX = 900;

interface WatchSettings {
  url: string;
  adminUrl: string;
  adminTokenFile: string;
  /** Undefined: until it is interrupted. */
  durationS: number | undefined;
  /** Whether two desktops of its own throw to each other. */
  canaries: boolean;
}

interface Scrape {
  metrics: Map<string, number>;
  sample: RelaySample;
}

/** Throws Error when the relay does not answer at the start. `second` is called after each second with the record so far. */
export async function watch(
  { url, adminUrl, adminTokenFile, durationS, canaries: hasCanaries }: WatchSettings,
  second: (soFar: Watched) => void,
): Promise<Watched> {
  const ask = metricsOf(adminUrl, adminTokenFile);
  const scrape = async (): Promise<Scrape> => {
    const metrics = await ask();
    return { metrics, sample: sampleOf(metrics, Date.now()) };
  };
  const canaries = hasCanaries ? new Canaries(url) : undefined;
  await canaries?.join();
  const first = await scrape();
  const startedMs = first.sample.atMs;
  const watched: Watched = {
    format: 'sprites-watch/1',
    url,
    startedAt: new Date(startedMs).toISOString(),
    missed: 0,
    accepted: 0,
    refused: 0,
    refusedByReason: {},
    joined: 0,
    left: 0,
    seconds: [],
  };
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  let before = first;
  for (let n = 1; !interrupt.signal.aborted && (durationS === undefined || n <= durationS); n++) {
    const { signal } = interrupt;
    await sleep(Math.max(0, startedMs + n * EVERY_MS - Date.now()), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const [after, answerUs, roundTripUs] = await Promise.all([
      scrape().catch(() => undefined),
      timeOf(url),
      canaries?.roundTrip(ANSWER_MS_MAX),
    ]);
    if (canaries && roundTripUs === undefined) watched.tripsMissed = (watched.tripsMissed ?? 0) + 1;
    if (!after) {
      watched.missed++;
      continue;
    }
    add(watched, before, after, startedMs, { answerUs, roundTripUs });
    before = after;
    second(watched);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
  await canaries?.leave();
  return watched;
}

/** The counter of refusals that a relay has for each reason. */
const REFUSED = /^sprites_refused_total\{reason="([^"]*)"\}$/;

function add(
  watched: Watched,
  before: Scrape,
  after: Scrape,
  startedMs: number,
  times: Pick<WatchSecond, 'answerUs' | 'roundTripUs'>,
): void {
  const spanS = (after.sample.atMs - before.sample.atMs) / 1000;
  const gauge = (name: string) => after.metrics.get(name) ?? 0;
  const grown = (name: string) => {
    const [a, b] = [before.metrics.get(name) ?? 0, gauge(name)];
    return b < a ? b : b - a; // a relay that was restarted counts from 0 again
  };
  const joined = grown('sprites_joined_total');
  const left = grown('sprites_left_total');
  const accepted = grown('sprites_accepted_total');
  let refused = 0;
  for (const name of after.metrics.keys()) {
    const reason = REFUSED.exec(name)?.[1];
    if (reason === undefined || grown(name) === 0) continue;
    refused += grown(name);
    watched.refusedByReason[reason] = (watched.refusedByReason[reason] ?? 0) + grown(name);
  }
  watched.joined += joined;
  watched.left += left;
  watched.accepted += accepted;
  watched.refused += refused;
  const cpu = cpuSecondsOver([before.sample, after.sample]);
  const one: WatchSecond = {
    atS: Math.round((after.sample.atMs - startedMs) / 100) / 10,
    desktops: gauge('sprites_desktops'),
    parked: gauge('sprites_polls_parked'),
    waiting: gauge('sprites_waiting'),
    joinedPerS: joined / spanS,
    leftPerS: left / spanS,
    acceptedPerS: accepted / spanS,
    refusedPerS: refused / spanS,
    ...times,
    cores: cpu === undefined ? undefined : cpu / spanS,
    rssBytes: after.sample.rssBytes,
    heapBytes: after.sample.heapBytes,
    loopDelayMaxMs: after.sample.loopDelayMaxMs,
    gcMaxMs: gcMaxMs(before.sample, after.sample),
  };
  watched.seconds.push(one);
}

/** How long the relay takes for its site, in µs; undefined when it takes too long or does not answer. */
async function timeOf(url: string): Promise<number | undefined> {
  const began = performance.now();
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    await answer.arrayBuffer();
    return (performance.now() - began) * 1000;
  } catch {
    return undefined;
  }
}
