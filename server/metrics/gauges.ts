/**
 * Gauges: the relay's metrics for Prometheus. OPERATING.md explains each of them and what to do when it moves.
 *
 * Nothing is counted here: each value is read from its owner when it is requested.
 */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import { commit, VERSION } from '../../tools/version.js';
import type { Relay } from '../domain/relay.ts';
import { WAIT_BOUNDS_MS } from '../domain/state/waits.ts';
import type { Front } from '../front/front.ts';
import type { StrictAdmission } from '../http/admission.ts';
import type { WorkerSample } from './worker_samples.ts';

/** Pauses of the garbage collector, in seconds: from unnoticeable to obvious. */
const PAUSE_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1];

/**
 * Metrics of prom-client that the relay has not: a delay that it measures itself, and lists of all open files and sockets, which block the loop
 * for 15 ms with 14,000 of them, at each scrape.
 */
const UNWANTED = ['nodejs_eventloop_lag', 'process_open_fds', 'nodejs_active_'];

/** The interval of prom-client's own delay metric, in ms. The metric is removed; a shorter interval would wake an idle process. */
const DAY_MS = 86_400_000;

/** What the metrics of the master are read from. */
interface MasterSources {
  relay: Relay;
  front: Front;
  /** How many are ready. */
  workers: () => number;
  /** Returns the longest block of the loop since its previous call. */
  loopDelay: () => number;
  admission?: StrictAdmission;
}

/** Registers the metrics of the master. */
export function masterGauges(registry: Registry, sources: MasterSources): void {
  const { relay, front, workers, loopDelay, admission } = sources;
  const gauge = gaugesIn(registry);
  const counter = countersIn(registry);
  buildInfo(registry);
  stateGauges(registry, relay);
  trafficCounters(registry, relay);
  waitHistogram(registry, relay);
  counter('sprites_admission_refused_total', 'Joins refused by a limit by address', () => admission?.refused ?? 0);
  clientGauges(registry, relay);
  sayingGauges(registry, relay);
  stageGauges(registry, relay);
  gauge('sprites_connections', 'Connections to the events port', () => front.gauges().connections);
  counter('sprites_connections_refused_total', 'Connections refused at the limit', () => front.gauges().refused);
  gauge('sprites_front_stalled', '1 while the front has stopped reading', () => front.gauges().stalled);
  gauge('sprites_workers', 'Workers that are ready', workers);
  processGauges(registry, 'master', loopDelay);
}

/** Always 1: its labels say what runs. */
function buildInfo(registry: Registry): void {
  const labels = { version: VERSION, commit: commit(), node: process.version };
  const help = 'Always 1; the labels say which version of the relay runs, and its commit';
  const info = new Gauge({ name: 'sprites_build_info', help, labelNames: Object.keys(labels), registers: [registry] });
  info.set(labels, 1);
}

/** What the relay holds now. */
function stateGauges(registry: Registry, relay: Relay): void {
  const gauge = gaugesIn(registry);
  gauge('sprites_desktops', 'Live desktops', () => relay.desktops.count);
  gauge('sprites_residents', 'Live desktops that are residents', () => relay.desktops.residents);
  gauge('sprites_desktops_max', 'Slots for desktops', () => relay.desktops.max);
  gauge(
    'sprites_worlds',
    'The default world, and private worlds with desktops or waiting sprites',
    () => relay.torus.worldCount,
  );
  gauge('sprites_polls_parked', 'Parked polls, of long-polls and sockets', () => relay.parkedCount);
  gauge(
    'sprites_polls_delayed',
    'Polls whose answer is delayed, because they replace or repeat others',
    () => relay.delayedPolls.count,
  );
  gauge('sprites_waiting', 'Sprites that wait in mailboxes', () => relay.waiting);
  gauge('sprites_mailbox_bytes', 'Bytes of the slab in use', () => relay.slab.usedBytes);
  gauge('sprites_slab_page_bytes', 'Bytes of the pages that the slab holds', () => relay.slab.pageBytes);
  gauge('sprites_kept_bytes', 'Bytes of the slab in mailboxes of desktops that ended', () => relay.keptBytes);
}

/** What has happened to sprites, desktops and polls. */
function trafficCounters(registry: Registry, { counters }: Relay): void {
  const counter = countersIn(registry);
  counter('sprites_accepted_total', 'Crossings accepted', () => counters.accepted);
  counter('sprites_repeated_total', 'Repeats of accepted crossings', () => counters.repeated);
  counter('sprites_acknowledged_total', 'Sprites acknowledged by a cursor', () => counters.acknowledged);
  counter('sprites_abandoned_total', 'Sprites evicted from mailboxes of desktops that ended', () => counters.abandoned);
  counter('sprites_refused_full_total', 'Crossings refused: mailbox full', () => counters.refusedFull);
  counter('sprites_refused_fast_total', 'Crossings refused: thrown too fast', () => counters.refusedFast);
  counter(
    'sprites_refused_picture_total',
    'Crossings refused: their world does not carry the picture',
    () => counters.refusedPicture,
  );
  counter('sprites_forwarded_total', 'Sprites moved on from a desktop that ended', () => counters.forwarded);
  counter('sprites_joined_total', 'Desktops that joined', () => counters.joined);
  counter('sprites_left_total', 'Desktops that ended', () => counters.left);
  counter('sprites_leases_ended_total', 'Desktops whose lease ended', () => counters.leasesEnded);
  counter('sprites_polls_total', 'Polls received', () => counters.polls);
  counter('sprites_wakes_total', 'Parked polls answered because an event arrived', () => counters.wakes);
  counter('sprites_pings_total', 'Parked polls answered with a ping', () => counters.pings);
  counter('sprites_polls_replaced_total', 'Polls replaced by a newer one', () => counters.replaced);
}

/** How long sprites wait. prom-client's own histogram would count each of them with a closure and a look-up by labels. */
function waitHistogram(registry: Registry, { waits }: Relay): void {
  const name = 'sprites_wait_seconds';
  const metric = {
    name,
    help: 'Time from the acceptance of a sprite to the first answer that carries it',
    type: 'histogram',
    aggregator: 'sum',
    get: async () => {
      let sum = 0;
      const buckets = Array.from(waits.counts, (count, bucket) => {
        sum += count;
        const le = bucket < WAIT_BOUNDS_MS.length ? `${WAIT_BOUNDS_MS[bucket] / 1000}` : '+Inf';
        return { metricName: `${name}_bucket`, labels: { le }, value: sum };
      });
      const totals = { sum: waits.sumMs / 1000, count: sum };
      const rest = Object.entries(totals).map(([part, value]) => ({
        metricName: `${name}_${part}`,
        labels: {},
        value,
      }));
      return { ...metric, values: [...buckets, ...rest] };
    },
  };
  registry.registerMetric(metric as unknown as Histogram);
}

/** Which programs the desktops are, and what was refused to them. */
function clientGauges(registry: Registry, { clients }: Relay): void {
  rowsIn(registry, 'gauge', ['client', 'version'])('sprites_client_desktops', 'Live desktops by their program', () =>
    clients.rows.map(({ kind: client, version, desktops }) => [{ client, version }, desktops]),
  );
  rowsIn(registry, 'counter', ['client', 'version', 'reason'])(
    'sprites_client_refused_total',
    'Joins and requests refused, by the program of their desktop and the reason',
    () =>
      clients.rows.flatMap(({ kind: client, version, refused }) =>
        Array.from(refused, ([reason, times]) => [{ client, version, reason }, times] as const),
      ),
  );
}

function sayingGauges(registry: Registry, { speech }: Relay): void {
  const counter = countersIn(registry);
  const heard = speech.sayings.counters;
  counter('sprites_sayings_total', 'Sayings accepted', () => speech.counters.said);
  counter('sprites_sayings_repeated_total', 'Repeats of accepted sayings', () => speech.counters.repeated);
  counter('sprites_sayings_refused_fast_total', 'Sayings refused: said too fast', () => speech.counters.refusedFast);
  counter(
    'sprites_sayings_refused_busy_total',
    'Sayings refused: the whole relay says too much',
    () => speech.counters.refusedBusy,
  );
  counter('sprites_hearings_total', 'Sayings, each counted for each desktop that hears it', () => heard.heard);
  counter('sprites_hearings_sent_total', 'Sayings sent to a desktop', () => heard.sent);
  counter('sprites_hearings_missed_total', 'Sayings that a desktop has missed, and knows', () => heard.missed);
  counter('sprites_hearings_given_up_total', 'Sayings whose hearer has ended', () => heard.givenUp);
  gaugesIn(registry)('sprites_hearings_waiting', 'Sayings that wait for a desktop', () => speech.sayings.waitingCount);
}

function stageGauges(registry: Registry, { peeks }: Relay): void {
  const gauge = gaugesIn(registry);
  const counter = countersIn(registry);
  gauge('sprites_peeks', 'Desktops that watch a neighbour', () => peeks.count);
  gauge('sprites_watched', 'Desktops that are watched', () => peeks.stages.count);
  counter('sprites_stages_posted_total', 'Stages posted by watched desktops', () => peeks.counters.posted);
  counter(
    'sprites_stages_unwatched_total',
    'Stages posted by desktops that nobody watches',
    () => peeks.counters.unwatched,
  );
  counter('sprites_stages_forwarded_total', 'Stages forwarded to the watchers', () => peeks.counters.forwarded);
  counter(
    'sprites_stages_filtered_total',
    'Stages that watchers could predict, not forwarded',
    () => peeks.counters.filtered,
  );
  counter('sprites_stages_sent_total', 'Stages sent to a watcher', () => peeks.counters.sent);
  counter('sprites_stages_refused_fast_total', 'Peeks and stages refused: too fast', () => peeks.counters.refusedFast);
}

/** Registers the metrics of the workers, which are read from their newest samples. */
export function workerGauges(registry: Registry, samples: () => readonly WorkerSample[]): void {
  const gauge = gaugesIn(registry);
  const sum = (name: string, help: string, value: (sample: WorkerSample) => number) =>
    gauge(name, help, () => samples().reduce((all, sample) => all + value(sample), 0));
  sum('sprites_worker_pending', 'Requests that wait for the master', ({ pending }) => pending);
  sum('sprites_worker_sockets', 'WebSocket desktops', ({ sockets }) => sockets);
  sum(
    'sprites_worker_unread_bytes',
    'Bytes that wait for WebSocket desktops to read',
    ({ unreadBytes }) => unreadBytes,
  );
  sum('sprites_worker_connections', 'Connections to the API port', ({ connections }) => connections);
  sum('sprites_store_evicted', 'Sprite files evicted since start', ({ stored }) => stored.evicted);
  sum('sprites_store_upload_bytes', 'Bytes of unfinished uploads', ({ uploadBytes }) => uploadBytes);
  sum(
    'sprites_store_sending_bytes',
    'Bytes of different files that are being sent',
    ({ sendingBytes }) => sendingBytes,
  );
  // All workers count the same directory.
  const highest = (name: string, help: string, value: (sample: WorkerSample) => number) =>
    gauge(name, help, () => Math.max(0, ...samples().map(value)));
  highest('sprites_store_files', 'Stored sprite files', ({ stored }) => stored.files);
  highest('sprites_store_bytes', 'Bytes of the stored sprite files', ({ stored }) => stored.bytes);
  // A worker inside the master is the master's process, which has metrics of its own.
  const sumOfOthers = (name: string, help: string, value: (sample: WorkerSample) => number) =>
    sum(name, help, (sample) => (sample.pid === process.pid ? 0 : value(sample)));
  const memory = 'Resident memory of the worker processes; NaN while no file can be opened';
  sumOfOthers('sprites_worker_rss_bytes', memory, ({ rssBytes }) => rssBytes);
  sumOfOthers('sprites_worker_cpu_seconds', 'CPU of the worker processes since start', ({ cpuSeconds }) => cpuSeconds);
}

/** Adds a metric; its value is read when the metrics are requested. */
type Add = (name: string, help: string, value: () => number) => void;

/** Returns a function that adds a counter to a registry. */
export function countersIn(registry: Registry): Add {
  const add = rowsIn(registry, 'counter', []);
  return (name, help, value) => add(name, help, () => [[{}, value()]]);
}

/** Returns a function that adds a gauge to a registry. */
export function gaugesIn(registry: Registry): Add {
  const add = rowsIn(registry, 'gauge', []);
  return (name, help, value) => add(name, help, () => [[{}, value()]]);
}

/** The values of a metric, each with its labels. */
type Rows<Label extends string> = Iterable<readonly [Record<Label, string>, number]>;

/** Returns a function that adds a metric with these labels to a registry; its rows are read when the metrics are requested. */
export function rowsIn<Label extends string>(
  registry: Registry,
  kind: 'counter' | 'gauge',
  labelNames: Label[],
): (name: string, help: string, rows: () => Rows<Label>) => void {
  return (name, help, rows) => {
    const collect = () => {
      made.reset();
      for (const [labels, value] of rows()) made.inc(labels, value);
    };
    const form = { name, help, labelNames, registers: [registry], collect };
    const made: Counter<Label> | Gauge<Label> = kind === 'counter' ? new Counter(form) : new Gauge(form);
  };
}

function processGauges(registry: Registry, role: string, loopDelay: () => number): void {
  collectDefaultMetrics({ register: registry, labels: { role }, eventLoopMonitoringPrecision: DAY_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNWANTED.some((prefix) => name.startsWith(prefix))) registry.removeSingleMetric(name);
  }
  const pauses = new Histogram({
    name: 'sprites_gc_pause_seconds',
    help: 'Pauses of the garbage collector; incremental marking shows in the delay of the loop instead',
    buckets: PAUSE_BUCKETS,
    registers: [registry],
  });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) pauses.observe(entry.duration / 1000);
  }).observe({ entryTypes: ['gc'] });
  const gauge = gaugesIn(registry);
  gauge('sprites_loop_delay_max_seconds', 'Longest block of the event loop since the previous scrape', loopDelay);
  gauge(
    'sprites_core_wait_seconds',
    'Time since start in which the main thread was ready to run but had no core',
    coreWait,
  );
}

/** How long this process's main thread has waited for a core, in seconds; NaN where the system does not report it. */
function coreWait(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e9;
  } catch {
    return Number.NaN;
  }
}
