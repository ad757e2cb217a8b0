/**
 * A storm over real sockets: connections are cut at any moment, polls and throws are repeated, desktops leave and join.
 * At the end every sprite is accounted for: each accepted sprite was received by exactly one desktop.
 *
 * The clients follow PROTOCOL.md: they repeat a throw under its number until they have a verdict, poll again with their
 * cursor, count an event by its sequence number, and drop unacknowledged sprites when they leave. SEED repeats a storm as
 * far as the timing of the machine allows; STORM_SECONDS makes it longer than the few seconds in which it does ENOUGH.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNoNativeFront } from '../front/native.ts';
import type { ProblemDocument } from '../wire/problem.ts';
import { EDGES } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  type HttpResponse,
  isSprite,
  type Joined,
  join,
  sendRequest,
} from './desktop_client.ts';
import { randomOf } from './random.ts';
import { RawConnection } from './raw_connection.ts';
import { type RelayOptions, type RelayProcess, startRelay, until } from './relay_process.ts';

const STORM_MS = Number(process.env.STORM_SECONDS ?? 0) * 1000;

/** A storm lasts until it has done this at least: on a slow machine the same as on a fast one. */
const ENOUGH = { sprites: 1000, cuts: 500, repeats: 100, left: 10 };

/** Desktops in a large world, and in a small one whose desktops are sent each change of their neighbours. */
const DESKTOPS = 60;
const FEW = 6;

/** Pause between two throws of a desktop, in ms: the test is to stress the relay, not the machine. */
const REST_MS = 80;

/** How long a connection may last until it is cut, in ms. A response takes some tenths of a ms, or is held. */
const CUT_MS_MAX = 12;

/** The longest pause, in ms, until the next desktop leaves and another joins in its place. */
const LEAVING_MS = 100;

/** How long to wait for the relay to close a connection that was cut, in ms. */
const CUT_OFF_MS = 500;

interface Shape extends RelayOptions {
  name: string;
  threads: number;
}

const SHAPES: readonly Shape[] = [
  { name: 'the portable front, 2 workers', front: 'portable', workers: 2, threads: 0 },
  { name: 'the native front on the JavaScript thread, in one process', front: 'native', workers: 0, threads: 0 },
  {
    ...{ name: 'the native front on 2 I/O threads, 2 workers', front: 'native', workers: 2, threads: 2 },
    // More connections than one file table holds.
    ...{ ulimitFiles: 1000, args: ['--max-desktops', '800'] },
  },
];

/** What all desktops of a storm did; the test compares it at the end. */
class Ledger {
  readonly accepted = new Set<string>();
  readonly owners = new Map<string, string[]>();
  readonly counts = { cuts: 0, repeats: 0, refused: 0, left: 0 };

  hasEnough(): boolean {
    const { cuts, repeats, left } = this.counts;
    const { size } = this.accepted;
    return size >= ENOUGH.sprites && cuts >= ENOUGH.cuts && repeats >= ENOUGH.repeats && left >= ENOUGH.left;
  }

  own(sprite: string, desktop: string): void {
    this.owners.set(sprite, [...(this.owners.get(sprite) ?? []), desktop]);
  }
}

/** A desktop whose connections are cut. */
class Desktop {
  readonly joined: Joined;
  readonly #ledger: Ledger;
  readonly #random: () => number;
  readonly #ports: { api: number; events: number };
  /** Received sprites; the first one has sequence number 1. */
  readonly #received: string[] = [];
  readonly #lines = new Map<string, RawConnection>();
  #cursor: string;
  #thrown = 0;
  readonly #throwing: Promise<void>;
  readonly #polling: Promise<void>;
  #calm = false;
  #leaving = false;
  #over = false;

  constructor(joined: Joined, relay: RelayProcess, ledger: Ledger, random: () => number) {
    this.joined = joined;
    this.#ports = relay.ports;
    this.#ledger = ledger;
    this.#random = random;
    this.#cursor = joined.cursor;
    this.#throwing = this.#throwAll();
    this.#polling = this.#pollAll();
  }

  /** Stops throwing. It polls on, without cuts, until it is stopped. */
  async calm(): Promise<void> {
    this.#calm = true;
    await this.#throwing;
  }

  /** Stops without leaving. It owns all sprites it received. */
  async stop(): Promise<void> {
    this.#over = true;
    for (const line of this.#lines.values()) line.destroy();
    for (const sprite of this.#received) this.#ledger.own(sprite, this.joined.desktop);
    this.#received.length = 0;
    await this.#polling;
  }

  /**
   * Leaves. It owns the sprites up to its cursor, once a poll with that cursor was answered. Later sprites belong to
   * another desktop by then.
   */
  async leave(): Promise<void> {
    this.#calm = true;
    await this.#throwing;
    this.#leaving = true;
    const cursor = this.#cursor;
    // Of these two polls the relay answers the one that arrives first.
    const last = ['one', 'another'].map((line) => this.#sendPoll(line, cursor));
    const answer = await Promise.any(last.map(async (poll) => (await poll) ?? Promise.reject(new Error('cut'))));
    assert.equal(answer.status, 200, `${answer.body}`);
    this.#over = true;
    const url = `http://127.0.0.1:${this.#ports.api}/v1/desktops/${this.joined.desktop}`;
    assert.equal((await sendRequest(url, { method: 'DELETE', token: this.joined.token })).status, 204);
    this.#received.length = Number(cursor.split('-')[1]);
    this.#ledger.counts.left++;
    await this.stop();
    await Promise.all(last);
  }

  async #throwAll(): Promise<void> {
    while (!this.#calm) {
      const sprite = `${this.joined.desktop}:${++this.#thrown}`;
      const edge = EDGES[Math.floor(this.#random() * 4)];
      const body = JSON.stringify(crossingOf(this.#thrown, edge, sprite));
      const request = this.#request(`POST ${this.#path('crossings')}`, body);
      let answer: HttpResponse | undefined;
      // Repeats the number until it is accepted: a request that was cut may still arrive after the next one was refused.
      while (answer?.status !== 202 && !this.#over) {
        answer = await this.#exchange('throws', this.#ports.api, request);
        if (!answer || answer.status === 202) continue;
        this.#countRefusal(answer);
        await rest(REST_MS);
      }
      this.#ledger.accepted.add(sprite);
      if (this.#random() < 0.2) {
        this.#ledger.counts.repeats++;
        const again = await this.#exchange('throws', this.#ports.api, request);
        assert.ok(!again || again.status === 202, `${sprite} was accepted, and then ${again?.body}`);
      }
      await rest(REST_MS * 2 * this.#random());
    }
  }

  async #pollAll(): Promise<void> {
    while (!this.#over && !this.#leaving) {
      const polls = [this.#poll('polls')];
      // Sometimes a second poll at the same time: the newer one replaces the older, which is answered empty.
      if (!this.#calm && this.#random() < 0.1) polls.push(this.#poll('more polls'));
      await Promise.all(polls);
    }
  }

  async #poll(line: string): Promise<void> {
    const answer = await this.#sendPoll(line, this.#random() < 0.1 && !this.#calm ? undefined : this.#cursor);
    if (!answer || this.#over) return;
    if (answer.status !== 200) {
      this.#countRefusal(answer);
      return;
    }
    const { cursor, events } = answer.json as Batch;
    for (const { seq, sprite } of events.filter(isSprite)) {
      const known = this.#received[seq - 1];
      assert.ok(
        seq <= this.#received.length + 1,
        `${this.joined.desktop} received ${seq} after ${this.#received.length}`,
      );
      assert.ok(known === undefined || known === sprite.name, `${seq} was ${known}, and is ${sprite.name}`);
      this.#received[seq - 1] = sprite.name;
    }
    // Sometimes the client acts as if the response was lost, and polls with the old cursor again.
    if (this.#calm || this.#random() < 0.8) this.#advance(cursor);
  }

  #sendPoll(line: string, cursor: string | undefined): Promise<HttpResponse | undefined> {
    const query = cursor === undefined ? '' : `?cursor=${cursor}`;
    return this.#exchange(line, this.#ports.events, this.#request(`GET ${this.#path('events')}${query}`));
  }

  #advance(cursor: string): void {
    const seq = (text: string) => Number(text.split('-')[1]);
    if (seq(cursor) > seq(this.#cursor)) this.#cursor = cursor;
  }

  #countRefusal(answer: HttpResponse): void {
    this.#ledger.counts.refused++;
    const { code } = answer.json as ProblemDocument;
    assert.ok(['mailbox-full', 'too-fast', 'relay-busy', 'relay-full'].includes(code), `${answer.body}`);
  }

  #path(route: string): string {
    return `/v1/desktops/${this.joined.desktop}/${route}`;
  }

  #request(line: string, body?: string): string {
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    return `${line} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${this.joined.token}\r\n${length}\r\n${body ?? ''}`;
  }

  /** Sends a request on a kept connection. Resolves to the response, or to undefined when the connection was cut. */
  async #exchange(name: string, port: number, request: string): Promise<HttpResponse | undefined> {
    let line = this.#lines.get(name);
    if (!line || line.over) {
      line = new RawConnection(port);
      this.#lines.set(name, line);
    }
    const isWhole = this.#send(line, request);
    try {
      const answer = await line.answer();
      // An incomplete request may get a response too, which does not count.
      return isWhole ? answer : undefined;
    } catch {
      this.#ledger.counts.cuts++;
      line.destroy();
      return undefined;
    }
  }

  /** Sends a request and may cut the connection: in the middle of the request, of the response, or while it is held. */
  #send(line: RawConnection, request: string): boolean {
    const luck = this.#calm ? 1 : this.#random();
    const sent = luck < 0.1 ? request.slice(0, this.#random() * request.length) : request;
    line.send(sent);
    const cut = () => {
      const way = this.#random();
      if (way < 0.4) line.destroy();
      else if (way < 0.8) line.reset();
      else line.socket.end();
      setTimeout(() => line.giveUp(), CUT_OFF_MS).unref();
    };
    if (luck < 0.2) cut();
    else if (luck < 0.25) line.socket.once('data', cut);
    else if (luck < 0.4) setTimeout(cut, this.#random() * CUT_MS_MAX);
    return sent.length === request.length;
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

for (const { name, threads, ...options } of SHAPES) {
  const skip = (options.front === 'native' && whyNoNativeFront()) || false;
  describe(`a storm over ${name}`, { skip, timeout: 900_000 + 4 * STORM_MS }, () => {
    it('loses no sprite and doubles none', async (t) => {
      const random = randomOf(t);
      const relay = await startRelay(options);
      t.after(() => relay.stop());
      const ready = relay.log.find(({ msg }) => msg === 'relay ready');
      assert.deepEqual((ready?.front as { threads: number } | undefined)?.threads, threads);

      const ledger = new Ledger();
      const here: Desktop[] = [];
      t.after(() => Promise.all(here.map((desktop) => desktop.stop())));
      const begin = (joined: Joined) => here.push(new Desktop(joined, relay, ledger, random));
      // All desktops join before the storm: during it, a busy machine would take half a minute for them.
      const worlds = [...Array(DESKTOPS).fill('many'), ...Array(FEW).fill('few')];
      const first = await Promise.all(worlds.map((world) => join(relay.url, { world })));
      for (const joined of first) begin(joined);
      const untilMs = performance.now() + STORM_MS;
      while (performance.now() < untilMs || !ledger.hasEnough()) {
        const [leaver] = here.splice(Math.floor(random() * here.length), 1);
        await leaver.leave();
        begin(await join(relay.url, { world: leaver.joined.world }));
        await rest(LEAVING_MS * random());
      }
      await Promise.all(here.map((desktop) => desktop.calm()));
      const of = async (metric: string) => (await relay.metrics()).get(`sprites_${metric}`) as number;
      await until('all that was accepted is acknowledged', async () => (await of('waiting')) === 0);
      await Promise.all(here.map((desktop) => desktop.stop()));

      const { accepted, owners, counts } = ledger;
      t.diagnostic(`${accepted.size} sprites, ${JSON.stringify(counts)}`);
      const lost = [...accepted].filter((sprite) => !owners.has(sprite));
      const doubled = [...owners].filter(([, desktops]) => desktops.length > 1);
      const foreign = [...owners.keys()].filter((sprite) => !accepted.has(sprite));
      assert.deepEqual({ lost, doubled, foreign }, { lost: [], doubled: [], foreign: [] });
      const [counted, acknowledged, abandoned] = await Promise.all(
        ['accepted_total', 'acknowledged_total', 'abandoned_total'].map(of),
      );
      assert.deepEqual([counted, acknowledged, abandoned], [accepted.size, accepted.size, 0]);
      assert.deepEqual([await of('leases_ended_total'), await of('left_total')], [0, counts.left]);
    });
  });
}
