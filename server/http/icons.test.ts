import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { iconOf } from './icons.ts';
import { CHARACTERS_FOLDER } from './site.ts';

describe('an icon', () => {
  it('is a square of the side that is asked for, with a character in the middle and a plain ground around it', () => {
    for (const side of [192, 512]) {
      const icon = PNG.sync.read(iconOf(readFileSync(join(CHARACTERS_FOLDER, 'blob.spr')), side));
      assert.deepEqual([icon.width, icon.height], [side, side]);
      const at = (x: number, y: number) => [...icon.data.subarray(4 * (y * side + x), 4 * (y * side + x) + 4)];
      const ground = [0xe9, 0xe6, 0xff, 255];
      assert.deepEqual(at(0, 0), ground);
      assert.deepEqual(at(side - 1, side - 1), ground);
      assert.notDeepEqual(at(side / 2, Math.floor(0.6 * side)), ground);
    }
  });
});
