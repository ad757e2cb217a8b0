import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../tools/build.js';
import { ENGINE_PLAN, type EnginePlan, planLine } from '../tools/engine_plan.ts';
import { withMachine } from './engine_machine.ts';

const MACHINE = { vcpus: 8, addresses: ['10.0.0.5'] };
const SITTING: EnginePlan['load'] = { kind: 'sitting' };
const RATE: EnginePlan['load'] = { kind: 'rate', perSecond: 1 };
const CLOSED: EnginePlan['load'] = { kind: 'closed', inFlight: 4 };

const planned = (plan: Partial<EnginePlan>, machine: Partial<typeof MACHINE> = {}) =>
  withMachine({ ...ENGINE_PLAN, ...plan }, { ...MACHINE, ...machine });

describe('engine on an instance', () => {
  it('has a process for each vCPU', () => {
    assert.equal(planned({ mix: { throwing: 5000 }, load: RATE }).processes, 8);
    assert.equal(planned({ mix: { sitting: 5000 } }, { vcpus: 1 }).processes, 1);
  });

  it('keeps the processes and sources that the plan names', () => {
    const named = { mix: { sitting: 10 }, processes: 3, sources: '10.0.0.9' };
    const { processes, sources } = planned(named, { addresses: ['10.0.0.5', '10.0.0.6'] });
    assert.deepEqual([processes, sources], [3, '10.0.0.9']);
  });

  it('connects from every address when there are several', () => {
    const addresses = ['10.0.0.5', '10.0.0.6', '10.0.0.7'];
    assert.equal(planned({}, { addresses }).sources, '10.0.0.5,10.0.0.6,10.0.0.7');
    assert.equal(planned({}, { addresses: [] }).sources, '');
  });

  it('is accepted by the engine, whatever the load', { skip: buildEngine() ?? false }, () => {
    for (const plan of [
      { mix: { throwing: 3 }, load: RATE },
      { mix: { sitting: 9 }, load: SITTING },
      { mix: { throwing: 20 }, load: CLOSED },
      { mix: { slow: 45, throwing: 5 }, load: RATE },
    ]) {
      const input = planLine(planned({ ...plan, apis: ['127.0.0.1:1'] }, { addresses: ['127.0.0.1', '127.0.0.2'] }));
      const { status, stderr } = spawnSync(ENGINE, { input, encoding: 'utf8' });
      assert.match(stderr, /cannot reach a relay/);
      assert.equal(status, 1, stderr);
    }
  });
});
