/** The relay's reader of sprite files beside the synchronous one: the same verdicts, in small steps. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { randomOf } from '../test/random.ts';
import { sprFile, sprWithPixels, wrongInLastRow } from '../test/spr_file.ts';
import { readPng, SprRefused, writePng } from './files/png.ts';
import { checkSpr, RAW_BYTES_MAX, readSpr } from './files/spr.ts';

const ROW_BYTES = 1 + 16 * 4; // of sprFile()
const ROWS = 8;

async function refused(bytes: Uint8Array, sentence: RegExp): Promise<void> {
  await assert.rejects(checkSpr(bytes), (error: unknown) => {
    assert.ok(error instanceof SprRefused, String(error));
    assert.match(error.message, sentence);
    return true;
  });
}

describe('spr › the check of an upload', () => {
  it('reads what the synchronous reader reads', async () => {
    const bytes = sprFile();
    assert.deepEqual(await checkSpr(bytes), readSpr(bytes));
  });

  it('accepts and refuses the same files as the synchronous reader', async (t) => {
    const random = randomOf(t);
    const below = (n: number) => Math.floor(random() * n);
    let refusals = 0;
    for (let round = 0; round < 600; round++) {
      const chunks = readPng(sprFile(), crc32).chunks.map(({ type, content }) => ({ type, content: content.slice() }));
      const raw = Buffer.alloc(ROW_BYTES * ROWS + (below(3) === 0 ? below(3) - 1 : 0));
      if (below(2) === 0) raw[below(raw.length)] = below(8);
      const packed = deflateSync(raw);
      if (below(4) === 0) packed[below(packed.length)] ^= 1 << below(8);
      const tail = below(4) === 0 ? below(3) : 0;
      const pixels = chunks.find(({ type }) => type === 'IDAT');
      assert.ok(pixels);
      pixels.content = Uint8Array.from(
        [...packed.subarray(0, packed.length - (below(6) === 0 ? 1 : 0)), 1, 2, 3].slice(0, packed.length + tail),
      );
      const bytes = writePng(chunks, crc32);
      let isGood = true;
      try {
        readSpr(bytes);
      } catch (error) {
        assert.ok(error instanceof SprRefused, String(error));
        isGood = false;
        refusals++;
      }
      const check = checkSpr(bytes);
      if (isGood) await check;
      else await assert.rejects(check, SprRefused);
    }
    assert.ok(refusals > 100 && refusals < 500, `${refusals} were refused`);
  });

  it('refuses at the first wrong row, without reading what follows', async () => {
    const raw = Buffer.alloc(256 * (1 + 256 * 4)); // four steps;
    raw[0] = 5;
    const packed = deflateSync(raw, { level: 0 });
    packed.fill(0xff, packed.length >> 1); // the second half is not even a zlib stream
    await refused(sprWithPixels(256, 256, packed), /unknown filter/);
    raw[0] = 4;
    const damaged = deflateSync(raw, { level: 0 });
    damaged.fill(0xff, damaged.length >> 1);
    await refused(sprWithPixels(256, 256, damaged), /zlib/);
  });

  it('finds a wrong filter in the last row of the largest picture, and one byte too few or too many', async () => {
    await refused(wrongInLastRow(), /unknown filter/);
    const sized = (bytes: number) => sprWithPixels(4096, 4096, deflateSync(Buffer.alloc(bytes)));
    assert.equal((await checkSpr(sized(RAW_BYTES_MAX))).width, 4096);
    await refused(sized(RAW_BYTES_MAX - 1), /inflate to 67112959/);
    await refused(sized(RAW_BYTES_MAX + 1), /more than the 67112960/);
  });

  it('lets other work run between its steps, and holds a small part of the picture', async () => {
    const bytes = wrongInLastRow();
    let turns = 0;
    let running = true;
    let most = 0;
    const atFirst = process.memoryUsage().arrayBuffers;
    const turn = () => {
      turns++;
      most = Math.max(most, process.memoryUsage().arrayBuffers - atFirst);
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    await Promise.all(Array.from({ length: 2 }, () => refused(bytes, /unknown filter/)));
    running = false;
    assert.ok(turns > 100, `${turns} turns of the loop`);
    assert.ok(most < RAW_BYTES_MAX, `${most} bytes for two pictures of ${RAW_BYTES_MAX}`);
  });
});
