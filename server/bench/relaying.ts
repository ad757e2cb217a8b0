/**
 * What does a relayed sprite cost, and a parked poll?
 *
 * Every shape of the relay under the same loads in one run, beside the floor: so that what is compared was measured on the
 * same machine in the same hour. CPU is user + system of all processes of a contender, for each sprite delivered; memory
 * is the growth of their resident set for each parked poll.
 */

import { FLOOR_SHAPE, type Shape, start } from './contender.ts';
import { type Account, runEngine } from './engine_run.ts';
import { machine, table, us } from './table.ts';

interface Load {
  name: string;
  desktops: number;
  flags: readonly string[];
}

const SECONDS = 10;

export const LOADS: Record<string, Load> = {
  '2000/s': { name: '2,000 sprites/s, 5,000 desktops', desktops: 5000, flags: ['--rate', '2000', '--senders', '1000'] },
  '20000/s': {
    name: '20,000 sprites/s, 10,000 desktops',
    desktops: 10_000,
    flags: ['--rate', '20000', '--senders', '5000'],
  },
  closed: {
    name: '64 in flight, 10,000 desktops',
    desktops: 10_000,
    flags: ['--in-flight', '64', '--senders', '1000'],
  },
};

/** Runs each load against each shape, the floor first; prints a table for each load. */
export async function relaying(shapes: readonly Shape[], loads: readonly string[]): Promise<void> {
  console.log(`\n${machine()}\n`);
  for (const key of loads) {
    const load = LOADS[key];
    const rows: string[][] = [];
    let floor = 0;
    for (const shape of [FLOOR_SHAPE, ...shapes]) {
      try {
        const account = await measure(shape, load);
        if (shape === FLOOR_SHAPE) floor = account.relay.cpuUsPerSprite;
        rows.push(rowOf(shape, account, floor));
      } catch (error) {
        // One shape that can't carry the load says nothing about the others.
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
          'swarm CPU-µs',
        ],
        rows,
      ),
      '\n',
    );
  }
}

async function measure(shape: Shape, load: Load): Promise<Account> {
  const contender = await start(shape);
  try {
    const phases = ['--desktops', String(load.desktops), '--warm-up', '3', '--duration', String(SECONDS)];
    return await runEngine(contender, [...phases, ...load.flags]);
  } finally {
    await contender.stop();
  }
}

function rowOf(shape: Shape, { relay, window, latencyUs, swarm }: Account, floor: number): string[] {
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
    swarm.cpuUsPerSprite.toFixed(1),
  ];
}
