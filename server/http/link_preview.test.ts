import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { sprFile, sprWithPixels } from '../test/spr_file.ts';
import type { ProblemError } from '../wire/problem.ts';
import { LinkPreviews, PAUSE_MS, SHEET_PIXELS_MAX, SIZE, withPreview } from './link_preview.ts';
import { CHARACTERS_FOLDER } from './site.ts';

const isRefused = (code: string) => (error: unknown) => (error as ProblemError).document.code === code;

describe('the picture of a link', () => {
  it('is of the sprite, on its feet in the middle', () => {
    const miso = readFileSync(join(CHARACTERS_FOLDER, 'miso.spr'));
    const { width, height, data } = PNG.sync.read(new LinkPreviews().of('miso', miso));
    assert.deepEqual([width, height], [SIZE.width, SIZE.height]);
    const colour = (x: number, y: number) =>
      data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3).toString('hex');
    const [sky, ground] = [colour(0, 0), colour(0, height - 1)];
    assert.notEqual(sky, ground);
    const drawn: [number, number][] = [];
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) if (![sky, ground].includes(colour(x, y))) drawn.push([x, y]);
    assert.ok(drawn.length > 5_000, `${drawn.length} pixels`);
    const [xs, ys] = [0, 1].map((i) => drawn.map((at) => at[i]).sort((a, b) => a - b));
    const middle = (xs[0] + (xs.at(-1) as number)) / 2;
    assert.ok(Math.abs(middle - width / 2) < 40, `its middle is at ${middle}`);
    const horizon = Array.from({ length: height }, (_, y) => y).find((y) => colour(0, y) === ground) as number;
    assert.ok(Math.abs((ys.at(-1) as number) - horizon) < 20, `its feet are at ${ys.at(-1)}, the ground at ${horizon}`);
  });

  it('is drawn once, and another one after a pause', () => {
    let nowMs = 0;
    const previews = new LinkPreviews(() => nowMs);
    const first = previews.of('one', sprFile());
    assert.equal(previews.of('one', sprFile()), first);
    nowMs = PAUSE_MS - 1;
    assert.throws(() => previews.of('two', sprFile()), isRefused('relay-busy'));
    nowMs = PAUSE_MS;
    previews.of('two', sprFile());
  });

  it('is of no sheet with more pixels than it may have', () => {
    const height = SHEET_PIXELS_MAX / 1024;
    const sheet = (width: number) => sprWithPixels(width, height, deflateSync(Buffer.alloc(height * (1 + 4 * width))));
    assert.throws(() => new LinkPreviews().of('more', sheet(1026)), isRefused('not-found'));
    assert.ok(new LinkPreviews().of('just', sheet(1024)).length > 0);
  });

  it('is in the head of the page', () => {
    const page = withPreview('<title>Sprites</title><p>', 'http://relay/preview/a.png', 'Throw them.');
    assert.match(page, /<\/title>\s*<meta property="og:title" content="Sprites" \/>/);
    assert.match(page, /<meta property="og:image" content="http:\/\/relay\/preview\/a.png" \/>.*<p>$/s);
  });
});
