/** `npm run fleet`: starts and stops instances. Parse, plan, act, tell; the acts are in fleet.ts, the text of a plan in plan.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ALIVE, type Aws, connect, type Instance } from '../aws.ts';
import { hasPosted } from '../barrier.ts';
import { makeBundle } from '../bundle.ts';
import { collect } from '../collect.ts';
import { Refused } from '../explain.ts';
import {
  boot,
  bootScript,
  type Context,
  type FleetRecord,
  launchOf,
  lifetimes,
  observe,
  publishJob,
  readRecord,
  runLoad,
  signedSettings,
  takeDown,
  waitForRelay,
} from '../fleet.ts';
import { keys } from '../job.ts';
import { decide, describe, type Plan, type Prices, planFleet, spent, usd } from '../plan.ts';
import { tooLarge } from '../user_data.ts';
import { type Command, help, Misused, type Options, readOptions } from './options.ts';

const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

/** What is told on the way goes to stderr, what was asked for to stdout. */
const say = (line: string) => console.error(line);

const ACTS: Record<Command, (options: Options, context: Context) => Promise<boolean>> = {
  plan: async (options, context) => (await planned(options, context)) !== undefined,
  up,
  run,
  status,
  collect: async (options, { aws }) =>
    told(
      await collect(
        aws,
        await readRecord(aws, options.wanted.bucket, options.fleet as string),
        options.out,
        Date.now(),
      ),
    ),
  down,
  reap,
  cost,
  'user-data': printUserData,
};

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    console.log(help());
    return 0;
  }
  const { signal, release } = interrupts();
  const context: Context = {
    aws: connect({ region: options.wanted.region, endpoint: options.endpoint }),
    say,
    nowMs: () => Date.now(),
    // Woken by an interrupt; who asks the signal after a pause ends, who takes down goes on.
    sleep: (ms) =>
      sleep(signal.aborted ? Math.min(ms, 500) : ms, undefined, signal.aborted ? {} : { signal }).catch(() => {}),
    signal,
  };
  try {
    return (await ACTS[options.command](options, context)) ? 0 : EXIT_FAILED;
  } finally {
    release();
  }
}

/** The first interrupt takes the fleet down; another one does not stop that. */
function interrupts(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const interrupt = () => {
    say(controller.signal.aborted ? 'Still taking the fleet down …' : 'Interrupted.');
    controller.abort(new Error('Interrupted'));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}

/** Prints the plan; undefined when it may not be carried out, which it says. */
async function planned({ wanted, places, yes, command }: Options, context: Context): Promise<Plan | undefined> {
  const plan = planFleet(wanted, await observe(context, wanted, places));
  console.log(describe(plan));
  const decision = decide(plan, yes || command === 'plan');
  if (decision === 'needs-yes') say('\nNothing was started: look at what is not known, and say --yes to go on.');
  if (decision === 'refused') say('\nNothing was started.');
  return decision === 'go' ? plan : undefined;
}

async function booted(options: Options, context: Context): Promise<FleetRecord | undefined> {
  const plan = await planned(options, context);
  if (!plan) return undefined;
  const bundle = await makeBundle(say);
  return boot(context, plan, bundle, options.places, options.load);
}

async function up(options: Options, context: Context): Promise<boolean> {
  if (options.dryRun) return rehearsed(options, context);
  const record = await booted(options, context);
  if (!record) return false;
  const { fleet, role, bucket, region } = record.wanted;
  if (role === 'relay') console.log(await waitForRelay(context, record));
  else console.log(`npm run fleet -- run --fleet ${fleet} --bucket ${bucket} --region ${region}`);
  say(
    `It ends by itself at ${new Date(record.deadlineMs).toISOString()}; before that: npm run fleet -- down --fleet ${fleet} --region ${region}`,
  );
  return true;
}

async function run(options: Options, context: Context): Promise<boolean> {
  if (options.dryRun) return rehearsed(options, context);
  const { aws } = context;
  const record = options.fleet
    ? await readRecord(aws, options.wanted.bucket, options.fleet)
    : await booted(options, context);
  if (!record) return false;
  const { missing } = await runLoad(context, record);
  const found = await collect(aws, record, options.out, Date.now()).catch((error: Error) => error);
  await takeDown(context, record.wanted.fleet);
  if (found instanceof Error) throw found;
  return told(found) && missing === '';
}

function told({ text, ok }: { text: string; ok: boolean }): boolean {
  console.log(text);
  return ok;
}

async function rehearsed(options: Options, context: Context): Promise<boolean> {
  const plan = await planned(options, context);
  if (!plan) return false;
  const { launch } = await launchOf(context, plan, options.places);
  await context.aws.rehearse(launch);
  say('\nDry run: EC2 would start it. Nothing was started.');
  return true;
}

async function status({ fleet, allRegions, wanted: { bucket } }: Options, context: Context): Promise<boolean> {
  for (const aws of await everywhere(context, allRegions)) {
    const instances = (await aws.instances(fleet)).sort((a, b) => (a.fleet + a.id < b.fleet + b.id ? -1 : 1));
    const posted = new Map<string, string[]>();
    for (const name of bucket ? new Set(instances.map((one) => one.fleet)) : [])
      posted.set(name, await aws.list(bucket, keys.prefix(name)));
    for (const one of instances) console.log(statusLine(one, posted.get(one.fleet) ?? []));
    for (const { kind, id, fleet: of } of await aws.leftovers(fleet))
      console.log(`${of}  ${id}  ${kind} (costs nothing)`);
    const alive = instances.filter(({ state }) => ALIVE.includes(state)).length;
    console.log(`${aws.region}: ${alive === 0 ? 'nothing is running' : `${alive} running`}.`);
  }
  return true;
}

function statusLine(one: Instance, posted: readonly string[]): string {
  const marks = (['ready', 'result', 'log'] as const).filter((what) =>
    hasPosted({ fleet: one.fleet, posted }, one.id, what),
  );
  const until =
    one.deadlineMs < Date.now()
      ? 'PAST ITS DEADLINE'
      : `until ${new Date(one.deadlineMs).toISOString().slice(11, 16)} UTC`;
  const ends = ALIVE.includes(one.state) ? until : one.reason;
  return [
    one.fleet,
    one.id,
    one.state.padEnd(13),
    one.type,
    one.market,
    one.zone,
    one.owner,
    ends,
    one.address,
    ...marks,
  ]
    .filter((part) => part)
    .join('  ');
}

async function down({ fleet, wanted: { owner }, dryRun }: Options, context: Context): Promise<boolean> {
  return ended(context, context.aws, fleet, dryRun, (one) => fleet !== undefined || one.owner === owner);
}

async function reap({ allRegions, dryRun, fleet }: Options, context: Context): Promise<boolean> {
  for (const aws of await everywhere(context, allRegions)) {
    await ended(context, aws, fleet, dryRun, ({ deadlineMs }) => deadlineMs < Date.now());
  }
  return true;
}

type Choice = (one: { fleet: string; owner: string; deadlineMs: number }) => boolean;

async function ended(
  context: Context,
  aws: Aws,
  fleet: string | undefined,
  dryRun: boolean,
  chosen: Choice,
): Promise<boolean> {
  if (dryRun) {
    const living = (await aws.instances(fleet)).filter((one) => ALIVE.includes(one.state) && chosen(one));
    console.log(`${aws.region}: ${living.length} would be terminated${living.map(({ id }) => ` ${id}`).join('')}.`);
    return true;
  }
  const ids = await takeDown({ ...context, aws }, fleet, chosen);
  console.log(`${aws.region}: ${ids.length} terminated, and nothing of it is left.`);
  return true;
}

async function cost({ fleet, wanted: { region } }: Options, { aws }: Context): Promise<boolean> {
  const nowMs = Date.now();
  const instances = await aws.instances(fleet);
  for (const name of [...new Set(instances.map((one) => one.fleet))].sort()) {
    const own = instances.filter((one) => one.fleet === name);
    const rates: Prices = await aws.prices(own[0].market, [...new Set(own.map(({ type }) => type))], nowMs);
    const { usd: dollars, hours, unknown } = spent(lifetimes(own, ROOT_GIB, nowMs), rates);
    const without = unknown.length > 0 ? `, without ${unknown.join(', ')} (price not known)` : '';
    const alive = own.filter(({ state }) => ALIVE.includes(state)).length;
    console.log(`${name}  ${usd(dollars)}${without}  ${hours.toFixed(2)} instance hours, ${alive} running`);
  }
  console.log(
    instances.length === 0 ? `${region}: no instances in EC2's memory, which is an hour.` : 'Traffic not included.',
  );
  return true;
}

/** Of an Amazon Linux image; a fleet's own record knows better. */
const ROOT_GIB = 8;

async function printUserData({ wanted, load, validSeconds, places }: Options, context: Context): Promise<boolean> {
  const { fleet, role, bucket, minutes } = wanted;
  const script = bootScript(role, await signedSettings(context.aws, { fleet, bucket, minutes, seconds: validSeconds }));
  const large = tooLarge(Buffer.byteLength(script));
  if (large) throw new Refused('size', large);
  await publishJob(context, { fleet, role, bucket, seconds: validSeconds }, await makeBundle(say), load, undefined);
  const nowMs = Date.now();
  const record: FleetRecord = {
    ...{
      wanted,
      readySeconds: places.readySeconds,
      startedMs: nowMs,
      deadlineMs: nowMs + validSeconds * 1000,
      started: [],
      rootGib: ROOT_GIB,
    },
    prices: await context.aws.prices(wanted.buy, wanted.types, nowMs),
    ...(load && { load: { ...load, relay: load.relay.href } }),
  };
  await context.aws.put(bucket, keys.fleet(fleet), JSON.stringify(record, null, 1));
  console.log(script);
  say(
    `Paste it as user data, with "Shutdown behavior: Terminate". It works for ${validSeconds / 3600} hours. Results: npm run fleet -- collect --fleet ${fleet} --bucket ${bucket} --region ${wanted.region}`,
  );
  return true;
}

async function everywhere({ aws }: Context, allRegions: boolean): Promise<Aws[]> {
  if (!allRegions) return [aws];
  return (await aws.regions()).map((region) =>
    connect({ region, endpoint: process.env.AWS_ENDPOINT_URL || undefined }),
  );
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    console.error(
      error instanceof Misused || error instanceof Refused ? error.message : (error.stack ?? error.message),
    );
    process.exitCode = error instanceof Misused ? EXIT_MISUSED : EXIT_FAILED;
  },
);
