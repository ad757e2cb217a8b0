/**
 * Collects the results of a fleet: copies them from the bucket into files, and merges them into the report that a local swarm
 * writes, with the cost.
 *
 * Invariant: what instances posted is stored unchanged in `instances/` before it is interpreted. An instance without a result
 * is named, with the last lines of its log or console, and makes the report void.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Machine, merge, samplesWithin } from '../loadtest/report/merge.ts';
import { relayAccountOf, withGaugeOfFleet } from '../loadtest/report/relay_account.ts';
import { keep, text } from '../loadtest/report/report.ts';
import { judge, readThreshold } from '../loadtest/report/verdict.ts';
import { isWorldShared } from '../loadtest/run/share.ts';
import { readResult } from '../tools/engine_result.ts';
import type { Instance } from './aws/instances.ts';
import type { Aws } from './aws.ts';
import { type FleetRecord, lifetimes } from './fleet.ts';
import { keys, POSTED } from './job.ts';
import { count, spent, usd } from './plan.ts';
import { readSamples } from './samples.ts';

/** Lines shown of the log of an instance that failed. */
const LOG_LINES_MAX = 12;

interface CollectedResults {
  /** For the terminal. */
  text: string;
  /** True when every instance that was asked for posted a result, and the report of all of them passes. */
  ok: boolean;
}

/** Throws Refused when the bucket can't be read, Error when a result can't be parsed. */
export async function collect(aws: Aws, record: FleetRecord, folder: string, nowMs: number): Promise<CollectedResults> {
  const { bucket, fleet } = record.wanted;
  const posted = await aws.buckets.list(bucket, keys.prefix(fleet));
  const files = new Map<string, string>();
  mkdirSync(join(folder, 'instances'), { recursive: true });
  for (const key of posted.filter((one) => Object.values(POSTED).some((end) => one.endsWith(end)))) {
    const body = await aws.buckets.get(bucket, key);
    files.set(basename(key), body);
    writeFileSync(join(folder, 'instances', basename(key)), body);
  }
  // Instances that were started from the console are known only by what they posted.
  const known = record.started.length > 0 ? record.started : idsIn(files.keys());
  const ids = known.filter((id) => files.has(`${id}${POSTED.result}`));
  const failed = known.filter((id) => !ids.includes(id));
  const failures = await Promise.all(failed.map((id) => lastLines(aws, id, files.get(`${id}${POSTED.log}`))));
  const asked = record.started.length > 0 ? record.wanted.instances : known.length;
  const cost = await costOf(aws, record, nowMs);
  if (ids.length === 0) {
    return { text: [`No instance of ${fleet} posted a result.`, cost.sentence, ...failures].join('\n'), ok: false };
  }
  const machines = ids.map((id) => JSON.parse(files.get(`${id}${POSTED.ready}`) as string) as Machine);
  const parts = ids.map((id) => readResult(files.get(`${id}${POSTED.result}`) as string, `${id}${POSTED.result}`));
  const { load, wanted } = record;
  const relays = load?.relay.split(',') ?? [];
  const isFromConsole = record.started.length === 0;
  const samples = await readSamples(aws.buckets, { bucket, fleet, relayFleet: record.relayFleet }, posted, parts);
  const isAsked = record.relayFleet !== undefined || posted.includes(keys.samples(fleet));
  const { results, at } = isAsked ? withGaugeOfFleet(parts, samples) : { results: parts, at: undefined };
  const merged = merge(results, {
    name: load?.scenario?.name ?? fleet,
    shows: `${load?.scenario ? `${load.scenario.shows} ` : ''}${ids.length} of ${asked} instances of EC2, ${wanted.types.join(' or ')} in ${wanted.region}, ${isWorldShared(relays) ? 'all in one world' : 'each with its own world'}${isFromConsole ? ', started from the console without a barrier' : ''}. ${cost.sentence}`,
    missing: missingOf(asked, ids.length, failed),
    unaligned: isFromConsole,
    samples,
    // Others may throw at the relay too, so what it accepted is not compared.
    relayAccount: relayAccountOf(undefined, at, false, samplesWithin(results, samples)),
    command: `npm run fleet -- collect --fleet ${fleet} --bucket ${bucket} --region ${wanted.region}`,
    machines,
    relay: load?.relay ?? '',
    load: load
      ? `${count(asked * load.desktops)} desktops, ${load.rate > 0 ? `${count(asked * load.rate)} sprites/s` : 'sitting'}, for ${load.seconds} s`
      : '',
  });
  const report = judge(merged, (load?.thresholds ?? []).map(readThreshold));
  keep(report, folder);
  writeFileSync(join(folder, 'cost.json'), `${JSON.stringify(cost, null, 1)}\n`);
  return {
    text: [text(report), ...failures, `Everything is in ${folder}: report.html, report.json, instances/.`].join('\n'),
    ok: report.pass,
  };
}

/** The ids of all instances that posted anything, in order. */
function idsIn(names: Iterable<string>): string[] {
  const ends = Object.values(POSTED);
  return [...new Set([...names].map((name) => ends.reduce<string>((id, end) => id.replace(end, ''), name)))].sort();
}

/** The machines that were asked for and have no result; empty: none. */
function missingOf(asked: number, found: number, failed: readonly string[]): string {
  if (found === asked) return '';
  const neverStarted = asked - found - failed.length;
  const which = [...failed, ...(neverStarted > 0 ? [`${neverStarted} that EC2 did not start`] : [])].join(', ');
  return `${asked - found} of ${asked} machines have no result: ${which}`;
}

async function costOf(aws: Aws, record: FleetRecord, nowMs: number) {
  const instances: Instance[] = await aws.compute.instances(record.wanted.fleet);
  const { usd: dollars, hours, unknown } = spent(lifetimes(instances, record.rootGib, nowMs), record.prices);
  const without = unknown.length > 0 ? ` without ${unknown.join(', ')} (price not known)` : '';
  return {
    usd: dollars,
    instanceHours: hours,
    unknown,
    sentence: `It cost ${usd(dollars)}${without} (${hours.toFixed(3)} instance hours).`,
  };
}

/** The last lines of an instance without a result: from its log, or else from its console. */
async function lastLines(aws: Aws, id: string, log: string | undefined): Promise<string> {
  const output = log ?? (await aws.compute.consoleOutput(id).catch(() => ''));
  const lines = output.trimEnd().split('\n').slice(-LOG_LINES_MAX);
  const where = log === undefined ? 'its console' : 'its log';
  return output === ''
    ? `${id} posted no result, and has no log or console output.`
    : [`${id} posted no result; the end of ${where}:`, ...lines.map((line) => `    ${line}`)].join('\n');
}
