/**
 * The result of an engine, the last line that it prints: one machine's part of a run. loadtest/engine/run/report.h documents each member.
 *
 * Invariant: a result that `readResult` returns has every member that merging (loadtest/report/merge.ts) reads, and its numbers are finite.
 */
/** A bucket of a histogram that is not empty; both bounds are included. */
export type Bucket = readonly [low: number, high: number, count: number];

/** The figures of a histogram that a report shows, in microseconds; all are 0 when nothing was recorded. */
export interface Quantiles {
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

export const LIMITS = ['none', 'swarm', 'relay'] as const;
export type Limit = (typeof LIMITS)[number];

/** Counts of throws and arrivals of the whole run. They can be added up over machines. */
export const COUNTS = [
  ...['scheduled', 'due', 'skipped', 'missed', 'offered', 'thrown', 'waiting', 'sent', 'resent', 'answered'],
  ...['accepted', 'refused', 'unexpected', 'timedOut', 'failed', 'inFlight', 'abandoned', 'received', 'delivered'],
  ...[
    'repeated',
    'arrived',
    'undelivered',
    'lost',
    'duplicated',
    'misrouted',
    'corrupted',
    'forwarded',
    'late',
    'away',
    'across',
  ],
  ...['outOfOrder', 'deliveredUnaccepted', 'foreign'],
] as const;

/** Groups of counts, which can be added up name by name. Sockets, sayings and peeks count only where desktops have or do them. */
export const GROUPS = [
  ...(['refusedByCode', 'otherRefusedByCode', 'polls', 'joins', 'connections'] as const),
  ...(['sockets', 'sayings', 'peeks', 'behaviours'] as const),
];
export type Groups = Record<(typeof GROUPS)[number], Record<string, number>>;

/** Histograms: of each its quantiles in µs and its buckets in ns. */
export const HISTOGRAMS = ['latency', 'away', 'answer', 'slip', 'hearing'] as const;
export type HistogramName = (typeof HISTOGRAMS)[number];
export type Histograms<Name extends HistogramName = HistogramName> = Record<`${Name}Us`, Quantiles> &
  Record<`${Name}BucketsNs`, Bucket[]>;

/** Counts of one second. `heard`: sayings, once for each desktop; `hearingsMissed`: those of which a poll says that they are lost. */
export const SECOND_COUNTS = [
  'sent',
  'accepted',
  'delivered',
  'refused',
  'heard',
  'hearingsMissed',
  'bytesIn',
] as const;

/** What stands at the end of a second. */
export const SECOND_LEVELS = [
  'parked',
  'connections',
  'relayCores',
  'swarmCores',
  'relayRssBytes',
  'tcpMemoryBytes',
  'slabBytes',
] as const;

export interface EngineSecond extends Record<(typeof SECOND_COUNTS)[number] | (typeof SECOND_LEVELS)[number], number> {
  atS: number;
  phase: string;
  p50Us: number;
  p90Us: number;
  p99Us: number;
  p999Us: number;
  maxUs: number;
  latencyBucketsNs: Bucket[];
}

interface KernelUse {
  tcpMemoryBytes: number;
  slabBytes: number;
}

/** CPU for each delivered sprite, and its parts. */
export const PER_SPRITE = ['cpuUsPerSprite', 'userUsPerSprite', 'systemUsPerSprite'] as const;
export type PerSprite<Value> = Record<(typeof PER_SPRITE)[number], Value>;

export interface Use extends PerSprite<number> {
  cpuCores: number;
}

export interface EngineResult extends Record<(typeof COUNTS)[number], number>, Groups, Histograms {
  phase: 'done';
  ok: boolean;
  message: string;
  mode: 'open' | 'closed' | 'sitting';
  transport: 'poll' | 'socket';
  desktops: number;
  senders: number;
  processes: number;
  rate: number;
  seed: number;
  startedAtMs: number;
  /** When the drain ended, on the wall clock, and no desktop had left yet; 0 when it did not end. */
  drainedAtMs: number;
  parked: number;
  /** `fromMs` and `untilMs` are on the wall clock. */
  window: {
    seconds: number;
    fromMs: number;
    untilMs: number;
    offered: number;
    sent: number;
    accepted: number;
    delivered: number;
  };
  /** Present only when the engine watched the relay's processes. */
  relay?: Use & {
    pids: number[];
    rssBytes: { before: number; parked: number; end: number };
    bytesPerParkedPoll: number;
  };
  /** Sprites that machines sharing a world have caught of each other. `table` is '' when all of them are settled (visitors.ts). */
  visitors?: { machines: number; delivered: number; table: string };
  swarm: Use & { busiestProcessCores: number; rssBytes: number };
  kernel: Record<'before' | 'parked' | 'end', KernelUse>;
  seconds: EngineSecond[];
  limit: Limit;
  limitReason: string;
}

/**
 * Reads the result in `text`, which is a file with the result or everything that an engine printed on stdout.
 *
 * Throws Error, a sentence with `where` and the member that is wrong.
 */
export function readResult(text: string, where: string): EngineResult {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  let value: unknown;
  try {
    value = JSON.parse(last);
  } catch {
    throw new Error(`${where}: not the result of an engine: its last line is not JSON`);
  }
  const wrong = whatIsWrong(value);
  if (wrong) throw new Error(`${where}: not the result of an engine: ${wrong}`);
  return value as EngineResult;
}

type Json = Record<string, unknown>;

function whatIsWrong(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it is not an object';
  const result = value as Json;
  if (result.phase !== 'done') return 'its run has not ended';
  if (typeof result.ok !== 'boolean' || typeof result.message !== 'string') return 'ok and message are missing';
  if (!LIMITS.includes(result.limit as Limit)) return `limit must be one of ${LIMITS.join(', ')}`;
  const flat = [...COUNTS, 'desktops', 'senders', 'processes', 'rate', 'seed', 'startedAtMs', 'drainedAtMs', 'parked'];
  for (const name of flat) if (!Number.isFinite(result[name])) return `${name} must be a number`;
  for (const name of ['window', ...GROUPS, 'swarm', 'kernel']) {
    if (typeof result[name] !== 'object' || result[name] === null) return `${name} must be an object`;
  }
  for (const name of ['fromMs', 'untilMs']) {
    if (!Number.isFinite((result.window as Json)[name])) return `window.${name} must be a number`;
  }
  for (const name of HISTOGRAMS) {
    const buckets = result[`${name}BucketsNs`];
    if (!Array.isArray(buckets) || !buckets.every(isBucket)) return `${name}BucketsNs must be [low, high, count], …`;
    const { count, mean, max } = (result[`${name}Us`] ?? {}) as Json;
    if (![count, mean, max].every(Number.isFinite)) return `${name}Us must have count, mean and max`;
  }
  if (!Array.isArray(result.seconds)) return 'seconds must be a list';
  return undefined;
}

function isBucket(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);
}
