/**
 * Fuzzed requests: valid requests of every route, changed at random in their method, target, headers, chunks, body or bytes,
 * pipelined, split into writes at random bytes, and cut off.
 *
 * The scripts depend on the seed, and on the ids and tokens that the relay gave. A response of 500, or bytes that are not a
 * response, are noted with the script that caused them.
 */
import { type Assault, type Attack, WAITING } from './assault.ts';
import { Connection } from './connection.ts';
import { smallPicture } from './picture.ts';
import type { Random } from './random.ts';
import { upgradeHead } from './socket_bytes.ts';
import { crossingOf, headOf, type Joined, SCREEN } from './target.ts';

/** Connections at once. */
const CONNECTIONS = 128;

/** Requests on one connection. The relay closes a connection at the first one that it can't parse. */
const REQUESTS_MAX = 10;

/** A connection that neither answers nor closes for so long is reset, in ms. */
const SILENT_MS = 500;

/** After so many scripts they act for a new desktop, because one may have ended the old one. */
const SCRIPTS_OF_A_DESKTOP = 2000;

const LAST = Buffer.from(headOf('GET /v1/desktops/0-1', 'Connection: close'));

const STATUS_LINE = Buffer.from('HTTP/1.1 ');

interface Request {
  method: string;
  target: string;
  version: string;
  headers: string[];
  body: Buffer | undefined;
  chunked: boolean;
}

type Mutation = (request: Request, random: Random) => void;

// DELETE is not among them: it would end the desktop that all scripts act for.
const METHODS = 'GET POST PUT OPTIONS HEAD PATCH TRACE CONNECT PROPFIND get G GE\u00e9T M-SEARCH PRI'.split(' ');

const TARGETS = [
  ...['/', '*', '//', '/..', '/%2e%2e/%00', '/v1/desktops/', '/v1/desktops//events', '/v1/desktops/0-1/socket?x', ''],
  ...['http://relay/', 'http://relay:99999/v1/desktops', 'relay:80', '/v1/sprites/../../etc/passwd', '/\u0000', '/?'],
  ...['/v1/desktops/0-1/events?cursor=', '/v1/desktops/0-1/events?cursor=0-0&cursor=1-1', '/metrics', '/protocol'],
  ...['/v1/desktops/ffffff-ffffffff/events?cursor=ffffffff-9007199254740991', `/${'a'.repeat(9000)}`],
];

const HOSTS = [
  ...['Host: a:99999', 'Host: [:::::]', 'Host: 999.1.1.1', 'Host: 1.2.3.4.5', 'Host:', 'Host: a b', 'Host: a/../b'],
  ...['Host: [::1]:0', 'Host: a@b', 'Host: %00', `Host: ${'a'.repeat(300)}`, 'Host: xn--', 'Host: relay:80:80'],
];

const HEADERS = [
  ...HOSTS,
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'Connection: close',
    'Connection: upgrade',
    'Upgrade: websocket',
    'Upgrade: h2c',
  ],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: identity', 'TE: trailers'],
  ...['Transfer-Encoding : chunked', 'Transfer-Encoding:\tchunked', 'Content-Length: 5', 'Content-Length: -1'],
  ...['Content-Length: 99999999999999999999', 'Content-Length: +5', 'Content-Length: 5, 5', 'Content-Length: 0x5'],
  ...['Range: bytes=0-', 'Range: bytes=9-1', 'Range: x', 'Range: bytes=99999999-', 'If-None-Match: *', 'If-Match: "x"'],
  ...['Authorization: Bearer', 'Authorization: Basic eDp5', 'Authorization: Bearer 0-1.0', 'Origin: null', 'No colon'],
  ...[' folded: x', 'X: \u0000', 'X: \u007f', ': x', 'X\u00e9: y', `X: ${'y'.repeat(9000)}`, 'Content-Encoding: gzip'],
  ...['Content-Type: text/plain; charset=x', 'Accept: */*;q=x', 'Sec-WebSocket-Version: 13', 'X-Forwarded-For: ::1, x'],
  ...['Forwarded: for="[::1"', 'Cookie: a=b', 'a:', 'Keep-Alive: timeout=1', 'Proxy-Connection: x', 'Trailer: Host'],
];

const JSONS = [
  ...[
    '',
    '{',
    'null',
    '[]',
    '""',
    '1e400',
    '{"crossing":1e400}',
    '{"screen":{"width":1e400,"height":1}}',
    '\u00ff\u00fe',
  ],
  ...['{"screen":{"width":1,"height":1},"name":"\\ud800"}', '{"screen":{"width":1,"height":1},"world":"\\u3164"}'],
  ...[
    '{"screen":{"width":1,"height":1},"near":"0-1"}',
    '{"__proto__":{"crossing":1}}',
    '['.repeat(900),
    '{"a":'.repeat(200),
  ],
];

const MUTATIONS: readonly Mutation[] = [
  (request, random) => {
    request.method = random.of(METHODS);
  },
  (request, random) => {
    request.target = random.of(TARGETS);
  },
  (request, random) => {
    request.version = random.of(['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', 'HTTP/1.1 x', '']);
  },
  (request, random) => {
    request.headers.splice(random.below(request.headers.length + 1), 0, random.of(HEADERS));
  },
  (request, random) => {
    request.headers[0] = random.of(HOSTS);
  },
  (request, random) => {
    request.headers.splice(random.below(request.headers.length), 1);
  },
  (request, random) => {
    request.headers.push(...Array.from({ length: random.below(300) }, () => 'a:'));
  },
  (request) => {
    request.chunked = true;
    request.body ??= Buffer.from('x');
  },
  (request, random) => {
    request.body = Buffer.from(random.of(JSONS));
  },
  (request, random) => {
    if (request.body) request.body = changed(request.body, random);
  },
  (request, random) => {
    request.headers.push(`Content-Length: ${random.below(2000)}`);
  },
];

/** What one connection sends. */
interface Script {
  bytes: Buffer;
  /** The requests, as they were before the end was cut off. */
  requests: readonly Buffer[];
  /** Its direction of the connection is closed behind the last byte. */
  ends: boolean;
}

/** Yields scripts: the bytes of one connection and how many requests they hold. */
class Fuzzer {
  readonly #random: Random;
  readonly #joined: Joined;
  readonly #picture = smallPicture();
  #crossing = 1;

  constructor(random: Random, joined: Joined) {
    this.#random = random;
    this.#joined = joined;
  }

  script(): Script {
    const random = this.#random;
    const requests = Array.from({ length: 1 + random.below(REQUESTS_MAX) }, () => this.#request());
    // The relay closes the connection after this one, unless something before it has swallowed it.
    requests.push(LAST);
    let bytes = Buffer.concat(requests);
    const isCut = random.chance(0.1);
    if (isCut) bytes = bytes.subarray(0, random.below(bytes.length));
    return { bytes, requests, ends: isCut || random.chance(0.1) };
  }

  #request(): Buffer {
    const random = this.#random;
    const request = this.#valid();
    if (random.chance(0.25)) random.of(MUTATIONS)(request, random);
    if (random.chance(0.05)) random.of(MUTATIONS)(request, random);
    const bytes = written(request, random);
    return random.chance(0.03) ? changed(bytes, random) : bytes;
  }

  #valid(): Request {
    const { desktop, token, cursor } = this.#joined;
    const base = `/v1/desktops/${desktop}`;
    const make = (method: string, target: string, body?: string | Buffer): Request => ({
      method,
      target,
      version: 'HTTP/1.1',
      chunked: false,
      headers: ['Host: relay', `Authorization: Bearer ${token}`],
      body: body === undefined ? undefined : Buffer.from(body as string),
    });
    switch (this.#random.below(16)) {
      case 0:
        return make('POST', '/v1/desktops', JSON.stringify({ name: 'Fuzz', screen: SCREEN }));
      case 1:
        return make('PUT', `/v1/sprites/${this.#picture.hash}`, this.#picture.bytes);
      case 2:
        return make('GET', `/v1/sprites/${this.#picture.hash}`);
      case 3:
        return make('GET', '/');
      case 4: {
        const [line, , ...headers] = upgradeHead(this.#joined).trimEnd().split('\r\n');
        const request = make('GET', line.split(' ')[1]);
        request.headers.push(...headers);
        return request;
      }
      case 5:
        return make('OPTIONS', '/v1/desktops');
      case 6:
        return make('DELETE', '/v1/desktops/0-1');
      case 7:
      case 8:
        return make('GET', base);
      case 9:
      case 10:
      case 11:
        return make('GET', `${base}/events?cursor=${cursor}`);
      default:
        return make('POST', `${base}/crossings`, crossingOf(this.#crossing++));
    }
  }
}

function written({ method, target, version, headers, body, chunked }: Request, random: Random): Buffer {
  const lines = [`${method} ${target} ${version}`, ...headers];
  if (body && !chunked) lines.push(`Content-Length: ${body.length}`);
  if (chunked) lines.push('Transfer-Encoding: chunked');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (!body) return head;
  return Buffer.concat([head, chunked ? inChunks(body, random) : body]);
}

function inChunks(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const length = 1 + random.below(body.length - at);
    const size = random.chance(0.05) ? random.of(['-1', 'ffffffffffffffff', '0x5', '', 'g']) : length.toString(16);
    const extension = random.chance(0.1) ? `;${'e'.repeat(random.below(40))}` : '';
    parts.push(Buffer.from(`${size}${extension}\r\n`), body.subarray(at, at + length), Buffer.from('\r\n'));
    at += length;
  }
  const trailer = random.chance(0.1) ? 'X: trailer\r\n' : '';
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)]);
}

/** Returns the bytes with one to three of them changed, removed or repeated. */
function changed(bytes: Buffer, random: Random): Buffer {
  let made = Buffer.from(bytes);
  for (let changes = 1 + random.below(3); changes > 0 && made.length > 0; changes--) {
    const at = random.below(made.length);
    const kind = random.below(3);
    if (kind === 0) made[at] = random.below(256);
    else if (kind === 1) made = Buffer.concat([made.subarray(0, at), made.subarray(at + 1 + random.below(8))]);
    else made = Buffer.concat([made.subarray(0, at), made.subarray(random.below(at + 1))]);
  }
  return made;
}

/** Sends one script and reads until the relay closes or falls silent. */
async function play(assault: Assault, port: number, { bytes: script, requests, ends }: Script): Promise<void> {
  const connection = await Connection.open(port, 'never');
  if (connection === undefined) {
    assault.count('not accepted');
    await assault.rest(1);
    return;
  }
  const { socket } = connection;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let isFirst = true;
  let answered = 0;
  const silence = setTimeout(end, SILENT_MS);
  socket.on('data', (bytes: Buffer) => {
    silence.refresh();
    if (isFirst && bytes.indexOf(STATUS_LINE) !== 0) {
      assault.count('no response');
      assault.note(`bytes that are not a response: ${JSON.stringify(bytes.toString('latin1', 0, 80))}`);
    }
    isFirst = false;
    for (let at = bytes.indexOf(STATUS_LINE); at >= 0; at = bytes.indexOf(STATUS_LINE, at + STATUS_LINE.length)) {
      const from = at + STATUS_LINE.length;
      const status = bytes.toString('latin1', from, from + 3);
      // The words also occur in the bodies of problems.
      if (!/^\d{3}$/.test(status)) continue;
      assault.count(status);
      if (status === '500') assault.note(`500, at ${JSON.stringify(requests[answered]?.toString('latin1'))}`);
      if (status[0] !== '1') answered++;
    }
  });
  socket.on('close', end);
  socket.resume();
  const cut = assault.random.chance(0.3) ? assault.random.below(script.length + 1) : 0;
  if (cut > 0) {
    connection.send(script.subarray(0, cut));
    await new Promise(setImmediate);
  }
  if (ends) connection.end(script.subarray(cut));
  else connection.send(script.subarray(cut));
  socket.once('end', end);
  await over;
  if (!socket.destroyed && !socket.readableEnded) assault.count('silent');
  clearTimeout(silence);
  connection.reset();
}

export const fuzz: Attack = {
  about: 'fuzzed requests at full speed: valid ones of every route with random changes, pipelined, split and cut off',
  keeps: WAITING,
  run: async (assault) => {
    const world = `fuzz ${process.pid}`;
    const joined = await assault.joinAtLast({ world });
    if (!joined) return;
    let fuzzer = new Fuzzer(assault.random, joined);
    let played = 0;
    const { api, events } = assault.target;
    let sent = 0;
    const isOver = () => assault.over || (assault.requests !== undefined && sent >= assault.requests);
    const player = async () => {
      while (!isOver()) {
        if (++played % SCRIPTS_OF_A_DESKTOP === 0) {
          const next = await assault.join({ world });
          if (next) fuzzer = new Fuzzer(assault.random, next);
        }
        const script = fuzzer.script();
        sent += script.requests.length;
        assault.count('requests', script.requests.length);
        await play(assault, assault.random.chance(0.3) ? events : api, script);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, player));
  },
};
