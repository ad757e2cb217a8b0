import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { deflateSync, crc32 as zlibCrc32 } from 'node:zlib';
import { pickFrom, randomOf } from '../../test/random.ts';
import hidden from '../hidden.vectors.json' with { type: 'json' };
import { SPR_BYTES_MAX } from '../rules.ts';
import { type Chunk, crc32, rawBytes, readPng, SHEET_SIDE_PIXELS_MAX, SprRefused, writePng } from './png.ts';
import { writeSheet } from './sheet.ts';
import { RAW_BYTES_MAX, readSpr } from './spr.ts';

interface Drawing {
  width?: number;
  height?: number;
  bitDepth?: number;
  colourType?: number;
  interlace?: number;
}

const BLOB = {
  format: 'spr/1',
  name: 'Blob',
  frame: { width: 8, height: 8 },
  hitbox: [1, 2, 6, 6],
  animations: { idle: { frames: [0, 1], fps: 4 } },
};

function header({ width = 16, height = 8, bitDepth = 8, colourType = 6, interlace = 0 }: Drawing): Chunk {
  const content = new Uint8Array(13);
  const view = new DataView(content.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  content.set([bitDepth, colourType, 0, 0, interlace], 8);
  return { type: 'IHDR', content };
}

const text = (json: string, head = 'sprite\0\0\0\0\0'): Chunk => ({
  type: 'iTXt',
  content: new TextEncoder().encode(head + json),
});
const pixels = (bytes: number): Chunk => ({ type: 'IDAT', content: deflateSync(new Uint8Array(bytes)) });
const END: Chunk = { type: 'IEND', content: new Uint8Array(0) };

/** The chunks of a good .spr of this drawing and description. */
function chunksOf(drawing: Drawing = {}, description: object = BLOB): Chunk[] {
  const { width = 16, height = 8, bitDepth = 8, colourType = 6, interlace = 0 } = drawing;
  const raw = rawBytes({ width, height, bitDepth, colourType, interlaced: interlace === 1 });
  return [header(drawing), text(JSON.stringify(description)), pixels(raw), END];
}

const spr = (drawing: Drawing = {}, description: object = BLOB) => writePng(chunksOf(drawing, description), crc32);
const of = (...chunks: Chunk[]) => writePng(chunks, crc32);

function refused(bytes: Uint8Array, part: string, sentence: RegExp): void {
  assert.throws(
    () => readSpr(bytes),
    (error: unknown) => {
      assert.ok(error instanceof SprRefused, String(error));
      assert.match(error.message, sentence);
      assert.equal(error.part, part);
      return true;
    },
  );
}

/** One field of the description at a time: accepted, or refused with its name. */
const accepted = (patch: object) => readSpr(spr({}, { ...BLOB, ...patch })).description;
const refusedJson = (patch: object, sentence: RegExp) => refused(spr({}, { ...BLOB, ...patch }), 'json', sentence);

interface Case {
  name: string;
  /** The part that is refused; absent for a file that is read. */
  refused?: string;
  /** What the sentence about it has in it. */
  says?: string;
  /** What is read, as far as the case says. */
  reads?: object;
}

/** A case of a description: the usual one with these values at these pointers, or this JSON, or padded to so many bytes. */
interface DescriptionCase extends Case {
  sheet?: readonly [number, number];
  patch?: Record<string, unknown>;
  json?: unknown;
  padded?: number;
}

type ChunkSpec = string | { type: string; zeros?: number; times?: number; text?: string; hex?: string };

/** A case of a file with these chunks: those of a file of the corpus, or the usual ones, by their types, and others with their contents. */
interface ChunksCase extends Case {
  base?: string;
  chunks: ChunkSpec[];
  /** Bytes behind the last chunk, in hexadecimal digits. */
  tail?: string;
}

/** spr.vectors.json, which the core of the clients reads too. */
const read = (path: string) => readFileSync(new URL(path, import.meta.url));
const vectors: { base: object; files: Case[]; descriptions: DescriptionCase[]; chunks: ChunksCase[] } = JSON.parse(
  read('./spr.vectors.json').toString(),
);
const corpus = (name: string) => read(`../../../client-win/core/corpus/sheet/${name}`);

/** The value of a case: `{"$repeat": one, "times": n}` is a text or a list, `{"$names": n, "each": one}` an object, with `idle` first. */
function expanded(given: unknown): unknown {
  const { $repeat: one, times, $names, each } = Object(given);
  if (typeof one === 'string') return one.repeat(times);
  if (one !== undefined) return Array(times).fill(one);
  if ($names === undefined) return given;
  return Object.fromEntries(Array.from({ length: $names }, (_, i) => [i === 0 ? 'idle' : `a${i}`, each]));
}

/** The JSON of a case: what is at a pointer is written, also a name that is a prototype's. */
function jsonOf({ patch = {}, json, padded }: DescriptionCase): string {
  if (json !== undefined) return expanded(json) as string;
  const description = structuredClone(vectors.base);
  for (const [pointer, value] of Object.entries(patch)) {
    const names = pointer.split('/').slice(1);
    const last = names.pop()!;
    const at = names.reduce<object>((object, name) => Reflect.get(object, name), description);
    Object.defineProperty(at, last, { value: expanded(value), enumerable: true, configurable: true, writable: true });
  }
  return JSON.stringify(description).padEnd(padded ?? 0);
}

function descriptionFile(one: DescriptionCase): Uint8Array {
  const [width, height] = one.sheet ?? [16, 8];
  const [head, , ...rest] = chunksOf({ width, height });
  return of(head, text(jsonOf(one)), ...rest);
}

function chunksFile({ base, chunks, tail = '' }: ChunksCase): Uint8Array {
  const usual = base === undefined ? chunksOf({}, vectors.base) : readPng(corpus(base), crc32).chunks;
  const written = chunks.flatMap((spec) => {
    if (typeof spec === 'string') return usual.find(({ type }) => type === spec)!;
    const { type, zeros = 0, times = 1, text: words, hex } = spec;
    const content = hex === undefined ? Buffer.from(words ?? '\0'.repeat(zeros)) : Buffer.from(hex, 'hex');
    return Array<Chunk>(times).fill({ type, content });
  });
  return Buffer.concat([of(...written), Buffer.from(tail, 'hex')]);
}

function plays({ refused: part, says = '', reads = {} }: Case, bytes: Uint8Array): void {
  if (part !== undefined) {
    refused(bytes, part, new RegExp(says.replaceAll('.', '\\.')));
    return;
  }
  const { width, height, frames, description } = readSpr(bytes);
  const all = JSON.parse(JSON.stringify({ width, height, frames, ...description }));
  assert.deepEqual({ ...all, ...reads }, all);
}

describe('spr › the vectors', () => {
  for (const one of vectors.files) it(`a file › ${one.name}`, () => plays(one, corpus(one.name)));
  for (const one of vectors.descriptions) it(`a description › ${one.name}`, () => plays(one, descriptionFile(one)));
  for (const one of vectors.chunks) it(`chunks › ${one.name}`, () => plays(one, chunksFile(one)));
});

describe('spr › the file', () => {
  it('is accepted with 1 MiB and one byte less, and refused with one byte more', () => {
    const padded = (size: number) => {
      const [first, ...rest] = chunksOf();
      const bare = of(first, { type: 'tIME', content: new Uint8Array(0) }, ...rest).length;
      return of(first, { type: 'tIME', content: new Uint8Array(size - bare) }, ...rest);
    };
    readSpr(padded(SPR_BYTES_MAX - 1));
    readSpr(padded(SPR_BYTES_MAX));
    refused(padded(SPR_BYTES_MAX + 1), 'file', /at most 1048576/);
  });

  it('is refused when it is cut off at any byte', () => {
    const whole = spr();
    for (let length = 0; length < whole.length; length++) {
      assert.throws(() => readSpr(whole.subarray(0, length)), SprRefused, `cut at ${length}`);
    }
  });

  it('is refused when any one bit is flipped', () => {
    const whole = spr();
    for (let i = 0; i < whole.length; i++) {
      const damaged = whole.slice();
      damaged[i] ^= 0x10;
      assert.throws(() => readSpr(damaged), SprRefused, `byte ${i}`);
    }
  });

  it('is refused, without any other error, when random bytes follow a valid signature', (t) => {
    const below = pickFrom(randomOf(t));
    for (let round = 0; round < 3000; round++) {
      const chunks = chunksOf();
      const chunk = chunks[below(chunks.length)];
      const content = chunk.content.slice();
      for (let n = below(4); n >= 0 && content.length > 0; n--) content[below(content.length)] = below(256);
      chunk.content = content.subarray(0, content.length - (below(3) === 0 ? below(content.length + 1) : 0));
      try {
        readSpr(of(...chunks)); // with valid CRCs, so that the checks after them are tested
      } catch (error) {
        assert.ok(error instanceof SprRefused, `round ${round}: ${error}`);
      }
    }
  });

  it('may be a view of a larger buffer, and the result does not keep that buffer', () => {
    const inner = spr();
    const outer = new Uint8Array(inner.length + 20);
    outer.set(inner, 7);
    assert.equal(readSpr(outer.subarray(7, 7 + inner.length)).frames, 2);
  });
});

describe('spr › the chunks', () => {
  const [first, description, picture] = chunksOf();

  it('have the same CRCs as zlib computes', () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7919) & 255);
    assert.equal(crc32(bytes), zlibCrc32(bytes));
    assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  });

  it('are refused without PNG signature, without the header first, without pixels or without end', () => {
    refused(new TextEncoder().encode('GIF89a, and more than eight bytes'), 'file', /signature/);
    refused(of(description, first, picture, END), 'iTXt', /must be IHDR/);
    refused(of(first, description, END), 'IDAT', /no IDAT/);
    refused(of(first, description, picture), 'file', /before its IEND/);
    refused(of(first, first, description, picture, END), 'IHDR', /second time/);
  });

  it('are refused with bytes after IEND, with a non-empty IEND, or with IDAT in two runs', () => {
    refused(new Uint8Array([...of(first, description, picture, END), 0]), 'IEND', /follow/);
    refused(of(first, description, picture, { ...END, content: new Uint8Array(1) }), 'IEND', /empty/);
    const half = picture.content.length >> 1;
    const [a, b] = [picture.content.subarray(0, half), picture.content.subarray(half)];
    readSpr(of(first, description, { type: 'IDAT', content: a }, { type: 'IDAT', content: b }, END));
    refused(of(first, { type: 'IDAT', content: a }, description, { type: 'IDAT', content: b }, END), 'IDAT', /follow/);
  });

  it('are refused when a length exceeds the file, before the length is used', () => {
    const bytes = spr();
    new DataView(bytes.buffer).setUint32(8, 0xffffffff);
    refused(bytes, 'IHDR', /claims 4294967295/);
  });

  it('must have a palette when the pixels are palette indices', () => {
    const drawing = { colourType: 3, bitDepth: 4 };
    const [head, note, body] = chunksOf(drawing);
    refused(of(head, note, body, END), 'PLTE', /needs a PLTE/);
    const palette = (bytes: number) => of(head, { type: 'PLTE', content: new Uint8Array(bytes) }, note, body, END);
    readSpr(palette(3));
    readSpr(palette(768));
    for (const bytes of [0, 4, 771]) refused(palette(bytes), 'PLTE', /256 colours/);
  });
});

describe('spr › the pixels', () => {
  const one = { ...BLOB, hitbox: undefined, animations: { idle: { frames: [0], fps: 1 } } };
  const sized = (width: number, height: number) => ({ ...one, frame: { width, height } });

  it('may have every depth and colour type that PNG defines, plain and interlaced, and no other', () => {
    const known = new Set(['0/1', '0/2', '0/4', '0/8', '0/16', '2/8', '2/16', '3/1', '3/2', '3/4', '3/8']);
    for (const pair of ['4/8', '4/16', '6/8', '6/16']) known.add(pair);
    for (let colourType = 0; colourType < 8; colourType++) {
      for (const bitDepth of [0, 1, 2, 3, 4, 8, 16, 32]) {
        for (const interlace of [0, 1]) {
          const drawing = { colourType, bitDepth, interlace, width: 5, height: 3 };
          if (!known.has(`${colourType}/${bitDepth}`)) {
            refused(of(header(drawing), pixels(9), END), 'IHDR', /knows no colour type/);
            continue;
          }
          const [head, note, body] = chunksOf(drawing, sized(5, 3));
          const palette = colourType === 3 ? [{ type: 'PLTE', content: new Uint8Array(6) }] : [];
          readSpr(of(head, ...palette, note, body, END));
        }
      }
    }
  });

  it('may have a side of 4096 pixels; 4097 and 0 are refused before anything else is read', () => {
    const side = SHEET_SIDE_PIXELS_MAX;
    for (const width of [side - 1, side]) readSpr(spr({ width, height: 1 }, sized(width, 1)));
    for (const height of [side - 1, side]) readSpr(spr({ width: 1, height }, sized(1, height)));
    for (const [width, height] of [
      [side + 1, 1],
      [1, side + 1],
      [0, 1],
      [1, 0],
      [2 ** 31, 2 ** 31],
    ]) {
      refused(of(header({ width, height }), pixels(1), END), 'IHDR', /a side has 1 to 4096/);
    }
  });

  it('are accepted in the largest sheet at 4 bytes a pixel, and refused at 8', () => {
    const largest = { width: SHEET_SIDE_PIXELS_MAX, height: SHEET_SIDE_PIXELS_MAX };
    assert.equal(rawBytes({ ...largest, bitDepth: 8, colourType: 6, interlaced: false }), RAW_BYTES_MAX);
    readSpr(spr(largest, sized(4096, 4096)));
    const deep = { ...largest, bitDepth: 16 };
    refused(of(header(deep), text(JSON.stringify(sized(4096, 4096))), pixels(1), END), 'IHDR', /at most 67112960/);
  });

  it('are refused when they inflate to one byte more, one less, a thousand times more, or not at all', () => {
    const [head, note] = chunksOf();
    const exact = rawBytes({ width: 16, height: 8, bitDepth: 8, colourType: 6, interlaced: false });
    readSpr(of(head, note, pixels(exact), END));
    refused(of(head, note, pixels(exact + 1), END), 'IDAT', /more than the 520/);
    refused(of(head, note, pixels(exact - 1), END), 'IDAT', /inflate to 519/);
    refused(of(head, note, pixels(500_000_000), END), 'IDAT', /more than the 520/);
    refused(of(head, note, { type: 'IDAT', content: new Uint8Array(30) }, END), 'IDAT', /zlib/);
    const cut = pixels(exact).content.subarray(0, 8);
    refused(of(head, note, { type: 'IDAT', content: cut }, END), 'IDAT', /zlib|inflate to/);
  });

  it('are refused with bytes hidden after them, or with a filter that PNG does not define', () => {
    const [head, note, body] = chunksOf();
    const tail = new Uint8Array([...body.content, 1, 2, 3]);
    refused(of(head, note, { type: 'IDAT', content: tail }, END), 'IDAT', /follow the pixels/);
    const raw = new Uint8Array(520);
    raw[65] = 5; // the second row's filter
    refused(of(head, note, { type: 'IDAT', content: deflateSync(raw) }, END), 'IDAT', /unknown filter/);
  });
});

describe('spr › the description', () => {
  it('follows the vectors of hidden characters, in every text', () => {
    for (const text of hidden.plain.filter((one) => one !== '')) {
      assert.equal(accepted({ name: text }).name, text);
      accepted({ author: text });
    }
    for (const text of hidden.notPlain) {
      refusedJson({ name: text }, /control or invisible/);
      refusedJson({ licence: text }, /control or invisible/);
    }
    for (const text of hidden.onlyMarks) refusedJson({ name: text }, /more than combining marks/);
    for (const text of hidden.notOnlyMarks) assert.equal(accepted({ name: text }).name, text);
  });

  it('has nothing from a prototype', () => {
    const { animations } = accepted({
      animations: { idle: { frames: [0], fps: 1 }, constructor: { frames: [1], fps: 2 } },
    });
    assert.deepEqual(Object.keys(animations), ['idle', 'constructor']);
    assert.equal(animations.toString, undefined);
    const [head, , body] = chunksOf();
    const json = JSON.stringify(BLOB).replace('"animations":{', '"animations":{"__proto__":{"frames":[0],"fps":1},');
    refused(of(head, text(json), body, END), 'json', /animation name/);
  });
});

describe('spr › packing', () => {
  it('keeps the picture, removes forbidden chunks, and replaces an older description', () => {
    const [first, , picture] = chunksOf();
    const photograph = of(
      first,
      { type: 'eXIf', content: new Uint8Array(9) },
      text('old', 'XML\0\0\0\0\0'),
      picture,
      END,
    );
    const bytes = writeSheet(photograph, { ...BLOB, name: 'Zoë' }, crc32);
    assert.equal(readSpr(bytes).description.name, 'Zoë');
    assert.deepEqual(
      readPng(bytes, crc32).chunks.map(({ type }) => type),
      ['IHDR', 'iTXt', 'IDAT', 'IEND'],
    );
    assert.throws(() => writeSheet(photograph, { ...BLOB, name: '' }, crc32), SprRefused);
  });
});
