/**
 * What does a hostile client do to a relay and to the desktops beside it?
 *
 * Runs each attack of hostile/attacks.ts against a fresh relay of one shape, with a probe beside it: two desktops that throw to
 * each other. The attacks know the relay's ports and PROTOCOL.md only. Linux only: memory is read from /proc.
 */
import { type Contender, start } from '../../tools/bench/contender.ts';
import { machine } from '../../tools/bench/table.ts';
import { LEASE_MS } from '../wire/rules.ts';
import { ATTACKS } from './hostile/attacks.ts';
import { processesOf } from './hostile/memory.ts';
import { failuresOf, tableOf } from './hostile/table.ts';
import { GROWTH_BYTES_MAX, runTrial, type Trial } from './hostile/trial.ts';

/** How long gauges and memory may take to come back after an attack, in ms: a lease, and some seconds. */
const PATIENCE_MS = LEASE_MS + 15_000;

/** An attack with a number of requests has time for them at this rate, in requests a second. */
const REQUESTS_PER_SECOND_MIN = 1_000;

/** A relay that has not stopped after this time is killed, in ms. */
const STOP_MS_MAX = 10_000;

export const ADMISSIONS = ['open', 'strict'] as const;

export interface HostileOptions {
  /** How long each attack lasts. */
  seconds: number;
  front: 'native' | 'portable';
  workers: number;
  admission: (typeof ADMISSIONS)[number];
  /** Names of attacks; all of them when empty. */
  attacks: readonly string[];
  /** Requests of the attack `fuzz`. */
  requests: number | undefined;
  seed: number | undefined;
}

/** Stops the relay; kills its processes when it does not stop by itself. */
async function stopSurely(relay: Contender): Promise<void> {
  const pids = processesOf(relay.pids[0]);
  const late = setTimeout(() => {
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  }, STOP_MS_MAX);
  await relay.stop();
  clearTimeout(late);
}

/** Prints the table. Resolves to how many attacks the relay did not stand. */
export async function hostile(options: HostileOptions): Promise<number> {
  const { front, workers, admission, requests } = options;
  const seed = options.seed ?? Date.now() % 2 ** 31;
  const names = options.attacks.length > 0 ? options.attacks : Object.keys(ATTACKS);
  const shape = `${front}, ${workers === 0 ? 'one process' : `${workers} worker(s)`}`;
  const stance = `admission ${admission}`;
  console.error(`${shape}, ${stance}, seed ${seed}`);
  const trials: Trial[] = [];
  for (const name of names) {
    const isCounted = name === 'fuzz' && requests !== undefined;
    const countedSeconds = isCounted ? requests / REQUESTS_PER_SECOND_MIN : 0;
    const seconds = Math.max(options.seconds, ATTACKS[name].secondsMin ?? 0, countedSeconds);
    console.error(`${name}: ${ATTACKS[name].about}`);
    const relay = await start({ name: shape, front, workers, flags: ['--admission', admission] });
    const { api, events, admin, metrics } = relay;
    const victim = { api, events, admin, metrics, master: relay.pids[0] };
    try {
      const trial = await runTrial(victim, name, {
        seconds,
        seed,
        patienceMs: PATIENCE_MS,
        growthBytesMax: GROWTH_BYTES_MAX[front],
        requests: isCounted ? requests : undefined,
      });
      trials.push(trial);
      for (const failure of failuresOf(trial)) console.error(`  ${failure}`);
      for (const note of trial.notes) console.error(`  ${note}`);
    } finally {
      await stopSurely(relay);
    }
  }
  const failed = trials.filter((trial) => failuresOf(trial).length > 0).length;
  console.log(`\n${machine()}; ${shape}, ${stance}, ${options.seconds} s an attack, seed ${seed}\n`);
  console.log(tableOf(trials));
  console.log(`\n${trials.length - failed} of ${trials.length} attacks stood.`);
  return failed;
}
