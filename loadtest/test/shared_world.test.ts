/** Machines that share a world: each catches what others threw, and together they have one account. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { buildEngine } from '../../tools/build.js';
import { readResult } from '../../tools/engine_result.ts';
import { accountOf } from '../report/account.ts';
import { merge } from '../report/merge.ts';
import { folderOf, reportIn, SHORT, said, swarm } from './command.ts';
import { type Committed, startFaultyRelay } from './faulty_relay.ts';
import { hostsIn } from './local_hosts.ts';

/** Primes, so that no throw of a run has two of them: a sprite that is doubled and changed arrives changed twice. */
const FAULTS = { 'drop-every': 47, 'duplicate-every': 53, 'corrupt-every': 59, 'wrong-edge-every': 61 };

/** Three machines at two relays with the faults. Returns their report and results, and the faults of both relays together. */
async function ran(t: TestContext, faults: Record<string, number>, rate: number) {
  const relays = await Promise.all([startFaultyRelay(faults), startFaultyRelay(faults)]);
  const out = folderOf(t);
  const { code, stdout, stderr } = await swarm([
    ...[
      ...SHORT,
      '--desktops',
      '60',
      '--rate',
      String(rate),
      '--duration',
      '3s',
      '--drain',
      '1500ms',
      '--slip-max',
      '10s',
    ],
    ...['--urls', relays.map(({ url }) => url).join(','), ...hostsIn(folderOf(t), 3), '--out', out],
    ...['--threshold', 'lost == 0', '--threshold', 'duplicated == 0'],
  ]);
  const committed = await Promise.all(relays.map((relay) => relay.end()));
  const sum = (name: keyof Committed) => committed.reduce((all, one) => all + one[name], 0);
  const results = [1, 2, 3].map((n) => readResult(readFileSync(join(out, `engine-${n}.json`), 'utf8'), String(n)));
  return { code, stdout, said: stdout + stderr, report: reportIn(out), results, sum };
}

describe('machines that share a world', { skip: buildEngine() ?? false, timeout: 300_000 }, () => {
  it('have one account, in which every sprite arrived once, wherever it was thrown', async (t) => {
    const { code, said, report, results } = await ran(t, {}, 300);
    assert.equal(code, 0, said);
    assert.ok(report.accepted > 800, String(report.accepted));
    assert.deepEqual([report.delivered, report.arrived, report.foreign], [report.accepted, report.accepted, 0]);
    assert.ok((report.visitors ?? 0) > report.accepted / 20, `many flew to another machine: ${report.visitors}`);
    assert.match(said, /from other machines/);
    assert.match(said, /3 machines, all in one world/);
    assert.equal(
      report.latencyUs.count + report.awayUs.count,
      report.due,
      'each was timed in the window it was due in',
    );
    const files = results.map((result, i) => {
      const file = join(folderOf(t), `engine-${i}.json`);
      writeFileSync(file, JSON.stringify(result));
      return file;
    });
    assert.match((await swarm(['merge', ...files, '--threshold', 'lost == 0'])).stdout, /lost +0/);
    const { lost, undelivered } = merge(results.slice(1), { name: 'two of three', command: '', machines: [] });
    assert.equal(lost, 0, 'nobody knows what the machine without a result has caught');
    assert.ok(undelivered > 20, String(undelivered));
  });

  it('find what is lost, doubled, changed or misrouted, to the last sprite', async (t) => {
    const { code, said, report, sum } = await ran(t, FAULTS, 400);
    assert.equal(code, 1, said);
    assert.ok(report.lost > 5 && report.duplicated > 5, said);
    assert.deepEqual(
      [report.lost, report.duplicated, report.corrupted, report.misrouted],
      [sum('dropped'), sum('duplicated'), sum('corrupted'), sum('wrongEdge')],
    );
    assert.equal(report.undelivered, 0);
    assert.deepEqual(
      accountOf(report).filter(({ holds }) => !holds),
      [],
    );
  });

  it('say how many are missing when these are too many to be told apart', async (t) => {
    const { said, report, sum } = await ran(t, { 'drop-every': 2 }, 2_500);
    assert.ok(sum('dropped') > 3_000, said);
    assert.equal(report.lost, sum('dropped'));
    assert.match(
      report.message,
      /more sprites were thrown than caught, 0 more caught than thrown, and too many differ/,
    );
    assert.equal(report.ok, false);
  });

  it('do not talk', async (t) => {
    const hosts = [...hostsIn(folderOf(t), 2), '--urls', 'http://127.0.0.1:1,http://127.0.0.1:2'];
    const { code, stderr } = await said([...SHORT, '--mix', 'throwing=1,talking=1', ...hosts]);
    assert.equal(code, 2);
    assert.match(stderr, /--hosts: mix: what is heard on another machine has no account/);
  });
});
