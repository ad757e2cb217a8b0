import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placesOf } from '../loadtest/run/share.ts';
import { ENGINE_PLAN } from '../tools/engine_plan.ts';
import { enginePlanOf, type Job, type Load, parkSeconds, readJob, writeArguments, writeJob } from './job.ts';

const JOB: Job = {
  ...{
    bundle: 'https://b.example/x?a=1&b=2%2F=',
    sha256: 'ab'.repeat(32),
    ports: [8080, 8081],
    go: 'https://b.example/go?x=y',
    throw: 'https://b.example/throw?x=y',
  },
  ...{ waitSeconds: 300, arguments: ['--port', '10', '--relay-name', 'a-b'] },
  plan: ENGINE_PLAN,
};

const LOAD: Load = {
  ...{ relays: [new URL('http://relay.example:9000/')], desktops: 10, rate: 5, seconds: 30, warmUpSeconds: 2 },
  ...{ connectRate: 100, thresholds: [], more: { spriteBytes: 400 } },
};

describe('job', () => {
  it('is read back as it was written', () => {
    assert.deepEqual(readJob(writeJob(JOB)), JOB);
    const { go: _, throw: __, plan: ___, ...without } = JOB;
    assert.deepEqual(readJob(writeJob(without)), without);
  });

  it('can not have a value with two lines', () => {
    assert.throws(() => writeJob({ ...JOB, bundle: 'https://b.example/\nsha256=0' }), /more than one line/);
  });

  it('is rejected with the name of what it lacks', () => {
    assert.throws(() => readJob('bundle=x\n'), /the job has no sha256/);
  });

  it('passes plain words on as arguments, and rejects everything a shell could interpret', () => {
    assert.equal(
      writeArguments(['--rate', '1.5', '--sources', '10.0.0.1-10.0.0.9', '--name=%i']),
      '--rate 1.5 --sources 10.0.0.1-10.0.0.9 --name=%i',
    );
    for (const word of ['', 'a b', '$(reboot)', '`x`', 'a;b', "'", 'a\nb', '*']) {
      assert.throws(() => writeArguments([word]), /can't be an argument/, JSON.stringify(word));
    }
  });

  it('waits twice as long for the parking as it takes, and a minute, or as long as its scenario does', () => {
    assert.equal(parkSeconds({ ...LOAD, desktops: 1000, connectRate: 100 }), 80);
    const scenario = { name: 's', shows: '', parkSeconds: 600, plan: { ...ENGINE_PLAN, seed: 7, world: 'other' } };
    assert.equal(parkSeconds({ ...LOAD, scenario }), 600);
    const plan = enginePlanOf({ ...LOAD, scenario }, 'f', 'i');
    assert.deepEqual([plan.name, plan.seed, plan.connectTimeout, plan.leave], ['i', 7, 600, true]);
    assert.deepEqual([plan.world, plan.spriteBytes], ['f-i', 400]);
  });

  it('gives each instance its own world', () => {
    const plan = enginePlanOf(LOAD, 'swarm-1', 'i-1');
    assert.deepEqual([plan.apis, plan.world, plan.name], [['relay.example:9000'], 'swarm-1-i-1', 'i-1']);
    assert.deepEqual(
      [plan.mix, plan.load],
      [
        { throwing: 10, sitting: 0 },
        { kind: 'rate', perSecond: 5 },
      ],
    );
    assert.deepEqual([plan.duration, plan.warmUp, plan.connectRate, plan.spriteBytes], [30, 2, 100, 400]);
    const relays = ['http://a.example/', 'http://b.example/'].map((url) => new URL(url));
    const [one, two] = placesOf(2).map((place, n) => enginePlanOf({ ...LOAD, relays }, 'swarm-1', `i-${n}`, place));
    assert.deepEqual([one.world, one.machine, one.machines], ['', 0, 2], 'they share the world of the relays');
    assert.deepEqual({ ...two, name: one.name, machine: 0 }, one);
    assert.ok(one.fleet > 0 && one.fleet < 2 ** 16);
    const still = enginePlanOf({ ...LOAD, rate: 0 }, 'f', 'i');
    assert.deepEqual([still.mix, still.load], [{ throwing: 0, sitting: 10 }, { kind: 'sitting' }]);
    const at = (relay: string) => enginePlanOf({ ...LOAD, relays: [new URL(relay)] }, 'f', 'i').apis;
    assert.deepEqual(at('http://relay.example/'), ['relay.example:80']);
    assert.deepEqual(at('https://relay.example/'), ['https://relay.example:443']);
  });
});
