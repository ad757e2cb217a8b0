/**
 * Routes: which of the two hot ones a request is for, who asks, and with which cursor.
 *
 * The target of a request is read as it stands: nothing is percent-decoded, for nothing the relay gives out needs it.
 * Cost: no allocation but the slices of the target that are read.
 */
import { type Cursor, readCursor } from './cursor.ts';
import { type Identity, readId, readToken } from './identity.ts';

export type HotRoute = 'events' | 'crossings';

/** The method each hot route takes. */
export const METHOD_OF: Record<HotRoute, string> = { events: 'GET', crossings: 'POST' };

/** The request line and headers together, in bytes: four times what a browser sends. */
export const HEAD_BYTES_MAX = 8192;

/** CORS is open: the token, not the origin, says who may. */
export const CORS_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const;
export const CORS_PREFLIGHT = {
  ...CORS_ORIGIN,
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'authorization, content-type',
  'Access-Control-Max-Age': '86400',
} as const;

const PREFIX = '/v1/desktops/';

/** The hot route of a request's target, `/v1/desktops/{id}/events` or `…/crossings`; undefined for any other. */
export function hotRoute(target: string): HotRoute | undefined {
  if (!target.startsWith(PREFIX)) return undefined;
  const slash = target.indexOf('/', PREFIX.length);
  if (slash <= PREFIX.length) return undefined;
  const query = target.indexOf('?', slash);
  const name = target.slice(slash + 1, query < 0 ? undefined : query);
  return name === 'events' || name === 'crossings' ? name : undefined;
}

const named: Identity = { slot: 0, generation: 0, token: new Uint32Array(4) };

/**
 * Reads who asks: the desktop of the path `/v1/desktops/{id}…`, if the bearer token is one of the same desktop.
 *
 * Shape   false: no token, not of its form, or of another desktop; `into` is then undefined.
 */
export function readBearer(target: string, authorization: string | undefined, into: Identity): boolean {
  if (!readAuthorization(authorization, into) || !target.startsWith(PREFIX)) return false;
  let end = target.length;
  for (const stop of ['/', '?']) {
    const at = target.indexOf(stop, PREFIX.length);
    if (at >= 0 && at < end) end = at;
  }
  return readId(target, named, PREFIX.length, end) && named.slot === into.slot && named.generation === into.generation;
}

/** Reads the token of an Authorization header. Shape: false when it is not `Bearer` and a token. */
export function readAuthorization(authorization: string | undefined, into: Identity): boolean {
  if (authorization === undefined || authorization.length < 8) return false;
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return false;
  return readToken(authorization.slice(7).trim(), into);
}

/** Reads the cursor of a poll's target. Shape: true and seq -1 when there is none; false when it is not of its form. */
export function readCursorOf(target: string, into: Cursor): boolean {
  into.epoch = 0;
  into.seq = -1;
  const query = target.indexOf('?');
  if (query < 0) return true;
  for (const pair of target.slice(query + 1).split('&')) {
    if (pair.startsWith('cursor=')) return readCursor(pair.slice(7), into);
  }
  return true;
}
