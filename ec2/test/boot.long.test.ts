/**
 * Runs the boot scripts for real: Debian's systemd and cloud-init in their own network, with moto's S3, a metadata service
 * that requires tokens, and a relay. Shutdowns are real too: an instance's systemd powers it off.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import { makeBundle } from '../bundle.ts';
import { type Job, readJob, writeJob } from '../job.ts';
import { CHUNK_SAMPLES } from '../samples.ts';
import { makeImage, type System } from './images.ts';
import { installMoto, type Moto, NOBODY, startMoto } from './moto.ts';
import { GATEWAY, makeNetwork, type Network } from './network.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUCKET = 'sprites-boot-test';
const SLOTS = 6;

/** The sysctls that belong to a network namespace. The test does not set the others, because they belong to the machine. */
const OF_A_NETWORK =
  /^net\.(?:core\.somaxconn|ipv4\.(?:ip_local_port_range|tcp_tw_reuse|tcp_max_syn_backlog|tcp_rmem|tcp_wmem))$/;

const KEY = `${NOBODY.AWS_ACCESS_KEY_ID}:${NOBODY.AWS_SECRET_ACCESS_KEY}`;
const QUIET = '--disable-warning=ExperimentalWarning';

/** The longest that the test waits for anything, in ms. Normally an instance boots and ends within a few seconds. */
const WAIT_MS_MAX = 120_000;

interface InstanceEvent {
  event: string;
  id?: string;
  address?: string;
  log?: string;
  console?: string;
  status?: number;
  stdout?: string;
  stderr?: string;
}

const why = makeImage('debian') ?? installMoto();
const network = why === undefined ? makeNetwork(SLOTS) : why;
const skip = typeof network === 'string' ? network : false;

describe('instances', { skip, timeout: 600_000, concurrency: 3 }, () => {
  const { name } = network as Network;
  const folder = mkdtempSync(join(tmpdir(), 'sprites-boot-'));
  const environment: NodeJS.ProcessEnv = { ...process.env, ...NOBODY, AWS_REGION: 'us-east-1', SPRITES_BUCKET: BUCKET };
  let moto: Moto;
  let relay: Program;
  let hypervisor: Program;

  before(async () => {
    await makeBundle(() => {});
    moto = await startMoto(GATEWAY, name);
    environment.AWS_ENDPOINT_URL = moto.url;
    const relayFlags = [
      '--host',
      GATEWAY,
      '--data',
      join(folder, 'data'),
      '--workers',
      '0',
      '--front',
      'portable',
      '--log-level',
      'info',
    ];
    relay = within('tools/launch.js', 'relay', ...relayFlags);
    await relay.line(({ msg }) => msg === 'relay ready');
    // With its own namespaces the kernel removes everything it started and mounted, however it ends.
    const isolated = [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      '--pid',
      '--mount-proc',
      '--fork',
      '--kill-child',
    ];
    const home = join(folder, 'instances');
    hypervisor = program(
      ...isolated,
      process.execPath,
      QUIET,
      'ec2/test/hypervisor.ts',
      '--network',
      name,
      '--slots',
      `${SLOTS}`,
      '--endpoint',
      moto.url,
      '--home',
      home,
    );
    await hypervisor.line(({ event }) => event === 'ready');
    await pasted(); // uploads the bundle, before the tests run concurrently
  });

  after(async () => {
    await hypervisor?.end();
    await relay?.end();
    await moto?.stop();
    (network as Network).remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function program(...words: string[]): Program {
    const command = [`--net=/run/netns/${name}`, ...words];
    return new Program(spawn('nsenter', command, { cwd: ROOT, env: environment, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  const within = (...words: string[]) => program(process.execPath, QUIET, ...words);

  const fleet = (...words: string[]) => within('ec2/bin/fleet.ts', ...words).ended;

  const curl = (...words: string[]) =>
    execFileSync('nsenter', [`--net=/run/netns/${name}`, 'curl', '-fsS', '-m', '20', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });

  const object = (key: string, ...words: string[]) =>
    curl('--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', KEY, ...words, `${moto.url}/${BUCKET}/${key}`);

  /** The script that `user-data` prints, and its job, which a test may change. */
  async function pasted(...words: string[]) {
    const { out, err, code } = await fleet(
      'user-data',
      '--url',
      `http://${GATEWAY}:8080/`,
      '--minutes',
      '30',
      ...words,
    );
    assert.equal(code, 0, err);
    const key = (/(runs\/(?:swarm|relay)-[^/]+\/)job/.exec(out) as RegExpExecArray)[1];
    const job = () => readJob(object(`${key}job`));
    return {
      script: out,
      prefix: key,
      fleet: key.split('/')[1],
      job,
      change(changes: Partial<Job>): void {
        const changed = writeJob({ ...job(), ...changes });
        object(`${key}job`, '-X', 'PUT', '-H', 'content-type: text/plain', '--data-binary', changed);
      },
      posted: (id: string, end: string) => object(`${key}${id}${end}`),
      remove: (name: string) => object(`${key}${name}`, '-X', 'DELETE'),
    };
  }

  /** Where an instance writes down when it was started; until it is stopped. */
  const clockOf = (id: string) => join(folder, 'instances', id, 'changes/opt/sprites/born');

  function boot(id: string, script: string, system?: System): Promise<InstanceEvent> {
    hypervisor.send({ boot: { id, userData: script, system } });
    return off(id);
  }

  const off = (id: string, after = 0) =>
    hypervisor.line(
      ({ event, id: of }) => event === 'off' && of === id,
      after,
    ) as Promise<unknown> as Promise<InstanceEvent>;

  it('swarm a relay together, and their results are merged into one report with the cost', async () => {
    const out = join(folder, 'report');
    const load = ['--desktops', '200', '--rate', '100', '--seconds', '6', '--warm-up', '1'];
    const run = await fleet(
      'run',
      '--url',
      `http://${GATEWAY}:8080/`,
      '--instances',
      '2',
      '--yes',
      '--out',
      out,
      '--threshold',
      'parked == desktops',
      ...['--admin-url', 'http://127.0.0.1:8083', '--admin-token-file', join(folder, 'data/admin-token')],
      ...load,
    );
    assert.equal(run.code, 0, run.err + run.out);
    const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
    assert.equal(report.ok, true);
    assert.deepEqual([report.voidReason, report.pass], ['', true]);
    assert.deepEqual(
      report.judgements.map(({ threshold, outcome }: Record<string, string>) => [threshold, outcome]),
      [['parked == desktops', 'held']],
    );
    assert.ok(report.relay.cpuCores > 0 && report.relay.heapBytes > 0, JSON.stringify(report.relay));
    assert.equal(report.machines.length, 2);
    assert.equal(report.desktops, 400);
    assert.equal(report.parked, 400);
    assert.equal(report.lost + report.duplicated + report.misrouted + report.foreign, 0);
    assert.equal(report.accepted, report.delivered);
    assert.ok(report.delivered > 400, `${report.delivered}`);
    assert.match(report.shows, /It cost/);
    const counted = report.latencyBucketsNs.reduce((sum: number, [, , count]: number[]) => sum + count, 0);
    assert.equal(counted, report.latencyUs.count);
    const status = await fleet('status');
    assert.match(status.out, /nothing is running/);
    const ended = await Promise.all(report.machines.map(({ name: id }: { name: string }) => off(id)));
    assert.equal(ended.length, 2);
    for (const { log = '' } of ended) {
      assert.match(log, /ready\n/);
      assert.match(log, /all desktops are parked\n[\s\S]*throws from /);
      assert.match(log, /"processes":2,/);
      // EC2 gave each instance a second private address, and the image did not set it up.
      assert.match(log, /"sources":"10\.77\.0\.1\d,10\.77\.0\.11\d"/);
      assert.doesNotMatch(log, /X-Amz-|Signature|AKIA/);
    }
  });

  it('run their part of the load on Ubuntu, too', { skip: skip || (makeImage('ubuntu') ?? false) }, async () => {
    const { script, posted } = await pasted('--desktops', '20', '--rate', '20', '--seconds', '1', '--warm-up', '0');
    const { log } = await boot('i-00000000000000b01', script, 'ubuntu');
    assert.match(log as string, /"sources":"10\.77\.0\.1\d,10\.77\.0\.11\d"[\s\S]*status 0/);
    assert.equal(JSON.parse(posted('i-00000000000000b01', '.result.json')).ok, true);
  });

  it('post their log and end when the bundle is not the one the job names', async () => {
    const { script, change, posted } = await pasted();
    change({ sha256: '0'.repeat(64) });
    const { log } = await boot('i-0000000000000bad1', script);
    assert.match(log as string, /FAILED: the bundle is not the one the job names/);
    assert.match(posted('i-0000000000000bad1', '.log'), /FAILED: the bundle is not the one the job names/);
  });

  it('post their log and end when the bundle can not be fetched', async () => {
    const { script, change, posted } = await pasted();
    change({ bundle: `http://${GATEWAY}:9/bundle.tar.gz` });
    await boot('i-0000000000000bad2', script);
    assert.match(posted('i-0000000000000bad2', '.log'), /FAILED: the bundle can't be fetched/);
  });

  it('write the reason to their console and end when the bucket can not be reached', async () => {
    const { script } = await pasted();
    const nowhere = script.replaceAll(moto.url, `http://${GATEWAY}:9`);
    const { console: seen } = await boot('i-0000000000000bad3', nowhere);
    assert.match(seen as string, /FAILED: the job can't be fetched/);
  });

  it('post their log and end when go.json never appears', async () => {
    const { script, change, posted, prefix } = await pasted();
    change({ go: `${moto.url}/${BUCKET}/${prefix}go.json`, waitSeconds: 2 });
    await boot('i-0000000000000bad4', script);
    assert.match(posted('i-0000000000000bad4', '.log'), /FAILED: no go.json within 2 s/);
  });

  it('have all their minutes and fetch the job again when they are started again, and the bundle it names then', async () => {
    const { script, job, change, posted, remove } = await pasted(
      '--desktops',
      '20',
      '--rate',
      '20',
      '--seconds',
      '1',
      '--warm-up',
      '0',
    );
    const id = 'i-0000000000000a9a1';
    const first = await boot(id, script);
    assert.match(first.log as string, /status 0/);
    assert.equal(JSON.parse(posted(id, '.result.json')).ok, true);
    assert.equal(existsSync(clockOf(id)), false);
    const again = async (changes: Partial<Job>) => {
      change(changes);
      const seen = hypervisor.lines.length;
      hypervisor.send({ again: id });
      return (await off(id, seen)).log as string;
    };
    remove(`${id}.result.json`);
    const misused = await again({ plan: { ...(job().plan as EnginePlan), connectBatch: -5 } });
    assert.match(misused, /connectBatch must be a whole number[\s\S]*status 2/);
    assert.throws(() => posted(id, '.result.json')); // that of the first boot is not posted again
    const log = await again({ sha256: 'f'.repeat(64) });
    assert.equal(log.match(/boots; it ends in 30 minutes/g)?.length, 3);
    assert.match(log, /the job names \(sha256 f{64}\)/);
  });

  it('set sysctls that this kernel has, with values that it accepts in a network namespace', () => {
    const script = readFileSync(join(ROOT, 'ec2/boot/network.sh'), 'utf8');
    const wanted = [...script.matchAll(/\b((?:fs|net)\.[\w.]+)=(?:'([^']*)'|(\d+))/g)].map(([, key, quoted, plain]) => [
      key,
      quoted ?? plain,
    ]);
    assert.ok(wanted.length > 10);
    for (const [key, value] of wanted.filter(([one]) => !one.includes('conntrack'))) {
      assert.ok(existsSync(`/proc/sys/${key.replaceAll('.', '/')}`), key);
      if (!OF_A_NETWORK.test(key)) continue;
      const accepted = execFileSync(
        'nsenter',
        [`--net=/run/netns/${name}-0`, 'sh', '-c', `sysctl -qw ${key}='${value}' && sysctl -n ${key}`],
        { encoding: 'utf8' },
      );
      assert.equal(accepted.trim().replace(/\s+/g, ' '), value, key);
    }
  });

  it('run a relay as a unit with the native front: with its limits, restarted after a crash, drained when it is stopped', async () => {
    const { script, posted, prefix } = await pasted('--relay');
    const list = () => object(`?list-type=2&prefix=${encodeURIComponent(prefix)}`);
    const id = 'i-00000000000000e1a';
    hypervisor.send({ boot: { id, userData: script } });
    const { address } = (await hypervisor.line(
      ({ event, id: of }) => event === 'on' && of === id,
    )) as unknown as InstanceEvent;
    const ready = () => {
      try {
        return JSON.parse(posted(id, '.ready.json')).ready === true;
      } catch {
        return false;
      }
    };
    await until('the relay is ready', ready);
    assert.match(curl(`http://${address}:8080/`), /<html/);
    const run = async (...command: string[]) => {
      const seen = hypervisor.lines.length;
      hypervisor.send({ in: id, run: command });
      return (await hypervisor.line(({ event }) => event === 'ran', seen)) as unknown as InstanceEvent;
    };
    const show = async (property: string) =>
      (await run('systemctl', 'show', '--value', '-p', property, 'sprites-relay')).stdout?.trim();
    assert.ok(Number(await show('LimitNOFILE')) >= 4096);
    assert.equal(await show('Restart'), 'on-failure');
    assert.match((await run('cat', '/run/systemd/shutdown/scheduled')).stdout as string, /MODE=poweroff/);
    assert.match(
      (await run('journalctl', '-u', 'sprites-relay', '-o', 'cat')).stdout as string,
      /"front":\{"kind":"native"/,
    );
    await until('the relay has posted samples of its figures', () => /\.\d+\.samples\.json/.test(list()));
    const [chunk] = /(?<=<Key>)[^<]*\.samples\.json/.exec(list()) as RegExpExecArray;
    const samples = JSON.parse(object(chunk));
    assert.equal(samples.length, CHUNK_SAMPLES);
    for (const sample of samples) assert.ok(sample.rssBytes > 1e6 && sample.cpuSeconds > 0, JSON.stringify(sample));
    const first = await show('MainPID');
    await run('systemctl', 'kill', '-s', 'KILL', 'sprites-relay');
    await until(
      'the relay is restarted',
      async () => (await show('NRestarts')) === '1' && ![first, '0'].includes(await show('MainPID')),
    );
    const responds = (at: string) => {
      try {
        return curl(`http://${at}:8080/`).includes('<html');
      } catch {
        return false;
      }
    };
    await until('the relay responds again', () => responds(address as string));
    await run('systemctl', 'stop', 'sprites-relay');
    assert.equal(await show('Result'), 'success');
    // A reboot keeps the clock; a stop does not. Either way the relay runs again.
    const down = async (how: string) => {
      const seen = hypervisor.lines.length;
      hypervisor.send({ in: id, run: ['systemctl', how] });
      await off(id, seen);
    };
    const up = async () => {
      const seen = hypervisor.lines.length;
      hypervisor.send({ again: id });
      const on = (await hypervisor.line(({ event, id: of }) => event === 'on' && of === id, seen)) as unknown;
      await until('the relay runs again', () => responds((on as InstanceEvent).address as string));
    };
    const started = readFileSync(clockOf(id), 'utf8');
    // The relay is a unit of the boot: it responds, and may be stopped, before the script has run again.
    await run('sed', '-i', '2a sleep 60', '/var/lib/cloud/scripts/per-boot/sprites');
    await down('reboot');
    assert.equal(readFileSync(clockOf(id), 'utf8'), started);
    await up();
    assert.equal(readFileSync(clockOf(id), 'utf8'), started);
    await down('poweroff');
    assert.equal(existsSync(clockOf(id)), false);
  });
});

async function until(sentence: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const untilMs = performance.now() + WAIT_MS_MAX; !(await condition()); ) {
    if (performance.now() > untilMs) throw new Error(`Not in time: ${sentence}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

type Line = Record<string, unknown>;

/** A program whose stdout is text, some lines of which are JSON. */
class Program {
  readonly lines: Line[] = [];
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.#child = child;
    const texts = { out: '', err: '' };
    running.add(child);
    child.once('close', () => running.delete(child));
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      texts.err += text;
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      texts.out += `${line}\n`;
      if (line.startsWith('{')) this.lines.push(JSON.parse(line));
      for (const wake of this.#waiting) wake();
    });
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => resolve({ code, ...texts }));
    });
    this.ended.then(({ err }) => this.#addEnd(err));
  }

  /** Adds a last line, so that line() stops waiting. */
  #addEnd(err: string): void {
    this.lines.push({ ended: true, err });
    for (const wake of this.#waiting) wake();
  }

  send(order: object): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The first line at or after index `from` that satisfies the predicate. Waits for it. */
  async line(predicate: (line: Line) => boolean, from = 0): Promise<Line> {
    const untilMs = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const found = this.lines.slice(from).find(predicate);
      if (found) return found;
      const end = this.lines.find((line) => line.ended);
      const left = untilMs - performance.now();
      if (end || left <= 0)
        throw new Error(`The expected line never appeared. ${end?.err ?? ''}\n${JSON.stringify(this.lines.slice(-3))}`);
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(late);
          this.#waiting.delete(wake);
          resolve();
        };
        const late = setTimeout(wake, left);
        this.#waiting.add(wake);
      });
    }
  }

  end(): Promise<unknown> {
    this.#child.stdin?.end();
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}
