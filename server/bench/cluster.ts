/**
 * What does a sprite cost that crosses from one relay to another, compared with one that stays?
 *
 * Two and three relays of one process each share a world through NATS. The same desktops throw in both runs, those at the border of their
 * relay: first to neighbours at their own relay only, then to those at other relays only. So the runs differ in nothing else. One relay
 * alone, without NATS and with it, stands beside them; there all desktops throw. Rounds are interleaved, and each ratio is of one round.
 * CPU is user + system time of all relays and, apart, of nats-server, for each delivered sprite.
 */
import { readFileSync } from 'node:fs';
import { type Cluster, startCluster } from '../../tools/bench/cluster.ts';
import { type Shape, start } from '../../tools/bench/contender.ts';
import { type Account, runEngine } from '../../tools/bench/engine_run.ts';
import { spread } from '../../tools/bench/spread.ts';
import { machine, table, us } from '../../tools/bench/table.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { parseThread } from '../metrics/proc.ts';

/** Some 256 of them are at the border of two relays, so that each may throw its part of 20,000 a second. */
const DESKTOPS = 4_096;

/** Time for V8 to compile the hot code, and for each desktop to learn where its four edges lead, in seconds. */
const WARM_UP_SECONDS_MIN = 5;
const warmUpSeconds = (rate: number) => Math.max(WARM_UP_SECONDS_MIN, Math.ceil((6 * DESKTOPS) / rate));

export interface ClusterOptions {
  front: 'native' | 'portable';
  /** Sprites a second; one table each. */
  rates: readonly number[];
  rounds: number;
  /** Of each window. */
  seconds: number;
}

type Toward = 'any' | 'within' | 'across';

interface Row {
  name: string;
  relays: number;
  hasNats: boolean;
  toward: Toward;
}

const ROWS: readonly Row[] = [
  { name: 'one relay, without NATS', relays: 1, hasNats: false, toward: 'any' },
  { name: 'one relay, alone with NATS', relays: 1, hasNats: true, toward: 'any' },
  ...[2, 3].flatMap((relays) =>
    (['within', 'across'] as const).map((toward) => ({
      name: `${relays} relays, ${toward}`,
      relays,
      toward,
      hasNats: true,
    })),
  ),
];

/** One row in one round. CPU is in µs for each delivered sprite. */
interface Measured {
  account: Account;
  natsUs: number;
  /** Share of the sprites that went to another relay. */
  across: number;
  /** Sprites in a frame between relays; 0 without any. */
  perFrame: number;
}

/** What relays and NATS have counted until now. */
interface Reading {
  natsSeconds: number;
  passed: number;
  frames: number;
}

/** Prints a table for each rate: medians, with the range. */
export async function cluster({ front, rates, rounds, seconds }: ClusterOptions): Promise<void> {
  const shape = { name: `${front}, one process`, front, workers: 0, flags: ['--max-desktops', '15000'] };
  console.log(`\n${machine()}, ${shape.name} each\n`);
  for (const rate of rates) {
    const measured = ROWS.map((): Measured[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [n, row] of ROWS.entries()) measured[n].push(await measure(shape, row, rate, seconds));
    }
    console.log(`${rate.toLocaleString('en')} sprites/s, ${DESKTOPS} desktops, ${rounds} × ${seconds} s\n`);
    console.log(
      table(
        [
          ...[
            '',
            'relays CPU-µs/sprite',
            '(user)',
            'NATS CPU-µs',
            'to another relay',
            'sprites/frame',
            'refused',
            'p50',
          ],
          ...['p99', 'sprites/s', 'swarm CPU-µs'],
        ],
        ROWS.map((row, n) => cellsOf(row, measured[n])),
      ),
    );
    console.log(`\n${ratios(measured).join('\n')}\n`);
  }
}

async function open(
  shape: Shape,
  { relays, hasNats }: Row,
): Promise<Pick<Cluster, 'relays' | 'stop'> & { nats?: number }> {
  if (hasNats) {
    const started = await startCluster(shape, relays);
    return { ...started, nats: started.nats.pid };
  }
  const relay = await start(shape);
  return { relays: [relay], stop: () => relay.stop() };
}

async function measure(shape: Shape, row: Row, rate: number, seconds: number): Promise<Measured> {
  const { relays, nats, stop } = await open(shape, row);
  const read = async (): Promise<Reading> => {
    const natsSeconds = nats === undefined ? 0 : cpuSeconds(nats);
    const metrics = await Promise.all(relays.map((relay) => relay.metrics()));
    const sum = (name: string) => metrics.reduce((all, one) => all + (one.get(name) ?? 0), 0);
    return { natsSeconds, passed: sum('sprites_peers_passed_total'), frames: sum('sprites_peers_frames_total') };
  };
  try {
    const readings: Promise<Reading>[] = [];
    const load: Partial<EnginePlan> = {
      ...{ mix: { throwing: DESKTOPS }, load: { kind: 'rate', perSecond: rate } },
      ...{ warmUp: warmUpSeconds(rate), duration: seconds, drain: 20 },
      ...(row.relays > 1 && { toward: row.toward }),
    };
    const account = await runEngine(relays, load, (phase) => {
      if (phase === 'measure' || phase === 'drain') readings.push(read());
    });
    const [before, after] = await Promise.all(readings);
    const delivered = account.window.deliveredPerS * account.window.seconds;
    const [passed, frames] = [after.passed - before.passed, after.frames - before.frames];
    return {
      account,
      natsUs: ((after.natsSeconds - before.natsSeconds) * 1e6) / delivered,
      across: passed / delivered,
      perFrame: frames === 0 ? 0 : passed / frames,
    };
  } finally {
    await stop();
  }
}

/** The CPU time of all threads of a process, also of those that have ended. */
function cpuSeconds(pid: number): number {
  return parseThread(readFileSync(`/proc/${pid}/stat`, 'utf8'), pid, pid).cpuSeconds;
}

function cellsOf(row: Row, rounds: readonly Measured[]): string[] {
  const of = (figure: (one: Measured) => number, show: (value: number) => string) => spread(rounds.map(figure), show);
  const one = (value: number) => value.toFixed(1);
  return [
    row.name,
    of(({ account }) => account.relay.cpuUsPerSprite, one),
    of(({ account }) => account.relay.userUsPerSprite, one),
    row.hasNats ? of(({ natsUs }) => natsUs, one) : '',
    row.relays > 1
      ? of(
          ({ across }) => 100 * across,
          (value) => `${value.toFixed(1)} %`,
        )
      : '',
    row.toward === 'across' ? of(({ perFrame }) => perFrame, one) : '',
    of(
      ({ account }) => (100 * account.refused) / account.sent,
      (value) => `${value.toFixed(2)} %`,
    ),
    of(({ account }) => account.latencyUs.p50, us),
    of(({ account }) => account.latencyUs.p99, us),
    of(
      ({ account }) => account.window.deliveredPerS,
      (value) => value.toFixed(0),
    ),
    of(({ account }) => account.swarm.cpuUsPerSprite, one),
  ];
}

/** What a sprite across relays costs, as a multiple of one within. */
function ratios(measured: readonly Measured[][]): string[] {
  return [2, 3].map((relays) => {
    const roundsOf = (toward: Toward) =>
      measured[ROWS.findIndex((row) => row.relays === relays && row.toward === toward)];
    const [within, across] = [roundsOf('within'), roundsOf('across')];
    const ratio = (cost: (one: Measured) => number) =>
      spread(
        across.map((one, round) => cost(one) / cost(within[round])),
        (value) => value.toFixed(2),
      );
    const relayUs = ({ account }: Measured) => account.relay.cpuUsPerSprite;
    const whole = (one: Measured) => relayUs(one) + one.natsUs;
    return `${relays} relays: a sprite across costs ${ratio(relayUs)} × one within, with NATS ${ratio(whole)} × (goal: at most 2).`;
  });
}
