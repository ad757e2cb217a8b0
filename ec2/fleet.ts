/**
 * The life of a fleet: observed, booted, sent off, collected, taken down.
 *
 * Invariant: whatever fails from the first thing created on, everything of the fleet is taken down before the error goes on;
 * and what can't be taken down is said, with the time at which it ends by itself. What a fleet is lies in its tags and in
 * fleet.json in the bucket, so every command works from any machine.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reading } from './aws/call.ts';
import { ALIVE, type Aws, type Instance, type Launch, type Leftover } from './aws.ts';
import { look, outstanding, type Standing } from './barrier.ts';
import { architecture, type Bundle } from './bundle.ts';
import { Refused } from './explain.ts';
import { engineArguments, type Go, keys, type Load, writeArguments, writeJob } from './job.ts';
import { highestPrice, known, type Observed, type Plan, type Prices, type Wanted } from './plan.ts';
import { type Settings, userData } from './user_data.ts';

/** What a fleet's life needs of the world; tests pass their own clock. */
export interface World {
  aws: Aws;
  say(line: string): void;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Aborted: take everything down, and end. */
  signal: AbortSignal;
}

export interface Places {
  /** An image other than the newest Amazon Linux. */
  image?: string;
  subnet?: string;
  /** Who may reach a relay, as a CIDR block. */
  allow?: string;
  /** Seconds until all must be ready. */
  readySeconds: number;
}

/** What is written down of a fleet that was started. */
export interface FleetRecord {
  wanted: Wanted;
  load?: Omit<Load, 'relay'> & { relay: string };
  readySeconds: number;
  startedMs: number;
  deadlineMs: number;
  started: string[];
  prices: Prices;
  rootGib: number;
}

export interface RunOutcome {
  /** Who went; who did not, and why. */
  went: readonly string[];
  missing: string;
}

/** Ports of a relay on an instance of its own. */
export const RELAY_PORTS = [8080, 8081] as const;

/** How often a waiting command looks. A listing costs a two-hundred-thousandth of a dollar. */
const LOOK_MS = 2_000;

/** Signed addresses outlive the fleet by so much: the last log is posted when the power goes off. */
const AFTERLIFE_SECONDS = 300;

/** The longest that S3 lets an address live. */
export const SIGNED_SECONDS_MAX = 7 * 24 * 3600;

/** From the word to the start: every instance asks once a second, and clocks differ by less than one. */
const START_IN_MS = 5_000;

/** Beyond the load's own time: connecting, waiting for what is under way, leaving, posting. */
const RUN_SLACK_SECONDS = 240;

/** A launch whose answer was lost may have started something that EC2 lists a little later. */
const LOOKS_AFTER_FAILURE = 3;

/** Instances take a minute or two to be gone. */
const TERMINATE_PATIENCE_MS = 5 * 60_000;
const REMOVE_PATIENCE_MS = 60_000;

const BOOT = join(import.meta.dirname, 'boot');

/** The boot script of a role: what every instance begins with, and what it goes on with. */
export function bootScript(role: Wanted['role'], settings: Settings): string {
  return userData(
    ['instance.sh', `${role}.sh`].map((name) => readFileSync(join(BOOT, name), 'utf8')),
    settings,
  );
}

/** Reads the account. Nothing is created; what can't be read is told as such. */
export async function observe({ aws, nowMs }: World, wanted: Wanted, places: Places): Promise<Observed> {
  const now = nowMs();
  const [types, image, prices, quotaVcpus, runningVcpus, credentialsEndMs, script] = await Promise.all([
    reading(() => aws.types(wanted.types)),
    reading(() => aws.image(architecture(), places.image)),
    aws.prices(wanted.buy, wanted.types, now),
    reading(() => aws.quotaVcpus(wanted.buy, wanted.types)),
    reading(() => aws.runningVcpus(wanted.buy)),
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

/** What EC2 is asked for; the security group comes later. */
export async function launchOf(
  { aws, nowMs }: Pick<World, 'aws' | 'nowMs'>,
  { wanted, observed }: Plan,
  places: Places,
) {
  const image = known(observed.image);
  if (!image) throw new Refused('image', 'Without an image nothing can be started; see above why it is not known.');
  const network = await aws.network(places.subnet);
  const hourUsdMax = wanted.buy === 'on-demand' ? undefined : highestPrice(wanted, observed.prices);
  const { fleet, role, owner, buy, types, instances, atLeast } = wanted;
  const launch: Launch = {
    ...{ fleet, role, owner, buy, types, instances, atLeast, image },
    deadlineMs: nowMs() + wanted.minutes * 60_000,
    userData: await signedScript(aws, wanted),
    subnets: buy === 'fleet' || places.subnet ? network.subnets : [],
    ...(hourUsdMax !== undefined && { hourUsdMax }),
  };
  return { launch, vpc: network.vpc };
}

/** Starts what was planned and writes it down. Throws Refused, or what aborted it; then nothing is left. */
export async function boot(
  world: World,
  plan: Plan,
  bundle: Bundle,
  places: Places,
  load?: Load,
): Promise<FleetRecord> {
  const { aws, say } = world;
  const { wanted, observed } = plan;
  const { launch, vpc } = await launchOf(world, plan, places);
  await aws.rehearse(launch);
  world.signal.throwIfAborted();
  return orTakeDown(world, wanted.fleet, launch.deadlineMs, async () => {
    await putJob(world, wanted, bundle, places, load);
    world.signal.throwIfAborted();
    const ports = wanted.role === 'relay' ? RELAY_PORTS : [];
    const group = await aws.createGroup(launch, vpc, ports, places.allow ?? '');
    world.signal.throwIfAborted();
    const { ids, missing } = await aws.launch({ ...launch, group });
    say(`${ids.length} of ${wanted.instances} instances started: ${ids.join(' ')}`);
    for (const line of missing) say(`not all of them: ${line}`);
    if (ids.length < wanted.atLeast) {
      const why = missing.length > 0 ? `: ${missing.join('; ')}` : '';
      throw new Refused(
        'half',
        `EC2 started ${ids.length} of ${wanted.instances} instances, fewer than ${wanted.atLeast}${why}`,
      );
    }
    const record: FleetRecord = {
      ...{ wanted, readySeconds: places.readySeconds, startedMs: world.nowMs(), deadlineMs: launch.deadlineMs },
      ...{ started: ids, prices: observed.prices, rootGib: launch.image.rootGib },
      ...(load && { load: { ...load, relay: load.relay.href } }),
    };
    await aws.put(wanted.bucket, keys.fleet(wanted.fleet), JSON.stringify(record, null, 1));
    world.signal.throwIfAborted();
    return record;
  });
}

/** Waits until the relay answers; its address. Takes it down when it does not. */
export async function untilRelayReady(world: World, record: FleetRecord): Promise<string> {
  const { fleet } = record.wanted;
  return orTakeDown(world, fleet, record.deadlineMs, async () => {
    const { ready } = await untilReady(
      world,
      record,
      Math.min(record.deadlineMs, world.nowMs() + record.readySeconds * 1000),
    );
    const relay = (await world.aws.instances(fleet)).find(({ id }) => ready.includes(id));
    return `http://${relay?.address ?? relay?.id}:${RELAY_PORTS[0]}/`;
  });
}

/** The barrier, the word to go, and the wait for results. Takes the fleet down whatever comes of it. */
export async function sendOff(world: World, record: FleetRecord): Promise<RunOutcome> {
  const { wanted, deadlineMs } = record;
  const { load } = record;
  if (!load) throw new Refused('load', `The fleet ${wanted.fleet} was booted without a load.`);
  return orTakeDown(world, wanted.fleet, deadlineMs, async () => {
    const readyBy = Math.min(deadlineMs, world.nowMs() + record.readySeconds * 1000);
    const { ready, missing } = await untilReady(world, record, readyBy);
    if (missing !== '') world.say(`${missing}: they go without the others.`);
    const loadOf = { ...load, relay: new URL(load.relay) };
    const slices = Object.fromEntries(ready.map((id) => [id, engineArguments(loadOf, wanted.fleet, id)]));
    const go: Go = { startAtMs: world.nowMs() + START_IN_MS, slices };
    await world.aws.put(wanted.bucket, keys.go(wanted.fleet), JSON.stringify(go));
    world.say(`${ready.length} instances go at ${new Date(go.startAtMs).toISOString()}`);
    const seconds = load.seconds + load.warmUpSeconds + load.desktops / load.connectRate + RUN_SLACK_SECONDS;
    await untilTold(world, record, ready, Math.min(deadlineMs, go.startAtMs + seconds * 1000));
    return { went: ready, missing };
  });
}

/** Terminates a fleet's instances, waits until they are gone, and removes what else there is of it. */
export async function takeDown(
  world: Omit<World, 'signal'>,
  fleet: string | undefined,
  chosen?: (one: { fleet: string; owner: string; deadlineMs: number }) => boolean,
): Promise<string[]> {
  const { aws, say } = world;
  const mine = (one: { fleet: string; owner: string; deadlineMs: number }) => !chosen || chosen(one);
  const living = async () => (await aws.instances(fleet)).filter((one) => mine(one) && one.state !== 'terminated');
  const ids = (await living()).map(({ id }) => id);
  if (ids.length > 0) {
    await aws.terminate(ids);
    say(`terminating ${ids.join(' ')}`);
    const untilMs = world.nowMs() + TERMINATE_PATIENCE_MS;
    for (let left = await living(); left.length > 0; left = await living()) {
      // Whoever appeared since is of the same fleet.
      const fresh = left.filter(({ id, state }) => !ids.includes(id) && ALIVE.includes(state)).map(({ id }) => id);
      await aws.terminate(fresh);
      ids.push(...fresh);
      if (world.nowMs() > untilMs) {
        throw new Refused(
          'slow',
          `${left.map(({ id }) => id).join(' ')} still not terminated: look again with \`status\``,
        );
      }
      await world.sleep(LOOK_MS);
    }
  }
  for (const leftover of (await aws.leftovers(fleet)).filter(mine)) {
    await removePatiently(world, leftover);
    say(`deleted the ${leftover.kind} ${leftover.id}`);
  }
  return ids;
}

/** A security group is in use until the last network interface of its instances is gone, a moment after they are. */
async function removePatiently(world: Omit<World, 'signal'>, leftover: Leftover): Promise<void> {
  for (const untilMs = world.nowMs() + REMOVE_PATIENCE_MS; ; await world.sleep(LOOK_MS)) {
    try {
      return await world.aws.remove(leftover);
    } catch (error) {
      if ((error as Refused).code !== 'DependencyViolation' || world.nowMs() > untilMs) throw error;
    }
  }
}

/** Does it; when that fails, or is interrupted, takes the fleet down first. */
async function orTakeDown<T>(world: World, fleet: string, deadlineMs: number, doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    world.say(`${(error as Error).message ?? error}. Taking the fleet down …`);
    try {
      for (let looked = 1; looked <= LOOKS_AFTER_FAILURE; looked++) {
        if (looked > 1) await world.sleep(LOOK_MS);
        await takeDown(world, fleet);
      }
      world.say(`Nothing of ${fleet} is left running.`);
    } catch (failed) {
      const at = new Date(deadlineMs).toISOString().slice(0, 16).replace('T', ' ');
      world.say(
        `NOT TAKEN DOWN: ${(failed as Error).message}. What runs powers itself off by ${at} UTC. To end it now: npm run fleet -- down --fleet ${fleet}`,
      );
    }
    throw error;
  }
}

/** The boot script with addresses signed for this fleet's time; signing asks nobody. */
async function signedScript(aws: Aws, { fleet, role, bucket, minutes }: Wanted): Promise<string> {
  return bootScript(
    role,
    await signedSettings(aws, { fleet, bucket, minutes, seconds: minutes * 60 + AFTERLIFE_SECONDS }),
  );
}

export async function signedSettings(
  aws: Aws,
  { fleet, bucket, minutes, seconds }: { fleet: string; bucket: string; minutes: number; seconds: number },
): Promise<Settings> {
  const prefix = keys.prefix(fleet);
  const [jobUrl, form] = await Promise.all([
    aws.readable(bucket, keys.job(fleet), seconds),
    aws.writable(bucket, prefix, seconds),
  ]);
  return { minutes, jobUrl, results: { ...form, prefix } };
}

async function putJob(
  world: World,
  wanted: Wanted,
  bundle: Bundle,
  { readySeconds }: Places,
  load?: Load,
): Promise<void> {
  const barrier = wanted.role === 'swarm' ? readySeconds + wanted.minutes * 60 : undefined;
  await publishJob(world, { ...wanted, seconds: wanted.minutes * 60 + AFTERLIFE_SECONDS }, bundle, load, barrier);
}

/** Uploads the bundle, and the job that names it. `barrierSeconds`: how long to wait for the word; undefined: go at once. */
export async function publishJob(
  { aws, say }: World,
  { fleet, role, bucket, seconds }: Pick<Wanted, 'fleet' | 'role' | 'bucket'> & { seconds: number },
  bundle: Bundle,
  load: Load | undefined,
  barrierSeconds: number | undefined,
): Promise<void> {
  await aws.ensureBucket(bucket);
  say(`uploading the bundle, ${(bundle.sizeBytes / 1e6).toFixed(0)} MB`);
  await aws.putFile(bucket, keys.bundle(bundle.sha256), bundle.file);
  const ports = load ? [Number(load.relay.port || 80), 8081] : [...RELAY_PORTS];
  const job = writeJob({
    bundle: await aws.readable(bucket, keys.bundle(bundle.sha256), seconds),
    sha256: bundle.sha256,
    ports: [...new Set(ports)],
    ...(barrierSeconds !== undefined && { go: await aws.readable(bucket, keys.go(fleet), seconds) }),
    waitSeconds: barrierSeconds ?? 0,
    arguments:
      role === 'swarm' && load ? engineArguments(load, fleet, INSTANCE) : ['--port', '8080', '--events-port', '8081'],
  });
  await aws.put(bucket, keys.job(fleet), job);
}

/** Stands for the instance's own id in the arguments of a job that has no barrier. */
const INSTANCE = '%i';

async function standing(world: World, record: FleetRecord, deadlineMs: number): Promise<Standing> {
  const { aws } = world;
  const { fleet, bucket, instances, atLeast } = record.wanted;
  // States before postings: whoever is dead has posted by then what it ever will.
  const states = await aws.instances(fleet);
  const posted = await aws.list(bucket, keys.prefix(fleet));
  const alive = new Set(states.filter(({ state }) => ALIVE.includes(state)).map(({ id }) => id));
  return {
    fleet,
    wanted: instances,
    atLeast,
    started: record.started,
    alive,
    posted,
    nowMs: world.nowMs(),
    deadlineMs,
  };
}

async function untilReady(
  world: World,
  record: FleetRecord,
  deadlineMs: number,
): Promise<{ ready: readonly string[]; missing: string }> {
  for (let told = ''; ; ) {
    const word = look(await standing(world, record, deadlineMs));
    if (word.word === 'go') return word;
    if (word.word === 'give up') throw new Refused('barrier', `${word.missing}, fewer than ${record.wanted.atLeast}`);
    const line = `ready: ${word.ready} of ${record.wanted.instances}`;
    if (line !== told) world.say(line);
    told = line;
    await pause(world);
  }
}

async function untilTold(
  world: World,
  record: FleetRecord,
  went: readonly string[],
  deadlineMs: number,
): Promise<void> {
  for (let told = ''; ; ) {
    const left = outstanding(await standing(world, record, deadlineMs), went);
    if (left.length === 0) return;
    if (world.nowMs() > deadlineMs) {
      world.say(`${left.join(' ')} have not posted a result in time`);
      return;
    }
    const line = `results: ${went.length - left.length} of ${went.length}`;
    if (line !== told) world.say(line);
    told = line;
    await pause(world);
  }
}

async function pause(world: World): Promise<void> {
  await world.sleep(LOOK_MS);
  world.signal.throwIfAborted();
}

/** The record of a fleet that was booted, from whichever machine. */
export async function recordOf(aws: Aws, bucket: string, fleet: string): Promise<FleetRecord> {
  return JSON.parse(await aws.get(bucket, keys.fleet(fleet))) as FleetRecord;
}

/** For the bill: who ended, when EC2 says so; who did not, lives until now. */
export function livedOf(instances: readonly Instance[], rootGib: number, nowMs: number) {
  return instances.map(({ type, launchedMs, endedMs }) => ({
    type,
    fromMs: launchedMs,
    untilMs: endedMs ?? nowMs,
    rootGib,
  }));
}

/** Words for the engine, checked as they will be when they are passed on. */
export function checkedFlags(words: readonly string[]): readonly string[] {
  writeArguments(words);
  return words;
}
