/** The characters that ship with Sprites, as their files are. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { KNOWN_ANIMATIONS } from '../../wire/files/description.ts';
import { readSpr } from '../../wire/files/spr.ts';

const CAST = globSync('*.spr', { cwd: import.meta.dirname }).map((file) => {
  const bytes = readFileSync(join(import.meta.dirname, file));
  return { ...readSpr(bytes), file, sheet: PNG.sync.read(bytes) };
});

/** Which pixels of a cell are painted, row by row. */
function shapeOf({ description: { frame }, sheet }: (typeof CAST)[number], cell: number): boolean[][] {
  const columns = sheet.width / frame.width;
  const [left, top] = [(cell % columns) * frame.width, Math.floor(cell / columns) * frame.height];
  const isPainted = (x: number, y: number) => sheet.data[4 * ((top + y) * sheet.width + left + x) + 3] > 0;
  return Array.from({ length: frame.height }, (_, y) => Array.from({ length: frame.width }, (_, x) => isPainted(x, y)));
}

describe('the shipped characters', () => {
  for (const character of CAST) {
    const { description, file, frames } = character;

    it(`${file} has all animations, under CC0`, () => {
      assert.equal(`${description.name.toLowerCase()}.spr`, file);
      assert.equal(description.licence, 'CC0-1.0');
      assert.deepEqual(Object.keys(description.animations).sort(), [...KNOWN_ANIMATIONS].sort());
    });

    it(`${file} fits into its cells: no frame touches three sides`, () => {
      for (let cell = 0; cell < frames; cell++) {
        const rows = shapeOf(character, cell);
        const touched = [rows[0], rows.at(-1)!, rows.map((row) => row[0]), rows.map((row) => row.at(-1)!)];
        assert.ok(touched.filter((side) => side.includes(true)).length < 3, `cell ${cell} is cut off`);
      }
    });

    it(`${file} stands exactly on its ledge, and its legs dangle below it when it sits`, () => {
      const foot = description.hitbox[1] + description.hitbox[3] - 1;
      const lowest = (cell: number) => shapeOf(character, cell).findLastIndex((row) => row.includes(true));
      for (const cell of description.animations.idle.frames) assert.equal(lowest(cell), foot);
      for (const cell of description.animations.sit.frames) assert.ok(lowest(cell) > foot);
    });
  }

  it('differ in their outlines: no two idle ones cover nearly the same pixels', () => {
    const shapes = CAST.map((character) => shapeOf(character, character.description.animations.idle.frames[0]).flat());
    for (const [i, one] of shapes.entries()) {
      for (const [j, other] of shapes.slice(0, i).entries()) {
        const shared = one.filter((on, at) => on && other[at]).length;
        const either = one.filter((on, at) => on || other[at]).length;
        assert.ok(shared / either < 0.85, `${CAST[i].file} and ${CAST[j].file}: ${(shared / either).toFixed(2)}`);
      }
    }
  });

  it('have Blob, which README.md and PROTOCOL.md throw in their examples, by its hash', () => {
    const hash = createHash('sha256')
      .update(readFileSync(join(import.meta.dirname, 'blob.spr')))
      .digest('hex');
    for (const document of ['../../../README.md', '../../PROTOCOL.md']) {
      const text = readFileSync(join(import.meta.dirname, document), 'utf8');
      const thrown = [...text.matchAll(/"sprite":{"file":"([0-9a-f]{64})"/g)].map(([, file]) => file);
      assert.ok(thrown.length > 0, document);
      assert.deepEqual(new Set(thrown), new Set([hash]), document);
    }
  });
});
