/** Bodies of crossings, usual, unusual and invalid. All readers of crossings must agree on each of them. */

const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';

/** The example of PROTOCOL.md. */
export const USUAL = `{"crossing":17,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{"file":"${FILE}","name":"Blob","animation":"fall","facing":"right","scale":2}}`;

const NUMBERS = [
  ...['0', '-0', '1', '0.5', '0.50', '00', '01', '1.', '.5', '1e-1', '1E2', '-1', '+1', '0.1234567890123456789'],
  ...['0.000001', '0.0000001', '0.00000123', '20000', '20000.1', '-20000', '9007199254740991', '9007199254740992'],
  ...[
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
  ],
];

const TEXTS = [
  ...['', ' ', ' a', 'a ', 'a b', 'é', 'e\u0301', '\\u0041', '\\"', '\\\\', '\u0000', '\u007f', '\u202e', '👾'],
  ...[
    'x'.repeat(64),
    'x'.repeat(65),
    'walk',
    'Walk',
    '-walk',
    'w',
    'w1-',
    '1w',
    'a'.repeat(32),
    'a'.repeat(33),
    '</script>',
  ],
];

/** Yields the usual body cut off at every byte, with each number, text and edge, in other orders, and with more or fewer members. */
export function* listedBodies(): Generator<Buffer> {
  for (let cut = 0; cut <= USUAL.length; cut++) yield Buffer.from(USUAL.slice(0, cut));
  for (const number of NUMBERS) {
    for (const member of ['"at":0.25', '"vx":900', '"crossing":17', '"scale":2']) {
      yield Buffer.from(USUAL.replace(member, `${member.slice(0, member.indexOf(':'))}:${number}`));
    }
  }
  for (const text of TEXTS) for (const word of ['Blob', 'fall']) yield Buffer.from(USUAL.replace(word, () => text));
  yield Buffer.from(USUAL.replaceAll(',', ', '));
  yield Buffer.from(` ${USUAL}`);
  yield Buffer.from(`${USUAL} `);
  yield Buffer.from(USUAL.replace('"scale":2', '"scale":2,"mood":"happy"'));
  yield Buffer.from(USUAL.replace(',"scale":2', ''));
  yield Buffer.from(`{"edge":"left",${USUAL.slice(1)}`);
  yield Buffer.from(USUAL.replace('{"crossing":17,', '{"crossing":17,"crossing":18,'));
  yield Buffer.from(USUAL.replace('"right","scale"', '"up","scale"'));
  for (const edge of ['left', 'right', 'top', 'bottom', 'leftt', 'lef', '']) {
    yield Buffer.from(USUAL.replace('"edge":"right"', `"edge":"${edge}"`));
  }
  for (const length of [63, 65]) yield Buffer.from(USUAL.replace(FILE, 'a'.repeat(length)));
  yield Buffer.from(USUAL.replace(FILE, FILE.toUpperCase()));
  yield Buffer.from(USUAL.replace('Blob', 'x'.repeat(900)));
}

/** Yields `count` bodies with one to three random bytes changed. `random` returns 0 … 1. */
export function* changedBodies(count: number, random: () => number): Generator<Buffer> {
  const below = (limit: number) => Math.floor(random() * limit);
  for (let n = 0; n < count; n++) {
    const body = Buffer.from(USUAL);
    for (let changes = 1 + below(3); changes > 0; changes--) body[below(body.length)] = below(256);
    yield body;
  }
}
