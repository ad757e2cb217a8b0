/**
 * Is a sprite ever lost, doubled or stranded, whatever fails?
 *
 * Starts NATS and some relays of one cluster as real processes, and desktops that throw to each other by PROTOCOL.md. Faults come at random times
 * from a seed (chaos/schedule.ts), one or two at a time. At the end all faults heal, and the account (chaos/account.ts) must be exact: each sprite is
 * on one desktop or in one mailbox. Linux only: processes are found in /proc.
 * Cost: two cores; some 100 throws a second. Everything is in one folder, which is removed when the account is exact.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { NatsServer } from '../../tools/bench/nats_server.ts';
import { machine } from '../../tools/bench/table.ts';
import { EXIT } from '../../tools/command.ts';
import { LEASE_MS } from '../wire/rules.ts';
import { Account, type FaultSpan, type Finding, seconds, textOf, type Waiting } from './chaos/account.ts';
import { readCustody } from './chaos/custody.ts';
import { Desktop, type Surroundings } from './chaos/desktop.ts';
import { FAULTS, type Ground } from './chaos/faults.ts';
import { Pauses } from './chaos/pauses.ts';
import { isExact, jsonReport, type Run, textReport } from './chaos/report.ts';
import { schedule } from './chaos/schedule.ts';
import { processesOf, Station } from './chaos/station.ts';
import { randomFrom } from './hostile/random.ts';
import { Connections } from './requests.ts';

/** Desktops in commons for each relay, and private worlds with their desktops. */
const COMMONS_EACH = 8;
const WORLDS = 4;
const WORLD_DESKTOPS = 4;

/** The mean time between two throws of a desktop, in ms: some 80 throws a second in all. */
const THROW_MS = 500;

/** Faults that may be on at a time. */
const FAULTS_AT_ONCE = 2;

/** Time before the first fault, in ms. */
const CALM_MS = 3_000;

/** How long to wait at the end until nothing moves, in ms: several leases, and the pauses of all clients. */
const SETTLE_MS_MAX = 8 * LEASE_MS;

/** How long nothing must have moved, in ms: longer than any retry of a relay. */
const STILL_MS = 6_000;

const LOOK_MS = 1_000;

export interface ChaosOptions {
  minutes: number;
  relays: number;
  seed: number;
  front: 'native' | 'portable';
  /** Of all relays; `process` and `machine` in turn when undefined. */
  durability: 'process' | 'machine' | undefined;
  /** Names of faults; all of them when empty. */
  faults: readonly string[];
  /** Where the report is written. */
  out: string;
}

/** One run, from the first process to the report. */
class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #startMs = performance.now();
  readonly #folder: string;
  readonly #account: Account;
  readonly #stations: Station[] = [];
  readonly #desktops: Desktop[] = [];
  readonly #lives: Promise<void>[] = [];
  readonly #connections = new Connections();
  /** Of the faults and of the run itself; an interruption ends them. */
  readonly #pauses = new Pauses();
  readonly #restsOfDesktops = new Pauses();
  readonly #interruption = Promise.withResolvers<void>();
  #nats: NatsServer | undefined;
  #isInterrupted = false;
  #failure: string | undefined;
  #unsettled: string[] = [];

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'sprites-chaos-'));
    this.#account = new Account(() => this.#now());
  }

  #now(): number {
    return performance.now() - this.#startMs;
  }

  /** Ends the run as it is; the second time, at once and without a report. */
  interrupt(): void {
    if (this.#isInterrupted) process.exit(EXIT.failed);
    this.#isInterrupted = true;
    this.#pauses.end();
    this.#interruption.resolve();
  }

  /** Ends all processes at once, from the handler of this process's own end. */
  killAll(): void {
    for (const { data } of this.#stations) for (const pid of processesOf(data)) process.kill(pid, 'SIGKILL');
  }

  #say(what: string): void {
    console.error(`${seconds(this.#now())} ${what}`);
  }

  /** Resolves to whether the account is exact. */
  async run(): Promise<boolean> {
    let findings: Finding[] = [];
    try {
      await this.#begin();
      await this.#hurt();
      findings = await this.#settle();
    } catch (error) {
      this.#failure = (error as Error).stack;
    } finally {
      await this.#end();
    }
    return this.#tell(findings);
  }

  async #begin(): Promise<void> {
    const { relays, front, durability, seed } = this.#options;
    const random = randomFrom(seed);
    const [natsPort, ...ports] = await freePorts(1 + 3 * relays);
    this.#nats = await NatsServer.startOn(natsPort, join(this.#folder, 'nats'));
    const { port } = this.#nats;
    for (let n = 0; n < relays; n++) {
      const [api, events, admin] = ports.slice(3 * n);
      const kinds = ['process', 'machine'] as const;
      const station = new Station({
        name: `r${n + 1}`,
        folder: this.#folder,
        ports: { api, events, admin },
        front,
        workers: n % 3,
        durability: durability ?? kinds[n % 2],
        natsPort: () => port,
        alarm: (what) => this.#account.anomaly(what),
      });
      this.#stations.push(station);
      await station.open();
    }
    await Promise.all(this.#stations.map((station) => station.start()));
    const byPort = new Map(this.#stations.map(({ options, name }) => [`${options.ports.api}`, name]));
    const surroundings: Omit<Surroundings, 'random'> = {
      send: this.#connections.send,
      account: this.#account,
      rest: this.#restsOfDesktops.rest,
      now: () => this.#now(),
      relays: this.#stations.map(({ url }) => url),
      relayOf: (url) => byPort.get(new URL(url).port) ?? '?',
      seats: new Map(),
    };
    const privately = Array.from({ length: WORLDS * WORLD_DESKTOPS }, (_, n) => `garden ${(n % WORLDS) + 1}`);
    const worlds = [...Array<undefined>(COMMONS_EACH * relays).fill(undefined), ...privately];
    for (const [number, world] of worlds.entries()) {
      const own = randomFrom(random.below(2 ** 31));
      const desktop = new Desktop(number, world, THROW_MS, { ...surroundings, random: own });
      this.#desktops.push(desktop);
      this.#lives.push(desktop.live());
    }
    this.#say(`${relays} relays, ${this.#desktops.length} desktops, in ${this.#folder}`);
  }

  /** Faults, until the time is over and all have healed. */
  async #hurt(): Promise<void> {
    const { minutes, seed, faults } = this.#options;
    const untilMs = this.#now() + minutes * 60_000;
    const fits = (fault: string) =>
      this.#stations.flatMap((station, n) => ((FAULTS[fault].fits ?? (() => true))(station) ? [n] : []));
    const names = faults.length > 0 ? faults : Object.keys(FAULTS);
    const active = new Map<string, Promise<void>>();
    await this.#pauses.rest(CALM_MS);
    for (const { fault, relay, pauseMs, seed: own } of schedule(seed, names, fits)) {
      await this.#pauses.rest(pauseMs);
      const { on } = FAULTS[fault];
      const station = this.#stations[relay];
      const key = on === 'relay' ? station.name : on;
      while (active.size >= FAULTS_AT_ONCE || active.has(key)) {
        await Promise.race([this.#interruption.promise, ...active.values()]);
        if (this.#isInterrupted) break;
      }
      if (this.#isOver(untilMs)) break;
      const ending = this.#fault(fault, station, own).finally(() => active.delete(key));
      active.set(key, ending);
    }
    await Promise.race([this.#interruption.promise, Promise.all(active.values())]);
  }

  #isOver(untilMs: number): boolean {
    return this.#now() >= untilMs || this.#isInterrupted || this.#failure !== undefined;
  }

  async #fault(name: string, station: Station, seed: number): Promise<void> {
    const { on, run } = FAULTS[name];
    const ground: Ground = {
      account: this.#account,
      nats: this.#nats as NatsServer,
      natsFolder: join(this.#folder, 'nats'),
      desktops: this.#desktops,
      rest: this.#pauses.rest,
    };
    const span: FaultSpan = this.#account.begin(name, on === 'relay' ? station.name : undefined, on !== 'desktops');
    this.#say(`${name}${on === 'relay' ? ` ${station.name}` : ''}`);
    try {
      this.#account.end(span, await run(ground, station, randomFrom(seed)));
      this.#say(`  ${textOf(span)}`);
    } catch (error) {
      this.#account.end(span, (error as Error).message);
      if (this.#isInterrupted) return;
      this.#failure = `${name} ${station.name}: ${(error as Error).stack}`;
    }
  }

  /** Waits until nothing moves, and then reads where every sprite is. */
  async #settle(): Promise<Finding[]> {
    for (const desktop of this.#desktops) desktop.isCalm = true;
    for (const station of this.#stations)
      if (!station.isUp && !this.#isInterrupted) this.#account.anomaly(`${station.name} is not up`);
    if (this.#isInterrupted || this.#failure !== undefined) return [];
    this.#say('waiting until nothing moves');
    const giveUpMs = this.#now() + SETTLE_MS_MAX;
    let said: string | undefined;
    let state = '';
    let sinceMs = this.#now();
    while (!this.#isInterrupted && this.#now() < giveUpMs) {
      await this.#pauses.rest(LOOK_MS);
      const { text, unsettled } = await this.#look();
      this.#unsettled = unsettled;
      if (text !== state) [state, sinceMs] = [text, this.#now()];
      if (`${unsettled}` !== said) this.#say(`  ${unsettled.join(', ') || 'all is quiet'}`);
      said = `${unsettled}`;
      if (unsettled.length === 0 && this.#now() - sinceMs > STILL_MS) break;
    }
    if (this.#isInterrupted) return [];
    const waiting: Waiting[] = [];
    for (const { name: relay, data } of this.#stations) {
      const custody = await readCustody(data);
      this.#account.took(relay, custody);
      for (const one of custody.waiting) waiting.push({ ...one, relay });
    }
    return this.#account.settle(waiting);
  }

  /** What moves, or is not where it must be, as the metrics of the relays and the desktops say. */
  async #look(): Promise<{ text: string; unsettled: string[] }> {
    const unsettled: string[] = [];
    const texts: string[] = [];
    const seats = this.#desktops.filter(({ seat }) => seat !== undefined).length;
    const pending = this.#desktops.reduce((sum, desktop) => sum + desktop.pending, 0);
    // A poll with its cursor is out, and nothing has come since: the relays' count of what waits says whether it has arrived.
    const silent = this.#desktops.filter(({ isPolling }) => !isPolling).length;
    let desktops = 0;
    let waiting = 0;
    for (const station of this.#stations) {
      const metrics = await station.metrics().catch(() => undefined);
      const of = (name: string) => metrics?.get(`sprites_${name}`) ?? 0;
      if (!metrics) unsettled.push(`${station.name} gives no metrics`);
      if (of('peers') !== this.#stations.length - 1) unsettled.push(`${station.name} knows ${of('peers')} others`);
      const onTheWay = of('peers_in_doubt') + of('peers_in_custody');
      if (onTheWay > 0) unsettled.push(`${station.name} has ${onTheWay} sprites on their way to others`);
      desktops += of('desktops');
      waiting += of('waiting');
      texts.push(`${['accepted_total', 'acknowledged_total', 'waiting', 'desktops', 'peers_passed_total'].map(of)}`);
    }
    const { accepted, received, acknowledged } = this.#account.counts;
    texts.push(`${[accepted, received, acknowledged, pending]}`);
    if (seats < this.#desktops.length) unsettled.push(`${this.#desktops.length - seats} desktops have no seat`);
    if (desktops !== this.#desktops.length) {
      unsettled.push(`the relays have ${desktops} desktops, not ${this.#desktops.length}`);
    }
    if (pending > 0) unsettled.push(`${pending} throws have no answer`);
    if (silent > 0) unsettled.push(`${silent} desktops do not poll`);
    // Sprites that wait and do not move are not waited for: the account says which they are.
    texts.push(`${waiting}`);
    return { text: texts.join('; '), unsettled };
  }

  async #end(): Promise<void> {
    for (const desktop of this.#desktops) desktop.stop();
    this.#restsOfDesktops.end();
    await Promise.all(this.#stations.map((station) => station.stop().catch(() => this.killAll())));
    await Promise.all(this.#lives);
    this.#connections.close();
    await this.#nats?.kill();
  }

  #tell(findings: readonly Finding[]): boolean {
    const { seed, minutes, out } = this.#options;
    const run: Run = {
      seed,
      minutes,
      machine: machine(),
      desktops: this.#desktops.length,
      tookMs: this.#now(),
      nats: spawnSync('nats-server', ['--version'], { encoding: 'utf8' })
        .stdout.trim()
        .replace(/^nats-server: v?/, ''),
      relays: this.#stations.map(({ name, options, starts }) => {
        const { workers, front, durability } = options;
        return { name, workers, front, durability, starts };
      }),
      isInterrupted: this.#isInterrupted,
      failure: this.#failure,
      unsettled: this.#unsettled,
    };
    const file = join(out, `chaos-${seed}.json`);
    mkdirSync(out, { recursive: true });
    writeFileSync(file, `${JSON.stringify(jsonReport(run, this.#account, findings), undefined, 1)}\n`);
    console.log(textReport(run, this.#account, findings));
    const isRight = isExact(run, this.#account, findings);
    if (isRight) rmSync(this.#folder, { recursive: true, force: true });
    console.log(`${file}${isRight ? '' : `; logs and data directories are in ${this.#folder}`}`);
    return isRight;
  }
}

/** Prints the report. Resolves to whether the account is exact. */
export async function chaos(options: ChaosOptions): Promise<boolean> {
  const run = new ChaosRun(options);
  const kill = () => run.killAll();
  const interrupt = () => run.interrupt();
  process.on('exit', kill);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  try {
    return await run.run();
  } finally {
    process.off('exit', kill);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
  }
}
