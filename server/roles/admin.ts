/**
 * The admin port: metrics, health, and an operator's requests to the master. Bearer token, loopback by default.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { Relay } from '../domain/relay.ts';
import { TIMEOUTS, type Timeouts } from '../front/front.ts';
import { refuseBytes } from '../front/portable.ts';
import { ProblemError } from '../wire/problem.ts';
import { HEAD_BYTES_MAX } from '../wire/route.ts';
import { AdminConnections } from './admin_connections.ts';
import { errorHandlers } from './api.ts';
import { slabBytes } from './capacity.ts';
import { COLLECTIONS, collect } from './collection.ts';
import { memoryReport } from './memory.ts';
import { PROFILE_SECONDS_MAX, PROFILES, profile, type Recording, snapshotHeap } from './recording.ts';

/** The longest time for a head, in ms. A scraper or a person with curl sends it at once; one lost packet comes within it. */
export const HEAD_MS_MAX = 3_000;

/** How often node:http checks for late requests, in ms. */
const CHECK_MS_MAX = 1_000;

/** Desktops in one answer of GET /admin/desktops. */
export const LISTED_MAX = 1000;

/** The default length of a profile, in seconds. */
const PROFILE_SECONDS = 10;

/** A download is cut off after this, in ms: it uses memory, and no other recording can start meanwhile. */
const DOWNLOAD_MS_MAX = 600_000;

export interface AdminSources {
  relay: Relay;
  log: Logger;
  token: string;
  /** The folder for a heap snapshot until it is sent. */
  data: string;
  metrics: () => Promise<string>;
  /** The answer of GET /readyz. */
  status: () => { ready: boolean };
  /** Takes the relay down gracefully. */
  drain: () => void;
}

/**
 * Reads the admin token from a file. If there is none, creates it (mode 0600, 256 random bits).
 *
 * Throws  Error when the file can't be read or created, or has no token: says which file and what to do.
 */
export function adminToken(file: string): string {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const token = randomBytes(32).toString('hex');
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new Error(`admin token: ${(error as Error).message}; give a file with --admin-token-file`);
    }
  }
  const token = readFileSync(file, 'utf8').trim();
  if (token.length < 16)
    throw new Error(`admin token: ${file} holds less than 16 characters; delete it to get a new one`);
  return token;
}

/** The server of the admin port. Strangers may reach it too, so it has the same limits as the other ports. */
export function adminServer(sources: AdminSources, { requestMs, idleMs }: Timeouts = TIMEOUTS): http.Server {
  const server = http.createServer({
    ...{ noDelay: true, maxHeaderSize: HEAD_BYTES_MAX, keepAliveTimeout: idleMs },
    ...{ headersTimeout: Math.min(requestMs, HEAD_MS_MAX), requestTimeout: requestMs },
    connectionsCheckingInterval: Math.min(CHECK_MS_MAX, requestMs / 4),
  });
  const connections = new AdminConnections(server);
  server.on('request', admin(sources, connections));
  return server.on('clientError', refuseBytes);
}

function admin(sources: AdminSources, connections: AdminConnections): express.Express {
  const { relay } = sources;
  const app = express().disable('x-powered-by');
  app.get('/healthz', (_, response) => {
    response.json({ alive: true });
  });
  app.get('/readyz', (_, response) => {
    const status = sources.status();
    response.status(status.ready ? 200 : 503).json(status);
  });
  app.use((request, _, next) => {
    const given = Buffer.from(request.headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${sources.token}`);
    // Tokens of another length are refused too, but only after a comparison that takes the same time.
    const padded = Buffer.alloc(wanted.length);
    given.copy(padded);
    if (!timingSafeEqual(padded, wanted) || given.length !== wanted.length) {
      throw new ProblemError('unknown-desktop', 'The admin port needs the bearer token of the admin token file.');
    }
    connections.setOperator(request.socket);
    next();
  });
  app.get('/metrics', async (_, response) => {
    response.type('text/plain; version=0.0.4; charset=utf-8').send(await sources.metrics());
  });
  const exclusive = oneAtATime(sources.log);
  app.post(
    '/admin/gc',
    exclusive('a collection', async (request, response) => {
      response.json(await collect(oneOf(request.query.kind, 'kind', COLLECTIONS)));
    }),
  );
  app.get('/admin/heap', (_, response) => {
    response.json(memoryReport({ usedBytes: relay.slab.usedBytes, bytes: slabBytes() }));
  });
  app.post(
    '/admin/heap-snapshot',
    exclusive('a heap snapshot', async (request, response) => {
      await send(await snapshotHeap(sources.data, request.query.force === '1'), response);
    }),
  );
  app.post(
    '/admin/profile',
    exclusive('a profile', async (request, response) => {
      const kind = oneOf(request.query.kind, 'kind', PROFILES);
      const seconds = wholeNumber(request.query.seconds, 'seconds', PROFILE_SECONDS, 1, PROFILE_SECONDS_MAX);
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      await send(await profile(kind, seconds, gone.signal), response);
    }),
  );
  app.get('/admin/desktops', (request, response) => {
    const { desktops, torus, mailboxes } = relay;
    const from = wholeNumber(request.query.from, 'from', 0);
    const list = [];
    let slot = from;
    for (; slot < desktops.max && list.length < LISTED_MAX; slot++) {
      if (!desktops.isLive(slot)) continue;
      const world = torus.worldOf(slot).name;
      list.push({
        desktop: desktops.id(slot),
        name: desktops.name(slot),
        world,
        place: torus.placeOf(slot),
        waiting: mailboxes.count(slot),
      });
    }
    response.json({ count: desktops.count, desktops: list, next: slot < desktops.max ? slot : null });
  });
  app.post('/admin/drain', (_, response) => {
    response.status(202).json({ draining: true });
    sources.drain();
  });
  app.use(...errorHandlers(sources.log));
  return app;
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
        log.info({ tookMs: Math.round(performance.now() - startMs) }, `${what}, asked for on the admin port`);
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
  try {
    await pipeline(bytes, response, { signal: AbortSignal.timeout(DOWNLOAD_MS_MAX) });
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

/** A query parameter that must be one of `words`; the first one when it is missing. */
function oneOf<T extends string>(value: unknown, field: string, words: readonly T[]): T {
  if (value === undefined) return words[0];
  if (!words.includes(value as T)) {
    throw new ProblemError('malformed', `${field}: must be ${words.join(' or ')}.`, { field });
  }
  return value as T;
}

/** A query parameter that must be a whole number; `absent` when it is missing. */
function wholeNumber(value: unknown, field: string, absent: number, min = 0, max = 999_999_999): number {
  if (value === undefined) return absent;
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (number < min || number > max) {
    throw new ProblemError('malformed', `${field}: must be a whole number from ${min} to ${max}.`, { field });
  }
  return number;
}
