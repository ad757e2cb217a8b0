/**
 * Compares the relay's state as objects with the same state as typed arrays: desktops with four neighbours each.
 *
 * Both do the same: a desktop sends a message to a neighbour, which stores it until the next one arrives, and some desktops
 * are replaced by new ones. They differ in how a desktop is stored: as objects that refer to each other, or as an index into
 * columns.
 */
import { randomFrom } from '../../tools/bench/random.ts';
import { spread } from '../../tools/bench/spread.ts';
import { machine, mib, table } from '../../tools/bench/table.ts';
import { measureCase, type Pauses, paced, settle, watchPauses } from './pauses.ts';

/** Typed arrays hold their messages in one Buffer, which has 4 GiB at most. */
export const DESKTOPS_MAX = 60_000_000;

const MESSAGES_PER_SECOND = 100_000;
/** After this many messages one desktop is replaced by a new one: 10,000 a second. */
const MESSAGES_PER_NEWCOMER = 10;
const SECONDS = 10;
const MESSAGE_BYTES = 64;

export const LAYOUTS = ['objects', 'arrays'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** The operations of both layouts. */
interface Topology {
  throwFrom(desktop: number, edge: number): void;
  replace(desktop: number): void;
}

const CASES: [Layout, string[]][] = [
  ['objects', []],
  ['objects', ['--max-semi-space-size=16']],
  ['objects', ['--max-semi-space-size=64']],
  ['objects', ['--max-semi-space-size=256']],
  ['arrays', []],
];

export interface TopologyOptions {
  desktops: number;
  /** The old space of each case; V8's own when left out. */
  heapMiB?: number;
  rounds: number;
}

/** Measures every case, one after the other, as often as there are rounds, and prints the table: medians, with the range. */
export async function topologies({ desktops, heapMiB, rounds }: TopologyOptions): Promise<void> {
  const heap = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`];
  const measured = CASES.map((): Pauses[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, [layout, flags]] of CASES.entries()) {
      measured[index].push(await measureCase([...heap, ...flags], ['topology', layout, String(desktops)]));
    }
  }
  const rows = CASES.map(([layout, flags], index) => [[layout, ...flags].join(' '), ...columnsOf(measured[index])]);
  console.log(`\n${machine()}\n`);
  const all = [
    `${desktops / 1e6} M desktops`,
    `${MESSAGES_PER_SECOND.toLocaleString('en')} messages/s`,
    `${rounds} × ${SECONDS} s`,
    ...heap,
  ];
  const title = all.join(', ');
  console.log(table([title, ...COLUMNS], rows));
}

const COLUMNS = ['scavenges', 'p50', 'max', 'sum', 'majors', 'longest block', 'gc() at the end', 'heap', 'RSS'];

function columnsOf(runs: readonly Pauses[]): string[] {
  const ms = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
  const of = (figure: (pauses: Pauses) => number, show: (value: number) => string) => spread(runs.map(figure), show);
  return [
    of(({ scavenges }) => scavenges.count, String),
    of(({ scavenges }) => scavenges.p50Ms, ms),
    of(({ scavenges }) => scavenges.maxMs, ms),
    of(({ scavenges }) => scavenges.sumMs, ms),
    of(({ majors }) => majors.count, String),
    of(({ longestBlockMs }) => longestBlockMs, ms),
    of(({ fullMs }) => fullMs, ms),
    of(({ heapBytes }) => heapBytes, mib),
    of(({ rssBytes }) => rssBytes, mib),
  ];
}

/** One case; runs in its own process. */
export async function topologyCase(layout: Layout, desktops: number): Promise<Pauses> {
  const topology = layout === 'objects' ? new Objects(desktops) : new Columns(desktops);
  await settle(topology);
  const random = randomFrom(1); // the same sequence in every case
  let messages = 0;
  const pauses = watchPauses();
  await paced(MESSAGES_PER_SECOND, SECONDS, () => {
    const desktop = Math.floor(random() * desktops);
    topology.throwFrom(desktop, Math.floor(random() * 4));
    if (++messages % MESSAGES_PER_NEWCOMER === 0) topology.replace(desktop);
  });
  return pauses.end(messages);
}

interface LinkedDesktop {
  place: number;
  name: string;
  neighbours: LinkedDesktop[];
  message: object | undefined;
}

/** From a place to its four neighbours. */
const stepsOf = (desktops: number) => [desktops - 1, 1, desktops - 1024, 1024] as const;

class Objects implements Topology {
  readonly #desktops: LinkedDesktop[] = [];
  readonly #steps: readonly number[];

  constructor(desktops: number) {
    this.#steps = stepsOf(desktops);
    for (let place = 0; place < desktops; place++) this.#desktops.push(Objects.#create(place));
    for (const desktop of this.#desktops) this.#link(desktop);
  }

  throwFrom(place: number, edge: number): void {
    const from = this.#desktops[place];
    from.neighbours[edge].message = { from, edge, at: 0.25, vx: 900, vy: -50, sprite: { name: from.name, scale: 2 } };
  }

  replace(place: number): void {
    const newcomer = Objects.#create(place);
    this.#desktops[place] = newcomer;
    this.#link(newcomer);
    for (let edge = 0; edge < this.#steps.length; edge++) newcomer.neighbours[edge].neighbours[edge ^ 1] = newcomer;
  }

  static #create(place: number): LinkedDesktop {
    return { place, name: `desktop ${place & 1023}`, neighbours: [], message: undefined };
  }

  #link(desktop: LinkedDesktop): void {
    desktop.neighbours = this.#steps.map((step) => this.#desktops[(desktop.place + step) % this.#desktops.length]);
  }
}

class Columns implements Topology {
  readonly #generation: Uint32Array;
  readonly #waiting: Uint8Array;
  readonly #messages: Buffer;
  readonly #message = Buffer.alloc(MESSAGE_BYTES, 'x');
  readonly #steps: readonly number[];

  constructor(desktops: number) {
    this.#steps = stepsOf(desktops);
    this.#generation = new Uint32Array(desktops);
    this.#waiting = new Uint8Array(desktops);
    this.#messages = Buffer.alloc(desktops * MESSAGE_BYTES);
  }

  throwFrom(place: number, edge: number): void {
    const to = (place + this.#steps[edge]) % this.#generation.length;
    this.#message.writeUInt32LE(place, 0);
    this.#message[4] = edge;
    this.#message.copy(this.#messages, to * MESSAGE_BYTES);
    this.#waiting[to] = 1;
  }

  replace(place: number): void {
    this.#generation[place]++;
    this.#waiting[place] = 0;
  }
}
