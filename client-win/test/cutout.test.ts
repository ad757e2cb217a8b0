/** Plays cutout.vectors.json with the page's pictures. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutoutConstants, playCut, playTrim, readCutoutVectors } from './cutout_vectors.ts';

describe('cutting out', () => {
  const { constants, colours, cuts, trims } = readCutoutVectors();

  it('has the numbers of the file', () => assert.deepEqual(cutoutConstants(), constants));

  for (const one of cuts) it(one.name, () => assert.deepEqual(playCut(one, colours), one.expect));
  for (const one of trims) it(one.name, () => assert.deepEqual(playTrim(one, colours), one.expect));
});
