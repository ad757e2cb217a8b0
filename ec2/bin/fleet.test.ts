/** The command against moto: a fleet that was booted earlier runs with changes, and an interrupt says what is left. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from '../aws.ts';
import { makeBundle } from '../bundle.ts';
import { readRecord } from '../fleet.ts';
import { keys, readJob } from '../job.ts';
import { installMoto, type Moto, NOBODY, startMoto } from '../test/moto.ts';

const COMMAND = [process.execPath, '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'fleet.ts')];
const BUCKET = 'sprites-command-test';
const LOAD = ['--url', 'http://relay.example:8080/', '--yes', '--instances', '1'];

const why = installMoto();

describe('npm run fleet', { skip: why ?? false, timeout: 900_000 }, () => {
  let moto: Moto;
  const environment: NodeJS.ProcessEnv = { ...process.env, ...NOBODY, AWS_REGION: 'us-east-1', SPRITES_BUCKET: BUCKET };

  before(async () => {
    await makeBundle(() => {});
    moto = await startMoto();
    environment.AWS_ENDPOINT_URL = moto.url;
  });
  after(() => moto?.stop());

  /** `line` is called with all of stderr so far, while the command runs. */
  async function fleet(words: readonly string[], line: (err: string, child: ChildProcess) => void = () => {}) {
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...words], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
      line(err, child);
    });
    const [code] = await once(child, 'close');
    return { code, out, err, name: /swarm-\d{6}-\d{4}-[0-9a-f]{4}/.exec(out)?.[0] ?? '' };
  }

  it('runs a fleet that is booted with the load of the command line, and writes it down', async () => {
    const { name, err } = await fleet(['up', ...LOAD, '--desktops', '100']);
    assert.match(err, /1 of 1 instances started/);
    const changes = ['--desktops', '250', '--rate', '0', '--ready-within', '1', '--', '--sprite-bytes', '400'];
    // No instance of moto ever is ready: with the 300 s of the boot this would take as long.
    const run = await fleet(['run', '--fleet', name, ...changes]);
    assert.equal(run.code, 1);
    assert.match(run.err, /0 of 1 instances are ready/);
    Object.assign(process.env, NOBODY);
    const aws = connect({ region: 'us-east-1', endpoint: moto.url });
    const { load, wanted, readySeconds } = await readRecord(aws, BUCKET, name);
    assert.deepEqual([load?.desktops, load?.rate, load?.seconds, load?.more], [250, 0, 30, ['--sprite-bytes', '400']]);
    assert.deepEqual([wanted.load?.desktops, wanted.instances, readySeconds], [250, 1, 1]);
  });

  it('names the latest bundle in the job of a script that was pasted, until its addresses expire', async () => {
    const script = await fleet(['user-data', ...LOAD.slice(0, 2), '--desktops', '70', '--valid-hours', '1']);
    const { name } = script;
    Object.assign(process.env, NOBODY);
    const aws = connect({ region: 'us-east-1', endpoint: moto.url });
    const before = readJob(await aws.get(BUCKET, keys.job(name)));
    await aws.put(BUCKET, keys.job(name), 'stale');
    const updated = await fleet(['update', '--fleet', name]);
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /runs the latest code after its next boot/);
    const after = readJob(await aws.get(BUCKET, keys.job(name)));
    assert.deepEqual({ ...after, bundle: '' }, { ...before, bundle: '' });
    assert.match(after.arguments.join(' '), /--world swarm-\S+-%i .*--desktops 70 /);
    const record = await readRecord(aws, BUCKET, name);
    await aws.put(BUCKET, keys.fleet(name), JSON.stringify({ ...record, deadlineMs: Date.now() - 1 }));
    const late = await fleet(['update', '--fleet', name]);
    assert.equal(late.code, 1);
    assert.match(late.err, /ended at 20\S+Z, and so did the addresses in its boot script/);
  });

  it('says in one line that it was interrupted and what is left running, and exits 1', async () => {
    let isAsked = false;
    const { code, err } = await fleet(['run', ...LOAD], (text, child) => {
      if (isAsked || !/ready: 0 of 1/.test(text)) return;
      isAsked = true;
      child.kill('SIGINT');
    });
    assert.equal(code, 1);
    assert.doesNotMatch(err, /^\s+at /m);
    assert.match(err, /^Interrupted: nothing of swarm-[\d-]+[0-9a-f]{4} is running\.\n$/m);
    assert.match(err.trimEnd().split('\n').at(-1) as string, /^Interrupted: /);
  });
});
