import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProblemError } from './problem.ts';
import { SPRITE_ID_MAX, STAGE_BYTES_MAX, STAGE_SPRITES_MAX } from './rules.ts';
import { checkPeek, checkShown, checkStage, readStage, SKETCH_HEAD_WORDS, SKETCH_SPRITE_WORDS } from './stage.ts';

const FILE = '0123456789abcdef'.repeat(4);
const OTHER = 'fedcba9876543210'.repeat(4);

type Given = Record<string, unknown>;

const stageOf = (members: Given = {}, sprite: Given = {}) => ({
  ...{ width: 1920, height: 1080, files: [FILE] },
  sprites: [{ id: 7, x: 10, y: 20, ...sprite }],
  ...members,
});

/** The code and the field that something is refused for; empty when it is not. */
function refusal(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    assert.ok(error instanceof ProblemError, String(error));
    const { code, field } = error.document;
    return code === 'malformed' ? (field as string) : code;
  }
  return '';
}

const fieldOf = (members: Given, sprite: Given = {}) => refusal(() => checkStage(stageOf(members, sprite)));

/** The sketch and the JSON of a stage. */
function partsOf(value: unknown) {
  const { body } = checkStage(value);
  const sprites = body.readUInt32LE(4);
  const words = SKETCH_HEAD_WORDS + sprites * SKETCH_SPRITE_WORDS;
  const sketch = Array.from({ length: words }, (_, word) => body.readInt32LE(word * 4));
  return { sketch, json: JSON.parse(`{${body.toString('utf8', words * 4)}`) };
}

describe('a stage', () => {
  it('is rewritten: whole numbers, sprites by id, without unknown members and defaults', () => {
    const { sketch, json } = partsOf({
      ...{ width: 1919.6, height: 1080, files: [FILE, OTHER], extra: 1 },
      sprites: [
        ...[
          { id: 9, file: 1, x: -0.2, y: 2.5, vx: -60.4, vy: 7, animation: 'walk', facing: 'left', scale: 2, extra: 1 },
        ],
        ...[{ id: 3, file: 0, x: 1, y: 2, vx: 0, vy: 0, animation: 'idle', facing: 'right', scale: 1 }],
      ],
    });
    assert.deepEqual(json, {
      ...{ width: 1920, height: 1080, files: [FILE, OTHER] },
      sprites: [
        { id: 3, x: 1, y: 2 },
        { id: 9, file: 1, x: 0, y: 3, vx: -60, vy: 7, animation: 'walk', facing: 'left', scale: 2 },
      ],
    });
    assert.equal(sketch[1], 2);
    assert.deepEqual(
      [sketch.slice(2, 7), sketch.slice(8, 13)],
      [
        [3, 1, 2, 0, 0],
        [9, 0, 3, -60, 7],
      ],
    );
  });

  it('has a sketch that differs when the size of the screen or the look of a sprite does, and only then', () => {
    const files = [FILE, OTHER];
    const sketchOf = (members: Given, sprite: Given) => String(partsOf(stageOf({ files, ...members }, sprite)).sketch);
    const plain = sketchOf({}, {});
    assert.equal(sketchOf({ files: [FILE] }, {}), plain, 'another picture that it does not use');
    assert.equal(sketchOf({ files: [OTHER, FILE] }, { file: 1 }), plain, 'the same picture in another order');
    const others = [
      { file: 1 },
      { animation: 'walk' },
      { facing: 'left' },
      { scale: 2 },
      { id: 8 },
      { x: 11 },
      { vy: 1 },
    ];
    for (const other of others) assert.notEqual(sketchOf({}, other), plain, JSON.stringify(other));
    assert.notEqual(sketchOf({ width: 1921 }, {}), plain);
    assert.notEqual(sketchOf({ height: 1081 }, {}), plain);
  });

  it('must be an object with a size, files and sprites', () => {
    for (const value of [null, 1, 'x', [], undefined])
      assert.equal(
        refusal(() => checkStage(value)),
        'body',
      );
    for (const size of [0, 65_536, '1', null, undefined, Number.NaN]) {
      assert.equal(fieldOf({ width: size }), 'width');
      assert.equal(fieldOf({ height: size }), 'height');
    }
    for (const size of [1, 65_535]) assert.equal(fieldOf({ width: size, height: size }), '');
    for (const list of [null, undefined, {}, 'x', 1]) {
      assert.equal(fieldOf({ files: list }), 'files');
      assert.equal(fieldOf({ sprites: list }), 'sprites');
    }
    for (const file of [FILE.slice(1), FILE.toUpperCase(), 1, null])
      assert.equal(fieldOf({ files: [file] }), 'files[0]');
    assert.equal(fieldOf({ files: [FILE, FILE] }), 'files', 'the same twice');
    assert.equal(fieldOf({ files: [], sprites: [] }), '');
  });

  it('has sprites whose members are checked: at each limit, and one beyond', () => {
    for (const value of [null, 1, 'x', []]) assert.equal(fieldOf({ sprites: [value] }), 'sprites[0]');
    const bounds: [member: string, good: unknown[], bad: unknown[]][] = [
      ['id', [0, SPRITE_ID_MAX], [-1, 1.5, SPRITE_ID_MAX + 1, '1', null, undefined]],
      ['file', [0, undefined], [-1, 0.5, 1, '0']],
      ['x', [-65_535, 65_535], [-65_536, 65_536, '1', null, undefined, Number.NaN]],
      ['y', [-65_535, 65_535], [-65_536, 65_536, '1', null, undefined]],
      ['vx', [-20_000, 20_000, undefined], [-20_001, 20_001, '1']],
      ['vy', [-20_000, 20_000, undefined], [-20_001, 20_001, '1']],
      ['animation', ['a', 'a'.repeat(32), undefined], ['', 'A', '1', 'a'.repeat(33), 'a"b', 1]],
      ['facing', ['left', 'right', undefined], ['up', 1]],
      ['scale', [0.25, 16, undefined], [0.24, 16.1, '1']],
    ];
    for (const [member, good, bad] of bounds) {
      for (const value of good) assert.equal(fieldOf({}, { [member]: value }), '', `${member}: ${value}`);
      for (const value of bad) {
        assert.equal(fieldOf({}, { [member]: value }), `sprites[0].${member}`, `${member}: ${value}`);
      }
    }
    const twice = [1, 2, 1].map((id) => ({ id, x: 0, y: 0 }));
    assert.equal(fieldOf({ sprites: twice }), 'sprites', 'the same id twice');
    assert.equal(fieldOf({ files: [] }), 'sprites[0].file', 'a sprite without a picture');
  });

  it('has at most STAGE_SPRITES_MAX sprites and as many files: one below, at the limit, one above', () => {
    const sprites = (count: number) => Array.from({ length: count }, (_, id) => ({ id, x: 0, y: 0 }));
    assert.equal(fieldOf({ sprites: sprites(STAGE_SPRITES_MAX - 1) }), '');
    assert.equal(fieldOf({ sprites: sprites(STAGE_SPRITES_MAX) }), '');
    assert.equal(fieldOf({ sprites: sprites(STAGE_SPRITES_MAX + 1) }), 'sprites');
    const files = Array.from({ length: STAGE_SPRITES_MAX + 1 }, (_, n) => n.toString(16).padStart(64, '0'));
    assert.equal(fieldOf({ files: files.slice(1) }), 'too-large', '32 hashes are longer than a stage');
    assert.equal(fieldOf({ files }), 'files');
  });

  it('is read from at most STAGE_BYTES_MAX bytes of UTF-8: one below, at the limit, one above', () => {
    const read = (bytes: number) =>
      refusal(() => readStage(Buffer.from(JSON.stringify(stageOf()).padEnd(bytes)), 0, bytes));
    assert.equal(read(STAGE_BYTES_MAX - 1), '');
    assert.equal(read(STAGE_BYTES_MAX), '');
    assert.equal(read(STAGE_BYTES_MAX + 1), 'too-large');
    for (const bad of ['', '{', '{"width":"\xff"}']) {
      const bytes = Buffer.from(bad, 'latin1');
      assert.equal(
        refusal(() => readStage(bytes, 0, bytes.length)),
        'body',
      );
    }
    const body = Buffer.from(`#${JSON.stringify(stageOf())}#`);
    assert.deepEqual(readStage(body, 1, body.length - 1), checkStage(stageOf()));
  });

  it('has at most STAGE_BYTES_MAX bytes of JSON when it is rewritten: one below, at the limit, one above', () => {
    /** A stage whose JSON has so many bytes, by the length of an animation. */
    const written = (bytes: number) => {
      const sprites = Array.from({ length: 28 }, (_, id) => ({ id: 100 + id, x: 1, y: 1, animation: 'a'.repeat(20) }));
      const sized = stageOf({ sprites });
      const missing = bytes - (JSON.stringify(sized).length - 1);
      for (let left = missing, index = 0; left > 0; index++) {
        const more = Math.min(12, left);
        sprites[index].animation += 'a'.repeat(more);
        left -= more;
      }
      return refusal(() => checkStage(sized));
    };
    assert.equal(written(STAGE_BYTES_MAX - 1), '');
    assert.equal(written(STAGE_BYTES_MAX), '');
    assert.equal(written(STAGE_BYTES_MAX + 1), 'too-large');
  });
});

describe('a peek', () => {
  it('has an edge or null', () => {
    assert.deepEqual(
      ['left', 'right', 'top', 'bottom', null].map((edge) => checkPeek({ edge }).edge),
      [0, 1, 2, 3, null],
    );
    for (const edge of ['', 'Left', 0, undefined, [], ['left']])
      assert.equal(
        refusal(() => checkPeek({ edge })),
        'edge',
      );
    for (const value of [null, 1, 'x', []])
      assert.equal(
        refusal(() => checkPeek(value)),
        'body',
      );
  });
});

describe('the switch of the stage', () => {
  it('is true or false', () => {
    assert.deepEqual([checkShown({ stage: true }), checkShown({ stage: false })], [true, false]);
    for (const stage of [0, 'true', null, undefined])
      assert.equal(
        refusal(() => checkShown({ stage })),
        'stage',
      );
    for (const value of [null, true, []])
      assert.equal(
        refusal(() => checkShown(value)),
        'body',
      );
  });
});
