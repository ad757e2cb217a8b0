/** `npm run fleet`: starts and stops instances. The acts are in fleet.ts, the text of a plan is in plan.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { adminOf } from '../../loadtest/run/relay_target.ts';
import { EXIT, makeFolder, runCommand, type Surroundings, sentenceOf, surroundings } from '../../tools/command.ts';
import { ALIVE, type Instance } from '../aws/instances.ts';
import { type Aws, connect } from '../aws.ts';
import { hasPosted } from '../barrier.ts';
import { makeBundle } from '../bundle.ts';
import { collect } from '../collect.ts';
import { Refused } from '../explain.ts';
import {
  boot,
  bootScript,
  type Context,
  type FleetRecord,
  lifetimes,
  observe,
  publishJob,
  readRecord,
  recorded,
  rehearse,
  runLoad,
  signedSettings,
  takeDown,
  updateJob,
  waitForRelays,
} from '../fleet.ts';
import { keys } from '../job.ts';
import { decide, describe, type Plan, type Prices, planFleet, spent, usd } from '../plan.ts';
import { tooLarge } from '../user_data.ts';
import { changedRecord } from './changes.ts';
import { COMMAND, type Command, type Options, optionsOf } from './options.ts';

/** Makes the bundle that instances run; tests have a stand-in. */
type MakeBundle = typeof makeBundle;

/** Progress is said, on stderr; results are printed, on stdout. */
interface Shell extends Context {
  makeBundle: MakeBundle;
  print(text: string): void;
}

const ACTS: Record<Command, (options: Options, shell: Shell) => Promise<boolean>> = {
  plan: async (options, shell) => (await planned(options, shell)) !== undefined,
  up,
  run,
  status,
  collect: async (options, shell) => {
    makeFolder(options.out, '--out');
    const record = await readRecord(shell.aws, options.wanted.bucket, options.fleet as string);
    return printed(await collect(shell.aws, record, options.out, Date.now()), shell);
  },
  down,
  reap,
  cost,
  'user-data': printUserData,
  update,
};

/** Commands that start or use up a fleet; an interrupt of the others has nothing to take down. */
const TAKES_DOWN: readonly Command[] = ['up', 'run', 'down', 'reap'];

/** Runs the command and returns its exit code. */
export function fleet(within: Surroundings, make: MakeBundle = makeBundle): Promise<number> {
  return runCommand(COMMAND, (line) => act(optionsOf(line, within.environment), within, make), within);
}

async function act(options: Options, { print, complain: say }: Surroundings, make: MakeBundle): Promise<number> {
  const { signal, release } = interrupts(TAKES_DOWN.includes(options.command), say);
  const shell: Shell = {
    makeBundle: make,
    aws: connect({ region: options.wanted.region, endpoint: options.endpoint }),
    print,
    say,
    nowMs: () => Date.now(),
    // An interrupt ends the pause. Code that starts things then checks the signal; code that takes down goes on.
    sleep: (ms) =>
      sleep(signal.aborted ? Math.min(ms, 500) : ms, undefined, signal.aborted ? {} : { signal }).catch(() => {}),
    signal,
  };
  try {
    return (await ACTS[options.command](options, shell)) ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (!signal.aborted || !['up', 'run'].includes(options.command)) throw error;
    throw new Error(await whatIsLeft(shell, options.wanted.fleet, options.wanted.region));
  } finally {
    release();
  }
}

/** The first interrupt takes the fleet down, and further ones do not stop that. With nothing to take down it ends the command. */
function interrupts(takesDown: boolean, say: Context['say']): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const interrupt = () => {
    if (!takesDown) {
      say('Interrupted.');
      process.exit(EXIT.failed);
    }
    say(controller.signal.aborted ? 'Still ending; a moment …' : 'Interrupted …');
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

/** The last line of an interrupted command: asks EC2, so that it is true whatever had been started. */
async function whatIsLeft({ aws }: Context, fleet: string, region: string): Promise<string> {
  const down = `npm run fleet -- down --fleet ${fleet} --region ${region}`;
  try {
    const left = (await aws.compute.instances(fleet)).filter(({ state }) => ALIVE.includes(state));
    if (left.length === 0) return `Interrupted: nothing of ${fleet} is running.`;
    const until = new Date(Math.max(...left.map(({ deadlineMs }) => deadlineMs))).toISOString();
    return `Interrupted: ${left.map(({ id }) => id).join(' ')} of ${fleet} still run, until ${until} at the latest. To end them now: ${down}`;
  } catch (error) {
    return `Interrupted: whether anything of ${fleet} still runs could not be read (${sentenceOf(error)}). To end it: ${down}`;
  }
}

/** Prints the plan. Returns undefined, and says so, when it may not be carried out. */
async function planned(options: Options, shell: Shell): Promise<Plan | undefined> {
  const { wanted, bootOptions, yes, command, leftOut } = options;
  if (leftOut.length > 0) shell.say(`Not used on a fleet, of the scenario's settings: ${leftOut.join(', ')}.`);
  const plan = planFleet(wanted, await observe(shell, wanted, bootOptions));
  shell.print(describe(plan));
  const decision = decide(plan, yes || command === 'plan');
  if (decision === 'needs-yes')
    shell.say('\nNothing was started: look at what is not known, and add --yes to continue.');
  if (decision === 'refused') shell.say('\nNothing was started.');
  return decision === 'go' ? plan : undefined;
}

async function booted(options: Options, shell: Shell): Promise<FleetRecord | undefined> {
  const plan = await planned(options, shell);
  if (!plan) return undefined;
  shell.signal.throwIfAborted();
  const bundle = await shell.makeBundle(shell.say, options.wanted.relays !== undefined);
  shell.signal.throwIfAborted();
  const { bootOptions, load, relayFleet } = options;
  return boot(shell, { plan, bundle, bootOptions, load, relayFleet });
}

async function up(options: Options, shell: Shell): Promise<boolean> {
  if (options.dryRun) return rehearsed(options, shell);
  const record = await booted(options, shell);
  if (!record) return false;
  const { fleet, role, bucket, region } = record.wanted;
  if (role === 'relay') shell.print((await waitForRelays(shell, record)).join('\n'));
  else shell.print(`npm run fleet -- run --fleet ${fleet} --bucket ${bucket} --region ${region}`);
  shell.say(
    `It ends by itself at ${new Date(record.deadlineMs).toISOString()}; before that: npm run fleet -- down --fleet ${fleet} --region ${region}`,
  );
  return true;
}

async function run(options: Options, shell: Shell): Promise<boolean> {
  if (options.wanted.relays !== undefined) return up(options, shell);
  if (options.dryRun) return rehearsed(options, shell);
  const { aws } = shell;
  makeFolder(options.out, '--out');
  const record = options.fleet ? await changed(options, shell) : await booted(options, shell);
  if (!record) return false;
  const ask = options.admin && adminOf(options.admin.url, options.admin.tokenFile);
  await ask?.(); // reports a wrong address or token before the load starts
  const { missing } = await runLoad(shell, record, ask);
  const found = await collect(aws, record, options.out, Date.now()).catch((error: Error) => error);
  await takeDown(shell, record.wanted.fleet);
  if (found instanceof Error) throw found;
  return printed(found, shell) && missing === '';
}

/** The record of a fleet that was booted earlier, with this command line's changes, which are also written down for `collect`. */
async function changed(
  { fleet, wanted: { bucket }, changes, relayFleet }: Options,
  shell: Shell,
): Promise<FleetRecord> {
  const booted = await readRecord(shell.aws, bucket, fleet as string);
  const record = { ...changedRecord(booted, changes, shell.nowMs()), ...(relayFleet && { relayFleet }) };
  shell.signal.throwIfAborted();
  if (Object.keys(changes).length > 0 || relayFleet) {
    await shell.aws.buckets.put(bucket, keys.fleet(fleet as string), JSON.stringify(record, null, 1));
  }
  return record;
}

function printed({ text, ok }: { text: string; ok: boolean }, { print }: Shell): boolean {
  print(text);
  return ok;
}

async function rehearsed(options: Options, shell: Shell): Promise<boolean> {
  const plan = await planned(options, shell);
  if (!plan) return false;
  await rehearse(shell, plan, options.bootOptions);
  shell.say('\nDry run: EC2 would start it. Nothing was started.');
  return true;
}

async function status({ fleet, allRegions, endpoint, wanted: { bucket } }: Options, shell: Shell): Promise<boolean> {
  for (const aws of await everywhere(shell.aws, allRegions, endpoint)) {
    const instances = (await aws.compute.instances(fleet)).sort((a, b) => (a.fleet + a.id < b.fleet + b.id ? -1 : 1));
    const posted = new Map<string, string[]>();
    for (const name of bucket ? new Set(instances.map((one) => one.fleet)) : [])
      posted.set(name, await aws.buckets.list(bucket, keys.prefix(name)));
    for (const one of instances) shell.print(statusLine(one, posted.get(one.fleet) ?? []));
    for (const { kind, id, fleet: of } of await aws.compute.leftovers(fleet))
      shell.print(`${of}  ${id}  ${kind} (costs nothing)`);
    const alive = instances.filter(({ state }) => ALIVE.includes(state)).length;
    shell.print(`${aws.region}: ${alive === 0 ? 'nothing is running' : `${alive} running`}.`);
  }
  return true;
}

function statusLine(one: Instance, posted: readonly string[]): string {
  const marks = (['ready', 'parked', 'result', 'log'] as const).filter((what) =>
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

async function down({ fleet, wanted: { owner }, dryRun }: Options, shell: Shell): Promise<boolean> {
  return ended(shell, shell.aws, fleet, dryRun, (one) => fleet !== undefined || one.owner === owner);
}

async function reap({ allRegions, endpoint, dryRun, fleet }: Options, shell: Shell): Promise<boolean> {
  for (const aws of await everywhere(shell.aws, allRegions, endpoint)) {
    await ended(shell, aws, fleet, dryRun, ({ deadlineMs }) => deadlineMs < Date.now());
  }
  return true;
}

type Choice = (one: { fleet: string; owner: string; deadlineMs: number }) => boolean;

async function ended(
  shell: Shell,
  aws: Aws,
  fleet: string | undefined,
  dryRun: boolean,
  chosen: Choice,
): Promise<boolean> {
  if (dryRun) {
    const living = (await aws.compute.instances(fleet)).filter((one) => ALIVE.includes(one.state) && chosen(one));
    shell.print(`${aws.region}: ${living.length} would be terminated${living.map(({ id }) => ` ${id}`).join('')}.`);
    return true;
  }
  const ids = await takeDown({ ...shell, aws }, fleet, chosen);
  shell.print(`${aws.region}: ${ids.length} terminated, and nothing of it is left.`);
  return true;
}

async function cost({ fleet, wanted: { region } }: Options, { aws, print }: Shell): Promise<boolean> {
  const nowMs = Date.now();
  const instances = await aws.compute.instances(fleet);
  for (const name of [...new Set(instances.map((one) => one.fleet))].sort()) {
    const own = instances.filter((one) => one.fleet === name);
    const rates: Prices = await aws.pricing.today(own[0].market, [...new Set(own.map(({ type }) => type))], nowMs);
    const { usd: dollars, hours, unknown } = spent(lifetimes(own, ROOT_GIB, nowMs), rates);
    const without = unknown.length > 0 ? `, without ${unknown.join(', ')} (price not known)` : '';
    const alive = own.filter(({ state }) => ALIVE.includes(state)).length;
    print(`${name}  ${usd(dollars)}${without}  ${hours.toFixed(2)} instance hours, ${alive} running`);
  }
  print(
    instances.length === 0 ? `${region}: no instances in EC2's memory, which is an hour.` : 'Traffic not included.',
  );
  return true;
}

/** The root volume of an Amazon Linux image. The record of a fleet has the exact size. */
const ROOT_GIB = 8;

async function printUserData({ wanted, load, validSeconds, bootOptions }: Options, shell: Shell): Promise<boolean> {
  const { fleet, role, bucket, minutes, admission } = wanted;
  const script = bootScript(role, await signedSettings(shell.aws, { fleet, bucket, minutes, seconds: validSeconds }));
  const large = tooLarge(Buffer.byteLength(script));
  if (large) throw new Refused('size', large);
  const bundle = await shell.makeBundle(shell.say);
  await publishJob(shell, { fleet, role, bucket, admission, seconds: validSeconds, bundle, load });
  const nowMs = Date.now();
  const record: FleetRecord = {
    wanted,
    readySeconds: bootOptions.readySeconds,
    startedMs: nowMs,
    deadlineMs: nowMs + validSeconds * 1000,
    started: [],
    rootGib: ROOT_GIB,
    prices: await shell.aws.pricing.today(wanted.buy, wanted.types, nowMs),
    ...(load && { load: recorded(load) }),
  };
  await shell.aws.buckets.put(bucket, keys.fleet(fleet), JSON.stringify(record, null, 1));
  shell.print(script);
  shell.say(
    `Paste it as user data, with "Shutdown behavior: Terminate". It works for ${validSeconds / 3600} hours. Results: npm run fleet -- collect --fleet ${fleet} --bucket ${bucket} --region ${wanted.region}`,
  );
  return true;
}

async function update({ fleet, wanted: { bucket } }: Options, shell: Shell): Promise<boolean> {
  const record = await readRecord(shell.aws, bucket, fleet as string);
  await updateJob(shell, record, await shell.makeBundle(shell.say, record.nats !== undefined));
  shell.say(`${fleet} runs the latest code after its next boot: reboot its instances, or stop and start them.`);
  return true;
}

async function everywhere(aws: Aws, allRegions: boolean, endpoint: string | undefined): Promise<Aws[]> {
  if (!allRegions) return [aws];
  return (await aws.compute.regions()).map((region) => connect({ region, endpoint }));
}

if (import.meta.main) process.exitCode = await fleet(surroundings());
