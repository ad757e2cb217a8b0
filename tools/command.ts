/**
 * The command line of every command: one table of options, from which --help is written and the arguments are read.
 *
 * Each command exports a `Command` and hands it to `runCommand`, so all of them share one grammar (that of Node's
 * `util.parseArgs`), one kind of error and one rule for exit codes. Invariant: a value that `readCommandLine` returns has
 * the form and range that its option declares; everything else was rejected before the command did anything.
 */
import { accessSync, constants, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from './nearest.js';

/** The exit codes of every command. An interrupted command has failed. */
export const EXIT = { done: 0, failed: 1, misused: 2 } as const;

/** The command line, or a file it names, can't be understood. The message says which option, what is wrong and what it takes. */
export class Misused extends Error {}

/** One option. The functions below make them: `whole`, `number`, `duration`, `oneOf`, `text`, `form`, `toggle`. */
export interface Option<T> {
  /** Name of the value in --help, such as N or FILE; empty for a switch, which takes no value. */
  readonly value: string;
  readonly meaning: string;
  /** The value when the option is not given. */
  readonly fallback: T;
  /** The default as --help shows it; empty when there is nothing to show. */
  readonly shown: string;
  /** What the value must be, for the error message: "a whole number from 1 to 9". */
  readonly must: string;
  /** Returns undefined when `text` does not have the form. */
  read(text: string): unknown;
  /** A letter for a short form: `o` for -o. */
  readonly letter?: string;
  /** Environment variables that are read when the option is not given; the first that is set and not empty counts. */
  readonly variables?: readonly string[];
  /** The subcommands it belongs to; all of them when absent. */
  readonly goesWith?: readonly string[];
  /** It can be given several times; its value is the list. */
  readonly repeated?: boolean;
}

/** Options by name, in camel case: `eventsPort` is --events-port. */
// biome-ignore lint/suspicious/noExplicitAny: a table holds options of every type.
export type Options = Readonly<Record<string, Option<any>>>;

export type Values<Table extends Options> = { [Name in keyof Table]: Table[Name] extends Option<infer T> ? T : never };

export interface Command<Table extends Options> {
  /** The forms of the command line, such as `npm run admin -- COMMAND [options]`. */
  readonly usage: readonly string[];
  /** What it does: a paragraph, or several lines. */
  readonly about: string;
  /** Subcommands by name: the words that follow them, and what they do. */
  readonly commands?: Readonly<Record<string, readonly [words: string, meaning: string]>>;
  /** Whether a command line without any word is a misuse. */
  readonly needsCommand?: boolean;
  /** Whether words that are not options are allowed; `commands` implies it. */
  readonly takesWords?: boolean;
  /** Whether everything after `--` is handed on unread. */
  readonly takesRest?: boolean;
  readonly options: Table;
  /** The same options under headings, for a long --help; must name all of them. */
  readonly sections?: Readonly<Record<string, Options>>;
  /** Paragraphs below the options. */
  readonly notes?: readonly string[];
  /** What exit code 1 means, where "failed" does not say it. */
  readonly failed?: string;
}

export interface CommandLine<Table extends Options> {
  /** The arguments that are not options; the first is the subcommand, where there are any. */
  readonly words: readonly string[];
  readonly values: Values<Table>;
  /** Names of the options on the command line. */
  readonly given: ReadonlySet<string>;
  /** What follows `--`. */
  readonly rest: readonly string[];
}

/** What a command uses of its process; tests pass their own. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Prints on stdout. */
  print(text: string): void;
  /** Prints on stderr. */
  complain(text: string): void;
}

/** This process. */
export const surroundings = (): Surroundings => ({
  argv: process.argv.slice(2),
  environment: process.env,
  print: console.log,
  complain: console.error,
});

/**
 * Reads the command line, runs `work` and prints what went wrong.
 *
 * Returns the exit code: that of `work` (undefined is 0), 1 when it throws, 2 when it throws Misused.
 */
export async function runCommand<Table extends Options>(
  command: Command<Table>,
  work: (line: CommandLine<Table>) => number | undefined | Promise<number | undefined>,
  { argv, environment, print, complain }: Surroundings = surroundings(),
): Promise<number> {
  try {
    const line = readCommandLine(command, argv, environment);
    if (line === 'help') {
      print(helpOf(command));
      return EXIT.done;
    }
    return (await work(line)) ?? EXIT.done;
  } catch (error) {
    complain(sentenceOf(error));
    return exitCodeOf(error);
  }
}

const exitCodeOf = (error: unknown): number => (error instanceof Misused ? EXIT.misused : EXIT.failed);

/** An error as one line for a user. Errors that only a bug throws keep their stack. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `Failed: ${error}.`;
  const { code, path, message } = error as NodeJS.ErrnoException;
  const file = code !== undefined && path !== undefined ? FILE_ERRORS[code]?.(path) : undefined;
  if (file !== undefined) return file;
  // What fetch throws is not a bug, although it is a TypeError; its cause has the reason.
  if (message === 'fetch failed' && error.cause instanceof Error) return sentenceOf(error.cause);
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
    return error.stack ?? message;
  }
  return /[.!?…)]$|\n/.test(message) ? message : `${message}.`;
}

const FILE_ERRORS: Record<string, (path: string) => string> = {
  ENOENT: (path) => `There is no file ${path}.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  ENOTDIR: (path) => `${path}: a part of this path is a file, not a folder.`,
  EEXIST: (path) => `${path} exists already.`,
  EACCES: (path) => `${path}: permission denied.`,
  EPERM: (path) => `${path}: permission denied.`,
  EROFS: (path) => `${path}: the file system is read-only.`,
  ENOSPC: (path) => `${path}: the disk is full.`,
};

/** Reads a file that the user named. Its error always has the path, which the system leaves out for a folder. */
export function readInput(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw Object.assign(error as Error, { path });
  }
}

/** The text of a file that the user named. Throws Misused, after `option` where that names the file. */
export function readText(path: string, option?: string): string {
  try {
    return readInput(path).toString('utf8');
  } catch (error) {
    throw new Misused(`${option === undefined ? '' : `${option}: `}${sentenceOf(error)}`);
  }
}

/**
 * Makes a folder and its parents, like mkdir -p. `mode` is for those that it makes.
 *
 * Throws Error with the option's name. (`mkdirSync` with `recursive` never returns below /proc, so this makes one level at a time.)
 */
export function makeFolder(folder: string, option: string, mode = 0o777): void {
  const missing: string[] = [];
  let path = resolve(folder);
  while (statSync(path, { throwIfNoEntry: false }) === undefined && dirname(path) !== path) {
    missing.unshift(path);
    path = dirname(path);
  }
  try {
    for (const one of missing) mkdirSync(one, { mode });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `no folder can be made in ${path}` : message.replace(/^\w+: |, mkdir .*/g, '');
    throw new Error(`${option}: the folder ${folder} can't be made: ${why}`);
  }
  if (!statSync(folder).isDirectory()) throw new Error(`${option}: ${folder} is a file, not a folder`);
}

/** Throws Error with the option's name when this user may not make files in a folder. `access`: tests pass their own. */
export function throwIfReadOnly(folder: string, option: string, access: typeof accessSync = accessSync): void {
  try {
    access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === 'EACCES' ? 'permission denied; start it as the owner of the folder, or choose another one' : message;
    throw new Error(`${option}: no file can be made in ${folder}: ${why}`);
  }
}

// ---- Options -------------------------------------------------------------------------------------------------------

type Range = readonly [min: number, max: number];

/** An option of any form. `read` returns undefined for text that does not have it. */
export function form<T, F extends T | undefined = undefined>(
  value: string,
  meaning: string,
  must: string,
  read: (text: string) => T | undefined,
  fallback?: F,
): Option<T | F> {
  return { value, meaning, must, read, fallback: fallback as F, shown: '' };
}

/** A whole number from `min` to `max`. */
export function whole<F extends number | undefined = undefined>(
  value: string,
  meaning: string,
  [min, max]: Range,
  fallback?: F,
): Option<number | F> {
  const read = (text: string) => (/^-?\d{1,16}$/.test(text) ? within(Number(text), min, max) : undefined);
  const must = `a whole number from ${min} to ${max}`;
  return { ...form(value, meaning, must, read, fallback), shown: String(fallback ?? '') };
}

/** A number from `min` to `max`, with at most `decimalsMax` decimals. */
export function number<F extends number | undefined = undefined>(
  value: string,
  meaning: string,
  [min, max]: Range,
  fallback?: F,
  decimalsMax = 6,
): Option<number | F> {
  const read = (text: string) => {
    const digits = /^-?\d{1,16}(?:\.(\d+))?$/.exec(text);
    return digits && (digits[1]?.length ?? 0) <= decimalsMax ? within(Number(text), min, max) : undefined;
  };
  const must = `a number from ${min} to ${max} with at most ${decimalsMax} decimals`;
  return { ...form(value, meaning, must, read, fallback), shown: String(fallback ?? '') };
}

/** A time such as 500ms, 5s or 2m, in seconds. `fallback` too is in seconds. */
export function duration<F extends number | undefined = undefined>(
  value: string,
  meaning: string,
  [min, max]: Range,
  fallback?: F,
): Option<number | F> {
  const read = (text: string) => within(readSeconds(text), min, max);
  const examples = ['500ms', '5s', '2m', '1h', '24h'].filter((text) => read(text) !== undefined).slice(0, 3);
  const must = `a time from ${writeSeconds(min)} to ${writeSeconds(max)} such as ${examples.join(', ')}`;
  return { ...form(value, meaning, must, read, fallback), shown: fallback === undefined ? '' : writeSeconds(fallback) };
}

/** One of `choices`, which --help lists. */
export function oneOf<T extends string>(
  value: string,
  meaning: string,
  choices: readonly T[],
  fallback: NoInfer<T>,
): Option<T> {
  const all = choices.join(', ');
  const read = (given: string) => choices.find((choice) => choice === given);
  return { ...form(value, `${meaning}: ${all}`, `one of ${all}`, read, fallback), shown: fallback };
}

/** Text that matches `pattern`. */
export function matching<F extends string | undefined = undefined>(
  value: string,
  meaning: string,
  must: string,
  pattern: RegExp,
  fallback?: F,
): Option<string | F> {
  const read = (given: string) => (pattern.test(given) ? given : undefined);
  return { ...form(value, meaning, must, read, fallback), shown: fallback ?? '' };
}

/** Any text that is not empty. */
export function text<F extends string | undefined = undefined>(
  value: string,
  meaning: string,
  fallback?: F,
): Option<string | F> {
  return matching(value, meaning, 'some text', /./s, fallback);
}

/** A switch: off, unless it is given. */
export function toggle(meaning: string): Option<boolean> {
  return {
    value: '',
    meaning,
    fallback: false,
    shown: '',
    must: 'true or false',
    read: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  };
}

/** The same option, given any number of times; its value is the list of all of them. */
export function repeated<T>(option: Option<T>): Option<readonly NonNullable<T>[]> {
  return { ...option, repeated: true, fallback: [], shown: '' };
}

/** The same options, each of which also reads the variable `PREFIX_ITS_NAME`. */
export function withVariables<Table extends Options>(prefix: string, options: Table): Table {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { ...option, variables: [`${prefix}_${flagOf(name).toUpperCase().replaceAll('-', '_')}`] },
    ]),
  ) as unknown as Table;
}

/** The same options, which belong to these subcommands only. */
export function goingWith<Table extends Options>(commands: readonly string[], options: Table): Table {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, { ...option, goesWith: commands }]),
  ) as unknown as Table;
}

/** `eventsPort` → `events-port`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

// ---- Reading -------------------------------------------------------------------------------------------------------

/** Reads a command line. Returns 'help' when it asks for --help. Throws Misused. */
export function readCommandLine<Table extends Options>(
  command: Command<Table>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): CommandLine<Table> | 'help' {
  const names = new Map(Object.keys(command.options).map((name) => [flagOf(name), name]));
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries([
      ...[...names].map(([flag, name]) => [flag, parseArgsOption(command.options[name])]),
      ['help', { type: 'boolean', short: 'h' }],
    ]),
    // This file rejects what is wrong: parseArgs would call `--rate -5` ambiguous and not say what --rate takes.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const texts = new Map<string, string[]>();
  let rest: readonly string[] = [];
  let misuse: Misused | undefined;
  for (const token of tokens) {
    if (token.kind === 'option-terminator' && command.takesRest) {
      rest = argv.slice(token.index + 1);
      break;
    }
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return 'help';
    const name = names.get(token.name);
    if (name === undefined) {
      misuse ??= new Misused(
        `Unknown option '${token.rawName}'.${didYouMean(token.name, names.keys(), '--')} See --help.`,
      );
      continue;
    }
    const why = whyNoValue(command.options[name], token.value, token.inlineValue, names);
    if (why !== undefined) misuse ??= new Misused(`--${token.name}: ${why}. See --help.`);
    texts.set(name, [...(texts.get(name) ?? []), token.value ?? 'true']);
  }
  if (misuse) throw misuse;
  checkWords(command, words);
  checkSubcommand(command, words, texts);
  const values = Object.fromEntries(
    Object.entries(command.options).map(([name, option]) => [
      name,
      resolved(option, texts.get(name), environment, `--${flagOf(name)}`),
    ]),
  ) as Values<Table>;
  return { words, values, given: new Set(texts.keys()), rest };
}

/** A value that is written as `given`, on the command line or in a file. Throws Misused, whose message begins with `called`. */
export function readValue(option: Option<unknown>, given: string, called: string): unknown {
  const value = option.read(given);
  if (value === undefined) throw new Misused(`${called}: must be ${option.must}, not ${JSON.stringify(given)}.`);
  return value;
}

function parseArgsOption({ value, letter }: Option<unknown>) {
  return { type: value === '' ? ('boolean' as const) : ('string' as const), ...(letter && { short: letter }) };
}

/** Why the option has no value, or must not have one; undefined when all is well. */
function whyNoValue(
  { value }: Option<unknown>,
  given: string | undefined,
  inline: boolean | undefined,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (value === '') return given === undefined ? undefined : 'it is a switch and takes no value';
  const isFlag = given !== undefined && !inline && given.startsWith('--') && names.has(given.slice(2).split('=')[0]);
  return given === undefined || isFlag ? `needs a value (${value})` : undefined;
}

function checkWords<Table extends Options>(command: Command<Table>, [first, ...words]: readonly string[]): void {
  const { commands, needsCommand, takesWords } = command;
  if (first === undefined) {
    if (needsCommand) throw new Misused(helpOf(command));
  } else if (commands && !takesWords && !Object.hasOwn(commands, first)) {
    const known = Object.keys(commands).join(', ');
    throw new Misused(
      `There is no command ${JSON.stringify(first)}; there are ${known}.${didYouMean(first, Object.keys(commands))} See --help.`,
    );
  } else if (!commands && !takesWords) {
    throw new Misused(`Unexpected argument '${first}'. See --help.`);
  } else if (commands && !takesWords && commands[first][0] === '' && words.length > 0) {
    throw new Misused(`Unexpected argument '${words[0]}': ${first} takes none. See --help.`);
  }
}

function checkSubcommand<Table extends Options>(
  { commands, options }: Command<Table>,
  [first]: readonly string[],
  texts: ReadonlyMap<string, unknown>,
): void {
  if (!commands || first === undefined) return;
  for (const name of texts.keys()) {
    const { goesWith } = options[name];
    if (goesWith && !goesWith.includes(first)) {
      throw new Misused(`--${flagOf(name)}: goes with ${goesWith.join(', ')}, not with ${first}. See --help.`);
    }
  }
}

function resolved(
  option: Option<unknown>,
  given: readonly string[] | undefined,
  environment: NodeJS.ProcessEnv,
  called: string,
): unknown {
  const variable = option.variables?.map((name) => environment[name]).find((one) => one !== undefined && one !== '');
  const texts = given ?? (variable === undefined ? [] : [variable]);
  if (texts.length === 0) return option.fallback;
  const values = texts.map((one) => readValue(option, one, called));
  return option.repeated ? values : values.at(-1);
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

// ---- Units ---------------------------------------------------------------------------------------------------------

const SECONDS: Record<string, number> = { us: 1e-6, µs: 1e-6, ms: 1e-3, '': 1, s: 1, m: 60, min: 60, h: 3600 };

/** "500ms", "5s", "2m", "1h" or a number of seconds, in seconds; undefined for anything else. */
export function readSeconds(text: string): number | undefined {
  const read = /^(\d+(?:\.\d+)?|\.\d+) ?([a-zµ]*)$/.exec(text.trim());
  const scale = read ? SECONDS[read[2]] : undefined;
  return read && scale !== undefined ? Number(read[1]) * scale : undefined;
}

const SIZES: Record<string, number> = { '': 1, bytes: 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** "300MiB" or a number of bytes, in bytes; undefined for anything else. */
export function readBytes(text: string): number | undefined {
  const read = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(text.trim());
  const scale = read ? SIZES[read[2]] : undefined;
  return read && scale !== undefined ? Number(read[1]) * scale : undefined;
}

/** 0.1 → "100ms", 90 → "90s", 604800 → "168h". */
function writeSeconds(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `${Number((seconds * 1000).toPrecision(12))}ms`;
  return seconds >= 3600 && seconds % 3600 === 0 ? `${seconds / 3600}h` : `${seconds}s`;
}

// ---- Help ----------------------------------------------------------------------------------------------------------

const HELP_WIDTH = 110;
const HELP_COLUMN = 32;

/** The text of --help. */
export function helpOf<Table extends Options>(command: Command<Table>): string {
  const { usage, about, commands = {}, options, sections, notes = [], failed } = command;
  const rows = Object.entries(commands).map(([name, [words, meaning]]) => row(`${name} ${words}`.trimEnd(), meaning));
  const titled = Object.entries(sections ?? { '': options }).map(([title, table]) =>
    [
      ...(title === '' ? [] : [`${title}:`]),
      ...Object.entries(table).map(([name, option]) => optionRow(name, option)),
    ].join('\n'),
  );
  // The launcher answers both where nothing is installed yet, and --version for all commands.
  const help = [row('-h, --help', 'print this text'), row('    --version', 'print the version of Sprites')].join('\n');
  const last = titled.pop();
  const exit = `Exit code: 0 done, 1 failed${failed === undefined ? '' : ` (${failed})`}, 2 misused.`;
  return [
    usage.map((form, i) => `${i === 0 ? 'Usage:' : '      '} ${form}`).join('\n'),
    about,
    ...(rows.length > 0 ? [rows.join('\n')] : []),
    ...titled,
    last === undefined || last === '' ? help : `${last}\n${help}`,
    ...notes,
    exit,
  ].join('\n\n');
}

function optionRow(name: string, { value, meaning, shown, letter, repeated: many }: Option<unknown>): string {
  const flag = `${letter ? `-${letter}, ` : '    '}--${flagOf(name)}${value === '' ? '' : ` ${value}`}`;
  return row(flag, `${meaning}${many ? '; may be repeated' : ''}${shown === '' ? '' : ` [${shown}]`}`);
}

/** A name and its meaning in two columns; a name that is too long gets a separate line. */
function row(name: string, meaning: string): string {
  const lines: string[] = [];
  for (const word of meaning.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > HELP_WIDTH - HELP_COLUMN) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  const indented = lines.join(`\n${' '.repeat(HELP_COLUMN)}`);
  const first = `  ${name}`;
  return first.length + 2 > HELP_COLUMN
    ? `${first}\n${' '.repeat(HELP_COLUMN)}${indented}`
    : first.padEnd(HELP_COLUMN) + indented;
}
