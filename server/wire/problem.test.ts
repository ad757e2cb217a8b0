import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCursor } from './cursor.ts';
import { FRONT_PROBLEMS, PROBLEMS, type ProblemCode, ProblemError, problem } from './problem.ts';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

describe('problem', () => {
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

  it('of a front has a valid example', () => {
    const example = FRONT_PROBLEMS.cursor.detail.match(/like (\S+)\.$/)?.[1] ?? '';
    assert.ok(readCursor(example, { epoch: 0, seq: 0 }), example);
  });
});
