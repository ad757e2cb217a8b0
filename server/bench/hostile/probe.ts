/**
 * The probe: a well-behaved pair of desktops beside an attack, in a world of their own.
 *
 * Each throws a numbered sprite to the other every THROW_MS, and repeats a throw under its number until it is answered 202, as
 * PROTOCOL.md asks. Both poll. The first also sends a new picture and fetches a known one every PICTURE_MS. Invariant: each sprite counts once as accepted and once as received; what is accepted and
 * never received is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CROSSINGS_REMEMBERED, LEASE_MS } from '../../wire/rules.ts';
import { Connections, type Reply, type Request } from '../requests.ts';
import { mediumPicture, type Picture, smallPicture } from './picture.ts';
import { randomFrom } from './random.ts';
import { crossingOf, HOST, type Joined, PROBE_ADDRESS, SCREEN, type Target } from './target.ts';

const THROW_MS = 100;

/** As often as one address may upload. */
const PICTURE_MS = 1_000;

/** A try without a response is repeated on a new connection after this time. */
const TRY_MS_MAX = 10_000;

const RETRY_MS = 100;

/** How long the probe tries to join a relay that is still full of the attack before, in ms: a lease, and some. */
const JOIN_MS_MAX = LEASE_MS + 10_000;

/** How long finish() waits for responses and sprites, in ms. */
const PATIENCE_MS = 15_000;

export interface Findings {
  thrown: number;
  /** Answered 202. */
  accepted: number;
  received: number;
  /** Accepted, but not received by the end. */
  lost: number;
  /** Received more than once. */
  doubled: number;
  /** Responses other than 202, after which the throw was repeated. */
  refused: number;
  /** The codes of their problems. */
  refusals: Readonly<Record<string, number>>;
  /** Tries without a response: the connection broke, or TRY_MS_MAX passed. */
  broken: number;
  /** From the first try of a throw to its 202, and from there to its arrival; the longest of all throws, in ms. */
  roundTripMsMax: number;
  arrivalMsMax: number;
  /** Pictures that were sent or fetched, and those that were refused with 429 or 503. */
  pictures: number;
  picturesRefused: number;
  /** The relay ended a desktop of the probe, or it could not join; says why. */
  ended: string;
}

/** A numbered sprite that was thrown. */
interface Throw {
  startMs: number;
  acceptedMs: number;
  receivedCount: number;
  receivedMs: number;
}

export class Probe {
  readonly #target: Target;
  readonly #connections = new Connections(PROBE_ADDRESS);
  readonly #quit = new AbortController();
  readonly #throws = new Map<string, Throw>();
  #refused = 0;
  readonly #refusals: Record<string, number> = {};
  #broken = 0;
  #pictures = 0;
  #picturesRefused = 0;
  #ended = '';
  #throwing = true;
  #leaving = false;
  #pair: Joined[] = [];
  /** The newest cursor of each desktop. */
  readonly #cursors = new Map<Joined, string>();
  #loops: Promise<void>[] = [];

  private constructor(target: Target) {
    this.#target = target;
  }

  /** Joins the pair. Throws when the relay does not let it in: it must be there before the attack. */
  static async join(target: Target): Promise<Probe> {
    const probe = new Probe(target);
    const world = `probe ${process.pid} ${Math.random().toString(36).slice(2)}`;
    probe.#pair = [await probe.#join('Ann', world), await probe.#join('Bob', world)];
    const known = mediumPicture(randomFrom(process.pid));
    await probe.#upload(probe.#pair[0], known);
    probe.#loops = probe.#pair.flatMap((desktop) => [probe.#poll(desktop), probe.#throwOn(desktop)]);
    probe.#loops.push(probe.#exchangePictures(probe.#pair[0], known));
    return probe;
  }

  /** Stops throwing, waits for what is on the way, leaves, and returns what happened. */
  async finish(): Promise<Findings> {
    this.#throwing = false;
    const untilMs = performance.now() + PATIENCE_MS;
    // A sprite may arrive before its throw is answered.
    const isSettled = () =>
      [...this.#throws.values()].every(({ acceptedMs, receivedCount }) => acceptedMs > 0 && receivedCount > 0);
    while (!isSettled() && this.#ended === '' && performance.now() < untilMs) await sleep(RETRY_MS);
    await Promise.race([Promise.all(this.#pair.map((desktop) => this.#acknowledge(desktop))), sleep(PATIENCE_MS)]);
    this.#leaving = true;
    for (const desktop of this.#pair) {
      await this.#request('DELETE', this.#target.api, `/v1/desktops/${desktop.desktop}`, desktop);
    }
    this.#quit.abort();
    await Promise.all(this.#loops);
    this.#connections.close();
    return this.#findings();
  }

  #findings(): Findings {
    const throws = [...this.#throws.values()];
    const accepted = throws.filter(({ acceptedMs }) => acceptedMs > 0);
    const received = throws.filter(({ receivedCount }) => receivedCount > 0);
    const longest = (times: number[]) => times.reduce((most, time) => Math.max(most, time), 0);
    return {
      thrown: throws.length,
      accepted: accepted.length,
      received: received.length,
      lost: accepted.filter(({ receivedCount }) => receivedCount === 0).length,
      doubled: throws.filter(({ receivedCount }) => receivedCount > 1).length,
      refused: this.#refused,
      refusals: this.#refusals,
      broken: this.#broken,
      roundTripMsMax: longest(accepted.map(({ startMs, acceptedMs }) => acceptedMs - startMs)),
      arrivalMsMax: longest(received.map(({ startMs, receivedMs }) => receivedMs - startMs)),
      pictures: this.#pictures,
      picturesRefused: this.#picturesRefused,
      ended: this.#ended,
    };
  }

  async #join(name: string, world: string): Promise<Joined> {
    const untilMs = performance.now() + JOIN_MS_MAX;
    for (;;) {
      const wish = { name, world, screen: SCREEN };
      const reply = await this.#request('POST', this.#target.api, '/v1/desktops', undefined, wish);
      if (reply?.status === 201) return reply.json as Joined;
      if (performance.now() > untilMs) throw new Error(`the probe could not join: ${JSON.stringify(reply)}`);
      await sleep(RETRY_MS);
    }
  }

  async #throwOn(desktop: Joined): Promise<void> {
    // In the order of their numbers, so the first is the oldest.
    const unanswered = new Map<number, Promise<void>>();
    let number = 1;
    while (this.#throwing && this.#ended === '') {
      const [oldest = number] = unanswered.keys();
      if (number - oldest <= CROSSINGS_REMEMBERED) {
        const thrown = number++;
        const done = this.#throw(desktop, thrown).finally(() => unanswered.delete(thrown));
        unanswered.set(thrown, done);
      }
      await sleep(THROW_MS);
    }
    await Promise.all(unanswered.values());
  }

  async #throw(desktop: Joined, number: number): Promise<void> {
    const name = `${desktop.desktop} ${number}`;
    const thrown: Throw = { startMs: performance.now(), acceptedMs: 0, receivedCount: 0, receivedMs: 0 };
    this.#throws.set(name, thrown);
    const path = `/v1/desktops/${desktop.desktop}/crossings`;
    while (!this.#quit.signal.aborted && this.#ended === '') {
      const reply = await this.#request('POST', this.#target.api, path, desktop, crossingOf(number, 'right', name));
      if (reply?.status === 202) {
        thrown.acceptedMs = performance.now();
        return;
      }
      if (this.#quit.signal.aborted) return;
      if (reply === undefined) this.#broken++;
      else this.#refuse(reply);
      if (reply?.status === 401 || reply?.status === 410) this.#ended ||= JSON.stringify(reply.json);
      await sleep(RETRY_MS);
    }
  }

  /**
   * Resolves when the relay has handled the newest cursor: a sprite that is not acknowledged goes on to the other desktop when this
   * one leaves. The next poll replaces this one, which is answered then.
   */
  async #acknowledge(desktop: Joined): Promise<void> {
    await this.#request('GET', this.#target.events, this.#eventsOf(desktop), desktop);
  }

  #eventsOf(desktop: Joined): string {
    return `/v1/desktops/${desktop.desktop}/events?cursor=${this.#cursors.get(desktop) ?? desktop.cursor}`;
  }

  async #poll(desktop: Joined): Promise<void> {
    while (!this.#quit.signal.aborted && this.#ended === '') {
      const reply = await this.#request('GET', this.#target.events, this.#eventsOf(desktop), desktop);
      const { cursor, events = [] } = (reply?.json ?? {}) as { cursor?: string; events?: PolledEvent[] };
      if (cursor !== undefined) this.#cursors.set(desktop, cursor);
      for (const { type, sprite } of events) if (type === 'sprite' && sprite) this.#receive(sprite.name);
      if (reply?.status === 200) continue;
      if (this.#leaving) return;
      if (reply === undefined) this.#broken++;
      if (reply?.status === 401 || reply?.status === 410) this.#ended ||= JSON.stringify(reply.json);
      await sleep(RETRY_MS);
    }
  }

  /** Sends a new picture and fetches a known one, again and again. */
  async #exchangePictures(desktop: Joined, known: Picture): Promise<void> {
    while (this.#throwing && this.#ended === '') {
      const sent = await this.#upload(desktop, smallPicture());
      const fetched = await this.#request('GET', this.#target.api, `/v1/sprites/${known.hash}`);
      for (const reply of [sent, fetched]) {
        this.#pictures++;
        if (reply?.status === 429 || reply?.status === 503) this.#picturesRefused++;
      }
      await sleep(PICTURE_MS);
    }
  }

  #upload(desktop: Joined, { hash, bytes }: Picture): Promise<Reply | undefined> {
    return this.#request('PUT', this.#target.api, `/v1/sprites/${hash}`, desktop, bytes);
  }

  #refuse({ status, json }: Reply): void {
    const { code = String(status) } = (json ?? {}) as { code?: string };
    this.#refused++;
    this.#refusals[code] = (this.#refusals[code] ?? 0) + 1;
  }

  #receive(name: string): void {
    const thrown = this.#throws.get(name);
    if (thrown === undefined) return;
    thrown.receivedCount++;
    thrown.receivedMs = performance.now();
  }

  /** Resolves to undefined when the connection breaks or a response takes longer than TRY_MS_MAX; polls may take longer. */
  #request(
    method: Request['method'],
    port: number,
    path: string,
    desktop?: Joined,
    body?: object | string,
  ): Promise<Reply | undefined> {
    const timeoutMs = method === 'GET' ? undefined : TRY_MS_MAX;
    const request = { method, token: desktop?.token, body, timeoutMs, signal: this.#quit.signal };
    return this.#connections.send(`http://${HOST}:${port}${path}`, request);
  }
}

interface PolledEvent {
  type: string;
  sprite?: { name: string };
}
