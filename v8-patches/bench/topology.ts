/**
 * Compares the relay's state as objects with the same state as typed arrays: two million desktops with four neighbours each.
 *
 * Both do the same: a desktop sends a message to a neighbour, which stores it until the next one arrives, and some desktops
 * are replaced by new ones. They differ in how a desktop is stored: as objects that refer to each other, or as an index into
 * columns.
 */
import { randomFrom } from '../../tools/bench/random.ts';
import { machine, mib, table } from '../../tools/bench/table.ts';
import { measureCase, type Pauses, paced, settle, watchPauses } from './pauses.ts';

const DESKTOPS = 2_000_000;
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

/** Measures every case, one after the other, and prints the table. */
export async function topologies(): Promise<void> {
  const rows: string[][] = [];
  for (const [layout, flags] of CASES) {
    const pauses = await measureCase(flags, ['topology', layout]);
    rows.push([[layout, ...flags].join(' '), ...columnsOf(pauses)]);
  }
  console.log(`\n${machine()}\n`);
  const title = `${DESKTOPS / 1e6} M desktops, ${MESSAGES_PER_SECOND.toLocaleString('en')} messages/s, ${SECONDS} s`;
  console.log(table([title, ...COLUMNS], rows));
}

const COLUMNS = ['scavenges', 'p50', 'max', 'sum', 'majors', 'longest block', 'gc() at the end', 'heap', 'RSS'];

function columnsOf({ scavenges, majors, longestBlockMs, fullMs, heapBytes, rssBytes }: Pauses): string[] {
  const ms = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
  return [
    ...[String(scavenges.count), ms(scavenges.p50Ms), ms(scavenges.maxMs), ms(scavenges.sumMs)],
    ...[String(majors.count), ms(longestBlockMs), ms(fullMs), mib(heapBytes), mib(rssBytes)],
  ];
}

/** One case; runs in its own process. */
export async function topologyCase(layout: Layout): Promise<Pauses> {
  const topology = layout === 'objects' ? new Objects() : new Columns();
  await settle(topology);
  const random = randomFrom(1); // the same sequence in every case
  let messages = 0;
  const pauses = watchPauses();
  await paced(MESSAGES_PER_SECOND, SECONDS, () => {
    const desktop = Math.floor(random() * DESKTOPS);
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

const STEPS = [DESKTOPS - 1, 1, DESKTOPS - 1024, 1024] as const;

class Objects implements Topology {
  readonly #desktops: LinkedDesktop[] = [];

  constructor() {
    for (let place = 0; place < DESKTOPS; place++) this.#desktops.push(Objects.#create(place));
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
    for (let edge = 0; edge < STEPS.length; edge++) newcomer.neighbours[edge].neighbours[edge ^ 1] = newcomer;
  }

  static #create(place: number): LinkedDesktop {
    return { place, name: `desktop ${place & 1023}`, neighbours: [], message: undefined };
  }

  #link(desktop: LinkedDesktop): void {
    desktop.neighbours = STEPS.map((step) => this.#desktops[(desktop.place + step) % DESKTOPS]);
  }
}

class Columns implements Topology {
  readonly #generation = new Uint32Array(DESKTOPS);
  readonly #waiting = new Uint8Array(DESKTOPS);
  readonly #messages = Buffer.alloc(DESKTOPS * MESSAGE_BYTES);
  readonly #message = Buffer.alloc(MESSAGE_BYTES, 'x');

  throwFrom(place: number, edge: number): void {
    const to = (place + STEPS[edge]) % DESKTOPS;
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
