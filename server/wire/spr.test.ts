import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateSync, crc32 as zlibCrc32 } from 'node:zlib';
import { pickFrom, randomOf } from '../test/random.ts';
import {
  ANIMATIONS_MAX,
  BOUNCE_MAX,
  CREDIT_BYTES_MAX,
  FPS_MAX,
  FRAMES_MAX,
  GRAVITY_MAX,
  JSON_BYTES_MAX,
  JUMP_SPEED_MAX,
  WALK_SPEED_MAX,
} from './description.ts';
import vectors from './hidden.vectors.json' with { type: 'json' };
import { CHUNKS_MAX, type Chunk, crc32, rawBytes, readPng, SHEET_SIDE_PIXELS_MAX, writePng } from './png.ts';
import { NAME_BYTES_MAX, SCALE_MAX, SCALE_MIN, SPR_BYTES_MAX } from './rules.ts';
import { writeSheet } from './sheet.ts';
import { RAW_BYTES_MAX, readSpr, SprRefused } from './spr.ts';

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

describe('spr › the file', () => {
  it('is read as it was packed, with every default filled in', () => {
    const { width, height, frames, description } = readSpr(spr());
    assert.deepEqual([width, height, frames], [16, 8, 2]);
    assert.equal(description.name, 'Blob');
    assert.equal(description.scale, 2);
    assert.deepEqual(description.hitbox, [1, 2, 6, 6]);
    assert.deepEqual(description.behaviour, { walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3 });
    assert.deepEqual(description.animations.idle, { frames: [0, 1], fps: 4 });
  });

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

  it('are accepted up to the limit, and refused with one more', () => {
    const many = (count: number) => [
      first,
      ...Array.from({ length: count - 4 }, () => ({ type: 'tIME', content: new Uint8Array(0) })),
      description,
      picture,
      END,
    ];
    readSpr(of(...many(CHUNKS_MAX - 1)));
    readSpr(of(...many(CHUNKS_MAX)));
    refused(of(...many(CHUNKS_MAX + 1)), 'file', /more than 1024 chunks/);
  });

  it('must have exactly one iTXt with the keyword sprite, uncompressed, complete and UTF-8', () => {
    refused(of(first, picture, END), 'iTXt', /0 iTXt/);
    refused(of(first, description, description, picture, END), 'iTXt', /2 iTXt/);
    refused(of(first, text('{}', 'Comment\0\0\0\0\0'), picture, END), 'iTXt', /keyword/);
    refused(of(first, text('{}', 'sprite\0\u0001\0\0\0'), picture, END), 'iTXt', /compressed/);
    refused(of(first, text('', 'sprite\0\0\0'), picture, END), 'iTXt', /before its text/);
    refused(of(first, text('', 'sprite'), picture, END), 'iTXt', /keyword|before|compressed/);
    const broken = new Uint8Array([...text('').content, 0xc3, 0x28]);
    refused(of(first, { type: 'iTXt', content: broken }, picture, END), 'iTXt', /UTF-8/);
  });

  it('are refused when a picture does not need them: profiles, Exif, compressed text', () => {
    for (const type of ['iCCP', 'eXIf', 'zTXt', 'tEXt', 'acTL', 'ABCD']) {
      refused(of(first, { type, content: new Uint8Array(4) }, description, picture, END), type, /has no/);
    }
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
  it('may have 65,536 bytes of JSON; one more is refused', () => {
    const padded = (bytes: number) => {
      const bare = JSON.stringify({ ...BLOB, note: '' }).length;
      return spr({}, { ...BLOB, note: 'x'.repeat(bytes - bare) });
    };
    readSpr(padded(JSON_BYTES_MAX - 1));
    readSpr(padded(JSON_BYTES_MAX));
    refused(padded(JSON_BYTES_MAX + 1), 'iTXt', /65537 bytes/);
  });

  it('is refused when it is not JSON, not an object, of another format, or nested very deeply', () => {
    const [head, , body] = chunksOf();
    for (const json of ['', '{', 'null', '[]', '7', '['.repeat(60_000)]) {
      refused(of(head, text(json), body, END), 'json', /not valid JSON|must be an object/);
    }
    refusedJson({ format: 'spr/2' }, /format must be/);
  });

  it('must have a name of 1 to 64 bytes, in any script', () => {
    for (const name of ['B', 'x'.repeat(NAME_BYTES_MAX - 1), '🐈'.repeat(NAME_BYTES_MAX / 4), 'Тихон', '__proto__']) {
      assert.equal(accepted({ name }).name, name);
    }
    for (const name of ['', 'x'.repeat(NAME_BYTES_MAX + 1), `${'🐈'.repeat(NAME_BYTES_MAX / 4)}x`])
      refusedJson({ name }, /name has/);
    for (const name of [undefined, 7, null, {}]) refusedJson({ name }, /name must be text/);
  });

  it('must not have a name with characters that hide text or change its order', () => {
    for (const name of ['a\u0000b', 'a\nb', 'a\u0085b', 'a\u202eb', 'a\u2066b', 'a\u2028b', 'a\ud800b', 'a\u200bb']) {
      refusedJson({ name }, /control or invisible/);
    }
  });

  it('follows the vectors of hidden characters, in every text', () => {
    for (const text of vectors.plain.filter((one) => one !== '')) {
      assert.equal(accepted({ name: text }).name, text);
      accepted({ author: text });
    }
    for (const text of vectors.notPlain) {
      refusedJson({ name: text }, /control or invisible/);
      refusedJson({ licence: text }, /control or invisible/);
    }
    for (const text of vectors.onlyMarks) refusedJson({ name: text }, /more than combining marks/);
    for (const text of vectors.notOnlyMarks) assert.equal(accepted({ name: text }).name, text);
  });

  it('may leave out author and licence, which have at most 400 bytes', () => {
    for (const field of ['author', 'licence']) {
      for (const length of [0, CREDIT_BYTES_MAX - 1, CREDIT_BYTES_MAX]) accepted({ [field]: 'a'.repeat(length) });
      refusedJson({ [field]: 'a'.repeat(CREDIT_BYTES_MAX + 1) }, new RegExp(`${field} has 401`));
    }
  });

  it('must have frames that divide the sheet', () => {
    for (const frame of [
      { width: 16, height: 8 },
      { width: 4, height: 8 },
    ])
      accepted({ frame, hitbox: [0, 0, 1, 1], animations: { idle: { frames: [0], fps: 1 } } });
    for (const frame of [
      { width: 3, height: 8 },
      { width: 32, height: 8 },
      { width: 0, height: 8 },
      { width: 8.5, height: 8 },
      null,
    ]) {
      refusedJson({ frame }, /frame/);
    }
  });

  it('may have a grid of 512 frames; 513 are refused', () => {
    const idle = (last: number) => ({
      ...BLOB,
      frame: { width: 1, height: 1 },
      hitbox: undefined,
      animations: { idle: { frames: [last], fps: 1 } },
    });
    assert.equal(readSpr(spr({ width: FRAMES_MAX - 1, height: 1 }, idle(FRAMES_MAX - 2))).frames, FRAMES_MAX - 1);
    assert.equal(readSpr(spr({ width: FRAMES_MAX, height: 1 }, idle(FRAMES_MAX - 1))).frames, FRAMES_MAX);
    refused(spr({ width: FRAMES_MAX + 1, height: 1 }, idle(0)), 'json', /513 frames/);
  });

  it('must have 1 to 512 frame numbers in each animation, all inside the grid', () => {
    const frames = (list: unknown) => ({ animations: { idle: { frames: list, fps: 1 } } });
    for (const list of [[0], [1], Array(FRAMES_MAX - 1).fill(1), Array(FRAMES_MAX).fill(1)]) accepted(frames(list));
    for (const list of [[], [2], [-1], [0.5], ['0'], [null], Array(FRAMES_MAX + 1).fill(0), 'idle', undefined]) {
      refusedJson(frames(list), /animations\.idle\.frames/);
    }
  });

  it('must have 0 < fps ≤ 60', () => {
    const at = (fps: unknown) => ({ animations: { idle: { frames: [0], fps } } });
    for (const fps of [0.001, FPS_MAX - 1, FPS_MAX]) assert.equal(accepted(at(fps)).animations.idle.fps, fps);
    for (const fps of [0, -1, FPS_MAX + 1, '4', null, undefined]) refusedJson(at(fps), /fps must be/);
  });

  it('must have idle, and may have 64 animations', () => {
    const many = (count: number) => {
      const names = Array.from({ length: count - 1 }, (_, i) => [`a${i}`, { frames: [0], fps: 1 }]);
      return { animations: { idle: { frames: [0], fps: 1 }, ...Object.fromEntries(names) } };
    };
    for (const count of [1, ANIMATIONS_MAX - 1, ANIMATIONS_MAX]) {
      assert.equal(Object.keys(accepted(many(count)).animations).length, count);
    }
    refusedJson(many(ANIMATIONS_MAX + 1), /65 animations/);
    refusedJson({ animations: { walk: { frames: [0], fps: 1 } } }, /idle is missing/);
    refusedJson({ animations: [] }, /must be an object/);
    for (const name of ['Idle', '', 'a b', 'a'.repeat(33), '-a']) {
      refusedJson({ animations: { idle: { frames: [0], fps: 1 }, [name]: { frames: [0], fps: 1 } } }, /animation name/);
    }
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

  it('must have its hitbox inside the frame', () => {
    for (const hitbox of [
      [0, 0, 8, 8],
      [7, 7, 1, 1],
      [0, 0, 1, 1],
    ])
      assert.deepEqual(accepted({ hitbox }).hitbox, hitbox);
    for (const hitbox of [
      [0, 0, 9, 8],
      [1, 0, 8, 8],
      [8, 0, 1, 1],
      [0, 0, 0, 1],
      [-1, 0, 1, 1],
      [0, 0, 8],
      {},
      [0, 0.5, 1, 1],
    ]) {
      refusedJson({ hitbox }, /hitbox/);
    }
    assert.deepEqual(accepted({ hitbox: undefined }).hitbox, [0, 0, 8, 8]);
  });

  it('may have every number of the behaviour, and the scale, at its limit but not one step beyond', () => {
    const limits: [string, number, number][] = [
      ['walkSpeed', 0, WALK_SPEED_MAX],
      ['jumpSpeed', 0, JUMP_SPEED_MAX],
      ['gravity', 0, GRAVITY_MAX],
      ['bounce', 0, BOUNCE_MAX],
    ];
    for (const [field, min, max] of limits) {
      for (const good of [min, max, max * 0.99]) accepted({ behaviour: { [field]: good } });
      for (const bad of [min - 0.01, max * 1.01, '1', {}]) {
        refusedJson({ behaviour: { [field]: bad } }, new RegExp(`behaviour.${field}`));
      }
    }
    for (const good of [SCALE_MIN, 1, SCALE_MAX]) assert.equal(accepted({ scale: good }).scale, good);
    for (const bad of [SCALE_MIN - 0.01, SCALE_MAX + 0.01, '2']) refusedJson({ scale: bad }, /scale must be/);
    const [head, , body] = chunksOf();
    const infinite = JSON.stringify({ ...BLOB, scale: 1 }).replace('"scale":1', '"scale":1e999');
    refused(of(head, text(infinite), body, END), 'json', /scale/);
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
