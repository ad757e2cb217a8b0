/**
 * A storm over real sockets: connections are cut at any instant, polls and throws are repeated, desktops leave and join.
 * Then every sprite is accounted for: what was accepted has come to exactly one desktop.
 *
 * A client may only do what PROTOCOL.md lets it do: throw again under the same number until it knows, poll again with the
 * cursor it has, count an event by its sequence, and take away what it had not acknowledged when it leaves. SEED repeats a
 * storm as far as the machine lets it; STORM_SECONDS makes it longer than the few seconds it takes among the other suites.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNoNativeFront } from '../front/native.ts';
import type { Edge } from '../wire/crossing.ts';
import type { ProblemDocument } from '../wire/problem.ts';
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

const STORM_MS = Number(process.env.STORM_SECONDS ?? 4) * 1000;

/** Desktops of a large world, and of a small one whose desktops are told of each change. */
const DESKTOPS = 120;
const FEW = 6;

/** Between two throws of a desktop, in ms: the relay, not the machine of the test, is what is tried. */
const REST_MS = 40;

/** The longest a connection that is to be cut may last, in ms: an answer takes some tenths of one, or is held. */
const CUT_MS_MAX = 12;

/** Between one leaving, with another coming in its place, and the next, in ms at the most. */
const LEAVING_MS = 100;

/** Who has cut a connection waits no longer than this for the relay's end of it, in ms. */
const CUT_OFF_MS = 500;

const EDGES: readonly Edge[] = ['left', 'right', 'top', 'bottom'];

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

/** What all desktops of a storm have done, to be compared at its end. */
class Ledger {
  readonly accepted = new Set<string>();
  readonly owners = new Map<string, string[]>();
  readonly counts = { cuts: 0, repeats: 0, refused: 0, left: 0 };

  own(sprite: string, desktop: string): void {
    this.owners.set(sprite, [...(this.owners.get(sprite) ?? []), desktop]);
  }
}

/** A desktop whose connections do not last. */
class Desktop {
  readonly joined: Joined;
  readonly #ledger: Ledger;
  readonly #random: () => number;
  readonly #ports: { api: number; events: number };
  /** Sprites that came, the first of sequence 1. */
  readonly #came: string[] = [];
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

  /** It throws no more; it polls on, uncut, until it is stopped. */
  async calm(): Promise<void> {
    this.#calm = true;
    await this.#throwing;
  }

  /** Falls silent; what it got is its own. */
  async stop(): Promise<void> {
    this.#over = true;
    for (const line of this.#lines.values()) line.destroy();
    for (const sprite of this.#came) this.#ledger.own(sprite, this.joined.desktop);
    this.#came.length = 0;
    await this.#polling;
  }

  /**
   * Leaves. What came up to its cursor is its own, once a poll with that was answered; whatever came behind it belongs to
   * somebody else by now.
   */
  async leave(): Promise<void> {
    this.#calm = true;
    await this.#throwing;
    this.#leaving = true;
    const cursor = this.#cursor;
    // Whichever of the two comes later to the relay, the other is answered.
    const last = ['one', 'another'].map((line) => this.#ask(line, cursor));
    const answer = await Promise.any(last.map(async (poll) => (await poll) ?? Promise.reject(new Error('cut'))));
    assert.equal(answer.status, 200, `${answer.body}`);
    this.#over = true;
    const url = `http://127.0.0.1:${this.#ports.api}/v1/desktops/${this.joined.desktop}`;
    assert.equal((await sendRequest(url, { method: 'DELETE', token: this.joined.token })).status, 204);
    this.#came.length = Number(cursor.split('-')[1]);
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
      // Under the same number until it is accepted: a try that was cut may still be on its way when the next is refused.
      while (answer?.status !== 202 && !this.#over) {
        answer = await this.#exchange('throws', this.#ports.api, request);
        if (!answer || answer.status === 202) continue;
        this.#mayBeRefused(answer);
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
      // A second one beside it: the newer wins, and the older is answered empty.
      if (!this.#calm && this.#random() < 0.1) polls.push(this.#poll('more polls'));
      await Promise.all(polls);
    }
  }

  async #poll(line: string): Promise<void> {
    const answer = await this.#ask(line, this.#random() < 0.1 && !this.#calm ? undefined : this.#cursor);
    if (!answer || this.#over) return;
    if (answer.status !== 200) {
      this.#mayBeRefused(answer);
      return;
    }
    const { cursor, events } = answer.json as Batch;
    for (const { seq, sprite } of events.filter(isSprite)) {
      const known = this.#came[seq - 1];
      assert.ok(seq <= this.#came.length + 1, `${seq} came to ${this.joined.desktop} behind ${this.#came.length}`);
      assert.ok(known === undefined || known === sprite.name, `${seq} was ${known}, and is ${sprite.name}`);
      this.#came[seq - 1] = sprite.name;
    }
    // Now and then as if the answer had not come: the same again.
    if (this.#calm || this.#random() < 0.8) this.#advance(cursor);
  }

  #ask(line: string, cursor: string | undefined): Promise<HttpResponse | undefined> {
    const query = cursor === undefined ? '' : `?cursor=${cursor}`;
    return this.#exchange(line, this.#ports.events, this.#request(`GET ${this.#path('events')}${query}`));
  }

  #advance(cursor: string): void {
    const seq = (text: string) => Number(text.split('-')[1]);
    if (seq(cursor) > seq(this.#cursor)) this.#cursor = cursor;
  }

  #mayBeRefused(answer: HttpResponse): void {
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

  /** One request and its answer, on a connection that lasts from one to the next; undefined when it was cut. */
  async #exchange(name: string, port: number, request: string): Promise<HttpResponse | undefined> {
    let line = this.#lines.get(name);
    if (!line || line.over) {
      line = new RawConnection(port);
      this.#lines.set(name, line);
    }
    const isWhole = this.#say(line, request);
    try {
      const answer = await line.answer();
      // Half a request may be answered too, with what it is not.
      return isWhole ? answer : undefined;
    } catch {
      this.#ledger.counts.cuts++;
      line.destroy();
      return undefined;
    }
  }

  /** Sends a request, perhaps on a connection that is then cut: in the middle of it, of its answer, or while it is held. */
  #say(line: RawConnection, request: string): boolean {
    const luck = this.#calm ? 1 : this.#random();
    const said = luck < 0.1 ? request.slice(0, this.#random() * request.length) : request;
    line.send(said);
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
    return said.length === request.length;
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

for (const { name, threads, ...options } of SHAPES) {
  const skip = (options.front === 'native' && whyNoNativeFront()) || false;
  describe(`a storm over ${name}`, { skip, timeout: 60_000 + 4 * STORM_MS }, () => {
    it('loses no sprite, and doubles none', async (t) => {
      const random = randomOf(t);
      const relay = await startRelay(options);
      t.after(() => relay.stop());
      const ready = relay.log.find(({ msg }) => msg === 'relay ready');
      assert.deepEqual((ready?.front as { threads: number } | undefined)?.threads, threads);

      const ledger = new Ledger();
      const here: Desktop[] = [];
      t.after(() => Promise.all(here.map((desktop) => desktop.stop())));
      const begin = (joined: Joined) => here.push(new Desktop(joined, relay, ledger, random));
      // All of them before the storm begins: one by one in the midst of it, a full machine takes half a minute over them.
      const worlds = [...Array(DESKTOPS).fill('many'), ...Array(FEW).fill('few')];
      const first = await Promise.all(worlds.map((world) => join(relay.url, { world })));
      for (const joined of first) begin(joined);
      const untilMs = performance.now() + STORM_MS;
      while (performance.now() < untilMs) {
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
      assert.ok(accepted.size > 500 && counts.cuts > 500 && counts.repeats > 50, 'it was a storm');
    });
  });
}
