/**
 * Checks openapi.yaml against the running relay: the relay answers as documented, and documents all that it answers.
 *
 * `request` sends a request, finds its operation in the file and checks status, headers and body of the response. At the
 * end each documented status has been seen, except for a few that are listed with the reason.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join as joinPath } from 'node:path';
import { after, before, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { CROSSINGS_BURST_MAX, PEEKS_BURST_MAX, SAYINGS_BURST_MAX, STAGES_BURST_MAX } from '../domain/state/limits.ts';
import { FEEDBACK_PER_WINDOW_MAX, PUBLICATIONS_PER_WINDOW_MAX } from '../moderation/moderator.ts';
import { MUTES_MAX, REPORTS_PER_WINDOW_MAX, SPR_BYTES_MAX, SWAP_LEASE_MS } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  type Event,
  FILE,
  type HttpResponse,
  type Joined,
  join,
  poll,
  pollFor,
  type Reference,
  type RequestOptions,
  sendRequest,
} from './desktop_client.ts';
import { onEachFront } from './fronts.ts';
import { crossingBytes, RawConnection } from './raw_connection.ts';
import { type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

interface Media {
  schema?: object;
}

interface Documented {
  $ref?: string;
  headers?: Record<string, { schema: object; required?: boolean }>;
  content?: Record<string, Media>;
}

/** What `GET /v1/today` answers. */
interface Today {
  thrown: number;
  mostThrown: { file: string; times: number }[];
  farthest: object | null;
}

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Documented>;
}

const FILE_NAME = joinPath(import.meta.dirname, '../openapi.yaml');
const text = readFileSync(FILE_NAME, 'utf8');
const openapi = parse(text);
const METHODS = ['get', 'post', 'put', 'delete'];

/** The documented operations, by `METHOD path`. */
const operations = new Map<string, Operation>();
for (const [path, item] of Object.entries(openapi.paths as Record<string, Record<string, Operation>>)) {
  for (const method of METHODS) if (item[method]) operations.set(`${method.toUpperCase()} ${path}`, item[method]);
}

/** Documented statuses that no test here provokes, and why. */
const NOT_PROVOKED: Record<string, string> = {
  'GET /v1/desktops/{id}/events 503': 'a front at its limit of connections; limits.test.ts',
  'GET /v1/sprites/{sha256} 503': 'too many different files are being sent; sprite_store.test.ts',
  'POST /v1/desktops 429': 'a limit by address; admission.test.ts',
  'PUT /v1/sprites/{sha256} 429': 'a limit by address; admission.test.ts',
  'GET /v1/desktops/{id}/socket 429': 'a limit by address; admission.test.ts',
  'POST /v1/desktops/{id}/mutes 503': 'as for the other requests while the relay stops',
  'DELETE /v1/desktops/{id}/mutes/{muted} 503': 'as for the other requests while the relay stops',
  'POST /v1/desktops/{id}/sayings 503': 'as for the other requests while the relay stops',
  'POST /v1/desktops/{id}/peeks 503': 'as for the other requests while the relay stops',
  'POST /v1/desktops/{id}/stage 503': 'as for the other requests while the relay stops',
  'PUT /v1/desktops/{id}/stage 503': 'as for the other requests while the relay stops',
  'POST /v1/reports 503': 'as for the other requests while the relay stops',
  'GET /v1/gallery 503': 'as for the other requests while the relay stops',
  'POST /v1/gallery 503': 'as for the other requests while the relay stops',
  'POST /v1/gallery 409': 'too many pictures wait for the operator; gallery_list.test.ts',
  'GET /v1/flights 503': 'as for the other requests while the relay stops',
  'GET /v1/today 503': 'as for the other requests while the relay stops',
  'PUT /v1/desktops/{id}/named 503': 'as for the other requests while the relay stops',
  'POST /v1/desktops/{id}/swap 429': 'more than a person asks; swaps.test.ts',
  'POST /v1/desktops/{id}/swap 503': 'as for the other requests while the relay stops',
  'PUT /v1/desktops/{id}/swap 503': 'as for the other requests while the relay stops',
  'POST /v1/feedback 503': 'as for the other requests while the relay stops',
};

// The whole of openapi.yaml is one schema document for the validator, so its $refs work unchanged.
const ajvOptions = { strict: false, allErrors: true } as const;
const bodies = formats.default(new Ajv2020(ajvOptions)).addSchema(openapi, 'openapi');
const headersOf = new Ajv2020({ ...ajvOptions, coerceTypes: true });

/** Escapes a part of a JSON pointer. */
const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Follows one $ref. */
function resolved(pointer: string, response: Documented): [string, Documented] {
  if (!response.$ref) return [pointer, response];
  const [, , kind, name] = response.$ref.split('/');
  return [response.$ref, openapi.components[kind][name]];
}

function conforms(pointer: string, value: unknown, what: string): void {
  const validate = bodies.getSchema(`openapi${pointer}`);
  assert.ok(validate, `${pointer} is not a schema`);
  assert.ok(validate(value), `${what}: ${bodies.errorsText(validate.errors)}: ${JSON.stringify(value)}`);
}

onEachFront('openapi.yaml', (front) => {
  let relay: RelayProcess;
  const seen = new Set<string>();
  before(async () => {
    relay = await startRelay({ workers: 1, front });
  });
  after(() => relay?.stop());

  /** Sends `METHOD path` to this url, in which `{id}` and `{sha256}` are filled in, and checks the response. */
  async function request(
    name: string,
    url: string,
    status: number,
    options: RequestOptions = {},
  ): Promise<HttpResponse> {
    const answer = await sendRequest(url, { ...options, method: name.split(' ')[0] });
    check(name, status, answer);
    return answer;
  }

  function check(name: string, status: number, answer: HttpResponse): void {
    assert.equal(answer.status, status, `${name}: ${answer.body}`);
    const operation = operations.get(name);
    assert.ok(operation, `${name} is not documented`);
    assert.ok(operation.responses[status], `${name} is not documented to answer ${status}`);
    const [method, path] = name.split(' ');
    const [pointer, response] = resolved(
      `#/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`,
      operation.responses[status],
    );
    for (const [header, { schema, required }] of Object.entries(response.headers ?? {})) {
      const given = answer.headers[header.toLowerCase()];
      assert.ok(given !== undefined || !required, `${name} ${status} lacks ${header}`);
      if (given !== undefined) assert.ok(headersOf.validate(schema, given), `${header}: ${given}`);
    }
    const type = answer.headers['content-type']?.split(';')[0];
    if (response.content) {
      assert.ok(type && response.content[type], `${name} ${status} is not documented to be ${type}`);
      if (response.content[type].schema) {
        conforms(`${pointer}/content/${escaped(type)}/schema`, answer.json, `${name} ${status}`);
      }
    } else assert.equal(answer.body.length, 0, `${name} ${status} is documented without a body`);
    seen.add(`${name} ${status}`);
  }

  const JOIN = 'POST /v1/desktops';
  const LOOK = 'GET /v1/desktops/{id}';
  const COMPANY = 'GET /v1/desktops/{id}/company';
  const ASK_SWAP = 'POST /v1/desktops/{id}/swap';
  const ANSWER_SWAP = 'PUT /v1/desktops/{id}/swap';
  const LEAVE = 'DELETE /v1/desktops/{id}';
  const RENEW = 'POST /v1/desktops/{id}/invitation';
  const WORLDS = 'GET /v1/worlds';
  const POLL = 'GET /v1/desktops/{id}/events';
  const THROW = 'POST /v1/desktops/{id}/crossings';
  const SAY = 'POST /v1/desktops/{id}/sayings';
  const PEEK = 'POST /v1/desktops/{id}/peeks';
  const SHOW = 'POST /v1/desktops/{id}/stage';
  const SWITCH = 'PUT /v1/desktops/{id}/stage';
  const SOCKET = 'GET /v1/desktops/{id}/socket';
  const GET_SPRITE = 'GET /v1/sprites/{sha256}';
  const PUT_SPRITE = 'PUT /v1/sprites/{sha256}';
  const MUTE = 'POST /v1/desktops/{id}/mutes';
  const UNMUTE = 'DELETE /v1/desktops/{id}/mutes/{muted}';
  const REPORT = 'POST /v1/reports';
  const GALLERY = 'GET /v1/gallery';
  const PUBLISH = 'POST /v1/gallery';
  const FLIGHTS = 'GET /v1/flights';
  const TODAY = 'GET /v1/today';
  const NAMED = 'PUT /v1/desktops/{id}/named';
  const FEEDBACK = 'POST /v1/feedback';

  const screen = { width: 1920, height: 1080 };
  const at = ({ desktop }: Joined, base = relay) => `${base.url}/v1/desktops/${desktop}`;
  const forged = ({ token }: Joined) => token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

  it('is served unchanged', async () => {
    const answer = await sendRequest(`${relay.url}/openapi.yaml`);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.toString(), text);
  });

  it('documents every route of the relay, and no other', async () => {
    const routes = [
      JOIN,
      LOOK,
      COMPANY,
      ASK_SWAP,
      ANSWER_SWAP,
      LEAVE,
      RENEW,
      WORLDS,
      POLL,
      THROW,
      SAY,
      PEEK,
      SHOW,
      SWITCH,
      SOCKET,
      GET_SPRITE,
      PUT_SPRITE,
      MUTE,
      UNMUTE,
      REPORT,
      GALLERY,
      FLIGHTS,
      TODAY,
      NAMED,
      PUBLISH,
      FEEDBACK,
    ];
    assert.deepEqual([...operations.keys()].sort(), routes.sort());
    // A path lists its methods in the response to a method it does not have.
    for (const path of Object.keys(openapi.paths)) {
      if (path.endsWith('/socket')) continue;
      const port = path.endsWith('/events') ? relay.eventsUrl : relay.url;
      const url = `${port}${path.replace('{id}', '1-1').replace('{muted}', '1-1').replace('{sha256}', FILE)}`;
      const { status, headers } = await sendRequest(url, { method: 'PATCH' });
      assert.equal(status, 405, path);
      const allowed = (headers.allow as string).split(', ').filter((method) => method !== 'OPTIONS');
      const documented = METHODS.filter((method) => openapi.paths[path][method]).map((method) => method.toUpperCase());
      assert.deepEqual(allowed.sort(), documented.sort(), path);
    }
  });

  it('documents the responses to a join', async () => {
    const url = `${relay.url}/v1/desktops`;
    const good = [{ screen }, { screen, name: 'Ann', world: 'garden', stage: false }];
    for (const body of good) {
      conforms('#/components/schemas/Join', body, 'a join');
      await request(JOIN, url, 201, { body });
    }
    await request(JOIN, url, 400, { body: {} });
    await request(JOIN, url, 400, { body: '{' });
    await request(JOIN, url, 409, { body: { screen, near: `ffff.${'0'.repeat(32)}` } });
    await request(JOIN, url, 413, { body: 'x'.repeat(10_000) });
  });

  it('documents the responses to look, company and leave', async () => {
    const joined = await join(relay.url, { name: 'Ann' });
    await request(LOOK, at(joined), 200, { token: joined.token });
    await request(LOOK, at(joined), 401);
    const company = `${at(joined)}/company`;
    await request(COMPANY, company, 200, { token: joined.token });
    await request(COMPANY, company, 401);
    await request(LEAVE, at(joined), 401, { token: forged(joined) });
    await request(LEAVE, at(joined), 204, { token: joined.token });
    await request(LEAVE, at(joined), 410, { token: joined.token });
    await request(LOOK, at(joined), 410, { token: joined.token });
    await request(COMPANY, company, 410, { token: joined.token });
  });

  it('documents the responses to a renewed invitation, and the public counts', async () => {
    const joined = await join(relay.url, { name: 'Ann', world: 'secret' });
    const url = `${at(joined)}/invitation`;
    await request(RENEW, url, 401);
    const { invitation } = (await request(RENEW, url, 200, { token: joined.token })).json as Joined;
    assert.notEqual(invitation, joined.invitation);
    await request(JOIN, `${relay.url}/v1/desktops`, 409, { body: { screen, near: joined.invitation } });
    const body = { screen, near: invitation };
    conforms('#/components/schemas/Join', body, 'a join');
    await request(JOIN, `${relay.url}/v1/desktops`, 201, { body });
    const counts = await request(WORLDS, `${relay.url}/v1/worlds`, 200);
    assert.ok(!counts.body.includes('secret'));
    await request(LEAVE, at(joined), 204, { token: joined.token });
    await request(RENEW, url, 410, { token: joined.token });
  });

  it('documents the responses to a poll, with each kind of event', async () => {
    const world = 'polls';
    const ann = await join(relay.url, { world });
    const kinds = new Set<string>();
    let { cursor } = ann;
    await request(THROW, ann.crossings, 202, { token: ann.token, body: crossingOf(1) });
    while (!kinds.has('sprite') || !kinds.has('neighbours')) {
      const batch = (await request(POLL, `${ann.events}?cursor=${cursor}`, 200, { token: ann.token })).json as Batch;
      for (const { type } of batch.events) kinds.add(type);
      cursor = batch.cursor;
    }
    await request(POLL, `${ann.events}?cursor=x`, 400, { token: ann.token });
    await request(POLL, `${ann.events}?cursor=${cursor}000`, 400, { token: ann.token });
    await request(POLL, `${ann.events}?cursor=${cursor}`, 401, { token: forged(ann) });
    const other = cursor.startsWith('0') ? '10000000-0' : '00000000-0';
    await request(POLL, `${ann.events}?cursor=${other}`, 410, { token: ann.token });
    const older = poll(ann, cursor);
    await until('the poll is held', async () => (await relay.metrics()).get('sprites_polls_parked') === 1);
    await sendRequest(at(ann), { method: 'DELETE', token: ann.token });
    check(POLL, 410, await older);
    const removed = { type: 'removed', file: FILE };
    const announcement = { type: 'announcement', text: 'Hello' };
    const missed = { type: 'missed', sayings: 7 };
    const moved = { type: 'bye', retryAfterMs: 900, join: 'https://example.org/v1/desktops' };
    for (const event of [{ type: 'ping' }, { type: 'bye', retryAfterMs: 900 }, moved, removed, announcement, missed]) {
      conforms('#/components/schemas/Event', event, 'an event');
    }
    for (const event of [{ type: 'ping', x: 1 }, { type: 'bye' }, { type: 'sprite', seq: 1 }]) {
      assert.ok(
        !bodies.validate('openapi#/components/schemas/Event', event),
        `${JSON.stringify(event)} is not an event`,
      );
    }
  });

  it('documents the responses to a throw', async (t) => {
    const ann = await join(relay.url, { world: 'throws' });
    const withToken = { token: ann.token };
    conforms('#/components/schemas/Crossing', crossingOf(1), 'a crossing');
    await request(THROW, ann.crossings, 202, { ...withToken, body: crossingOf(100) });
    await request(THROW, ann.crossings, 202, { ...withToken, body: crossingOf(100) });
    await request(THROW, ann.crossings, 202, { ...withToken, body: crossingOf(101) });
    await request(THROW, ann.crossings, 202, { ...withToken, body: crossingOf(100) });
    await request(THROW, ann.crossings, 409, { ...withToken, body: crossingOf(1) });
    await request(THROW, ann.crossings, 400, { ...withToken, body: { ...crossingOf(1), at: 2 } });
    await request(THROW, ann.crossings, 401, { body: crossingOf(1) });
    await request(THROW, ann.crossings, 413, { ...withToken, body: 'x'.repeat(2000) });
    const connection = await RawConnection.open(relay.ports.api);
    t.after(() => connection.destroy());
    // A busy machine may throw no faster than the limit allows for a while, so it throws until it is too fast.
    for (let thrown = 0; !seen.has(`${THROW} 429`) && thrown < 20 * CROSSINGS_BURST_MAX; ) {
      const burst = Array.from({ length: 2 * CROSSINGS_BURST_MAX }, () =>
        crossingBytes(ann, crossingOf(102 + thrown++)),
      );
      connection.send(burst.join(''));
      for (const _ of burst) {
        const answer = await connection.answer();
        check(THROW, answer.status, answer);
      }
    }
    assert.ok(seen.has(`${THROW} 429`));
    await sendRequest(at(ann), { method: 'DELETE', token: ann.token });
    await request(THROW, ann.crossings, 410, { ...withToken, body: crossingOf(10_000) });
  });

  it('documents the responses to a saying, and what others hear', async (t) => {
    const world = 'sayings';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    const url = `${at(ann)}/sayings`;
    const withToken = { token: ann.token };
    const saying = { saying: 40, text: 'Hello' };
    conforms('#/components/schemas/Saying', saying, 'a saying');
    await request(SAY, url, 202, { ...withToken, body: saying });
    await request(SAY, url, 202, { ...withToken, body: { saying: 41, text: 'Again' } });
    const repeated = await request(SAY, url, 202, { ...withToken, body: saying });
    assert.deepEqual(repeated.json, { heard: null });
    await request(SAY, url, 409, { ...withToken, body: { saying: 1, text: 'Old' } });
    await request(SAY, url, 400, { ...withToken, body: { saying: 42 } });
    await request(SAY, url, 401, { body: saying });
    await request(SAY, url, 413, { ...withToken, body: 'x'.repeat(2000) });
    let { cursor } = bob;
    for (let heard = false; !heard; ) {
      const batch = (await request(POLL, `${bob.events}?cursor=${cursor}`, 200, { token: bob.token })).json as Batch;
      heard = batch.events.some(({ type }) => type === 'saying');
      cursor = batch.cursor;
    }
    // A busy machine may speak no faster than the limit allows for a while, so it speaks until it is too fast.
    for (let n = 42; !seen.has(`${SAY} 429`) && n < 20 * SAYINGS_BURST_MAX; n++) {
      const answer = await sendRequest(url, { method: 'POST', ...withToken, body: { saying: n, text: 'More' } });
      check(SAY, answer.status, answer);
    }
    assert.ok(seen.has(`${SAY} 429`));
    await sendRequest(at(ann), { method: 'DELETE', ...withToken });
    await request(SAY, url, 410, { ...withToken, body: { saying: 100, text: 'Late' } });
    const quiet = await startRelay({ workers: 0, front, args: ['--sayings', 'off'] });
    t.after(() => quiet.stop());
    const carol = await join(quiet.url);
    await request(SAY, `${at(carol, quiet)}/sayings`, 403, { token: carol.token, body: saying });
  });

  it('documents the responses to a peek, a stage and its switch, and their events', async () => {
    const alone = await join(relay.url, { world: 'alone' });
    await request(PEEK, `${at(alone)}/peeks`, 404, { token: alone.token, body: { edge: 'left' } });
    await request(PEEK, `${at(alone)}/peeks`, 202, { token: alone.token, body: { edge: 'left', problem: true } });
    const world = 'peeks';
    const [ann, bob] = [await join(relay.url, { world }), await join(relay.url, { world, stage: false })];
    const [peeks, stage] = [`${at(ann)}/peeks`, `${at(bob)}/stage`];
    const [annSends, bobSends] = [{ token: ann.token }, { token: bob.token }];
    await request(PEEK, peeks, 403, { ...annSends, body: { edge: 'left' } });
    for (const path of [peeks, stage]) {
      const name = path === peeks ? PEEK : SWITCH;
      await request(name, path, 400, { token: path === peeks ? ann.token : bob.token, body: {} });
      await request(name, path, 413, { token: path === peeks ? ann.token : bob.token, body: 'x'.repeat(300) });
      await request(name, path, 401, { body: { edge: 'left', stage: true } });
    }
    await request(SWITCH, stage, 204, { ...bobSends, body: { stage: true } });
    const sprites = [{ id: 7, x: 10.5, y: 20, vx: 60, animation: 'walk', facing: 'left', scale: 2 }];
    const body = { width: 1920, height: 1080, files: [FILE], sprites };
    conforms('#/components/schemas/Stage', body, 'a stage');
    assert.deepEqual((await request(SHOW, stage, 202, { ...bobSends, body })).json, { edges: [] });
    conforms('#/components/schemas/Peek', { edge: 'left' }, 'a peek');
    await request(PEEK, peeks, 202, { ...annSends, body: { edge: 'left' } });
    await request(SHOW, stage, 202, { ...bobSends, body });
    await request(SHOW, stage, 400, { ...bobSends, body: { ...body, width: 0 } });
    await request(SHOW, stage, 401, { body });
    await request(SHOW, stage, 413, { ...bobSends, body: 'x'.repeat(2049) });
    for (const [desktop, wanted] of [[ann, 'stage'] as const, [bob, 'watched'] as const]) {
      let { cursor } = desktop;
      for (let got = false; !got; ) {
        const url = `${desktop.events}?cursor=${cursor}`;
        const batch = (await request(POLL, url, 200, { token: desktop.token })).json as Batch;
        got = batch.events.some(({ type }) => type === wanted);
        cursor = batch.cursor;
      }
    }
    conforms('#/components/schemas/Event', { type: 'stage', edge: 'left', files: [], sprites: [] }, 'an end');
    const answers = await Promise.all(
      Array.from({ length: STAGES_BURST_MAX * 12 }, () => sendRequest(stage, { ...bobSends, method: 'POST', body })),
    );
    for (const answer of answers) check(SHOW, answer.status, answer);
    assert.ok(seen.has(`${SHOW} 429`));
    assert.deepEqual((await request(PEEK, peeks, 202, { ...annSends, body: { edge: null } })).json, {
      edge: null,
      leaseMs: 0,
    });
    const peeked = await Promise.all(
      Array.from({ length: PEEKS_BURST_MAX * 4 }, () =>
        sendRequest(peeks, { ...annSends, method: 'POST', body: { edge: 'left' } }),
      ),
    );
    for (const answer of peeked) check(PEEK, answer.status, answer);
    assert.ok(seen.has(`${PEEK} 429`));
    for (const { token, desktop } of [ann, bob])
      await sendRequest(at({ desktop } as Joined), { method: 'DELETE', token });
    await request(PEEK, peeks, 410, { ...annSends, body: { edge: 'left' } });
    await request(SHOW, stage, 410, { ...bobSends, body });
    await request(SWITCH, stage, 410, { ...bobSends, body: { stage: true } });
    const strict = await join(relay.url, { world: 'strict pictures', pictures: 'shipped' });
    const strictStage = `${at(strict)}/stage`;
    const unknown = { ...body, files: [FILE.replace('2', '3')] };
    // A worker marks pictures from the moment it has heard of the first strict world.
    await until('a stage of an unknown picture is refused', async () => {
      const answer = await sendRequest(strictStage, { token: strict.token, method: 'POST', body: unknown });
      return answer.status === 403;
    });
    await request(SHOW, strictStage, 403, { token: strict.token, body: unknown });
  });

  it('documents the response to a method that a path does not have', async () => {
    const ann = await join(relay.url);
    for (const [name, url] of [
      [POLL, ann.events],
      [THROW, ann.crossings],
    ]) {
      const answer = await sendRequest(url, { method: 'PUT', token: ann.token });
      check(name, 405, answer);
    }
  });

  it('documents the responses to a socket', async () => {
    const ann = await join(relay.url);
    const socket = new WebSocket(ann.socket);
    const [[upgraded]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    assert.ok(operations.get(SOCKET)?.responses[upgraded.statusCode]);
    seen.add(`${SOCKET} ${upgraded.statusCode}`);
    socket.terminate();
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    await request(SOCKET, `${relay.url}/v1/desktops/nobody/socket`, 404, { headers: upgrade });
  });

  it('documents the responses to sprite files', async () => {
    const ann = await join(relay.url);
    const bytes = sprFile();
    const url = `${relay.url}/v1/sprites/${hashOf(bytes)}`;
    await request(GET_SPRITE, url, 404);
    await request(PUT_SPRITE, url, 401, { body: bytes });
    await request(PUT_SPRITE, url, 201, { token: ann.token, body: bytes });
    await request(PUT_SPRITE, url, 204, { token: ann.token, body: bytes });
    await request(GET_SPRITE, url, 200);
    await request(GET_SPRITE, url, 304, { headers: { 'if-none-match': `"${hashOf(bytes)}"` } });
    await request(GET_SPRITE, url, 206, { headers: { range: 'bytes=1-2' } });
    await request(GET_SPRITE, url, 416, { headers: { range: `bytes=${bytes.length}-` } });
    const other = `${relay.url}/v1/sprites/${hashOf(Buffer.from('other'))}`;
    await request(PUT_SPRITE, other, 400, { token: ann.token, body: bytes });
    await request(PUT_SPRITE, other, 413, { token: ann.token, headers: { 'content-length': SPR_BYTES_MAX + 1 } });
    await sendRequest(at(ann), { method: 'DELETE', token: ann.token });
    await request(PUT_SPRITE, other, 410, { token: ann.token, body: bytes });
  });

  it('documents the responses to mutes and reports', async () => {
    const ann = await join(relay.url);
    const withToken = { token: ann.token };
    const mutes = `${at(ann)}/mutes`;
    const mute = { desktop: '1-1' };
    conforms('#/components/schemas/Mute', mute, 'a mute');
    await request(MUTE, mutes, 204, { ...withToken, body: mute });
    await request(MUTE, mutes, 400, { ...withToken, body: {} });
    await request(MUTE, mutes, 401, { body: mute });
    await request(MUTE, mutes, 413, { ...withToken, body: 'x'.repeat(2000) });
    for (let n = 2; n <= MUTES_MAX; n++) await request(MUTE, mutes, 204, { ...withToken, body: { desktop: `${n}-1` } });
    await request(MUTE, mutes, 409, { ...withToken, body: { desktop: '3-2' } });
    await request(UNMUTE, `${mutes}/1-1`, 204, withToken);
    await request(UNMUTE, `${mutes}/x`, 400, withToken);
    await request(UNMUTE, `${mutes}/1-1`, 401);
    const bytes = sprFile();
    const report = { file: hashOf(bytes), reason: 'rude', desktop: '1-1' };
    const url = `${relay.url}/v1/reports`;
    conforms('#/components/schemas/Report', report, 'a report');
    await request(REPORT, url, 404, { ...withToken, body: report });
    await request(PUT_SPRITE, `${relay.url}/v1/sprites/${report.file}`, 201, { ...withToken, body: bytes });
    for (let n = 0; n < REPORTS_PER_WINDOW_MAX; n++) await request(REPORT, url, 204, { ...withToken, body: report });
    await request(REPORT, url, 429, { ...withToken, body: report });
    await request(REPORT, url, 400, { ...withToken, body: {} });
    await request(REPORT, url, 401, { body: report });
    await request(REPORT, url, 413, { ...withToken, body: 'x'.repeat(2000) });
    await sendRequest(at(ann), { method: 'DELETE', ...withToken });
    await request(MUTE, mutes, 410, { ...withToken, body: mute });
    await request(UNMUTE, `${mutes}/1-1`, 410, withToken);
    await request(REPORT, url, 410, { ...withToken, body: report });
  });

  it('documents the responses to the gallery and to feedback', async () => {
    const ann = await join(relay.url);
    const withToken = { token: ann.token };
    const bytes = sprFile();
    const publication = { file: hashOf(bytes), title: 'My cat', author: 'Ann', licence: 'CC0-1.0' };
    const url = `${relay.url}/v1/gallery`;
    conforms('#/components/schemas/Publication', publication, 'a publication');
    await request(PUBLISH, url, 404, { ...withToken, body: { ...publication, file: 'e'.repeat(64) } });
    await sendRequest(`${relay.url}/v1/sprites/${publication.file}`, { method: 'PUT', ...withToken, body: bytes });
    await request(PUBLISH, url, 202, { ...withToken, body: publication });
    await request(PUBLISH, url, 400, { ...withToken, body: { ...publication, licence: 'all rights reserved' } });
    await request(PUBLISH, url, 401, { body: publication });
    await request(PUBLISH, url, 413, { ...withToken, body: 'x'.repeat(2000) });
    for (let n = 1; n < PUBLICATIONS_PER_WINDOW_MAX; n++)
      await request(PUBLISH, url, 202, { ...withToken, body: publication });
    await request(PUBLISH, url, 429, { ...withToken, body: publication });
    await request(GALLERY, url, 200);
    await request(GALLERY, `${url}?from=x`, 400);
    await request(FLIGHTS, `${relay.url}/v1/flights`, 200);
    const feedback = { text: 'More cats', contact: 'ann@example.org' };
    const to = `${relay.url}/v1/feedback`;
    conforms('#/components/schemas/Feedback', feedback, 'feedback');
    for (let n = 0; n < FEEDBACK_PER_WINDOW_MAX; n++) await request(FEEDBACK, to, 204, { body: feedback });
    await request(FEEDBACK, to, 429, { body: feedback });
    await request(FEEDBACK, to, 400, { body: {} });
    await request(FEEDBACK, to, 413, { body: 'x'.repeat(10_000) });
    await sendRequest(at(ann), { method: 'DELETE', ...withToken });
    await request(PUBLISH, url, 410, { ...withToken, body: publication });
  });

  it('documents the day of the world, and who is named there', async () => {
    const [ann, bob] = [await join(relay.url, { named: true, name: 'Ann' }), await join(relay.url)];
    assert.deepEqual([ann.named, bob.named], [true, false]);
    const list = (await sendRequest(`${relay.url}/v1/gallery`)).json as { entries: { file: string }[] };
    const crossing = crossingOf(1);
    const { file } = list.entries[0];
    await request(THROW, ann.crossings, 202, {
      token: ann.token,
      body: { ...crossing, sprite: { ...crossing.sprite, file } },
    });
    const today = async () => (await request(TODAY, `${relay.url}/v1/today`, 200)).json as Today;
    await until('the throw is shown', async () => (await today()).mostThrown.some((one) => one.file === file));
    const { thrown, farthest } = await today();
    assert.ok(thrown >= 1 && farthest !== null);
    conforms(
      '#/components/schemas/Today',
      { thrown, mostThrown: [], farthest: { ...farthest, name: 'Ann' } },
      'a name',
    );
    conforms('#/components/schemas/Today', { thrown: 0, mostThrown: [], farthest: null }, 'a new relay');
    const named = `${at(ann)}/named`;
    await request(NAMED, named, 400, { token: ann.token, body: { named: 1 } });
    await request(NAMED, named, 413, { token: ann.token, body: 'x'.repeat(300) });
    await request(NAMED, named, 401, { body: { named: false } });
    await request(NAMED, named, 401, { token: bob.token, body: { named: false } });
    await request(NAMED, named, 204, { token: ann.token, body: { named: false } });
    for (const { token, desktop } of [ann, bob])
      await sendRequest(at({ desktop } as Joined), { method: 'DELETE', token });
    await request(NAMED, named, 410, { token: ann.token, body: { named: true } });
  });

  it('documents how two desktops change places', async () => {
    const world = `seats ${front}`;
    const [ann, bob] = [await join(relay.url, { name: 'Ann', world }), await join(relay.url, { name: 'Bob', world })];
    const url = `${at(ann)}/swap`;
    const wish = { name: 'Bob', column: 1, row: 0 };
    const asked = await request(ASK_SWAP, url, 202, { token: ann.token, body: wish });
    assert.deepEqual(asked.json, { swap: 'asked', leaseMs: SWAP_LEASE_MS });
    const isSwap = (event: Event) => event.type === 'swap';
    const question = await pollFor(bob, bob.cursor, isSwap);
    conforms('#/components/schemas/Batch', question, 'a question');
    const from = (question.events.find(isSwap) as { from?: Reference }).from;
    assert.deepEqual(from, { desktop: ann.desktop, name: 'Ann' });
    const answer = { from: ann.desktop, accept: true };
    await request(ANSWER_SWAP, `${at(bob)}/swap`, 204, { token: bob.token, body: answer });
    const done = await pollFor(ann, ann.cursor, isSwap);
    conforms('#/components/schemas/Batch', done, 'an answer');
    assert.deepEqual(done.events.find(isSwap), { type: 'swap', with: { desktop: bob.desktop, name: 'Bob' } });
    for (const [name, own, body] of [
      [ASK_SWAP, ann, wish],
      [ANSWER_SWAP, bob, answer],
    ] as const) {
      const { token } = own;
      await request(name, `${at(own)}/swap`, 409, { token, body: { ...body, name: 'Eve' } });
      await request(name, `${at(own)}/swap`, 400, { token, body: {} });
      await request(name, `${at(own)}/swap`, 413, { token, body: 'x'.repeat(300) });
      await request(name, `${at(own)}/swap`, 401, { body });
      await sendRequest(at(own), { method: 'DELETE', token });
      await request(name, `${at(own)}/swap`, 410, { token, body });
    }
  });

  it('documents the responses to what the operator has banned', async () => {
    const ann = await join(relay.url);
    const bytes = sprFile();
    const picture = hashOf(bytes);
    const admin = (path: string, body: object) =>
      sendRequest(`${relay.adminUrl}/admin/${path}`, { method: 'POST', token: relay.adminToken, body });
    await admin('ban', { picture });
    const crossing = crossingOf(1);
    const withToken = { token: ann.token };
    await request(PUT_SPRITE, `${relay.url}/v1/sprites/${picture}`, 403, { ...withToken, body: bytes });
    await request(THROW, ann.crossings, 403, {
      ...withToken,
      body: { ...crossing, sprite: { ...crossing.sprite, file: picture } },
    });
    await admin('ban', { address: '127.0.0.1' });
    await request(JOIN, `${relay.url}/v1/desktops`, 403, { body: { screen } });
    await admin('unban', { address: '127.0.0.1' });
  });

  it('documents the responses when there is no room, and while the relay stops', async (t) => {
    const small = await startRelay({ workers: 0, front, args: ['--max-desktops', '1'] });
    t.after(() => small.stop());
    const ann = await join(small.url);
    await request(JOIN, `${small.url}/v1/desktops`, 503, { body: { screen } });
    // One connection for each later request, opened before the relay stops.
    const agents = Array.from({ length: 7 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of agents) await request(LOOK, at(ann, small), 200, { token: ann.token, agent });
    const bytes = sprFile();
    const stopping = small.stop();
    await small.waitForLog(({ msg }) => msg === 'going down');
    const [first, second, third, fourth, fifth, sixth, seventh] = agents;
    // The worker learns of the stop a moment after the log line.
    const isServed = () =>
      sendRequest(at(ann, small), { token: ann.token, agent: first }).then(
        ({ status }) => status === 200,
        () => false,
      );
    while (await isServed());
    await Promise.all([
      requestOrClosed(LOOK, at(ann, small), 503, { token: ann.token, agent: first }),
      requestOrClosed(COMPANY, `${at(ann, small)}/company`, 503, { token: ann.token, agent: seventh }),
      requestOrClosed(LEAVE, at(ann, small), 503, { token: ann.token, agent: second }),
      requestOrClosed(RENEW, `${at(ann, small)}/invitation`, 503, { token: ann.token, agent: fifth }),
      requestOrClosed(WORLDS, `${small.url}/v1/worlds`, 503, { agent: sixth }),
      requestOrClosed(THROW, ann.crossings, 503, { token: ann.token, agent: third, body: crossingOf(1) }),
      requestOrClosed(PUT_SPRITE, `${small.url}/v1/sprites/${hashOf(bytes)}`, 503, {
        ...{ token: ann.token, agent: fourth, body: bytes },
      }),
    ]);
    for (const agent of agents) agent.destroy();
    assert.equal((await stopping).code, 0);
  });

  /** The same, but the connection may be closed instead: the relay closes idle connections when it stops. */
  async function requestOrClosed(name: string, url: string, status: number, options: RequestOptions): Promise<void> {
    try {
      await request(name, url, status, options);
    } catch (error) {
      if (!['ECONNRESET', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      seen.add(`${name} ${status}`);
    }
  }

  it('documents no status that the relay never sends', () => {
    const documented = [...operations].flatMap(([name, { responses }]) =>
      Object.keys(responses).map((status) => `${name} ${status}`),
    );
    const missing = documented.filter((status) => !seen.has(status) && !(status in NOT_PROVOKED));
    assert.deepEqual(missing, []);
    for (const status of Object.keys(NOT_PROVOKED)) assert.ok(documented.includes(status), status);
  });
});
