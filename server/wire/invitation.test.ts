import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeId, writeToken } from './identity.ts';
import { readInvitation, writeInvitation } from './invitation.ts';

const SECRET = [0, 1, 0x80000000, 0xffffffff];
const DIGITS = '000000000000000180000000ffffffff';

describe('invitation', () => {
  it('is read as it was written, at the smallest and the largest slot, with and without a relay', () => {
    for (const slot of [0, 1, 0x1a2b, 0xffffff]) {
      const text = writeInvitation(slot, Uint32Array.from(SECRET));
      assert.equal(text, `${slot.toString(16)}.${DIGITS}`);
      assert.deepEqual(readInvitation(text), { slot, secret: SECRET });
      const ofCluster = writeInvitation(slot, SECRET, 'r2');
      assert.equal(ofCluster, `${text}.r2`);
      assert.deepEqual(readInvitation(ofCluster), { slot, secret: SECRET, relay: 'r2' });
    }
  });

  it('is neither an id nor a token, nor any other text', () => {
    const wrong = [
      writeId(1, 2),
      writeToken(1, 2, Uint32Array.from(SECRET)),
      ...['', '1', '1.', `.${DIGITS}`, `1.${DIGITS}0`, `1.${DIGITS.slice(1)}`, `1000000.${DIGITS}`, `01.${DIGITS}`],
      ...[`1.${DIGITS.toUpperCase()}`, `A.${DIGITS}`, ` 1.${DIGITS}`, `1.${DIGITS}\n`, `1-1.${DIGITS}`],
      ...[`1.${DIGITS}.`, `1.${DIGITS}.R2`, `1.${DIGITS}.a.b`, `1.${DIGITS}.>`, `1.${DIGITS}.${'r'.repeat(33)}`],
    ];
    for (const text of wrong) assert.equal(readInvitation(text), undefined, text);
  });
});
