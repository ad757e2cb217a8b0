/** What states the rules of wire/rules.ts once more agrees with it: rules.h, openapi.yaml, the library for Python, PROTOCOL.md, OPERATING.md, SECURITY.md. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { byeMs } from '../domain/returns.ts';
import { SWAPS_OPEN_MAX } from '../domain/slots/swap_requests.ts';
import * as limits from '../domain/state/limits.ts';
import { TIMEOUTS } from '../front/front.ts';
import { PROBLEMS } from '../wire/problem.ts';
import * as rules from '../wire/rules.ts';
import { HEADER, headerOf, OPENAPI, openapiOf, PYTHON, pythonOf } from './rules.ts';

const SERVER = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(SERVER, path), 'utf8');
const protocol = read('PROTOCOL.md');
const security = read('../SECURITY.md');
const REMEDY = 'run `npx node server/tools/rules.ts`, which writes it again';

/** A chapter of PROTOCOL.md. */
function chapter(title: string): string {
  const found = protocol.split(/^(?=## )/m).find((part) => part.startsWith(`## ${title}\n`));
  assert.ok(found, `PROTOCOL.md has no chapter ${title}`);
  return found;
}

/** A number as the documents write it. */
const plain = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 20 });
const seconds = (ms: number) => `${ms / 1000} s`;
const unwrapped = (text: string) => text.replace(/\s+/g, ' ');
const range = (min: number, max: number) =>
  `${min} … ${max === rules.RISING_NUMBER_MAX ? '2⁵³ − 1' : max}`.replace('-', '−');
const kib = (bytes: number) => (bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1024} KiB`);

/** What a row of a table of PROTOCOL.md must say of a member. */
function promises(rule: rules.Member): string[] {
  const otherwise = !('default' in rule)
    ? []
    : [
        rule.default === ''
          ? 'default empty'
          : typeof rule.default === 'string'
            ? `default \`${rule.default}\``
            : `default ${rule.default}`,
      ];
  switch (rule.is) {
    case 'number':
    case 'whole':
      return [range(rule.min, rule.max), ...otherwise];
    case 'person':
      return [`1 … ${rules.NAME_BYTES_MAX} bytes`];
    case 'persons':
      return [`up to ${rule.max} names`];
    case 'rising':
      return [range(1, rules.RISING_NUMBER_MAX)];
    case 'edge':
      return rules.EDGES.map((edge) => `\`${edge}\``);
    case 'file':
      return [`${rules.FILE_DIGITS} lowercase hex digits`];
    case 'name':
      return [`≤ ${rules.NAME_BYTES_MAX} bytes`, ...otherwise];
    case 'animation':
      return [`≤ ${rules.ANIMATION_LENGTH_MAX} characters`, ...otherwise];
    default:
      return otherwise;
  }
}

/** Checks the rows of a chapter: each member has one, with its bounds and its default. `prefix` is before its name. */
function checkRows(title: string, prefix: string, members: Readonly<Record<string, rules.Member>>): void {
  const rows = chapter(title)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1));
  for (const [member, rule] of Object.entries(members)) {
    if (rule.is === 'object') continue;
    // One row may be that of several members: `vx`, `vy`; the prefix is before the first.
    const row = rows.find(([names]) => names.startsWith(` \`${prefix}`) && new RegExp(`[\`.]${member}\``).test(names));
    assert.ok(row, `${title}: ${prefix}${member} has no row`);
    for (const promise of promises(rule))
      assert.ok(row[1].includes(promise), `${prefix}${member}: ${promise}; ${row[1]}`);
  }
}

describe('rules', () => {
  it('are in the header for C++ as they are', () => {
    assert.ok(readFileSync(HEADER, 'utf8') === headerOf(), `wire/rules.h is of other rules: ${REMEDY}`);
  });

  it('are in openapi.yaml as they are, with every type of event', () => {
    const text = readFileSync(OPENAPI, 'utf8');
    assert.ok(text === openapiOf(text), `openapi.yaml is of other rules: ${REMEDY}`);
    const { Event, PlainEvent } = parse(text).components.schemas;
    const types = [...Event.oneOf, ...PlainEvent.oneOf].flatMap(({ properties }) => properties?.type.const ?? []);
    assert.deepEqual(types.sort(), Object.keys(rules.EVENTS).sort());
  });

  it('and times of the page are in the library for Python as they are', () => {
    const text = readFileSync(PYTHON, 'utf8');
    assert.ok(text === pythonOf(text), `sprites_client.py is of other rules: ${REMEDY}`);
  });

  it('of problems have one heading each in PROTOCOL.md, with the status, and each heading has its code', () => {
    const found = [...chapter('Errors').matchAll(/^### `([a-z-]+)`\n(\d{3})\. /gm)];
    const promised = Object.fromEntries(found.map(([, code, status]) => [code, Number(status)]));
    const held = Object.fromEntries(Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]));
    assert.deepEqual(promised, held);
    assert.equal(chapter('Errors').match(/^### /gm)?.length, found.length, 'each heading is a code with a status');
  });

  it('of events are the rows of the table of events in PROTOCOL.md', () => {
    const table = chapter('Poll').split('### Events\n')[1].split('\n### ')[0];
    const [, ...types] = [...table.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, type]) => type); // the first row is the head
    assert.deepEqual(types.sort(), Object.keys(rules.EVENTS).sort());
  });

  it('of members are in the tables of PROTOCOL.md', () => {
    checkRows('Crossings', '', rules.CROSSING_MEMBERS);
    checkRows('Crossings', 'sprite.', rules.SPRITE_MEMBERS);
    checkRows('Crossings', 'journey.', rules.JOURNEY_MEMBERS);
    checkRows('Crossings', 'goal.', rules.GOAL_MEMBERS);
    const { id: _, file: __, ...others } = rules.STAGE_SPRITE_MEMBERS;
    checkRows('Stage', 'sprites[].', others);
    const rising = { is: 'rising' } as const;
    checkRows('Sayings', '', { saying: rising });
  });

  it('of coming back after a restart are in OPERATING.md', () => {
    const [firstMs, lastMs] = [0, 1].map((luck) => byeMs(0, 1, luck));
    const few = (limits.RETURNS_PER_SECOND * lastMs) / 1000;
    assert.ok(
      unwrapped(read('OPERATING.md')).includes(
        `within ${firstMs / 1000} … ${seconds(lastMs)}, each at a time of its own; more than ${plain(few)} are spread over a longer time, so that ${plain(limits.RETURNS_PER_SECOND)} come back in a second`,
      ),
    );
  });

  it('of sizes, rates and times are in PROTOCOL.md', () => {
    const sentences: Record<string, readonly string[]> = {
      'The life of a desktop': [`The first poll must come within ${seconds(rules.FIRST_POLL_MS)} of the join`],
      Join: [
        `≤ ${rules.NAME_BYTES_MAX} bytes, no control`,
        `1 … ${rules.SCREEN_MAX} device-independent px`,
        `1 … ${rules.VERSION_LENGTH_MAX} letters, digits`,
        `"pingSeconds":${rules.PING_MS / 1000},"leaseSeconds":${rules.LEASE_MS / 1000}`,
        `This relay's lease is ${seconds(rules.LEASE_MS)}; that of another one may be ${rules.LEASE_SECONDS_MIN} … ${rules.LEASE_SECONDS_MAX} s`,
        `and ${rules.LEASE_MS / 1000} when there is none`,
      ],
      Poll: [
        `at most ${rules.EVENTS_PER_POLL_MAX} sprites and about ${kib(rules.POLL_BYTES_MAX)}`,
        `${rules.SAYINGS_PER_POLL_MAX}\n  sayings and ${kib(rules.SAYINGS_BYTES_PER_POLL_MAX)}`,
        `it stays below ${kib(rules.RESPONSE_BYTES_MAX)}`,
        `When more than ${limits.PROMPT_POLLS_MAX} polls of a desktop are replaced within ${seconds(limits.PROMPT_POLLS_WINDOW_MS)}`,
        `(± ${rules.PING_JITTER * 100} %)`,
        `The join names them: ${rules.PING_MS / 1000},\n  or what the operator has chosen between ${rules.PING_SECONDS_MIN} and ${rules.PING_SECONDS_MAX}`,
        `silent for longer than ${rules.SILENCE_FACTOR} times that`,
        `0 … ${plain(rules.BYE_MS_MAX)} ms`,
        `≤ ${rules.ANNOUNCEMENT_BYTES_MAX} bytes`,
        `≤ ${rules.SAYING_TEXT_BYTES_MAX} bytes`,
        `at most ${rules.NOTICES_PER_POLL_MAX} in a response`,
        `in worlds of up to ${limits.SMALL_WORLD_MAX} desktops`,
      ],
      Company: [`A private world of up to ${rules.COMPANY_MAX} desktops`, `no poll for ${seconds(rules.AWAY_MS)}`],
      'Changing places': [
        `"leaseMs":${rules.SWAP_LEASE_MS}`,
        `Both bodies are at most ${rules.PEEK_BYTES_MAX} bytes`,
        `(${plain(SWAPS_OPEN_MAX)} questions are open)`,
      ],
      Crossings: [
        `The body is at most ${rules.CROSSING_BYTES_MAX} bytes`,
        `at most ${rules.GOAL_BYTES_MAX} bytes as JSON`,
        `at most ${rules.JOURNEY_BYTES_MAX} bytes as JSON`,
        `remembers ${rules.CROSSINGS_REMEMBERED + 1} numbers`,
        `a number that is ${rules.CROSSINGS_REMEMBERED} or more above`,
        `After ${rules.CROSSINGS_REMEMBERED - 1} more numbers`,
        `the ${plain(limits.ENDED_REMEMBERED_MAX)} desktops that ended last`,
      ],
      Sayings: [
        `1 … ${rules.SAYING_TEXT_BYTES_MAX} bytes`,
        `The body is at most ${rules.SAYING_BODY_BYTES_MAX} bytes`,
        `at most ${plain(limits.HEARERS_MAX)} desktops`,
        `every ${limits.SAYINGS_STEP_MS} ms`,
        `A saying whose text is ${rules.REACTIONS.slice(0, -1).join(', ')} or ${rules.REACTIONS.at(-1)} alone`,
      ],
      Peeks: [
        `The body is at most ${rules.PEEK_BYTES_MAX} bytes`,
        `"leaseMs":${rules.PEEK_LEASE_MS}`,
        `Repeat it every ${seconds(rules.PEEK_LEASE_MS / 2)}`,
        `(${rules.STAGE_TOLERANCE_PX} px), unless that one is ${seconds(rules.STAGE_REFRESH_MS)} old`,
        `After ${seconds(rules.STAGE_SILENCE_MS)} without one, show nothing`,
        `${plain(limits.WATCHED_MAX)} desktops\nare watched`,
      ],
      Stage: [
        `The body is at most ${rules.STAGE_BYTES_MAX} bytes`,
        `1 … ${rules.SCREEN_MAX} device-independent px`,
        `up to ${rules.STAGE_SPRITES_MAX} different hashes`,
        `up to ${rules.STAGE_SPRITES_MAX}: those within`,
        `which of \`files\`; default ${rules.STAGE_SPRITE_MEMBERS.file.default}`,
        `${rules.STAGE_TOLERANCE_PX} px, is new or gone`,
        `at least every ${seconds(rules.STAGE_REFRESH_MS)}`,
      ],
      Socket: [
        `at most ${rules.STAGE_BYTES_MAX} bytes`,
        `more than ${rules.MESSAGES_BURST_MAX} messages at once and ${rules.MESSAGES_PER_SECOND_MAX} a second`,
      ],
      'Sprite files': [`(≤ ${kib(rules.SPR_BYTES_MAX)})`],
      Mutes: [`can mute ${rules.MUTES_MAX} others`],
      Reports: [`≤ ${rules.REASON_BYTES_MAX} bytes`, `At most ${rules.REPORTS_PER_WINDOW_MAX} reports a minute`],
      Errors: [
        `${rules.CROSSING_BYTES_MAX} bytes for a crossing or a saying, ${kib(rules.JOIN_BYTES_MAX)} for a join or a stage, ${rules.PEEK_BYTES_MAX} bytes for a peek`,
        `more than ${rules.CROSSINGS_REMEMBERED} below the highest accepted one`,
        `${rules.CROSSINGS_REMEMBERED} or more above one of this desktop`,
        `More than ${limits.CROSSINGS_PER_SECOND_MAX} throws a second over a longer time, more than ${limits.CROSSINGS_BURST_MAX} at once`,
        `more than ${limits.SAYINGS_PER_SECOND_MAX} sayings a second over a longer time, or more than ${limits.SAYINGS_BURST_MAX} at once`,
        `${rules.STAGES_PER_SECOND_MAX} a second, and ${limits.STAGES_BURST_MAX} at once`,
        `than ${limits.SWAPS_PER_MINUTE_MAX} questions to change places a minute`,
        `mutes ${rules.MUTES_MAX} others`,
        `larger than ${kib(rules.HEAD_BYTES_MAX)}, or there are more than ${rules.HEADERS_MAX} headers`,
        `has ${limits.MAILBOX_EVENTS_MAX} sprites waiting, or ${kib(limits.MAILBOX_BYTES_MAX)} of them`,
      ],
    };
    for (const [title, wanted] of Object.entries(sentences)) {
      const text = unwrapped(chapter(title));
      for (const sentence of wanted) {
        assert.ok(text.includes(unwrapped(sentence)), `PROTOCOL.md, ${title}: “${sentence}”`);
      }
    }
  });

  it('and all limits that SECURITY.md names have the value that stands beside them', () => {
    const rows = security.split('\n').filter((line) => /^\|.*`[A-Z][A-Z_]+[`.]/.test(line));
    assert.ok(rows.length > 40);
    for (const row of rows) {
      const [, names, value] = row.replace(/^\|/, '').split('|');
      for (const [, name] of names.matchAll(/`([A-Z][A-Z_]+|TIMEOUTS\.\w+)`/g)) {
        const values = name.startsWith('TIMEOUTS.')
          ? [TIMEOUTS[name.slice('TIMEOUTS.'.length) as keyof typeof TIMEOUTS]]
          : constants.valuesOf(name);
        assert.ok(values.length > 0, `SECURITY.md names ${name}, which is nowhere`);
        const isThere = values.some((one) => spellings(one).some((text) => isIn(value, text)));
        assert.ok(isThere, `SECURITY.md: ${name} is ${values.join(' or ')}, not ${value}`);
      }
    }
  });
});

/** The constants of the relay by name, as their declarations give them: no module needs to export a limit for this test. */
const constants = (() => {
  const declared = new Map<string, { value: string; file: string }[]>();
  const files = readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/^(?:web|bench|test|tools|native)\/|\.(?:test|contract)\.ts$/.test(path),
  );
  for (const file of files) {
    for (const [, name, value] of read(file).matchAll(/^(?:export )?const ([A-Z][A-Z_]+) = ([\w\s.*/+<()-]+);/gm)) {
      declared.set(name, [...(declared.get(name) ?? []), { value, file }]);
    }
  }
  const evaluated = ({ value, file }: { value: string; file: string }): number => {
    const context: Record<string, unknown> = { EDGES: rules.EDGES };
    for (const [name] of value.matchAll(/\b[A-Z][A-Z_]+\b/g)) {
      const found = declared.get(name) ?? [];
      const nearest = found.find((one) => one.file === file) ?? found[0];
      if (nearest !== undefined) context[name] = evaluated(nearest);
    }
    return runInNewContext(value, context);
  };
  return { valuesOf: (name: string) => (declared.get(name) ?? []).map(evaluated) };
})();

/** The ways in which a value may be written in SECURITY.md. */
function spellings(value: number): string[] {
  const [FRAME] = constants.valuesOf('FRAME_BYTES_TARGET');
  const words = ['', 'one', 'two', 'three', 'four'];
  const texts = [plain(value), `${plain(value / 1000)} s`, `${(value / 1000).toFixed(1)} KB`];
  for (const [unit, bytes] of Object.entries({ KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 })) {
    if (value % bytes === 0) texts.push(`${plain(value / bytes)} ${unit}`);
  }
  if (value === 0.5) texts.push('half');
  if (value === rules.LEASE_MS) texts.push('a lease');
  if (value === 1000) texts.push('each second');
  if (words[value]) texts.push(`${words[value]} times`);
  if (words[value / FRAME]) texts.push(`${words[value / FRAME]} frame`);
  return texts;
}

/** Whether the text is there, and not as a part of a longer number. */
function isIn(whole: string, text: string): boolean {
  return new RegExp(`(?<![\\d.,])${text.replaceAll('.', '\\.')}(?![\\d])(?!,\\d)`).test(whole);
}
