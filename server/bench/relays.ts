/**
 * Does one world over many relays hold together? How often relays disagree, how soon they know of a change, and what heartbeats cost.
 *
 * Everything is pretended (pretend_cluster.ts) except the memberships, the torus and the bytes of the heartbeats, so a hundred million desktops
 * and a thousand relays fit into one process, and a seed repeats the run. Only the CPU of a heartbeat is measured, here and in NATS.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine, table } from '../../tools/bench/table.ts';
import { LISTEN_STEPS, Membership, RELAYS_MAX, STEP_MS } from '../domain/peers/membership.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../wire/peers/heartbeat.ts';
import { fanoutCost } from './heartbeat_fanout.ts';
import { GOOD, type NetworkFaults, type Outcomes, PretendCluster, type PretendOptions } from './pretend_cluster.ts';

export interface RelaysOptions {
  /** Numbers of relays. */
  counts: readonly number[];
  desktops: number;
  seed: number;
  /** Where the tables are written. */
  out: string;
}

/** Half an hour: between a look at a toy and an evening. */
const STAY_SECONDS = 1800;

const BAD: NetworkFaults = { lost: 0.02, late: 0.05, repeated: 0.05, lateMs: 1000 };

/** What happens while crossings are counted. */
const LOADS: Record<string, Partial<PretendOptions>> = {
  'joins and leaves': {},
  'a million joins a second': { joinsPerSecond: 1_000_000 },
  'a bad network': { network: BAD },
};

/** Pretend time in which crossings are counted. */
const COUNTED_MS = 8_000;

/** All relays have started and listened, and heartbeats are old enough for views. */
const WARM_UP_MS = (LISTEN_STEPS + 6) * STEP_MS;

/** Longer than any change takes; a change that takes longer is reported as this. */
const CHANGE_MS_MAX = 20_000;

/** Time until every desktop of a relay that stopped has joined another one. */
const SETTLED_MS = 11_000;

interface Change {
  name: string;
  /** Makes the change; run() then waits until all relays know of it. */
  make(cluster: PretendCluster): void;
}

const every = (from: number, step: number, count: number): number[] =>
  Array.from({ length: Math.floor((count - from + step - 1) / step) }, (_, n) => from + n * step);

const CHANGES: readonly Change[] = [
  {
    name: 'a tenth more relays join',
    make: (cluster) => {
      const all = Math.min(RELAYS_MAX, Math.ceil(cluster.relays.length * 1.1));
      while (cluster.relays.length < all) cluster.add();
    },
  },
  { name: 'half of the relays drain', make: (cluster) => cluster.drain(every(1, 2, cluster.relays.length)) },
  { name: 'half of the relays die', make: (cluster) => cluster.kill(every(1, 2, cluster.relays.length)) },
  { name: 'the network is cut in halves', make: (cluster) => cluster.divide((relay) => relay % 2) },
];

interface Changed {
  /** Until every relay knew of it, and what happened to crossings until then. */
  ms: number;
  outcomes: Outcomes;
  /** When all desktops have a relay again. */
  balance: number;
  /** Of a cut: until every relay knew of the healing. */
  healedMs?: number;
}

interface Result {
  relays: number;
  loads: Record<string, { outcomes: Outcomes; balance: number }>;
  changes: Record<string, Changed>;
}

export async function relays(options: RelaysOptions): Promise<void> {
  const { counts, desktops, seed, out } = options;
  const results = counts.map((count) => simulated(count, options));
  const costs = counts.map((count) => heartbeatCost(count));
  const natsUs = await fanoutCost(encodeHeartbeat(memberOf(nameOf(0)).tick(1000)));
  const report = [
    `${machine()}. ${desktops.toLocaleString('en')} desktops, seed ${seed}.`,
    loadTable(results),
    changeTable(results),
    controlTable(results, costs, natsUs),
  ].join('\n\n');
  console.log(report);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'relays.md'), `${report}\n`);
  console.error(`The tables are in ${out}.`);
}

function simulated(count: number, { desktops, seed }: RelaysOptions): Result {
  const start = (more: Partial<PretendOptions> = {}): PretendCluster => {
    const options = { relays: count, desktops, seed, network: GOOD, staySeconds: STAY_SECONDS, joinsPerSecond: 0 };
    const cluster = new PretendCluster({ ...options, ...more });
    cluster.run(WARM_UP_MS);
    cluster.outcomes();
    return cluster;
  };
  const result: Result = { relays: count, loads: {}, changes: {} };
  for (const [name, load] of Object.entries(LOADS)) {
    console.error(`${count} relays: ${name} …`);
    const cluster = start(load);
    cluster.run(COUNTED_MS);
    result.loads[name] = { outcomes: cluster.outcomes(), balance: cluster.balance() };
  }
  for (const { name, make } of count > 1 ? CHANGES : []) {
    console.error(`${count} relays: ${name} …`);
    const cluster = start();
    make(cluster);
    const ms = cluster.run(CHANGE_MS_MAX, () => cluster.knowsAll());
    const outcomes = cluster.outcomes();
    cluster.run(Math.max(0, SETTLED_MS - ms));
    const changed: Changed = { ms, outcomes, balance: cluster.balance() };
    if (name.includes('cut')) {
      cluster.divide(() => 0);
      changed.healedMs = cluster.run(CHANGE_MS_MAX, () => cluster.knowsAll());
    }
    result.changes[name] = changed;
  }
  return result;
}

/** CPU of a relay for the heartbeats of one second: reading and noting those of all others, and its own views. */
function heartbeatCost(count: number): number {
  const relay = memberOf(nameOf(0));
  const bytes = Array.from({ length: count - 1 }, (_, at) => encodeHeartbeat(memberOf(nameOf(at + 1)).tick(1000)));
  const steps = Math.max(20, Math.ceil(40_000 / count));
  let started = 0;
  for (let step = 1; step <= 2 * steps; step++) {
    if (step === steps + 1) started = process.cpuUsage().user;
    for (const one of bytes) {
      one.writeDoubleLE(step, 12);
      relay.hear(decodeHeartbeat(one) as Heartbeat);
    }
    encodeHeartbeat(relay.tick(1000));
  }
  return (((process.cpuUsage().user - started) / steps) * 1000) / STEP_MS;
}

const nameOf = (relay: number): string => `r${String(relay).padStart(4, '0')}`;

const memberOf = (name: string): Membership => new Membership({ name, life: 1, width: 1, step: 1 });

function loadTable(results: readonly Result[]): string {
  const rows = results.flatMap(({ relays: count, loads }) =>
    Object.entries(loads).map(([name, { outcomes, balance }]) => {
      const { crossings, across, border, otherView, elsewhere, noReturn, lastDesktop, refused, inDoubt } = outcomes;
      return [
        `${count.toLocaleString('en')}: ${name}`,
        percent(outcomes.looksAgreed, outcomes.looks),
        percent(across, crossings),
        ...[otherView, elsewhere, noReturn, lastDesktop].map((part) => percent(part, border)),
        percent(refused + inDoubt, crossings),
        `${balance.toFixed(3)} × mean`,
      ];
    }),
  );
  const head = [
    ...[
      'relays',
      'relays that agree',
      'crossings to another relay',
      'of these: met another view',
      'another neighbour there',
    ],
    ...['no way back', 'last desktop received it', 'refused or in doubt', 'fullest relay'],
  ];
  return table(head, rows);
}

function changeTable(results: readonly Result[]): string {
  const rows = results.flatMap(({ relays: count, changes }) =>
    Object.entries(changes).map(([name, { ms, outcomes, balance, healedMs }]) => [
      `${count.toLocaleString('en')}: ${name}`,
      seconds(ms),
      healedMs === undefined ? '' : seconds(healedMs),
      percent(outcomes.refused, outcomes.crossings),
      percent(outcomes.inDoubt, outcomes.crossings),
      `${balance.toFixed(3)} × mean`,
    ]),
  );
  const head = ['relays', 'all know after', 'healed: all know after', 'refused', 'in doubt', 'fullest relay then'];
  return table(head, rows);
}

function controlTable(results: readonly Result[], costs: readonly number[], natsUs: number | undefined): string {
  const rows = results.map(({ relays: count, loads }, at) => {
    const { heartbeatsSent, heartbeatsHeard, bytesSent, bytesHeard } = loads['joins and leaves'].outcomes;
    const rate = (value: number) => value / (COUNTED_MS / 1000);
    // Every relay hears all others, also those that the simulation does not let listen.
    const heard = (rate(heartbeatsSent) * (count - 1)) / count;
    const bytes = heard * (heartbeatsHeard > 0 ? bytesHeard / heartbeatsHeard : 0);
    return [
      count.toLocaleString('en'),
      rate(bytesSent / count).toFixed(0),
      heard.toFixed(0),
      bytes.toFixed(0),
      `${(costs[at] / 10_000).toFixed(2)} %`,
      count * heard < 1e6 ? (count * heard).toFixed(0) : `${((count * heard) / 1e6).toFixed(2)} million`,
      `${((count * bytes) / 1e6).toFixed(2)} MB`,
      natsUs === undefined ? '' : ((count * heard * natsUs) / 1e6).toFixed(3),
    ];
  });
  const head = [
    ...[
      'relays',
      'bytes sent',
      'heartbeats heard',
      'bytes heard',
      'CPU of one core',
      'heartbeats through NATS',
      'bytes through NATS',
      'cores of NATS',
    ],
  ];
  const nats =
    natsUs === undefined ? 'there is no nats-server here' : `NATS took ${natsUs.toFixed(1)} CPU-µs for each delivery`;
  return `Of each relay, and of NATS, a second (${nats}):\n\n${table(head, rows)}`;
}

const percent = (part: number, whole: number): string => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(2)} %`);

const seconds = (ms: number): string => (ms >= CHANGE_MS_MAX ? 'never' : `${(ms / 1000).toFixed(2)} s`);
