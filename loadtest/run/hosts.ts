/**
 * A swarm over one's own machines: an engine on each host, started over ssh, and the result of each.
 *
 * What a host needs is a POSIX shell, tar and gzip: the engine is copied with its libraries, once for each version. Each host plays its
 * share (share.ts), at one relay in a world of its own, at several in the one that these share. When all desktops of all hosts are parked,
 * they throw from the same moment: each host's clock is compared with this one's before, and its times are told
 * in this one's. Invariant: every program that was started has ended when `runOnHosts` returns: an engine ends when nobody reads it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { ENGINE } from '../../tools/build.js';
import { sentenceOf } from '../../tools/command.ts';
import { planLine } from '../../tools/engine_plan.ts';
import { type EngineResult, readResult } from '../../tools/engine_result.ts';
import type { Machine } from '../report/merge.ts';
import { thisMachine } from './machine.ts';
import { describeLoad, describeMix, type MachineFacts, type Plan, plan, type Target } from './plan.ts';
import type { Scenario } from './scenario.ts';
import { isWorldShared, placesOf, shareOf } from './share.ts';

/** Times that a host is asked for its time; the shortest answer counts. */
const CLOCK_ASKS = 8;

/** From the moment at which all are parked to the first throw: each engine must have read it by then. */
const START_IN_MS = 3_000;

/** The last lines of what a host said, in the message when it fails. */
const ERROR_LINES_MAX = 5;

/** A clock that is compared with this machine's. */
interface Clock {
  /** How far it is ahead, in ms; at most `uncertainMs` off. */
  aheadMs: number;
  uncertainMs: number;
}

interface Host extends Clock {
  name: string;
  facts: MachineFacts;
  machine: Machine;
  /** Where the engine is there. */
  folder: string;
}

interface HostsOptions {
  names: readonly string[];
  shell: Shell;
  target: Target;
  /** A sentence about one host. */
  tell(line: string): void;
  /** Ends it early, with what there is. */
  signal: AbortSignal;
}

interface HostResults {
  hosts: Host[];
  /** What each of them does; a sentence. */
  load: string;
  /** In this machine's time; the hosts that have none are missing. */
  results: EngineResult[];
  /** Which hosts have no result, and why; empty: all have one. */
  missing: string;
}

/** A program on a host, as ssh runs it: a shell's command line. */
type Shell = (host: string, script: string) => ChildProcess;

/** `ssh`: a command and its options, to which the host and a script are added. */
export function shellOver(ssh: string): Shell {
  const [program, ...options] = ssh.split(' ').filter((word) => word !== '');
  return (host, script) => spawn(program, [...options, host, script], { stdio: ['pipe', 'pipe', 'pipe'] });
}

/**
 * Runs a share of the scenario on each host, all at the same time.
 *
 * Throws Error, a sentence, when a host can't be reached, and Misused when its share can't be planned there.
 */
export async function runOnHosts(
  scenario: Scenario,
  { names, shell, target, tell, signal }: HostsOptions,
): Promise<HostResults> {
  const bundle = bundleOf(ENGINE);
  const hosts = await Promise.all(
    names.map((name) =>
      prepare(name, shell, bundle).catch((error: Error) => {
        throw new Error(`${name}: ${sentenceOf(error)}`);
      }),
    ),
  );
  for (const { name, aheadMs, uncertainMs } of hosts) {
    tell(`${name}: its clock is ${aheadMs.toFixed(1)} ms ahead, ± ${uncertainMs.toFixed(1)} ms`);
  }
  const share = shareOf(scenario, hosts.length);
  const run = Date.now().toString(36);
  const places = placesOf(hosts.length);
  const plans = hosts.map((host, i) => {
    const settings = { ...share.settings, world: `swarm-${run}-${i + 1}` };
    const planned = plan({ ...share, settings }, share.desktops[0], host.facts, target);
    tell(`${host.name}: ${describeMix(planned)}`);
    for (const warning of planned.warnings) tell(`Warning: ${host.name}: ${warning}`);
    if (!isWorldShared(target.apis)) return planned;
    return { ...planned, engine: { ...planned.engine, world: '', ...places[i] } };
  });
  const all = Promise.withResolvers<number>();
  all.promise.catch(() => {});
  let parked = 0;
  const ended = await Promise.all(
    hosts.map(async (host, i) => {
      const start = () => {
        tell(`${host.name}: all desktops are parked`);
        if (++parked === hosts.length) all.resolve(Date.now() + START_IN_MS);
        return all.promise;
      };
      try {
        return inOurTime(await runEngine(host, plans[i], shell, start, signal), host);
      } catch (error) {
        // The others wait until all are parked: without this one, they would wait for ever.
        all.reject(error);
        return `${host.name}: ${sentenceOf(error).replace(/\.$/, '')}`;
      }
    }),
  );
  const results = ended.filter((one) => typeof one !== 'string');
  const failed = ended.filter((one) => typeof one === 'string');
  const missing =
    failed.length === 0 ? '' : `${failed.length} of ${hosts.length} hosts have no result: ${failed.join('; ')}`;
  return { hosts, load: describeLoad(share, plans[0]), results, missing };
}

/** The engine's program and its libraries as a tar, and the name of its folder. */
function bundleOf(program: string): { tar: Buffer; name: string } {
  const linked = spawnSync('ldd', [program], { encoding: 'utf8' }).stdout;
  const files = [program, ...[...linked.matchAll(/(\/\S+) \(0x/g)].map(([, library]) => library)];
  const loader = files.map((file) => basename(file)).find((name) => name.startsWith('ld-'));
  if (loader === undefined) throw new Error(`ldd does not say what ${program} is linked with`);
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  // Each under the name by which it is linked, whatever it is called here.
  const members = files.flatMap((file) => [
    `--transform=s|^${basename(realpathSync(file))}$|${file === program ? 'swarm-engine' : file.includes('/ld-') ? 'loader' : basename(file)}|`,
    '-C',
    dirname(realpathSync(file)),
    basename(realpathSync(file)),
  ]);
  const packed = spawnSync('tar', ['-cz', ...members], { maxBuffer: 2 ** 28 });
  if (packed.status !== 0) throw new Error(`the engine can't be packed: ${packed.stderr}`);
  return { tar: packed.stdout, name: hash.digest('hex').slice(0, 16) };
}

/** Copies the engine to a host that does not have it, and asks for its facts and its time. */
async function prepare(name: string, shell: Shell, bundle: { tar: Buffer; name: string }): Promise<Host> {
  const folder = `"\${XDG_CACHE_HOME:-$HOME/.cache}/sprites-swarm/${bundle.name}"`;
  const has = await said(name, shell, `test -x ${folder}/swarm-engine && echo yes || echo no`);
  if (has.trim() === 'no') {
    // Another swarm may copy it at the same time: the first one wins.
    const unpack = [
      `part=${folder}.$$`,
      'mkdir -p "$part"',
      'tar -xzf - -C "$part"',
      `{ mv -T "$part" ${folder} 2>/dev/null || rm -r "$part"; }`,
    ].join(' && ');
    await said(name, shell, unpack, bundle.tar);
  }
  const facts = await said(
    name,
    shell,
    [
      'getconf _NPROCESSORS_ONLN; cat /proc/sys/net/ipv4/ip_local_port_range',
      `grep -E '^(MemTotal|MemAvailable):' /proc/meminfo; uname -sr; grep -m1 'model name' /proc/cpuinfo || echo model`,
    ].join('; '),
  );
  const clock = await clockOf(name, shell);
  return { name, folder, ...clock, ...readFacts(name, facts, clock) };
}

/** The answers to the questions of `prepare`, a line each. */
export function readFacts(name: string, text: string, clock: Clock): { facts: MachineFacts; machine: Machine } {
  const [cores, ports, total, available, system, model] = text.trim().split('\n');
  const [low, high] = (ports?.match(/\d+/g) ?? []).map(Number);
  const bytesIn = (line = '') => Number(/\d+/.exec(line)?.[0]) * 1024;
  if (!(high > low) || !(Number(cores) > 0)) throw new Error(`${name} does not say what machine it is: ${text.trim()}`);
  const { node, version, commit } = thisMachine();
  return {
    facts: { ports: high - low + 1, memoryBytes: bytesIn(available) },
    machine: {
      name: `${name}, clock ${clock.aheadMs.toFixed(1)} ms ahead ± ${clock.uncertainMs.toFixed(1)} ms`,
      cores: Number(cores),
      model: model?.replace(/^.*: /, '') ?? '',
      memoryBytes: bytesIn(total),
      system,
      node,
      version,
      commit,
    },
  };
}

/** Asks a host for its time several times on one connection. */
async function clockOf(name: string, shell: Shell): Promise<Clock> {
  const child = shell(name, 'while read -r line; do date +%s%N; done');
  const failed = failureOf(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const asks: { askedMs: number; answeredMs: number; theirMs: number }[] = [];
  for (let i = 0; i < CLOCK_ASKS; i++) {
    const askedMs = performance.timeOrigin + performance.now();
    child.stdin?.write('\n');
    const line = await Promise.race([lines.next(), failed]);
    const theirMs = Number(line.value) / 1e6;
    if (!(theirMs > 0)) throw new Error(`${name} does not tell its time: ${line.value}`);
    asks.push({ askedMs, answeredMs: performance.timeOrigin + performance.now(), theirMs });
  }
  failed.catch(() => {});
  child.stdin?.end();
  return clockFrom(asks);
}

/** A clock from questions and answers: the shortest one is the surest, and the answer lies anywhere within it. */
export function clockFrom(asks: readonly { askedMs: number; answeredMs: number; theirMs: number }[]): Clock {
  const [surest] = asks.toSorted((a, b) => a.answeredMs - a.askedMs - (b.answeredMs - b.askedMs));
  const uncertainMs = (surest.answeredMs - surest.askedMs) / 2;
  return { aheadMs: surest.theirMs - surest.askedMs - uncertainMs, uncertainMs };
}

/** Runs the engine of a host to its end. `start` resolves to the time of the first throw, in this machine's ms. */
async function runEngine(
  { name, folder, aheadMs }: Host,
  { engine }: Plan,
  shell: Shell,
  start: () => Promise<number>,
  signal: AbortSignal,
): Promise<EngineResult> {
  const files = 'ulimit -n "$(ulimit -Hn)"';
  // Its seconds are not read: an engine that can't write them any more, because ssh has ended, ends too.
  const enginePlan = { ...engine, startOnStdin: true, printSeconds: true, leave: true };
  const child = shell(
    name,
    `${files}; cd ${folder} && echo "{\\"pid\\":$$}" && exec ./loader --library-path . ./swarm-engine`,
  );
  const failed = failureOf(child);
  child.stdin?.on('error', () => {});
  child.stdin?.write(planLine(enginePlan));
  let pid = 0;
  let last = '';
  const end = () => pid > 0 && shell(name, `kill -TERM ${pid}`).on('error', () => {});
  signal.addEventListener('abort', end);
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    last = line;
    if (line.startsWith('{"pid":')) pid = JSON.parse(line).pid;
    if (!line.startsWith('{"phase":"parked"')) return;
    start().then(
      (startMs) => child.stdin?.end(`${Math.round(startMs + aheadMs)}\n`),
      () => child.stdin?.end(), // without a time, the engine ends with a message
    );
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await Promise.race([closed, failed.catch(() => closed)]);
  signal.removeEventListener('abort', end);
  if (!last.startsWith('{"phase":"done"')) await failed;
  return readResult(last, name);
}

/** The result with the host's times in this machine's. */
export function inOurTime(result: EngineResult, { aheadMs }: Clock): EngineResult {
  const ours = (ms: number) => (ms === 0 ? 0 : ms - Math.round(aheadMs));
  const { window } = result;
  return {
    ...result,
    startedAtMs: ours(result.startedAtMs),
    drainedAtMs: ours(result.drainedAtMs),
    window: { ...window, fromMs: ours(window.fromMs), untilMs: ours(window.untilMs) },
  };
}

/** What a host says to a script. Throws Error, a sentence with the host, when the script fails there. */
async function said(name: string, shell: Shell, script: string, input?: Buffer): Promise<string> {
  const child = shell(name, script);
  const failed = failureOf(child);
  failed.catch(() => {});
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const [answer, [code]] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'close')]);
  if (code !== 0) await failed;
  return answer;
}

/** Rejects with what the host, or ssh, said last when the child has ended; never resolves. */
function failureOf(child: ChildProcess): Promise<never> {
  const lines: string[] = [];
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      lines.splice(0, lines.length - ERROR_LINES_MAX);
    });
  }
  return new Promise((_, reject) => {
    child.once('error', (error) => reject(error));
    child.once('close', (code) =>
      reject(new Error(`ended with ${code}: ${lines.join(' ').replace(/^swarm-engine: /, '')}`)),
    );
  });
}
