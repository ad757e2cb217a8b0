/** `npm run bench`: builds what it needs, then answers the questions of server/bench, all of them or those named. */
import type { Shape } from '../bench/contender.ts';
import { LOADS, relaying } from '../bench/relaying.ts';
import { buildEngine, buildFloor } from './build.js';

const SHAPES: Shape[] = [
  { name: 'portable, cluster (1 worker)', front: 'portable', workers: 1 },
  { name: 'portable, one process', front: 'portable', workers: 0 },
];

const USAGE = `Usage: npm run bench -- [${Object.keys(LOADS).join(' | ')}] …

Measures what a relayed sprite and a parked poll cost, for each shape of the relay and for the floor, in one run.
Without a name every load is measured; each takes some 20 s a shape.`;

const loads = process.argv.slice(2);
if (loads.includes('--help')) {
  console.log(USAGE);
} else if (loads.some((load) => !(load in LOADS))) {
  console.error(USAGE);
  process.exit(2);
} else {
  const why = buildEngine() ?? buildFloor();
  if (why) {
    console.error(`The benches need the swarm's engine and the floor: ${why}.`);
    process.exit(1);
  }
  await relaying(SHAPES, loads.length > 0 ? loads : Object.keys(LOADS));
}
