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
  type Values,
  whole,
} from '../../tools/command.ts';
import { WORKERS_MAX } from '../bin/options.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { DURABILITIES } from '../roles/journaling.ts';
import { buildPosters, buildUws } from './builds.ts';
import { FAULTS } from './chaos/faults.ts';
import { chaos } from './chaos.ts';
import { cluster } from './cluster.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { ADMISSIONS, hostile } from './hostile.ts';
import { outside, POSTER_KINDS, type PosterKind, UWS_SHAPE } from './outside.ts';
import { LOADS, relaying } from './relaying.ts';
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

/** Rounds without which there is no interval. */
const ROUNDS = 3;
/** Of a load: each takes a while for every shape. */
const LOAD_ROUNDS = 1;

/** Relays of `chaos`, and how long it makes faults. */
const CHAOS_RELAYS = 3;
const CHAOS_RELAYS_MAX = 8;
const CHAOS_MINUTES = 5;

/** Sprites a second of `cluster`, and the seconds of each window. */
const CLUSTER_RATES = [2000, 20_000];
const CLUSTER_SECONDS = 10;

/** Of each window of `outside`, in seconds. Each attack of `hostile` lasts longer. */
const OUTSIDE_SECONDS = 8;
const OUTSIDE_RATE = 2000;
const ATTACK_SECONDS = 30;

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
  ...goingWith(['outside', 'cluster'], {
    rate: {
      ...number('R', 'sprites a second', [1, 10_000_000]),
      shown: `outside: ${OUTSIDE_RATE}; cluster: 2000, then 20000`,
    },
  }),
  ...goingWith([...Object.keys(LOADS), 'journal', 'outside', 'cluster'], {
    rounds: {
      ...whole('N', 'how often each run is repeated; they take turns', [1, 1000]),
      shown: `${ROUNDS}; loads: ${LOAD_ROUNDS}`,
    },
  }),
  ...goingWith(['hostile', 'outside', 'cluster'], {
    seconds: {
      ...whole('N', 'how long each attack lasts, or each window', [1, 3600]),
      shown: `${ATTACK_SECONDS}; outside: ${OUTSIDE_SECONDS}; cluster: ${CLUSTER_SECONDS}`,
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
  ...goingWith(['hostile', 'cluster', 'chaos'], {
    front: oneOf('KIND', 'front of the relay', ['native', 'portable'], 'native'),
  }),
  ...goingWith(['hostile'], {
    workers: whole('N', 'worker processes of the relay; 0: everything in one process', [0, WORKERS_MAX], 1),
    admission: oneOf('KIND', 'limits by address of the relay, where it has them', ADMISSIONS, 'open'),
    requests: whole('N', 'requests that the attack fuzz sends, however long it takes', [1, 1_000_000_000]),
  }),
  ...goingWith(['chaos'], {
    durability: {
      ...form('KIND', 'what a 202 of the relay survives', `one of ${DURABILITIES.join(', ')}`, readDurability),
      shown: 'process and machine in turn',
    },
    out: text('DIR', 'where the report is written', 'build/chaos'),
    relays: whole('N', 'relays of the cluster', [1, CHAOS_RELAYS_MAX], CHAOS_RELAYS),
    minutes: number('N', 'how long faults are made', [0.1, 1440], CHAOS_MINUTES),
  }),
  ...goingWith(['hostile', 'outside', 'chaos'], {
    seed: { ...whole('N', 'seed of everything random', [0, 2 ** 31 - 1]), shown: 'the time' },
  }),
};

function readDurability(given: string): (typeof DURABILITIES)[number] | undefined {
  return DURABILITIES.find((durability) => durability === given);
}

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [
    `npm run bench -- [${Object.keys(LOADS).join(' | ')}] …`,
    'npm run bench -- journal | turns',
    'npm run bench -- outside [KIND …] [options]',
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
    outside: [
      '[KIND …]',
      `the floor, the native front and uWebSockets under clients that throw over other connections than they poll on, from a cold start, in interleaved rounds; kinds of posters: ${Object.keys(POSTER_KINDS).join(', ')}`,
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
    '--rounds belongs to the loads, journal, outside and cluster; the other options to outside, cluster, hostile and chaos.',
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
  cluster: async ({ front, rate, rounds = ROUNDS, seconds = CLUSTER_SECONDS }) => {
    if (front === 'native') needNativeFront('; use --front portable');
    needEngine();
    const why = whyNoNats();
    if (why) throw new Error(`The bench ${why}`);
    await cluster({ front, rates: rate === undefined ? CLUSTER_RATES : [rate], rounds, seconds });
    return EXIT.done;
  },
  chaos: async ({ minutes, relays: count, ...values }, faults) => {
    refuseUnknown('fault', faults, FAULTS);
    if (values.front === 'native') needNativeFront('; use --front portable');
    const why = whyNoNats();
    if (why) throw new Error(`The bench ${why}`);
    const { front, durability, seed = newSeed(), out } = values;
    if (durability === 'none')
      throw new Misused('--durability: none loses everything with a relay; chaos takes process or machine.');
    return (await chaos({ minutes, relays: count, front, durability, seed, out, faults })) ? EXIT.done : EXIT.failed;
  },
  hostile: async (values, attacks) => {
    refuseUnknown('attack', attacks, ATTACKS);
    if (values.front === 'native') needNativeFront('; use --front portable');
    const { seconds = ATTACK_SECONDS } = values;
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
