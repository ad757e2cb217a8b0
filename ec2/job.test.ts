import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineArguments, type Job, type Load, parkSeconds, readJob, writeArguments, writeJob } from './job.ts';

const JOB: Job = {
  ...{
    bundle: 'https://b.example/x?a=1&b=2%2F=',
    sha256: 'ab'.repeat(32),
    ports: [8080, 8081],
    go: 'https://b.example/go?x=y',
    throw: 'https://b.example/throw?x=y',
  },
  ...{ waitSeconds: 300, arguments: ['--desktops', '10', '--world', 'a-b'] },
};

const LOAD: Load = {
  ...{ relay: new URL('http://relay.example:9000/'), desktops: 10, rate: 5, seconds: 30, warmUpSeconds: 2 },
  ...{ connectRate: 100, thresholds: [], more: ['--sprite-bytes', '400'] },
};

describe('job', () => {
  it('is read back as it was written', () => {
    assert.deepEqual(readJob(writeJob(JOB)), JOB);
    const { go: _, throw: __, ...without } = JOB;
    assert.deepEqual(readJob(writeJob(without)), without);
  });

  it('can not have a value with two lines', () => {
    assert.throws(() => writeJob({ ...JOB, bundle: 'https://b.example/\nsha256=0' }), /more than one line/);
  });

  it('is rejected with the name of what it lacks', () => {
    assert.throws(() => readJob('bundle=x\n'), /the job has no sha256/);
  });

  it('passes plain words to the engine, and rejects everything a shell could interpret', () => {
    assert.equal(
      writeArguments(['--rate', '1.5', '--sources', '10.0.0.1-10.0.0.9', '--name=%i']),
      '--rate 1.5 --sources 10.0.0.1-10.0.0.9 --name=%i',
    );
    for (const word of ['', 'a b', '$(reboot)', '`x`', 'a;b', "'", 'a\nb', '*']) {
      assert.throws(() => writeArguments([word]), /can't be passed to the engine/, JSON.stringify(word));
    }
  });

  it('waits twice as long for the parking as it takes, and a minute, or as long as its scenario does', () => {
    assert.equal(parkSeconds({ ...LOAD, desktops: 1000, connectRate: 100 }), 80);
    const scenario = { name: 's', shows: '', parkSeconds: 600, flags: ['--mix', 'sitting=1'] };
    assert.equal(parkSeconds({ ...LOAD, scenario }), 600);
    const words = engineArguments({ ...LOAD, scenario }, 'f', 'i').join(' ');
    assert.match(words, /--name i --mix sitting=1 --connect-timeout 600 --leave --sprite-bytes 400$/);
  });

  it('gives each instance its own world', () => {
    const words = engineArguments(LOAD, 'swarm-1', 'i-1').join(' ');
    assert.match(words, /--api relay\.example:9000 --world swarm-1-i-1 --name i-1 --desktops 10 /);
    assert.match(words, /--rate 5 .*--sprite-bytes 400$/);
    assert.match(engineArguments({ ...LOAD, rate: 0 }, 'f', 'i').join(' '), /--sitting/);
    assert.match(
      engineArguments({ ...LOAD, relay: new URL('http://relay.example/') }, 'f', 'i').join(' '),
      /--api relay\.example:80 /,
    );
    assert.match(
      engineArguments({ ...LOAD, relay: new URL('https://relay.example/') }, 'f', 'i').join(' '),
      /--api https:\/\/relay\.example:443 /,
    );
  });
});
