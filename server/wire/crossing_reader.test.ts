import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrangedBodies, changedBodies, listedBodies, USUAL } from '../test/crossing_bodies.ts';
import { randomOf } from '../test/random.ts';
import { readCrossing } from './crossing.ts';
import { CrossingReader } from './crossing_reader.ts';
import { ProblemError } from './problem.ts';

/** The result of reading a body: the crossing, or the problem document. */
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
  it('reads nothing before the beginning of a body or after its end', () => {
    const wide = Buffer.from(`##${USUAL}##`);
    reader.read(wide, 2, wide.length - 2);
    assert.equal(reader.crossing, 17);
  });

  it('returns the same as readCrossing, for listed members, numbers and texts', () => {
    for (const body of listedBodies()) same(body);
  });

  it('returns the same as readCrossing for a body with a changed byte', (t) => {
    for (const body of changedBodies(20_000, randomOf(t))) same(body);
  });

  it('returns the same as readCrossing for a body with members in any order, some missing, and with spaces', (t) => {
    for (const body of arrangedBodies(20_000, randomOf(t))) same(body);
  });

  it('reads any order of members, without the optional ones and with spaces, without JSON.parse', (t) => {
    const parse = t.mock.method(JSON, 'parse');
    const sprite = `"sprite":{"file":"${'ab'.repeat(32)}"}`;
    for (const members of [
      [`"crossing":1`, `"edge":"top"`, `"at":0`, `"vx":-1.5`, `"vy":0`, sprite],
      [sprite, `"vy":0`, `"vx":-1.5`, `"at":0`, `"edge":"top"`, `"crossing":1`],
    ]) {
      for (const comma of [',', ' ,\n\t\r']) quick(Buffer.from(`{${members.join(comma)} }\n`));
    }
    assert.equal(parse.mock.callCount(), 0);
  });
});
