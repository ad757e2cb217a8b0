/** `npm run bench`: builds what it needs, then answers the questions of server/bench, all of them or those named. */

import type { Shape } from '../../tools/bench/contender.ts';
import { buildAddon, buildEngine, buildFloor } from '../../tools/build.js';
import { MILLION_USAGE, million } from '../bench/million.ts';
import { LOADS, relaying } from '../bench/relaying.ts';
import { whyNoNativeFront } from '../front/native.ts';

const NATIVE: Shape[] = [
  { name: 'native, cluster (1 worker)', front: 'native', workers: 1 },
  { name: 'native, one process', front: 'native', workers: 0, flags: ['--max-desktops', '15000'] },
];
const PORTABLE: Shape[] = [
  { name: 'portable, cluster (1 worker)', front: 'portable', workers: 1 },
  { name: 'portable, one process', front: 'portable', workers: 0 },
];

const USAGE = `Usage: npm run bench -- [${Object.keys(LOADS).join(' | ')}] …
       npm run bench -- million [options]

Measures what a relayed sprite and a parked poll cost, for each shape of the relay and for the floor, in one run.
Without a name every load is measured; each takes some 20 s a shape.

${MILLION_USAGE}`;

const [first, ...rest] = process.argv.slice(2);
const loads = first === undefined ? Object.keys(LOADS) : [first, ...rest];
if (loads.includes('--help')) {
  console.log(USAGE);
} else if (first !== 'million' && loads.some((load) => !(load in LOADS))) {
  console.error(USAGE);
  process.exit(2);
} else {
  const why = buildEngine() ?? buildFloor();
  const whyNoAddon = buildAddon(process.execPath) ?? whyNoNativeFront();
  try {
    if (why) throw new Error(`the swarm's engine and the floor are needed: ${why}`);
    if (whyNoAddon) console.error(`Without the native front: ${whyNoAddon}.`);
    if (first === 'million') await million(rest);
    else await relaying(whyNoAddon ? PORTABLE : [...NATIVE, ...PORTABLE], loads);
  } catch (error) {
    console.error(`The bench could not be finished: ${(error as Error).message}.`);
    process.exit(1);
  }
}
