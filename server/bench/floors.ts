/**
 * What does a sprite cost when its connections are cold? The floor and the relay, with hundreds of thousands of connections.
 *
 * The open files of a process are limited, so the floor runs as many processes, each with a part of the desktops and its own
 * engine. All engines begin to throw at the same moment. The relay holds all desktops in one process. Rounds are interleaved.
 */
import { type Contender, FLOOR_SHAPE, type Shape, start } from '../../tools/bench/contender.ts';
import { type Account, runEngine, runTogether } from '../../tools/bench/engine_run.ts';
import { median, spread } from '../../tools/bench/spread.ts';
import { machine, table, us } from '../../tools/bench/table.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { enterNamespace } from './namespace.ts';

/** Connections of one floor: polls, and those that throw, in a process that may have 20,000 files. */
const DESKTOPS_PER_FLOOR = 18_000;
const THROW_CONNECTIONS_PER_FLOOR = 300;

const CONNECT_RATE = 10_000;
const WARM_UP_SECONDS = 5;
const SECONDS = 15;
const ROUNDS = 3;

export interface FloorsOptions {
  desktops: number;
  /** Sprites a second. */
  rate: number;
}

/** The sums of all engines of one round. CPU is user + system time in µs for each delivered sprite. */
interface Round {
  relayUs: number;
  relayUserUs: number;
  swarmUs: number;
  perSecond: number;
  /** The p99 of the worst engine, in µs. */
  p99Us: number;
}

export async function floors({ desktops, rate }: FloorsOptions): Promise<void> {
  enterNamespace();
  const count = Math.ceil(desktops / DESKTOPS_PER_FLOOR);
  // The relay holds the connections of polls and those of throws.
  const places = desktops + count * THROW_CONNECTIONS_PER_FLOOR;
  const relay: Shape = {
    name: 'native, one process',
    front: 'native' as const,
    workers: 0,
    flags: ['--max-desktops', String(places)],
  };
  const rounds = new Map<string, Round[]>([
    ['floors', []],
    ['relay', []],
  ]);
  for (let round = 0; round < ROUNDS; round++) {
    rounds.get('floors')?.push(await ofFloors(desktops, rate));
    rounds.get('relay')?.push(await ofRelay(relay, desktops, rate));
  }
  const floor = median((rounds.get('floors') as Round[]).map(({ relayUs }) => relayUs));
  const rows = [...rounds].map(([name, measured]) => {
    const of = (figure: keyof Round) => measured.map((one) => one[figure]);
    const one = (value: number) => value.toFixed(1);
    return [
      name === 'floors' ? `${FLOOR_SHAPE.name}, ${count} processes` : relay.name,
      ...[spread(of('relayUs'), one), spread(of('relayUserUs'), one), (median(of('relayUs')) / floor).toFixed(2)],
      ...[spread(of('swarmUs'), one), spread(of('perSecond'), (value) => value.toFixed(0)), spread(of('p99Us'), us)],
    ];
  });
  console.log(`\n${machine()}\n`);
  console.log(
    `${desktops.toLocaleString('en')} desktops, ${rate} sprites/s, ${ROUNDS} × ${SECONDS} s: median (range)\n`,
  );
  console.log(table(['', 'CPU-µs/sprite', '(user)', '× floor', 'swarm CPU-µs', 'sprites/s', 'p99'], rows));
}

async function ofRelay(shape: Shape, desktops: number, rate: number): Promise<Round> {
  const relay = await start(shape);
  try {
    const connections = Math.ceil(desktops / DESKTOPS_PER_FLOOR) * THROW_CONNECTIONS_PER_FLOOR;
    return sumOf([await runEngine(relay, loadOf(desktops, rate, connections, CONNECT_RATE))]);
  } finally {
    await relay.stop();
  }
}

async function ofFloors(desktops: number, rate: number): Promise<Round> {
  const count = Math.ceil(desktops / DESKTOPS_PER_FLOOR);
  const started: Contender[] = [];
  try {
    for (let floor = 0; floor < count; floor++) started.push(await start(FLOOR_SHAPE));
    const share = (whole: number, floor: number) =>
      Math.floor((whole * (floor + 1)) / count) - Math.floor((whole * floor) / count);
    const connectRate = CONNECT_RATE / count;
    const loads = started.map((floor, nth) => {
      const load = loadOf(share(desktops, nth), rate / count, THROW_CONNECTIONS_PER_FLOOR, connectRate);
      return [floor, { ...load, processes: 1 }] as const;
    });
    return sumOf(await runTogether(loads));
  } finally {
    for (const floor of started) await floor.stop();
  }
}

function loadOf(desktops: number, perSecond: number, connections: number, connectRate: number): Partial<EnginePlan> {
  return {
    ...{ mix: { throwing: desktops }, load: { kind: 'rate', perSecond }, throwConnections: connections },
    ...{ connectRate, connectTimeout: 300, warmUp: WARM_UP_SECONDS, duration: SECONDS, drain: 20 },
  };
}

function sumOf(accounts: readonly Account[]): Round {
  const sum = (of: (account: Account) => number) => accounts.reduce((all, account) => all + of(account), 0);
  const sprites = sum(({ window }) => window.deliveredPerS);
  const aSprite = (of: (account: Account) => number) =>
    sum((account) => of(account) * account.window.deliveredPerS) / sprites;
  return {
    relayUs: aSprite(({ relay }) => relay.cpuUsPerSprite),
    relayUserUs: aSprite(({ relay }) => relay.userUsPerSprite),
    swarmUs: aSprite(({ swarm }) => swarm.cpuUsPerSprite),
    perSecond: sprites,
    p99Us: Math.max(...accounts.map(({ latencyUs }) => latencyUs.p99)),
  };
}
