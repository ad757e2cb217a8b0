/**
 * What does a saying cost that a thousand desktops hear, and do sprites notice?
 *
 * The swarm's engine plays the desktops of one private world, which talk: once a second each, then more often until something
 * breaks, which is named. Another one throws sprites in a world of its own, in processes of its own: what the first one takes to read a
 * million sayings a second must not count as the latency of sprites. Both begin together. Every figure is from the same relay, one load
 * after the other. A saying that is lost without a word, or heard twice, ends the bench, and so does a lost sprite.
 * CPU is user + system time of all processes of the relay in the window, the sprites and the requests of the speakers included.
 */
import { type Contender, type Shape, start } from '../../tools/bench/contender.ts';
import { type Account, runTogether } from '../../tools/bench/engine_run.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';

/** Desktops that throw, and their sprites a second all together. */
const THROWERS = 64;
const THROWS = 100;

const WARM_UP_SECONDS = 3;

/** Lines a second of each speaker: what the bench is about, and then until it breaks. */
const TALK = [1, 1.5, 2];

/** The accounts of both engines. */
interface Heard {
  talking: Account;
  throwing: Account;
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
        const heard = await run(contender, options, talk);
        rows.push(rowOf(talk, options, heard, quiet));
        if (breakOf(heard) !== '') break;
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
            'swarm cores',
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

let runs = 0;

async function run(contender: Contender, { desktops, speakers, seconds }: SayOptions, talk: number): Promise<Heard> {
  // The desktops of an earlier run may still be in their world.
  runs++;
  const phases = { warmUp: WARM_UP_SECONDS, duration: seconds, leave: true };
  const mix = talk === 0 ? { sitting: desktops } : { talking: speakers, sitting: desktops - speakers };
  const load = { kind: 'rate', perSecond: THROWS } as const;
  const [talking, throwing] = await runTogether([
    [contender, { world: `talking ${runs}`, mix, talkRate: talk || 1, ...phases }],
    [contender, { world: `throwing ${runs}`, mix: { throwing: THROWERS }, load, ...phases }],
  ]);
  return { talking, throwing };
}

/** The first thing that did not hold; empty when everything did. */
function breakOf({ talking: { sayings, otherRefusedByCode, limit, limitReason }, throwing }: Heard): string {
  if (throwing.refused > 0) return 'sprites refused';
  if (sayings.refused > 0) return `sayings refused: ${Object.keys(otherRefusedByCode)}`;
  if (sayings.missed > 0) return 'hearers miss sayings';
  if (sayings.skipped > 0) return 'sayings are answered too late';
  return limit === 'swarm' ? `the swarm: ${limitReason}` : '';
}

function rowOf(talk: number, { speakers, desktops }: SayOptions, heard: Heard, quiet: Heard): string[] {
  const { window, relay, swarm, sayings, hearingUs } = heard.talking;
  const { latencyUs } = heard.throwing;
  const perSecond = sayings.heardInWindow / window.seconds;
  return [
    talk === 0 ? 'nobody talks' : `${talk}/s each`,
    (talk * speakers * Math.min(desktops, HEARD_MAX)).toFixed(0),
    perSecond.toFixed(0),
    talk === 0 ? '' : ((relay.cpuCores * 1e6) / perSecond).toFixed(2),
    relay.cpuCores.toFixed(2),
    us(hearingUs.p50),
    us(hearingUs.p99),
    String(sayings.missed),
    String(sayings.refused),
    mib(relay.rssBytes.end),
    us(latencyUs.p50),
    us(latencyUs.p99),
    (latencyUs.p99 / quiet.throwing.latencyUs.p99).toFixed(1),
    swarm.cpuCores.toFixed(2),
    breakOf(heard),
  ];
}

/** Desktops that hear one saying: HEARERS_MAX of the relay. */
const HEARD_MAX = 1024;
