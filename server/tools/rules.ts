/**
 * The rules of wire/rules.ts, and the codes of wire/problem.ts, as others need them: a header for C++, values of openapi.yaml, and
 * lines of the library for Python, which has what the page does, too.
 *
 *   npx node server/tools/rules.ts        after a change of the rules: writes wire/rules.h, openapi.yaml and sprites_client.py again
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isNode, type Node, parseDocument } from 'yaml';
import { HEARERS_MAX } from '../domain/state/limits.ts';
import { REMOVED_MAX } from '../web/relay/arrivals.ts';
import { CROSSINGS_AHEAD_MAX, FORMER_TRIES_MAX } from '../web/relay/departures.ts';
import { MOVES_MAX, MOVES_MS } from '../web/relay/moves.ts';
import * as peek from '../web/relay/peek.ts';
import * as stagePosts from '../web/relay/stage_posts.ts';
import { BACKOFF_MS_FIRST, BACKOFF_MS_MAX, REFUSED_MS_MAX } from '../web/relay/transport.ts';
import { PASSAGE_TEXTS } from '../wire/crossing.ts';
import { PROBLEMS } from '../wire/problem.ts';
import * as rules from '../wire/rules.ts';

const SERVER = join(import.meta.dirname, '..');
const SOURCE = join(SERVER, 'wire/rules.ts');
export const HEADER = join(SERVER, 'wire/rules.h');
export const OPENAPI = join(SERVER, 'openapi.yaml');
export const PYTHON = join(SERVER, 'libraries/python/sprites_client.py');

/** What is measured, with a fraction or without; beside it are times, in ms, s or leases, and counts. */
const MEASURES = /^(?:SPEED|SCALE|SCREEN|RISING|SPRITE_ID|PING_JITTER)|_PX$|_FACTOR$/;
const TIMES = /_MS(?:_|$)|_SECONDS(?:_|$)|LEASES?$/;

/** The header: wire/rules.h. */
export function headerOf(): string {
  const edges = rules.EDGES.map((edge) => `"${edge}"`).join(', ');
  const kinds = ['number', 'whole', 'rising', 'edge', 'file', 'object', 'name', 'animation', 'facing'];
  return `// The rules that a relay shares with its desktops: those of wire/rules.ts, and the codes of
// wire/problem.ts. \`npx node server/tools/rules.ts\` writes this file; a test compares it.
#ifndef SERVER_WIRE_RULES_H_
#define SERVER_WIRE_RULES_H_

// clang-format off

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rules {

// The edges of a desktop, by their numbers. That of the opposite edge differs in the last bit.
enum class Edge : uint8_t { ${rules.EDGES.map(constant).join(', ')} };
inline constexpr std::array<std::string_view, ${rules.EDGES.length}> kEdgeNames = {${edges}};
constexpr std::string_view NameOf(Edge edge) { return kEdgeNames[static_cast<size_t>(edge)]; }
constexpr Edge Opposite(Edge edge) { return static_cast<Edge>(static_cast<unsigned>(edge) ^ 1U); }

// Units and reasons of the numbers are in wire/rules.ts.
${numbers()}
// What a member must be. One with a default may be left out.
enum class Is : uint8_t { ${kinds.map(constant).join(', ')} };
struct Member {
  std::string_view quoted;  // its name in JSON
  Is is;
  double min;  // of a number
  double max;
  bool is_required;
  std::string_view otherwise;  // its default in JSON, without quotes
};

// The sayings that are shown as reactions: a wave, a heart, a laugh.
inline constexpr std::array<std::string_view, ${rules.REACTIONS.length}> kReactions = {${rules.REACTIONS.map((text) => `"${text}"`).join(', ')}};

${members('The members of a crossing, in the order of a passage.', 'kCrossingMembers', rules.CROSSING_MEMBERS)}
${members("The members of a crossing's sprite, likewise.", 'kSpriteMembers', rules.SPRITE_MEMBERS)}
// The texts of a passage: one before each of its values, and the end. The first value is the edge by
// which the sprite enters; those of kCrossingMembers after \`edge\` and of kSpriteMembers follow.
inline constexpr std::array<std::string_view, ${PASSAGE_TEXTS.length}> kPassageTexts = {{
${PASSAGE_TEXTS.map((text) => `    ${JSON.stringify(text)},`).join('\n')}
}};

// The codes of problems.
namespace codes {
${Object.keys(PROBLEMS)
  .map((code) => `inline constexpr std::string_view ${constant(code)} = "${code}";`)
  .join('\n')}
}  // namespace codes

struct Problem {
  std::string_view code;
  int status;
};
inline constexpr std::array<Problem, ${Object.keys(PROBLEMS).length}> kProblems = {{
${Object.entries(PROBLEMS)
  .map(([code, { status }]) => `    {codes::${constant(code)}, ${status}},`)
  .join('\n')}
}};

}  // namespace rules

// clang-format on

#endif  // SERVER_WIRE_RULES_H_
`;
}

/** Each number of the rules as a constant, in their order. */
function numbers(): string {
  let text = '';
  for (const [, name] of readFileSync(SOURCE, 'utf8').matchAll(/^export const ([A-Z_]+)\b/gm)) {
    const value = (rules as Record<string, unknown>)[name];
    if (typeof value !== 'number') continue;
    const type = MEASURES.test(name) ? 'double' : TIMES.test(name) ? 'int64_t' : 'size_t';
    text += `inline constexpr ${type} ${constant(name)} = ${value};\n`;
  }
  return text;
}

function members(comment: string, name: string, table: Readonly<Record<string, rules.Member>>): string {
  const rows = Object.entries(table).map(([member, rule]) => {
    const [min, max] = 'min' in rule ? [rule.min, rule.max] : [0, 0];
    const [required, otherwise] = 'default' in rule ? [false, String(rule.default)] : [true, ''];
    return `    {"\\"${member}\\"", Is::${constant(rule.is)}, ${min}, ${max}, ${required}, "${otherwise}"},`;
  });
  return `// ${comment}
inline constexpr std::array<Member, ${rows.length}> ${name} = {{
${rows.join('\n')}
}};
`;
}

/** The name of a constant in C++: kNameBytesMax of NAME_BYTES_MAX, kMailboxFull of mailbox-full. */
function constant(name: string): string {
  return `k${name
    .toLowerCase()
    .split(/[_-]/)
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join('')}`;
}

/** The number of a slot, in an id, a token and an invitation. */
const SLOT = '(0|[1-9a-f][0-9a-f]{0,5})';

type Path = readonly (string | number)[];

/** The text of openapi.yaml with the values that the rules have. Everything else stays as it is. */
export function openapiOf(text = readFileSync(OPENAPI, 'utf8')): string {
  const document = new Openapi(text);
  setSizes(document);
  setTimes(document);
  setTexts(document);
  setLists(document);
  setCrossings(document);
  document.setLines(schema('PlainEvent', 'oneOf'), Object.entries<rules.EventRule>(rules.EVENTS).flatMap(plainEventOf));
  document.setMembers('StageSprite', rules.STAGE_SPRITE_MEMBERS);
  return document.changed();
}

const schema = (...path: Path): Path => ['components', 'schemas', ...path];

function setSizes(document: Openapi): void {
  document.set(schema('Edge', 'enum'), listOf(rules.EDGES));
  for (const side of ['width', 'height']) {
    document.set(schema('Join', 'properties', 'screen', 'properties', side, 'maximum'), rules.SCREEN_MAX);
    document.set(schema('Stage', 'properties', side, 'maximum'), rules.SCREEN_MAX);
    document.set(document.event('stage', side, 'maximum'), rules.SCREEN_MAX);
  }
}

function setTimes(document: Openapi): void {
  document.set(schema('Joined', 'properties', 'pingSeconds', 'minimum'), rules.PING_SECONDS_MIN);
  document.set(schema('Joined', 'properties', 'pingSeconds', 'maximum'), rules.PING_SECONDS_MAX);
  const lease = schema('Joined', 'properties', 'leaseSeconds');
  document.set([...lease, 'minimum'], rules.LEASE_SECONDS_MIN);
  document.set([...lease, 'maximum'], rules.LEASE_SECONDS_MAX);
  document.set([...lease, 'description'], `This relay grants ${rules.LEASE_MS / 1000} s`);
  document.set(document.event('bye', 'retryAfterMs', 'maximum'), rules.BYE_MS_MAX);
  document.set(document.event('swap', 'leaseMs', 'maximum'), rules.SWAP_LEASE_MS);
  document.set([...accepted('/v1/desktops/{id}/swap'), 'leaseMs', 'enum'], `[0, ${rules.SWAP_LEASE_MS}]`);
  document.set([...accepted('/v1/desktops/{id}/peeks'), 'leaseMs', 'enum'], `[0, ${rules.PEEK_LEASE_MS}]`);
}

function setTexts(document: Openapi): void {
  const secret = `[0-9a-f]{${rules.SECRET_DIGITS}}`;
  document.set(schema('Token', 'pattern'), `"^${SLOT}-[1-9a-f][0-9a-f]{0,7}\\\\.${secret}$"`);
  document.set(schema('Invitation', 'pattern'), `"^${SLOT}\\\\.${secret}(\\\\.[a-z0-9][a-z0-9-]{0,31})?$"`);
  document.set(schema('Hash', 'pattern'), `"^[0-9a-f]{${rules.FILE_DIGITS}}$"`);
  document.set(schema('Join', 'properties', 'version', 'pattern'), `"^[0-9A-Za-z.+-]{1,${rules.VERSION_LENGTH_MAX}}$"`);
  document.set(schema('Name', 'maxLength'), rules.NAME_BYTES_MAX);
  document.set(schema('Saying', 'properties', 'saying', 'maximum'), rules.RISING_NUMBER_MAX);
  document.set(schema('Saying', 'properties', 'text', 'maxLength'), rules.SAYING_TEXT_BYTES_MAX);
  document.set(document.event('saying', 'text', 'maxLength'), rules.SAYING_TEXT_BYTES_MAX);
  document.set(document.event('bye', 'join', 'maxLength'), rules.JOIN_URL_BYTES_MAX);
  document.set(schema('Report', 'properties', 'reason', 'maxLength'), rules.REASON_BYTES_MAX);
}

function setLists(document: Openapi): void {
  for (const list of ['files', 'sprites']) {
    document.set(schema('Stage', 'properties', list, 'maxItems'), rules.STAGE_SPRITES_MAX);
    document.set(document.event('stage', list, 'maxItems'), rules.STAGE_SPRITES_MAX);
  }
  document.set(schema('Company', 'properties', 'company', 'maxItems'), rules.COMPANY_MAX - 1);
  document.set(schema('Batch', 'properties', 'events', 'maxItems'), rules.ANSWER_EVENTS_MAX);
  document.set([...accepted('/v1/desktops/{id}/sayings'), 'heard', 'maximum'], HEARERS_MAX - 1);
  document.setLines(
    schema('Problem', 'properties', 'code', 'enum'),
    Object.keys(PROBLEMS).map((code) => `- ${code}`),
  );
}

/** What a desktop posts may lack members that have a default; what its neighbour receives has all of them. */
function setCrossings(document: Openapi): void {
  const { crossing: _, sprite: __, ...motion } = rules.CROSSING_MEMBERS;
  document.setMembers('Motion', motion);
  document.setMembers('Sprite', rules.SPRITE_MEMBERS);
  document.setMembers('Goal', rules.GOAL_MEMBERS);
  document.setMembers('Journey', rules.JOURNEY_MEMBERS);
  document.set(schema('Crossing', 'properties', 'crossing', 'maximum'), rules.RISING_NUMBER_MAX);
  const received = document.event('sprite').slice(0, -1);
  document.set([...received, 'required'], listOf(['type', 'seq', 'from', ...Object.keys(motion), 'sprite']));
  document.set(document.event('sprite', 'sprite', 'required'), listOf(Object.keys(rules.SPRITE_MEMBERS)));
}

/** A type of events as a schema, if the table has its members. */
function plainEventOf([type, { members }]: [string, rules.EventRule]): string[] {
  if (members === undefined) return [];
  const properties = Object.entries(members).map(([name, rule]) => `    ${name}: { ${schemaOf(rule).join(', ')} }`);
  const required = listOf(['type', ...Object.keys(members)]);
  const head = ['- type: object', `  required: ${required}`, '  unevaluatedProperties: false', '  properties:'];
  return [...head, `    type: { const: ${type} }`, ...properties];
}

const listOf = (names: readonly string[]) => `[${names.join(', ')}]`;

/** The members of a response that accepts what was posted. */
function accepted(path: string): Path {
  return ['paths', path, 'post', 'responses', '202', 'content', 'application/json', 'schema', 'properties'];
}

/** A text of OpenAPI in which single values are replaced. */
class Openapi {
  readonly #text: string;
  readonly #document: Document;
  readonly #changes: { start: number; end: number; to: string }[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#document = parseDocument(text);
  }

  /** The path of a member of an event. */
  event(type: string, ...path: Path): Path {
    const node = this.#document.getIn(schema('Event', 'oneOf'), true) as unknown as { toJSON(): EventSchema[] };
    const index = node.toJSON().findIndex(({ properties }) => properties?.type.const === type);
    return schema('Event', 'oneOf', index, 'properties', ...path);
  }

  set(path: Path, to: string | number): void {
    const [start, end] = this.#nodeAt(path).range ?? [0, 0];
    // The range of a block has the line end after it.
    this.#changes.push({ start, end: start + this.#text.slice(start, end).trimEnd().length, to: String(to) });
  }

  /** Sets a block of several lines, with the indentation that it has. */
  setLines(path: Path, to: readonly string[]): void {
    const [start] = this.#nodeAt(path).range ?? [0];
    const indent = ' '.repeat(start - this.#text.lastIndexOf('\n', start) - 1);
    this.set(path, to.join(`\n${indent}`));
  }

  /** Sets the members of a schema, which keep their descriptions. */
  setMembers(name: string, table: Readonly<Record<string, rules.Member>>): void {
    const required = Object.keys(table).filter((member) => !('default' in table[member]));
    this.set(schema(name, 'required'), listOf(required));
    const described = (member: string) =>
      this.#document.getIn(schema(name, 'properties', member, 'description')) as string;
    this.setLines(
      schema(name, 'properties'),
      Object.entries(table).map(([member, rule]) => `${member}: { ${propertyOf(rule, described(member))} }`),
    );
  }

  changed(): string {
    return this.#changes
      .toSorted((one, other) => other.start - one.start)
      .reduce((all, { start, end, to }) => all.slice(0, start) + to + all.slice(end), this.#text);
  }

  #nodeAt(path: Path): Node {
    const node = this.#document.getIn(path, true);
    if (!isNode(node)) throw new Error(`openapi.yaml has no ${path.join('.')}`);
    return node;
  }
}

interface EventSchema {
  properties?: { type: { const: string } };
}

/** A member as a schema, in YAML. */
function propertyOf(rule: rules.Member, description: string | undefined): string {
  const parts = schemaOf(rule);
  if ('default' in rule && rule.default !== '') parts.push(`default: ${rule.default}`);
  if (description !== undefined) parts.push(`description: ${JSON.stringify(description)}`);
  return parts.join(', ');
}

function schemaOf(rule: rules.Member | rules.EventMember): string[] {
  const reference = (name: string) => [`$ref: "#/components/schemas/${name}"`];
  const within = (type: string, min: number, max: number) => [`type: ${type}`, `minimum: ${min}`, `maximum: ${max}`];
  switch (rule.is) {
    case 'number':
      return within('number', rule.min, rule.max);
    case 'whole':
      return within('integer', rule.min, rule.max);
    case 'rising':
      return within('integer', 1, rules.RISING_NUMBER_MAX);
    case 'edge':
      return reference('Edge');
    case 'edges':
      return reference('Edges');
    case 'text':
      return ['type: string', `maxLength: ${rule.max}`];
    case 'file':
      return reference('Hash');
    case 'object':
      return reference('Sprite');
    case 'person':
      return ['type: string', 'minLength: 1', `maxLength: ${rules.NAME_BYTES_MAX}`];
    case 'persons':
      return ['type: array', `maxItems: ${rule.max}`, 'items: { $ref: "#/components/schemas/Name" }'];
    case 'name':
      return reference('Name');
    case 'animation':
      return ['type: string', `pattern: "^[a-z][a-z0-9-]{0,${rules.ANIMATION_LENGTH_MAX - 1}}$"`];
    case 'facing':
      return ['enum: [left, right]'];
  }
}

/** The events that the libraries keep to themselves. */
const KEPT: readonly string[] = ['ping', 'bye', 'watched'];

/** What the library for Python shares with the relay and the page. Its times end in _MS or, divided by 1000, in _S. */
const PYTHON_CONSTANTS = {
  EDGES: rules.EDGES,
  HANDLED: Object.keys(rules.EVENTS).filter((type) => !KEPT.includes(type)),
  NAME_BYTES_MAX: rules.NAME_BYTES_MAX,
  JOIN_URL_BYTES_MAX: rules.JOIN_URL_BYTES_MAX,
  JOURNEY_BYTES_MAX: rules.JOURNEY_BYTES_MAX,
  JOURNEY_NAMES_MAX: rules.JOURNEY_NAMES_MAX,
  JOURNEY_HOPS_MAX: rules.JOURNEY_HOPS_MAX,
  JOURNEY_SINCE_MAX: rules.JOURNEY_MEMBERS.since.max,
  REMOVED_MAX,
  LEASE_MS: rules.LEASE_MS,
  LEASE_SECONDS_MIN: rules.LEASE_SECONDS_MIN,
  LEASE_SECONDS_MAX: rules.LEASE_SECONDS_MAX,
  PAUSES_PER_LEASE: rules.PAUSES_PER_LEASE,
  LOST_LEASES: rules.LOST_LEASES,
  PING_MS: rules.PING_MS,
  PING_SECONDS_MAX: rules.PING_SECONDS_MAX,
  SILENCE_FACTOR: rules.SILENCE_FACTOR,
  ANSWER_S: rules.ANSWER_MS_MAX / 1000,
  BACKOFF_MS_FIRST,
  BACKOFF_MS_MAX,
  REFUSED_MS_MAX,
  BYE_MS_MAX: rules.BYE_MS_MAX,
  CROSSINGS_AHEAD_MAX,
  FORMER_TRIES_MAX,
  MOVES_MAX,
  MOVES_MS,
  PEEKS_PER_LEASE: rules.PEEKS_PER_LEASE,
  PEEK_GAP_S: peek.ASK_GAP_MS / 1000,
  PEEK_SOON_S: peek.RETRY_MS / 1000,
  PEEK_HIDDEN_S: peek.REFUSED_MS / 1000,
  STAGE_GAP_S: stagePosts.POST_GAP_MS / 1000,
  STAGE_ALIVE_S: stagePosts.ALIVE_MS / 1000,
  STAGE_RETRY_S: stagePosts.RETRY_MS / 1000,
  STAGE_SPRITES_MAX: rules.STAGE_SPRITES_MAX,
  STAGE_BYTES_MAX: rules.STAGE_BYTES_MAX,
};

/** The text of sprites_client.py with the constants that the rules and the page have. Everything else stays as it is. */
export function pythonOf(text = readFileSync(PYTHON, 'utf8')): string {
  const written = /(?<=\n# `npx node server\/tools\/rules\.ts` writes [^\n]*\n).*?(?=# The end of those lines\.\n)/s;
  if (!written.test(text)) throw new Error('sprites_client.py has no lines for the rules');
  const lines = Object.entries(PYTHON_CONSTANTS).map(([name, value]) => `${name} = ${pythonValue(value)}\n`);
  return text.replace(written, lines.join(''));
}

function pythonValue(value: number | readonly string[]): string {
  return typeof value === 'number' ? `${value}` : `(${value.map((one) => `"${one}"`).join(', ')})`;
}

if (import.meta.main) {
  writeFileSync(HEADER, headerOf());
  writeFileSync(OPENAPI, openapiOf());
  writeFileSync(PYTHON, pythonOf());
}
