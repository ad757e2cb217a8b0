import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { KNOWN_ANIMATIONS } from '../../../wire/description.ts';
import { readSpr } from '../../../wire/spr.ts';
import { CAST } from './cast.ts';
import { drawPose, drawSpr, FRAME_SIDE, fileName } from './draw.ts';
import { GROUNDED, POSES, type Pose } from './pose.ts';

describe('the shipped characters', () => {
  for (const character of CAST) {
    const committed = readFileSync(new URL(`../${fileName(character)}`, import.meta.url));
    const isPainted = (pixels: Int32Array, x: number, y: number) => pixels[y * FRAME_SIDE + x] >= 0;
    const rows = Array.from({ length: FRAME_SIDE }, (_, n) => n);

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
      const pictures = POSES.map((pose) => drawPose(character, pose).pixels);
      for (const [i, pose] of POSES.entries()) {
        if (POSES[i + 1]?.animation === pose.animation)
          assert.notDeepEqual(pictures[i], pictures[i + 1], `${pose.animation} ${i}`);
        const side = (x: (n: number) => number, y: (n: number) => number) =>
          rows.some((n) => isPainted(pictures[i], x(n), y(n)));
        const last = FRAME_SIDE - 1;
        const own = (n: number) => n;
        const touched = [side(own, () => 0), side(() => 0, own), side(() => last, own)];
        assert.ok(touched.filter(Boolean).length < 3, `${pose.animation} ${i} is cut off`);
      }
    });

    it(`${character.name} stands exactly on its ledge, and only dangling legs reach below it`, () => {
      const { hitbox } = readSpr(committed).description;
      const foot = hitbox[1] + hitbox[3] - 1;
      const lowest = (pose: Pose) => {
        const { pixels } = drawPose(character, pose);
        return rows.findLast((y) => rows.some((x) => isPainted(pixels, x, y)));
      };
      for (const pose of POSES.filter(({ animation }) => GROUNDED.has(animation))) {
        const isRaised = pose.animation !== 'walk' || character.hops;
        assert.equal(lowest(pose), foot - (isRaised ? pose.lift : 0), pose.animation);
      }
      for (const pose of POSES.filter(({ animation }) => animation === 'sit')) {
        assert.ok(lowest(pose)! > foot, 'its legs dangle');
      }
    });
  }

  it('differ in their outlines: no two idle ones cover nearly the same pixels', () => {
    const shapes = CAST.map((character) => drawPose(character, POSES[0]).pixels.map((pixel) => Number(pixel >= 0)));
    for (const [i, one] of shapes.entries()) {
      for (const [j, other] of shapes.entries()) {
        if (j <= i) continue;
        const shared = one.reduce((sum, on, at) => sum + (on & other[at]), 0);
        const either = one.reduce((sum, on, at) => sum + (on | other[at]), 0);
        assert.ok(shared / either < 0.85, `${CAST[i].name} and ${CAST[j].name}: ${(shared / either).toFixed(2)}`);
      }
    }
  });

  it('have Blob, which README.md and PROTOCOL.md throw in their examples, by its hash', () => {
    const blob = readFileSync(new URL('../blob.spr', import.meta.url));
    const hash = createHash('sha256').update(blob).digest('hex');
    for (const document of ['../../../../README.md', '../../../PROTOCOL.md']) {
      const text = readFileSync(new URL(document, import.meta.url), 'utf8');
      const thrown = [...text.matchAll(/"sprite":{"file":"([0-9a-f]{64})"/g)].map(([, file]) => file);
      assert.ok(thrown.length > 0, document);
      assert.deepEqual(new Set(thrown), new Set([hash]), document);
    }
  });
});
