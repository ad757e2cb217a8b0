import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { readFlags } from '../test/flags.ts';
import { describeLoad, engineOrigin, type MachineFacts, plan, readChanges, secondsLeft } from './plan.ts';
import { readScenario } from './scenario.ts';

const MACHINE: MachineFacts = { ports: 28_232, memoryBytes: 2 ** 35 };
const HERE = { apis: ['127.0.0.1:8080'], pids: [], local: true };
const THERE = { apis: ['10.0.0.9:8080'], pids: [], local: false };

const scenario = (flags: string) => readScenario(undefined, readFlags(flags.split(' ')));
const planned = (flags: string, target = HERE, machine = MACHINE) => {
  const read = scenario(flags);
  return plan(read, read.desktops[0], machine, target);
};

describe('plan', () => {
  it('uses more processes for more throws than one process can make', () => {
    const processes = (flags: string) => planned(flags).engine.processes;
    assert.equal(processes('--desktops 1000 --rate 40000'), 1);
    assert.equal(processes('--desktops 1000 --rate 40001'), 2);
    assert.equal(processes('--desktops 1000 --rate 90000 --processes 1'), 1);
  });

  it('counts a connection for each throwing desktop, or the connections they share', () => {
    assert.equal(planned('--desktops 100').connections, 200);
    assert.equal(planned('--desktops 100 --throw-connections 7').connections, 107);
    assert.equal(planned('--desktops 100 --mix throwing=1,sitting=3').connections, 125);
  });

  it('counts one for each desktop that talks, except on sockets, and says how often it does', () => {
    const talking = '--sitting --desktops 100 --mix talking=1,sitting=3';
    const { connections, engine } = planned(`${talking} --talk-rate 0.5`);
    assert.equal(connections, 125);
    assert.deepEqual([engine.mix, engine.talkRate], [{ talking: 25, sitting: 75 }, 0.5]);
    assert.equal(planned(`${talking} --transport socket`).connections, 100);
  });

  it('counts one for each desktop that peeks, also on sockets', () => {
    const peeking = '--sitting --desktops 100 --mix peeking=1,sitting=3';
    assert.equal(planned(peeking).connections, 125);
    assert.equal(planned(`${peeking} --transport socket`).connections, 125);
  });

  it('counts the connections that throws open within a second, and sources for the ports that they leave behind', () => {
    const each = '--desktops 10000 --throw-connections each --warm-up 2s';
    const { connections, engine, sources } = planned(`${each} --rate 500 --duration 10s`);
    assert.deepEqual([connections, engine.throwConnections], [10_501, 'each']);
    assert.equal(sources, '127.0.0.1-127.0.0.3', 'the ports of 12 s');
    assert.equal(planned(`${each} --rate 500 --duration 10m`).sources, '127.0.0.1-127.0.0.6', 'those of a minute');
    assert.equal(planned(`${each} --rate 50000`).connections, 20_000);
    assert.throws(() => planned(`${each} --transport socket`), /--throw-connections are POSTs/);
    const three = { ...HERE, apis: ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'] };
    assert.ok(planned('--desktops 2 --throw-connections each', three), 'none of them is shared');
  });

  it('lets throws share a connection only with those to the same relay', () => {
    const three = { ...HERE, apis: ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'] };
    const shared = (connections: number, target = three) =>
      planned(`--desktops 100 --throw-connections ${connections}`, target);
    assert.deepEqual(shared(3).engine.apis, three.apis);
    assert.equal(shared(4).engine.throwConnections, 4);
    assert.throws(() => shared(2), /--throw-connections must be at least 3 here: one for each relay/);
    assert.ok(shared(2, HERE));
    assert.ok(planned('--desktops 100', three));
    assert.ok(planned('--desktops 2 --transport socket', three));
  });

  it('has the desktops leave a relay that was running before', () => {
    const leaves = (flags: string) => planned(flags).engine.leave;
    assert.deepEqual([leaves('--desktops 1 --url http://127.0.0.1:8080'), leaves('--desktops 1')], [true, false]);
  });

  it('counts one connection for each desktop on a socket, and says so', () => {
    const { connections, engine } = planned('--desktops 1000 --transport socket --rate 80001');
    assert.equal(connections, 1000);
    assert.equal(engine.processes, 3);
    assert.deepEqual([engine.transport, engine.throwConnections], ['socket', 0]);
    assert.equal(planned('--desktops 1000').engine.transport, 'poll');
    const given = scenario('--desktops 10 --transport socket --stages 5s:10');
    assert.match(describeLoad(given, plan(given, 10, MACHINE, HERE)), /ramping to 10\/s in 5 s, on sockets$/);
    const there = planned('--desktops 10 --transport socket', { ...HERE, socket: '10.0.0.9:80' } as typeof HERE);
    assert.equal(there.engine.socket, '10.0.0.9:80');
  });

  it('tells the engine of TLS and whom to trust', () => {
    assert.equal(engineOrigin(new URL('http://relay.example')), 'relay.example:80');
    assert.equal(engineOrigin(new URL('http://relay.example:8080/')), 'relay.example:8080');
    assert.equal(engineOrigin(new URL('https://relay.example/')), 'https://relay.example:443');
    assert.equal(engineOrigin(new URL('https://[::1]:8443')), 'https://[::1]:8443');
    assert.equal(planned('--desktops 10 --url https://relay.example --ca ca.pem').engine.ca, 'ca.pem');
  });

  it('hands stages on, whose most decides on processes, and which are the window', () => {
    const stages = '30s:1000,2m:90000,0s:10,500ms:0';
    const { engine, rate } = planned(`--desktops 1000 --stages ${stages}`);
    assert.deepEqual(engine.load, {
      kind: 'stages',
      stages: [
        { seconds: 30, perSecond: 1000 },
        { seconds: 120, perSecond: 90_000 },
        { seconds: 0, perSecond: 10 },
        { seconds: 0.5, perSecond: 0 },
      ],
    });
    assert.equal(rate, 90_000);
    assert.equal(engine.processes, 3);
    assert.deepEqual([engine.duration, engine.warmUp], [150.5, 0]);
    const read = scenario(`--desktops 1000 --stages 30s:1000,1m:1000,0s:5`);
    assert.equal(
      describeLoad(read, plan(read, 1000, MACHINE, HERE)),
      '1,000 desktops throwing sprites: ramping to 1,000/s in 30 s, 1,000/s for 60 s, jumping to 5/s',
    );
  });

  it('knows how long a run still takes', () => {
    const read = scenario('--desktops 20000 --connect-rate 1000 --settle 1s --warm-up 5s --duration 60s --drain 10s');
    const planFor = plan(read, 20_000, MACHINE, HERE);
    const left = (phase: string, inPhase: number) => secondsLeft(read, planFor, phase, inPhase);
    assert.equal(left('connect', 5), 15 + 1 + 5 + 60);
    assert.equal(left('connect', 50), 1 + 5 + 60, 'it is behind the plan');
    assert.equal(left('measure', 20), 40);
    assert.equal(left('drain', 3), 7);
    assert.equal(left('leave', 3), 0);
  });

  it('spreads over loopback addresses by itself, and asks for --sources elsewhere', () => {
    assert.equal(planned('--sitting --desktops 7058').sources, '');
    assert.equal(planned('--sitting --desktops 7059').sources, '127.0.0.1-127.0.0.2');
    assert.equal(planned('--sitting --desktops 28232', THERE).sources, '');
    assert.throws(() => planned('--sitting --desktops 28233', THERE), /need 5 source addresses .* --sources/);
    assert.equal(planned('--sitting --desktops 28233 --sources 10.0.0.5-10.0.0.7', THERE).sources, '10.0.0.5-10.0.0.7');
  });

  it('shares the throws of all desktops evenly over time', () => {
    const { engine, rate } = planned('--desktops 1000 --throw-every 5s --mix throwing=1,sitting=1');
    assert.equal(rate, 100);
    assert.deepEqual(engine.load, { kind: 'rate', perSecond: 100 });
    assert.deepEqual(engine.mix, { sitting: 500, throwing: 500 });
  });

  it('warns when memory is short, twice as early when both ends are on this machine', () => {
    const machine = { ...MACHINE, memoryBytes: 9_400 * 1000 };
    assert.equal(planned('--sitting --desktops 1000', HERE, machine).warnings.length, 0);
    assert.match(planned('--sitting --desktops 1001', HERE, machine).warnings[0], /1,001 connections take/);
    assert.equal(planned('--sitting --desktops 2000', THERE, machine).warnings.length, 0);
  });

  it('reads what changes a plan from flags of the swarm, and rejects those that it has no say in', () => {
    assert.deepEqual(readChanges(['--sprite-bytes', '400', '--settle', '0']), { settle: 0, spriteBytes: 400 });
    assert.deepEqual(readChanges([]), {});
    assert.throws(() => readChanges(['--sprite-bytes', 'many']), /--sprite-bytes: must be a whole number/);
    assert.throws(() => readChanges(['--isolate']), /Unknown option '--isolate'/);
    assert.throws(() => readChanges(['5']), Misused);
  });
});
