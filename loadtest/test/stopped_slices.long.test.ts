/**
 * Runs of ten seconds beside four busy processes, slices stopped at random: no run says lost or doubled. Each takes half a minute;
 * SPRITES_STOPPED_RUNS=20 makes the twenty of NUMBERS.md.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { randomFrom } from '../../tools/bench/random.ts';
import { buildEngine } from '../../tools/build.js';
import { accountsAgree } from '../report/account.ts';
import { folderOf } from './command.ts';
import { runStopped } from './stopped_slices.ts';

const RUNS = Number(process.env.SPRITES_STOPPED_RUNS ?? 4);
const BUSY_PROCESSES = 4;
const LOAD = ['--desktops', '300', '--rate', '600', '--duration', '10s', '--drain', '5s', '--processes', '3'];
const MIXES = ['throwing=80,sitting=20', 'throwing=50,sitting=20,slow=10,churning=10,storming=10'];

describe('swarm on a busy machine', { skip: buildEngine() ?? false, timeout: RUNS * 120_000 }, () => {
  for (let run = 1; run <= RUNS; run++) {
    const mix = MIXES[run % MIXES.length];
    it(`says neither lost nor doubled, run ${run} of ${RUNS}, ${mix}`, async (t) => {
      const seed = randomInt(2 ** 31);
      t.diagnostic(`seed ${seed}`);
      const relay = ['--front', 'portable', '--workers', String(run % 3)];
      const { report, stops } = await runStopped(
        [...LOAD, '--mix', mix, '--act-every', '2s', ...relay],
        folderOf(t),
        randomFrom(seed),
        BUSY_PROCESSES,
      );
      const { accepted, undelivered, missed, skipped, message } = report;
      t.diagnostic(JSON.stringify({ stops, accepted, undelivered, missed, skipped, message }));
      assert.ok(stops >= 2 && accepted > 1000, 'the slices were stopped, and the run went on');
      for (const name of ['lost', 'duplicated', 'misrouted', 'corrupted', 'foreign'] as const) {
        assert.equal(report[name], 0, name);
      }
      assert.ok(accountsAgree(report) || !report.ok, 'the accounts agree');
    });
  }
});
