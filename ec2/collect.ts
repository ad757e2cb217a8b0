/**
 * Collects the results of a fleet: copies them from the bucket into files, and merges them into the report that a local swarm
 * writes, with the cost.
 *
 * Invariant: what instances posted is stored unchanged in `instances/` before it is interpreted. An instance without a result
 * is named, with the last lines of its log or console.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readResult } from '../loadtest/report/engine_result.ts';
import { type Machine, merge } from '../loadtest/report/merge.ts';
import { keep, text } from '../loadtest/report/report.ts';
import type { Aws, Instance } from './aws.ts';
import { type FleetRecord, lifetimes } from './fleet.ts';
import { keys, POSTED } from './job.ts';
import { count, spent, usd } from './plan.ts';

/** Lines shown of the log of an instance that failed. */
const LOG_LINES_MAX = 12;

export interface Collected {
  /** For the terminal. */
  text: string;
  /** True when every instance posted a result and no sprite was lost, duplicated or misrouted. */
  ok: boolean;
}

/** Throws Refused when the bucket can't be read, Error when a result can't be parsed. */
export async function collect(aws: Aws, record: FleetRecord, folder: string, nowMs: number): Promise<Collected> {
  const { bucket, fleet } = record.wanted;
  const posted = await aws.list(bucket, keys.prefix(fleet));
  const files = new Map<string, string>();
  mkdirSync(join(folder, 'instances'), { recursive: true });
  for (const key of posted.filter((one) => Object.values(POSTED).some((end) => one.endsWith(end)))) {
    const body = await aws.get(bucket, key);
    files.set(basename(key), body);
    writeFileSync(join(folder, 'instances', basename(key)), body);
  }
  const ids = record.started.filter((id) => files.has(`${id}${POSTED.result}`));
  const failures = await Promise.all(
    record.started
      .filter((id) => !ids.includes(id))
      .map(async (id) => lastLines(aws, id, files.get(`${id}${POSTED.log}`))),
  );
  const cost = await costOf(aws, record, nowMs);
  if (ids.length === 0) {
    return { text: [`No instance of ${fleet} posted a result.`, cost.sentence, ...failures].join('\n'), ok: false };
  }
  const machines = ids.map((id) => JSON.parse(files.get(`${id}${POSTED.ready}`) as string) as Machine);
  const parts = ids.map((id) => readResult(files.get(`${id}${POSTED.result}`) as string, `${id}${POSTED.result}`));
  const { load, wanted } = record;
  const report = merge(parts, {
    name: fleet,
    shows: `${ids.length} of ${wanted.instances} instances of EC2, ${wanted.types.join(' or ')} in ${wanted.region}, each with its own world. ${cost.sentence}`,
    command: `npm run fleet -- collect --fleet ${fleet} --bucket ${bucket} --region ${wanted.region}`,
    machines,
    relay: load?.relay ?? '',
    load: load
      ? `${count(ids.length * load.desktops)} desktops, ${load.rate > 0 ? `${count(ids.length * load.rate)} sprites/s` : 'sitting'}, for ${load.seconds} s`
      : '',
  });
  keep(report, folder);
  writeFileSync(join(folder, 'cost.json'), `${JSON.stringify(cost, null, 1)}\n`);
  return {
    text: [text(report), ...failures, `Everything is in ${folder}: report.html, report.json, instances/.`].join('\n'),
    ok: report.ok && failures.length === 0,
  };
}

async function costOf(aws: Aws, record: FleetRecord, nowMs: number) {
  const instances: Instance[] = await aws.instances(record.wanted.fleet);
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
  const output = log ?? (await aws.consoleOutput(id).catch(() => ''));
  const lines = output.trimEnd().split('\n').slice(-LOG_LINES_MAX);
  const where = log === undefined ? 'its console' : 'its log';
  return output === ''
    ? `${id} posted no result, and has no log or console output.`
    : [`${id} posted no result; the end of ${where}:`, ...lines.map((line) => `    ${line}`)].join('\n');
}
