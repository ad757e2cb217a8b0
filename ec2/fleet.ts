/**
 * The life of a fleet: the account is observed, instances boot, run their load, and are taken down.
 *
 * Invariant: when anything fails after the first thing was created, the whole fleet is taken down before the error is thrown.
 * If that is not possible, the message says so, and when the instances end by themselves. A fleet's facts are in its tags and
 * in fleet.json in the bucket, so every command works from any machine.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RelaySample } from '../loadtest/report/relay_sample.ts';
import { placesOf } from '../loadtest/run/share.ts';
import { reading } from './aws/call.ts';
import type { Leftover } from './aws/compute.ts';
import { ALIVE, type Instance } from './aws/instances.ts';
import type { Launch } from './aws/launch.ts';
import type { Aws } from './aws.ts';
import { decideStart, type FleetState, type Milestone, outstanding, type StartDecision } from './barrier.ts';
import { architecture, type Bundle } from './bundle.ts';
import { Refused } from './explain.ts';
import {
  enginePlanOf,
  type Go,
  INSTANCE,
  keys,
  type Load,
  NATS_ARGUMENTS,
  NATS_PORT,
  parkSeconds,
  relayArguments,
  type ThrowSignal,
  writeJob,
} from './job.ts';
import { addressesFor, highestPrice, known, type Observed, type Plan, type Prices, type Wanted } from './plan.ts';
import { record as recordSamples } from './samples.ts';
import { type BootSettings, userData } from './user_data.ts';

/** What the functions here work with. Tests pass their own clock. */
export interface Context {
  aws: Aws;
  /** Reports progress to people. */
  say(line: string): void;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** When aborted, everything is taken down. */
  signal: AbortSignal;
}

export interface BootOptions {
  /** The id of an image; undefined: the newest Amazon Linux. */
  image?: string;
  subnet?: string;
  /** The addresses that may connect to a relay, as CIDR blocks. */
  allow?: readonly string[];
  /** Seconds within which all instances must be ready. */
  readySeconds: number;
}

/** A load as it is written down: `relay` has the addresses of its relays, with commas between them. */
type RecordedLoad = Omit<Load, 'relays'> & { relay: string };

export function recorded({ relays, ...load }: Load): RecordedLoad {
  return { ...load, relay: namesOf(relays) };
}

function readRecorded({ relay, ...load }: RecordedLoad): Load {
  return { ...load, relays: relay.split(',').map((url) => new URL(url)) };
}

/** The addresses of relays as people read and write them. */
export function namesOf(relays: readonly URL[]): string {
  return relays.map(({ href }) => href).join(',');
}

/** What fleet.json in the bucket contains. */
export interface FleetRecord {
  wanted: Wanted;
  load?: RecordedLoad;
  readySeconds: number;
  startedMs: number;
  deadlineMs: number;
  started: string[];
  prices: Prices;
  rootGib: number;
  /** The fleet of the relay that is swarmed, which posts the relay's samples. */
  relayFleet?: string;
  /** The private address of the NATS server of a cluster of relays. */
  nats?: string;
}

/** What an instance's boot script is for. */
type Role = Wanted['role'] | 'nats';

/** Reads a sample of the relay's own figures; undefined when it does not answer now. */
type AskRelay = () => Promise<RelaySample | undefined>;

/** Ports of a relay that runs on an instance. */
const RELAY_PORTS = [8080, 8081] as const;

/** Pause between two queries while waiting. Listing the bucket costs $0.000005. */
const POLL_MS = 2_000;

/** Signed addresses are valid this much longer than the fleet: an instance posts its log just before it powers off. */
const SIGNED_EXTRA_SECONDS = 300;

/** Time from go.json or throw.json to what it starts: every instance polls once a second, and clocks differ by less than that. */
const START_DELAY_MS = 5_000;

/** Time from when all must be parked until an instance has posted that they are. */
const PARKED_SLACK_SECONDS = 30;

/** Time beyond the load's own: receiving what is under way, leaving, posting. */
const RUN_SLACK_SECONDS = 240;

/** A launch whose response was lost may have started instances that EC2 lists a little later. */
const TAKE_DOWNS_AFTER_FAILURE = 3;

/** EC2 gives an instance its private address at once, but may list it a little later. */
const ADDRESS_MS_MAX = 60_000;

/** Terminating an instance takes a minute or two. */
const TERMINATE_MS_MAX = 5 * 60_000;
const REMOVE_MS_MAX = 60_000;

const BOOT = join(import.meta.dirname, 'boot');

/** The boot script of a role: the part that every instance runs first, then the part of the role. */
export function bootScript(role: Role, settings: BootSettings): string {
  return userData(
    ['instance.sh', `${role}.sh`].map((name) => readFileSync(join(BOOT, name), 'utf8')),
    settings,
  );
}

/** Reads what a plan needs to know of the account. Creates nothing. What can't be read is an `unread` reading. */
export async function observe({ aws, nowMs }: Context, wanted: Wanted, bootOptions: BootOptions): Promise<Observed> {
  const now = nowMs();
  const [types, image, prices, quotaVcpus, runningVcpus, credentialsEndMs, script] = await Promise.all([
    reading(() => aws.compute.types(wanted.types)),
    reading(() => aws.compute.image(architecture(), bootOptions.image)),
    aws.pricing.today(wanted.buy, wanted.types, now),
    reading(() => aws.quotas.quotaVcpus(wanted.buy, wanted.types)),
    reading(() => aws.quotas.runningVcpus(wanted.buy)),
    reading(() => aws.credentialsEndMs()),
    reading(() => signedScript(aws, wanted)),
  ]);
  const userDataBytes = Buffer.byteLength(known(script) ?? '');
  return {
    nowMs: now,
    types,
    image,
    prices,
    quotaVcpus,
    runningVcpus,
    credentialsEndMs,
    bundle: architecture(),
    userDataBytes,
  };
}

/** The request for EC2, still without a security group. Throws Refused. */
async function launchOf(
  { aws, nowMs }: Pick<Context, 'aws' | 'nowMs'>,
  { wanted, observed }: Plan,
  bootOptions: BootOptions,
) {
  const image = known(observed.image);
  if (!image)
    throw new Refused('image', 'Nothing can be started without an image. The plan above says why it is not known.');
  const network = await aws.compute.network(bootOptions.subnet);
  const hourUsdMax = wanted.buy === 'on-demand' ? undefined : highestPrice(wanted, observed.prices);
  const { fleet, role, owner, buy, types, instances, atLeast } = wanted;
  const launch: Launch = {
    fleet,
    role,
    owner,
    buy,
    types,
    instances,
    atLeast,
    image,
    deadlineMs: nowMs() + wanted.minutes * 60_000,
    userData: await signedScript(aws, wanted),
    subnets: network.subnets,
    addresses: addressesFor(wanted.load?.desktops ?? 0),
    ...(hourUsdMax !== undefined && { hourUsdMax }),
  };
  return { launch, vpc: network.vpc };
}

/** What boot() starts. */
interface Boot {
  plan: Plan;
  bundle: Bundle;
  bootOptions: BootOptions;
  load?: Load;
  /** The fleet of the relay that is swarmed. */
  relayFleet?: string;
}

/** Starts the planned instances and stores fleet.json. Throws Refused, or the reason of the abort; then nothing is left running. */
export async function boot(context: Context, of: Boot): Promise<FleetRecord> {
  const { aws } = context;
  const { plan, bundle, bootOptions, load, relayFleet } = of;
  const { wanted, observed } = plan;
  const unattached = await launchOf(context, plan, bootOptions);
  const { deadlineMs } = unattached.launch;
  return takeDownOnFailure(context, wanted.fleet, deadlineMs, async () => {
    const launch = await withGroup(context, wanted, unattached, bootOptions);
    await aws.compute.rehearse(launch);
    context.signal.throwIfAborted();
    const nats = wanted.relays === undefined ? undefined : await startNats(context, wanted, bundle, launch);
    await publishJob(context, {
      ...wanted,
      bundle,
      load,
      seconds: wanted.minutes * 60 + SIGNED_EXTRA_SECONDS,
      barrierSeconds: barrierOf(wanted, bootOptions),
      nats: nats?.privateAddress,
    });
    context.signal.throwIfAborted();
    const rest = nats ? 1 : 0;
    const started = await aws.compute.launch({
      ...launch,
      instances: launch.instances - rest,
      atLeast: launch.atLeast - rest,
    });
    const ids = [...(nats ? [nats.id] : []), ...started.ids];
    requireStarted(context, wanted, ids, started.missing);
    const record: FleetRecord = {
      wanted,
      readySeconds: bootOptions.readySeconds,
      startedMs: context.nowMs(),
      deadlineMs: launch.deadlineMs,
      started: ids,
      prices: observed.prices,
      rootGib: launch.image.rootGib,
      ...(load && { load: recorded(load) }),
      ...(relayFleet && { relayFleet }),
      ...(nats && { nats: nats.privateAddress }),
    };
    await aws.buckets.put(wanted.bucket, keys.fleet(wanted.fleet), JSON.stringify(record, null, 1));
    context.signal.throwIfAborted();
    return record;
  });
}

/** Throws Refused when EC2 has started too few. */
function requireStarted(
  { say }: Context,
  { instances, atLeast }: Wanted,
  ids: readonly string[],
  missing: readonly string[],
): void {
  say(`${ids.length} of ${instances} instances started: ${ids.join(' ')}`);
  for (const line of missing) say(`some did not start: ${line}`);
  if (ids.length >= atLeast) return;
  const why = missing.length > 0 ? `: ${missing.join('; ')}` : '';
  throw new Refused('half', `EC2 started ${ids.length} of ${instances} instances, fewer than ${atLeast}${why}`);
}

/** Starts the NATS server of a cluster. Relays need its private address in their job, so it comes first. */
async function startNats(
  context: Context,
  wanted: Wanted,
  bundle: Bundle,
  launch: Launch,
): Promise<{ id: string; privateAddress: string }> {
  const { aws, say } = context;
  const { fleet, bucket, minutes } = wanted;
  const seconds = minutes * 60 + SIGNED_EXTRA_SECONDS;
  const job = {
    ...(await uploadBundle(context, bucket, bundle, seconds)),
    ports: [NATS_PORT],
    waitSeconds: 0,
    arguments: NATS_ARGUMENTS,
  };
  await aws.buckets.put(bucket, keys.natsJob(fleet), writeJob(job));
  const settings = await signedSettings(aws, { fleet, bucket, minutes, seconds, job: keys.natsJob(fleet) });
  const one = { instances: 1, atLeast: 1, userData: bootScript('nats', settings) };
  context.signal.throwIfAborted();
  const { ids, missing } = await aws.compute.launch({ ...launch, ...one, role: 'nats' });
  const [id] = ids;
  if (id === undefined) throw new Refused('half', `EC2 did not start the NATS server: ${missing.join('; ')}`);
  for (const untilMs = context.nowMs() + ADDRESS_MS_MAX; ; await pause(context)) {
    const privateAddress = (await aws.compute.instances(fleet)).find((instance) => instance.id === id)?.privateAddress;
    if (privateAddress !== undefined) {
      say(`NATS is ${id}, at ${privateAddress}`);
      return { id, privateAddress };
    }
    if (context.nowMs() > untilMs) throw new Refused('address', `EC2 gave ${id}, the NATS server, no private address`);
  }
}

/** Asks EC2 whether it would start the planned fleet. Its security group exists only for the question. Throws Refused. */
export async function rehearse(context: Context, plan: Plan, bootOptions: BootOptions): Promise<void> {
  const unattached = await launchOf(context, plan, bootOptions);
  try {
    await context.aws.compute.rehearse(await withGroup(context, plan.wanted, unattached, bootOptions));
  } finally {
    await takeDown(context, plan.wanted.fleet);
  }
}

/**
 * The request with a new security group. Without a group EC2 would take the network's default one, which is not the fleet's,
 * and policy.json forbids that.
 */
async function withGroup(
  { aws, signal }: Context,
  { role, relays }: Wanted,
  { launch, vpc }: { launch: Launch; vpc: string },
  { allow = [] }: BootOptions,
): Promise<Launch> {
  const inner = relays === undefined ? [] : [NATS_PORT];
  const ports = role === 'relay' ? RELAY_PORTS : [];
  const group = await aws.compute.createGroup(launch, vpc, { ports, from: allow, innerPorts: inner });
  signal.throwIfAborted();
  return { ...launch, group };
}

/** Waits until all relays of the fleet are ready, and returns their URLs. Takes them down when they are not ready in time. */
export async function waitForRelays(context: Context, record: FleetRecord): Promise<string[]> {
  const { fleet } = record.wanted;
  return takeDownOnFailure(context, fleet, record.deadlineMs, async () => {
    const { ready } = await waitUntilReady(
      context,
      record,
      Math.min(record.deadlineMs, context.nowMs() + record.readySeconds * 1000),
    );
    const instances = (await context.aws.compute.instances(fleet)).filter(({ id }) => ready.includes(id));
    return instances
      .filter(({ role }) => role === 'relay')
      .map(({ address, id }) => `http://${address ?? id}:${RELAY_PORTS[0]}/`);
  });
}

/**
 * Waits until instances are ready, lets them connect, waits until all have parked, lets them throw at the same time, and waits
 * for results. Takes the fleet down when it fails, not when it succeeds. When too few have parked, nothing is thrown, and what
 * the instances found out is collected.
 *
 * Shape   `missing` says why instances did not take part; '' when all did. With `ask`, the relay's samples are stored.
 */
export async function runLoad(context: Context, record: FleetRecord, ask?: AskRelay): Promise<{ missing: string }> {
  const { wanted, deadlineMs } = record;
  const { load } = record;
  if (!load) throw new Refused('load', `The fleet ${wanted.fleet} was booted without a load.`);
  return takeDownOnFailure(context, wanted.fleet, deadlineMs, async () => {
    const readyByMs = Math.min(deadlineMs, context.nowMs() + record.readySeconds * 1000);
    const { ready, missing: notReady } = await waitUntilReady(context, record, readyByMs);
    if (notReady !== '') context.say(`${notReady}. The ready instances start without the others.`);
    const whole = readRecorded(load);
    const places = placesOf(ready.length);
    const slices = Object.fromEntries(ready.map((id, n) => [id, enginePlanOf(whole, wanted.fleet, id, places[n])]));
    const go: Go = { startAtMs: context.nowMs() + START_DELAY_MS, slices };
    await context.aws.buckets.put(wanted.bucket, keys.go(wanted.fleet), JSON.stringify(go));
    context.say(`${ready.length} instances connect at ${new Date(go.startAtMs).toISOString()}`);
    const parkedByMs = go.startAtMs + (parkSeconds(load) + PARKED_SLACK_SECONDS) * 1000;
    const parked = await waitFor(context, record, 'parked', ready, Math.min(deadlineMs, parkedByMs));
    const startAtMs = parked.kind === 'go' ? context.nowMs() + START_DELAY_MS : null;
    const signal: ThrowSignal = { startAtMs };
    await context.aws.buckets.put(wanted.bucket, keys.throw(wanted.fleet), JSON.stringify(signal));
    if (parked.missing !== '') context.say(`${parked.missing}.`);
    if (parked.kind === 'go') {
      context.say(`${parked.ready.length} instances throw from ${new Date(startAtMs as number).toISOString()}`);
    } else context.say('Nothing is thrown.');
    const seconds = load.seconds + load.warmUpSeconds + RUN_SLACK_SECONDS;
    const samples = ask && recordSamples(ask);
    try {
      await waitForResults(context, record, ready, Math.min(deadlineMs, context.nowMs() + seconds * 1000));
    } finally {
      const found = samples?.stop();
      if (found) await context.aws.buckets.put(wanted.bucket, keys.samples(wanted.fleet), JSON.stringify(found));
    }
    return { missing: [notReady, parked.missing].filter((part) => part !== '').join('; ') };
  });
}

/** Terminates the instances, waits until they are gone, and removes what else remains. Returns the ids of the instances. */
export async function takeDown(
  context: Omit<Context, 'signal'>,
  fleet: string | undefined,
  chosen?: (one: { fleet: string; owner: string; deadlineMs: number }) => boolean,
): Promise<string[]> {
  const { aws, say } = context;
  const isChosen = (one: { fleet: string; owner: string; deadlineMs: number }) => !chosen || chosen(one);
  const living = async () =>
    (await aws.compute.instances(fleet)).filter((one) => isChosen(one) && one.state !== 'terminated');
  const ids = (await living()).map(({ id }) => id);
  if (ids.length > 0) {
    await aws.compute.terminate(ids);
    say(`terminating ${ids.join(' ')}`);
    const untilMs = context.nowMs() + TERMINATE_MS_MAX;
    for (let left = await living(); left.length > 0; left = await living()) {
      // Instances that EC2 lists only now belong to the fleet too.
      const fresh = left.filter(({ id, state }) => !ids.includes(id) && ALIVE.includes(state)).map(({ id }) => id);
      await aws.compute.terminate(fresh);
      ids.push(...fresh);
      if (context.nowMs() > untilMs) {
        throw new Refused(
          'slow',
          `${left.map(({ id }) => id).join(' ')} still not terminated: check again with \`status\``,
        );
      }
      await context.sleep(POLL_MS);
    }
  }
  for (const leftover of (await aws.compute.leftovers(fleet)).filter(isChosen)) {
    await removeWhenUnused(context, leftover);
    say(`deleted the ${leftover.kind} ${leftover.id}`);
  }
  return ids;
}

/** EC2 deletes a security group only when its instances' network interfaces are gone, a moment after the instances. */
async function removeWhenUnused(context: Omit<Context, 'signal'>, leftover: Leftover): Promise<void> {
  for (const untilMs = context.nowMs() + REMOVE_MS_MAX; ; await context.sleep(POLL_MS)) {
    try {
      return await context.aws.compute.remove(leftover);
    } catch (error) {
      if ((error as Refused).code !== 'DependencyViolation' || context.nowMs() > untilMs) throw error;
    }
  }
}

/** Runs `action`. If it throws, takes the fleet down and then throws the same error. */
async function takeDownOnFailure<T>(
  context: Context,
  fleet: string,
  deadlineMs: number,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    context.say(`${(error as Error).message ?? error}. Taking the fleet down …`);
    try {
      for (let round = 1; round <= TAKE_DOWNS_AFTER_FAILURE; round++) {
        if (round > 1) await context.sleep(POLL_MS);
        await takeDown(context, fleet);
      }
      context.say(`Nothing of ${fleet} is left running.`);
    } catch (failed) {
      const at = new Date(deadlineMs).toISOString().slice(0, 16).replace('T', ' ');
      context.say(
        `NOT TAKEN DOWN: ${(failed as Error).message}. Each instance powers itself off by ${at} UTC. To end them now: npm run fleet -- down --fleet ${fleet}`,
      );
    }
    throw error;
  }
}

/** The boot script with addresses that are signed for the lifetime of the fleet. */
async function signedScript(aws: Aws, { fleet, role, bucket, minutes }: Wanted): Promise<string> {
  return bootScript(
    role,
    await signedSettings(aws, { fleet, bucket, minutes, seconds: minutes * 60 + SIGNED_EXTRA_SECONDS }),
  );
}

export async function signedSettings(
  aws: Aws,
  {
    fleet,
    bucket,
    minutes,
    seconds,
    job = keys.job(fleet),
  }: { fleet: string; bucket: string; minutes: number; seconds: number; job?: string },
): Promise<BootSettings> {
  const prefix = keys.prefix(fleet);
  const [jobUrl, form] = await Promise.all([
    aws.buckets.readable(bucket, job, seconds),
    aws.buckets.writable(bucket, prefix, seconds),
  ]);
  return { minutes, jobUrl, results: { ...form, prefix } };
}

/** Seconds that instances of a new fleet wait for go.json; undefined: they do not wait. */
function barrierOf({ role, minutes }: Wanted, { readySeconds }: Pick<BootOptions, 'readySeconds'>): number | undefined {
  return role === 'swarm' ? readySeconds + minutes * 60 : undefined;
}

/**
 * Uploads the bundle and names it in the job of a fleet that exists. Its instances run it after their next boot: the relay, and
 * those that were started from the console. Throws Refused when their addresses have expired.
 */
export async function updateJob(context: Context, record: FleetRecord, bundle: Bundle): Promise<void> {
  const { wanted, load, deadlineMs, started, nats } = record;
  const seconds = Math.floor((deadlineMs - context.nowMs()) / 1000);
  if (seconds <= 0) {
    const at = new Date(deadlineMs).toISOString();
    throw new Refused('expired', `${wanted.fleet} ended at ${at}, and so did the addresses in its boot script.`);
  }
  await publishJob(context, {
    ...wanted,
    bundle,
    load: load && readRecorded(load),
    seconds: seconds + SIGNED_EXTRA_SECONDS,
    barrierSeconds: started.length > 0 ? barrierOf(wanted, record) : undefined,
    nats,
  });
}

/** Uploads the bundle. Returns the part of a job that names it. */
async function uploadBundle(
  { aws, say }: Context,
  bucket: string,
  { file, sha256, sizeBytes }: Bundle,
  seconds: number,
) {
  await aws.buckets.ensure(bucket);
  say(`uploading the bundle, ${(sizeBytes / 1e6).toFixed(0)} MB`);
  await aws.buckets.putFile(bucket, keys.bundle(sha256), file);
  return { bundle: await aws.buckets.readable(bucket, keys.bundle(sha256), seconds), sha256 };
}

/** A job, as publishJob() needs it. */
interface JobOrder extends Pick<Wanted, 'fleet' | 'role' | 'bucket' | 'admission'> {
  bundle: Bundle;
  load?: Load;
  /** How long the addresses in it are valid. */
  seconds: number;
  /** How long its instances wait for go.json; absent: they start at once. */
  barrierSeconds?: number;
  /** The private address of the NATS server of a cluster of relays. */
  nats?: string;
}

/** Uploads the bundle and the job that names it. */
export async function publishJob(context: Context, order: JobOrder): Promise<void> {
  const { fleet, role, bucket, admission = 'open', bundle, load, seconds, barrierSeconds, nats } = order;
  const { aws } = context;
  const ports = load
    ? [...load.relays.map(({ port, protocol }) => Number(port || (protocol === 'https:' ? 443 : 80))), 8081]
    : [...RELAY_PORTS];
  const job = writeJob({
    ...(await uploadBundle(context, bucket, bundle, seconds)),
    ports: [...new Set(ports)],
    ...(barrierSeconds !== undefined && {
      go: await aws.buckets.readable(bucket, keys.go(fleet), seconds),
      throw: await aws.buckets.readable(bucket, keys.throw(fleet), seconds),
    }),
    waitSeconds: barrierSeconds ?? 0,
    arguments: role === 'swarm' ? [] : relayArguments(admission, nats),
    ...(role === 'swarm' && load && { plan: enginePlanOf(load, fleet, INSTANCE) }),
  });
  await aws.buckets.put(bucket, keys.job(fleet), job);
}

async function readState(context: Context, record: FleetRecord, deadlineMs: number): Promise<FleetState> {
  const { aws } = context;
  const { fleet, bucket, instances, atLeast } = record.wanted;
  // States first, then what was posted: an instance that has ended posts nothing more.
  const states = await aws.compute.instances(fleet);
  const posted = await aws.buckets.list(bucket, keys.prefix(fleet));
  const alive = new Set(states.filter(({ state }) => ALIVE.includes(state)).map(({ id }) => id));
  return {
    fleet,
    wanted: instances,
    atLeast,
    started: record.started,
    alive,
    posted,
    nowMs: context.nowMs(),
    deadlineMs,
  };
}

async function waitUntilReady(
  context: Context,
  record: FleetRecord,
  deadlineMs: number,
): Promise<{ ready: readonly string[]; missing: string }> {
  const decision = await waitFor(context, record, 'ready', record.started, deadlineMs);
  if (decision.kind === 'go') return decision;
  throw new Refused('barrier', `${decision.missing}, fewer than ${record.wanted.atLeast}`);
}

/** Waits until these instances have reached the milestone, or no more of them can. */
async function waitFor(
  context: Context,
  record: FleetRecord,
  milestone: Milestone,
  ids: readonly string[],
  deadlineMs: number,
): Promise<Exclude<StartDecision, { kind: 'wait' }>> {
  // The first barrier has said which instances never became ready; the second counts only those that took part.
  const wanted = milestone === 'ready' ? record.wanted.instances : ids.length;
  for (let said = ''; ; ) {
    const state = { ...(await readState(context, record, deadlineMs)), started: ids, wanted };
    const decision = decideStart(state, milestone);
    if (decision.kind !== 'wait') return decision;
    const line = `${milestone}: ${decision.ready} of ${wanted}`;
    if (line !== said) context.say(line);
    said = line;
    await pause(context);
  }
}

async function waitForResults(
  context: Context,
  record: FleetRecord,
  running: readonly string[],
  deadlineMs: number,
): Promise<void> {
  for (let said = ''; ; ) {
    const left = outstanding(await readState(context, record, deadlineMs), running);
    if (left.length === 0) return;
    if (context.nowMs() > deadlineMs) {
      context.say(`no result in time from ${left.join(' ')}`);
      return;
    }
    const line = `results: ${running.length - left.length} of ${running.length}`;
    if (line !== said) context.say(line);
    said = line;
    await pause(context);
  }
}

async function pause(context: Context): Promise<void> {
  await context.sleep(POLL_MS);
  context.signal.throwIfAborted();
}

/** The record of a fleet, whichever machine booted it. Throws Refused. */
export async function readRecord(aws: Aws, bucket: string, fleet: string): Promise<FleetRecord> {
  return JSON.parse(await aws.buckets.get(bucket, keys.fleet(fleet))) as FleetRecord;
}

/** From when to when each instance costs money; until now when EC2 reports no end. */
export function lifetimes(instances: readonly Instance[], rootGib: number, nowMs: number) {
  return instances.map(({ type, launchedMs, endedMs }) => ({
    type,
    fromMs: launchedMs,
    untilMs: endedMs ?? nowMs,
    rootGib,
  }));
}
