/**
 * What does a saying cost that a thousand desktops hear, and do sprites notice?
 *
 * A crowd (crowd/crowd.cc) plays the desktops of one private world, which talk: once a second each, then more often until something
 * breaks, which is named. Another one throws sprites in a world of its own, in a process of its own: what the first one takes to read a
 * million sayings a second must not count as the latency of sprites. A world that is larger than the files of one process allow has
 * several talking crowds, which begin together; the first one has the speakers. Every figure is from the same relay, one load after the other.
 * CPU is user + system time of all processes of the relay in the window, the sprites and the requests of the speakers included.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Contender, type Shape, start } from '../../tools/bench/contender.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';
import { CROWD } from '../../tools/build.js';

/** Desktops that throw, and their sprites a second all together. */
const THROWERS = 64;
const THROWS = 100;

const WARM_UP_SECONDS = 3;

/** Lines a second of each speaker: what the bench is about, and then until it breaks. */
const TALK = [1, 1.5, 2];

/** What a crowd prints: counts of the whole run, heard and CPU of the window only, times in µs. */
interface Account {
  seconds: number;
  heard: number;
  missed: number;
  batches: number;
  bytes: number;
  sayings: { due: number; accepted: number; refused: number };
  heardUs: { p50: number; p99: number; max: number };
  throws: { due: number; accepted: number; refused: number; caught: number };
  caughtUs: { p50: number; p99: number; max: number };
  refusal: string;
  relay: { cpuUs: number; rssBytes: number };
  crowd: { cpuUs: number };
}

export interface SayOptions {
  desktops: number;
  speakers: number;
  seconds: number;
  /** Lines a second of each speaker; undefined: TALK, one after the other. */
  talk: number | undefined;
}

/** Runs every load against each shape. Prints one table per shape. */
export async function say(shapes: readonly Shape[], options: SayOptions): Promise<void> {
  const { desktops, speakers, seconds } = options;
  console.log(`\n${machine()}\n`);
  console.log(
    `${desktops} desktops in one world, ${speakers} speakers, ${THROWS} sprites/s in another, ${seconds} s each\n`,
  );
  for (const shape of shapes) {
    const contender = await start(shape);
    try {
      const quiet = await run(contender, options, 0);
      const rows = [rowOf(0, options, quiet, quiet)];
      for (const talk of options.talk === undefined ? TALK : [options.talk]) {
        const account = await run(contender, options, talk);
        rows.push(rowOf(talk, options, account, quiet));
        if (breakOf(account) !== '') break;
      }
      console.log(
        table(
          [
            shape.name,
            'offered/s',
            'heard/s',
            'CPU-µs each',
            'cores',
            'p50',
            'p99',
            'missed',
            'refused',
            'RSS',
            'sprites p50',
            'p99',
            '× quiet',
            'lost',
            'crowd cores',
            'what breaks',
          ],
          rows,
        ),
        '\n',
      );
    } finally {
      await contender.stop();
    }
  }
}

/** Desktops of one crowd, which is one process: their connections, and some for its requests, are files of it. */
export const CROWD_DESKTOPS_MAX = 15_000;

let runs = 0;

/**
 * Runs all crowds. The account is that of the talking ones, with the sprites of the other. With several, the latency is the one of the crowd
 * in which it is longest, because the nearest 1,024 may all be in one crowd.
 */
async function run(contender: Contender, { desktops, speakers, seconds }: SayOptions, talk: number): Promise<Account> {
  // The desktops of an earlier run may still be in their world.
  runs++;
  const phases = [WARM_UP_SECONDS, seconds];
  const throwing = new Crowd(contender, `throwing ${runs}`, 1, [THROWERS, THROWERS, 0, THROWS, ...phases]);
  const talking: Crowd[] = [];
  for (let left = desktops; left > 0; left -= CROWD_DESKTOPS_MAX) {
    const isFirst = talking.length === 0;
    const load = [Math.min(left, CROWD_DESKTOPS_MAX), isFirst ? speakers : 0, isFirst ? talk : 0, 0, ...phases];
    talking.push(new Crowd(contender, `talking ${runs}`, 2 + talking.length, load));
  }
  const crowds = [throwing, ...talking];
  await Promise.all(crowds.map((crowd) => crowd.ready));
  for (const crowd of crowds) crowd.begin();
  const [{ throws, caughtUs, refusal }, first, ...others] = await Promise.all(crowds.map((crowd) => crowd.account));
  return others.reduce(sumOf, { ...first, throws, caughtUs, refusal: first.refusal || refusal });
}

function sumOf(sum: Account, { heard, missed, batches, bytes, heardUs, refusal, crowd }: Account): Account {
  return {
    ...sum,
    heard: sum.heard + heard,
    missed: sum.missed + missed,
    batches: sum.batches + batches,
    bytes: sum.bytes + bytes,
    heardUs: heardUs.p99 > sum.heardUs.p99 ? heardUs : sum.heardUs,
    refusal: sum.refusal || refusal,
    crowd: { cpuUs: sum.crowd.cpuUs + crowd.cpuUs },
  };
}

/** One process of the load. */
class Crowd {
  /** Resolves when all its desktops have joined. */
  readonly ready: Promise<void>;
  readonly account: Promise<Account>;
  readonly #begin: () => void;

  constructor(contender: Contender, world: string, source: number, load: readonly number[]) {
    const at = [contender.api, contender.events, world, source, ...load].map(String);
    const crowd = spawn(CROWD, [...at, contender.pids.join(',')], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#begin = () => crowd.stdin.end('\n');
    const lines = createInterface({ input: crowd.stdout })[Symbol.asyncIterator]();
    const next = async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error('the crowd has ended without an account');
      return value;
    };
    this.ready = next().then(() => {});
    this.account = this.ready.then(next).then(JSON.parse);
  }

  begin(): void {
    this.#begin();
  }
}

/** The first thing that did not hold; empty when everything did. */
function breakOf({ sayings, missed, throws, refusal }: Account): string {
  if (throws.refused > 0) return `sprites refused: ${refusal}`;
  if (throws.caught < throws.accepted) return 'sprites not caught in time';
  if (sayings.refused > 0) return `sayings refused: ${refusal}`;
  if (missed > 0) return 'hearers miss sayings';
  if (sayings.accepted < sayings.due) return 'sayings are answered too late';
  return '';
}

function rowOf(talk: number, { speakers, desktops }: SayOptions, account: Account, quiet: Account): string[] {
  const { heard, seconds, relay, crowd, heardUs, caughtUs, throws } = account;
  const each = talk === 0 ? '' : (relay.cpuUs / heard).toFixed(2);
  return [
    talk === 0 ? 'nobody talks' : `${talk}/s each`,
    (talk * speakers * Math.min(desktops, HEARD_MAX)).toFixed(0),
    (heard / seconds).toFixed(0),
    each,
    (relay.cpuUs / seconds / 1e6).toFixed(2),
    us(heardUs.p50),
    us(heardUs.p99),
    String(account.missed),
    String(account.sayings.refused),
    mib(relay.rssBytes),
    us(caughtUs.p50),
    us(caughtUs.p99),
    (caughtUs.p99 / quiet.caughtUs.p99).toFixed(1),
    String(throws.accepted - throws.caught),
    (crowd.cpuUs / seconds / 1e6).toFixed(2),
    breakOf(account),
  ];
}

/** Desktops that hear one saying: HEARERS_MAX of the relay. */
const HEARD_MAX = 1024;
