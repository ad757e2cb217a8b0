/** Bodies of crossings, usual, unusual and invalid. All readers of crossings must agree on each of them. */
import { CROSSING_MEMBERS, EDGES, SPRITE_MEMBERS } from '../wire/rules.ts';

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
  for (const goal of ['null', '{"name":"Carol","column":3,"row":-1}', '{"name":"","column":3,"row":-1}']) {
    yield Buffer.from(USUAL.replace(/\}$/, `,"goal":${goal}}`));
  }
  const [before, , after] = USUAL.split(/("name".*"scale":2)/);
  for (const optional of [
    '',
    '"name":"Blob"',
    '"scale":2,"facing":"left"',
    '"animation":"walk", "name" : "Blob"',
    '"name":null',
  ]) {
    yield Buffer.from(`${optional === '' ? before.slice(0, -1) : before + optional}${after}`);
  }
  for (const member of ['"at":0.25,', '"crossing":17,', '"edge":"right",', `"file":"${FILE}",`]) {
    yield Buffer.from(USUAL.replace(member, ''));
  }
  // The largest body, and one byte more.
  for (const length of [1024, 1025]) yield Buffer.from(USUAL.padEnd(length));
  yield Buffer.from(`{"edge":"left",${USUAL.slice(1)}`);
  yield Buffer.from(USUAL.replace('{"crossing":17,', '{"crossing":17,"crossing":18,'));
  yield Buffer.from(USUAL.replace('"right","scale"', '"up","scale"'));
  for (const edge of [...EDGES, 'leftt', 'lef', '']) {
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

const REQUIRED = Object.keys(CROSSING_MEMBERS);
const OPTIONAL = Object.keys(SPRITE_MEMBERS).filter((member) => member !== 'file');
const SPACES = ['', '', '', '', ' ', '\n', '\t', '\r', '  ', '\v'];

/**
 * Yields `count` bodies with the members in random order, some missing, with spaces between them. A body in ten has a strange value,
 * an unknown or repeated member, or a random byte. `random` returns 0 … 1.
 */
export function* arrangedBodies(count: number, random: () => number): Generator<Buffer> {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(from: readonly T[]) => from[below(from.length)];
  for (let n = 0; n < count; n++) {
    const isStrange = random() < 0.1;
    const spaced = random() < 0.3;
    const space = () => (spaced ? pick(isStrange ? SPACES : SPACES.slice(0, -1)) : '');
    const rare = (usual: string, strange: () => string) => (isStrange && random() < 0.15 ? strange() : usual);
    const value = (member: string): string => {
      if (member === 'sprite') return object(['file', ...OPTIONAL.filter(() => random() < 0.6)]);
      if (['file', 'name', 'edge', 'animation', 'facing'].includes(member)) {
        const usual = { file: FILE, name: pick(['Blob', '', 'a b', 'x'.repeat(64)]), edge: pick(EDGES) }[member];
        const shown = member === 'facing' ? pick(['left', 'right']) : (usual ?? pick(['fall', 'w1-', 'a'.repeat(32)]));
        return rare(`"${shown}"`, () => pick([`"${pick(TEXTS)}"`, 'null', pick(NUMBERS)]));
      }
      const usual = {
        crossing: String(1 + below(1e15)),
        at: String(below(1001) / 1000),
        scale: pick(['0.25', '1', '2', '15.75', '16']),
      }[member];
      return rare(usual ?? String((below(4e6) - 2e6) / 100), () => pick([...NUMBERS, 'null', '[]', '{}']));
    };
    const object = (members: string[]): string => {
      const shuffled = random() < 0.5 ? [...members] : members.toSorted(() => random() - 0.5);
      if (isStrange && random() < 0.3)
        shuffled.splice(below(shuffled.length + 1), below(2), pick([...shuffled, 'mood', '']));
      const pairs = shuffled.map((member) => `${space()}"${member}"${space()}:${space()}${value(member)}${space()}`);
      return `{${pairs.join(',')}${rare('', () => ',')}}`;
    };
    const body = Buffer.from(`${space()}${object(REQUIRED)}${space()}`);
    if (isStrange && random() < 0.3) body[below(body.length)] = below(256);
    yield body;
  }
}
