/** `npm run bench`: builds what it needs, then runs the benches of server/bench: all of them, or those named. */
import type { Shape } from '../../tools/bench/contender.ts';
import { buildAddon, buildCrowd, buildEngine, buildFloor } from '../../tools/build.js';
import {
  type Command,
  duration,
  EXIT,
  form,
  goingWith,
  Misused,
  number,
  oneOf,
  runCommand,
  text,
  toggle,
  whole,
} from '../../tools/command.ts';
import { ATTACKS } from '../bench/hostile/attacks.ts';
import { ADMISSIONS, hostile } from '../bench/hostile.ts';
import { million } from '../bench/million.ts';
import { peek } from '../bench/peek.ts';
import { BOTS } from '../bench/peek_bots.ts';
import { LOADS, relaying } from '../bench/relaying.ts';
import { say } from '../bench/say.ts';
import { turns } from '../bench/turns.ts';
import { HEARERS_MAX } from '../domain/limits.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { DURABILITIES } from '../roles/journaling.ts';
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

const MILLION = 1_000_000;

/** A full world, in which everybody hears everybody. */
const SAY_DESKTOPS = HEARERS_MAX;

/** Numbers of desktops that peek, and the most of them. */
const PEEK_COUNTS = [10, 50, 100, 200];
const PEEK_DESKTOPS_MAX = 16_000;

/** Rounds without which there is no interval. */
const PEEK_ROUNDS = 3;

/** What the journal costs. */
const DURABLE: Shape[] = [0, 1].flatMap((workers) =>
  DURABILITIES.toReversed().map((durability) => ({
    name: `${workers === 0 ? 'one process' : 'cluster (1 worker)'}, ${durability}`,
    ...{ front: 'native' as const, workers, flags: ['--max-desktops', '15000', '--durability', durability] },
  })),
);

const OPTIONS = {
  ...goingWith(['million', 'say'], {
    desktops: { ...whole('N', 'desktops to connect', [1, SLOTS_MAX]), shown: '1000000; say: 1024' },
  }),
  ...goingWith(['say'], {
    speakers: { ...whole('N', 'how many of them say something', [1, SLOTS_MAX]), shown: 'all' },
    talk: { ...number('R', 'lines that each speaker says a second', [0.001, 100]), shown: '1, then 1.5 and 2' },
  }),
  ...goingWith(['peek'], {
    counts: {
      ...form(
        'N,…',
        'numbers of desktops that peek',
        `whole numbers from 2 to ${PEEK_DESKTOPS_MAX}, like 10,50`,
        readCounts,
      ),
      shown: PEEK_COUNTS.join(','),
    },
    bots: oneOf('KIND', 'what their sprites do; mixed: one of each', BOTS, 'mixed'),
    noise: number('PX', 'how far noisy positions tremble', [0, 100], 2),
    rounds: whole('N', 'how often each run is repeated', [1, 1000], PEEK_ROUNDS),
    out: text('DIR', 'where the table and the chart are written', 'build/peek'),
    numbers: toggle('put the table and the chart into loadtest/NUMBERS.md too'),
  }),
  ...goingWith(['million'], {
    rate: number('R', 'sprites a second', [1, 10_000_000], 5000),
    hold: duration('T', 'how long they are held', [1, 86_400], 120),
    durability: oneOf('KIND', 'what a 202 of the relay survives', DURABILITIES, 'process'),
  }),
  ...goingWith(['million', 'hostile', 'peek'], {
    workers: whole('N', 'worker processes of the relay; 0: everything in one process', [0, WORKERS_MAX], 1),
  }),
  ...goingWith(['hostile', 'say', 'peek'], {
    seconds: whole('N', 'how long each attack lasts, or each load', [1, 3600], 30),
  }),
  ...goingWith(['hostile', 'peek'], {
    front: oneOf('KIND', 'front of the relay', ['native', 'portable'], 'native'),
  }),
  ...goingWith(['hostile'], {
    admission: oneOf('KIND', 'limits by address of the relay, where it has them', ADMISSIONS, 'open'),
    requests: whole('N', 'requests that the attack fuzz sends, however long it takes', [1, 1_000_000_000]),
  }),
  ...goingWith(['hostile', 'peek'], {
    seed: { ...whole('N', 'seed of everything random', [0, 2 ** 31 - 1]), shown: 'the time' },
  }),
};

function readCounts(given: string): number[] | undefined {
  const counts = given.split(',').map(Number);
  const isGood = (count: number) => Number.isInteger(count) && count >= 2 && count <= PEEK_DESKTOPS_MAX;
  return counts.every(isGood) ? counts : undefined;
}

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [
    `npm run bench -- [${Object.keys(LOADS).join(' | ')}] …`,
    'npm run bench -- journal | turns',
    'npm run bench -- million [options]',
    'npm run bench -- say [options]',
    'npm run bench -- peek [options]',
    'npm run bench -- hostile [ATTACK …] [options]',
  ],
  about:
    'Measures what a relayed sprite and a parked poll cost, for each shape of the relay and for the floor, in one run.\n' +
    'Without a name every load is measured; each takes some 20 s a shape.',
  commands: {
    ...Object.fromEntries(Object.entries(LOADS).map(([name, load]) => [name, ['…', load.name] as const])),
    journal: ['', 'what each --durability costs at 2,000 and 20,000 sprites/s, on the native front'],
    turns: [
      '',
      'what a turn costs with the journal, without sockets; how long a recovery takes, and a turn during a renewal',
    ],
    million: [
      '',
      'connect many desktops to one relay, hold them while sprites fly, and print memory, CPU, latency, pauses and losses; root and Linux only, in its own network namespace',
    ],
    say: [
      '',
      'desktops of one world that talk: sayings heard a second, CPU of each, what is missed, and what sprites notice; cluster and one process',
    ],
    peek: [
      '',
      'desktops of one world that watch each other: CPU of the relay and stages a second, when they move as expected, with noise, and with noise that the relay filters; a table and a chart',
    ],
    hostile: [
      '[ATTACK …]',
      'attack a relay in every known way, one after the other, with two well-behaved desktops beside; print what they lost, their worst round trip and the memory of the relay; Linux only',
    ],
  },
  options: OPTIONS,
  notes: [
    'The options belong to million, say, peek and hostile.',
    `Attacks:\n${Object.entries(ATTACKS)
      .map(([name, { about }]) => `  ${name}: ${about}`)
      .join('\n')}`,
  ],
};

if (import.meta.main) {
  const code = await runCommand(COMMAND, async ({ words, values, given }) => {
    const isMillion = words[0] === 'million';
    const isHostile = words[0] === 'hostile';
    const known = isHostile ? ATTACKS : LOADS;
    const isJournal = words[0] === 'journal' && words.length === 1;
    const isTurns = words[0] === 'turns' && words.length === 1;
    const isSay = words[0] === 'say' && words.length === 1;
    const isPeek = words[0] === 'peek' && words.length === 1;
    const isListed = isMillion || isJournal || isTurns || isSay || isPeek;
    const unknown = words.slice(isHostile ? 1 : 0).find((word) => !isListed && !Object.hasOwn(known, word));
    if (unknown !== undefined) {
      const what = isHostile ? 'attack' : 'load';
      throw new Misused(`There is no ${what} ${JSON.stringify(unknown)}; there are ${Object.keys(known).join(', ')}.`);
    }
    if (given.size > 0 && !isMillion && !isHostile && !isSay && !isPeek) {
      throw new Misused('The options belong to million, say, peek and hostile. See --help.');
    }
    if (isSay) {
      const whyNot = buildCrowd() ?? buildAddon(process.execPath) ?? whyNoNativeFront();
      if (whyNot) throw new Error(`The bench needs the native front and a crowd: ${whyNot}`);
      const { desktops = SAY_DESKTOPS, speakers, talk, seconds } = values;
      await say(NATIVE, { desktops, speakers: Math.min(speakers ?? desktops, desktops), seconds, talk });
      return EXIT.done;
    }
    if (isPeek) {
      const whyNot = values.front === 'native' ? (buildAddon(process.execPath) ?? whyNoNativeFront()) : undefined;
      if (whyNot) throw new Error(`There is no native front: ${whyNot}; use --front portable`);
      const { counts = PEEK_COUNTS, bots, noise: noisePx, rounds, seconds, front, workers, out, numbers } = values;
      const processes = workers === 0 ? 'one process' : `cluster (${workers} worker${workers === 1 ? '' : 's'})`;
      const shape = { name: `${front} front, ${processes}`, front, workers };
      const seed = values.seed ?? Date.now() % 2 ** 31;
      await peek({ ...{ counts, bots, noisePx, rounds, seconds, seed, out, shape }, intoNumbers: numbers });
      return EXIT.done;
    }
    if (isHostile) {
      const whyNot = values.front === 'native' ? (buildAddon(process.execPath) ?? whyNoNativeFront()) : undefined;
      if (whyNot) throw new Error(`There is no native front: ${whyNot}; use --front portable`);
      return (await hostile({ ...values, attacks: words.slice(1) })) === 0 ? EXIT.done : EXIT.failed;
    }
    if (isTurns) {
      await turns();
      return undefined;
    }
    const why = buildEngine() ?? buildFloor();
    if (why) throw new Error(`The bench needs the swarm's engine and the floor: ${why}`);
    const whyNoAddon = buildAddon(process.execPath) ?? whyNoNativeFront();
    if (whyNoAddon) console.error(`Without the native front: ${whyNoAddon}.`);
    if (isMillion) await million({ ...values, desktops: values.desktops ?? MILLION });
    else if (isJournal) {
      if (whyNoAddon) throw new Error(`There is no native front: ${whyNoAddon}`);
      await relaying(DURABLE, ['2000/s', '20000/s']);
    } else
      await relaying(whyNoAddon ? PORTABLE : [...NATIVE, ...PORTABLE], words.length > 0 ? words : Object.keys(LOADS));
    return undefined;
  });
  process.exit(code);
}
