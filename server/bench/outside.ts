/**
 * What does a relayed sprite cost, measured as users meet a relay, and what does it cost on other servers?
 *
 * Posters (posters/posters.cc, which shares no code with the swarm) park 10,000 polls, each on its own connection, and throw over
 * other connections. So a sprite arrives by another connection than its sender polls on, when the code and the rows for it have left
 * the caches. A run begins cold: its first window includes all that V8 does with new code. CPU is that of all
 * threads of the contender, in ns from the scheduler. Rounds are interleaved, and each ratio is to the floor of the same round.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { FLOOR_SHAPE, type Shape, start } from '../../tools/bench/contender.ts';
import { spread } from '../../tools/bench/spread.ts';
import { machine, table, us } from '../../tools/bench/table.ts';
import { POSTERS, UWS } from './builds.ts';

const DESKTOPS = 10_000;

/** The sprites that the closed loop keeps in flight. */
const IN_FLIGHT = 64;

/** The length of the cold start, which the window `warm` excludes. */
const COLD_SECONDS = 6;

/** How the posters throw, by the names that the command takes. `connections` 0: each desktop that throws has its own. */
export const POSTER_KINDS = {
  pooled: { about: '32 connections, all members', connections: 32, form: 'usual' },
  'name-only': { about: '32 connections, no optional member but the name', connections: 32, form: 'name-only' },
  own: { about: '4,000 desktops throw, each over its own connection; all members', connections: 0, form: 'usual' },
} as const;

export type PosterKind = keyof typeof POSTER_KINDS;

export interface OutsideOptions {
  shapes: readonly Shape[];
  kinds: readonly PosterKind[];
  /** Sprites a second of the open loop. */
  rate: number;
  rounds: number;
  /** Of the window at the rate that excludes the cold start, and of the closed loop. */
  seconds: number;
  seed: number;
}

interface Window {
  caught: number;
  relayUs: number;
  ownUs: number;
  seconds: number;
  latencyUs: { p50: number; p99: number; p999: number; max: number };
}

/** What the posters print. `cold` is all of the open loop, `warm` its part after the cold start. Memory in bytes. */
interface Account {
  rss: { idle: number; joined: number; parked: number; end: number };
  cold: Window;
  warm: Window;
  closed: Window;
  accepted: number;
  refused: number;
  caught: number;
  refusal: string;
}

/** The relay built on uWebSockets, for a contender beside ours. */
export const UWS_SHAPE: Shape = { name: 'uWebSockets', program: UWS };

/** Runs every contender with every kind of poster, so many rounds. Prints one table per kind. */
export async function outside(options: OutsideOptions): Promise<void> {
  const { shapes, kinds, rate, seconds, seed } = options;
  const contenders = [FLOOR_SHAPE, ...shapes];
  console.log(`\n${machine()}, seed ${seed}\n`);
  for (const kind of kinds) {
    const rounds: Account[][] = [];
    for (let round = 0; round < options.rounds; round++) {
      const accounts: Account[] = [];
      for (const shape of contenders) accounts.push(await measure(shape, kind, { ...options, seed: seed + round }));
      rounds.push(accounts);
    }
    console.log(
      `${DESKTOPS.toLocaleString('en')} polls; ${POSTER_KINDS[kind].about}; ${rate}/s for ${COLD_SECONDS} + ${seconds} s, ` +
        `then ${IN_FLIGHT} in flight for ${seconds} s; ${rounds.length} rounds: median (range)\n`,
    );
    const columns = [
      ...['', `CPU-µs at ${rate}/s`, '× floor', 'from cold', '× floor', 'delivered/s', 'p50', 'p99', 'p99.9'],
      ...['CPU-µs, closed', '× floor', 'sprites/s', 'bytes a join', 'bytes a poll', 'lost', 'posters’ cores'],
    ];
    const rows = contenders.map((shape, nth) =>
      rowOf(
        shape,
        rounds.map((accounts) => accounts[nth]),
        rounds.map((accounts) => accounts[0]),
      ),
    );
    console.log(table(columns, rows), '\n');
  }
}

async function measure(
  shape: Shape,
  kind: PosterKind,
  { rate, seconds, seed }: Pick<OutsideOptions, 'rate' | 'seconds' | 'seed'>,
): Promise<Account> {
  const contender = await start(shape);
  try {
    const { connections, form } = POSTER_KINDS[kind];
    const load = [DESKTOPS, connections, form, rate, COLD_SECONDS, seconds, IN_FLIGHT, seconds, seed];
    const words = [contender.api, contender.events, ...load, contender.pids.join(',')].map(String);
    const printed = await text(spawn(POSTERS, words, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
    if (printed === '') throw new Error(`the posters have ended without an account of ${shape.name}`);
    const account: Account = JSON.parse(printed);
    if (account.refused > 0) throw new Error(`${shape.name} refused ${account.refused} sprites: ${account.refusal}`);
    return account;
  } finally {
    await contender.stop();
  }
}

/** The row of one contender; `floors` are the accounts of the floor in the same rounds. */
function rowOf(shape: Shape, accounts: readonly Account[], floors: readonly Account[]): string[] {
  const each = (of: (account: Account) => number, show: (value: number) => string) => spread(accounts.map(of), show);
  const cost = (window: Window) => window.relayUs / window.caught;
  const ratio = (of: (account: Account) => Window) =>
    shape === FLOOR_SHAPE
      ? '1'
      : spread(
          accounts.map((account, round) => cost(of(account)) / cost(of(floors[round]))),
          (value) => value.toFixed(2),
        );
  const one = (value: number) => value.toFixed(1);
  const whole = (value: number) => value.toFixed(0);
  return [
    shape.name,
    each(({ warm }) => cost(warm), one),
    ratio(({ warm }) => warm),
    each(({ cold }) => cost(cold), one),
    ratio(({ cold }) => cold),
    each(({ warm }) => warm.caught / warm.seconds, whole),
    each(({ warm }) => warm.latencyUs.p50, us),
    each(({ warm }) => warm.latencyUs.p99, us),
    each(({ warm }) => warm.latencyUs.p999, us),
    each(({ closed }) => cost(closed), one),
    ratio(({ closed }) => closed),
    each(({ closed }) => closed.caught / closed.seconds, whole),
    each(({ rss }) => (rss.joined - rss.idle) / DESKTOPS, whole),
    each(({ rss }) => (rss.parked - rss.joined) / DESKTOPS, whole),
    whole(accounts.reduce((sum, { accepted, caught }) => sum + accepted - caught, 0)),
    each(
      ({ closed }) => closed.ownUs / closed.seconds / 1e6,
      (value) => value.toFixed(2),
    ),
  ];
}
