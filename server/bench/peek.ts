/**
 * What does peeking cost the relay, when bots move as expected, when their positions tremble, and when the relay filters that?
 *
 * Bots (peek_bots.ts) of one world watch each other. For each number of desktops there are three kinds of runs: `stable`, in which bots post
 * only what could not be predicted; `noisy`, in which they tremble and the relay forwards everything; and `noisy, filtered`, the same
 * with the filter of the relay. The runs of a round are one after the other, each on a new relay, and rounds repeat them in another
 * order, so that a slow minute of the machine does not count against one kind only. CPU is user + system time of all processes of the relay in the
 * window; intervals are Student's, 95 %.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Contender, type Shape, start } from '../../tools/bench/contender.ts';
import { type Interval, intervalOf } from '../../tools/bench/student.ts';
import { machine, table } from '../../tools/bench/table.ts';
import type { Bots, BotsAccount, BotsOptions } from './peek_bots.ts';
import { processCpuSeconds } from './process_cpu.ts';

export const KINDS = ['stable', 'noisy', 'noisy, filtered'] as const;
type Kind = (typeof KINDS)[number];

const WARM_UP_SECONDS = 3;

/** Desktops that one process of bots plays. */
const DESKTOPS_PER_PROCESS_MAX = 1000;

const BOTS_PROGRAM = join(import.meta.dirname, 'peek_bots.ts');
const NUMBERS = join(import.meta.dirname, '../../loadtest/NUMBERS.md');
const HEADING = '## What peeking costs';

export interface PeekOptions {
  /** Numbers of desktops. */
  counts: readonly number[];
  bots: Bots;
  noisePx: number;
  rounds: number;
  seconds: number;
  seed: number;
  /** Where the table is written. */
  out: string;
  /** Whether it is also put into loadtest/NUMBERS.md. */
  intoNumbers: boolean;
  shape: Shape;
}

/** One run, everything in a second. */
interface Run {
  /** Share of one core. */
  cpu: number;
  due: number;
  accepted: number;
  refused: number;
  forwarded: number;
  seen: number;
}

export async function peek(options: PeekOptions): Promise<void> {
  const runs = new Map<string, Run[]>();
  mkdirSync(options.out, { recursive: true });
  for (let round = 0; round < options.rounds; round++) {
    for (const count of options.counts) {
      // Another kind comes first in each round.
      for (let turn = 0; turn < KINDS.length; turn++) {
        const kind = KINDS[(turn + round) % KINDS.length];
        const run = await runOnce(options, kind, count, round);
        const key = keyOf(kind, count);
        runs.set(key, [...(runs.get(key) ?? []), run]);
        console.error(
          `round ${round + 1}/${options.rounds}: ${count} desktops, ${kind}: ${percent(run.cpu)} of a core`,
        );
        // A bench that is ended early leaves what it has measured.
        const measured = JSON.stringify(Object.fromEntries(runs), null, 1);
        writeFileSync(join(options.out, 'peek.json'), `${measured}\n`);
      }
    }
  }
  const text = reportOf(options, runs);
  writeFileSync(join(options.out, 'peek.md'), `${text}\n`);
  console.log(`\n${text}`);
  if (options.intoNumbers)
    writeFileSync(NUMBERS, withSection(readFileSync(NUMBERS, 'utf8'), `${HEADING}\n\n${text}\n`));
}

const keyOf = (kind: Kind, count: number): string => `${count} ${kind}`;

async function runOnce(options: PeekOptions, kind: Kind, count: number, round: number): Promise<Run> {
  const flags = [...(options.shape.flags ?? []), ...(kind === 'noisy, filtered' ? [] : ['--stage-tolerance', 'off'])];
  const relay = await start({ ...options.shape, flags });
  try {
    const processes = Math.ceil(count / DESKTOPS_PER_PROCESS_MAX);
    const parts = Array.from({ length: processes }, (_, part) => {
      const desktops = Math.floor(count / processes) + (part < count % processes ? 1 : 0);
      const seed = options.seed + round * processes + part;
      const noisePx = kind === 'stable' ? 0 : options.noisePx;
      const { bots, seconds } = options;
      return { api: relay.api, world: 'peek', desktops, bots, noisePx, seconds, warmUpSeconds: WARM_UP_SECONDS, seed };
    });
    return await measure(relay, parts);
  } finally {
    await relay.stop();
  }
}

/** Plays all parts, and measures the relay from the moment at which the windows of all have begun until all have ended. */
async function measure(relay: Contender, parts: readonly BotsOptions[]): Promise<Run> {
  const players = parts.map((part) => new Player(part));
  try {
    await Promise.all(players.map(({ began }) => began));
    const [cpu, before] = [cpuSeconds(relay), await relay.metrics()];
    const beganMs = performance.now();
    await Promise.all(players.map(({ ended }) => ended));
    const [used, after] = [cpuSeconds(relay) - cpu, await relay.metrics()];
    const elapsed = (performance.now() - beganMs) / 1000;
    const accounts = await Promise.all(players.map(({ account }) => account));
    const each = (name: keyof BotsAccount) =>
      accounts.reduce((sum, account) => sum + account[name] / account.seconds, 0);
    const forwarded = 'sprites_stages_forwarded_total';
    return {
      cpu: used / elapsed,
      due: each('due'),
      accepted: each('accepted'),
      refused: each('refused'),
      seen: each('seen'),
      forwarded: ((after.get(forwarded) ?? 0) - (before.get(forwarded) ?? 0)) / elapsed,
    };
  } finally {
    for (const player of players) player.end();
  }
}

/** A process of bots. */
class Player {
  readonly #process: ChildProcess;
  readonly #began = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #account = Promise.withResolvers<BotsAccount>();
  readonly began = this.#began.promise;
  readonly ended = this.#ended.promise;
  readonly account = this.#account.promise;

  constructor(options: BotsOptions) {
    this.#process = spawn(process.execPath, [BOTS_PROGRAM, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      if (line === 'begin') this.#began.resolve();
      else if (line === 'end') this.#ended.resolve();
      else this.#account.resolve(JSON.parse(line));
    });
    this.#process.once('close', (code) => {
      const error = new Error(`the bots have ended with ${code}`);
      for (const { reject } of [this.#began, this.#ended, this.#account]) reject(error);
    });
    // An error is thrown where the promise is awaited. One that is not awaited must not end the bench.
    for (const promise of [this.began, this.ended, this.account]) promise.catch(() => {});
  }

  end(): void {
    this.#process.kill('SIGTERM');
  }
}

/** User and system time of all processes of a relay; NaN when one of them has ended. */
function cpuSeconds({ pids }: Contender): number {
  return pids.reduce((sum, pid) => sum + (processCpuSeconds(pid) ?? Number.NaN), 0);
}

function reportOf(options: PeekOptions, runs: ReadonlyMap<string, readonly Run[]>): string {
  const { counts, rounds, seconds, noisePx, bots, shape, seed } = options;
  const rows = counts.flatMap((count) =>
    KINDS.map((kind) => {
      const of = runs.get(keyOf(kind, count)) ?? [];
      const mean = (name: keyof Run) => intervalOf(of.map((run) => run[name]));
      const rate = (name: keyof Run) => plusMinus(mean(name), 0);
      const cpu = intervalOf(of.map((run) => run.cpu * 100));
      return [
        String(count),
        kind,
        plusMinus(cpu, 1),
        rate('due'),
        rate('accepted'),
        rate('forwarded'),
        rate('seen'),
        rate('refused'),
      ];
    }),
  );
  const about =
    `${machine()}. ${shape.name}; ${bots} bots, noise ${noisePx} px, ${rounds} rounds of ${seconds} s, seed ${seed}; ` +
    'mean ± 95 % interval; CPU in % of one core, everything else a second.';
  const head = ['desktops', 'bots', 'CPU %', 'stages due', 'posted', 'forwarded', 'seen', 'refused'];
  return `${about}\n\n${table(head, rows)}`;
}

/** Puts a section in the place of the one with this heading, or at the end. */
function withSection(text: string, section: string): string {
  const start = text.indexOf(`${HEADING}\n`);
  if (start < 0) return `${text.trimEnd()}\n\n${section}`;
  const next = text.indexOf('\n## ', start);
  return `${text.slice(0, start)}${section}${next < 0 ? '' : text.slice(next)}`;
}

function plusMinus({ mean, uncertainty }: Interval, decimals: number): string {
  return `${mean.toFixed(decimals)} ± ${Number.isFinite(uncertainty) ? uncertainty.toFixed(decimals) : '?'}`;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
