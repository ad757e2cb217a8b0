import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedBodies, listedBodies, USUAL } from '../test/crossing_bodies.ts';
import { randomOf } from '../test/random.ts';
import { readCrossing } from './crossing.ts';
import { CrossingReader } from './crossing_reader.ts';
import { ProblemError } from './problem.ts';

/** What a reader makes of a body: the crossing, or the problem's field and detail. */
function outcome(read: (body: Uint8Array) => unknown, body: Uint8Array): unknown {
  try {
    return read(body);
  } catch (error) {
    assert.ok(error instanceof ProblemError);
    return error.document;
  }
}

const reader = new CrossingReader();
function quick(body: Uint8Array): unknown {
  reader.read(body, 0, body.length);
  const { crossing, edge, body: passage, end } = reader;
  return { crossing, edge, passage: passage.toString('utf8', 0, end) };
}

function same(body: Buffer): void {
  assert.deepEqual(outcome(quick, body), outcome(readCrossing, body), body.toString());
}

describe('crossing reader', () => {
  it('does not look behind the end of a body, nor before its beginning', () => {
    const wide = Buffer.from(`##${USUAL}##`);
    reader.read(wide, 2, wide.length - 2);
    assert.equal(reader.crossing, 17);
  });

  it('gives what readCrossing gives, whatever the members, numbers and texts', () => {
    for (const body of listedBodies()) same(body);
  });

  it('gives what readCrossing gives for a body with any byte changed', (t) => {
    for (const body of changedBodies(20_000, randomOf(t))) same(body);
  });
});
