/**
 * Fronts in a storm: connections that open and close in every possible way, and a crowd that is parked when the front closes.
 *
 * It runs by itself, and under the sanitizers in native/native.long.test.ts. The clients run in a separate process.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { randomOf } from '../test/random.ts';
import { answerOf } from '../wire/answer.ts';
import { fileLimit } from './file_limit.ts';
import type { Front, FrontListener, FrontOptions, Ticket } from './front.ts';
import { NativeFront, whyNoNativeFront } from './native.ts';
import { PortableFront } from './portable.ts';

const CLIENTS = new URL('../test/storm_clients.ts', import.meta.url);

/** Files that are not connections, in the front's process and in the clients' process. */
const OTHER_FILES = 500;
const CROWD = Math.min(10_000, fileLimit() - OTHER_FILES);

/** On a busy machine a crowd is connected long before its process sends the requests. */
const CROWD_TIMEOUTS = { requestMs: 30_000 };

/** How often a crowd comes and goes in one process. */
const CYCLES = 3;

/** More than a socket accepts at once for a peer that does not read. */
const LONG = Buffer.alloc(6 << 20, 'e');
const SHORT = Buffer.from('{"events":[]}');

const EVENTS: FrontListener = { host: '127.0.0.1', port: 0, shared: false, routes: 'events' };
const CROSSINGS: FrontListener = {
  ...{ ...EVENTS, routes: 'crossings' },
  fallback: (request, reply) => {
    request.resume().on('end', () => reply.end('accepted'));
  },
};

/** Keeps the state of every ticket of a front: open, answered or reported closed, and only one of these. */
class Ledger {
  readonly open = new Set<Ticket>();
  readonly front: Front;
  ports: number[] = [];
  polls = 0;
  answered = 0;
  closed = 0;
  /** Handles a poll. Default: it parks. */
  onPoll: (ticket: Ticket) => void = () => {};

  constructor(make: (options: FrontOptions) => Front, timeouts: FrontOptions['timeouts'] = {}) {
    const open = (ticket: Ticket) => {
      assert.ok(!this.open.has(ticket), 'a ticket is issued once');
      this.open.add(ticket);
    };
    this.front = make({
      listeners: [EVENTS, CROSSINGS],
      connectionsMax: CROWD + 1000,
      timeouts,
      handlers: {
        poll: ({ ticket }) => {
          open(ticket);
          this.polls++;
          this.onPoll(ticket);
        },
        saying: () => {},
        stage: () => {},
        crossing: ({ ticket }) => {
          open(ticket);
          this.answer(ticket, SHORT);
        },
        closed: (ticket) => {
          assert.ok(this.open.delete(ticket), 'only an open ticket is reported closed');
          this.closed++;
        },
        outdated: (ticket) => {
          assert.ok(this.open.has(ticket), 'only an open ticket is reported outdated');
          this.answer(ticket, SHORT);
        },
        turn: () => this.front.flush(),
      },
    });
  }

  /** Answers a ticket, unless it was closed or answered in the meantime. */
  answer(ticket: Ticket, body: Buffer): void {
    if (!this.open.delete(ticket)) return;
    this.answered++;
    this.front.answer(ticket, answerOf(200, body));
    this.front.flush();
  }

  async emptied(): Promise<void> {
    const busy = () => this.front.gauges().connections > 0 || this.open.size > 0;
    while (busy()) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function clients(...args: (string | number)[]): ChildProcess {
  const { LD_PRELOAD: _, ASAN_OPTIONS: __, NODE_OPTIONS: ___, ...env } = process.env;
  return fork(CLIENTS, args.map(String), { env, execArgv: ['--disable-warning=ExperimentalWarning'] });
}

const openFiles = () => readdirSync('/proc/self/fd').length;
const ended = (child: ChildProcess) => once(child, 'exit').then(([code]) => assert.equal(code, 0));

function storm(name: string, make: (options: FrontOptions) => Front, holdsCrowds: boolean, skip: string | false): void {
  describe(`${name} in a storm`, { skip, timeout: 900_000 }, () => {
    it('answers or closes each ticket once, whatever its client does in between', async (t: TestContext) => {
      const random = randomOf(t);
      const ledger = new Ledger(make);
      ledger.onPoll = (ticket) => {
        const fate = random();
        if (fate < 0.2) ledger.answer(ticket, SHORT);
        else if (fate < 0.4) setImmediate(() => ledger.answer(ticket, LONG));
        else if (fate < 0.6) setTimeout(() => ledger.answer(ticket, random() < 0.5 ? LONG : SHORT), random() * 20);
      };
      const ports = await ledger.front.listen();
      await ended(clients('rage', ...ports, Math.floor(random() * 2 ** 31)));
      await ledger.emptied();
      assert.equal(ledger.front.gauges().waiting, 0);
      assert.ok(ledger.answered > 200 && ledger.closed > 50, `${ledger.answered} answered, ${ledger.closed} closed`);
      await ledger.front.close();
    });

    if (!holdsCrowds) return;
    it(`frees everything when it closes with ${CROWD} parked polls, and when they leave`, async () => {
      let files = 0;
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        const ledger = new Ledger(make, CROWD_TIMEOUTS);
        const [port] = await ledger.front.listen();
        const crowd = clients('crowd', port, CROWD);
        const over = ended(crowd);
        while (ledger.polls < CROWD) await new Promise((resolve) => setTimeout(resolve, 10));
        assert.deepEqual(ledger.front.gauges(), { connections: CROWD, waiting: CROWD, refused: 0, stalled: 0 });
        if (cycle === 0) {
          // They all leave at once; the front stays open.
          crowd.send('leave');
          await over;
          await ledger.emptied();
          assert.equal(ledger.closed, CROWD);
        }
        await ledger.front.close();
        await over;
        if (cycle === 0) files = openFiles();
        assert.equal(openFiles(), files);
      }
    });
  });
}

const missing = whyNoNativeFront() ?? false;
storm('the portable front', (options) => new PortableFront(options), false, false);
for (const threads of [0, 2]) {
  storm(
    `the native front on ${threads} I/O threads`,
    (options) => new NativeFront({ ...options, threads }),
    true,
    missing,
  );
}
