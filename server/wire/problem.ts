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

const kind = (status: number, title: string, retryAfterSeconds = 0): ProblemKind => ({
  status,
  title,
  retryAfterSeconds,
});

export const PROBLEMS = {
  malformed: kind(400, 'The request is not of the form it must have'),
  'cursor-ahead': kind(400, 'The cursor is ahead of the last event that was sent'),
  'sprite-invalid': kind(400, 'The file is not a valid sprite'),
  'unknown-desktop': kind(401, 'No desktop has this id and token'),
  'admin-token': kind(401, 'The admin token is needed'),
  banned: kind(403, 'The operator of this relay has banned you'),
  'picture-refused': kind(403, 'This relay does not carry the picture'),
  'sayings-off': kind(403, 'Sayings are turned off on this relay'),
  'stage-hidden': kind(403, 'The neighbour does not show its stage'),
  'not-found': kind(404, 'Nothing is here'),
  'no-neighbour': kind(404, 'There is no neighbour beyond this edge'),
  'method-not-allowed': kind(405, 'The path does not allow this method'),
  'request-timeout': kind(408, 'The request did not arrive in time'),
  'near-gone': kind(409, 'The invitation is not valid any more'),
  'crossing-stale': kind(409, 'The number of the crossing is too far below the newest one'),
  'crossing-ahead': kind(409, 'The number of the crossing is too far above one without an answer'),
  'saying-stale': kind(409, 'The number of the saying is too far below the newest one'),
  'swap-gone': kind(409, 'Nobody is there to change places with'),
  'list-full': kind(409, 'The list is full'),
  'already-running': kind(409, 'A collection, a snapshot or a profile is running already'),
  'heap-too-large': kind(409, 'The heap is too large for a snapshot'),
  'desktop-ended': kind(410, 'This desktop has ended'),
  'cursor-lost': kind(410, 'The relay was restarted and does not know this cursor'),
  'too-large': kind(413, 'The body is too large'),
  'range-not-satisfiable': kind(416, 'The range is outside the file'),
  'too-fast': kind(429, 'Too many requests', 1),
  'too-many-joins': kind(429, 'Too many joins from this address', 2),
  'too-many-places': kind(429, 'Too many desktops of this address', 30),
  'too-many-worlds': kind(429, 'Too many worlds of this address', 30),
  'too-many-connections': kind(429, 'Too many connections from this address', 10),
  'too-many-uploads': kind(429, 'Too many uploads from this address', 5),
  'head-too-large': kind(431, 'The head of the request is too large'),
  internal: kind(500, 'The relay made a mistake'),
  'mailbox-full': kind(503, "The neighbour's mailbox is full", 1),
  'relay-full': kind(503, 'The relay is full', 10),
  'relay-busy': kind(503, 'The relay is busy', 1),
  draining: kind(503, 'The relay is going down', 5),
  'journal-full': kind(503, 'The relay cannot write to its disk', 5),
  'store-full': kind(503, 'The relay can store no more sprite files', 60),
} satisfies Record<string, ProblemKind>;

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
