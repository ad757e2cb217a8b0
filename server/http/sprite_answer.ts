/**
 * Sends sprite files from memory, with headers that make browsers treat them as images only.
 *
 * A file is released when its answer is sent, when its connection closes, or when the client has not read it in time: then the
 * connection is closed. Ranges and conditions follow RFC 9110 §13 and §14.
 * Cost: no copy and no file descriptor; answers that wait for their clients share the bytes of a file.
 */
import { ok } from 'node:assert';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import type { HeldFile } from '../store/sprite_store.ts';
import { ProblemError } from '../wire/problem.ts';
import { CORS_ORIGIN } from '../wire/route.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';

/** Any cache may keep a sprite file for ever, because it never changes. */
const CACHE_FOR_EVER = 'public, max-age=31536000, immutable';

/** How long a client may take to read a file, in ms: 1 MiB at 35 kB/s. */
const SENDING_MS_MAX = 30_000;
ok(SENDING_MS_MAX * 35 > SPR_BYTES_MAX);

/**
 * Answers a GET or HEAD of a file; releases it in the end, whatever happens.
 *
 * Throws  range-not-satisfiable.
 */
export function sendSprite(
  request: Request,
  response: Response,
  file: string,
  held: HeldFile,
  msMax = SENDING_MS_MAX,
): void {
  const { bytes } = held;
  const etag = `"${file}"`;
  const range = rangeOf(request, bytes.length, etag);
  if (range === undefined) {
    held.release();
    response.set('Content-Range', `bytes */${bytes.length}`);
    throw new ProblemError('range-not-satisfiable', `The file has ${bytes.length} bytes; the range begins after them.`);
  }
  response.set({
    ...CORS_ORIGIN,
    'Accept-Ranges': 'bytes',
    'Cache-Control': CACHE_FOR_EVER,
    'Content-Security-Policy': "default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
    ETag: etag,
  });
  releaseWhenSent(request.socket, response, held, msMax);
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  const { start, end, isPart } = range;
  if (isPart) response.status(206).set('Content-Range', `bytes ${start}-${end}/${bytes.length}`);
  response.set({ 'Content-Type': 'image/png', 'Content-Length': String(end + 1 - start) });
  response.end(bytes.subarray(start, end + 1));
}

/** The bytes asked for, `end` among them; undefined when the file has none of them. */
function rangeOf(
  request: Request,
  length: number,
  etag: string,
): { start: number; end: number; isPart: boolean } | undefined {
  const whole = { start: 0, end: length - 1, isPart: false };
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etag) return whole;
  const ranges = request.range(length);
  if (ranges === -1) return undefined;
  // A header that is not well-formed, other units and several ranges at once are ignored, as the RFC allows.
  if (ranges === undefined || ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return whole;
  return { ...ranges[0], isPart: true };
}

/** The files of a connection that are not sent yet: pipelined answers wait for each other, and node:http reports only the first. */
const unsent = new WeakMap<Socket, Set<() => void>>();

function releaseWhenSent(socket: Socket, response: Response, held: HeldFile, msMax: number): void {
  const releases = releasesOf(socket);
  const release = () => {
    if (!releases.delete(release)) return;
    clearTimeout(late);
    held.release();
  };
  const late = setTimeout(() => socket.destroy(), msMax);
  releases.add(release);
  response.once('close', release);
  if (socket.destroyed) release();
}

function releasesOf(socket: Socket): Set<() => void> {
  const known = unsent.get(socket);
  if (known) return known;
  const made = new Set<() => void>();
  unsent.set(socket, made);
  socket.once('close', () => {
    for (const release of made) release();
  });
  return made;
}
