/** One run, slices stopped at random. stopped_slices.long.test.ts has more, beside processes that keep all cores busy. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { randomFrom } from '../../tools/bench/random.ts';
import { buildEngine } from '../../tools/build.js';
import { folderOf } from './command.ts';
import { runStopped } from './stopped_slices.ts';

describe('swarm on a busy machine', { skip: buildEngine() ?? false, timeout: 900_000 }, () => {
  it('says neither lost nor doubled when its slices are stopped at random', async (t) => {
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const load = ['--desktops', '90', '--rate', '300', '--duration', '4s', '--drain', '3s', '--processes', '3'];
    const { report } = await runStopped(
      [...load, '--front', 'portable', '--workers', '0'],
      folderOf(t),
      randomFrom(seed),
    );
    assert.ok(report.accepted > 100);
    for (const name of ['lost', 'duplicated', 'misrouted', 'corrupted'] as const) assert.equal(report[name], 0, name);
  });
});
