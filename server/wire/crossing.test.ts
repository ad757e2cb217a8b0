import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../test/random.ts';
import { checkCrossing, readCrossing } from './crossing.ts';
import { ProblemError } from './problem.ts';
import {
  ANIMATION_LENGTH_MAX,
  CROSSING_BYTES_MAX,
  EDGES,
  type EdgeNumber,
  GOAL_BYTES_MAX,
  GOAL_STEPS_MAX,
  JOURNEY_BYTES_MAX,
  JOURNEY_HOPS_MAX,
  NAME_BYTES_MAX,
  opposite,
  PASSAGE_BYTES_MAX,
  SCALE_MAX,
  SCALE_MIN,
  SPEED_MAX,
} from './rules.ts';

const FILE = '0123456789abcdef'.repeat(4);
const GOOD = {
  crossing: 17,
  edge: 'right',
  at: 0.25,
  vx: 900,
  vy: -50,
  sprite: { file: FILE, name: 'Blob', animation: 'fall', facing: 'right', scale: 2 },
};
const LARGEST = Number.MAX_SAFE_INTEGER;

/** GOOD with another value for the member at a path like `sprite.name`; undefined removes it. */
function withMember(path: string, value: unknown): unknown {
  const body = structuredClone(GOOD) as Record<string, unknown>;
  const [outer, inner] = path.split('.');
  const holder = inner === undefined ? body : (body[outer] as Record<string, unknown>);
  holder[inner ?? outer] = value;
  return JSON.parse(JSON.stringify(body));
}

function refusalOf(read: () => unknown): { code: string; field?: string } {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof ProblemError, String(error));
    const { code, field } = error.document;
    return field === undefined ? { code } : { code, field };
  }
  assert.fail('was accepted');
}

function refuses(path: string, values: readonly unknown[]): void {
  for (const value of values) {
    const refusal = refusalOf(() => checkCrossing(withMember(path, value)));
    assert.deepEqual(refusal, { code: 'malformed', field: path }, `${path} = ${JSON.stringify(value)}`);
  }
}

function accepts(path: string, values: readonly unknown[]): void {
  for (const value of values) assert.doesNotThrow(() => checkCrossing(withMember(path, value)), JSON.stringify(value));
}

const memberOf = (body: unknown) => JSON.parse(`{${checkCrossing(body).passage}`);
const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

/** A number in (-1, 1) whose text is as long as possible. */
const LONGEST_FRACTION = -0.0000012345678901234567;

describe('crossing', () => {
  it('is read as its number, its edge and the passage that the neighbour gets', () => {
    assert.deepEqual(readCrossing(bytesOf(GOOD)), {
      crossing: 17,
      edge: 1,
      passage:
        `"edge":"left","at":0.25,"vx":900,"vy":-50,"sprite":{"file":"${FILE}",` +
        '"name":"Blob","animation":"fall","facing":"right","scale":2}}',
    });
  });

  it('enters by the edge opposite to the one by which it left', () => {
    const entries = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' };
    for (const [edge, entry] of Object.entries(entries)) {
      const { edge: number } = checkCrossing(withMember('edge', edge));
      assert.equal(EDGES[number], edge);
      assert.equal(EDGES[opposite(number)], entry);
      assert.equal(memberOf(withMember('edge', edge)).edge, entry);
    }
    for (const edge of [0, 1, 2, 3] as EdgeNumber[]) assert.equal(opposite(opposite(edge)), edge);
  });

  it('has the limits that the protocol promises', () => {
    assert.deepEqual([CROSSING_BYTES_MAX, SPEED_MAX, SCALE_MIN, SCALE_MAX], [1024, 20_000, 0.25, 16]);
  });

  it('is read from the middle of a buffer', () => {
    const body = bytesOf(GOOD);
    const around = Buffer.concat([Buffer.from('}{'), body, Buffer.from('{"')]);
    assert.deepEqual(readCrossing(around, 2, 2 + body.length), readCrossing(body));
  });

  it('has one canonical passage, for any order, spacing, number form or escapes', () => {
    const sprite = `{"scale":2.0,"facing":"right","animation":"fall","name":"\\u0042lob","file":"${FILE}"}`;
    const other = `\t{ "sprite" : ${sprite} , "vy":-5e1 , "vx":9.00e2 , "at":0.250 , "edge":"right" , "crossing":1.7e1 }\n`;
    assert.deepEqual(readCrossing(bytesOf(other)), readCrossing(bytesOf(GOOD)));
    assert.equal(memberOf(withMember('sprite.name', ' Ba\u0308r ')).sprite.name, 'Bär');
    assert.ok(checkCrossing({ ...GOOD, at: -0, vx: -0 }).passage.includes('"at":0,"vx":0,'));
  });

  it('drops unknown members, also those named like a prototype', () => {
    const extra = '"x":1,"__proto__":{"vx":1},"constructor":[],"from":{"desktop":"0-1"}';
    const plain = JSON.stringify(GOOD);
    const stuffed = `${plain.slice(0, -2)},${extra}},${extra}}`;
    assert.deepEqual(readCrossing(bytesOf(stuffed)), readCrossing(bytesOf(plain)));
    const inherited = `{"__proto__":${plain}}`;
    assert.deepEqual(
      refusalOf(() => readCrossing(bytesOf(inherited))),
      { code: 'malformed', field: 'crossing' },
    );
  });

  it('has defaults for the optional members of a sprite', () => {
    const { sprite } = memberOf(withMember('sprite', { file: FILE }));
    assert.deepEqual(sprite, { file: FILE, name: '', animation: 'fall', facing: 'right', scale: 1 });
  });

  it('is refused as too large above CROSSING_BYTES_MAX, before it is parsed', () => {
    const body = JSON.stringify(GOOD);
    const padded = (length: number) => bytesOf(body.padEnd(length));
    assert.doesNotThrow(() => readCrossing(padded(CROSSING_BYTES_MAX - 1)));
    assert.doesNotThrow(() => readCrossing(padded(CROSSING_BYTES_MAX)));
    assert.deepEqual(
      refusalOf(() => readCrossing(padded(CROSSING_BYTES_MAX + 1))),
      { code: 'too-large' },
    );
    assert.deepEqual(
      refusalOf(() => readCrossing(Buffer.alloc(CROSSING_BYTES_MAX + 1, '['))),
      { code: 'too-large' },
    );
    const around = Buffer.concat([padded(CROSSING_BYTES_MAX), Buffer.alloc(100)]);
    assert.doesNotThrow(() => readCrossing(around, 0, CROSSING_BYTES_MAX));
  });

  it('is malformed in its body when that is not JSON in UTF-8', () => {
    const text = JSON.stringify(GOOD);
    const notUtf8 = [Buffer.from([0x22, 0xff, 0x22]), Buffer.from(text, 'utf16le'), Buffer.from('"\xe9"', 'latin1')];
    notUtf8.push(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), Buffer.from([0x22, 0xc0, 0xaf, 0x22]));
    // Also inside a string.
    notUtf8.push(Buffer.from(text.replace('Blob', 'Bl\xf6b'), 'latin1'));
    notUtf8.push(Buffer.from(text.replace('Blob', '\xed\xa0\xbd'), 'latin1'));
    const notJson = ['', ' ', '{', `${text}}`, `${text},`, "{'crossing':1}", 'NaN', '[[[['.repeat(200), '\0'].map(
      bytesOf,
    );
    for (const body of [...notUtf8, ...notJson, bytesOf(text).subarray(0, -1)]) {
      assert.deepEqual(
        refusalOf(() => readCrossing(body)),
        { code: 'malformed', field: 'body' },
        body.toString('latin1'),
      );
    }
  });

  it('is malformed in its body when that is not an object', () => {
    for (const body of ['null', '17', '"x"', 'true', '[]', `[${JSON.stringify(GOOD)}]`]) {
      assert.deepEqual(
        refusalOf(() => readCrossing(bytesOf(body))),
        { code: 'malformed', field: 'body' },
        body,
      );
    }
  });

  it('has a whole number from 1 to 2^53 - 1', () => {
    accepts('crossing', [1, 2, LARGEST - 1, LARGEST]);
    refuses('crossing', [0, -1, LARGEST + 1, 1e300, 1.5, '17', null, true, [17], {}, undefined]);
  });

  it('has one of four edges', () => {
    accepts('edge', [...EDGES]);
    refuses('edge', ['', 'Right', 'right ', 'up', 'rightleft', 0, 1, null, ['right'], { right: 1 }, undefined]);
  });

  it('has a position along the edge from 0 to 1', () => {
    accepts('at', [0, Number.MIN_VALUE, 1 - Number.EPSILON, 1]);
    refuses('at', [-Number.MIN_VALUE, 1 + Number.EPSILON, -1, 2, '0.5', null, false, [0.5], {}, undefined]);
    assert.deepEqual(
      refusalOf(() => readCrossing(bytesOf(JSON.stringify(GOOD).replace('0.25', '1e999')))),
      { code: 'malformed', field: 'at' },
    );
  });

  it('has speeds up to SPEED_MAX in each direction', () => {
    for (const axis of ['vx', 'vy']) {
      accepts(axis, [0, SPEED_MAX - 1, SPEED_MAX, -SPEED_MAX]);
      refuses(axis, [SPEED_MAX + 0.001, -SPEED_MAX - 0.001, SPEED_MAX + 1, 1e300, '1', null, true, [], {}, undefined]);
    }
  });

  it('has a sprite that is an object', () => {
    refuses('sprite', [null, undefined, 'Blob', 1, true, [], [GOOD.sprite]]);
  });

  it('names its file by 64 lowercase hex digits', () => {
    accepts('sprite.file', ['0'.repeat(64), 'f'.repeat(64)]);
    const wrong = [
      FILE.slice(1),
      `${FILE}0`,
      FILE.toUpperCase(),
      `${FILE.slice(1)}g`,
      ` ${FILE.slice(1)}`,
      `${FILE}\n`,
    ];
    refuses('sprite.file', [...wrong, '', '../../../../etc/passwd', 1, null, [FILE], {}, undefined]);
  });

  it('has a name of at most NAME_BYTES_MAX bytes without control or invisible characters', () => {
    accepts('sprite.name', [
      '',
      'a'.repeat(NAME_BYTES_MAX - 1),
      'a'.repeat(NAME_BYTES_MAX),
      '😀'.repeat(16),
      undefined,
    ]);
    refuses('sprite.name', [
      'a'.repeat(NAME_BYTES_MAX + 1),
      '😀'.repeat(17),
      'a\0b',
      'a\x1b[31m',
      'a\u202eb',
      'a\u2066b',
    ]);
    refuses('sprite.name', ['a\u2028b', 'a\u200bb', 1, true, [], {}]);
    for (const escaped of ['\\ud800', '\\udc00a', 'a\\ud83d\\u0041']) {
      const text = JSON.stringify(GOOD).replace('Blob', escaped);
      assert.deepEqual(
        refusalOf(() => readCrossing(bytesOf(text))),
        { code: 'malformed', field: 'sprite.name' },
      );
    }
  });

  it('measures a name after it is normalized: in composed letters, without the space around it', () => {
    accepts('sprite.name', [`  ${'a\u0308'.repeat(NAME_BYTES_MAX / 2)}  `]);
    // U+FB2C has no composed form in NFC: three characters, six bytes.
    accepts('sprite.name', ['\ufb2c'.repeat(10)]);
    refuses('sprite.name', ['\ufb2c'.repeat(11)]);
  });

  it('names its animation in at most ANIMATION_LENGTH_MAX of a-z, 0-9 and -', () => {
    accepts('sprite.animation', [
      'a',
      'walk-2',
      'a'.repeat(ANIMATION_LENGTH_MAX - 1),
      'a'.repeat(ANIMATION_LENGTH_MAX),
    ]);
    refuses('sprite.animation', ['a'.repeat(ANIMATION_LENGTH_MAX + 1), '', 'Fall', '2fall', '-fall', 'fa ll', 'fäll']);
    refuses('sprite.animation', ['fall\n', 1, true, [], {}]);
  });

  it('faces left or right', () => {
    accepts('sprite.facing', ['left', 'right', undefined]);
    refuses('sprite.facing', ['', 'top', 'Left', 1, false, ['left'], {}]);
  });

  it('has a scale from SCALE_MIN to SCALE_MAX', () => {
    accepts('sprite.scale', [SCALE_MIN, SCALE_MIN + Number.EPSILON, SCALE_MAX - 0.001, SCALE_MAX, undefined]);
    refuses('sprite.scale', [SCALE_MIN - Number.EPSILON, SCALE_MAX + 0.001, 0, -1, '2', true, [], {}]);
  });

  it('may have a journey, which is the last member of its sprite', () => {
    const journey = { hops: 17, since: 1_795_824_000, by: 'Zoe', from: ['Ada', 'Bob'] };
    const withJourney = (given: unknown) => ({ ...GOOD, sprite: { ...GOOD.sprite, journey: given } });
    const plain = checkCrossing(GOOD).passage;
    const { passage } = checkCrossing(
      withJourney({ extra: 1, from: [' Ada', 'Bob'], by: 'Zoe', since: 1_795_824_000, hops: 17 }),
    );
    assert.equal(passage, `${plain.slice(0, -2)},"journey":${JSON.stringify(journey)}}}`);
    const short = checkCrossing(withJourney({ hops: 1, since: 0 })).passage;
    assert.ok(short.endsWith('"journey":{"hops":1,"since":0,"by":"","from":[]}}}'));
    for (const none of [undefined, null]) assert.equal(checkCrossing(withJourney(none)).passage, plain);
  });

  it('is refused with a journey that is hostile or wrong, and told where', () => {
    const journey = { hops: 17, since: 1_795_824_000, by: 'Zoe', from: ['Ada', 'Bob'] };
    const refusesJourney = (field: string, values: readonly unknown[]) => {
      for (const value of values) {
        const [, member] = field.split(/[.[]/);
        const given = member === undefined ? value : { ...journey, [member]: value };
        assert.deepEqual(
          refusalOf(() => checkCrossing({ ...GOOD, sprite: { ...GOOD.sprite, journey: given } })),
          { code: 'malformed', field: `sprite.${field}` },
          JSON.stringify(value),
        );
      }
    };
    refusesJourney('journey', ['17 desktops', 17, true, [], [journey]]);
    refusesJourney('journey.hops', [undefined, null, 0, -1, 1.5, '17', JOURNEY_HOPS_MAX + 1, 1e300, [17], {}]);
    refusesJourney('journey.since', [undefined, null, -1, 0.5, 2 ** 32, '0', {}]);
    refusesJourney('journey.by', [7, [], {}, 'a\0b', 'a'.repeat(NAME_BYTES_MAX + 1)]);
    refusesJourney('journey.from', ['Ada', 7, {}, ['a', 'b', 'c', 'd', 'e']]);
    refusesJourney('journey.from[1]', [
      ['Ada', ''],
      ['Ada', 7],
      ['Ada', null],
      ['Ada', ['Bob']],
      ['Ada', '\u202e'],
    ]);
    const long = { hops: 1, since: 0, by: '', from: ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(26)] };
    assert.equal(JSON.stringify(long).length, JOURNEY_BYTES_MAX);
    assert.doesNotThrow(() => checkCrossing({ ...GOOD, sprite: { ...GOOD.sprite, journey: long } }));
    refusesJourney('journey', [{ ...long, hops: 10 }]);
  });

  it('may have a goal: a name and how far that is, which the passage has behind the sprite, and only then', () => {
    const goal = { name: 'Carol', column: 3, row: -1 };
    const { passage } = checkCrossing({ ...GOOD, goal: { row: -1.0, extra: 1, column: 3, name: ' Carol ' } });
    assert.equal(passage, `${checkCrossing(GOOD).passage.slice(0, -1)},"goal":${JSON.stringify(goal)}}`);
    for (const none of [undefined, null])
      assert.equal(checkCrossing({ ...GOOD, goal: none }).passage, checkCrossing(GOOD).passage);
  });

  it('is refused with a goal that is hostile or wrong, and told where', () => {
    const goal = { name: 'Carol', column: 3, row: -1 };
    const refusesGoal = (field: string, values: readonly unknown[]) => {
      for (const value of values) {
        const [, member] = field.split('.');
        const body = { ...GOOD, goal: member === undefined ? value : { ...goal, [member]: value } };
        assert.deepEqual(
          refusalOf(() => checkCrossing(body)),
          { code: 'malformed', field },
          JSON.stringify(value),
        );
      }
    };
    refusesGoal('goal', ['Carol', 7, true, [], [goal]]);
    refusesGoal('goal.name', [undefined, null, '', '  ', 7, [], 'a\0b', 'a\u202eb', 'a'.repeat(NAME_BYTES_MAX + 1)]);
    for (const axis of ['goal.column', 'goal.row']) {
      refusesGoal(axis, [
        undefined,
        null,
        '1',
        0.5,
        GOAL_STEPS_MAX + 1,
        -GOAL_STEPS_MAX - 1,
        1e300,
        Number.NaN,
        [1],
        {},
      ]);
    }
    // Each quote takes two bytes.
    const name = (quotes: number) => ({ name: '"'.repeat(quotes), column: 3, row: 1 });
    assert.equal(JSON.stringify(name(49)).length, GOAL_BYTES_MAX);
    assert.doesNotThrow(() => checkCrossing({ ...GOOD, goal: name(49) }));
    refusesGoal('goal', [name(50)]);
  });

  it('has a passage of at most PASSAGE_BYTES_MAX bytes with every member at its longest', () => {
    const longest = checkCrossing({
      crossing: LARGEST,
      edge: 'top',
      at: -LONGEST_FRACTION,
      vx: LONGEST_FRACTION,
      vy: LONGEST_FRACTION,
      sprite: {
        file: FILE,
        name: '"'.repeat(NAME_BYTES_MAX),
        animation: 'a'.repeat(ANIMATION_LENGTH_MAX),
        facing: 'right',
        scale: 1.2345678901234567,
        journey: { hops: 1, since: 0, by: '', from: ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(26)] },
      },
      goal: { name: '"'.repeat(47), column: -GOAL_STEPS_MAX, row: -GOAL_STEPS_MAX },
    }).passage;
    const longestNumber = String(LONGEST_FRACTION).length;
    assert.ok(longestNumber >= 25, String(LONGEST_FRACTION));
    const bytes = Buffer.byteLength(longest);
    assert.ok(bytes <= PASSAGE_BYTES_MAX, `${bytes} bytes`);
    assert.ok(bytes > PASSAGE_BYTES_MAX * 0.9, `the limit is not too generous: ${bytes} bytes`);
  });

  it('has a passage of at most PASSAGE_BYTES_MAX bytes for any numbers (seeded)', (t) => {
    const random = randomOf(t);
    const view = new DataView(new ArrayBuffer(8));
    const numbers: number[] = [];
    while (numbers.length < 30_000) {
      view.setUint32(0, random() * 2 ** 32);
      view.setUint32(4, random() * 2 ** 32);
      const value = view.getFloat64(0);
      if (Math.abs(value) <= SPEED_MAX) numbers.push(value);
    }
    for (let n = 0; n + 2 < numbers.length; n += 3) {
      const [at, vx, vy] = numbers.slice(n, n + 3);
      const body = {
        ...GOOD,
        at: Math.abs(at) % 1,
        vx,
        vy,
        sprite: { ...GOOD.sprite, name: '"'.repeat(NAME_BYTES_MAX) },
      };
      const { passage } = checkCrossing(body);
      assert.ok(passage.length <= PASSAGE_BYTES_MAX, passage);
      const read = JSON.parse(`{${passage}`);
      assert.deepEqual([read.at, read.vx, read.vy], [body.at, vx, vy]);
    }
  });
});
