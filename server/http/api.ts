/**
 * The API of a worker beside the hot routes: joins, GET and DELETE of a desktop, sprite files; errors as problem documents.
 */

import { createHash, type Hash } from 'node:crypto';
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { LEASE_MS } from '../domain/limits.ts';
import type { Bans } from '../moderation/bans.ts';
import type { PictureGate } from '../moderation/picture_gate.ts';
import type { Reply } from '../processes/pending.ts';
import type { SpriteStore } from '../store/sprite_store.ts';
import { readJson } from '../wire/fields.ts';
import { blankIdentity, type Identity } from '../wire/identity.ts';
import { checkJoin } from '../wire/join.ts';
import type { RelayAddresses } from '../wire/peer_join.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { CORS_ORIGIN, CORS_PREFLIGHT, readAuthorization, readBearer } from '../wire/route.ts';
import { JOIN_BYTES_MAX, PEEK_BYTES_MAX, SPR_BYTES_MAX } from '../wire/rules.ts';
import { checkPeek, checkShown } from '../wire/stage.ts';
import type { WorkerAdmission } from './admission.ts';
import type { ClientAddresses } from './client_address.ts';
import { FetchedSprites } from './fetched_sprites.ts';
import { PublicCounts } from './public_counts.ts';
import { sendSprite } from './sprite_answer.ts';
import { UNKNOWN, type Worker } from './worker.ts';

/** The addresses that clients reach this relay at, when it is behind a proxy or TLS and requests don't show them. */
export interface PublicAddresses {
  /** Base of the API and the site, like `https://sprites.example`. */
  url?: string;
  /** Base of the long-polls, like `https://events.sprites.example`. Default: `url`, if there is one. */
  eventsUrl?: string;
  eventsPort: number;
  apiPort: number;
}

const PROBLEM_TYPE = 'application/problem+json';

/** The routes of the API. Other requests are passed on. */
export function api(
  worker: Worker,
  store: SpriteStore,
  addresses: PublicAddresses,
  clients: ClientAddresses,
  bans: Bans,
  gate: PictureGate,
  admission?: WorkerAdmission,
): express.Router {
  const router = express.Router();

  router.use('/v1', (request, response, next) => {
    response.set(CORS_ORIGIN).set('Cache-Control', 'no-store');
    if (request.method === 'OPTIONS') response.status(204).set(CORS_PREFLIGHT).end();
    else next();
  });

  router.post('/v1/desktops', async (request, response) => {
    const clientAddress = clients.addressOf(request);
    bans.checkAddress(clientAddress);
    const wish = checkJoin(readJson(await readBody(request, JOIN_BYTES_MAX)));
    wish.clientAddress = clientAddress;
    if (admission) wish.address = admission.networkOf(request);
    const reply = await worker.join(wish);
    if (reply.status !== 201) return sendReply(response, reply);
    const { at: elsewhere, ...joined } = JSON.parse(reply.body.toString());
    const at = elsewhere === undefined ? basesOf(request, addresses) : basesElsewhere(request, elsewhere);
    const path = `/v1/desktops/${joined.desktop}`;
    response.status(201).json({
      ...joined,
      events: `${at.events}${path}/events`,
      crossings: `${at.api}${path}/crossings`,
      socket: `${at.api.replace(/^http/, 'ws')}${path}/socket`,
      leaseSeconds: LEASE_MS / 1000,
    });
  });
  router.all('/v1/desktops', allowOnly('POST, OPTIONS'));

  router.get('/v1/desktops/:id', async (request, response) => {
    sendReply(response, await worker.query('describe', bearer(request)));
  });
  router.delete('/v1/desktops/:id', async (request, response) => {
    sendReply(response, await worker.query('leave', bearer(request)));
  });
  router.post('/v1/desktops/:id/invitation', async (request, response) => {
    sendReply(response, await worker.query('renew', bearer(request)));
  });
  router.all('/v1/desktops/:id/invitation', allowOnly('POST, OPTIONS'));
  router.all('/v1/desktops/:id', allowOnly('GET, DELETE, OPTIONS'));
  router.all('/v1/desktops/:id/crossings', allowOnly('POST, OPTIONS'));
  router.all('/v1/desktops/:id/sayings', allowOnly('POST, OPTIONS'));
  router.post('/v1/desktops/:id/peeks', async (request, response) => {
    const desktop = bearer(request);
    const edge = checkPeek(readJson(await readBody(request, PEEK_BYTES_MAX)));
    sendReply(response, await worker.query('peek', desktop, JSON.stringify(edge)));
  });
  router.all('/v1/desktops/:id/peeks', allowOnly('POST, OPTIONS'));
  router.put('/v1/desktops/:id/stage', async (request, response) => {
    const desktop = bearer(request);
    const isShown = checkShown(readJson(await readBody(request, PEEK_BYTES_MAX)));
    sendReply(response, await worker.query('setShows', desktop, JSON.stringify(isShown)));
  });
  router.all('/v1/desktops/:id/stage', allowOnly('POST, PUT, OPTIONS'));

  const counts = new PublicCounts(worker);
  router.get('/v1/worlds', async (_, response) => {
    sendReply(response, await counts.read());
  });
  router.all('/v1/worlds', allowOnly('GET, OPTIONS'));

  const fetched = new FetchedSprites(worker, store, gate);
  router.get('/v1/sprites/:file', async (request, response) => {
    const { file } = request.params;
    const client = admission?.networkOf(request);
    let held = gate.isServed(file) ? await store.hold(file, client) : undefined;
    if (!held && worker.isInCluster && (await fetched.fetch(file, client))) held = await store.hold(file, client);
    if (!held) throw new ProblemError('not-found', 'There is no sprite file with this hash.');
    sendSprite(request, response, file, held);
  });
  router.put('/v1/sprites/:file', async (request, response) => {
    const { file } = request.params;
    store.checkName(file);
    bans.checkAddress(clients.addressOf(request));
    gate.checkUpload(file);
    const desktop = holder(request);
    const verified = await worker.query('verify', desktop);
    if (verified.status !== 204) return answerEarly(request, response, () => sendReply(response, verified));
    store.throwIfRefused(file);
    if (await store.find(file)) return answerEarly(request, response, () => response.status(204).end());
    const bytes = announcedBytes(request, SPR_BYTES_MAX);
    try {
      admission?.countUpload(request, bytes);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      return answerEarly(request, response, () => sendProblem(response, (error as ProblemError).document));
    }
    // Where addresses are not told apart, desktops are.
    const client = admission?.networkOf(request) ?? `desktop ${desktop.slot}`;
    if (!store.uploads.reserve(client, bytes)) {
      throw new ProblemError('relay-busy', 'The relay receives too many sprite files; try again in a second.');
    }
    try {
      const sha256 = createHash('sha256');
      const body = await readBody(request, SPR_BYTES_MAX, sha256);
      await store.put(file, body, client, sha256.digest('hex'));
    } finally {
      store.uploads.release(client, bytes);
    }
    response.status(201).json({ file, url: `${basesOf(request, addresses).api}/v1/sprites/${file}` });
  });
  router.all('/v1/sprites/:file', allowOnly('GET, PUT, OPTIONS'));
  return router;
}

/** The last handlers of an app: 404 when no route matched, and the problem document of each error. */
export function errorHandlers(log: Logger): [express.RequestHandler, ErrorRequestHandler] {
  return [
    (request) => {
      throw new ProblemError('not-found', `There is nothing at ${request.path.slice(0, 100)}.`);
    },
    (error, request, response, next) => {
      if (response.headersSent) return next(error);
      const document = documentOf(error);
      if (document.status === 500)
        log.error({ err: error, method: request.method, path: request.path }, 'request failed');
      // The rest of a refused body is not read.
      answerEarly(request, response, () => sendProblem(response, document));
    },
  ];
}

function sendProblem(response: Response, document: ProblemDocument): void {
  const { retryAfterSeconds } = PROBLEMS[document.code];
  if (retryAfterSeconds > 0) response.set('Retry-After', String(retryAfterSeconds));
  if (document.status === 401) response.set('WWW-Authenticate', 'Bearer');
  response.status(document.status).set('Cache-Control', 'no-store');
  response.set('Content-Type', PROBLEM_TYPE).end(JSON.stringify(document));
}

/** Sends the master's answer. */
export function sendReply(response: Response, reply: Reply): void {
  if (reply.retryAfterSeconds > 0) response.set('Retry-After', String(reply.retryAfterSeconds));
  if (reply.status === 401) response.set('WWW-Authenticate', 'Bearer');
  if (reply.body.length > 0) response.set('Content-Type', reply.status < 300 ? 'application/json' : PROBLEM_TYPE);
  response.status(reply.status).end(reply.body);
}

/** Answers although the rest of the request's body may still arrive; if so, the connection is closed after the answer. */
function answerEarly(request: Request, response: Response, answer: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (!request.complete && (encoding !== undefined || length !== '0')) response.set('Connection', 'close');
  answer();
}

export function allowOnly(allow: string): express.RequestHandler {
  return (request, response) => {
    response.set('Allow', allow);
    throw new ProblemError('method-not-allowed', `This path does not allow ${request.method}; it allows ${allow}.`);
  };
}

/** The identity of the desktop in the path, with its token. */
export function bearer(request: Request): Identity {
  const identity = blankIdentity();
  if (readBearer(request.originalUrl, request.headers.authorization, identity)) return identity;
  throw new ProblemError('unknown-desktop', UNKNOWN.detail);
}

/** The identity of the desktop that the token is of. */
export function holder(request: Request): Identity {
  const identity = blankIdentity();
  if (readAuthorization(request.headers.authorization, identity)) return identity;
  throw new ProblemError('unknown-desktop', UNKNOWN.detail);
}

/** The length that a request announces; the most it may have, when it announces none. Throws too-large. */
function announcedBytes(request: Request, bytesMax: number): number {
  const { 'content-length': length } = request.headers;
  if (Number(length ?? 0) > bytesMax) throw tooLarge(bytesMax);
  return length === undefined ? bytesMax : Number(length);
}

function tooLarge(bytesMax: number): ProblemError {
  return new ProblemError('too-large', `The body of this request is at most ${bytesMax} bytes.`);
}

/**
 * Reads a whole body, and updates a hash of it as it comes; checks the announced length first.
 *
 * Cost    one buffer of the announced length. (A list of the pieces could take a hundred bytes for each byte of a body that is
 *         sent in chunks of one byte.)
 * Throws  too-large; malformed when it is cut off.
 */
export function readBody(request: Request, bytesMax: number, hash?: Hash): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(announcedBytes(request, bytesMax));
  let length = 0;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      // The request must not be destroyed: the answer goes out over the same socket.
      request.off('data', read).off('end', whole).off('error', reject).off('close', cutOff).pause();
      settle();
    };
    const read = (chunk: Buffer) => {
      if (length + chunk.length > bytesMax) return end(() => reject(tooLarge(bytesMax)));
      hash?.update(chunk);
      length += chunk.copy(body, length);
    };
    const whole = () => end(() => resolve(body.subarray(0, length)));
    const cutOff = () => end(() => reject(new ProblemError('malformed', 'The body was cut off.', { field: 'body' })));
    // Its client may have gone while the caller waited for the master.
    if (request.destroyed) return cutOff();
    // Events, because an iterator would queue each piece.
    request.on('data', read).once('end', whole).once('error', reject).once('close', cutOff);
  });
}

/** A Host header that may be put into a URL: a name or an address, with or without a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i;

/** The address at which a client reaches the API and the site: the public one, or else the one that it has asked for. */
export function baseOf(request: Request, addresses: PublicAddresses): string {
  const asked = HOST.exec(request.headers.host ?? '');
  return addresses.url ?? (asked ? `http://${asked[0]}` : `http://localhost:${addresses.apiPort}`);
}

function basesOf(request: Request, addresses: PublicAddresses): { api: string; events: string } {
  const { url, eventsUrl = url, eventsPort } = addresses;
  return basesAt(baseOf(request, addresses), { eventsUrl, eventsPort });
}

function basesAt(api: string, { eventsUrl, eventsPort }: Pick<PublicAddresses, 'eventsUrl' | 'eventsPort'>) {
  const events = new URL(api);
  events.port = String(eventsPort);
  return { api, events: eventsUrl ?? events.origin };
}

/** The same of another relay. One without public addresses is on this machine. */
function basesElsewhere(request: Request, there: RelayAddresses): { api: string; events: string } {
  const { url, eventsUrl, apiPort, eventsPort } = there;
  if (url !== undefined) return basesAt(url, { eventsUrl: eventsUrl ?? url, eventsPort });
  const api = new URL(baseOf(request, { apiPort, eventsPort }));
  api.port = String(apiPort);
  return basesAt(api.origin, { eventsPort });
}

function documentOf(error: unknown): ProblemDocument {
  if (error instanceof ProblemError) return error.document;
  // Errors of express have a status.
  const { status, code } = error as { status?: unknown; code?: unknown };
  if (status === 404) return problem('not-found', 'There is nothing here.');
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return problem('malformed', 'The request is not well-formed.', { field: 'request' });
  }
  // No client reads this: the connection broke while the body arrived.
  if (code === 'ECONNRESET') return problem('malformed', 'The body was cut off.', { field: 'body' });
  return problem('internal', 'The relay made a mistake; it was logged. Trying again may help.');
}
