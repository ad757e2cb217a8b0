/** Bad input over real sockets: each gets a clear problem document, and the relay keeps serving, unharmed. */

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, afterEach, before, it } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { CROSSINGS_BURST_MAX, MAILBOX_EVENTS_MAX } from '../domain/state/limits.ts';
import { JOIN_BYTES_MAX, SPR_BYTES_MAX } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  FILE,
  type HttpResponse,
  isSprite,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { randomOf } from './random.ts';
import { crossingBytes, head, RawConnection } from './raw_connection.ts';
import { LEVEL, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

let relay: RelayProcess;
let pidsAtFirst: RelayProcess['pids'];
let worlds = 0;
/** All tokens that the relay has issued: none may appear in its log. */
const tokens: string[] = [];
const connections: RawConnection[] = [];

async function joinDesktop(wish: object = {}): Promise<Joined> {
  const joined = await join(relay.url, wish);
  tokens.push(joined.token);
  return joined;
}

async function pair(): Promise<[Joined, Joined]> {
  const world = `h${worlds++}`;
  return [await joinDesktop({ name: 'Ann', world }), await joinDesktop({ name: 'Bob', world })];
}

async function raw(port: number): Promise<RawConnection> {
  const connection = await RawConnection.open(port);
  connections.push(connection);
  return connection;
}

/** Sends bytes on a new connection and reads one response. */
async function sendRaw(port: number, bytes: string | Uint8Array): Promise<HttpResponse> {
  return (await raw(port)).send(bytes).answer();
}

const pathOf = (url: string): string => new URL(url).pathname;

/** Asserts that the relay is unharmed: its processes are the same, a throw arrives, and no sprite was made or lost. */
async function isUnharmed(): Promise<void> {
  const [ann, bob] = await pair();
  assert.equal((await post(ann, crossingOf(1))).status, 202);
  const batch = await pollFor(bob, bob.cursor, isSprite);
  assert.equal(batch.events.filter(isSprite).length, 1);
  const metrics = await relay.metrics();
  const count = (name: string) => metrics.get(`sprites_${name}`) as number;
  assert.equal(count('accepted_total'), count('acknowledged_total') + count('waiting') + count('abandoned_total'));
  assert.deepEqual(relay.pids, pidsAtFirst, 'no process has ended');
  const faults = relay.log.filter(({ level }) => level > LEVEL.info);
  assert.deepEqual(faults, [], 'the log has neither warnings nor errors');
}

onTwoShapes('usual', 'a relay under bad input', (shape) => {
  before(async () => {
    relay = await startRelay({ ...shape, args: ['--log-level', 'debug'] });
    pidsAtFirst = relay.pids;
    tokens.push(relay.adminToken);
  });
  after(() => relay?.stop());
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.destroy();
    await isUnharmed();
  });

  it('names the member of a crossing that is wrong', async () => {
    const [ann] = await pair();
    const good = crossingOf(1);
    const without = (member: string, ...values: unknown[]): [string, object][] =>
      values.map((value) => [member, { ...good, [member]: value }]);
    const sprite = (member: string, ...values: unknown[]): [string, object][] =>
      values.map((value) => [`sprite.${member}`, { ...good, sprite: { ...good.sprite, [member]: value } }]);
    const bodies = ['', '{', 'null', '17', '[]', '"x"', '{"crossing":1,}', "{'crossing':1}", '\u00ff'];
    const wrong: [string, object | string][] = [
      ...bodies.map((body): [string, string] => ['body', body]),
      ...without('crossing', 0, -1, 1.5, '1', null, true, [1], 2 ** 53, undefined),
      ...without('edge', 'up', 'LEFT', 0, null, undefined),
      ...without('at', -0.01, 1.01, '0.5', null, undefined),
      ...without('vx', 20_001, '1', null, undefined),
      ...without('vy', -20_001, {}, [1]),
      ...without('sprite', null, 'Blob', [], undefined),
      ...sprite('file', FILE.toUpperCase(), FILE.slice(1), `${FILE}0`, '../../etc/passwd', 1, null),
      ...sprite('name', 'a\nb', 'a\u0000', 'x\u202ey', 'x'.repeat(65), '\ud800', 7),
      ...sprite('animation', '', 'Walk', '-a', 'a'.repeat(33), '__proto__', 5),
      ...sprite('facing', 'up', 1),
      ...sprite('scale', 0.2, 17, '1'),
    ];
    for (const [field, body] of wrong) {
      isProblem(await sendRequest(ann.crossings, { method: 'POST', token: ann.token, body }), 'malformed', field);
    }
    const noText = Buffer.from('{"crossing":1,"edge":"\xc3\x28"}', 'latin1');
    isProblem(
      await sendRequest(ann.crossings, { method: 'POST', token: ann.token, body: noText }),
      'malformed',
      'body',
    );
    assert.equal((await post(ann, good)).status, 202, 'none of those used up the number');
  });

  it('names the member of a join that is wrong', async () => {
    const screen = { width: 800, height: 600 };
    const wrong: [string, object | string][] = [
      ...['', '{', 'null', '17', '[]', '"x"'].map((body): [string, string] => ['body', body]),
      ...['a\nb', '\u0007', 'x\u202ey', '\u200b', '\ud800', 'x'.repeat(65), '\u{1f600}'.repeat(17), 5, []].map(
        (name): [string, object] => ['name', { name, screen }],
      ),
      ...['', '  ', 'a\tb', 'x'.repeat(65), 5].map((world): [string, object] => ['world', { world, screen }]),
      ...['x', '0-0', '1-0', '1-1', '01-1', 'A-1', '1-1-1', '', 5].map((near): [string, object] => [
        'near',
        { near, screen },
      ]),
      ...[undefined, null, 5, 'full'].map((given): [string, object] => ['screen', { screen: given }]),
      ...[0, -1, 65_536, '800', null].map((width): [string, object] => [
        'screen.width',
        { screen: { ...screen, width } },
      ]),
      ['screen.height', { screen: { width: 800 } }],
    ];
    for (const [field, body] of wrong) {
      isProblem(await sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body }), 'malformed', field);
    }
    const odd = await joinDesktop({ name: '<script>alert("1")</script>\\', world: '__proto__' });
    const seen = await sendRequest(`${relay.url}/v1/desktops/${odd.desktop}`, { token: odd.token });
    assert.equal((seen.json as { name: string }).name, '<script>alert("1")</script>\\');
  });

  it('refuses a body that is too large before reading it', async () => {
    const [ann] = await pair();
    const authorized = `Authorization: Bearer ${ann.token}`;
    const long = crossingOf(1);
    long.sprite.name = 'x'.repeat(1024);
    isProblem(await post(ann, long), 'too-large');
    isProblem(
      await sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: 'x'.repeat(JOIN_BYTES_MAX + 1) }),
      'too-large',
    );
    const announced: [string, number][] = [
      [`POST ${pathOf(ann.crossings)}`, 1025],
      [`POST ${pathOf(ann.crossings)}`, 2 ** 52],
      ['POST /v1/desktops', JOIN_BYTES_MAX + 1],
      [`PUT /v1/sprites/${FILE.replace('2', '3')}`, SPR_BYTES_MAX + 1],
      [`PUT /v1/sprites/${FILE.replace('2', '3')}`, 2 ** 40],
    ];
    for (const [line, length] of announced) {
      // No byte of the body is sent.
      const connection = await raw(relay.ports.api);
      connection.send(head(line, authorized, `Content-Length: ${length}`));
      isProblem(await connection.answer(), 'too-large');
      await connection.closed;
    }
    const chunked: [string, number][] = [
      [`POST ${pathOf(ann.crossings)}`, 1024],
      ['POST /v1/desktops', JOIN_BYTES_MAX],
      [`PUT /v1/sprites/${FILE.replace('2', '3')}`, SPR_BYTES_MAX],
    ];
    for (const [line, bytesMax] of chunked) {
      const connection = await raw(relay.ports.api);
      const full = `${bytesMax.toString(16)}\r\n${'x'.repeat(bytesMax)}\r\n`;
      // Nothing is sent after the one byte too many: a reset of the closed connection could discard the response.
      connection.send(`${head(line, authorized, 'Transfer-Encoding: chunked')}${full}1\r\nx`);
      isProblem(await connection.answer(), 'too-large');
      await connection.closed;
    }
  });

  it('answers a head that is too large with 431, on every port, and closes', async () => {
    for (const port of Object.values(relay.ports)) {
      const long = 'x'.repeat(9000);
      for (const bytes of [head('GET /', `X: ${long}`), head(`GET /${long}`)]) {
        const connection = await raw(port);
        isProblem(await connection.send(bytes).answer(), 'head-too-large');
        await connection.closed;
      }
    }
  });

  it('refuses lengths that are invalid, or contradict each other', async () => {
    const [ann] = await pair();
    const line = `POST ${pathOf(ann.crossings)}`;
    const authorized = `Authorization: Bearer ${ann.token}`;
    const body = JSON.stringify(crossingOf(1));
    const lengths = [
      ['Content-Length: -1'],
      ['Content-Length: abc'],
      ['Content-Length: 0x10'],
      ['Content-Length: 1e3'],
      [`Content-Length: ${'9'.repeat(30)}`],
      [`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`],
      [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: nonsense'],
    ];
    for (const length of lengths) {
      const connection = await raw(relay.ports.api);
      const answer = await connection.send(head(line, authorized, ...length) + body).answer();
      assert.ok(answer.status === 400 || answer.status === 413, `${length}: ${answer.status}`);
      assert.equal(answer.headers['content-type'], 'application/problem+json', length.join());
      await connection.closed;
    }
    for (const chunk of ['zz\r\n', '-5\r\nhello\r\n', `${'f'.repeat(17)}\r\n`]) {
      const connection = await raw(relay.ports.api);
      connection.send(`${head(line, authorized, 'Transfer-Encoding: chunked')}${chunk}`);
      isProblem(await connection.answer(), 'malformed');
      await connection.closed;
    }
    const empty = await sendRaw(relay.ports.api, head(line, authorized));
    isProblem(empty, 'malformed', 'body');
    const whole = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const chunked = await sendRaw(relay.ports.api, head(line, authorized, 'Transfer-Encoding: chunked') + whole);
    assert.equal(chunked.status, 202, 'a valid body may be sent in chunks');
  });

  it('answers bytes that are not HTTP/1.1 with a problem document, and closes', async () => {
    const wrong = [
      'hello\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET /\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET / HTTP/1.1\r\nHost relay\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: relay\r\nX\u0000Y: 1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost : relay\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    ];
    for (const port of [relay.ports.api, relay.ports.events]) {
      for (const bytes of wrong) {
        const connection = await raw(port);
        const answer = await connection.send(Buffer.from(bytes, 'latin1')).answer();
        assert.equal(answer.status, 400, JSON.stringify(bytes));
        assert.equal((answer.json as { code?: string })?.code, 'malformed', JSON.stringify(bytes));
        await connection.closed;
      }
      const hostless = await raw(port);
      const answer = await hostless.send('GET / HTTP/1.1\r\n\r\n').answer();
      isProblem(answer, 'malformed');
      await hostless.closed;
    }
  });

  it('answers pipelined requests in order', async () => {
    const [ann, bob] = await pair();
    const api = await raw(relay.ports.api);
    const look = head(`GET /v1/desktops/${ann.desktop}`, `Authorization: Bearer ${ann.token}`);
    api.send(
      [1, 2, 3].map((n) => crossingBytes(ann, crossingOf(n))).join('') +
        look +
        crossingBytes(ann, { ...crossingOf(4), at: 'x' }) +
        crossingBytes(ann, crossingOf(5)),
    );
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await api.answer()).status);
    assert.deepEqual(statuses, [202, 202, 202, 200, 400, 202]);

    const settled = await pollFor(bob, bob.cursor, ({ type }) => type === 'neighbours');
    const events = await raw(relay.ports.events);
    const pollWith = (cursor: string) =>
      head(`GET ${pathOf(bob.events)}?cursor=${cursor}`, `Authorization: Bearer ${bob.token}`);
    // Three polls at once: the first two are answered, and the last is held until there is an event.
    events.send(pollWith(settled.cursor).repeat(3));
    assert.equal((await post(ann, crossingOf(6))).status, 202);
    for (let n = 0; n < 2; n++) assert.equal((await events.answer()).status, 200);
    assert.equal(((await events.answer()).json as Batch).events.filter(isSprite).length, 1);
  });

  it('discards requests that are cut off in the middle', async () => {
    const [ann] = await pair();
    const authorized = `Authorization: Bearer ${ann.token}`;
    const joining = JSON.stringify({ screen: { width: 1, height: 1 } });
    const bytes = sprFile();
    const requests = [
      crossingBytes(ann, crossingOf(1, 'right', 'never whole')),
      head('POST /v1/desktops', `Content-Length: ${joining.length}`) + joining,
      head(`PUT /v1/sprites/${hashOf(bytes)}`, authorized, `Content-Length: ${bytes.length}`) +
        bytes.toString('latin1'),
      head(`GET ${pathOf(ann.events)}`, authorized),
    ];
    const joined = (await relay.metrics()).get('sprites_joined_total');
    for (const [index, whole] of requests.entries()) {
      const port = index === 3 ? relay.ports.events : relay.ports.api;
      const body = whole.indexOf('\r\n\r\n') + 4;
      for (const at of [1, 20, Math.min(body, whole.length - 1), whole.length - 1]) {
        for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
          const connection = await raw(port);
          connection.send(Buffer.from(whole.slice(0, at), 'latin1'));
          connection.socket[end]();
          await connection.closed;
        }
      }
    }
    assert.equal((await relay.metrics()).get('sprites_joined_total'), joined);
    isProblem(await sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`), 'not-found');
    assert.equal((await post(ann, crossingOf(1))).status, 202);
    const metrics = await relay.metrics();
    assert.equal(metrics.get('sprites_repeated_total'), 0, 'no incomplete throw was accepted');
  });

  it('closes slow requests after 10 s, with a 408 if a request had begun', async () => {
    const [ann, bob] = await pair();
    const authorized = `Authorization: Bearer ${ann.token}`;
    const body = JSON.stringify(crossingOf(1));
    const slow: [keyof Ports, string][] = [
      ['api', 'POST /v1/desk'],
      ['api', head(`POST ${pathOf(ann.crossings)}`, authorized).slice(0, -2)],
      ['api', head(`POST ${pathOf(ann.crossings)}`, authorized, `Content-Length: ${body.length}`) + body.slice(0, 20)],
      ['events', `GET ${pathOf(bob.events)}`],
      ['events', head(`GET ${pathOf(bob.events)}`, `Authorization: Bearer ${bob.token}`).slice(0, -1)],
    ];
    const drips: NodeJS.Timeout[] = [];
    const waiting = slow.map(async ([port, bytes], index) => {
      const connection = await raw(relay.ports[port]);
      connection.send(bytes);
      // A byte every second does not keep a connection open.
      if (index === 1) drips.push(setInterval(() => connection.over || connection.send('X'), 1000));
      const answer = await connection.answer();
      isProblem(answer, 'request-timeout');
      await connection.closed;
    });
    const silent = await raw(relay.ports.events);
    try {
      await Promise.all(waiting);
    } finally {
      for (const drip of drips) clearInterval(drip);
    }
    silent.destroy();
  });

  it('does not accept ids that are invalid or were never issued', async () => {
    const [ann, bob] = await pair();
    const [slot, generation] = ann.desktop.split('-');
    const digits = ann.token.slice(ann.token.indexOf('.'));
    const later = `${slot}-${(Number.parseInt(generation, 16) + 1).toString(16)}`;
    const ids = [
      'ffffff-1',
      '0-1',
      later,
      '1000000-1',
      'xyz',
      '-',
      '1-',
      '-1',
      `0${ann.desktop}`,
      '1-100000000',
      '..%2f',
    ];
    for (const id of ids) {
      const stranger = { ...ann, token: `${id}${digits}` };
      for (const name of ['events', 'crossings', 'look'] as const) {
        const url = name === 'look' ? `${relay.url}/v1/desktops/${id}` : ann[name].replace(ann.desktop, id);
        const method = name === 'crossings' ? 'POST' : 'GET';
        const body = name === 'crossings' ? crossingOf(1) : undefined;
        isProblem(await sendRequest(url, { method, token: stranger.token, body }), 'unknown-desktop');
        isProblem(await sendRequest(url, { method, token: ann.token, body }), 'unknown-desktop');
      }
    }
    assert.equal((await post(bob, crossingOf(1))).status, 202);
  });

  it('accepts no token except the desktop’s own', async () => {
    const [ann, bob] = await pair();
    const bits = ann.token.slice(0, -32);
    const last = ann.token.slice(-32);
    const flipped = Array.from(last, (digit, at) => {
      const other = (Number.parseInt(digit, 16) ^ 1).toString(16);
      return `${bits}${last.slice(0, at)}${other}${last.slice(at + 1)}`;
    });
    const forged = [
      ...flipped,
      bob.token,
      '',
      'x',
      `${ann.token}0`,
      ann.token.toUpperCase(),
      `${bits}${'0'.repeat(32)}`,
    ];
    const headers = [
      ...forged.map((token) => ({ authorization: `Bearer ${token}` })),
      ...[
        {},
        { authorization: ann.token },
        { authorization: `Basic ${ann.token}` },
        { authorization: 'x'.repeat(4000) },
      ],
    ];
    const agent = new http.Agent({ keepAlive: true });
    for (const header of headers) {
      const withHeader = { headers: header, agent };
      isProblem(await sendRequest(`${ann.events}?cursor=${ann.cursor}`, withHeader), 'unknown-desktop');
      isProblem(
        await sendRequest(ann.crossings, { ...withHeader, method: 'POST', body: crossingOf(1) }),
        'unknown-desktop',
      );
      isProblem(
        await sendRequest(`${relay.url}/v1/desktops/${ann.desktop}`, { ...withHeader, method: 'DELETE' }),
        'unknown-desktop',
      );
    }
    const inUrl = await sendRequest(`${ann.events}?cursor=${ann.cursor}&token=${ann.token}`, { agent });
    isProblem(inUrl, 'unknown-desktop');
    agent.destroy();
    assert.equal((await post(ann, crossingOf(1))).status, 202, 'the desktop is still there');
  });

  it('recognizes an old id, also when its slot has a new desktop', async () => {
    const ann = await joinDesktop({ world: 'old' });
    const at = `${relay.url}/v1/desktops/${ann.desktop}`;
    assert.equal((await sendRequest(at, { method: 'DELETE', token: ann.token })).status, 204);
    isProblem(await poll(ann, ann.cursor), 'desktop-ended');
    const heir = await joinDesktop({ world: 'old' });
    assert.equal(heir.desktop.split('-')[0], ann.desktop.split('-')[0], 'the slot is used again');
    isProblem(await poll(ann, ann.cursor), 'desktop-ended');
    isProblem(await post(ann, crossingOf(1)), 'desktop-ended');
    isProblem(await sendRequest(at, { method: 'DELETE', token: ann.token }), 'desktop-ended');
    isProblem(await sendRequest(at, { token: heir.token }), 'unknown-desktop');
    assert.equal((await post(heir, crossingOf(1))).status, 202);
  });

  it('answers a cursor that is ahead or of another epoch with the cursor to go on from', async () => {
    const [ann, bob] = await pair();
    const [epoch] = bob.cursor.split('-');
    await post(ann, crossingOf(1));
    for (const seq of ['2', '1000000', '4294967295']) {
      const { cursor } = isProblem(await poll(bob, `${epoch}-${seq}`), 'cursor-ahead');
      assert.equal(cursor, bob.cursor);
    }
    const other = epoch === '00000000' ? '00000001' : '00000000';
    const { cursor } = isProblem(await poll(bob, `${other}-5`), 'cursor-lost');
    assert.equal(cursor, bob.cursor);
    const batch = (await poll(bob, cursor)).json as Batch;
    assert.equal(batch.events.filter(isSprite).length, 1, 'the waiting sprite is still there');
    const forms = [
      'x',
      '0',
      `${epoch}-`,
      `${epoch}-01`,
      `${epoch}-4294967296`,
      `${epoch}--1`,
      `${epoch.toUpperCase()}x-1`,
      '-1',
    ];
    for (const form of [...forms, '%00', `${epoch}-1%20`, 'x'.repeat(4000)]) {
      isProblem(await poll(bob, form), 'malformed', 'cursor');
    }
  });

  it('refuses decompression bombs, and serves other requests meanwhile', async () => {
    const { token } = await joinDesktop();
    const inflated = bomb(64 * 2 ** 20);
    assert.ok(inflated.length < SPR_BYTES_MAX, `${inflated.length} bytes`);
    const wide = sprFile({ width: 2 ** 31 - 1, height: 2 ** 31 - 1 });
    const flat = sprFile({ width: 0, height: 0 });
    const uploads = [inflated, wide, flat].flatMap((bytes) =>
      Array.from({ length: 4 }, () =>
        sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`, { method: 'PUT', token, body: bytes }),
      ),
    );
    await isUnharmed();
    for (const answer of await Promise.all(uploads)) isProblem(answer, 'sprite-invalid');
  });

  it('answers throws that are too fast with 429, and accepts them again later', async () => {
    const [ann, bob] = await pair();
    const connection = await raw(relay.ports.api);
    const answers: HttpResponse[] = [];
    const isRefused = ({ status }: HttpResponse) => status !== 202;
    // A busy machine may throw no faster than the limit allows for a while, so it throws until it is too fast.
    for (let { cursor } = bob; !answers.some(isRefused) && answers.length < 20 * CROSSINGS_BURST_MAX; ) {
      const first = answers.length + 1;
      const batch = Array.from({ length: CROSSINGS_BURST_MAX + 40 }, (_, n) =>
        crossingBytes(ann, crossingOf(first + n)),
      );
      connection.send(batch.join(''));
      for (const _ of batch) answers.push(await connection.answer());
      // Bob receives them all, so that his mailbox never refuses.
      for (let waiting = answers.slice(first - 1).filter((answer) => !isRefused(answer)).length; waiting > 0; ) {
        const { json } = await poll(bob, cursor);
        waiting -= (json as Batch).events.filter(isSprite).length;
        cursor = (json as Batch).cursor;
      }
    }
    const refused = answers.findIndex(isRefused);
    assert.ok(refused >= CROSSINGS_BURST_MAX, `${refused} were accepted at once`);
    isProblem(answers[refused], 'too-fast');
    assert.equal((await post(bob, crossingOf(1))).status, 202, 'other desktops are not limited');
    let again: HttpResponse | undefined;
    await until('the thrower may throw again', async () => {
      // A new number: on a slow machine, later ones of the batch were accepted, and a refused one may be stale by now.
      again = await post(ann, crossingOf(answers.length + 1));
      return again.status === 202;
    });
  });

  it('answers a throw into a full mailbox with 503, and accepts it when there is room again', async () => {
    const [ann, bob] = await pair();
    const carol = await joinDesktop({ near: bob.invitation });
    let full: HttpResponse | undefined;
    let accepted = 0;
    for (let crossing = 1; !full; crossing++) {
      for (const [thrower, edge] of [
        [ann, 'right'],
        [carol, 'left'],
      ] as const) {
        const answer = await post(thrower, crossingOf(crossing, edge));
        if (answer.status === 202) {
          assert.deepEqual((answer.json as { to: object }).to, { desktop: bob.desktop, name: 'Bob' });
          accepted++;
        } else full ??= answer;
      }
    }
    isProblem(full, 'mailbox-full');
    assert.equal(accepted, MAILBOX_EVENTS_MAX);
    isProblem(await post(ann, crossingOf(1000)), 'mailbox-full');
    const batch = (await poll(bob, bob.cursor)).json as Batch;
    isProblem(await post(ann, crossingOf(1000)), 'mailbox-full');
    assert.equal((await poll(bob, batch.cursor)).status, 200, 'this cursor makes room');
    assert.equal((await post(ann, crossingOf(1000))).status, 202, 'a refused number may be used again');
  });

  it('does not buffer responses without limit for a connection that never reads', async () => {
    const [ann, bob] = await pair();
    for (let n = 1; n <= 64; n++) await post(ann, crossingOf(n));
    const connection = await raw(relay.ports.events);
    connection.socket.pause();
    const before = (await relay.metrics()).get('sprites_polls_total') as number;
    const pollRequest = head(`GET ${pathOf(bob.events)}`, `Authorization: Bearer ${bob.token}`);
    const polls = 20_000;
    for (let n = 0; n < polls; n += 100) connection.send(pollRequest.repeat(100));
    await isUnharmed();
    const answered = ((await relay.metrics()).get('sprites_polls_total') as number) - before;
    assert.ok(answered < polls / 2, `${answered} of ${polls} polls were answered, although the client reads nothing`);
  });

  it('survives a flood of connections that open and close, with and without a request', async () => {
    const [ann, bob] = await pair();
    const gauge = async (name: string) => (await relay.metrics()).get(name) as number;
    const idle = async () => [await gauge('sprites_connections'), await gauge('sprites_polls_parked')];
    const whole = head(`GET ${pathOf(bob.events)}`, `Authorization: Bearer ${bob.token}`);
    for (let round = 0; round < 5; round++) {
      const flood = Array.from({ length: 150 }, (_, n) => {
        const connection = new RawConnection([relay.ports.api, relay.ports.events, relay.ports.admin][n % 3]);
        if (n % 4 === 1) connection.send(whole.slice(0, 30));
        else if (n % 4 === 2) connection.send(whole);
        else if (n % 4 === 3) connection.send(crossingBytes(ann, crossingOf(round * 150 + n)));
        connection.socket.once('connect', () => connection.socket.resetAndDestroy());
        return connection.closed;
      });
      await Promise.all(flood);
    }
    await until('all connections are gone', async () => (await idle()).every((count) => count === 0));
  });

  it('survives a flood of garbage on all its ports', async (t) => {
    const random = randomOf(t);
    for (const port of Object.values(relay.ports)) {
      const flood = Array.from({ length: 40 }, async (_, n) => {
        const connection = await raw(port);
        const length = 1000 + Math.floor(random() * 20_000);
        const bytes = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
        const begin =
          n % 2 === 0 ? '' : `POST /v1/desktops HTTP/1.1\r\nHost: relay\r\nContent-Length: ${1 + (n % 900)}\r\n\r\n`;
        connection.send(begin).send(bytes);
        await connection.closed;
      });
      await Promise.all(flood);
    }
  });

  it('answers on the admin port only with its token', async () => {
    const paths: [string, string][] = [
      ['GET', '/metrics'],
      ['POST', '/admin/gc'],
      ['GET', '/admin/heap'],
      ['POST', '/admin/heap-snapshot?force=1'],
      ['POST', '/admin/profile?seconds=1'],
      ['GET', '/admin/who'],
      ['POST', '/admin/drain'],
      ['GET', '/admin/nothing'],
    ];
    const desktop = await joinDesktop();
    const forged = relay.adminToken.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    for (const [method, path] of paths) {
      for (const token of [undefined, '', forged, `${relay.adminToken}0`, relay.adminToken.slice(1), desktop.token]) {
        isProblem(await sendRequest(`${relay.adminUrl}${path}`, { method, token }), 'admin-token');
      }
    }
    assert.equal((await sendRequest(`${relay.adminUrl}/healthz`)).status, 200);
    assert.deepEqual((await sendRequest(`${relay.adminUrl}/readyz`)).json, {
      ready: true,
      draining: false,
      ports: relay.ports,
    });
    const token = relay.adminToken;
    isProblem(await sendRequest(`${relay.adminUrl}/admin/nothing`, { token }), 'not-found');
    for (const from of ['-1', 'x', '1e3']) {
      isProblem(await sendRequest(`${relay.adminUrl}/admin/who?from=${from}`, { token }), 'malformed', 'from');
    }
    const list = await sendRequest(`${relay.adminUrl}/admin/who`, { token });
    assert.ok((list.json as { count: number }).count > 0);
    assert.equal((await sendRequest(`${relay.adminUrl}/admin/heap`, { token })).status, 200);
    assert.equal((await sendRequest(`${relay.adminUrl}/admin/gc`, { method: 'POST', token })).status, 200);
  });

  it('refuses a Host that can be part of no URL before anything is done', async () => {
    const body = JSON.stringify({ screen: { width: 800, height: 600 } });
    const bytes = (host: string) =>
      `POST /v1/desktops HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const joined = async () => (await relay.metrics()).get('sprites_joined_total');
    const before = await joined();
    for (const host of ['a:99999', '[:::::]', '999.1.1.1', '1.2.3.4.5', '[::1', 'a b', 'a:b', '%']) {
      isProblem(await sendRaw(relay.ports.api, bytes(host)), 'malformed', 'host');
    }
    assert.equal(await joined(), before, 'nobody joined');
    for (const host of ['', 'a', 'A.b:80', '[::1]:8080', '127.0.0.1']) {
      const answer = await sendRaw(relay.ports.api, bytes(host));
      assert.equal(answer.status, 201, host);
      tokens.push((answer.json as Joined).token);
    }
  });

  it('answers a throw and a join of a client that has closed its half of the connection', async () => {
    const [ann, bob] = await pair();
    const body = JSON.stringify({ screen: { width: 800, height: 600 } });
    const joining = head('POST /v1/desktops', `Content-Length: ${body.length}`) + body;
    for (let n = 1; n <= 10; n++) {
      for (const [bytes, status] of [
        [crossingBytes(ann, crossingOf(n)), 202],
        [joining, 201],
      ] as const) {
        const connection = new RawConnection(relay.ports.api);
        connections.push(connection);
        connection.socket.end(bytes);
        const answer = await connection.answer();
        assert.equal(answer.status, status);
        if (status === 201) tokens.push((answer.json as Joined).token);
        await connection.closed;
      }
    }
    const { events } = await pollFor(bob, bob.cursor, isSprite);
    assert.equal(events.filter(isSprite).length, 10);
  });

  it('has not logged any token', async () => {
    const text = relay.log.map((line) => JSON.stringify(line)).join('\n');
    assert.ok(tokens.length > 20);
    for (const token of tokens) assert.ok(!text.includes(token.slice(-32)), 'a token is in the log');
  });
});

/** Returns a .spr whose pixels inflate to `bytes`, although its header says 16 × 8. */
function bomb(bytes: number): Buffer {
  const good = sprFile();
  const at = good.indexOf('IDAT') - 4;
  const packed = deflateSync(Buffer.alloc(bytes), { level: 9 });
  const content = Buffer.concat([Buffer.from('IDAT'), packed]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(packed.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(content));
  const rest = good.subarray(at + 12 + good.readUInt32BE(at));
  return Buffer.concat([good.subarray(0, at), length, content, check, rest]);
}
