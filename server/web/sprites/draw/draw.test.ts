import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { KNOWN_ANIMATIONS } from '../../../wire/description.ts';
import { readSpr } from '../../../wire/spr.ts';
import { CAST } from './cast.ts';
import { drawSpr, FRAME_SIDE, fileName } from './draw.ts';
import { POSES } from './pose.ts';

describe('the shipped characters', () => {
  for (const character of CAST) {
    const committed = readFileSync(new URL(`../${fileName(character)}`, import.meta.url));

    it(`${character.name} is a valid .spr with all animations, under CC0`, () => {
      const { description, frames } = readSpr(committed);
      assert.equal(description.name, character.name);
      assert.equal(description.licence, 'CC0-1.0');
      assert.ok(frames >= POSES.length);
      assert.deepEqual(Object.keys(description.animations).sort(), [...KNOWN_ANIMATIONS].sort());
    });

    it(`${character.name} is the output of its drawing program`, () => {
      assert.deepEqual(readSpr(drawSpr(character)).description, readSpr(committed).description);
      assert.ok(PNG.sync.read(Buffer.from(drawSpr(character))).data.equals(PNG.sync.read(committed).data));
    });

    it(`${character.name} moves: neighbouring frames of an animation differ, and none touches three sides of its cell`, () => {
      const pictures = POSES.map((pose) => character.draw(pose).pixels);
      for (const [i, pose] of POSES.entries()) {
        if (POSES[i + 1]?.animation === pose.animation)
          assert.notDeepEqual(pictures[i], pictures[i + 1], `${pose.animation} ${i}`);
        const side = (at: (n: number) => number) =>
          Array.from({ length: FRAME_SIDE }, (_, n) => pictures[i][at(n)]).some((c) => c >= 0);
        const touched = [side((n) => n), side((n) => n * FRAME_SIDE), side((n) => n * FRAME_SIDE + FRAME_SIDE - 1)];
        assert.ok(touched.filter(Boolean).length < 3, `${pose.animation} ${i} is cut off`);
      }
    });
  }
});
