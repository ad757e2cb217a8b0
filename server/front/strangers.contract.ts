/**
 * The part of the contract about clients that are hostile, broken or unusual: both fronts treat them alike.
 */

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, describe, it } from 'node:test';
import { ANSWER, AUTHORIZED, Bench, type Client, EVENTS, post } from '../test/front_bench.ts';
import { FRONT_PROBLEMS, type ProblemDocument } from '../wire/problem.ts';
import { HEADERS_MAX } from '../wire/rules.ts';
import { PIPELINED_MAX } from './fallback_queue.ts';
import type { Front, FrontListener, FrontOptions } from './front.ts';

const LISTENER = { host: '127.0.0.1', port: 0, shared: false } as const;
const POLLS: FrontListener = { ...LISTENER, routes: 'events' };
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A GET that the fallback handles. */
const get = (path: string, extra = '') => `GET ${path} HTTP/1.1\r\nHost: relay\r\n${extra}\r\n`;

export function strangers(name: string, make: (options: FrontOptions) => Front): void {
  describe(`front and strangers › ${name}`, () => {
    let bench: Bench;
    /** The requests that the fallback is handling. */
    let handling: { request: IncomingMessage; reply: ServerResponse }[];
    /** The targets that the fallback has received. */
    let targets: (string | undefined)[];
    let onFallback: (request: IncomingMessage, reply: ServerResponse) => void;
    let called = () => {};
    afterEach(() => bench.close());

    /** Opens a front whose fallback answers when the test says so, or as `onFallback` does. */
    const open = async (options: Partial<FrontOptions> = {}) => {
      bench = new Bench();
      handling = [];
      targets = [];
      onFallback = (request, reply) => {
        handling.push({ request, reply });
        called();
      };
      const crossings: FrontListener = {
        ...LISTENER,
        routes: 'crossings',
        fallback: (request, reply) => {
          targets.push(request.url);
          onFallback(request, reply);
        },
        upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => {
          targets.push(request.url);
          socket
            .on('end', () => socket.end())
            .on('error', () => socket.destroy())
            .resume();
          socket.write(`${SWITCHED}${head}`);
        },
      };
      await bench.open(make, { listeners: [POLLS, crossings], ...options });
    };
    const answersAtOnce = () => {
      onFallback = (request, reply) => reply.end(`fallback ${request.url}`);
    };
    const untilHandling = async (count: number) => {
      while (handling.length < count) {
        await new Promise<void>((resolve) => {
          called = resolve;
        });
      }
    };
    /** Waits until the front has handled all that was sent before, on its own thread or another one. */
    const settle = async (listener: number) => {
      for (let round = 0; round < 2; round++) {
        const fence = await bench.connect(listener);
        fence.send(get('/', 'X: a\r\n'.repeat(HEADERS_MAX)));
        assert.equal((await fence.answer()).status, 431);
      }
    };
    const isRefused = async (client: Client, document: ProblemDocument, what: string = document.code) => {
      const answer = await client.answer();
      assert.deepEqual([answer.status, answer.body], [document.status, JSON.stringify(document)], what);
      assert.equal(answer.headers.get('connection'), 'close', what);
      await client.ended;
    };

    it('answers crossings of a client that has closed its half', async () => {
      await open();
      const chunked = `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n7\r\n{"n":1}\r\n0\r\n\r\n`;
      const shapes: [string, number][] = [
        [post('{"n":1}'), 1],
        [chunked, 1],
        [post('{"n":1}').replace('/v1', 'http://relay/v1'), 1],
        [post('{"n":1}', 'Connection: close\r\n'), 1],
        [post('{"n":1}', 'Connection: close\r\n') + post('{}'), 1],
        [post('{"n":1}').repeat(3), 3],
        [post('{"n":1}') + post('{"n":2}').slice(0, -2), 1],
      ];
      for (const [bytes, count] of shapes) {
        for (const apart of [false, true]) {
          const before = bench.seen.length;
          const client = await bench.connect(1);
          client.send(bytes);
          if (apart) await bench.requests(before + 1);
          client.socket.end();
          for (let n = 0; n < count; n++) {
            const seen = (await bench.requests(before + n + 1))[before + n];
            if (n === 0) await settle(1);
            bench.answer(seen.ticket, 202, `{"answer":${n}}`);
          }
          for (let n = 0; n < count; n++) assert.equal((await client.answer()).body, `{"answer":${n}}`, bytes);
          await client.ended;
          assert.equal(client.broken, false);
        }
      }
      assert.deepEqual(bench.closed, []);
      await bench.emptied();
    });

    it('answers requests for the fallback of a client that has closed its half', async () => {
      await open();
      onFallback = (request, reply) => {
        const { socket } = request;
        // It answers when the end of the client's half has been read.
        const answer = () => reply.end('later');
        request.resume();
        if (socket.readableEnded) answer();
        else socket.once('end', answer);
      };
      const join = 'POST /join HTTP/1.1\r\nHost: relay\r\nContent-Length: 2\r\n\r\n{}';
      for (const bytes of [join, get('/'), get('/').repeat(3), post('{"n":1}') + get('/')]) {
        const client = await bench.connect(1);
        const seen = bench.seen.length;
        client.send(bytes);
        client.socket.end();
        if (bytes.startsWith('POST /v1')) bench.answer((await bench.requests(seen + 1))[seen].ticket, 202);
        const count = bytes.match(/ HTTP/g)?.length as number;
        for (let n = 0; n < count; n++) assert.ok((await client.answer()).status < 300, bytes);
        await client.ended;
        assert.equal(client.broken, false);
      }
      await bench.emptied();
    });

    it('reports a parked poll as closed when its client closes its half', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [{ ticket, slot }] = await bench.requests(1);
      client.socket.end();
      await bench.until(() => bench.closed.length > 0);
      assert.deepEqual(bench.closed, [{ ticket, slot }]);
    });

    it('passes the requests of one connection to the fallback one at a time', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(Array.from({ length: PIPELINED_MAX }, (_, n) => get(`/${n}`)).join(''));
      for (let n = 0; n < PIPELINED_MAX; n++) {
        await untilHandling(n + 1);
        await settle(1);
        assert.equal(handling.length, n + 1);
        handling[n].reply.end(`answer ${n}`);
        assert.equal((await client.answer()).body, `answer ${n}`);
      }
    });

    it(`accepts ${PIPELINED_MAX} requests behind one that the fallback handles, and closes after them when there are more`, async () => {
      await open();
      for (const count of [PIPELINED_MAX, PIPELINED_MAX + 1, PIPELINED_MAX + 2, 2000]) {
        const client = await bench.connect(1);
        const accepted = Math.min(count, PIPELINED_MAX + 1);
        const before = handling.length;
        client.send(get('/').repeat(count));
        await untilHandling(before + 1);
        await settle(1);
        answersAtOnce();
        handling[before].reply.end('first');
        const answers = [];
        for (let n = 0; n < accepted; n++) answers.push(await client.answer());
        assert.equal(answers.at(-1)?.headers.get('connection'), count > accepted ? 'close' : 'keep-alive');
        if (count > accepted) await client.ended;
        client.destroy();
        onFallback = (request, reply) => {
          handling.push({ request, reply });
          called();
        };
      }
    });

    it('answers a crossing in front of more requests than it accepts, and then closes', async () => {
      await open();
      answersAtOnce();
      const client = await bench.connect(1);
      const crossing = `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
      client.send(crossing + get('/').repeat(2 * PIPELINED_MAX));
      bench.answer((await bench.requests(1))[0].ticket, 202, '{}');
      assert.equal((await client.answer()).status, 202);
      for (let n = 0; n <= PIPELINED_MAX; n++) await client.answer();
      await client.ended;
      client.destroy();
    });

    const timeouts = { writeMs: 600, lingerMs: 600 };

    it('closes a connection whose client does not read the answer of the fallback', async () => {
      await open({ timeouts });
      onFallback = (_, reply) => reply.end(Buffer.alloc(32 << 20, 'x'));
      const deaf = await bench.connect(1);
      deaf.socket.pause();
      deaf.send(get('/').repeat(3));
      await bench.emptied();
      assert.equal(targets.length, 1);
    });

    it('closes a connection whose client reads the answer of the fallback, but too slowly', async () => {
      await open({ timeouts: { ...timeouts, answerMs: 900 } });
      onFallback = (_, reply) => reply.end(Buffer.alloc(64 << 20, 'x'));
      const slow = await bench.connect(1);
      slow.socket.pause();
      slow.send(get('/'));
      const drip = setInterval(() => slow.socket.read(64 << 10), 20);
      await bench.emptied();
      clearInterval(drip);
    });

    it('answers the requests before an upgrade first', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(`${post('{"n":1}')}${get('/a')}${get('/b')}${get('/socket', UPGRADE)}early`);
      bench.answer((await bench.requests(1))[0].ticket, 202, '{}');
      for (let n = 0; n < 2; n++) {
        await untilHandling(n + 1);
        await settle(1);
        assert.equal(targets.length, n + 1);
        // More than a socket takes at once: the rest is sent when it has drained.
        onFallback = (request, reply) => {
          handling.push({ request, reply });
          called();
        };
        const { reply } = handling[n];
        reply.writeHead(200, { 'Content-Length': 8 << 20 });
        reply.write(Buffer.alloc(4 << 20, 'x'), () => reply.end(Buffer.alloc(4 << 20, 'y')));
      }
      assert.equal((await client.answer()).status, 202);
      for (let n = 0; n < 2; n++) assert.equal((await client.answer()).body.length, 8 << 20);
      assert.equal((await client.answer(true)).status, 101);
      assert.equal(client.unread, 'early');
      client.destroy();
      await bench.emptied();
    });

    it('answers a crossing before an upgrade first', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(get('/a'));
      await untilHandling(1);
      handling[0].reply.end();
      await client.answer();
      client.send(`${post('{"n":1}')}${get('/socket', UPGRADE)}`);
      const [{ ticket }] = await bench.requests(1);
      await settle(1);
      bench.answer(ticket, 202, '{}');
      assert.equal((await client.answer()).status, 202);
      assert.equal((await client.answer()).status, 101);
      client.destroy();
      await bench.emptied();
    });

    it('accepts a target in absolute form on every route', async () => {
      await open();
      answersAtOnce();
      for (const base of ['http://relay', 'HTTP://relay:8081', 'https://[::1]:80']) {
        const [polls, seen] = [await bench.connect(), bench.seen.length];
        polls.send(`${EVENTS.replace('/v1', `${base}/v1`)}?cursor=6a1f03c2-7 HTTP/1.1\r\n${AUTHORIZED}\r\n`);
        const poll = (await bench.requests(seen + 1))[seen];
        assert.deepEqual([poll.kind, poll.slot, poll.seq], ['poll', 0x1a2b, 7]);
        const api = await bench.connect(1);
        api.send(post('{"n":1}').replace('/v1', `${base}/v1`));
        const crossing = (await bench.requests(seen + 2))[seen + 1];
        assert.deepEqual([crossing.kind, crossing.slot, crossing.body], ['crossing', 0x1a2b, '{"n":1}']);
        bench.answer(crossing.ticket, 202);
        assert.equal((await api.answer()).status, 202);
        for (const [target, path] of [
          ['/a?b', '/a?b'],
          ['', '/'],
          ['?b', '/?b'],
        ]) {
          api.send(get(`${base}${target}`));
          assert.equal((await api.answer()).body, `fallback ${path}`);
        }
        api.send(get(`${base}/socket`, UPGRADE));
        assert.equal((await api.answer(true)).status, 101);
        assert.equal(targets.at(-1), '/socket');
      }
    });

    it('uses the host of an absolute target instead of the Host header', async () => {
      await open();
      onFallback = (request, reply) => reply.end(`host ${request.headers.host}`);
      const client = await bench.connect(1);
      client.send(get('http://other:81/'));
      assert.equal((await client.answer()).body, 'host other:81');
    });

    it('refuses tunnels and targets that name nothing, on every route', async () => {
      await open();
      for (const listener of [0, 1]) {
        for (const line of [
          'CONNECT relay:443',
          'CONNECT /',
          'GET http://',
          'GET http:///x',
          'GET http://a@relay/',
          'GET ftp://relay/',
          'GET relay',
          'POST http://',
        ]) {
          const client = await bench.connect(listener);
          client.send(`${line} HTTP/1.1\r\nHost: relay\r\n\r\n`);
          await isRefused(client, FRONT_PROBLEMS.malformed, line);
        }
      }
      assert.deepEqual(targets, []);
    });

    it('ignores an expectation that it does not know', async () => {
      await open();
      answersAtOnce();
      const polls = await bench.connect();
      polls.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}Expect: x\r\n\r\n`);
      bench.answer((await bench.requests(1))[0].ticket);
      assert.equal((await polls.answer()).body, ANSWER);
      const api = await bench.connect(1);
      api.send(get('/', 'Expect: x\r\n'));
      assert.equal((await api.answer()).status, 200);
      api.send(post('{}', 'Expect: x\r\n'));
      bench.answer((await bench.requests(2))[1].ticket, 202);
      assert.equal((await api.answer()).status, 202);
    });

    it('refuses two Hosts on every route', async () => {
      await open();
      for (const extra of ['Host: other\r\n', `Host: other\r\n${UPGRADE}`]) {
        const client = await bench.connect(1);
        client.send(get('/socket', extra));
        await isRefused(client, FRONT_PROBLEMS.malformed);
      }
      const behind = await bench.connect(1);
      behind.send(get('/a') + get('/socket', `Host: other\r\n${UPGRADE}`));
      await untilHandling(1);
      handling[0].reply.end('first');
      assert.equal((await behind.answer()).body, 'first');
      await isRefused(behind, FRONT_PROBLEMS.malformed);
      assert.deepEqual(targets, ['/a']);
    });

    it(`accepts ${HEADERS_MAX} headers on every route, and refuses one more with 431`, async () => {
      await open();
      answersAtOnce();
      const routes: [number, (headers: string) => string, number][] = [
        [0, (headers) => get('/', headers), 404],
        [1, (headers) => get('/', headers), 200],
        [1, (headers) => get('/socket', UPGRADE + headers), 101],
        [1, (headers) => `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\nHost: relay\r\n${headers}\r\n`, 202],
      ];
      for (const [listener, bytes, status] of routes) {
        const own = bytes('').split('\r\n').length - 3;
        for (const count of [HEADERS_MAX - 1, HEADERS_MAX, HEADERS_MAX + 1, 1920]) {
          const client = await bench.connect(listener);
          const seen = bench.seen.length;
          client.send(bytes('a:\r\n'.repeat(count - own)));
          if (count > HEADERS_MAX) {
            await isRefused(client, FRONT_PROBLEMS.headTooLarge, `${count}`);
            continue;
          }
          if (status === 202) bench.answer((await bench.requests(seen + 1))[seen].ticket, 202);
          assert.equal((await client.answer(status === 101)).status, status, `${count}`);
          client.destroy();
        }
      }
    });

    const noLoopback = process.platform === 'linux' ? false : 'only Linux has all of 127.0.0.0/8 on the loopback';

    it('limits the connections of one address, over all listeners, and accepts one again when one has closed', {
      skip: noLoopback,
    }, async () => {
      await open({ connectionsPerAddressMax: 3 });
      answersAtOnce();
      const [parked, idle, elsewhere] = [await bench.connect(), await bench.connect(), await bench.connect(1)];
      parked.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.requests(1);
      // It is handed over to node:http, and still counted.
      elsewhere.send(get('/'));
      assert.equal((await elsewhere.answer()).status, 200);
      while (bench.front.gauges().connections < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const listener of [0, 1]) {
        const over = await bench.connect(listener);
        over.send(get('/'));
        const answer = await over.answer();
        assert.deepEqual([answer.status, answer.body], [429, JSON.stringify(FRONT_PROBLEMS.tooManyConnections)]);
        assert.equal(answer.headers.get('retry-after'), '10');
        await over.ended;
      }
      assert.deepEqual([bench.front.gauges().connections, bench.front.gauges().refused], [3, 2]);
      const other = await bench.connect(0, '127.0.0.2');
      other.send(get('/'));
      assert.equal((await other.answer()).status, 404);
      for (const closing of [idle, elsewhere, parked]) {
        const before = bench.front.gauges().connections;
        closing.destroy();
        while (bench.front.gauges().connections >= before) await new Promise((resolve) => setTimeout(resolve, 5));
        const again = await bench.connect(0);
        again.send(get('/'));
        assert.equal((await again.answer()).status, 404);
        const over = await bench.connect(0);
        over.send(get('/'));
        assert.equal((await over.answer()).status, 429);
      }
    });

    it('serves another address while one opens as many connections as it can and sends a byte now and then', {
      skip: noLoopback,
    }, async () => {
      await open({ connectionsMax: 100, connectionsPerAddressMax: 50 });
      const slow: Client[] = [];
      for (let n = 0; n < 300; n++) {
        const client = await bench.connect();
        client.socket.on('error', () => {});
        client.send('G');
        slow.push(client);
      }
      for (const client of slow) if (!client.socket.destroyed && client.socket.writable) client.send('E');
      const honest = await bench.connect(0, '127.0.0.2');
      honest.send(get('/'));
      assert.equal((await honest.answer()).status, 404);
      assert.ok(bench.front.gauges().connections <= 51);
    });
  });
}
