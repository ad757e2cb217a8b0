/**
 * Problem documents (RFC 9457): every error the relay answers with, by its stable code.
 *
 * PROTOCOL.md has one heading for each code, and openapi.yaml and rules.h list them (server/tools/rules.ts). Invariant: a code always has the same status.
 */
import { CROSSING_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX, STAGE_BYTES_MAX } from './rules.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Seconds a client should wait before it retries; 0 when the same request would fail again, or when any time is fine. */
  readonly retryAfterSeconds: number;
}

export const PROBLEMS = {
  malformed: { status: 400, title: 'The request is not of the form it must have', retryAfterSeconds: 0 },
  'cursor-ahead': { status: 400, title: 'The cursor is ahead of the last event that was sent', retryAfterSeconds: 0 },
  'sprite-invalid': { status: 400, title: 'The file is not a valid sprite', retryAfterSeconds: 0 },
  'unknown-desktop': { status: 401, title: 'No desktop has this id and token', retryAfterSeconds: 0 },
  'admin-token': { status: 401, title: 'The admin token is needed', retryAfterSeconds: 0 },
  banned: { status: 403, title: 'The operator of this relay has banned you', retryAfterSeconds: 0 },
  'picture-refused': { status: 403, title: 'This relay does not carry the picture', retryAfterSeconds: 0 },
  'sayings-off': { status: 403, title: 'Sayings are turned off on this relay', retryAfterSeconds: 0 },
  'stage-hidden': { status: 403, title: 'The neighbour does not show its stage', retryAfterSeconds: 0 },
  'not-found': { status: 404, title: 'Nothing is here', retryAfterSeconds: 0 },
  'no-neighbour': { status: 404, title: 'There is no neighbour beyond this edge', retryAfterSeconds: 0 },
  'method-not-allowed': { status: 405, title: 'The path does not allow this method', retryAfterSeconds: 0 },
  'request-timeout': { status: 408, title: 'The request did not arrive in time', retryAfterSeconds: 0 },
  'near-gone': { status: 409, title: 'The invitation is not valid any more', retryAfterSeconds: 0 },
  'crossing-stale': {
    status: 409,
    title: 'The number of the crossing is too far below the newest one',
    retryAfterSeconds: 0,
  },
  'crossing-ahead': {
    status: 409,
    title: 'The number of the crossing is too far above one without an answer',
    retryAfterSeconds: 0,
  },
  'saying-stale': {
    status: 409,
    title: 'The number of the saying is too far below the newest one',
    retryAfterSeconds: 0,
  },
  'list-full': { status: 409, title: 'The list is full', retryAfterSeconds: 0 },
  'already-running': {
    status: 409,
    title: 'A collection, a snapshot or a profile is running already',
    retryAfterSeconds: 0,
  },
  'heap-too-large': { status: 409, title: 'The heap is too large for a snapshot', retryAfterSeconds: 0 },
  'desktop-ended': { status: 410, title: 'This desktop has ended', retryAfterSeconds: 0 },
  'cursor-lost': { status: 410, title: 'The relay was restarted and does not know this cursor', retryAfterSeconds: 0 },
  'too-large': { status: 413, title: 'The body is too large', retryAfterSeconds: 0 },
  'range-not-satisfiable': { status: 416, title: 'The range is outside the file', retryAfterSeconds: 0 },
  'too-fast': { status: 429, title: 'Too many requests', retryAfterSeconds: 1 },
  'too-many-joins': { status: 429, title: 'Too many joins from this address', retryAfterSeconds: 2 },
  'too-many-places': { status: 429, title: 'Too many desktops of this address', retryAfterSeconds: 30 },
  'too-many-worlds': { status: 429, title: 'Too many worlds of this address', retryAfterSeconds: 30 },
  'too-many-connections': { status: 429, title: 'Too many connections from this address', retryAfterSeconds: 10 },
  'too-many-uploads': { status: 429, title: 'Too many uploads from this address', retryAfterSeconds: 5 },
  'head-too-large': { status: 431, title: 'The head of the request is too large', retryAfterSeconds: 0 },
  internal: { status: 500, title: 'The relay made a mistake', retryAfterSeconds: 0 },
  'mailbox-full': { status: 503, title: "The neighbour's mailbox is full", retryAfterSeconds: 1 },
  'relay-full': { status: 503, title: 'The relay is full', retryAfterSeconds: 10 },
  'relay-busy': { status: 503, title: 'The relay is busy', retryAfterSeconds: 1 },
  draining: { status: 503, title: 'The relay is going down', retryAfterSeconds: 5 },
  'journal-full': { status: 503, title: 'The relay cannot write to its disk', retryAfterSeconds: 5 },
  'store-full': { status: 503, title: 'The relay can store no more sprite files', retryAfterSeconds: 60 },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Members of a document beside those of RFC 9457. */
interface ProblemExtra {
  /** malformed: which field. */
  field?: string;
  /** cursor-lost, cursor-ahead: the cursor to go on from. desktop-ended: the last one that the desktop acknowledged. */
  cursor?: string;
}

export interface ProblemDocument extends ProblemExtra {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
}

/** Returns the document for `code`. `detail` says what was wrong, where, and what to do; it must not contain a token. */
export function problem<Code extends ProblemCode>(
  code: Code,
  detail: string,
  extra: ProblemExtra = {},
): ProblemDocument & { code: Code } {
  const { status, title } = PROBLEMS[code];
  return { type: `/protocol#${code}`, title, status, detail, code, ...extra };
}

/** An error with the problem document to answer the request with. */
export class ProblemError extends Error {
  readonly document: ProblemDocument;
  constructor(code: ProblemCode, detail: string, extra: ProblemExtra = {}) {
    super(detail);
    this.document = problem(code, detail, extra);
  }
}

/** The documents that a front answers with itself, before a handler sees the request. */
export const FRONT_PROBLEMS = {
  malformed: problem(
    'malformed',
    'This is not an HTTP/1.1 request the relay understands, or it has two Host or Authorization headers; the connection is closed.',
  ),
  cursor: problem('malformed', 'cursor: must be one the relay gave, like 6a1f03c2-81.', { field: 'cursor' }),
  tooLarge: problem(
    'too-large',
    `The body is at most ${CROSSING_BYTES_MAX} bytes, and that of a stage at most ${STAGE_BYTES_MAX}.`,
  ),
  headTooLarge: problem(
    'head-too-large',
    `The request line and headers are at most ${HEAD_BYTES_MAX} bytes together, in at most ${HEADERS_MAX} headers.`,
  ),
  notFound: problem('not-found', 'This port answers GET /v1/desktops/{id}/events only.'),
  methodNotAllowed: problem('method-not-allowed', 'This path answers GET only.'),
  requestTimeout: problem('request-timeout', 'The whole request must arrive within 10 seconds.'),
  relayFull: problem('relay-full', 'The relay has no room for another connection; come back later.'),
  tooManyConnections: problem(
    'too-many-connections',
    'This address has as many connections open as the relay allows; close one first.',
  ),
} as const;
