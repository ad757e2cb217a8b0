import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCrossing } from './crossing.ts';
import { CrossingReader } from './crossing_reader.ts';
import { ProblemError } from './problem.ts';

const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';
const USUAL = `{"crossing":17,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{"file":"${FILE}","name":"Blob","animation":"fall","facing":"right","scale":2}}`;

/** What a reader makes of a body: the crossing, or the problem's field and detail. */
function outcome(read: (body: Uint8Array) => unknown, body: Uint8Array): unknown {
  try {
    return read(body);
  } catch (error) {
    assert.ok(error instanceof ProblemError);
    return error.document;
  }
}

const reader = new CrossingReader();
function quick(body: Uint8Array): unknown {
  reader.read(body, 0, body.length);
  const { crossing, edge, body: passage, end } = reader;
  return { crossing, edge, passage: passage.toString('utf8', 0, end) };
}

/** A small generator of its own, so that a seed gives the same bodies everywhere. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function same(text: string | Uint8Array): void {
  const body = Buffer.from(text as string);
  assert.deepEqual(outcome(quick, body), outcome(readCrossing, body), body.toString());
}

describe('crossing reader', () => {
  it('reads what the protocol shows, and does not look behind its end', () => {
    same(USUAL);
    const wide = Buffer.from(`##${USUAL}##`);
    reader.read(wide, 2, wide.length - 2);
    assert.equal(reader.crossing, 17);
    for (let cut = 0; cut < USUAL.length; cut++) same(USUAL.slice(0, cut));
  });

  it('gives what readCrossing gives, however a number is written', () => {
    const numbers = [
      '0',
      '-0',
      '1',
      '0.5',
      '0.50',
      '00',
      '01',
      '1.',
      '.5',
      '1e-1',
      '1E2',
      '-1',
      '+1',
      '0.1234567890123456789',
    ];
    numbers.push(
      '0.000001',
      '0.0000001',
      '0.00000123',
      '20000',
      '20000.1',
      '-20000',
      '9007199254740991',
      '9007199254740992',
    );
    numbers.push(
      '999999999999999',
      '1000000000000000',
      '123456.789012345',
      '0.25',
      '16',
      '16.5',
      '0.1',
      '1.0',
      '-0.0',
      'NaN',
      '""',
    );
    for (const number of numbers) {
      same(USUAL.replace('"at":0.25', `"at":${number}`));
      same(USUAL.replace('"vx":900', `"vx":${number}`));
      same(USUAL.replace('"crossing":17', `"crossing":${number}`));
      same(USUAL.replace('"scale":2', `"scale":${number}`));
    }
  });

  it('gives what readCrossing gives, whatever a name or an animation holds', () => {
    const texts = [
      '',
      ' ',
      ' a',
      'a ',
      'a b',
      'é',
      'e\u0301',
      '\\u0041',
      '\\"',
      '\\\\',
      '\u0000',
      '\u007f',
      '\u202e',
      '👾',
      'x'.repeat(64),
    ];
    texts.push('x'.repeat(65), 'walk', 'Walk', '-walk', 'w', 'w1-', '1w', 'a'.repeat(32), 'a'.repeat(33), '</script>');
    for (const text of texts) {
      same(USUAL.replace('"Blob"', `"${text}"`));
      same(USUAL.replace('"fall"', `"${text}"`));
    }
  });

  it('gives what readCrossing gives for other orders, spaces, more members and fewer', () => {
    same(USUAL.replaceAll(',', ', '));
    same(` ${USUAL}`);
    same(`${USUAL} `);
    same(USUAL.replace('"scale":2', '"scale":2,"mood":"happy"'));
    same(USUAL.replace(',"scale":2', ''));
    same(`{"edge":"left",${USUAL.slice(1)}`);
    same(USUAL.replace('{"crossing":17,', '{"crossing":17,"crossing":18,'));
    same(USUAL.replace('"right","scale"', '"up","scale"'));
    for (const edge of ['left', 'right', 'top', 'bottom', 'leftt', 'lef', ''])
      same(USUAL.replace('"edge":"right"', `"edge":"${edge}"`));
    for (const length of [63, 65]) same(USUAL.replace(FILE, 'a'.repeat(length)));
    same(USUAL.replace(FILE, FILE.toUpperCase()));
    same(USUAL.replace('Blob', 'x'.repeat(900)));
  });

  it('gives what readCrossing gives for a body with any byte changed', (t) => {
    const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
    t.diagnostic(`SEED=${seed}`);
    const below = random(seed);
    for (let n = 0; n < 20_000; n++) {
      const body = Buffer.from(USUAL);
      for (let changes = 1 + below(3); changes > 0; changes--) body[below(body.length)] = below(256);
      same(body);
    }
  });
});
