/**
 * The hostile suite: every attack of server/bench/hostile on a real relay for two seconds each, with a probe beside it.
 *
 * Time is a condition and not a stopwatch: every throw of the probe is answered and arrives once, however long it takes. No process
 * of the relay ends. All attacks of a shape meet the same relay, so its memory is not compared here: `npm run bench -- hostile`
 * does that, with a relay for each attack, for as long as it is told; hostile_sockets and hostile_files have bounds of their own.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ATTACKS } from '../bench/hostile/attacks.ts';
import { faultsOf } from '../bench/hostile/table.ts';
import { type Gauges, readGauges, runTrial, settle, type Victim } from '../bench/hostile/trial.ts';
import { ADMISSIONS } from '../bench/hostile.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { LEASE_MS } from '../wire/rules.ts';
import { type RelayProcess, startRelay } from './relay_process.ts';

/** Each attack lasts so long. */
const SECONDS = 2;

/** A share of the connections that `npm run bench -- hostile` opens. */
const SCALE = 0.1;

/** Fuzzed requests on each shape. */
const REQUESTS = 10_000;

/** For memory to come back after an attack, in ms. */
const MEMORY_MS_MAX = 10_000;

/** For leases of silent desktops to end and gauges to come back, in ms. */
const LEASES_MS_MAX = LEASE_MS + 15_000;

/** A relay that has not stopped after this time is killed, in ms. */
const STOP_MS_MAX = 10_000;

/** For all attacks on one shape, in ms. */
const SUITE_MS_MAX = 600_000;

/** No gauge is above these. */
const EVERYTHING: Gauges = { get: () => Number.POSITIVE_INFINITY };

const onLinux = process.platform === 'linux' ? false : 'memory is read from /proc';
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

/** SPRITES_TEST_FRONT narrows them to one front, as in the other suites. */
const SHAPES = [
  { front: 'native', workers: 2 },
  { front: 'native', workers: 0 },
  { front: 'portable', workers: 2 },
  { front: 'portable', workers: 0 },
].filter(({ front }) => (process.env.SPRITES_TEST_FRONT ?? front) === front) as {
  front: 'native' | 'portable';
  workers: number;
}[];

/** What a relay must withstand: all attacks, but not those that only the limits by address withstand, when these are off. */
function attacksOn(admission: string): string[] {
  return Object.keys(ATTACKS).filter((attack) => admission !== 'open' || !ATTACKS[attack].byAddress);
}

/** Every attack meets each front and each admission, and fuzzed requests meet every shape. */
const RUNS = SHAPES.flatMap(({ front, workers }) => {
  const isWhole = (front === 'native') === workers > 0;
  const isStrictToo = front === 'native' && workers > 0;
  return ADMISSIONS.filter((admission) => isStrictToo || admission !== 'strict').map((admission) => ({
    ...{ front, workers, admission },
    attacks: isWhole ? attacksOn(admission) : ['fuzz'],
  }));
});

for (const { front, workers, admission, attacks } of RUNS) {
  const why = onLinux || (front === 'native' && whyNoNativeFront()) || false;
  const shape = `${front}, ${workers === 0 ? 'one process' : `${workers} workers`}, admission ${admission}`;
  describe(`a relay under attack (${shape})`, { skip: why, timeout: SUITE_MS_MAX }, () => {
    let relay: RelayProcess;
    let victim: Victim;
    let atRest: Gauges;
    before(async () => {
      relay = await startRelay({ front, workers, args: ['--admission', admission] });
      victim = { ...relay.ports, master: relay.pids.master, metrics: relay.metrics };
      atRest = (await readGauges(victim)) as Gauges;
    });
    after(async () => {
      // A relay that hangs must not hang the suite.
      const late = setTimeout(() => relay.kill(relay.pids.master, 'SIGKILL'), STOP_MS_MAX);
      await relay?.stop();
      clearTimeout(late);
    });

    for (const attack of attacks) {
      it(`serves a probe beside ${attack}: ${ATTACKS[attack].about}`, async (t) => {
        t.diagnostic(`SEED=${seed}`);
        const requests = attack === 'fuzz' ? REQUESTS : undefined;
        const seconds = attack === 'fuzz' ? 10 * SECONDS : Math.max(SECONDS, ATTACKS[attack].secondsMin ?? 0);
        const options = { seconds, requests, seed, scale: SCALE, patienceMs: MEMORY_MS_MAX };
        // Gauges are checked once, at the end: they come back when leases end.
        const trial = await runTrial(victim, attack, { ...options, atRest: EVERYTHING });
        t.diagnostic(JSON.stringify({ ...trial, notes: undefined }));
        for (const note of trial.notes) t.diagnostic(note);
        assert.deepEqual(faultsOf(trial), []);
      });
    }

    it('has freed everything in the end', async () => {
      const kept = attacks.flatMap((attack) => ATTACKS[attack].keeps ?? []);
      const held = await settle(victim, atRest, Number.POSITIVE_INFINITY, LEASES_MS_MAX, kept);
      assert.deepEqual(held, {});
    });
  });
}
