/**
 * The admin port: metrics, health, and an operator's requests to the master. Bearer token, loopback by default.
 */

import { timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { commit, VERSION } from '../../tools/version.js';
import type { Peering } from '../cluster/peering.ts';
import { TIMEOUTS, type Timeouts } from '../front/front.ts';
import { refuseBytes } from '../front/portable.ts';
import { errorHandlers } from '../http/api.ts';
import { DOCUMENT_MS_MAX } from '../metrics/history.ts';
import { PROFILE_SECONDS_MAX, PROFILES, type Recording } from '../metrics/recording.ts';
import { ProblemError } from '../wire/problem.ts';
import { HEAD_BYTES_MAX } from '../wire/rules.ts';
import { AdminConnections } from './admin_connections.ts';
import { adminPage } from './admin_page.ts';
import { adminRelays } from './admin_relays.ts';
import { slabBytes } from './capacity.ts';
import { COLLECTIONS } from './garbage_collection.ts';
import { listings } from './listings.ts';
import { type ModerationSources, moderation } from './moderation.ts';
import { askWorker, carryOut, type ProcessRequest } from './process_requests.ts';
import { oneOf, wholeNumber } from './query.ts';
import type { ProcessNames } from './sampler.ts';

/** The longest time for a head, in ms. A scraper or a person with curl sends it at once; one lost packet comes within it. */
const HEAD_MS_MAX = 3_000;

/** How often node:http checks for late requests, in ms. */
const CHECK_MS_MAX = 1_000;

/** The default length of a profile, in seconds. */
const PROFILE_SECONDS = 10;

/** Processes named in a message. */
const PROCESSES_LISTED_MAX = 20;

/** A download is cut off after this, in ms: it uses memory, and no other recording can start meanwhile. */
const DOWNLOAD_MS_MAX = 600_000;

/** A heap snapshot is written to the folder `data` before it is sent. */
export interface AdminSources extends ModerationSources {
  log: Logger;
  token: string;
  metrics: () => Promise<string>;
  /** The processes of the relay by name. */
  processes: () => ProcessNames;
  /** The samples after a number, as JSON text in pieces. */
  history: (after: number) => AsyncGenerator<string>;
  /** The answer of GET /readyz. */
  status: () => { ready: boolean };
  /** The way to the other relays; undefined when this relay is not in a cluster. */
  peering: () => Peering | undefined;
  /** Stops the relay gracefully; with `again`, its launcher then starts it again. */
  drain: (again: boolean) => void;
}

/** The server of the admin port. Strangers may reach it too, so it has the same limits as the other ports. */
export function adminServer(sources: AdminSources, { requestMs, idleMs }: Timeouts = TIMEOUTS): http.Server {
  const server = http.createServer({
    noDelay: true,
    maxHeaderSize: HEAD_BYTES_MAX,
    keepAliveTimeout: idleMs,
    headersTimeout: Math.min(requestMs, HEAD_MS_MAX),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS_MAX, requestMs / 4),
  });
  const connections = new AdminConnections(server);
  server.on('request', admin(sources, connections));
  return server.on('clientError', refuseBytes);
}

function admin(sources: AdminSources, connections: AdminConnections): express.Express {
  const app = express().disable('x-powered-by');
  app.get('/healthz', (_, response) => {
    response.json({ alive: true, version: VERSION, commit: commit() });
  });
  app.get('/readyz', (_, response) => {
    const status = sources.status();
    response.status(status.ready ? 200 : 503).json(status);
  });
  app.use(adminPage());
  app.use(guard(sources.token, connections));
  app.get('/metrics', async (_, response) => {
    response.type('text/plain; version=0.0.4; charset=utf-8').send(await sources.metrics());
  });
  app.get('/admin/history', async (request, response) => {
    const after = wholeNumber(request.query.after, 'after', 0);
    response.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    await stream(Readable.from(sources.history(after)), response, DOCUMENT_MS_MAX);
  });
  app.use(processes(sources));
  app.use(listings(sources.relay, sources.moderator));
  app.post('/admin/drain', ({ query }, response) => {
    response.status(202).json({ draining: true });
    sources.drain(query.restart === '1');
  });
  app.use(adminRelays(sources.peering));
  app.use(moderation(sources));
  app.use(...errorHandlers(sources.log));
  return app;
}

/** Lets only requests with the token pass. */
function guard(token: string, connections: AdminConnections): express.RequestHandler {
  const wanted = Buffer.from(`Bearer ${token}`);
  return (request, _, next) => {
    const given = Buffer.from(request.headers.authorization ?? '');
    // Tokens of another length are refused too, but only after a comparison that takes the same time.
    const padded = Buffer.alloc(wanted.length);
    given.copy(padded);
    if (!timingSafeEqual(padded, wanted) || given.length !== wanted.length) {
      throw new ProblemError('admin-token', 'The admin port needs the bearer token of the admin token file.');
    }
    connections.setOperator(request.socket);
    next();
  };
}

/** The routes that ask something of one process of the relay. */
function processes(sources: AdminSources): express.Router {
  const router = express.Router();
  const exclusive = oneAtATime(sources.log);
  router.post(
    '/admin/gc',
    exclusive('a collection', async (request, response) => {
      const collection = oneOf(request.query.kind, 'kind', COLLECTIONS);
      await answer(request, response, { kind: 'gc', collection });
    }),
  );
  router.get('/admin/heap', async (request, response) => {
    await answer(request, response, { kind: 'heap' });
  });
  router.post(
    '/admin/heap-snapshot',
    exclusive('a heap snapshot', async (request, response) => {
      await answer(request, response, { kind: 'heap-snapshot', forced: request.query.force === '1' });
    }),
  );
  router.post(
    '/admin/profile',
    exclusive('a profile', async (request, response) => {
      const kind = oneOf(request.query.kind, 'kind', PROFILES);
      const seconds = wholeNumber(request.query.seconds, 'seconds', PROFILE_SECONDS, 1, PROFILE_SECONDS_MAX);
      await answer(request, response, { kind: 'profile', profile: kind, seconds });
    }),
  );
  return router;

  /** Has the process that the request names do something, and sends what comes of it. */
  async function answer(request: Request, response: Response, asked: ProcessRequest): Promise<void> {
    const pid = pidOf(request.query.process, sources.processes());
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const mailboxes = { usedBytes: sources.relay.slab.usedBytes, bytes: slabBytes() };
    const done =
      pid === process.pid
        ? await carryOut(asked, mailboxes, sources.data, gone.signal)
        : await askWorker(pid, asked, sources.data, gone.signal);
    if ('document' in done) response.json(done.document);
    else await send(done.recording, response);
  }
}

/**
 * The process that a query names, `master`, `worker:1` or a process id; the master when it names none.
 *
 * Throws  malformed   it is no name of a process; not-found   no process has this name: says which there are.
 */
function pidOf(value: unknown, { pids }: ProcessNames): number {
  const name = value ?? 'master';
  if (name === 'master') return process.pid;
  if (typeof name !== 'string' || !/^(?:worker:)?\d{1,9}$/.test(name)) {
    const field = 'process';
    throw new ProblemError('malformed', 'process: must be master, like worker:1, or a process id.', { field });
  }
  const pid = pids.get(name) ?? [...pids.values()].find((known) => String(known) === name);
  if (pid !== undefined) return pid;
  const known = [...pids].map(([known, id]) => `${known} (${id})`).slice(0, PROCESSES_LISTED_MAX);
  throw new ProblemError('not-found', `There is no process ${name}; there are ${known.join(', ')}.`);
}

/**
 * Wraps handlers that slow the relay down, so that only one of them runs at a time. Each is logged, because every gauge
 * shows it.
 *
 * Throws  already-running   another one is running: says which.
 */
function oneAtATime(log: Logger) {
  let running: string | undefined;
  return (what: string, work: (request: Request, response: Response) => Promise<void>): express.RequestHandler =>
    async (request, response) => {
      if (running)
        throw new ProblemError('already-running', `There is ${running} running; try again when it has ended.`);
      running = what;
      const startMs = performance.now();
      try {
        await work(request, response);
        const tookMs = Math.round(performance.now() - startMs);
        log.info({ tookMs, process: request.query.process ?? 'master' }, `${what}, asked for on the admin port`);
      } finally {
        running = undefined;
      }
    };
}

/** Sends a recording. When the client disconnects or is too slow, the rest is dropped. */
async function send({ fileName, bytes }: Recording, response: Response): Promise<void> {
  response.set({
    'Content-Type': 'application/json',
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Cache-Control': 'no-store',
  });
  await stream(bytes, response, DOWNLOAD_MS_MAX);
}

/**
 * Sends bytes. When the client disconnects, or has not read them all after `limitMs`, the rest is dropped. The response ends
 * after the source has closed: a client that has the whole response finds nothing running.
 */
async function stream(bytes: Readable, response: Response, limitMs: number): Promise<void> {
  try {
    await pipeline(bytes, response, { end: false, signal: AbortSignal.timeout(limitMs) });
    response.end();
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}
