/** `npm run bench`: builds what it needs, then runs the benches beside it: all of them, or those named. */

import type { Shape } from '../../tools/bench/contender.ts';
import { whyNoNats } from '../../tools/bench/nats_server.ts';
import { buildAddon, buildEngine, buildFloor } from '../../tools/build.js';
import {
  type Command,
  EXIT,
  form,
  goingWith,
  Misused,
  number,
  oneOf,
  runCommand,
  text,
  toggle,
  type Values,
  whole,
} from '../../tools/command.ts';
import { WORKERS_MAX } from '../bin/options.ts';
import { RELAYS_MAX } from '../domain/peers/membership.ts';
import { HEARERS_MAX } from '../domain/state/limits.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { DURABILITIES } from '../roles/journaling.ts';
import { SLOTS_MAX } from '../wire/identity.ts';
import { buildPosters, buildUws } from './builds.ts';
import { FAULTS } from './chaos/faults.ts';
import { chaos } from './chaos.ts';
import { cluster } from './cluster.ts';
import { floors } from './floors.ts';
import { frames } from './frames.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { ADMISSIONS, hostile } from './hostile.ts';
import { outside, POSTER_KINDS, type PosterKind, UWS_SHAPE } from './outside.ts';
import { peek } from './peek.ts';
import { BOTS } from './peek_bots.ts';
import { LOADS, relaying } from './relaying.ts';
import { relays } from './relays.ts';
import { say } from './say.ts';
import { turns } from './turns.ts';

const NATIVE: Shape[] = [
  { name: 'native, cluster (1 worker)', front: 'native', workers: 1 },
  { name: 'native, one process', front: 'native', workers: 0, flags: ['--max-desktops', '15000'] },
];
/** What `--workers auto` chooses on three cores. */
const TWO_WORKERS: Shape = { name: 'native, cluster (2 workers)', front: 'native', workers: 2 };
const PORTABLE: Shape[] = [
  { name: 'portable, cluster (1 worker)', front: 'portable', workers: 1 },
  { name: 'portable, one process', front: 'portable', workers: 0 },
];

/** As many desktops as the figure of 2012, and a rate that two cores carry. */
const FLOORS_DESKTOPS = 250_000;
const FLOORS_RATE = 20_000;

/** A full world, in which everybody hears everybody. */
const SAY_DESKTOPS = HEARERS_MAX;

/** Numbers of desktops that peek, and the most of them. */
const PEEK_COUNTS = [10, 50, 100, 200];
const PEEK_DESKTOPS_MAX = 16_000;

/** Rounds without which there is no interval. */
const ROUNDS = 3;
/** Of a load: each takes a while for every shape. */
const LOAD_ROUNDS = 1;

/** Numbers of relays that share a pretended world, and its desktops. */
const RELAYS_COUNTS = [1, 10, 100, 1000];
const RELAYS_DESKTOPS = 100_000_000;

/** Relays of `chaos`, and how long it makes faults. */
const CHAOS_RELAYS = 3;
const CHAOS_RELAYS_MAX = 8;
const CHAOS_MINUTES = 5;

/** Sprites a second of `cluster`, and the seconds of each window. */
const CLUSTER_RATES = [2000, 20_000];
const CLUSTER_SECONDS = 10;

/** Of each window of `outside`, in seconds. Each attack of `hostile` and each load of `say` and `peek` lasts longer. */
const OUTSIDE_SECONDS = 8;
const OUTSIDE_RATE = 2000;
const LOAD_SECONDS = 30;

/** What the journal costs. */
const DURABLE: Shape[] = [0, 1].flatMap((workers) =>
  DURABILITIES.toReversed().map((durability) => ({
    name: `${workers === 0 ? 'one process' : 'cluster (1 worker)'}, ${durability}`,
    front: 'native' as const,
    workers,
    flags: ['--max-desktops', '15000', '--durability', durability],
  })),
);

const OPTIONS = {
  ...goingWith(['floors', 'say'], {
    desktops: { ...whole('N', 'desktops to connect', [1, SLOTS_MAX]), shown: '250000; say: 1024' },
  }),
  ...goingWith(['say'], {
    speakers: { ...whole('N', 'how many of them say something', [1, SLOTS_MAX]), shown: 'all' },
    talk: { ...number('R', 'lines that each speaker says a second', [0.001, 100]), shown: '1, then 1.5 and 2' },
  }),
  ...goingWith(['floors', 'outside', 'cluster'], {
    rate: {
      ...number('R', 'sprites a second', [1, 10_000_000]),
      shown: `20000; outside: ${OUTSIDE_RATE}; cluster: 2000, then 20000`,
    },
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
    numbers: toggle('put the table into loadtest/NUMBERS.md too'),
  }),
  ...goingWith([...Object.keys(LOADS), 'journal', 'outside', 'peek', 'cluster'], {
    rounds: {
      ...whole('N', 'how often each run is repeated; they take turns', [1, 1000]),
      shown: `${ROUNDS}; loads: ${LOAD_ROUNDS}`,
    },
  }),
  ...goingWith(['chaos'], {
    durability: {
      ...form('KIND', 'what a 202 of the relay survives', `one of ${DURABILITIES.join(', ')}`, readDurability),
      shown: 'process and machine in turn',
    },
  }),
  ...goingWith(['hostile', 'peek'], {
    workers: whole('N', 'worker processes of the relay; 0: everything in one process', [0, WORKERS_MAX], 1),
  }),
  ...goingWith(['hostile', 'outside', 'say', 'peek', 'cluster'], {
    seconds: {
      ...whole('N', 'how long each attack lasts, or each load', [1, 3600]),
      shown: `${LOAD_SECONDS}; outside: ${OUTSIDE_SECONDS}; cluster: ${CLUSTER_SECONDS}`,
    },
  }),
  ...goingWith(['outside'], {
    uws: {
      ...text(
        'PATH',
        'a checkout of uWebSockets with its submodule uSockets, to compare with; the variable UWS says the same',
      ),
      variables: ['UWS'],
    },
  }),
  ...goingWith(['hostile', 'peek', 'cluster', 'chaos'], {
    front: oneOf('KIND', 'front of the relay', ['native', 'portable'], 'native'),
  }),
  ...goingWith(['hostile'], {
    admission: oneOf('KIND', 'limits by address of the relay, where it has them', ADMISSIONS, 'open'),
    requests: whole('N', 'requests that the attack fuzz sends, however long it takes', [1, 1_000_000_000]),
  }),
  ...goingWith(['peek', 'relays', 'chaos'], {
    out: {
      ...text('DIR', 'where the tables are written, or the report'),
      shown: 'build/peek, build/relays or build/chaos',
    },
  }),
  ...goingWith(['relays', 'chaos'], {
    relays: {
      ...form(
        'N,…',
        'numbers of relays; chaos: one number',
        `whole numbers from 1 to ${RELAYS_MAX}, like 3,10`,
        readRelays,
      ),
      shown: `${RELAYS_COUNTS.join(',')}; chaos: ${CHAOS_RELAYS}`,
    },
  }),
  ...goingWith(['chaos'], {
    minutes: number('N', 'how long faults are made', [0.1, 1440], CHAOS_MINUTES),
  }),
  ...goingWith(['hostile', 'outside', 'peek', 'relays', 'chaos'], {
    seed: { ...whole('N', 'seed of everything random', [0, 2 ** 31 - 1]), shown: 'the time' },
  }),
};

function readDurability(given: string): (typeof DURABILITIES)[number] | undefined {
  return DURABILITIES.find((durability) => durability === given);
}

function readCounts(given: string): number[] | undefined {
  return readWholes(given, 2, PEEK_DESKTOPS_MAX);
}

function readRelays(given: string): number[] | undefined {
  return readWholes(given, 1, RELAYS_MAX);
}

/** Numbers separated by commas; undefined unless all are whole and within the bounds. */
function readWholes(given: string, least: number, most: number): number[] | undefined {
  const values = given.split(',').map(Number);
  return values.every((value) => Number.isInteger(value) && value >= least && value <= most) ? values : undefined;
}

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [
    `npm run bench -- [${Object.keys(LOADS).join(' | ')}] …`,
    'npm run bench -- journal | turns | frames',
    'npm run bench -- floors [options]',
    'npm run bench -- outside [KIND …] [options]',
    'npm run bench -- say [options]',
    'npm run bench -- peek [options]',
    'npm run bench -- relays [options]',
    'npm run bench -- cluster [options]',
    'npm run bench -- hostile [ATTACK …] [options]',
    'npm run bench -- chaos [FAULT …] [options]',
  ],
  about:
    'Measures what a relayed sprite and a parked poll cost, for each shape of the relay and for the floor, in one run.\n' +
    'Without a name every load is measured; each takes some 20 s a shape.',
  commands: {
    ...Object.fromEntries(Object.entries(LOADS).map(([name, load]) => [name, ['…', load.name] as const])),
    journal: ['', 'what each --durability costs at 2,000 and 20,000 sprites/s, on the native front'],
    turns: [
      '',
      'what a turn costs with the journal, without sockets; how long a recovery takes, and a turn during a compaction',
    ],
    frames: ['', 'what a frame between a worker and the master costs, through shared memory and through the channel'],
    floors: [
      '',
      'the floor and the relay with as many connections as desktops; root and Linux only, in its own network namespace',
    ],
    outside: [
      '[KIND …]',
      `the floor, the native front and uWebSockets under clients that throw over other connections than they poll on, from a cold start, in interleaved rounds; kinds of posters: ${Object.keys(POSTER_KINDS).join(', ')}`,
    ],
    say: [
      '',
      'desktops of one world that talk: sayings heard a second, CPU of each, what is missed, and what sprites notice; cluster and one process',
    ],
    peek: [
      '',
      'desktops of one world that watch each other: CPU of the relay and stages a second, when they move as expected, with noise, and with noise that the relay filters; a table',
    ],
    relays: [
      '',
      'simulate a world of 100 million desktops over many relays: how often relays disagree on a neighbour, how soon they know of a change, what their heartbeats cost; tables',
    ],
    cluster: [
      '',
      'what a sprite costs that crosses from one relay to another, compared with one that stays: one relay without NATS and with it, two and three; needs nats-server',
    ],
    hostile: [
      '[ATTACK …]',
      'attack a relay in every known way, one after the other, with two well-behaved desktops beside; print what they lost, their worst round trip and the memory of the relay; Linux only',
    ],
    chaos: [
      '[FAULT …]',
      'kill, stop, cut off, drain and roll back the relays of a cluster and its NATS at random times, and count every sprite: exit code 1 unless each is in one place at the end; needs nats-server, Linux only',
    ],
  },
  options: OPTIONS,
  notes: [
    '--rounds belongs to the loads, journal, outside, peek and cluster; the other options to floors, outside, say, peek, relays, cluster, hostile and chaos.',
    `Attacks:\n${Object.entries(ATTACKS)
      .map(([name, { about }]) => `  ${name}: ${about}`)
      .join('\n')}`,
    `Faults:\n${Object.entries(FAULTS)
      .map(([name, { about }]) => `  ${name}: ${about}`)
      .join('\n')}`,
  ],
};

type BenchValues = Values<typeof OPTIONS>;

/** The benches by name; each returns the exit code. `words`: what follows the name. Other names are loads. */
const BENCHES: Record<string, (values: BenchValues, words: readonly string[]) => Promise<number>> = {
  journal: async ({ rounds = ROUNDS }) => {
    needNativeFront();
    needEngine();
    await relaying(DURABLE, ['2000/s', '20000/s'], rounds);
    return EXIT.done;
  },
  turns: async () => {
    await turns(whyNoNativeFront() ? {} : addon());
    return EXIT.done;
  },
  frames: async () => {
    needNativeFront();
    await frames();
    return EXIT.done;
  },
  floors: async ({ desktops = FLOORS_DESKTOPS, rate = FLOORS_RATE }) => {
    needNativeFront();
    needEngine();
    await floors({ desktops, rate });
    return EXIT.done;
  },
  outside: async (
    { rate = OUTSIDE_RATE, rounds = ROUNDS, seconds = OUTSIDE_SECONDS, seed = newSeed(), uws },
    kinds,
  ) => {
    refuseUnknown('kind', kinds, POSTER_KINDS);
    needNativeFront();
    const why = buildFloor() ?? buildPosters() ?? (uws === undefined ? undefined : buildUws(uws));
    if (why) throw new Error(`The bench needs the floor and its posters: ${why}`);
    if (uws === undefined) console.error('Without uWebSockets: give a checkout of it as UWS=PATH to compare with it.');
    const shapes = [...NATIVE.toReversed(), ...(uws === undefined ? [] : [UWS_SHAPE])];
    const chosen = (kinds.length > 0 ? kinds : Object.keys(POSTER_KINDS)) as PosterKind[];
    await outside({ shapes, kinds: chosen, rate, rounds, seconds, seed });
    return EXIT.done;
  },
  say: async ({ desktops = SAY_DESKTOPS, speakers = desktops, seconds = LOAD_SECONDS, talk }) => {
    needNativeFront();
    needEngine();
    const shapes = NATIVE.map((shape) => ({
      ...shape,
      flags: ['--max-desktops', String(Math.max(15_000, 2 * desktops))],
    }));
    await say(shapes, { desktops, speakers: Math.min(speakers, desktops), seconds, talk });
    return EXIT.done;
  },
  peek: async ({ counts = PEEK_COUNTS, noise: noisePx, numbers: intoNumbers, rounds = ROUNDS, ...values }) => {
    if (values.front === 'native') needNativeFront('; use --front portable');
    const { bots, seconds = LOAD_SECONDS, out = 'build/peek', front, workers, seed = newSeed() } = values;
    const processes = workers === 0 ? 'one process' : `cluster (${workers} worker${workers === 1 ? '' : 's'})`;
    const shape = { name: `${front} front, ${processes}`, front, workers };
    await peek({ counts, bots, noisePx, rounds, seconds, seed, out, shape, intoNumbers });
    return EXIT.done;
  },
  relays: async ({ relays: counts = RELAYS_COUNTS, out = 'build/relays', seed = newSeed() }) => {
    await relays({ counts, desktops: RELAYS_DESKTOPS, seed, out });
    return EXIT.done;
  },
  cluster: async ({ front, rate, rounds = ROUNDS, seconds = CLUSTER_SECONDS }) => {
    if (front === 'native') needNativeFront('; use --front portable');
    needEngine();
    const why = whyNoNats();
    if (why) throw new Error(`The bench ${why}`);
    await cluster({ front, rates: rate === undefined ? CLUSTER_RATES : [rate], rounds, seconds });
    return EXIT.done;
  },
  chaos: async ({ minutes, relays: counts = [CHAOS_RELAYS], ...values }, faults) => {
    refuseUnknown('fault', faults, FAULTS);
    const [count, ...more] = counts;
    if (more.length > 0 || count > CHAOS_RELAYS_MAX) {
      throw new Misused(`--relays: chaos takes one number from 1 to ${CHAOS_RELAYS_MAX}.`);
    }
    if (values.front === 'native') needNativeFront('; use --front portable');
    const why = whyNoNats();
    if (why) throw new Error(`The bench ${why}`);
    const { front, durability, seed = newSeed(), out = 'build/chaos' } = values;
    if (durability === 'none')
      throw new Misused('--durability: none loses everything with a relay; chaos takes process or machine.');
    return (await chaos({ minutes, relays: count, front, durability, seed, out, faults })) ? EXIT.done : EXIT.failed;
  },
  hostile: async (values, attacks) => {
    refuseUnknown('attack', attacks, ATTACKS);
    if (values.front === 'native') needNativeFront('; use --front portable');
    const { seconds = LOAD_SECONDS } = values;
    return (await hostile({ ...values, seconds, attacks: [...attacks] })) === 0 ? EXIT.done : EXIT.failed;
  },
};

/** Every load that is named, or all of them, against the floor, in every shape that this machine has. */
async function relayLoads(names: readonly string[], rounds: number): Promise<number> {
  refuseUnknown('load', names, LOADS);
  needEngine();
  const why = whyNoNative();
  if (why) console.error(`Without the native front: ${why}.`);
  await relaying(
    why ? PORTABLE : [TWO_WORKERS, ...NATIVE, ...PORTABLE],
    names.length > 0 ? names : Object.keys(LOADS),
    rounds,
  );
  return EXIT.done;
}

function newSeed(): number {
  return Date.now() % 2 ** 31;
}

function refuseUnknown(what: string, names: readonly string[], known: object): void {
  const unknown = names.find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new Misused(`There is no ${what} ${JSON.stringify(unknown)}; there are ${Object.keys(known).join(', ')}.`);
}

function whyNoNative(): string | undefined {
  return buildAddon(process.execPath) ?? whyNoNativeFront();
}

function needNativeFront(remedy = ''): void {
  const why = whyNoNative();
  if (why) throw new Error(`There is no native front: ${why}${remedy}`);
}

function needEngine(): void {
  const why = buildEngine() ?? buildFloor();
  if (why) throw new Error(`The bench needs the swarm's engine and the floor: ${why}`);
}

if (import.meta.main) {
  const code = await runCommand(COMMAND, ({ words, values }) => {
    const [name = '', ...more] = words;
    return Object.hasOwn(BENCHES, name) ? BENCHES[name](values, more) : relayLoads(words, values.rounds ?? LOAD_ROUNDS);
  });
  process.exit(code);
}
