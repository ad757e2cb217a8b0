import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import { sha256, sha256Portable } from '../pictures/sha256.ts';
import { poll } from './poll.ts';
import { socket } from './socket.ts';
import type { Crossing, Seat } from './transport.ts';

const seat: Seat = {
  ...{ desktop: '1-1', token: '1-1.aa', invitation: '1.aa', world: 'commons', cursor: '00000001-0' },
  ...{ pingSeconds: 120, leaseSeconds: 30 },
  ...{ events: 'http://r/events', crossings: 'http://r/crossings', socket: 'ws://r/socket' },
};
const crossing: Crossing = {
  ...{ crossing: 7, edge: 'right', at: 0.5, vx: 900, vy: 0 },
  sprite: { file: 'f', name: 'Blob', animation: 'fall', facing: 'right', scale: 2 },
};
const arrival = (seq: number) => ({ type: 'sprite', seq });

/** Logs the calls of a transport. While `hold` is true, a batch is not saved until the test says so. */
function page() {
  const log: string[] = [];
  const held: (() => void)[] = [];
  const state = { hold: false, moves: false };
  const handlers = {
    events: async (events: unknown[], cursor: string) => {
      log.push(`${events.length} events, ${cursor}`);
      if (state.hold) await new Promise<void>((resolve) => held.push(resolve));
      return !state.moves;
    },
    cursorLost: (cursor: string) => log.push(`lost, ${cursor}`),
    impossible: () => log.push('impossible'),
    connected: (is: boolean) => {
      const word = is ? 'up' : 'down';
      if (log.findLast((one) => one === 'up' || one === 'down') !== word) log.push(word);
    },
    ended: ({ code }: { code: string }, lostAfter: number) =>
      log.push(`ended, ${code}${lostAfter < 1 ? ', and the last batch with it' : ''}`),
  };
  return { log, held, state, handlers: handlers as never };
}

/** Waits for a condition, one turn of the event loop at a time. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (condition()) return;
    await turn();
  }
  assert.fail(`never: ${condition}`);
}

/** A fetch whose responses the test gives, and a sleep that only records how long it should be. */
function relay() {
  const requests: {
    url: string;
    init: RequestInit;
    answer: (status: number, body: unknown) => void;
    fail: () => void;
  }[] = [];
  const sleeps: number[] = [];
  const environment = {
    fetch: ((url: string, init: RequestInit) =>
      new Promise((resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        requests.push({
          ...{ url, init, fail: () => reject(new TypeError('network')) },
          answer: (status, body) => resolve(new Response(JSON.stringify(body), { status })),
        });
      })) as typeof fetch,
    random: () => 0.5,
    sleep: async (ms: number) => {
      sleeps.push(ms);
    },
  };
  return { requests, sleeps, environment };
}

describe('poll', () => {
  it('polls with the cursor of the join, then with that of each response; the token is never in the URL', async () => {
    const { log, handlers } = page();
    const { requests, environment } = relay();
    const transport = poll(seat, handlers, environment);
    requests[0].answer(200, { cursor: '00000001-2', events: [arrival(1), arrival(2)] });
    await until(() => requests.length === 2);
    assert.deepEqual(
      requests.map(({ url }) => url),
      ['http://r/events?cursor=00000001-0', 'http://r/events?cursor=00000001-2'],
    );
    assert.deepEqual(requests[0].init.headers, { authorization: 'Bearer 1-1.aa' });
    assert.deepEqual(log, ['up', '2 events, 00000001-2']);
    transport.close();
  });

  it('acknowledges nothing until the page has saved it', async () => {
    const { held, state, handlers } = page();
    const { requests, environment } = relay();
    state.hold = true;
    const transport = poll(seat, handlers, environment);
    requests[0].answer(200, { cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    await turn();
    assert.equal(requests.length, 1);
    held[0]();
    await until(() => requests.length === 2);
    transport.close();
  });

  it('finds out with a second poll whether the relay is there and holds the first, and goes on with that one', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { log, handlers } = page();
    const { requests, sleeps, environment } = relay();
    const transport = poll(seat, handlers, environment);
    mock.timers.tick(1_000);
    assert.deepEqual(
      requests.map(({ url }) => url),
      ['http://r/events?cursor=00000001-0', 'http://r/events?cursor=00000001-0'],
    );
    assert.deepEqual(log, []);
    requests[0].answer(200, { cursor: '00000001-0', events: [] }); // as a relay answers a poll that is replaced
    await until(() => log.length === 2);
    assert.deepEqual(log, ['up', '0 events, 00000001-0']);
    mock.timers.tick(100_000);
    assert.equal(requests.length, 2, 'the second one is held now, and there is no third');
    requests[1].answer(200, { cursor: '00000001-1', events: [arrival(1)] });
    await until(() => requests.length === 3);
    assert.equal(requests[2].url, 'http://r/events?cursor=00000001-1');
    assert.deepEqual(sleeps, [], 'the page has caused the empty answer itself');
    transport.close();
    mock.timers.reset();
  });

  it('polls with the newer cursor when the first of two polls was answered with events', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { handlers } = page();
    const { requests, environment } = relay();
    const transport = poll(seat, handlers, environment);
    mock.timers.tick(1_000);
    requests[0].answer(200, { cursor: '00000001-1', events: [arrival(1)] });
    await until(() => requests.length === 3);
    assert.equal(requests[2].url, 'http://r/events?cursor=00000001-1');
    transport.close();
    mock.timers.reset();
  });

  it('reports that the seat has ended, stops polling, and leaves crossings in flight undecided', async () => {
    for (const code of ['unknown-desktop', 'desktop-ended']) {
      const { log, handlers } = page();
      const { requests, environment } = relay();
      const transport = poll(seat, handlers, environment);
      const verdict = transport.send(crossing, false);
      requests[0].answer(401, { code, title: '' });
      assert.equal(await verdict, 'unknown');
      assert.deepEqual(log, [`ended, ${code}`]);
      assert.equal(requests.length, 2);
    }
  });

  it('polls no more when the page moves to another relay, and still repeats a crossing', async () => {
    const { state, handlers } = page();
    const { requests, environment } = relay();
    state.moves = true;
    const transport = poll(seat, handlers, environment);
    const verdict = transport.send(crossing, false);
    const bye = { type: 'bye', retryAfterMs: 2000, join: 'http://r2/v1/desktops' };
    requests[0].answer(200, { cursor: '00000001-0', events: [bye] });
    await turn();
    requests[1].fail();
    await until(() => requests.length === 3);
    requests[2].answer(202, { to: null });
    assert.deepEqual(await verdict, { to: null });
    await turn();
    assert.deepEqual(
      requests.map(({ init }) => init.method ?? 'GET'),
      ['GET', 'POST', 'POST'],
    );
    transport.close();
  });
});

/** WebSockets whose other end the test plays. */
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
    receive(message: object): void {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
  }
  const { sleeps, environment } = relay();
  return { opened, sleeps, environment: { ...environment, WebSocket: FakeSocket as never } };
}

describe('socket', () => {
  it('sends token and cursor first, then the cursor of each batch that the page has saved', async () => {
    const { log, held, state, handlers } = page();
    const { opened, environment } = sockets();
    state.hold = true;
    const transport = socket(seat, handlers, environment);
    const [first] = opened;
    first.onopen?.();
    assert.deepEqual(first.sent, [{ token: '1-1.aa', cursor: '00000001-0' }]);
    first.receive({ cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    assert.equal(first.sent.length, 1);
    held[0]();
    await until(() => first.sent.length === 2);
    assert.deepEqual(first.sent[1], { cursor: '00000001-1' });
    assert.deepEqual(log, ['up', '1 events, 00000001-1']);
    transport.close();
    assert.ok(first.closed);
  });

  it('reopens a broken connection with its cursor, and repeats unanswered crossings under their numbers', async () => {
    const { log, handlers } = page();
    const { opened, sleeps, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    opened[0].onopen?.();
    opened[0].receive({ cursor: '00000001-4', events: [] });
    const verdict = transport.send(crossing, false);
    await until(() => opened[0].sent.length === 3);
    opened[0].onclose?.();
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    assert.deepEqual(opened[1].sent, [{ token: '1-1.aa', cursor: '00000001-4' }, JSON.parse(JSON.stringify(crossing))]);
    opened[1].receive({ crossing: 7, to: { desktop: '2-1', name: 'Ada' } });
    assert.deepEqual(await verdict, { to: { desktop: '2-1', name: 'Ada' } });
    assert.deepEqual(sleeps, [300]);
    assert.deepEqual(log, ['up', '0 events, 00000001-4', 'down', 'up']);
    transport.close();
  });

  it('reports the last batch as lost when the first poll after it finds the seat ended, and only then', async () => {
    for (const { breaks, lost } of [
      { breaks: false, lost: true },
      { breaks: true, lost: false },
    ]) {
      const { log, handlers } = page();
      const { opened, environment } = sockets();
      socket(seat, handlers, environment);
      opened[0].onopen?.();
      opened[0].receive({ cursor: '00000001-1', events: [arrival(1)] });
      await until(() => opened[0].sent.length === 2);
      if (breaks) {
        opened[0].onclose?.(); // the poll may have reached the relay
        await until(() => opened.length === 2);
        opened[1].onopen?.();
      }
      opened.at(-1)!.receive({ problem: { code: 'desktop-ended', title: '' } });
      await until(() => log.some((one) => one.startsWith('ended')));
      assert.equal(log.at(-1), `ended, desktop-ended${lost ? ', and the last batch with it' : ''}`);
    }
  });

  it('believes the relay when it says what the ended seat had acknowledged, however many polls were lost', async () => {
    for (const [cursor, words] of [
      ['00000001-1', ''],
      ['00000001-0', ', and the last batch with it'],
    ]) {
      const { log, handlers } = page();
      const { opened, environment } = sockets();
      socket(seat, handlers, environment);
      opened[0].onopen?.();
      opened[0].receive({ cursor: '00000001-1', events: [arrival(1)] });
      await until(() => opened[0].sent.length === 2);
      opened[0].onclose?.();
      await until(() => opened.length === 2);
      opened[1].onopen?.();
      opened[1].receive({ problem: { code: 'desktop-ended', title: '', cursor } });
      await until(() => log.some((one) => one.startsWith('ended')));
      assert.equal(log.at(-1), `ended, desktop-ended${words}`);
    }
  });

  it('repeats a crossing that a busy relay refused, when it may have accepted it before', async () => {
    const { handlers } = page();
    const { opened, sleeps, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    const [first] = opened;
    first.onopen?.();
    const busy = { crossing: 7, problem: { code: 'relay-busy', title: '' } };
    const repeated = transport.send(crossing, true);
    first.receive(busy);
    await until(() => first.sent.length === 3);
    assert.deepEqual(sleeps, [300]);
    first.receive({ crossing: 7, to: null });
    assert.deepEqual(await repeated, { to: null });
    const thrown = transport.send({ ...crossing, crossing: 8 }, false);
    first.receive({ ...busy, crossing: 8 });
    assert.deepEqual(await thrown, { refused: busy.problem }, 'but not one that it has seen for the first time');
    transport.close();
  });

  it('asks to peek once, over an open connection only', async () => {
    const { handlers } = page();
    const { opened, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    const [first] = opened;
    assert.equal(await transport.peek('left'), 'unknown');
    first.onopen?.();
    const granted = transport.peek('left');
    assert.deepEqual(first.sent.at(-1), { peek: 'left' });
    first.receive({ peek: 'left', leaseMs: 10_000 });
    assert.deepEqual(await granted, { leaseMs: 10_000 });
    const refused = transport.peek('top');
    const problem = { code: 'stage-hidden', title: '' };
    first.receive({ peek: 'top', problem });
    assert.deepEqual(await refused, { refused: problem });
    const lost = transport.peek(null);
    first.onclose?.();
    assert.equal(await lost, 'unknown');
    transport.close();
  });

  it('says that it is impossible when the browser throws instead of opening one, and leaves crossings undecided', async () => {
    const { log, handlers } = page();
    const { environment } = sockets();
    const forbidden = class {
      constructor() {
        throw new DOMException('insecure', 'SecurityError');
      }
    };
    for (const WebSocket of [forbidden, undefined]) {
      const transport = socket(seat, handlers, { ...environment, WebSocket: WebSocket as never });
      assert.equal(await transport.send(crossing, false), 'unknown');
      assert.equal(log.pop(), 'impossible');
    }
  });

  it('opens the connection again when a crossing gets no answer for ANSWER_MS_MAX, and not before', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { handlers } = page();
    const { opened, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    opened[0].onopen?.();
    const verdict = transport.send(crossing, false);
    mock.timers.tick(ANSWER_MS_MAX - 1);
    assert.equal(opened[0].closed, false);
    mock.timers.tick(1);
    assert.equal(opened[0].closed, true);
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    opened[1].receive({ crossing: 7, to: null });
    assert.deepEqual(await verdict, { to: null });
    mock.timers.tick(ANSWER_MS_MAX);
    assert.equal(opened[1].closed, false, 'it has its answer');
    transport.close();
    mock.timers.reset();
  });

  it('opens the connection again when a peek gets no answer for ANSWER_MS_MAX, and does not repeat it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { handlers } = page();
    const { opened, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    opened[0].onopen?.();
    const lost = transport.peek('left');
    mock.timers.tick(ANSWER_MS_MAX);
    assert.equal(opened[0].closed, true);
    assert.equal(await lost, 'unknown');
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    assert.equal(opened[1].sent.length, 1, 'the token');
    transport.close();
    mock.timers.reset();
  });

  it('repeats unanswered sayings under their numbers, apart from the numbers of crossings', async () => {
    const { handlers } = page();
    const { opened, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    const saying = { saying: 7, text: 'Hi' };
    const heard = transport.say(saying); // before the socket is open
    opened[0].onopen?.();
    assert.deepEqual(opened[0].sent[1], saying);
    const verdict = transport.send(crossing, false);
    opened[0].onclose?.();
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    assert.deepEqual(opened[1].sent.slice(1), [JSON.parse(JSON.stringify(crossing)), saying]);
    opened[1].receive({ saying: 7, heard: 2 });
    assert.deepEqual(await heard, { heard: 2 });
    opened[1].receive({ crossing: 7, to: null });
    assert.deepEqual(await verdict, { to: null });
    const refused = transport.say({ saying: 8, text: 'Hi' });
    opened[1].receive({ saying: 8, problem: { code: 'too-fast', title: '' } });
    assert.deepEqual(await refused, { refused: { code: 'too-fast', title: '' } });
    const undecided = transport.say({ saying: 9, text: 'Hi' });
    transport.close();
    assert.equal(await undecided, 'unknown');
  });

  it('reports the last batch as lost when its connection broke before the next poll', async () => {
    const { log, held, state, handlers } = page();
    const { opened, environment } = sockets();
    state.hold = true;
    socket(seat, handlers, environment);
    opened[0].onopen?.();
    opened[0].receive({ cursor: '00000001-1', events: [arrival(1)] });
    await until(() => held.length === 1);
    opened[0].onclose?.();
    held[0]();
    await until(() => opened.length === 2);
    opened[1].onopen?.();
    opened[1].receive({ problem: { code: 'desktop-ended', title: '' } });
    await until(() => log.some((one) => one.startsWith('ended')));
    assert.equal(log.at(-1), 'ended, desktop-ended, and the last batch with it');
  });

  it('keeps the connection for verdicts when the page moves to another relay, but polls no more', async () => {
    const { state, handlers } = page();
    const { opened, environment } = sockets();
    state.moves = true;
    const transport = socket(seat, handlers, environment);
    opened[0].onopen?.();
    const verdict = transport.send(crossing, false);
    const bye = { type: 'bye', retryAfterMs: 2000, join: 'http://r2/v1/desktops' };
    opened[0].receive({ cursor: '00000001-0', events: [bye] });
    await turn();
    await turn();
    assert.equal(opened[0].sent.length, 2, 'the token and the crossing');
    assert.equal(opened[0].closed, false);
    opened[0].receive({ crossing: 7, to: null });
    assert.deepEqual(await verdict, { to: null });
    transport.close();
  });

  it('backs off longer each time the relay does not answer', async () => {
    const { handlers } = page();
    const { opened, sleeps, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    for (let i = 0; i < 4; i++) {
      await until(() => opened.length === i + 1);
      opened[i].onerror?.();
    }
    await until(() => opened.length === 5);
    assert.deepEqual(sleeps, [600, 1200, 2400, 4800]);
    transport.close();
  });

  it('goes on from the cursor that a refusal names, on a new connection, after a pause that grows', async () => {
    const { log, handlers } = page();
    const { opened, sleeps, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    const refusal = (epoch: number) => ({ problem: { code: 'cursor-lost', title: '', cursor: `0000000${epoch}-0` } });
    for (let i = 0; i < 4; i++) {
      await until(() => opened.length === i + 1);
      opened[i].onopen?.();
      assert.equal(opened[i].sent[0].cursor, `0000000${i + 1}-0`);
      opened[i].receive(refusal(i + 2));
    }
    await until(() => opened.length === 5);
    assert.ok(opened.slice(0, 4).every(({ closed, sent }) => closed && sent.length === 1));
    assert.deepEqual(sleeps, [600, 1200, 2400, 4800]);
    assert.equal(log.filter((one) => one.startsWith('lost')).length, 4);
    transport.close();
  });

  it('reports a refusal and the end of the seat', async () => {
    const { log, handlers } = page();
    const { opened, environment } = sockets();
    const transport = socket(seat, handlers, environment);
    const [first] = opened;
    first.onopen?.();
    const refused = transport.send(crossing, false);
    first.receive({ crossing: 7, problem: { code: 'mailbox-full', title: '' } });
    assert.deepEqual(await refused, { refused: { code: 'mailbox-full', title: '' } });
    const undecided = transport.send({ ...crossing, crossing: 8 }, false);
    first.receive({ problem: { code: 'desktop-ended', title: '' } });
    assert.equal(await undecided, 'unknown');
    assert.deepEqual(log, ['up', 'ended, desktop-ended']);
    await turn();
    assert.equal(opened.length, 1);
  });
});

describe('sha256', () => {
  it('is the same with and without crypto.subtle, at every length around a block', async () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 70_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) & 255);
      const expected = createHash('sha256').update(bytes).digest('hex');
      assert.equal(sha256Portable(bytes), expected, `${length} bytes`);
      assert.equal(await sha256(bytes), expected);
    }
  });
});
