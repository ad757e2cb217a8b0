/** What an attack gets for its run, and what it reports: counts of what it did and of what the relay said. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type Reading, type Response } from './connection.ts';
import type { Random } from './random.ts';
import { type Joined, joinBytes, type Target } from './target.ts';

/** The pause of an attacker that the relay refuses, in ms: without one it would only load its own core. */
const REFUSED_MS = 20;

/** Gauges of sprites that wait in worlds without desktops. */
export const WAITING: readonly string[] = ['sprites_worlds', 'sprites_waiting', 'sprites_mailbox_bytes'];

export interface Attack {
  /** What it does, in one sentence. */
  about: string;
  /**
   * Gauges that do not return to their values from before, by the protocol: sprites of the last desktop of a world wait for
   * the next one that joins.
   */
  keeps?: readonly string[];
  /** Only the limits by address withstand it: without them the relay uses the memory that it has planned for desktops and sprites. */
  byAddress?: true;
  /** The address it connects from, when what others have used up of the limits by address would weaken it. Default: HOST. */
  from?: string;
  /** It needs so long to do harm. */
  secondsMin?: number;
  /** Attacks until `assault.over`. Bounded in count too: no more connections than it names. */
  run(assault: Assault): Promise<void>;
}

export interface AssaultOptions {
  target: Target;
  seconds: number;
  random: Random;
  /** How many requests an attack that counts them sends; without it `seconds` is the limit. */
  requests?: number;
  /** A share of the connections that attacks open by default, so that a short test has short ones: 0 … 1. */
  scale: number;
  /** The address to connect from. */
  from?: string;
}

/** What a trial tells the process of its attacker. */
export interface Order extends Omit<AssaultOptions, 'random' | 'from'> {
  attack: string;
  seed: number;
}

/** The first message of an attacker; the report is the second. */
export const STARTED = 'started';

export interface Report {
  counts: Record<string, number>;
  notes: string[];
}

export class Assault {
  readonly target: Target;
  readonly random: Random;
  readonly requests: number | undefined;
  readonly untilMs: number;
  /** What was sent and answered, by name. */
  readonly counts: Record<string, number> = {};
  /** The first findings that a person should read. */
  readonly notes: string[] = [];
  readonly #scale: number;
  readonly #from: string | undefined;

  constructor({ target, seconds, random, requests, scale, from }: AssaultOptions) {
    this.target = target;
    this.random = random;
    this.requests = requests;
    this.untilMs = performance.now() + seconds * 1000;
    this.#scale = scale;
    this.#from = from;
  }

  get over(): boolean {
    return performance.now() >= this.untilMs;
  }

  /** Returns the time until the end in ms, at most `most`: how long to wait for a response. */
  patience(most = 10_000): number {
    return Math.max(1, Math.min(most, this.untilMs - performance.now()));
  }

  /** Returns how many connections to open instead of `most`. */
  scaled(most: number): number {
    return Math.max(4, Math.round(most * this.#scale));
  }

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  /** Counts the response by its status. */
  readonly answered = ({ status }: Response): void => this.count(String(status));

  note(text: string): void {
    if (this.notes.length < 5) this.notes.push(text);
  }

  /** Sleeps, at most until the end. */
  async rest(ms = REFUSED_MS): Promise<void> {
    await sleep(Math.max(0, Math.min(ms, this.untilMs - performance.now())));
  }

  /** Opens a connection that counts the responses. Resolves to undefined, after a pause, when the relay does not accept it. */
  async open(port: number, reading: Reading = 'parse'): Promise<Connection | undefined> {
    const connection = await Connection.open(port, reading, this.#from);
    this.count(connection ? 'connections' : 'not accepted');
    if (connection) connection.onResponse = this.answered;
    else await this.rest();
    return connection;
  }

  /** Opens as many connections as the relay accepts, at most `count`, `atOnce` at a time. */
  async openMany(count: number, port: number, reading: Reading = 'parse', atOnce = 64): Promise<Connection[]> {
    const open: Connection[] = [];
    while (open.length < count && !this.over) {
      const wave = Math.min(atOnce, count - open.length);
      const opened = await Promise.all(Array.from({ length: wave }, () => this.open(port, reading)));
      open.push(...opened.filter((connection) => connection !== undefined));
      if (opened.includes(undefined)) break;
    }
    return open;
  }

  /** Joins on a new connection. Resolves to undefined, after a pause, when the relay refuses. */
  async join(wish: object = {}): Promise<Joined | undefined> {
    const connection = await this.open(this.target.api);
    const joined = connection && (await this.joinOn(connection, wish));
    connection?.destroy();
    return joined;
  }

  /** Joins on this connection. */
  async joinOn(connection: Connection, wish: object = {}): Promise<Joined | undefined> {
    const response = await connection.ask(joinBytes(wish), this.patience());
    if (response?.status === 201) return JSON.parse(response.body.toString()) as Joined;
    await this.rest();
    return undefined;
  }

  /** Joins until the relay lets it in; undefined when the time is over. */
  async joinAtLast(wish: object = {}): Promise<Joined | undefined> {
    while (!this.over) {
      const joined = await this.join(wish);
      if (joined) return joined;
    }
    return undefined;
  }

  /** Runs `work` again and again, `count` at a time, until the time is over. */
  async repeat(count: number, work: (worker: number) => Promise<void>): Promise<void> {
    const worker = async (number: number) => {
      while (!this.over) {
        await work(number);
        // A round that never waits for a socket must not stop the timers.
        await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: count }, (_, number) => worker(number)));
  }

  /** Like repeat(), each time on a new connection: `work` goes on until the connection ends, or it resolves to false. */
  async repeatOn(
    count: number,
    port: number,
    work: (connection: Connection, worker: number) => Promise<boolean>,
  ): Promise<void> {
    await this.repeat(count, async (worker) => {
      const connection = await this.open(port);
      while (connection && !this.over && !connection.over) if (!(await work(connection, worker))) break;
      connection?.destroy();
    });
  }

  /** Keeps these connections until the time is over. */
  async hold(open: readonly Connection[]): Promise<void> {
    while (!this.over) await this.rest(200);
    for (const connection of open) connection.destroy();
  }
}
