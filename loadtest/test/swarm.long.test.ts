/** The parts of the whole command that take long: desktops on sockets that misbehave, and sweeps. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildEngine } from '../../tools/build.js';
import { folderOf, reportIn, SHORT, swarm } from './command.ts';
import { startFaultyRelay } from './faulty_relay.ts';

describe('swarm command, at length', { skip: buildEngine() ?? false, timeout: 900_000 }, () => {
  for (const front of ['portable', 'native']) {
    it(`accounts for every sprite of desktops on sockets, whatever they do: ${front} front`, async (t) => {
      const out = folderOf(t);
      const scenario = join(folderOf(t), 'sockets.json');
      const mix = { sitting: 20, throwing: 40, slow: 10, churning: 20, storming: 8, hostile: 2 };
      const wanted = ['lost == 0', 'undelivered == 0', 'duplicated == 0', 'misrouted == 0', 'corrupted == 0'];
      const load = { desktops: 300, rate: 600, actEvery: '1s', readLate: '500ms', duration: '6s', mix };
      writeFileSync(scenario, JSON.stringify({ ...load, transport: 'socket', thresholds: wanted }));
      const { code, stdout } = await swarm([scenario, '--front', front, '--workers', '1', '--out', out]);
      const report = reportIn(out);
      assert.equal(code, 0, stdout);
      assert.equal(report.transport, 'socket');
      assert.match(report.load, /, on sockets$/);
      assert.equal(report.parked, 294);
      assert.equal(report.delivered, report.accepted);
      assert.ok(report.delivered > 3000, String(report.delivered));
      assert.ok(report.forwarded > 0);
      assert.ok(report.behaviours.reconnects >= 24);
      assert.ok(report.sockets.opened >= 294 + report.behaviours.reconnects, JSON.stringify(report.sockets));
      assert.equal(report.connections.badAnswers, 0);
      assert.match(stdout, /^ {2}sockets +\d+ opened/m);
    });
  }

  it('brings desktops on sockets back when their relay is restarted, and loses nothing else', async (t) => {
    const out = folderOf(t);
    const load = [
      '--desktops',
      '60',
      '--rate',
      '120',
      '--duration',
      '8s',
      '--transport',
      'socket',
      '--restart-at',
      '2s',
    ];
    const relay = ['--front', 'portable', '--workers', '1'];
    const { stdout } = await swarm([...load, ...relay, '--drain', '15s', '--out', out]);
    const report = reportIn(out);
    assert.ok(report.sockets.opened >= 120, stdout); // once before the restart, once after it
    assert.equal(report.polls.held, 60);
    assert.ok(report.sockets.closes > 0, JSON.stringify(report.sockets));
    assert.equal(report.duplicated, 0);
    assert.equal(report.misrouted, 0);
  });

  it('finds the capacity of its own relay, within its time, and says who was the limit', async (t) => {
    const out = folderOf(t);
    const search = ['capacity', '--desktops', '2000', '--max-seconds', '120', '--threshold', 'p99 < 1s'];
    const startMs = performance.now();
    const { code, stdout, stderr } = await swarm([...search, '--out', out]);
    const seconds = (performance.now() - startMs) / 1000;
    const { capacity } = reportIn(out);
    assert.ok(capacity && seconds < 125, `${seconds} s: ${stderr}`);
    const { perSecond, points, limit, ended, desktops, thresholds } = capacity;
    // A machine that is far too busy carries nothing, and says so.
    assert.equal(code, perSecond > 0 ? 0 : 1, stdout);
    const held = points[0].tries.filter(({ holds }) => holds).map(({ at }) => at);
    assert.ok(perSecond === 0 || held.includes(perSecond), stdout);
    assert.ok(['none', 'relay', 'swarm', 'machine'].includes(limit) && ['found', 'time'].includes(ended), stdout);
    assert.deepEqual([desktops, thresholds], [2000, ['p99 < 1s']]);
  });

  it('sweeps over numbers of desktops, repeats, and compares', async (t) => {
    const [a, b] = [folderOf(t), folderOf(t)];
    const relay = await startFaultyRelay();
    const given = ['--rate', '500', '--duration', '500ms', '--drain', '1s', '--quiet'];
    await swarm([
      '--desktops',
      '10,20,30',
      '--settle',
      '0',
      '--warm-up',
      '0',
      ...given,
      '--url',
      relay.url,
      '--out',
      a,
    ]);
    await relay.end();
    // Each run has a relay of its own: on the faulty one, sprites would fly to the desktops of the run before.
    await swarm([...SHORT, '--runs', '3', ...given, '--front', 'portable', '--workers', '0', '--out', b]);
    assert.deepEqual(
      reportIn(a).runs.map(({ desktops }) => desktops),
      [10, 20, 30],
    );
    assert.equal(reportIn(b).runs.length, 3);
    assert.ok(existsSync(join(b, 'engine-3.json')));
    const { code, stdout } = await swarm(['compare', b, b]);
    assert.equal(code, 0);
    assert.match(stdout, /^p99 .*±.*no significant difference$/m);
    const kept = reportIn(b);
    const [without, worse] = ['without', 'worse'].map((name) => join(folderOf(t), `${name}.json`));
    writeFileSync(without, JSON.stringify({ ...kept, runs: kept.runs.map((run) => ({ ...run, lost: 0 })) }));
    writeFileSync(worse, JSON.stringify({ ...kept, runs: kept.runs.map((run) => ({ ...run, lost: 1 })) }));
    const compared = await swarm(['compare', without, worse]);
    assert.equal(compared.code, 1);
    const pages = folderOf(t);
    assert.equal((await swarm(['compare', without, worse, '--out', pages])).code, 1);
    assert.match(readFileSync(join(pages, 'compare.html'), 'utf8'), /WORSE/);
    const listed = await swarm(['history', a, b, '--out', pages]);
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal(listed.stdout.trim().split('\n').length, 3);
    assert.match(readFileSync(join(pages, 'history.html'), 'utf8'), /History/);
    assert.match(compared.stdout, /^lost .*worse$/m);
  });
});
