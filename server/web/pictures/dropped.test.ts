import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PNG_SIGNATURE } from '../../wire/files/png.ts';
import { SPR_KEYWORD } from '../../wire/files/sheet.ts';
import { DROPPED_BYTES_MAX, toSpr } from './dropped.ts';

/** What is enough to be taken for a .spr. */
const SPR = Uint8Array.of(...PNG_SIGNATURE, ...new TextEncoder().encode(`iTXt${SPR_KEYWORD}\0`));

/** Drops a .spr of which the browser says that it has this size. */
function drop(sizeBytes: number): Promise<Uint8Array> {
  const file = new File([SPR], 'cat.spr');
  Object.defineProperty(file, 'size', { value: sizeBytes });
  return toSpr(file).then(({ spr }) => spr);
}

describe('a dropped file', () => {
  it('is a file of at most DROPPED_BYTES_MAX, and a .spr stays as it is', async () => {
    for (const sizeBytes of [SPR.length, DROPPED_BYTES_MAX - 1, DROPPED_BYTES_MAX]) {
      assert.deepEqual(await drop(sizeBytes), SPR);
    }
    await assert.rejects(drop(DROPPED_BYTES_MAX + 1), /file\.too-large/);
  });
});
