import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { keptScenarios } from '../loadtest/run/scenario.ts';
import { buildEngine, ENGINE } from '../tools/build.js';
import { Misused } from '../tools/command.ts';
import { type EnginePlan, planLine } from '../tools/engine_plan.ts';
import { enginePlanOf } from './job.ts';
import { leftOut, readShare } from './scenario.ts';

const RELAYS = [new URL('http://relay.example:8080/')];
const folder = mkdtempSync(join(tmpdir(), 'sprites-scenario-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = (scenario: object) => {
  const path = join(folder, 'one.json');
  writeFileSync(path, JSON.stringify({ name: 'one', ...scenario }));
  return path;
};

describe('scenario on a fleet', () => {
  it('is divided among the instances: desktops, throws, connections', () => {
    const path = file({
      ...{
        desktops: 1000,
        rate: 400,
        throwConnections: 90,
        connectRate: 500,
        connectBatch: 20,
        duration: '45s',
        warmUp: '3s',
      },
      ...{ mix: { sitting: 50, throwing: 50 }, thresholds: ['lost == 0', 'p99 < 10ms'] },
    });
    const { scenario, ...load } = readShare(path, 4, RELAYS);
    assert.deepEqual(load, {
      ...{ desktops: 250, rate: 100, connectRate: 125, seconds: 45, warmUpSeconds: 3 },
      thresholds: ['lost == 0', 'p99 < 10ms'],
    });
    assert.equal(scenario?.parkSeconds, 120 + 1);
    const plan = scenario?.plan as EnginePlan;
    assert.deepEqual(plan.mix, { sitting: 125, throwing: 125 });
    assert.deepEqual(plan.load, { kind: 'rate', perSecond: 100 });
    assert.deepEqual([plan.throwConnections, plan.connectBatch, plan.duration], [23, 5, 45]);
    // What an instance decides for itself.
    assert.deepEqual([plan.world, plan.processes, plan.sources, plan.watchPids], ['', 0, '', []]);
  });

  it('has the same load on one instance as on this machine, and at least its load on several', () => {
    const path = file({ desktops: 1000, throwEvery: '5s' });
    assert.deepEqual([readShare(path, 1, RELAYS).desktops, readShare(path, 1, RELAYS).rate], [1000, 200]);
    const third = readShare(path, 3, RELAYS);
    assert.deepEqual([third.desktops, third.rate], [334, 334 / 5]);
  });

  it('is rejected where a fleet can not do it, with the setting', () => {
    for (const [scenario, message] of [
      [{ desktops: [10, 20] }, /one: desktops: several machines run one load/],
      [{ runs: 3 }, /one: runs: /],
      [{ restartAt: '5s' }, /one: restartAt: /],
      [{ inFlight: 5 }, /one: inFlight: a closed loop has no rate/],
      [{ url: 'http://x:1' }, /one: url: give it on the command line/],
      [{ desktops: 'many' }, /desktops/],
      [{ wings: 2 }, /there is no setting "wings"/],
    ] as const) {
      assert.throws(() => readShare(file(scenario), 2, RELAYS), { constructor: Misused, message });
    }
    assert.throws(
      () => readShare('nowhere', 2, RELAYS),
      /There is no scenario "nowhere": give a file, or one of .*crowd/,
    );
  });

  it('is any of those kept with the swarm that have one load, and the engine accepts its plan', {
    skip: buildEngine() ?? false,
  }, () => {
    let run = 0;
    for (const name of keptScenarios()) {
      let share: ReturnType<typeof readShare>;
      try {
        share = readShare(name, 10, RELAYS);
      } catch (error) {
        assert.match((error as Error).message, /: (desktops|runs|restartAt): /, name);
        continue;
      }
      const plan = enginePlanOf({ relays: [new URL('http://127.0.0.1:1')], ...share, more: {} }, 'f', 'i');
      const { status, stderr } = spawnSync(ENGINE, { input: planLine(plan), encoding: 'utf8' });
      assert.match(stderr, /cannot reach a relay/, `${name}: ${stderr}`);
      assert.equal(status, 1);
      run++;
    }
    assert.ok(run >= 5, `${run} scenarios`);
  });

  it('says which of its settings a fleet leaves out', () => {
    assert.deepEqual(leftOut(file({ isolate: true, desktops: 5, front: 'native', sources: '127.0.0.1' })).sort(), [
      'front',
      'isolate',
      'sources',
    ]);
  });
});
