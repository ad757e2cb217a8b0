/**
 * The API of a worker beside the hot routes: join, look, leave, and sprite files; and every error as a problem document.
 */
import express, { type ErrorRequestHandler, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { LEASE_MS, PING_MS } from '../domain/limits.ts';
import { blankIdentity, type Identity } from '../wire/identity.ts';
import { checkJoin, JOIN_BYTES_MAX } from '../wire/join.ts';
import { PROBLEMS, type ProblemDocument, ProblemError, problem } from '../wire/problem.ts';
import { CORS_ORIGIN, CORS_PREFLIGHT, readAuthorization, readBearer } from '../wire/route.ts';
import { SPR_BYTES_MAX } from '../wire/spr.ts';
import type { Reply } from './pending.ts';
import type { SpriteStore } from './sprite_store.ts';
import { UNKNOWN, type Worker } from './worker.ts';

/** Where clients reach this relay, when the request itself does not say: behind a proxy, or TLS. */
export interface PublicAddresses {
  /** Base of the API and the site, like `https://sprites.example`. */
  url?: string;
  /** Base of the long-polls, like `https://events.sprites.example`. */
  eventsUrl?: string;
  eventsPort: number;
  apiPort: number;
}

/** Seconds a sprite file may be kept by anybody: it never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const PROBLEM_TYPE = 'application/problem+json';

/** The API's routes; `next` takes what is not of it. */
export function api(worker: Worker, store: SpriteStore, addresses: PublicAddresses): express.Router {
  const router = express.Router();

  router.use('/v1', (request, response, next) => {
    response.set(CORS_ORIGIN).set('Cache-Control', 'no-store');
    if (request.method === 'OPTIONS') response.status(204).set(CORS_PREFLIGHT).end();
    else next();
  });

  router.post('/v1/desktops', async (request, response) => {
    const reply = await worker.join(checkJoin(readJson(await readBody(request, JOIN_BYTES_MAX))));
    if (reply.status !== 201) return relay(response, reply);
    const joined = JSON.parse(reply.body.toString());
    const at = basesOf(request, addresses);
    const path = `/v1/desktops/${joined.desktop}`;
    response.status(201).json({
      ...joined,
      events: `${at.events}${path}/events`,
      crossings: `${at.api}${path}/crossings`,
      socket: `${at.api.replace(/^http/, 'ws')}${path}/socket`,
      pingSeconds: PING_MS / 1000,
      leaseSeconds: LEASE_MS / 1000,
    });
  });
  router.all('/v1/desktops', onlyBy('POST, OPTIONS'));

  router.get('/v1/desktops/:id', async (request, response) => {
    relay(response, await worker.query('describe', bearer(request)));
  });
  router.delete('/v1/desktops/:id', async (request, response) => {
    relay(response, await worker.query('leave', bearer(request)));
  });
  router.all('/v1/desktops/:id', onlyBy('GET, DELETE, OPTIONS'));
  router.all('/v1/desktops/:id/crossings', onlyBy('POST, OPTIONS'));

  router.get('/v1/sprites/:file', async (request, response, next) => {
    const path = await store.find(request.params.file);
    if (!path) throw new ProblemError('not-found', 'No sprite file of this hash is here.');
    sendSprite(response, path, request.params.file, next);
  });
  router.put('/v1/sprites/:file', async (request, response) => {
    const { file } = request.params;
    store.checkName(file);
    const known = await worker.query('verify', holder(request));
    if (known.status !== 204) return closing(request, response, () => relay(response, known));
    if (await store.find(file)) return closing(request, response, () => response.status(204).end());
    await store.put(file, await readBody(request, SPR_BYTES_MAX));
    response.status(201).json({ file, url: `${basesOf(request, addresses).api}/v1/sprites/${file}` });
  });
  router.all('/v1/sprites/:file', onlyBy('GET, PUT, OPTIONS'));
  return router;
}

/** The end of an app: what no route took is 404, what was thrown becomes its problem document. */
export function endOf(log: Logger): [express.RequestHandler, ErrorRequestHandler] {
  return [
    (request) => {
      throw new ProblemError('not-found', `Nothing is at ${request.path.slice(0, 100)}.`);
    },
    (error, request, response, next) => {
      if (response.headersSent) return next(error);
      const document = documentOf(error);
      if (document.status === 500)
        log.error({ err: error, method: request.method, path: request.path }, 'request failed');
      // What is left of a body that was refused is not worth reading.
      closing(request, response, () => sendProblem(response, document));
    },
  ];
}

/** Sends a sprite file as the image it is, and nothing else. */
export function sendSprite(response: Response, path: string, file: string, next: NextFunction): void {
  response.set({
    ...CORS_ORIGIN,
    'Cache-Control': FOR_EVER,
    'Content-Type': 'image/png',
    'Content-Security-Policy': "default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
    ETag: `"${file}"`,
  });
  response.sendFile(path, { cacheControl: false, lastModified: false, etag: false, dotfiles: 'allow' }, (error) => {
    if (error) next(error);
  });
}

export function sendProblem(response: Response, document: ProblemDocument): void {
  const { retryAfterSeconds } = PROBLEMS[document.code];
  if (retryAfterSeconds > 0) response.set('Retry-After', String(retryAfterSeconds));
  if (document.status === 401) response.set('WWW-Authenticate', 'Bearer');
  response.status(document.status).set(CORS_ORIGIN).set('Cache-Control', 'no-store');
  response.set('Content-Type', PROBLEM_TYPE).end(JSON.stringify(document));
}

/** Passes the master's answer on. */
function relay(response: Response, reply: Reply): void {
  if (reply.retryAfterSeconds > 0) response.set('Retry-After', String(reply.retryAfterSeconds));
  if (reply.status === 401) response.set('WWW-Authenticate', 'Bearer');
  if (reply.body.length > 0) response.set('Content-Type', reply.status < 300 ? 'application/json' : PROBLEM_TYPE);
  response.status(reply.status).end(reply.body);
}

/** Answers now, though the request's body may still be coming; then the connection can't be used again. */
function closing(request: Request, response: Response, answer: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (!request.complete && (encoding !== undefined || length !== '0')) response.set('Connection', 'close');
  answer();
}

function onlyBy(allow: string): express.RequestHandler {
  return (request, response) => {
    response.set('Allow', allow);
    throw new ProblemError('method-not-allowed', `This path does not answer ${request.method}; it answers ${allow}.`);
  };
}

/** The desktop of the path, by its own token. */
function bearer(request: Request): Identity {
  const identity = blankIdentity();
  if (readBearer(request.originalUrl, request.headers.authorization, identity)) return identity;
  throw new ProblemError('unknown-desktop', UNKNOWN.detail);
}

/** Whichever desktop the token is of. */
function holder(request: Request): Identity {
  const identity = blankIdentity();
  if (readAuthorization(request.headers.authorization, identity)) return identity;
  throw new ProblemError('unknown-desktop', UNKNOWN.detail);
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    throw new ProblemError('malformed', 'The body must be JSON in UTF-8.', { field: 'body' });
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A whole body; its length is looked at before its bytes. Throws too-large; malformed when it is cut off. */
async function readBody(request: Request, bytesMax: number): Promise<Buffer> {
  const tooLarge = () => new ProblemError('too-large', `The body of this request is at most ${bytesMax} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // Left early, the request must stay open: its answer goes out over the same socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** A host as it may stand in a URL we give out: a name or an address, with or without a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i;

function basesOf(request: Request, addresses: PublicAddresses): { api: string; events: string } {
  const asked = HOST.exec(request.headers.host ?? '');
  const own = asked ? `http://${asked[0]}` : `http://localhost:${addresses.apiPort}`;
  const base = addresses.url ?? own;
  const events = new URL(base);
  events.port = String(addresses.eventsPort);
  return { api: base, events: addresses.eventsUrl ?? events.origin };
}

function documentOf(error: unknown): ProblemDocument {
  if (error instanceof ProblemError) return error.document;
  // What express throws carries a status.
  const { status, code } = error as { status?: unknown; code?: unknown };
  if (status === 404) return problem('not-found', 'Nothing is here.');
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return problem('malformed', 'The request is not well-formed.', { field: 'request' });
  }
  // Nobody reads this one: the connection broke while its body came.
  if (code === 'ECONNRESET') return problem('malformed', 'The body was cut off.', { field: 'body' });
  return problem('internal', 'The relay made a mistake; it was logged. Trying again may help.');
}
