import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { CROSSING_BYTES_MAX } from './crossing.ts';
import { readCursor } from './cursor.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemCode, ProblemError, problem } from './problem.ts';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** The codes and statuses that the protocol promises. */
const STATUSES: Record<number, readonly ProblemCode[]> = {
  400: ['malformed', 'cursor-ahead', 'sprite-invalid'],
  401: ['unknown-desktop', 'admin-token'],
  403: ['banned', 'picture-refused', 'sayings-off', 'stage-hidden'],
  404: ['not-found', 'no-neighbour'],
  405: ['method-not-allowed'],
  408: ['request-timeout'],
  409: [
    'near-gone',
    'crossing-stale',
    'crossing-ahead',
    'saying-stale',
    'list-full',
    'already-running',
    'heap-too-large',
  ],
  410: ['desktop-ended', 'cursor-lost'],
  413: ['too-large'],
  416: ['range-not-satisfiable'],
  429: ['too-fast', 'too-many-joins', 'too-many-places', 'too-many-worlds', 'too-many-connections', 'too-many-uploads'],
  431: ['head-too-large'],
  500: ['internal'],
  503: ['mailbox-full', 'relay-full', 'relay-busy', 'draining', 'journal-full', 'store-full'],
};

describe('problem', () => {
  it('has the status of its code', () => {
    const promised = Object.entries(STATUSES).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)]));
    const held = CODES.map((code) => [code, PROBLEMS[code].status]);
    assert.deepEqual(held.sort(), promised.sort());
  });

  it('says when to retry if and only if a retry helps', () => {
    for (const code of CODES) {
      const { status, retryAfterSeconds } = PROBLEMS[code];
      assert.equal(retryAfterSeconds > 0, status === 429 || status === 503, code);
      // It has one byte in a frame.
      assert.ok(Number.isInteger(retryAfterSeconds) && retryAfterSeconds < 256, code);
    }
  });

  it('is an RFC 9457 document with its code and extra members', () => {
    assert.deepEqual(problem('malformed', 'at: must be a number from 0 to 1.', { field: 'at' }), {
      type: '/protocol#malformed',
      title: 'The request is not of the form it must have',
      status: 400,
      detail: 'at: must be a number from 0 to 1.',
      code: 'malformed',
      field: 'at',
    });
  });

  it('is the document of a ProblemError', () => {
    const error = new ProblemError('cursor-lost', 'Go on.', { cursor: '6a1f03c2-0' });
    assert.equal(error.message, 'Go on.');
    assert.deepEqual(error.document, problem('cursor-lost', 'Go on.', { cursor: '6a1f03c2-0' }));
  });

  it('of a front names the real limits and a valid example', () => {
    assert.ok(FRONT_PROBLEMS.tooLarge.detail.includes(` ${CROSSING_BYTES_MAX} bytes`));
    const example = FRONT_PROBLEMS.cursor.detail.match(/like (\S+)\.$/)?.[1] ?? '';
    assert.ok(readCursor(example, { epoch: 0, seq: 0 }), example);
  });

  it('has one heading in PROTOCOL.md for each code, and each heading has its code', async () => {
    const text = await readFile(new URL('../PROTOCOL.md', import.meta.url), 'utf8');
    const chapters = text.split(/^(?=## )/m);
    const errors = chapters.find((chapter) => /^## .*(?:errors|problems)/i.test(chapter)) ?? text;
    // "### `code`" or "### code — …".
    const headings = [...errors.matchAll(/^### (?:`([a-z-]+)`|([a-z-]+)(?= [—–-] |\s*$))/gm)];
    assert.deepEqual(headings.map(([, quoted, plain]) => quoted ?? plain).sort(), [...CODES].sort());
  });
});
