/**
 * The API of a worker beside the hot routes: joins and the requests of a desktop; errors as problem documents. Other files add the routes
 * of sprite files, of the gallery and of reports, with what this one exports.
 */
import type { Hash } from 'node:crypto';
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { Bans } from '../moderation/bans.ts';
import type { Reply } from '../processes/pending.ts';
import type { Query } from '../processes/uplink.ts';
import { refusalOf } from '../wire/answer.ts';
import { readClient } from '../wire/client.ts';
import { readJson } from '../wire/fields.ts';
import { blankIdentity, type Identity } from '../wire/identity.ts';
import { checkJoin, checkNamed, checkVersion } from '../wire/join.ts';
import type { RelayAddresses } from '../wire/peers/peer_join.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { CORS_ORIGIN, CORS_PREFLIGHT, readAuthorization, readBearer, retryAfter } from '../wire/route.ts';
import { EDGES, type Edge, JOIN_BYTES_MAX, LEASE_MS, PEEK_BYTES_MAX } from '../wire/rules.ts';
import { checkPeek, checkShown } from '../wire/stage.ts';
import { checkSwap, checkSwapAnswer } from '../wire/swap.ts';
import type { WorkerAdmission } from './admission.ts';
import type { ClientAddresses } from './client_address.ts';
import { PublicCounts } from './public_counts.ts';
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

/** What the API answers from. */
export interface ApiSources {
  worker: Worker;
  addresses: PublicAddresses;
  clients: ClientAddresses;
  bans: Bans;
  admission?: WorkerAdmission;
}

/** The routes of the API. Other requests are passed on, with the headers that every answer has. */
export function api(sources: ApiSources): express.Router {
  const { worker } = sources;
  const router = express.Router();
  router.use('/v1', (request, response, next) => {
    response.set(CORS_ORIGIN).set('Cache-Control', 'no-store');
    if (request.method === 'OPTIONS') response.status(204).set(CORS_PREFLIGHT).end();
    else next();
  });
  route(router, '/v1/desktops', { post: (request, response) => join(sources, request, response) });
  const ask = (query: Query) => async (request: Request, response: Response) => {
    sendReply(response, await worker.query(query, bearer(request)));
  };
  route(router, '/v1/desktops/:id', { get: ask('describe'), delete: ask('leave') });
  route(router, '/v1/desktops/:id/company', { get: ask('company') });
  route(router, '/v1/desktops/:id/invitation', { post: ask('renew') });
  route(router, '/v1/desktops/:id/crossings', {}, 'POST');
  route(router, '/v1/desktops/:id/sayings', {}, 'POST');
  route(router, '/v1/desktops/:id/peeks', {
    post: async (request, response) => {
      const desktop = bearer(request);
      const { edge, hasProblem } = checkPeek(readJson(await readBody(request, PEEK_BYTES_MAX)));
      const reply = await worker.query('peek', desktop, JSON.stringify(edge));
      sendReply(response, hasProblem && edge !== null ? withProblem(reply, EDGES[edge]) : reply);
    },
  });
  const set = (query: Query, check: (body: unknown) => unknown) => async (request: Request, response: Response) => {
    const desktop = bearer(request);
    const checked = check(readJson(await readBody(request, PEEK_BYTES_MAX)));
    sendReply(response, await worker.query(query, desktop, JSON.stringify(checked)));
  };
  route(router, '/v1/desktops/:id/stage', { put: set('setShows', checkShown) }, 'POST');
  route(router, '/v1/desktops/:id/named', { put: set('setNamed', checkNamed) });
  route(router, '/v1/desktops/:id/swap', {
    post: set('askSwap', checkSwap),
    put: set('answerSwap', checkSwapAnswer),
  });
  const counts = new PublicCounts(worker);
  route(router, '/v1/worlds', { get: async (_, response) => sendReply(response, await counts.read()) });
  return router;
}

async function join(
  { worker, addresses, clients, bans, admission }: ApiSources,
  request: Request,
  response: Response,
): Promise<void> {
  const clientAddress = clients.addressOf(request);
  bans.checkAddress(clientAddress);
  const body = readJson(await readBody(request, JOIN_BYTES_MAX));
  const wish = checkJoin(body);
  wish.clientAddress = clientAddress;
  wish.client = readClient(request.headers['user-agent'], checkVersion(body));
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
}

type Method = 'get' | 'post' | 'put' | 'delete';

/** Adds the handlers of a path. Other methods are refused, except one that the front handles before express sees it. */
export function route<Params = Record<string, string>>(
  router: express.Router,
  path: string,
  handlers: Partial<Record<Method, express.RequestHandler<Params>>>,
  inFront?: string,
): void {
  const methods = Object.keys(handlers) as Method[];
  for (const method of methods) router[method](path, handlers[method] as express.RequestHandler);
  const allowed = [...(inFront ? [inFront] : []), ...methods.map((method) => method.toUpperCase()), 'OPTIONS'].join(
    ', ',
  );
  router.all(path, (request, response) => {
    response.set('Allow', allowed);
    throw new ProblemError('method-not-allowed', `This path does not allow ${request.method}; it allows ${allowed}.`);
  });
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

/** Sends a problem document. */
export function sendProblem(response: Response, document: ProblemDocument): void {
  sendReply(response.set('Cache-Control', 'no-store'), refusalOf(document));
}

/** Sends the master's answer. */
export function sendReply(response: Response, reply: Reply): void {
  response.set(retryAfter(reply.retryAfterSeconds));
  if (reply.status === 401) response.set('WWW-Authenticate', 'Bearer');
  if (reply.body.length > 0) response.set('Content-Type', reply.status < 300 ? 'application/json' : PROBLEM_TYPE);
  response.status(reply.status).end(reply.body);
}

/** The reply to a peek that tells of a neighbour who shows nothing as one who is there: browsers log other statuses as errors of the page. */
function withProblem(reply: Reply, edge: Edge): Reply {
  if (reply.status !== PROBLEMS['stage-hidden'].status && reply.status !== PROBLEMS['no-neighbour'].status)
    return reply;
  return { ...reply, status: 202, body: Buffer.from(`{"edge":"${edge}","leaseMs":0,"problem":${reply.body}}`) };
}

/** Answers although the rest of the request's body may still arrive; if so, the connection is closed after the answer. */
export function answerEarly(request: Request, response: Response, answer: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (!request.complete && (encoding !== undefined || length !== '0')) response.set('Connection', 'close');
  answer();
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
export function announcedBytes(request: Request, bytesMax: number): number {
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
