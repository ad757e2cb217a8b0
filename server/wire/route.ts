/**
 * Routes: which of the hot routes a request is for, which desktop sent it, and its cursor.
 *
 * The target of a request is not percent-decoded, because no URL that the relay gives out needs it.
 * Cost: allocates only the slices of the target that are read.
 */
import { type Cursor, readCursor } from './cursor.ts';
import { blankIdentity, type Identity, readId, readToken } from './identity.ts';

export type HotRoute = 'events' | 'crossings' | 'sayings' | 'stage';

/** The method of each hot route. */
export const METHOD_OF: Record<HotRoute, string> = {
  events: 'GET',
  crossings: 'POST',
  sayings: 'POST',
  stage: 'POST',
};

/** CORS is open: requests are authorized by token, not by origin. */
export const CORS_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const;
export const CORS_PREFLIGHT = {
  ...CORS_ORIGIN,
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'authorization, content-type',
  'Access-Control-Max-Age': '86400',
} as const;

/** The headers of an answer that says when to try again. Pages of other origins may read when. */
export const retryAfter = (seconds: number) =>
  seconds > 0 ? { 'Retry-After': String(seconds), 'Access-Control-Expose-Headers': 'Retry-After' } : {};

const PREFIX = '/v1/desktops/';

/** The hot route of a request's target, such as `/v1/desktops/{id}/events`; undefined for any other target. */
export function hotRoute(target: string): HotRoute | undefined {
  if (!target.startsWith(PREFIX)) return undefined;
  const slash = target.indexOf('/', PREFIX.length);
  if (slash <= PREFIX.length) return undefined;
  const query = target.indexOf('?', slash);
  const name = target.slice(slash + 1, query < 0 ? undefined : query);
  return Object.hasOwn(METHOD_OF, name) ? (name as HotRoute) : undefined;
}

/** Reused by readBearer(). */
const pathIdentity: Identity = blankIdentity();

/**
 * Reads the identity in the bearer token, which must be of the same desktop as the path `/v1/desktops/{id}…`.
 *
 * Shape   false when the token is missing, malformed or of another desktop; `into` may then hold anything.
 */
export function readBearer(target: string, authorization: string | undefined, into: Identity): boolean {
  if (!readAuthorization(authorization, into) || !target.startsWith(PREFIX)) return false;
  let end = target.length;
  for (const stop of ['/', '?']) {
    const at = target.indexOf(stop, PREFIX.length);
    if (at >= 0 && at < end) end = at;
  }
  if (!readId(target, pathIdentity, PREFIX.length, end)) return false;
  return pathIdentity.slot === into.slot && pathIdentity.generation === into.generation;
}

/** Reads the token of an Authorization header. Returns false when it is not `Bearer` and a token. */
export function readAuthorization(authorization: string | undefined, into: Identity): boolean {
  if (authorization === undefined || authorization.length < 8) return false;
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return false;
  return readToken(authorization.slice(7).trim(), into);
}

/** Reads the cursor of a poll's target. Returns true and sets seq to -1 when there is none; false when it is malformed. */
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
