/** What the relay itself counted during a run: the account that does not depend on the swarm. Pure. */
import type { EngineResult } from '../../tools/engine_result.ts';
import { knownSum, type RelaySample } from './relay_sample.ts';
import { settled } from './visitors.ts';

/** What the relay counted during a run. */
export interface RelayAccount {
  /** Crossings that it accepted; undefined when others may have thrown too. */
  accepted?: number;
  /** Sprites that waited in its mailboxes after the run; undefined when it did not answer. */
  waiting?: number;
  /** How often it was asked for its number of desktops in the measured window, and the least and the most that it said. */
  counted?: { times: number; least: number; most: number };
}

/**
 * The result with `lost` compared with the relay's gauge `sprites_waiting`, read after the run.
 *
 * What still waits at the relay is not lost but undelivered. When the gauge is unknown (`waiting` is undefined), nothing is
 * known to be lost.
 */
export function withGauge(result: EngineResult, waiting: number | undefined): EngineResult {
  const found = Math.min(result.lost, waiting ?? Number.POSITIVE_INFINITY);
  return { ...result, lost: result.lost - found, undelivered: result.undelivered + found };
}

/** How old the sample may be that says what waited when a fleet's drain ended: one that was missed, and one. */
const GAUGE_MS_MAX = 2_000;

/**
 * The results of a fleet with what each calls `lost` compared with the relay's gauge, and the sample whose gauge that is.
 *
 * The desktops of a fleet leave when their drain has ended, and what waited for them goes too. So the gauge is that of the last
 * moment at which all machines that miss sprites still had their desktops. It is one for all of them: a sprite that waits is found
 * once. Undefined when no sample is so old or so young: then nothing is known to be lost.
 */
export function withGaugeOfFleet(
  given: readonly EngineResult[],
  samples: readonly RelaySample[],
): { results: EngineResult[]; at: RelaySample | undefined } {
  const results = settled(given);
  const missing = results.filter(({ lost }) => lost > 0).map(({ drainedAtMs }) => drainedAtMs);
  const untilMs =
    missing.length > 0 ? Math.min(...missing) : Math.max(...results.map(({ drainedAtMs }) => drainedAtMs));
  const at = samples.findLast(({ atMs }) => atMs <= untilMs && atMs >= untilMs - GAUGE_MS_MAX);
  let waiting = at?.waiting;
  return {
    at,
    results: results.map((result) => {
      const compared = withGauge(result, waiting);
      if (waiting !== undefined) waiting -= result.lost - compared.lost;
      return compared;
    }),
  };
}

/** What the relay counted between two samples, and in those of the measured window. */
export function relayAccountOf(
  before: RelaySample | undefined,
  after: RelaySample | undefined,
  isOwn: boolean,
  within: readonly RelaySample[] = [],
): RelayAccount | undefined {
  if (!after) return undefined;
  const desktops = within.flatMap(({ desktops: n }) => (n === undefined ? [] : [n]));
  const counted = { times: desktops.length, least: Math.min(...desktops), most: Math.max(...desktops) };
  const isKnown = isOwn && before?.accepted !== undefined && after.accepted !== undefined;
  return {
    ...(isKnown ? { accepted: (after.accepted as number) - (before?.accepted as number) } : {}),
    ...(after.waiting === undefined ? {} : { waiting: after.waiting }),
    ...(desktops.length === 0 ? {} : { counted }),
  };
}

/** The relay's account of several runs; undefined when that of one is not known. */
export function addRelayAccounts(accounts: readonly (RelayAccount | undefined)[]): RelayAccount | undefined {
  const accepted = knownSum(accounts.map((account) => account?.accepted));
  const waiting = knownSum(accounts.map((account) => account?.waiting));
  const counts = accounts.flatMap((account) => account?.counted ?? []);
  const counted = {
    times: counts.reduce((sum, { times }) => sum + times, 0),
    least: Math.min(...counts.map(({ least }) => least)),
    most: Math.max(...counts.map(({ most }) => most)),
  };
  const known = {
    ...(accepted === undefined ? {} : { accepted }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(counts.length === 0 ? {} : { counted }),
  };
  return Object.keys(known).length === 0 ? undefined : known;
}
