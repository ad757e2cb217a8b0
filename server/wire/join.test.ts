import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkJoin, checkVersion } from './join.ts';
import { PICTURES } from './pictures.ts';
import { ProblemError } from './problem.ts';
import { JOIN_BYTES_MAX, NAME_BYTES_MAX, SCREEN_MAX, VERSION_LENGTH_MAX } from './rules.ts';

const screen = { width: 1920, height: 1080 };
const SECRET = '00112233445566778899aabbccddeeff';
const LONGEST = 'a'.repeat(NAME_BYTES_MAX);

function refuses(field: string, bodies: readonly unknown[]): void {
  for (const body of bodies) {
    assert.throws(
      () => checkJoin(body),
      (error) => error instanceof ProblemError && error.document.code === 'malformed' && error.document.field === field,
      `${field}: ${JSON.stringify(body)}`,
    );
  }
}

describe('the version of a page in its join', () => {
  it('may be left out, and is malformed when it is no version', () => {
    assert.equal(checkVersion({ screen }), '');
    assert.equal(checkVersion({ screen, version: '0.3.0' }), '0.3.0');
    for (const version of [3, null, [], {}, '', ' ', 'a b', 'v'.repeat(VERSION_LENGTH_MAX + 1)]) {
      assert.throws(
        () => checkVersion({ screen, version }),
        (error) => error instanceof ProblemError && error.document.field === 'version',
      );
    }
  });
});

describe('join', () => {
  it('needs a screen and nothing else', () => {
    assert.deepEqual(checkJoin({ screen }), { name: '' });
    assert.deepEqual(checkJoin(JSON.parse('{"screen":{"width":1,"height":1}}')), { name: '' });
  });

  it('may have a name, a world and a friend', () => {
    const join = checkJoin({ name: 'Ada', world: 'office', near: `1a2b.${SECRET}`, screen });
    const near = { slot: 0x1a2b, secret: [0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff] };
    assert.deepEqual(join, { name: 'Ada', world: 'office', near });
  });

  it('drops unknown members, also the one that the worker sets', () => {
    const join = checkJoin(
      JSON.parse('{"screen":{"width":9,"height":9,"x":1},"address":"x","token":"x","__proto__":{"world":"w"}}'),
    );
    assert.deepEqual(join, { name: '' });
  });

  it('stores names in NFC without space around them, so that one name is one world', () => {
    const join = checkJoin({ name: ' Ba\u0308r\n', world: '\tcafe\u0301 ', screen });
    assert.deepEqual(join, { name: 'Bär', world: 'café' });
  });

  it('is malformed in its body when it is not an object', () => {
    refuses('body', [null, undefined, 1, 'x', true, [], [{ screen }]]);
  });

  it('is malformed in its name', () => {
    checkJoin({ name: LONGEST, screen });
    const wrong = [
      1,
      true,
      [],
      {},
      `${LONGEST}a`,
      '😀'.repeat(17),
      'a\0b',
      'a\nb',
      'a\u202eb',
      'a\u061cb',
      '\ud800',
      'a\u200bb',
    ];
    refuses(
      'name',
      wrong.map((name) => ({ name, screen })),
    );
  });

  it('is malformed in its world, also when that is empty', () => {
    checkJoin({ world: LONGEST, screen });
    const wrong = ['', '  ', 1, null, [], {}, `${LONGEST}a`, 'a\x7fb', 'a\u2069b', '\udfff'];
    refuses(
      'world',
      wrong.map((world) => ({ world, screen })),
    );
  });

  it('is malformed in its pictures when these are not a policy', () => {
    for (const pictures of PICTURES) assert.equal(checkJoin({ pictures, screen }).pictures, pictures);
    const wrong = ['', 'Any', 'none', 0, null, ['any'], {}];
    refuses(
      'pictures',
      wrong.map((pictures) => ({ pictures, screen })),
    );
  });

  it('is malformed in its choices when these are neither true nor false', () => {
    for (const field of ['stage', 'named'] as const) {
      for (const choice of [true, false]) assert.equal(checkJoin({ [field]: choice, screen })[field], choice);
      refuses(
        field,
        ['true', 1, 0, null, [], {}].map((choice) => ({ [field]: choice, screen })),
      );
    }
  });

  it('is malformed in its friend when that is not an invitation, such as an id', () => {
    const wrong = [
      '',
      'Ada',
      '1a2b',
      '1a2b-3f',
      `1a2b-3f.${SECRET}`,
      `1000000.${SECRET}`,
      `1A.${SECRET}`,
      '1a2b-0',
      '1000000-1',
      '0-100000000',
      '01-1',
      '1A-1',
      '1-1.00',
      1,
      null,
      {},
      ['1-1'],
    ];
    refuses(
      'near',
      wrong.map((near) => ({ near, screen })),
    );
  });

  it('is malformed in its screen', () => {
    refuses('screen', [{}, { screen: null }, { screen: 1920 }, { screen: '1920x1080' }]);
    for (const side of ['width', 'height']) {
      for (const good of [1, 1.5, SCREEN_MAX - 1, SCREEN_MAX]) checkJoin({ screen: { ...screen, [side]: good } });
      const wrong = [
        0,
        0.999,
        -1,
        SCREEN_MAX + 0.001,
        SCREEN_MAX + 1,
        1e300,
        Number.NaN,
        '1920',
        null,
        undefined,
        [1],
        {},
      ];
      refuses(
        `screen.${side}`,
        wrong.map((value) => ({ screen: { ...screen, [side]: value } })),
      );
    }
  });

  it('fits into JOIN_BYTES_MAX at its longest, even with every character escaped', () => {
    const name = '\\u0061'.repeat(NAME_BYTES_MAX);
    const body = `{"name":"${name}","world":"${name}","near":"ffffff.${SECRET}","screen":{"width":65535,"height":65535}}`;
    assert.ok(Buffer.byteLength(body) <= JOIN_BYTES_MAX);
    assert.equal(checkJoin(JSON.parse(body)).world, LONGEST);
  });
});
