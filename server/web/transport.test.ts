import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NAME_BYTES_MAX } from '../wire/description.ts';
import { NAME_BYTES_MAX as CROSSING_NAME_BYTES_MAX } from '../wire/text.ts';
import { poll } from './poll.ts';
import { sha256, sha256Portable } from './sha256.ts';
import { socket } from './socket.ts';
import { BACKOFF_MS_FIRST, BACKOFF_MS_MAX, backoffMs, byeMs, type Crossing, type Seat } from './transport.ts';

const seat: Seat = {
  ...{ desktop: '1-1', token: '1-1.aa', world: 'commons', cursor: '00000001-0', pingSeconds: 120 },
  ...{ events: 'http://r/events', crossings: 'http://r/crossings', socket: 'ws://r/socket' },
};
const crossing: Crossing = {
  ...{ crossing: 7, edge: 'right', at: 0.5, vx: 900, vy: 0 },
  sprite: { file: 'f', name: 'Blob', animation: 'fall', facing: 'right', scale: 2 },
};
const arrival = (seq: number) => ({ type: 'sprite', seq });

/** Writes down what a transport tells its page. `hold` keeps it from taking in a batch. */
function page() {
  const said: string[] = [];
  const held: (() => void)[] = [];
  const state = { hold: false };
  const handlers = {
    events: async (events: unknown[], cursor: string) => {
      said.push(`${events.length} events, ${cursor}`);
      if (state.hold) await new Promise<void>((resolve) => held.push(resolve));
    },
    cursorLost: (cursor: string) => said.push(`lost, ${cursor}`),
    connected: (is: boolean) => {
      const word = is ? 'up' : 'down';
      if (said.findLast((one) => one === 'up' || one === 'down') !== word) said.push(word);
    },
    ended: ({ code }: { code: string }, batchLost: boolean) =>
      said.push(`ended, ${code}${batchLost ? ', and the last batch with it' : ''}`),
  };
  return { said, held, state, handlers: handlers as never };
}

/** Waits for a condition, turn by turn. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (condition()) return;
    await turn();
  }
  assert.fail(`never: ${condition}`);
}

/** A fetch whose answers the test gives, and a sleep that only notes how long. */
function relay() {
  const asked: { url: string; init: RequestInit; answer: (status: number, body: unknown) => void; fail: () => void }[] =
    [];
  const slept: number[] = [];
  const surroundings = {
    fetch: ((url: string, init: RequestInit) =>
      new Promise((resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        asked.push({
          ...{ url, init, fail: () => reject(new TypeError('network')) },
          answer: (status, body) => resolve(new Response(JSON.stringify(body), { status })),
        });
      })) as typeof fetch,
    random: () => 0.5,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  return { asked, slept, surroundings };
}

describe('poll', () => {
  it('asks with the cursor it was given, then with the one of each answer, the token never in the URL', async () => {
    const { said, handlers } = page();
    const { asked, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    asked[0].answer(200, { cursor: '00000001-2', events: [arrival(1), arrival(2)] });
    await until(() => asked.length === 2);
    assert.deepEqual(
      asked.map(({ url }) => url),
      ['http://r/events?cursor=00000001-0', 'http://r/events?cursor=00000001-2'],
    );
    assert.deepEqual(asked[0].init.headers, { authorization: 'Bearer 1-1.aa' });
    assert.deepEqual(said, ['up', '2 events, 00000001-2']);
    transport.close();
  });

  it('acknowledges nothing until the page has taken it in', async () => {
    const { held, state, handlers } = page();
    const { asked, surroundings } = relay();
    state.hold = true;
    const transport = poll(seat, handlers, surroundings);
    asked[0].answer(200, { cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    await turn();
    assert.equal(asked.length, 1);
    held[0]();
    await until(() => asked.length === 2);
    transport.close();
  });

  it('backs off when the network fails, and asks again with the same cursor', async () => {
    const { said, handlers } = page();
    const { asked, slept, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    for (let i = 0; i < 3; i++) {
      await until(() => asked.length === i + 1);
      if (i === 1) asked[i].answer(503, { code: 'draining', title: '' });
      else asked[i].fail();
    }
    await until(() => asked.length === 4);
    assert.deepEqual(slept, [300, 600, 1200]);
    assert.equal(asked[3].url, asked[0].url);
    assert.deepEqual(said, ['down']);
    transport.close();
  });

  it('goes on from the cursor of a relay that began anew', async () => {
    const { said, handlers } = page();
    const { asked, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    asked[0].answer(410, { code: 'cursor-lost', title: '', cursor: '00000002-0' });
    await until(() => asked.length === 2);
    assert.equal(asked[1].url, 'http://r/events?cursor=00000002-0');
    assert.deepEqual(said, ['lost, 00000002-0']);
    transport.close();
  });

  it('goes on from the cursor it is given when its own is beyond everything sent', async () => {
    const { handlers } = page();
    const { asked, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    asked[0].answer(400, { code: 'cursor-ahead', title: '', cursor: '00000001-3' });
    await until(() => asked.length === 2);
    assert.equal(asked[1].url, 'http://r/events?cursor=00000001-3');
    transport.close();
  });

  it('says that the last batch is lost when the first poll behind it finds the seat gone, and only then', async () => {
    for (const { failures, lost } of [
      { failures: 0, lost: true },
      { failures: 1, lost: false },
    ]) {
      const { said, handlers } = page();
      const { asked, surroundings } = relay();
      poll(seat, handlers, surroundings);
      asked[0].answer(200, { cursor: '00000001-1', events: [arrival(1)] });
      for (let i = 1; i <= failures; i++) {
        await until(() => asked.length === i + 1);
        asked[i].fail(); // it may have come to the relay: then the batch is acknowledged
      }
      await until(() => asked.length === failures + 2);
      asked[failures + 1].answer(410, { code: 'desktop-ended', title: '' });
      await until(() => said.some((one) => one.startsWith('ended')));
      assert.equal(said.at(-1), `ended, desktop-ended${lost ? ', and the last batch with it' : ''}`);
    }
  });

  it('says so when the seat is gone, asks no more, and leaves crossings in flight undecided', async () => {
    for (const code of ['unknown-desktop', 'desktop-ended']) {
      const { said, handlers } = page();
      const { asked, surroundings } = relay();
      const transport = poll(seat, handlers, surroundings);
      const verdict = transport.send(crossing);
      asked[0].answer(401, { code, title: '' });
      assert.equal(await verdict, 'unknown');
      assert.deepEqual(said, [`ended, ${code}`]);
      assert.equal(asked.length, 2);
    }
  });

  it('stays away as long as the relay asked when it said goodbye', async () => {
    const { handlers } = page();
    const { asked, slept, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    asked[0].answer(200, { cursor: '00000001-0', events: [{ type: 'bye', retryAfterMs: 2000 }] });
    await until(() => asked.length === 2);
    assert.deepEqual(slept, [2000]);
    transport.close();
  });

  it('repeats a crossing under its number until the relay has decided', async () => {
    const { handlers } = page();
    const { asked, surroundings } = relay();
    const transport = poll(seat, handlers, surroundings);
    const verdict = transport.send(crossing);
    asked[1].fail();
    await until(() => asked.length === 3);
    asked[2].answer(502, 'a proxy says so');
    await until(() => asked.length === 4);
    asked[3].answer(202, { to: { desktop: '2-1', name: 'Ada' } });
    assert.deepEqual(await verdict, { to: { desktop: '2-1', name: 'Ada' } });
    for (const { init } of asked.slice(1)) assert.equal(init.body, JSON.stringify(crossing));
    const refused = transport.send(crossing);
    asked[4].answer(503, { code: 'mailbox-full', title: 'Full' });
    assert.deepEqual(await refused, { refused: { code: 'mailbox-full', title: 'Full', status: 503 } });
    transport.close();
  });
});

/** WebSockets the test plays the relay on. */
function sockets() {
  const opened: FakeSocket[] = [];
  class FakeSocket {
    readonly url: string;
    readonly sent: Record<string, unknown>[] = [];
    closed = false;
    onopen: (() => void) | null = null;
    onclose: (() => void) | null = null;
    onerror: (() => void) | null = null;
    onmessage: ((event: { data: string }) => void) | null = null;
    constructor(url: string) {
      this.url = url;
      opened.push(this);
    }
    send(text: string): void {
      this.sent.push(JSON.parse(text));
    }
    close(): void {
      this.closed = true;
    }
    say(message: object): void {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
  }
  const { slept, surroundings } = relay();
  return { opened, slept, surroundings: { ...surroundings, WebSocket: FakeSocket as never } };
}

describe('socket', () => {
  it('introduces itself with token and cursor, and asks on with the cursor of each batch it has taken in', async () => {
    const { said, held, state, handlers } = page();
    const { opened, surroundings } = sockets();
    state.hold = true;
    const transport = socket(seat, handlers, surroundings);
    const [first] = opened;
    first.onopen?.();
    assert.deepEqual(first.sent, [{ token: '1-1.aa', cursor: '00000001-0' }]);
    first.say({ cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    assert.equal(first.sent.length, 1);
    held[0]();
    await until(() => first.sent.length === 2);
    assert.deepEqual(first.sent[1], { cursor: '00000001-1' });
    assert.deepEqual(said, ['up', '1 events, 00000001-1']);
    transport.close();
    assert.ok(first.closed);
  });

  it('opens a broken connection again with its cursor, and sends unanswered crossings again under their numbers', async () => {
    const { said, handlers } = page();
    const { opened, slept, surroundings } = sockets();
    const transport = socket(seat, handlers, surroundings);
    opened[0].onopen?.();
    opened[0].say({ cursor: '00000001-4', events: [] });
    const verdict = transport.send(crossing);
    await until(() => opened[0].sent.length === 3);
    opened[0].onclose?.();
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    assert.deepEqual(opened[1].sent, [{ token: '1-1.aa', cursor: '00000001-4' }, JSON.parse(JSON.stringify(crossing))]);
    opened[1].say({ crossing: 7, to: { desktop: '2-1', name: 'Ada' } });
    assert.deepEqual(await verdict, { to: { desktop: '2-1', name: 'Ada' } });
    assert.deepEqual(slept, [300]);
    assert.deepEqual(said, ['up', '0 events, 00000001-4', 'down', 'up']);
    transport.close();
  });

  it('says that the last batch is lost when the first poll behind it finds the seat gone, and only then', async () => {
    for (const { breaks, lost } of [
      { breaks: false, lost: true },
      { breaks: true, lost: false },
    ]) {
      const { said, handlers } = page();
      const { opened, surroundings } = sockets();
      socket(seat, handlers, surroundings);
      opened[0].onopen?.();
      opened[0].say({ cursor: '00000001-1', events: [arrival(1)] });
      await until(() => opened[0].sent.length === 2);
      if (breaks) {
        opened[0].onclose?.(); // the poll may have come to the relay
        await until(() => opened.length === 2);
        opened[1].onopen?.();
      }
      opened.at(-1)!.say({ problem: { code: 'desktop-ended', title: '' } });
      await until(() => said.some((one) => one.startsWith('ended')));
      assert.equal(said.at(-1), `ended, desktop-ended${lost ? ', and the last batch with it' : ''}`);
    }
  });

  it('says that the last batch is lost when its connection broke before it was asked for more', async () => {
    const { said, held, state, handlers } = page();
    const { opened, surroundings } = sockets();
    state.hold = true;
    socket(seat, handlers, surroundings);
    opened[0].onopen?.();
    opened[0].say({ cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    opened[0].onclose?.();
    held[0]();
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    opened[1].say({ problem: { code: 'desktop-ended', title: '' } });
    await until(() => said.some((one) => one.startsWith('ended')));
    assert.equal(said.at(-1), 'ended, desktop-ended, and the last batch with it');
  });

  it('backs off longer each time nobody answers', async () => {
    const { handlers } = page();
    const { opened, slept, surroundings } = sockets();
    const transport = socket(seat, handlers, surroundings);
    for (let i = 0; i < 4; i++) {
      await until(() => opened.length === i + 1);
      opened[i].onerror?.();
    }
    await until(() => opened.length === 5);
    assert.deepEqual(slept, [600, 1200, 2400, 4800]);
    transport.close();
  });

  it('hands out a refusal, a lost cursor and the end of the seat', async () => {
    const { said, handlers } = page();
    const { opened, surroundings } = sockets();
    const transport = socket(seat, handlers, surroundings);
    const [first] = opened;
    first.onopen?.();
    const refused = transport.send(crossing);
    first.say({ crossing: 7, problem: { code: 'mailbox-full', title: '' } });
    assert.deepEqual(await refused, { refused: { code: 'mailbox-full', title: '' } });
    first.say({ problem: { code: 'cursor-lost', title: '', cursor: '00000002-0' } });
    await until(() => first.sent.length === 3);
    assert.deepEqual(first.sent[2], { cursor: '00000002-0' });
    const undecided = transport.send({ ...crossing, crossing: 8 });
    first.say({ problem: { code: 'desktop-ended', title: '' } });
    assert.equal(await undecided, 'unknown');
    assert.deepEqual(said, ['up', 'lost, 00000002-0', 'ended, desktop-ended']);
    await turn();
    assert.equal(opened.length, 1);
  });
});

describe('transport', () => {
  it('doubles its waits up to the limit, half of each left to chance', () => {
    assert.equal(
      backoffMs(0, () => 0),
      BACKOFF_MS_FIRST / 2,
    );
    assert.equal(
      backoffMs(0, () => 1),
      BACKOFF_MS_FIRST,
    );
    assert.equal(
      backoffMs(3, () => 1),
      BACKOFF_MS_FIRST * 8,
    );
    assert.equal(
      backoffMs(1000, () => 1),
      BACKOFF_MS_MAX,
    );
    assert.equal(
      byeMs([{ type: 'ping' }], () => 0),
      0,
    );
  });
});

describe('sha256', () => {
  it('counts the same with and without a platform’s help, at every length around a block', async () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 70_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) & 255);
      const expected = createHash('sha256').update(bytes).digest('hex');
      assert.equal(sha256Portable(bytes), expected, `${length} bytes`);
      assert.equal(await sha256(bytes), expected);
    }
  });
});

describe('names', () => {
  it('a sprite’s own name fits into a crossing', () => {
    assert.equal(NAME_BYTES_MAX, CROSSING_NAME_BYTES_MAX);
  });
});
