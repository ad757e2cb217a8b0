/**
 * Canaries: two desktops in a world of their own that throw a sprite to each other, so that a watch knows what people feel.
 *
 * A round trip is from the throw of the first to the arrival of the sprite that the second throws back: two crossings. Both hold their polls
 * all the time. Invariant: a sprite that comes too late counts for no round trip but its own. Cost for the relay: two desktops, two sprites a
 * round trip. They leave with `leave`; when the relay does not know them any more, they join again.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** A relay that does not answer a join, a throw or a leave by then does not answer. A poll may take longer. */
const ANSWER_MS_MAX = 5_000;
/** After a poll that failed. */
const RETRY_MS = 1_000;

/** The picture of the sprites: nobody sees it. */
const PICTURE = '0'.repeat(64);

interface Seat {
  desktop: string;
  token: string;
  cursor: string;
  events: string;
  crossings: string;
}

interface Event {
  type: string;
  sprite?: { name?: string };
}

export class Canaries {
  readonly #url: string;
  readonly #world = `canaries-${Date.now().toString(36)}`;
  readonly #end = new AbortController();
  readonly #seats: (Seat | undefined)[] = [undefined, undefined];
  readonly #crossings = [0, 0];
  #trips = 0;
  /** What waits for a sprite of this name to arrive. */
  readonly #waiting = new Map<string, () => void>();

  constructor(url: string) {
    this.#url = url.replace(/\/$/, '');
  }

  /** Joins. Throws Error when the relay does not let them in. */
  async join(): Promise<void> {
    for (const which of [0, 1]) await this.#sit(which);
    for (const which of [0, 1]) void this.#listen(which);
  }

  /** In µs; undefined when it takes longer than `msMax`, or the relay refuses a throw. */
  async roundTrip(msMax: number): Promise<number | undefined> {
    const name = `canary-${++this.#trips}`;
    const late = AbortSignal.timeout(msMax);
    const began = performance.now();
    try {
      for (const which of [0, 1]) await this.#cross(which, `${name}-${which}`, late);
      return (performance.now() - began) * 1000;
    } catch {
      return undefined;
    }
  }

  async leave(): Promise<void> {
    this.#end.abort();
    await Promise.all(
      this.#seats.map((seat) => seat && this.#ask('DELETE', this.#addressOf(seat), seat.token).catch(() => {})),
    );
  }

  /** Throws a sprite, and waits until the other canary has it. */
  async #cross(which: number, name: string, late: AbortSignal): Promise<void> {
    const seat = this.#seats[which];
    if (!seat) throw new Error('it has no seat');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    late.addEventListener('abort', reject);
    this.#waiting.set(name, resolve);
    const sprite = { file: PICTURE, name, animation: 'fall', facing: 'right', scale: 1 };
    const crossing = { crossing: ++this.#crossings[which], edge: 'right', at: 0.5, vx: 100, vy: 0, sprite };
    try {
      const thrown = this.#ask('POST', seat.crossings, seat.token, crossing);
      await Promise.all([promise, thrown]);
    } finally {
      this.#waiting.delete(name);
    }
  }

  async #sit(which: number): Promise<void> {
    const wanted = { name: `canary ${which + 1}`, world: this.#world, screen: { width: 800, height: 600 } };
    this.#crossings[which] = 0;
    this.#seats[which] = await this.#ask<Seat>('POST', `${this.#url}/v1/desktops`, '', wanted);
  }

  async #listen(which: number): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const seat = this.#seats[which];
      if (!seat) return;
      try {
        const answer = await fetch(`${seat.events}?cursor=${seat.cursor}`, {
          headers: { authorization: `Bearer ${seat.token}` },
          signal,
        });
        if (answer.status >= 400 && answer.status < 500) await this.#sit(which);
        if (!answer.ok) throw new Error(`it answered ${answer.status}`);
        const { cursor, events } = (await answer.json()) as { cursor: string; events: Event[] };
        seat.cursor = cursor;
        for (const { type, sprite } of events) if (type === 'sprite') this.#waiting.get(sprite?.name ?? '')?.();
      } catch {
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #addressOf({ desktop }: Seat): string {
    return `${this.#url}/v1/desktops/${desktop}`;
  }

  async #ask<Answer>(method: string, url: string, token: string, body?: object): Promise<Answer> {
    const answer = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }
}
