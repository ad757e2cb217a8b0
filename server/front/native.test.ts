/** The native front: the contract with each way of threading, Node's parser as its oracle, and its own features. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { arrangedBodies, changedBodies, listedBodies } from '../test/crossing_bodies.ts';
import { pickFrom, randomOf } from '../test/random.ts';
import { answerOf } from '../wire/answer.ts';
import { readCrossing } from '../wire/crossing.ts';
import { CROSSING_BYTES_MAX } from '../wire/rules.ts';
import { contract } from './front.contract.ts';
import type { Front, FrontHandlers, FrontListener, FrontOptions, RequestView } from './front.ts';
import { addon, NativeFront, openListener, planThreads, whyNoNativeFront } from './native.ts';
import { PortableFront } from './portable.ts';

const TOKEN = '1a2b-3f.00112233445566778899aabbccddeeff';
const AUTHORIZED = `Host: relay\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const EVENTS: FrontListener = { host: '127.0.0.1', port: 0, shared: false, routes: 'events' };
const CROSSINGS: FrontListener = { ...EVENTS, routes: 'crossings', fallback: (_, reply) => reply.end('fallback') };
const IDLE_HANDLERS: FrontHandlers = {
  poll: () => {},
  crossing: () => {},
  saying: () => {},
  stage: () => {},
  closed: () => {},
  outdated: () => {},
  turn: () => {},
};

/** A front that shares the event loop with another one. */
class SharingFront extends NativeFront {
  readonly #other = new NativeFront({ listeners: [EVENTS], handlers: IDLE_HANDLERS, connectionsMax: 10 });

  override async listen(): Promise<number[]> {
    await this.#other.listen();
    return super.listen();
  }

  override async close(): Promise<void> {
    await this.#other.close();
    await super.close();
  }
}

const skip = whyNoNativeFront();

if (skip) {
  it('native front', { skip });
} else {
  contract('native, on the JavaScript thread', (options) => new NativeFront(options));
  contract('native, on two I/O threads', (options) => new NativeFront({ ...options, threads: 2 }));
  contract('native, sharing the loop with another one', (options) => new SharingFront(options));
}

/** A front that answers everything at once: a poll with 200 and its numbers, a crossing, a saying or a stage with 202 and its body. */
async function openEcho(make: (options: FrontOptions) => Front, listeners: FrontListener[]) {
  let front: Front;
  const handlers: FrontHandlers = {
    poll: (request) => {
      const body = Buffer.from(JSON.stringify([request.slot, request.generation, request.epoch, request.seq]));
      front.answer(request.ticket, answerOf(200, body));
    },
    saying: (request) => {
      const body = Buffer.from(`said ${request.body.subarray(request.start, request.end)}`);
      front.answer(request.ticket, answerOf(202, body));
    },
    stage: (request) => {
      const body = Buffer.from(`shown ${request.body.subarray(request.start, request.end)}`);
      front.answer(request.ticket, answerOf(202, body));
    },
    crossing: (request) => {
      const { ticket, body, start, end } = request;
      front.answer(ticket, { ...answerOf(202, body), start, end });
    },
    closed: () => {},
    outdated: () => {},
    turn: () => front.flush(),
  };
  front = make({ listeners, handlers, connectionsMax: 10_000 });
  return { front, ports: await front.listen() };
}

/** Sends `bytes`, closes its half if `ending`, and reads until the connection closes. */
function exchange(port: number, bytes: string, ending = false): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      if (ending) socket.end(bytes, 'latin1');
      else socket.write(bytes, 'latin1');
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(received));
  });
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

describe('front › native', { skip }, () => {
  it('decides like Node on thousands of generated requests, except for the listed differences', async (t) => {
    const random = pickFrom(randomOf(t));
    const listeners = [EVENTS, CROSSINGS];
    const native = await openEcho((options) => new NativeFront(options), listeners);
    const portable = await openEcho((options) => new PortableFront(options), listeners);
    const differences: string[] = [];
    let alike = 0;
    let refused = 0;
    for (let round = 0; round < 80; round++) {
      const cases = Array.from({ length: 50 }, () => generate(random));
      await Promise.all(
        cases.map(async ({ listener, bytes }) => {
          const [ours, theirs] = await Promise.all([
            exchange(native.ports[listener], bytes, true),
            exchange(portable.ports[listener], bytes, true),
          ]);
          const [a, b] = [outcome(ours), outcome(theirs)];
          if (a === b) {
            alike++;
            if (a === '400') refused++;
          } else if (!isDeliberate(bytes, a, b)) differences.push(`${JSON.stringify(bytes)}: ours ${a}, Node's ${b}`);
        }),
      );
    }
    await Promise.all([native.front.close(), portable.front.close()]);
    assert.deepEqual(differences.slice(0, 5), []);
    assert.ok(
      alike > 3000 && refused > 500,
      `${alike} alike, ${refused} of them refused: the generator is too one-sided`,
    );
  });

  it('checks crossings in any order of members like readCrossing, and leaves strange ones to it', async (t) => {
    const random = randomOf(t);
    const bodies = [...listedBodies(), ...changedBodies(3000, random), ...arrangedBodies(3000, random)].filter(
      ({ length }) => length > 0 && length <= CROSSING_BYTES_MAX,
    );
    let checked = 0;
    let next = 0;
    const wrong: string[] = [];
    const done = Promise.withResolvers<void>();
    const crossing = (view: RequestView) => {
      const sent = bodies[next++];
      const received = view.body.toString('utf8', view.start, view.end);
      if (view.edge < 0) {
        if (received !== sent.toString('utf8')) wrong.push(`not passed on unchanged: ${sent}`);
      } else {
        checked++;
        const ours = { crossing: view.crossing, edge: view.edge, passage: received };
        if (JSON.stringify(ours) !== JSON.stringify(attempt(() => readCrossing(sent))))
          wrong.push(`checked differently: ${sent}`);
      }
      front.answer(view.ticket, answerOf(202, Buffer.from('{}')));
      if (next === bodies.length) done.resolve();
    };
    const handlers = { ...IDLE_HANDLERS, crossing };
    const front = new NativeFront({ listeners: [CROSSINGS], handlers, connectionsMax: 10 });
    const [port] = await front.listen();
    const socket = net.connect(port, '127.0.0.1');
    socket.resume();
    const head = `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}Content-Length: `;
    for (const body of bodies) socket.write(Buffer.concat([Buffer.from(`${head}${body.length}\r\n\r\n`), body]));
    await done.promise;
    socket.destroy();
    await front.close();
    assert.deepEqual(wrong.slice(0, 5), []);
    assert.ok(checked > 2500, `only ${checked} of ${bodies.length} bodies were checked`);
  });

  it('was compiled for the running libuv, so that a request costs no turn of its loop', () => {
    const minor = (version: string) => version.split('.').slice(0, 2).join('.');
    assert.equal(minor(addon().libuv), minor(process.versions.uv));
  });

  it('hands an upgrade and a long upload over to Node with the bytes behind the head', async () => {
    const listener: FrontListener = {
      ...CROSSINGS,
      fallback: (request, reply) => {
        let length = 0;
        request.on('data', (chunk) => {
          length += chunk.length;
        });
        request.on('end', () => reply.end(`received ${length}`));
      },
      upgrade: (_, socket, head) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.end(`echo ${head}`);
      },
    };
    const { front, ports } = await openEcho((options) => new NativeFront(options), [listener]);
    const upgrade = 'GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly';
    assert.match(await exchange(ports[0], upgrade), /^HTTP\/1.1 101 .*echo early$/s);
    const upload = Buffer.alloc(3 << 20, 'x').toString();
    const put = `PUT /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${upload.length}\r\n\r\n${upload}`;
    assert.match(await exchange(ports[0], put), /received 3145728$/);
    await front.close();
  });

  it('counts a connection that was handed over until it closes', async () => {
    const { front, ports } = await openEcho((options) => new NativeFront(options), [CROSSINGS]);
    const agent = new http.Agent({ keepAlive: true });
    const reply = await new Promise<http.IncomingMessage>((resolve) => {
      http.get({ port: ports[0], host: '127.0.0.1', path: '/', agent }, resolve);
    });
    reply.resume();
    await new Promise((resolve) => reply.on('end', resolve));
    assert.equal(front.gauges().connections, 1);
    agent.destroy();
    while (front.gauges().connections > 0) await new Promise((resolve) => setImmediate(resolve));
    await front.close();
  });

  it('sends 100 Continue once, and keeps an HTTP/1.0 connection on request', async () => {
    const { front, ports } = await openEcho((options) => new NativeFront(options), [CROSSINGS, EVENTS]);
    const client = net.connect(ports[0], '127.0.0.1');
    const received: string[] = [];
    client.on('data', (chunk) => received.push(chunk.toString()));
    const until = async (pattern: RegExp) => {
      while (!pattern.test(received.join(''))) await new Promise((resolve) => client.once('data', resolve));
    };
    const head = `POST /v1/desktops/1-1/crossings HTTP/1.1\r\n${AUTHORIZED}Content-Length: 4\r\n`;
    client.write(`${head}Expect: 100-continue\r\n\r\n`);
    await until(/100 Continue\r\n\r\n$/);
    client.write('ab');
    client.write('cd');
    await until(/abcd$/);
    assert.equal(received.join('').match(/100 Continue/g)?.length, 1);
    client.destroy();
    const old = 'GET /v1/desktops/1-1/events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
    const both = await exchange(ports[1], old + old.replace('keep-alive', 'close'));
    assert.deepEqual(both.match(/Connection: [a-z-]+/g), ['Connection: keep-alive', 'Connection: close']);
    await front.close();
  });

  it('ignores a second answer to a ticket while its connection waits with the next request', async () => {
    for (const threads of [0, 1]) {
      const tickets: number[] = [];
      let seen = () => {};
      const poll: FrontHandlers['poll'] = ({ ticket }) => {
        tickets.push(ticket);
        seen();
      };
      const handlers = { ...IDLE_HANDLERS, poll };
      const front = new NativeFront({ listeners: [EVENTS], handlers, connectionsMax: 10, threads });
      const [port] = await front.listen();
      const client = net.connect(port, '127.0.0.1');
      let received = '';
      client.on('data', (chunk) => {
        received += chunk;
      });
      const answer = (ticket: number, text: string) => {
        front.answer(ticket, answerOf(200, Buffer.from(text)));
        front.flush();
      };
      for (let count = 1; count <= 3; count++) {
        client.write(`GET /v1/desktops/1-1/events HTTP/1.1\r\n${AUTHORIZED}\r\n`);
        while (tickets.length < count) {
          await new Promise<void>((resolve) => {
            seen = resolve;
          });
        }
        for (const old of tickets.slice(0, -1)) answer(old, 'late');
        answer(tickets[count - 1], `<${count}>`);
        while (!received.includes(`<${count}>`)) await new Promise((resolve) => client.once('data', resolve));
      }
      assert.ok(!received.includes('late'));
      client.destroy();
      await front.close();
    }
  });

  it('does not report a connection that closes while its ticket is answered', async () => {
    for (const threads of [0, 1]) {
      const calls: string[] = [];
      let over = () => {};
      const fenced = new Promise<void>((resolve) => {
        over = resolve;
      });
      // The client is a separate process, since the handler blocks this one until the front has seen the end.
      const leave = `const c = require('net').connect(PORT, '127.0.0.1', () => { c.write(BYTES); setTimeout(() => process.exit(), 200); })`;
      const handlers: FrontHandlers = {
        ...IDLE_HANDLERS,
        poll: ({ ticket, slot }) => {
          calls.push(`poll ${slot}`);
          if (slot === 2) over();
          if (threads > 0 && slot === 1) while (front.gauges().connections > 0);
          front.answer(ticket, answerOf(200, Buffer.from('{}')));
        },
        closed: (_, slot) => calls.push(`closed ${slot}`),
        outdated: (_, slot) => calls.push(`outdated ${slot}`),
      };
      const front = new NativeFront({ listeners: [EVENTS], handlers, connectionsMax: 10, threads });
      const [port] = await front.listen();
      const id = (slot: number) =>
        `GET /v1/desktops/${slot}-1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${slot}-1.${'0'.repeat(32)}\r\n\r\n`;
      // On the JavaScript thread a second request arrives in one batch with the end: it is answered, then closed.
      const bytes = threads > 0 ? id(1) : id(1).repeat(2);
      const script = leave.replace('PORT', String(port)).replace('BYTES', JSON.stringify(bytes));
      const client = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
      await once(client, 'exit');
      const fence = net.connect(port, '127.0.0.1');
      fence.write(id(2));
      await fenced;
      assert.ok(calls.includes('poll 1'));
      assert.deepEqual(
        calls.filter((text) => !text.startsWith('poll')),
        [],
      );
      fence.destroy();
      await front.close();
    }
  });

  it('loses no answer of a batch when a task right after the batch answers too', async () => {
    for (const threads of [0, 1]) {
      let parked = 0;
      let front: NativeFront;
      const answer = (ticket: number) => {
        front.answer(ticket, answerOf(200, Buffer.from('{}')));
        front.flush();
      };
      const handlers: FrontHandlers = {
        ...IDLE_HANDLERS,
        poll: ({ ticket }) => {
          if (parked === 0) parked = ticket;
          else {
            answer(ticket);
            // Like the API, which runs in tasks after the batch that handed its connection over.
            process.nextTick(answer, parked);
            parked = 0;
          }
        },
      };
      front = new NativeFront({ listeners: [EVENTS], handlers, connectionsMax: 10, threads });
      const [port] = await front.listen();
      const bytes = `GET /v1/desktops/1-1/events HTTP/1.1\r\nConnection: close\r\n${AUTHORIZED}\r\n`;
      for (let round = 0; round < 10; round++) {
        const [one, other] = await Promise.all([exchange(port, bytes), exchange(port, bytes)]);
        assert.match(one, /^HTTP\/1.1 200/);
        assert.match(other, /^HTTP\/1.1 200/);
      }
      await front.close();
    }
  });

  it('grows its buffer for an answer that does not fit', async () => {
    const body = Buffer.alloc(3 << 20, 'e');
    let front: NativeFront;
    const poll: FrontHandlers['poll'] = ({ ticket }) => front.answer(ticket, answerOf(200, body));
    front = new NativeFront({ listeners: [EVENTS], handlers: { ...IDLE_HANDLERS, poll }, connectionsMax: 10 });
    const [port] = await front.listen();
    const bytes = `GET /v1/desktops/1-1/events HTTP/1.1\r\nConnection: close\r\n${AUTHORIZED}\r\n`;
    const answer = await exchange(port, bytes.repeat(1));
    assert.ok(answer.endsWith(`\r\n\r\n${body}`));
    await front.close();
  });

  it('writes to a file at an offset, and says how much it wrote', () => {
    const { writeAt } = addon();
    const folder = mkdtempSync(join(tmpdir(), 'sprites-write-'));
    const path = join(folder, 'file');
    const file = openSync(path, 'w');
    assert.equal(writeAt(file, Buffer.from('abcdef'), 4, 0), 4);
    assert.equal(writeAt(file, Buffer.from('xyz'), 3, 2), 3);
    assert.equal(writeAt(file, Buffer.from('long'), 5, 0), 0, 'more than there is');
    assert.equal(writeAt(file, Buffer.from('early'), 5, -1), 0);
    assert.equal(readFileSync(path, 'latin1'), 'abxyz');
    closeSync(file);
    assert.equal(writeAt(file, Buffer.from('late'), 4, 0), 0);
    rmSync(folder, { recursive: true });
  });

  it('maps a file: what is stored in the buffer is in the file', () => {
    const { mapFile } = addon();
    const folder = mkdtempSync(join(tmpdir(), 'sprites-map-'));
    const path = join(folder, 'file');
    const file = openSync(path, 'w+');
    assert.throws(() => mapFile(file, 1), { code: 'EINVAL', syscall: 'mmap' });
    writeSync(file, Buffer.alloc(5000));
    assert.throws(() => mapFile(file, 5001), { code: 'EINVAL' });
    const bytes = mapFile(file, 5000);
    assert.equal(bytes.length, 5000);
    closeSync(file);
    bytes.write('stored', 4990);
    assert.equal(readFileSync(path, 'latin1').slice(4988), '\0\0stored\0\0\0\0');
    assert.throws(() => mapFile(-1, 5000), { code: 'EBADF' });
    rmSync(folder, { recursive: true });
  });

  it('reports a port that is in use', async () => {
    for (const threads of [0, 2]) {
      const options = { listeners: [EVENTS], handlers: IDLE_HANDLERS, connectionsMax: 10, threads };
      const first = new NativeFront(options);
      const [port] = await first.listen();
      const second = new NativeFront({ ...options, listeners: [{ ...EVENTS, port }] });
      await assert.rejects(second.listen(), { code: 'EADDRINUSE', syscall: 'listen' });
      await second.close();
      await first.close();
    }
  });

  it('answers those who connected before it was there, to a socket that it is given', async () => {
    const options = { handlers: IDLE_HANDLERS, connectionsMax: 10 };
    const first = new NativeFront({ ...options, listeners: [{ ...CROSSINGS, shared: true }] });
    const [port] = await first.listen();
    const descriptor = await openListener('127.0.0.1', port);
    const closed = first.close();
    const answer = fetch(`http://127.0.0.1:${port}/`);
    await closed;
    const second = new NativeFront({ ...options, listeners: [{ ...CROSSINGS, port, descriptor }] });
    assert.deepEqual(await second.listen(), [port]);
    assert.equal(await (await answer).text(), 'fallback');
    await second.close();
    await assert.rejects(openListener('192.0.2.1', port), { code: 'EADDRNOTAVAIL', syscall: 'listen' });
  });

  it('lets timers, immediates and file reads run while it is busy', async () => {
    const { front, ports } = await openEcho((options) => new NativeFront(options), [EVENTS]);
    const client = net.connect(ports[0], '127.0.0.1');
    const poll = `GET /v1/desktops/1-1/events HTTP/1.1\r\n${AUTHORIZED}\r\n`;
    let answers = 0;
    client.on('data', () => {
      answers++;
      client.write(poll);
    });
    client.write(poll);
    const { readFile } = await import('node:fs/promises');
    for (let round = 0; round < 50; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 1));
      await readFile(import.meta.filename);
    }
    assert.ok(answers > 10);
    client.destroy();
    await front.close();
  });

  it('handles the rest of a batch when a handler throws, then raises an uncaught exception', () => {
    const script = `
      import net from 'node:net';
      import { NativeFront } from ${JSON.stringify(new URL('./native.ts', import.meta.url))};
      const ok = Buffer.from('ok');
      process.on('uncaughtException', (error) => console.log('uncaught', error.message));
      const front = new NativeFront({ connectionsMax: 10, listeners: [${JSON.stringify(EVENTS)}], handlers: {
        poll(r) { if (r.slot === 1) throw new Error('boom'); front.answer(r.ticket, { status: 200, body: ok, start: 0, end: 2, retryAfterSeconds: 0 }); },
        crossing() {}, closed() {}, outdated() {}, turn() {},
      } });
      const [port] = await front.listen();
      const ask = (id) => 'GET /v1/desktops/' + id + '/events HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer ' + id + '.' + '0'.repeat(32) + '\\r\\n\\r\\n';
      const [bad, good] = [net.connect(port, '127.0.0.1'), net.connect(port, '127.0.0.1')];
      bad.write(ask('1-1'));
      good.write(ask('2-1'));
      good.on('data', async () => { bad.destroy(); good.destroy(); await front.close(); console.log('closed'); });
    `;
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.deepEqual(stdout.trim().split('\n').sort(), ['closed', 'uncaught boom']);
  });

  it('frees everything when its worker thread is terminated with polls parked', async () => {
    const files = () => readdirSync('/proc/self/fd').length;
    const threads = () => readdirSync('/proc/self/task').length;
    const script = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(new URL('./native.ts', import.meta.url))}).then(async ({ NativeFront }) => {
        const fronts = [0, 2].map((threads) => new NativeFront({ threads, connectionsMax: 100, listeners: [${JSON.stringify(EVENTS)}],
          handlers: { poll() { parentPort.postMessage('poll'); }, crossing() {}, closed() {}, outdated() {}, turn() {} } }));
        for (const front of fronts) parentPort.postMessage(await front.listen());
      });
    `;
    const once = async () => {
      const worker = new Worker(script, { eval: true });
      const ports: number[] = [];
      let polls = 0;
      const clients: net.Socket[] = [];
      await new Promise<void>((resolve) => {
        worker.on('message', (message) => {
          if (message === 'poll') {
            if (++polls === 10) resolve();
          } else if (ports.push(...message) === 2) {
            for (let i = 0; i < 10; i++) {
              const client = net.connect(ports[i % 2], '127.0.0.1');
              client.on('error', () => {});
              client.write(`GET /v1/desktops/1-1/events HTTP/1.1\r\n${AUTHORIZED}\r\n`);
              clients.push(client);
            }
          }
        });
      });
      const ended = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
      await worker.terminate();
      await Promise.all(ended);
    };
    await once();
    const before = [files(), threads()];
    for (let round = 0; round < 3; round++) await once();
    // The system still lists a thread for a moment after its end.
    for (let looks = 0; looks < 500 && threads() > before[1]; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(threads() <= before[1], `${threads()} threads after ${before[1]}`);
    assert.ok(files() <= before[0], `${files()} files after ${before[0]}`);
  });

  it('plans no thread if one file table is enough, and enough threads otherwise', () => {
    const limits = { fileLimit: 20_000, cores: 2, alone: true };
    assert.equal(planThreads(10_000, limits).threads, 0);
    assert.equal(planThreads(10_000, { ...limits, alone: false }).threads, 1);
    assert.equal(planThreads(192, { ...limits, fileLimit: 256, alone: false }).threads, 1);
    const million = planThreads(1_000_000, limits);
    assert.equal(million.connectionsMax, 1_000_000);
    assert.ok(million.threads * (20_000 - 256) >= 1_000_000 * 1.04 && million.threads < 60, `${million.threads}`);
    const all = planThreads(2 ** 24, { ...limits, fileLimit: 1024 });
    assert.deepEqual([all.threads, all.connectionsMax < 254 * 1024], [254, true]);
    assert.match(all.reason, /ulimit -n/);
    // Each thread has an eventfd in the process's own table, which needs most of its files for other things.
    const few = planThreads(60_000, { ...limits, fileLimit: 256 });
    assert.deepEqual([few.threads, few.connectionsMax], [64, Math.floor((64 * 192) / 1.05)]);
    for (const fileLimit of [1, 16, 64, 100, 256, 512]) {
      const { threads } = planThreads(2 ** 24, { ...limits, fileLimit });
      assert.ok(threads >= 1 && threads <= Math.max(1, fileLimit / 4), `${threads} threads at ${fileLimit} files`);
    }
  });
});

/** A request, whole or damaged in one or two places. */
function generate(random: (n: number) => number): { listener: number; bytes: string } {
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length)];
  const listener = random(2);
  const body = pick(['', '{}', 'x'.repeat(random(1100)), '{"crossing":1}']);
  const posted = pick(['crossings', 'crossings', 'sayings']);
  const hot = listener === 0 ? 'GET /v1/desktops/1a2b-3f/events' : `POST /v1/desktops/1a2b-3f/${posted}`;
  const line = pick([
    hot,
    hot,
    hot,
    hot,
    'GET /',
    'OPTIONS /v1/desktops/1-1/events',
    'HEAD /x',
    'DELETE /v1/desktops/1a2b-3f/events',
    'POST /v1/desktops/1a2b-3f/sayings/',
  ]);
  const query = pick(['', '', '?cursor=6a1f03c2-81', '?cursor=6a1f03c2-081', '?x=1&cursor=00000000-0', '?', '?cursor']);
  const headers = [
    ...(random(24) === 0 ? [] : [`Host${pick([': ', ':', ':  '])}relay`]),
    ...(random(24) === 0
      ? [pick(['Host: relay', 'HOST: other', 'Transfer-Encoding: chunked', 'Content-Length: 2'])]
      : []),
    `${pick(['Authorization', 'authorization', 'AUTHORIZATION'])}: ${pick(['Bearer', 'bearer'])} ${TOKEN}`,
    ...(line === hot && listener === 1 ? [`Content-Length: ${body.length}`] : []),
    ...(random(4) === 0 ? [`X-${random(1000)}: ${pick(['a', '', 'a b', 'ä', '\ta\t', '"'])}`] : []),
    ...(random(8) === 0
      ? [pick(['Connection: keep-alive', 'connection: Close', 'Accept: */*', 'Cookie: a=b; c=d'])]
      : []),
  ];
  if (random(3) === 0) headers.reverse();
  let bytes = `${line}${query} HTTP/${random(12) === 0 ? '1.0' : '1.1'}\r\n${headers.join('\r\n')}\r\n\r\n`;
  for (let damaged = random(3); damaged > 0; damaged--) {
    const at = random(bytes.length);
    const mark = pick([
      '\n',
      '\r',
      '\0',
      ' ',
      ':',
      '\t',
      '\x7f',
      'a',
      ',',
      '\r\n',
      '\r\n ',
      'Content-Length: 1\r\n',
      '/',
      'ä',
    ]);
    bytes = pick([bytes.slice(0, at) + bytes.slice(at + 1), bytes.slice(0, at) + mark + bytes.slice(at + random(2))]);
  }
  if (line === hot && listener === 1) bytes += body;
  return { listener, bytes };
}

/** The status of the first answer; empty when there is none. */
function outcome(received: string): string {
  return received.slice(9, 12);
}

/** True where the native front differs from Node on purpose; each case has its reason. */
function isDeliberate(bytes: string, ours: string, theirs: string): boolean {
  const line = bytes.trimStart().split('\r\n')[0];
  const target = line.split(' ')[1] ?? '';
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const length = Number(/^content-length:[ \t]*(\d+)[ \t]*\r$/im.exec(bytes.slice(0, end))?.[1] ?? 0);
  return (
    // A request that is cut short by the end of the connection: a 400 would have no reader.
    (ours === '' && theirs === '400') ||
    // A poll that announces a body and does not send it: a poll is handled when it is whole.
    (ours === '' && bytes.length < end + length) ||
    // A bare CR or LF before the request line does not end a line.
    (ours === '400' && /^(\r\n)*[\r\n]/.test(bytes)) ||
    // A whole crossing with other bytes behind it: it is answered before those bytes are parsed.
    (ours === '202' && theirs === '400' && bytes.length > end + length) ||
    // A method or a target that Node's parser does not know, on the port with one route: it is another route.
    (/^(204|404|405)$/.test(ours) && theirs === '400' && (!METHODS.test(line) || !target.startsWith('/'))) ||
    // More than one space between the parts of the request line: RFC 9112 §3 allows one.
    (ours === '400' && /^\S+ {2,}| {2,}\S+$/.test(line))
  );
}

const METHODS = /^(GET|POST|OPTIONS|HEAD|DELETE) /;
