/**
 * What does a saying cost that a thousand desktops hear, and do sprites notice?
 *
 * A crowd (crowd/crowd.cc) plays the desktops of one private world, which talk: once a second each, then more often until something
 * breaks, which is named. Another one throws sprites in a world of its own, in a process of its own: what the first one takes to read a
 * million sayings a second must not count as the latency of sprites. Every figure is from the same relay, one load after the other.
 * CPU is user + system time of all processes of the relay in the window, the sprites and the requests of the speakers included.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
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

/** Runs both crowds. The account is that of the talking one, with the sprites of the other. */
async function run(contender: Contender, { desktops, speakers, seconds }: SayOptions, talk: number): Promise<Account> {
  const [talking, throwing] = await Promise.all([
    play(contender, [desktops, speakers, talk, 0, WARM_UP_SECONDS, seconds]),
    play(contender, [THROWERS, THROWERS, 0, THROWS, WARM_UP_SECONDS, seconds]),
  ]);
  const { throws, caughtUs } = throwing;
  return { ...talking, throws, caughtUs, refusal: talking.refusal || throwing.refusal };
}

async function play(contender: Contender, load: readonly number[]): Promise<Account> {
  const numbers = [contender.api, contender.events, ...load];
  const crowd = spawn(CROWD, [...numbers.map(String), contender.pids.join(',')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await text(crowd.stdout);
  if (printed === '') throw new Error('the crowd has ended without an account');
  return JSON.parse(printed);
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
