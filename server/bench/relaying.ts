/**
 * What does a relayed sprite cost, and a parked poll?
 *
 * One run measures the floor and every shape of the relay under the same loads, so all figures that are compared are from
 * the same machine and hour. CPU is user + system time of all processes of a contender per delivered sprite; memory is the
 * growth of their resident set per parked poll.
 */
import { FLOOR_SHAPE, type Shape, start } from '../../tools/bench/contender.ts';
import { type Account, runEngine } from '../../tools/bench/engine_run.ts';
import { longestBlockMs, pausesOf, type Reading } from '../../tools/bench/pauses.ts';
import { machine, table, us } from '../../tools/bench/table.ts';

interface Load {
  name: string;
  desktops: number;
  /** Time for V8 to compile the hot code, in seconds. */
  warmUpSeconds: number;
  flags: readonly string[];
}

/** The result of one shape under one load, and its metrics at the start and the end of the measured window. */
interface Measured {
  account: Account;
  before: Reading;
  after: Reading;
}

const SECONDS = 10;

export const LOADS: Record<string, Load> = {
  '2000/s': {
    name: '2,000 sprites/s, 5,000 desktops',
    desktops: 5000,
    warmUpSeconds: 15,
    flags: ['--rate', '2000', '--senders', '1000'],
  },
  '20000/s': {
    name: '20,000 sprites/s, 10,000 desktops',
    desktops: 10_000,
    warmUpSeconds: 5,
    flags: ['--rate', '20000', '--senders', '5000'],
  },
  '50000/s': {
    name: '50,000 sprites/s, 10,000 desktops',
    desktops: 10_000,
    warmUpSeconds: 3,
    flags: ['--rate', '50000', '--senders', '5000'],
  },
  closed: {
    name: '64 in flight, 10,000 desktops',
    desktops: 10_000,
    warmUpSeconds: 3,
    flags: ['--in-flight', '64', '--senders', '1000'],
  },
};

/** Runs each load against the floor and each shape. Prints one table per load. */
export async function relaying(shapes: readonly Shape[], loads: readonly string[]): Promise<void> {
  console.log(`\n${machine()}\n`);
  for (const key of loads) {
    const load = LOADS[key];
    const rows: string[][] = [];
    let floor = 0;
    for (const shape of [FLOOR_SHAPE, ...shapes]) {
      try {
        const measured = await measure(shape, load);
        if (shape === FLOOR_SHAPE) floor = measured.account.relay.cpuUsPerSprite;
        rows.push(rowOf(shape, measured, floor));
      } catch (error) {
        // The other shapes may still carry a load that is too much for this one.
        rows.push([shape.name, (error as Error).message]);
      }
    }
    console.log(`${load.name}, ${SECONDS} s\n`);
    console.log(
      table(
        [
          '',
          'CPU-µs/sprite',
          '(user)',
          '× floor',
          'bytes/parked poll',
          'sprites/s',
          'p50',
          'p99',
          'p99.9',
          'collections',
          'longest block',
          'swarm CPU-µs',
        ],
        rows,
      ),
      '\n',
    );
  }
}

async function measure(shape: Shape, load: Load): Promise<Measured> {
  const contender = await start(shape);
  try {
    const warmUp = ['--warm-up', String(load.warmUpSeconds), '--duration', String(SECONDS)];
    const readings: Promise<Reading>[] = [];
    const account = await runEngine(contender, ['--desktops', String(load.desktops), ...warmUp, ...load.flags], {
      phase: (phase) => {
        if (phase === 'measure' || phase === 'drain') readings.push(contender.metrics());
      },
    });
    const [before, after] = await Promise.all(readings);
    return { account, before, after };
  } finally {
    await contender.stop();
  }
}

function rowOf(shape: Shape, { account, before, after }: Measured, floor: number): string[] {
  const { relay, window, latencyUs, swarm } = account;
  return [
    shape.name,
    relay.cpuUsPerSprite.toFixed(1),
    relay.userUsPerSprite.toFixed(1),
    (relay.cpuUsPerSprite / floor).toFixed(2),
    relay.bytesPerParkedPoll.toFixed(0),
    window.deliveredPerS.toFixed(0),
    us(latencyUs.p50),
    us(latencyUs.p99),
    us(latencyUs.p999),
    shape === FLOOR_SHAPE ? '' : pausesOf(before, after),
    shape === FLOOR_SHAPE ? '' : us(longestBlockMs(after) * 1000),
    swarm.cpuUsPerSprite.toFixed(1),
  ];
}
