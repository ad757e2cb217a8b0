/** `npm run bench`: builds what it needs, then runs the benches of server/bench: all of them, or those named. */
import type { Shape } from '../../tools/bench/contender.ts';
import { buildAddon, buildEngine, buildFloor } from '../../tools/build.js';
import { type Command, duration, goingWith, Misused, number, runCommand, whole } from '../../tools/command.ts';
import { million } from '../bench/million.ts';
import { LOADS, relaying } from '../bench/relaying.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { SLOTS_MAX } from '../wire/identity.ts';
import { WORKERS_MAX } from './options.ts';

const NATIVE: Shape[] = [
  { name: 'native, cluster (1 worker)', front: 'native', workers: 1 },
  { name: 'native, one process', front: 'native', workers: 0, flags: ['--max-desktops', '15000'] },
];
const PORTABLE: Shape[] = [
  { name: 'portable, cluster (1 worker)', front: 'portable', workers: 1 },
  { name: 'portable, one process', front: 'portable', workers: 0 },
];

const OPTIONS = goingWith(['million'], {
  desktops: whole('N', 'desktops to connect', [1, SLOTS_MAX], 1_000_000),
  rate: number('R', 'sprites a second', [1, 10_000_000], 5000),
  hold: duration('T', 'how long they are held', [1, 86_400], 120),
  workers: whole('N', 'worker processes of the relay; 0: everything in one process', [0, WORKERS_MAX], 1),
});

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [`npm run bench -- [${Object.keys(LOADS).join(' | ')}] …`, 'npm run bench -- million [options]'],
  about:
    'Measures what a relayed sprite and a parked poll cost, for each shape of the relay and for the floor, in one run.\n' +
    'Without a name every load is measured; each takes some 20 s a shape.',
  commands: {
    ...Object.fromEntries(Object.entries(LOADS).map(([name, load]) => [name, ['…', load.name] as const])),
    million: [
      '',
      'connect many desktops to one relay, hold them while sprites fly, and print memory, CPU, latency, pauses and losses; root and Linux only, in its own network namespace',
    ],
  },
  options: OPTIONS,
  notes: ['The options belong to million.'],
};

if (import.meta.main) {
  const code = await runCommand(COMMAND, async ({ words, values, given }) => {
    const isMillion = words[0] === 'million';
    const unknown = words.find((word) => !isMillion && !Object.hasOwn(LOADS, word));
    if (unknown !== undefined) {
      throw new Misused(`There is no load ${JSON.stringify(unknown)}; there are ${Object.keys(LOADS).join(', ')}.`);
    }
    if (given.size > 0 && !isMillion) throw new Misused('The options belong to million. See --help.');
    const why = buildEngine() ?? buildFloor();
    if (why) throw new Error(`The bench needs the swarm's engine and the floor: ${why}`);
    const whyNoAddon = buildAddon(process.execPath) ?? whyNoNativeFront();
    if (whyNoAddon) console.error(`Without the native front: ${whyNoAddon}.`);
    if (isMillion) await million(values);
    else
      await relaying(whyNoAddon ? PORTABLE : [...NATIVE, ...PORTABLE], words.length > 0 ? words : Object.keys(LOADS));
    return undefined;
  });
  process.exit(code);
}
