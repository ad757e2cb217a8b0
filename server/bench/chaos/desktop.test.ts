import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { randomFrom } from '../hostile/random.ts';
import type { Reply, Request, Send } from '../requests.ts';
import { Account } from './account.ts';
import { Desktop } from './desktop.ts';
import { AHEAD_MAX, Seat } from './seat.ts';

const BASE = 'http://base:1';

interface Asked {
  url: string;
  request: Request;
  /** Without a reply the connection breaks. */
  answer: (reply?: Reply) => void;
}

/** The relays of a desktop, which the test plays: it takes the requests one after the other, and answers them. */
class PlayedRelays {
  readonly #asked: Asked[] = [];

  readonly send: Send = (url, request) =>
    new Promise((resolve) => {
      const asked: Asked = { url, request, answer: resolve };
      this.#asked.push(asked);
      request.signal?.addEventListener('abort', () => {
        this.#asked.splice(this.#asked.indexOf(asked), 1);
        resolve(undefined);
      });
    });

  /** The oldest request with this method, as soon as there is one. */
  async next(method: string): Promise<Asked> {
    for (;;) {
      const at = this.#asked.findIndex(({ request }) => request.method === method);
      if (at >= 0) return this.#asked.splice(at, 1)[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async seat(desktop: string, host = 'r1'): Promise<string> {
    const { url, answer } = await this.next('POST');
    const at = `http://${host}:1/v1/desktops/${desktop}`;
    const json = {
      desktop,
      token: `token of ${desktop}`,
      cursor: 'e-0',
      events: `${at}/events`,
      crossings: `${at}/crossings`,
    };
    answer({ status: 201, json });
    return url;
  }

  async close(): Promise<void> {
    for (const { answer } of this.#asked.splice(0)) answer();
  }
}

/** A desktop that lives until the test ends, and its account. */
function begin(t: TestContext): { relays: PlayedRelays; account: Account; desktop: Desktop } {
  const relays = new PlayedRelays();
  let nowMs = 0;
  const account = new Account(() => nowMs);
  const desktop = new Desktop(7, undefined, 1, {
    send: relays.send,
    account,
    random: randomFrom(1),
    now: () => nowMs,
    relays: [BASE],
    seats: new Map(),
    relayOf: (url) => new URL(url).hostname,
    rest: async () => {
      nowMs++;
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  desktop.isCalm = true;
  const life = desktop.live();
  t.after(async () => {
    desktop.stop();
    await relays.close();
    await life;
  });
  return { relays, account, desktop };
}

/** Lets it throw once. Resolves to the request. */
async function thrownBy(desktop: Desktop, relays: PlayedRelays): Promise<Asked & { crossing: number }> {
  desktop.isCalm = false;
  const asked = await relays.next('POST');
  desktop.isCalm = true;
  return { ...asked, crossing: (asked.request.body as { crossing: number }).crossing };
}

const batch = (cursor: string, ...events: object[]): Reply => ({ status: 200, json: { cursor, events } });

const spriteEvent = (sprite: number, seq: number) => ({ type: 'sprite', seq, sprite: { name: `sprite-${sprite}` } });

const problem = (status: number, code: string, cursor?: string): Reply => ({ status, json: { code, cursor } });

const ACCEPTED: Reply = { status: 202, json: { to: { desktop: 'b' } } };

const wrongs = (account: Account) => account.settle([]).map(({ wrong, allowed }) => [wrong, allowed]);

describe('a desktop of a chaos run', () => {
  it('polls with the cursor of the last response, and has a sprite for good when that poll is answered', async (t) => {
    const { relays, account } = begin(t);
    assert.equal(await relays.seat('a'), `${BASE}/v1/desktops`);
    account.made(1);
    const first = await relays.next('GET');
    assert.equal(first.url, 'http://r1:1/v1/desktops/a/events?cursor=e-0');
    first.answer(batch('e-1', spriteEvent(0, 1)));
    const second = await relays.next('GET');
    assert.equal(second.url, 'http://r1:1/v1/desktops/a/events?cursor=e-1');
    assert.deepEqual([account.counts.received, account.counts.acknowledged], [1, 0]);
    second.answer(batch('e-1', spriteEvent(0, 1)));
    await relays.next('GET');
    assert.deepEqual([account.counts.received, account.counts.acknowledged], [1, 1], 'the repeated event is none');
  });

  it('repeats a throw under its number at the seat that sent it, also when that has ended, and joins afterwards', async (t) => {
    const { relays, account, desktop } = begin(t);
    await relays.seat('a');
    const poll = await relays.next('GET');
    const first = await thrownBy(desktop, relays);
    assert.equal(account.size, 1);
    poll.answer(problem(410, 'desktop-ended', 'e-0'));
    first.answer();
    const repeat = await relays.next('POST');
    assert.equal(repeat.url, 'http://r1:1/v1/desktops/a/crossings');
    assert.deepEqual(repeat.request, first.request);
    repeat.answer(ACCEPTED);
    assert.equal(await relays.seat('b'), `${BASE}/v1/desktops`);
    await relays.next('GET');
    assert.deepEqual([account.counts.accepted, account.counts.repeated], [1, 1]);
    assert.deepEqual(wrongs(account), [['lost', undefined]], 'it is on its way, to no desktop of this test');
  });

  it('keeps a sprite whose throw is refused, and throws it under another number', async (t) => {
    const { relays, account, desktop } = begin(t);
    await relays.seat('a');
    await relays.next('GET');
    const { crossing, answer } = await thrownBy(desktop, relays);
    answer(problem(503, 'relay-busy'));
    const again = await thrownBy(desktop, relays);
    assert.ok(again.crossing > crossing);
    assert.deepEqual([account.refused.get('relay-busy'), wrongs(account)], [1, []]);
  });

  it('removes what the relay sent after the last cursor that it knows to be acknowledged', async (t) => {
    const { relays, account } = begin(t);
    await relays.seat('a');
    for (let n = 0; n < 3; n++) account.made(1);
    (await relays.next('GET')).answer(batch('e-3', spriteEvent(0, 1), spriteEvent(1, 2), spriteEvent(2, 3)));
    (await relays.next('GET')).answer();
    (await relays.next('GET')).answer(problem(410, 'desktop-ended', 'e-2'));
    await relays.seat('b');
    assert.equal(account.counts.dropped, 1);
    assert.deepEqual(wrongs(account), [
      ['doubled', undefined],
      ['doubled', undefined],
    ]);
  });

  it('removes its last batch when the relay does not say what was acknowledged, which is then not certain', async (t) => {
    const { relays, account } = begin(t);
    await relays.seat('a');
    account.made(1);
    account.accepted(0, 1, 'to 7');
    (await relays.next('GET')).answer(batch('e-1', spriteEvent(0, 1)));
    (await relays.next('GET')).answer();
    (await relays.next('GET')).answer(problem(410, 'desktop-ended'));
    await relays.seat('b');
    assert.deepEqual(wrongs(account), [['lost', 'a 410 without a cursor after a lost poll']]);
  });

  for (const code of ['cursor-lost', 'cursor-ahead']) {
    it(`goes on from the cursor in ${code}, and keeps what it has`, async (t) => {
      const { relays, account } = begin(t);
      await relays.seat('a');
      account.made(1);
      (await relays.next('GET')).answer(batch('e-9', spriteEvent(0, 9)));
      (await relays.next('GET')).answer(problem(code === 'cursor-lost' ? 410 : 400, code, 'f-4'));
      const poll = await relays.next('GET');
      assert.equal(poll.url, 'http://r1:1/v1/desktops/a/events?cursor=f-4');
      poll.answer(batch('f-5', spriteEvent(0, 5)));
      await relays.next('GET');
      assert.equal(account.counts.received, 2);
    });
  }

  it('joins where a bye sends it, and repeats its throws at the old seat', async (t) => {
    const { relays, desktop } = begin(t);
    await relays.seat('a');
    const poll = await relays.next('GET');
    const thrown = await thrownBy(desktop, relays);
    poll.answer(batch('e-0', { type: 'bye', retryAfterMs: 5, join: 'http://r2:1/v1/desktops' }));
    assert.equal(await relays.seat('b', 'r2'), 'http://r2:1/v1/desktops');
    assert.equal((await relays.next('GET')).url, 'http://r2:1/v1/desktops/b/events?cursor=e-0');
    thrown.answer();
    assert.equal((await relays.next('POST')).url, 'http://r1:1/v1/desktops/a/crossings');
  });

  it('leaves only when the relay has answered that it has its cursor', async (t) => {
    const { relays, account, desktop } = begin(t);
    await relays.seat('a');
    const poll = await relays.next('GET');
    const leaving = desktop.leave(0);
    const newer = await relays.next('GET');
    assert.equal(newer.url, poll.url);
    poll.answer(batch('e-0'));
    (await relays.next('DELETE')).answer();
    (await relays.next('DELETE')).answer({ status: 204, json: undefined });
    assert.ok(await leaving);
    await relays.seat('b');
    assert.equal(account.counts.ended, 1);
  });

  it('stays when it is not certain what it has acknowledged', async (t) => {
    const { relays, account, desktop } = begin(t);
    await relays.seat('a');
    account.made(1);
    const poll = await relays.next('GET');
    const leaving = desktop.leave(0);
    poll.answer(batch('e-1', spriteEvent(0, 1)));
    assert.equal(await leaving, false);
    assert.match((await relays.next('GET')).url, /cursor=e-1$/);
  });

  it('polls no more while it is silent', async (t) => {
    const { relays, desktop } = begin(t);
    await relays.seat('a');
    await relays.next('GET');
    desktop.fallSilent(1);
    assert.ok(desktop.isSilent);
    await relays.next('GET');
    assert.ok(!desktop.isSilent);
  });
});

describe('a seat', () => {
  const seat = () => new Seat({ desktop: 'a', token: '', cursor: 'e-0', events: '', crossings: '', world: '' }, 'r1');

  it('gives no number that is 32 or more above the oldest one without an answer', () => {
    const one = seat();
    for (let number = 1; number <= AHEAD_MAX; number++) assert.equal(one.takeNumber(), number);
    assert.equal(one.takeNumber(), undefined);
    one.answered(2);
    assert.equal(one.takeNumber(), undefined, 'the oldest has no answer');
    one.answered(1);
    assert.deepEqual([one.takeNumber(), one.takeNumber(), one.takeNumber()], [33, 34, undefined]);
  });
});
