/**
 * The contract of a front: what both implementations must do, byte for byte where the protocol defines the bytes.
 *
 * `contract(name, make)` registers the suite; portable.test.ts and native.test.ts call it with their factory.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { ANSWER, AUTHORIZED, Bench, Client, EVENTS, OUTDATED, post, TOKEN, WORDS } from '../test/front_bench.ts';
import { answerOf } from '../wire/answer.ts';
import { FRONT_PROBLEMS, PROBLEMS } from '../wire/problem.ts';
import type { Front, FrontListener, FrontOptions } from './front.ts';
import { NO_CURSOR, NO_SLOT } from './front.ts';
import { strangers } from './strangers.contract.ts';

export function contract(name: string, make: (options: FrontOptions) => Front): void {
  describe(`front › ${name}`, () => {
    let bench: Bench;
    afterEach(() => bench.close());
    const open = async (options: Partial<FrontOptions> = {}) => {
      bench = new Bench();
      await bench.open(make, options);
    };

    it('passes on a poll with desktop, token and cursor, and answers it with the given bytes', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS}?cursor=6a1f03c2-81 HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [poll] = await bench.requests(1);
      assert.deepEqual(
        {
          kind: poll.kind,
          slot: poll.slot,
          generation: poll.generation,
          token: poll.token,
          epoch: poll.epoch,
          seq: poll.seq,
        },
        { kind: 'poll', slot: 0x1a2b, generation: 0x3f, token: WORDS, epoch: 0x6a1f03c2, seq: 81 },
      );
      bench.answer(poll.ticket);
      const answer = await client.answer();
      assert.equal(answer.status, 200);
      assert.equal(answer.body, ANSWER);
      assert.equal(answer.headers.get('content-type'), 'application/json');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('content-length'), String(ANSWER.length));
    });

    it('reports the end of a turn after the calls of the turn', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.until(() => bench.turns > 0);
      assert.equal(bench.seen.length, 1);
    });

    it('passes on a poll without a cursor, and without a slot unless the token is valid for the desktop', async () => {
      await open();
      const cases = [
        [`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`, 0x1a2b],
        [`${EVENTS}?other=1&x HTTP/1.1\r\nHost: relay\r\nauthorization:bearer ${TOKEN}\r\n\r\n`, 0x1a2b],
        [`${EVENTS} HTTP/1.1\r\nHost: relay\r\n\r\n`, NO_SLOT],
        [`${EVENTS} HTTP/1.1\r\nHost: relay\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`, NO_SLOT],
        [`${EVENTS} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${TOKEN}0\r\n\r\n`, NO_SLOT],
        [`${EVENTS} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${TOKEN.toUpperCase()}\r\n\r\n`, NO_SLOT],
        [`GET /v1/desktops/1a2b-40/events HTTP/1.1\r\n${AUTHORIZED}\r\n`, NO_SLOT],
        [`GET /v1/desktops/01a2b-3f/events HTTP/1.1\r\n${AUTHORIZED}\r\n`, NO_SLOT],
        [`GET /v1/desktops/nonsense/events HTTP/1.1\r\n${AUTHORIZED}\r\n`, NO_SLOT],
      ] as const;
      for (const [index, [bytes, slot]] of cases.entries()) {
        const client = await bench.connect();
        client.send(bytes);
        const seen = (await bench.requests(index + 1))[index];
        assert.equal(seen.slot, slot, bytes);
        assert.equal(seen.seq, NO_CURSOR);
      }
    });

    it('refuses a malformed cursor, and keeps the connection', async () => {
      await open();
      const client = await bench.connect();
      for (const cursor of [
        '',
        'x',
        '6a1f03c2-',
        '6a1f03c2-01',
        '6a1f03c2-4294967296',
        '6A1F03C2-1',
        '6a1f03c2-1%20',
      ]) {
        client.send(`${EVENTS}?cursor=${cursor} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
        const answer = await client.answer();
        assert.equal(answer.status, 400);
        assert.equal(answer.body, JSON.stringify(FRONT_PROBLEMS.cursor));
        assert.equal(answer.headers.get('content-type'), 'application/problem+json');
      }
      assert.equal(bench.seen.length, 0);
    });

    it('handles many requests on one connection in turn, however their bytes are split', async () => {
      await open();
      const client = await bench.connect();
      const bytes = `${EVENTS}?cursor=6a1f03c2-7 HTTP/1.1\r\n${AUTHORIZED}\r\n`;
      for (let split = 1; split < bytes.length; split += 7) {
        client.send(bytes.slice(0, split));
        await new Promise((resolve) => setImmediate(resolve));
        client.send(bytes.slice(split));
        const before = bench.seen.length;
        const seen = (await bench.requests(before + 1))[before];
        assert.equal(seen.seq, 7);
        bench.answer(seen.ticket);
        assert.equal((await client.answer()).body, ANSWER);
      }
    });

    it('answers pipelined requests in order', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(post('{"n":1}') + post('{"n":2}') + post('{"n":3}'));
      for (let n = 1; n <= 3; n++) {
        const seen = (await bench.requests(n))[n - 1];
        assert.equal(seen.body, `{"n":${n}}`);
        bench.answer(seen.ticket, 202, `{"answer":${n}}`);
        assert.equal((await client.answer()).body, `{"answer":${n}}`);
      }
    });

    it('passes on a crossing with its body', async () => {
      await open();
      const client = await bench.connect(1);
      const body = 'x'.repeat(1024);
      client.send(post(body));
      const [seen] = await bench.requests(1);
      assert.deepEqual([seen.kind, seen.slot, seen.body, seen.token], ['crossing', 0x1a2b, body, WORDS]);
      bench.answer(seen.ticket, 202, '{"to":null}');
      assert.equal((await client.answer()).status, 202);
    });

    it('passes on a saying with its body, and a crossing behind it', async () => {
      await open();
      const client = await bench.connect(1);
      // The native front would scan this if it were a crossing.
      const body = '{"saying":1,"text":"Hello"}';
      client.send(post(body).replace('/crossings', '/sayings') + post('{"n":1}'));
      const [seen] = await bench.requests(1);
      assert.deepEqual([seen.kind, seen.slot, seen.body, seen.token], ['saying', 0x1a2b, body, WORDS]);
      bench.answer(seen.ticket, 202, '{"heard":1}');
      assert.equal((await client.answer()).body, '{"heard":1}');
      const next = (await bench.requests(2))[1];
      assert.equal(next.kind, 'crossing');
      bench.answer(next.ticket, 202, '{}');
      await client.answer();
    });

    it('passes on a stage of up to 2048 bytes, and refuses a longer one before it arrives: below, at the limit, above', async () => {
      await open();
      const client = await bench.connect(1);
      for (const [index, length] of [2047, 2048].entries()) {
        const body = 'x'.repeat(length);
        client.send(post(body).replace('/crossings', '/stage'));
        const seen = (await bench.requests(index + 1))[index];
        assert.deepEqual([seen.kind, seen.slot, seen.body, seen.token], ['stage', 0x1a2b, body, WORDS]);
        bench.answer(seen.ticket, 202, '{"edges":[]}');
        assert.equal((await client.answer()).body, '{"edges":[]}');
      }
      client.send(post('x'.repeat(2049)).replace('/crossings', '/stage').slice(0, -2049));
      const answer = await client.answer();
      assert.equal(answer.status, 413);
      assert.equal(answer.body, JSON.stringify(FRONT_PROBLEMS.tooLarge));
      await client.ended;
      assert.equal(bench.seen.length, 2);
    });

    for (const length of ['1025', '18446744073709551615'])
      it(`refuses a body of ${length} bytes before it arrives, and closes`, async () => {
        await open();
        const client = await bench.connect(1);
        client.send(post('').replace('Content-Length: 0', `Content-Length: ${length}`));
        const answer = await client.answer();
        assert.equal(answer.status, 413);
        assert.equal(answer.body, JSON.stringify(FRONT_PROBLEMS.tooLarge));
        assert.equal(answer.headers.get('connection'), 'close');
        await client.ended;
        assert.equal(bench.seen.length, 0);
      });

    it('accepts a poll with a body of 1024 bytes, and refuses a larger body before it arrives', async () => {
      await open();
      const client = await bench.connect();
      const poll = (length: number) => `${EVENTS} HTTP/1.1\r\n${AUTHORIZED}Content-Length: ${length}\r\n\r\n`;
      client.send(poll(1024) + 'x'.repeat(1024));
      bench.answer((await bench.requests(1))[0].ticket);
      assert.equal((await client.answer()).status, 200);
      client.send(poll(1025));
      assert.equal((await client.answer()).status, 413);
      await client.ended;
    });

    it('delivers a refusal to a client that first sends all it has announced', async () => {
      await open({ timeouts: { lingerMs: 20_000 } });
      const client = await bench.connect(1);
      client.socket.pause();
      const body = Buffer.alloc(8 << 20, 'x');
      client.send(
        `POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}Content-Length: ${body.length}\r\n\r\n`,
      );
      await new Promise((resolve) => client.socket.write(body, resolve));
      client.socket.resume();
      assert.equal((await client.answer()).status, 413);
      client.socket.end();
      await client.ended;
      assert.equal(client.broken, false);
    });

    it('stops waiting for a refused client to close, and accepts nothing more from it', async () => {
      await open({ timeouts: { lingerMs: 300 } });
      const client = await bench.connect(1);
      const late = new net.Socket({ allowHalfOpen: true }).connect(bench.ports[1], '127.0.0.1');
      late.on('error', () => {});
      const over = new Promise((resolve) => late.once('close', resolve));
      late.write(post('x'.repeat(1025)) + post('{}'));
      const drip = setInterval(() => late.write(post('{}')), 20);
      await over;
      clearInterval(drip);
      assert.deepEqual(bench.seen, []);
      client.destroy();
    });

    it('sends the same end of a body to many clients, each behind the beginning of its own', async () => {
      await open();
      // The native front gathers the answers of a turn in 256 KiB: these need more than that.
      const ends = [40_000, 7, 0, 60_000].map((bytes, n) => Buffer.alloc(bytes, 0x61 + n));
      const clients = await Promise.all(Array.from({ length: 40 }, () => bench.connect()));
      for (const client of clients) client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const tickets = (await bench.requests(clients.length)).map(({ ticket }) => ticket);
      const bodies = new Map<number, string>();
      for (const [n, ticket] of tickets.entries()) {
        const own = Buffer.from(`##${n}:${'o'.repeat(n % 3 === 0 ? 12_000 : 10)}##`);
        // Every fifth answer shares nothing, and lies between two that share.
        const shared = n % 5 === 4 ? undefined : ends[Math.floor(n / 5) % ends.length];
        bodies.set(n, `${own.subarray(2, -2)}${shared ?? ''}`);
        bench.front.answer(ticket, { ...answerOf(200, own, 0, shared), start: 2, end: own.length - 2 });
      }
      bench.front.flush();
      const answers = await Promise.all(clients.map((client) => client.answer()));
      assert.deepEqual(answers.map(({ body }) => body).sort(), [...bodies.values()].sort());
      for (const { body, headers } of answers) assert.equal(Number(headers.get('content-length')), body.length);
    });

    it('keeps the rest of an answer with a shared end for a client that reads slowly', async () => {
      await open();
      const clients = await Promise.all([bench.connect(), bench.connect()]);
      for (const { socket } of clients) socket.pause();
      for (const client of clients) client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const tickets = (await bench.requests(2)).map(({ ticket }) => ticket);
      // The sockets accept a part of the own beginning of one, and a part of the shared end of the other.
      const shared = Buffer.alloc(4 << 20, 's');
      for (const [n, ticket] of tickets.entries()) {
        const own = Buffer.alloc(n === 0 ? 10 : 4 << 20, 'o');
        bench.front.answer(ticket, answerOf(200, own, 0, shared));
      }
      bench.front.flush();
      for (const { socket } of clients) socket.resume();
      const answers = await Promise.all(clients.map((client) => client.answer()));
      const parts = answers.map(({ body }) => [body.lastIndexOf('o') + 1, body.length - shared.length]);
      for (const [ownEnd, own] of parts) assert.equal(ownEnd, own);
      assert.deepEqual(
        parts.map(([own]) => own).sort((a, b) => a - b),
        [10, 4 << 20],
      );
    });

    it('sends Retry-After when asked to, and WWW-Authenticate with 401', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      bench.answer((await bench.requests(1))[0].ticket, 503, '{"code":"mailbox-full"}', 7);
      const full = await client.answer();
      assert.deepEqual([full.status, full.headers.get('retry-after')], [503, '7']);
      assert.equal(full.headers.get('access-control-expose-headers'), 'Retry-After', 'pages of other origins read it');
      assert.equal(full.headers.get('content-type'), 'application/problem+json');
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      bench.answer((await bench.requests(2))[1].ticket, 401, '{}');
      assert.equal((await client.answer()).headers.get('www-authenticate'), 'Bearer');
    });

    it('sends the status of every problem', async () => {
      await open();
      const client = await bench.connect();
      const statuses = new Set(Object.values(PROBLEMS).map(({ status }) => status));
      for (const [index, status] of [...statuses].entries()) {
        client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
        bench.answer((await bench.requests(index + 1))[index].ticket, status, '{}');
        assert.equal((await client.answer()).status, status);
      }
    });

    it('reports a parked connection that closes, once, with its slot', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [poll] = await bench.requests(1);
      client.destroy();
      await bench.until(() => bench.closed.length > 0);
      assert.deepEqual(bench.closed, [{ ticket: poll.ticket, slot: 0x1a2b }]);
      bench.answer(poll.ticket); // is ignored
      assert.equal(bench.front.gauges().waiting, 0);
    });

    it('reports each waiting request of a connection that closes, once', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(post('{"n":1}') + post('{"n":2}') + post('{"n":3}'));
      await bench.requests(1);
      // A client that only closes its half gets its answers.
      client.socket.resetAndDestroy();
      await bench.until(() => bench.closed.length >= bench.seen.length);
      assert.deepEqual(bench.closed.map(({ ticket }) => ticket).sort(), bench.seen.map(({ ticket }) => ticket).sort());
      assert.equal(bench.front.gauges().waiting, 0);
    });

    const poll = `${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`;
    const elsewhere = 'GET / HTTP/1.1\r\nHost: relay\r\n\r\n';

    it('reports a poll as outdated when another one follows it, and answers both in order', async () => {
      await open();
      bench.answersOutdated = true;
      for (const parts of [[poll.repeat(3)], [poll, poll, poll], [poll, poll.slice(0, 50), poll.slice(50) + poll]]) {
        const [seen, outdated] = [bench.seen.length, bench.outdated.length];
        const client = await bench.connect();
        for (const part of parts) {
          client.send(part);
          await bench.until(() => bench.seen.length > seen);
        }
        for (let n = 0; n < 2; n++) assert.equal((await client.answer()).body, OUTDATED);
        const tickets = (await bench.requests(seen + 3)).slice(seen).map(({ ticket }) => ticket);
        assert.deepEqual(
          bench.outdated.slice(outdated),
          tickets.slice(0, 2).map((ticket) => ({ ticket, slot: 0x1a2b })),
        );
        bench.answer(tickets[2]);
        assert.equal((await client.answer()).body, ANSWER);
      }
    });

    it('reports a poll as outdated whatever follows it, once', async () => {
      await open();
      const client = await bench.connect();
      client.send(poll);
      const [{ ticket }] = await bench.requests(1);
      for (let n = 0; n < 3; n++) {
        client.send(elsewhere);
        await bench.until(() => bench.outdated.length > 0);
        const probe = await bench.connect();
        probe.send(elsewhere);
        await probe.answer();
      }
      assert.deepEqual(bench.outdated, [{ ticket, slot: 0x1a2b }]);
      bench.answer(ticket);
      assert.equal((await client.answer()).body, ANSWER);
      for (let n = 0; n < 3; n++) assert.equal((await client.answer()).status, 404);
    });

    it('never reports a crossing as outdated', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(post('{"n":1}'));
      await bench.requests(1);
      client.send(post('{"n":2}'));
      const probe = await bench.connect(1);
      probe.send('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
      await probe.answer();
      bench.answer(bench.seen[0].ticket, 202);
      await bench.requests(2);
      assert.deepEqual(bench.outdated, []);
    });

    it('reports nothing when an answered connection closes', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      bench.answer((await bench.requests(1))[0].ticket);
      await client.answer();
      client.destroy();
      const other = await bench.connect();
      other.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.requests(2);
      assert.deepEqual(bench.closed, []);
    });

    it('answers every other request on the events port itself', async () => {
      await open();
      const client = await bench.connect();
      client.send('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
      const missing = await client.answer();
      assert.deepEqual([missing.status, missing.body], [404, JSON.stringify(FRONT_PROBLEMS.notFound)]);
      client.send(`POST /v1/desktops/1a2b-3f/events HTTP/1.1\r\nContent-Length: 0\r\n${AUTHORIZED}\r\n`);
      const method = await client.answer();
      assert.deepEqual([method.status, method.body], [405, JSON.stringify(FRONT_PROBLEMS.methodNotAllowed)]);
      assert.equal(method.headers.get('allow'), 'GET, OPTIONS');
      client.send('OPTIONS /v1/desktops/1a2b-3f/events HTTP/1.1\r\nHost: relay\r\n\r\n');
      const options = await client.answer(true);
      assert.equal(options.status, 204);
      assert.equal(options.headers.get('access-control-allow-origin'), '*');
      assert.equal(options.headers.get('access-control-allow-methods'), 'GET, POST, PUT, DELETE, OPTIONS');
      assert.equal(options.headers.get('access-control-allow-headers'), 'authorization, content-type');
      assert.equal(options.headers.get('access-control-max-age'), '86400');
      client.send('HEAD /v1/desktops/1a2b-3f/events HTTP/1.1\r\nHost: relay\r\n\r\n');
      assert.equal((await client.answer(true)).status, 405);
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      assert.equal((await bench.requests(1)).length, 1);
    });

    it('passes every other request to the fallback of its listener', async () => {
      await open();
      const client = await bench.connect(1);
      for (const request of ['GET /', 'GET /v1/desktops/1a2b-3f', `${EVENTS}`, 'GET /v1/desktops/1a2b-3f/crossings']) {
        client.send(`${request} HTTP/1.1\r\nHost: relay\r\n\r\n`);
        const answer = await client.answer();
        assert.equal(answer.status, 200);
      }
      client.send(post('{"n":1}'));
      assert.equal((await bench.requests(1))[0].body, '{"n":1}');
    });

    it('accepts a chunked crossing on a listener with a fallback', async () => {
      await open();
      const client = await bench.connect(1);
      client.send(`POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n`);
      client.send('3\r\n{"n\r\n4\r\n":1}\r\n0\r\n\r\n');
      const [seen] = await bench.requests(1);
      assert.deepEqual([seen.kind, seen.body, seen.slot], ['crossing', '{"n":1}', 0x1a2b]);
      bench.answer(seen.ticket, 202, '{}');
      assert.equal((await client.answer()).status, 202);
    });

    const bad: [string, string][] = [
      ['garbage', 'garbage\r\n\r\n'],
      ['no version', `${EVENTS}\r\n${AUTHORIZED}\r\n`],
      ['two lengths', post('{}').replace('Content-Length: 2', 'Content-Length: 2\r\nContent-Length: 3')],
      ['a length and chunks', post('{}', 'Transfer-Encoding: chunked\r\n')],
      ['a folded header', `${EVENTS} HTTP/1.1\r\nHost: relay\r\nX: a\r\n b\r\n\r\n`],
      ['a space before the colon', `${EVENTS} HTTP/1.1\r\nHost : relay\r\n\r\n`],
      ['a bad length', post('{}').replace('Content-Length: 2', 'Content-Length: 2x')],
      [
        'a length that 64 bits cannot hold',
        post('{}').replace('Content-Length: 2', 'Content-Length: 18446744073709551616'),
      ],
      ['two tokens', post('{}', `Authorization: Bearer ${TOKEN.replace(/.$/, '0')}\r\n`)],
      ['the same token twice', `${EVENTS} HTTP/1.1\r\n${AUTHORIZED}authorization: Bearer ${TOKEN}\r\n\r\n`],
      ['no Host', `${EVENTS} HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`],
      ['two Hosts', `${EVENTS} HTTP/1.1\r\nHost: other\r\n${AUTHORIZED}\r\n`],
      ['a poll with a chunked body', `${EVENTS} HTTP/1.1\r\n${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['HTTP/1.0 with chunks', 'GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['a NUL', `${EVENTS} HTTP/1.1\r\nHost: re\0lay\r\n\r\n`],
    ];
    for (const [what, bytes] of bad) {
      it(`refuses ${what} with 400 and closes`, async () => {
        await open();
        const client = await bench.connect(bytes.startsWith('POST') ? 1 : 0);
        client.send(bytes);
        const answer = await client.answer();
        assert.deepEqual([answer.status, answer.body], [400, JSON.stringify(FRONT_PROBLEMS.malformed)]);
        assert.equal(answer.headers.get('connection'), 'close');
        await client.ended;
        assert.equal(bench.seen.length, 0);
      });
    }

    it('refuses a head above 8192 bytes with 431 and closes', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}X: ${'x'.repeat(9000)}\r\n\r\n`);
      const answer = await client.answer();
      assert.deepEqual([answer.status, answer.body], [431, JSON.stringify(FRONT_PROBLEMS.headTooLarge)]);
      await client.ended;
    });

    it('accepts a head of nearly 8192 bytes', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}X: ${'x'.repeat(7900)}\r\n\r\n`);
      assert.equal((await bench.requests(1))[0].slot, 0x1a2b);
    });

    it('closes after the answer when the client asks for it', async () => {
      await open();
      const client = await bench.connect();
      client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}Connection: close\r\n\r\n`);
      bench.answer((await bench.requests(1))[0].ticket);
      const answer = await client.answer();
      assert.equal(answer.headers.get('connection'), 'close');
      await client.ended;
    });

    it('answers 503 above the limit, keeps serving, and accepts again when a connection closes', async () => {
      await open({ connectionsMax: 2 });
      const [first, second] = [await bench.connect(), await bench.connect()];
      first.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      second.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.requests(2);
      const third = await bench.connect();
      third.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const full = await third.answer();
      assert.deepEqual([full.status, full.body], [503, JSON.stringify(FRONT_PROBLEMS.relayFull)]);
      assert.equal(full.headers.get('retry-after'), '10');
      await third.ended;
      first.destroy();
      await bench.until(() => bench.closed.length === 1);
      const fourth = await bench.connect();
      fourth.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.requests(3);
      assert.equal(bench.front.gauges().refused, 1);
    });

    it('drains: accepts no connection, closes idle ones now and parked ones after their answer', async () => {
      await open();
      const [idle, parked] = [await bench.connect(), await bench.connect()];
      idle.send('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
      await idle.answer();
      parked.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [poll] = await bench.requests(1);
      bench.front.drain();
      await idle.ended;
      await assert.rejects(new Client(bench.ports[0]).connected);
      bench.answer(poll.ticket);
      const answer = await parked.answer();
      assert.deepEqual([answer.body, answer.headers.get('connection')], [ANSWER, 'close']);
      await parked.ended;
    });

    const timeouts = { requestMs: 600, uploadMs: 1800, idleMs: 600, writeMs: 600, lingerMs: 600 };
    const accepting: FrontListener = {
      host: '127.0.0.1',
      port: 0,
      shared: false,
      routes: 'crossings',
      fallback: (request, reply) => {
        request.resume().on('end', () => reply.end('accepted'));
      },
    };

    it('answers 408 to a request that is not whole in time, hot or not', async () => {
      await open({ timeouts, listeners: [{ ...accepting, fallback: undefined, routes: 'events' }, accepting] });
      const slow: [number, string][] = [
        [0, 'GET /v1/desk'],
        [0, `${EVENTS} HTTP/1.1\r\n${AUTHORIZED}`],
        [1, post('{}').slice(0, 60)],
        [1, post('{"n":1}').slice(0, -3)],
        [1, 'GET /sl'],
        [1, 'PUT /x HTTP/1.1\r\nHost: relay\r\n'],
      ];
      await Promise.all(
        slow.map(async ([listener, bytes]) => {
          const client = await bench.connect(listener);
          client.send(bytes);
          const answer = await client.answer();
          assert.deepEqual([answer.status, answer.body], [408, JSON.stringify(FRONT_PROBLEMS.requestTimeout)], bytes);
          await client.ended;
        }),
      );
      assert.deepEqual(bench.seen, []);
      await bench.emptied();
    });

    it('gives an upload more time than a crossing, but not unlimited time', async () => {
      await open({ timeouts, listeners: [{ ...accepting, fallback: undefined, routes: 'events' }, accepting] });
      const head = 'PUT /x HTTP/1.1\r\nHost: relay\r\nContent-Length: 10\r\n\r\n';
      const [crossing, upload, stuck] = [await bench.connect(1), await bench.connect(1), await bench.connect(1)];
      upload.send(`${head}12345`);
      stuck.send(`${head}12345`);
      crossing.send(post('{"n":1}').slice(0, -3));
      assert.equal((await crossing.answer()).status, 408);
      upload.send('67890');
      assert.equal((await upload.answer()).status, 200);
      assert.equal((await stuck.answer()).status, 408);
      await stuck.ended;
    });

    it('closes idle connections, but never one that waits for an answer', async () => {
      await open({ timeouts });
      const parked = await bench.connect();
      parked.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [{ ticket }] = await bench.requests(1);
      const [idle, elsewhere] = [await bench.connect(), await bench.connect(1)];
      idle.send('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
      elsewhere.send('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
      await Promise.all([idle.ended, elsewhere.ended]);
      bench.answer(ticket);
      assert.equal((await parked.answer()).status, 200);
    });

    it('closes a connection whose client does not read its answer', async () => {
      await open({ timeouts });
      const deaf = await bench.connect();
      deaf.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      const [{ ticket }] = await bench.requests(1);
      deaf.socket.pause();
      bench.answer(ticket, 200, 'x'.repeat(32 << 20));
      await bench.emptied();
    });

    it('counts its connections and waiting tickets', async () => {
      await open();
      const clients = await Promise.all([bench.connect(), bench.connect(), bench.connect()]);
      for (const client of clients) client.send(`${EVENTS} HTTP/1.1\r\n${AUTHORIZED}\r\n`);
      await bench.requests(3);
      assert.deepEqual(bench.front.gauges(), { connections: 3, waiting: 3, refused: 0, stalled: 0 });
    });
  });

  strangers(name, make);
}
