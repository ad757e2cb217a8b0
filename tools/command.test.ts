/**
 * One grammar, one kind of error and one rule of exit codes: the parser itself, and every command held to it.
 *
 * Needs no build: it imports every command for its options, and starts each only with a command line that it refuses.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMAND as BENCH_PACING } from '../client-win/bench/pacing.ts';
import { COMMAND as FLEET } from '../ec2/bin/options.ts';
import { COMMAND as SWARM } from '../loadtest/bin/swarm.ts';
import { COMMAND as BENCH } from '../server/bench/bench.ts';
import { COMMAND as ADMIN } from '../server/bin/admin.ts';
import { COMMAND as RELAY } from '../server/bin/options.ts';
import { COMMAND as SPR } from '../server/bin/spr.ts';
import { COMMAND as LIBRARIES } from '../server/libraries/pack.ts';
import { COMMAND as BENCH_HEAP } from '../v8-patches/bench/heap.ts';
import { COMMAND as CLIENT } from './client.ts';
import {
  type Command,
  duration,
  flagOf,
  form,
  goingWith,
  helpOf,
  Misused,
  makeFolder,
  matching,
  number,
  type Option,
  type Options,
  oneOf,
  readBytes,
  readCommandLine,
  readInput,
  readSeconds,
  repeated,
  runCommand,
  sentenceOf,
  text,
  throwIfReadOnly,
  toggle,
  whole,
  withVariables,
} from './command.ts';
import { listFiles } from './test/sources.ts';
import { COMMAND as TEST } from './test/test.ts';
import { unknownVariables, VARIABLES } from './variables.js';

const ROOT = join(import.meta.dirname, '..');

const OPTIONS = {
  ...withVariables('SPRITES', { eventsPort: whole('N', 'a port', [0, 65_535], 8081) }),
  rate: number('R', 'a rate', [0, 100], undefined, 2),
  wait: duration('T', 'a time', [0.1, 7200], 5),
  kind: oneOf('KIND', 'a kind', ['even', 'odd'], 'even'),
  output: { ...text('FILE', 'a file'), letter: 'o' },
  name: matching('NAME', 'a name', 'lower-case letters', /^[a-z]+$/),
  pair: form('A,B', 'a pair', 'two numbers', (given) => /^\d,\d$/.exec(given)?.[0].split(',').map(Number)),
  tag: repeated(text('TEXT', 'a tag')),
  quiet: toggle('say nothing'),
  ...goingWith(['bake'], { heat: whole('N', 'degrees', [0, 300], 180) }),
};

const EXAMPLE: Command<typeof OPTIONS> = {
  usage: ['npm run example -- COMMAND [options]'],
  about: 'An example.',
  commands: { bake: ['CAKE', 'bake it'], eat: ['', 'eat it'] },
  needsCommand: true,
  takesRest: true,
  options: OPTIONS,
};

function read(...argv: string[]) {
  const line = readCommandLine(EXAMPLE, argv);
  assert.ok(line !== 'help');
  return line;
}

function misuse(...argv: string[]): string {
  try {
    read(...argv);
  } catch (error) {
    assert.ok(error instanceof Misused, `${error}`);
    return error.message;
  }
  throw new assert.AssertionError({ message: `${argv.join(' ')} was accepted` });
}

describe('a command line', () => {
  it('is read into values of the types that the table declares', () => {
    const { words, values, given, rest } = read(
      ...['bake', 'a cake', '--events-port', '9', '--rate=2.25', '--wait', '500ms', '-o', 'x'],
      ...['--kind', 'odd', '--name', 'ann', '--pair', '1,2', '--tag', 'a', '--tag', 'b', '--quiet', '--heat', '0'],
      ...['--', '--engine', '-5'],
    );
    assert.deepEqual(words, ['bake', 'a cake']);
    assert.deepEqual(values, {
      ...{ eventsPort: 9, rate: 2.25, wait: 0.5, kind: 'odd', output: 'x', name: 'ann', pair: [1, 2] },
      ...{ tag: ['a', 'b'], quiet: true, heat: 0 },
    });
    assert.equal(given.size, Object.keys(OPTIONS).length);
    assert.deepEqual(rest, ['--engine', '-5']);
  });

  it('leaves what is not given at its default, and the last of two values counts', () => {
    const { values, given } = read('eat');
    assert.deepEqual(values, {
      ...{ eventsPort: 8081, rate: undefined, wait: 5, kind: 'even', output: undefined },
      ...{ name: undefined, pair: undefined, tag: [], quiet: false, heat: 180 },
    });
    assert.deepEqual([...given], []);
    assert.equal(read('eat', '--wait', '1', '--wait', '2').values.wait, 2);
  });

  it('reads a variable where an option has one: not when it is empty, nor when the option is given', () => {
    const port = (variable: string, ...argv: string[]) => {
      const line = readCommandLine(EXAMPLE, ['eat', ...argv], { SPRITES_EVENTS_PORT: variable });
      return line === 'help' ? line : line.values.eventsPort;
    };
    assert.equal(port('9001'), 9001);
    assert.equal(port(''), 8081);
    assert.equal(port('9001', '--events-port', '9002'), 9002);
    assert.throws(() => port('many'), { constructor: Misused, message: /^--events-port: must be .* not "many"\.$/ });
  });

  it('says what a value must be, also when it is negative, and at the bounds', () => {
    const wrong: [string, string, RegExp][] = [
      ['--events-port', '-5', /^--events-port: must be a whole number from 0 to 65535, not "-5"\.$/],
      ['--events-port', '65536', /not "65536"/],
      ['--events-port', '1.5', /not "1\.5"/],
      ['--events-port', '', /not ""/],
      ['--events-port', '99999999999999999999', /^--events-port: must be a whole number from 0 to 65535/],
      ['--rate', '-5', /^--rate: must be a number from 0 to 100 with at most 2 decimals, not "-5"\.$/],
      ['--rate', '-.5', /not "-\.5"/],
      ['--rate', '0.125', /not "0\.125"/],
      ['--rate', '1e1', /not "1e1"/],
      ['--wait', '-1s', /^--wait: must be a time from 100ms to 2h such as 500ms, 5s, 2m, not "-1s"\.$/],
      ['--wait', '99ms', /not "99ms"/],
      ['--wait', '7201', /not "7201"/],
      ['--kind', 'big', /^--kind: must be one of even, odd, not "big"\.$/],
      ['--name', 'Ann', /^--name: must be lower-case letters, not "Ann"\.$/],
      ['--pair', '1', /^--pair: must be two numbers, not "1"\.$/],
      ['--tag', '', /^--tag: must be some text, not ""\.$/],
    ];
    for (const [flag, value, message] of wrong) {
      assert.match(misuse('eat', flag, value), message);
      assert.match(misuse('eat', `${flag}=${value}`), message);
    }
    for (const value of ['0', '65535'])
      assert.equal(read('eat', '--events-port', value).values.eventsPort, Number(value));
    for (const value of ['0.1', '2h']) assert.ok(read('eat', '--wait', value).values.wait > 0);
    assert.equal(read('eat', '--output', '-x').values.output, '-x');
  });

  it('says which option has no value, or has one too many', () => {
    assert.equal(misuse('eat', '--rate'), '--rate: needs a value (R). See --help.');
    assert.equal(misuse('eat', '--output', '--quiet'), '--output: needs a value (FILE). See --help.');
    assert.equal(misuse('eat', '--quiet=yes'), '--quiet: it is a switch and takes no value. See --help.');
  });

  it('says what is unknown, and what was probably meant', () => {
    assert.equal(misuse('eat', '--colour', 'red'), "Unknown option '--colour'. See --help.");
    assert.equal(misuse('eat', '--ouput', 'x'), "Unknown option '--ouput'. Did you mean --output? See --help.");
    assert.equal(misuse('eat', '--wiat', '5'), "Unknown option '--wiat'. Did you mean --wait? See --help.");
    assert.equal(misuse('eat', '--race', '5'), "Unknown option '--race'. Did you mean --rate? See --help.");
    assert.equal(misuse('eat', '--data', '5'), "Unknown option '--data'. See --help.");
    assert.equal(misuse('eat', '-x'), "Unknown option '-x'. See --help.");
    assert.equal(misuse('eat', '-5'), "Unknown option '-5'. See --help.");
    assert.equal(misuse('fry'), 'There is no command "fry"; there are bake, eat. See --help.');
    assert.equal(misuse('eta'), 'There is no command "eta"; there are bake, eat. Did you mean eat? See --help.');
    assert.equal(misuse('constructor'), 'There is no command "constructor"; there are bake, eat. See --help.');
    assert.equal(misuse('eat', 'it'), "Unexpected argument 'it': eat takes none. See --help.");
    assert.equal(misuse('eat', '--heat', '200'), '--heat: goes with bake, not with eat. See --help.');
    assert.equal(misuse(), helpOf(EXAMPLE));
  });

  it('asks for help with --help or -h, whatever else is wrong with it', () => {
    for (const argv of [['--help'], ['-h'], ['fry', '--help'], ['--colour', '--help'], ['eat', '--rate', 'x', '-h']]) {
      assert.equal(readCommandLine(EXAMPLE, argv), 'help', argv.join(' '));
    }
    assert.deepEqual(read('eat', '--', '--help').rest, ['--help']);
  });
});

type Work = () => number | undefined | Promise<number | undefined>;

/** What a command prints in this process, and its exit code. */
async function run(command: Command<Options>, work: Work, ...argv: string[]) {
  const [out, err]: string[][] = [[], []];
  const print = (line: string) => void out.push(line);
  const complain = (line: string) => void err.push(line);
  const code = await runCommand(command, work, { argv, environment: {}, print, complain });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('a command that runs', () => {
  const fails = (error: unknown) => run(EXAMPLE, () => Promise.reject(error), 'eat');

  it('exits 0 when it is done, 1 when it failed and 2 when it was misused', async () => {
    assert.deepEqual(await run(EXAMPLE, () => undefined, 'eat'), { code: 0, out: '', err: '' });
    assert.deepEqual(await run(EXAMPLE, () => 1, 'eat'), { code: 1, out: '', err: '' });
    assert.deepEqual(await fails(new Error('the cake is gone')), { code: 1, out: '', err: 'the cake is gone.' });
    assert.deepEqual(await fails(new Misused('No.')), { code: 2, out: '', err: 'No.' });
    assert.deepEqual(await run(EXAMPLE, assert.fail, '--help'), { code: 0, out: helpOf(EXAMPLE), err: '' });
    assert.deepEqual(await run(EXAMPLE, assert.fail), { code: 2, out: '', err: helpOf(EXAMPLE) });
  });

  it('says what is wrong with a file in words, and keeps the stack of a bug', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-command-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const sentence = (path: string) => {
      try {
        readInput(path);
      } catch (error) {
        return sentenceOf(error);
      }
      return '';
    };
    assert.equal(sentence(join(folder, 'none')), `There is no file ${folder}/none.`);
    assert.equal(sentence(folder), `${folder} is a folder, not a file.`);
    writeFileSync(join(folder, 'file'), '');
    assert.equal(sentence(join(folder, 'file/x')), `${folder}/file/x: a part of this path is a file, not a folder.`);
    assert.match(sentenceOf(new TypeError('a bug')), /^TypeError: a bug\n +at /);
  });

  it('makes folders, and says at once which option names one that can’t be made', { timeout: 60_000 }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-command-'));
    t.after(() => rmSync(folder, { recursive: true }));
    makeFolder(join(folder, 'a/b/c'), '--out', 0o700);
    makeFolder(join(folder, 'a/b/c'), '--out');
    assert.equal(statSync(join(folder, 'a/b/c')).mode & 0o777, 0o700);
    writeFileSync(join(folder, 'file'), '');
    assert.throws(() => makeFolder(join(folder, 'file'), '--out'), /^Error: --out: .*file is a file, not a folder$/);
    assert.throws(
      () => makeFolder(join(folder, 'file/x'), '--out'),
      /^Error: --out: the folder .*file\/x can't be made/,
    );
    assert.throws(
      () => makeFolder('/proc/x/y', '--data'),
      /^Error: --data: the folder \/proc\/x\/y can't be made: no folder can be made in \/proc$/,
    );
  });

  it('are reported when no file can be made in them', () => {
    throwIfReadOnly(tmpdir(), '--data');
    const failing = (code: string) => () => {
      throw Object.assign(new Error(`${code}: as the system says`), { code });
    };
    assert.throws(() => throwIfReadOnly('/srv/x', '--data', failing('EACCES')), {
      message:
        '--data: no file can be made in /srv/x: permission denied; start it as the owner of the folder, or choose another one',
    });
    assert.throws(() => throwIfReadOnly('/srv/x', '--data', failing('EROFS')), {
      message: '--data: no file can be made in /srv/x: EROFS: as the system says',
    });
  });
});

describe('units', () => {
  it('are read in the forms people write, and nothing else', () => {
    assert.deepEqual(['5', '500ms', '2s', '1.5m', '1h', '250 us'].map(readSeconds), [5, 0.5, 2, 90, 3600, 0.00025]);
    assert.deepEqual(['', '-1s', '5 days', '1e3', 's'].map(readSeconds), Array(5).fill(undefined));
    assert.deepEqual(['300MiB', '1 KiB', '7'].map(readBytes), [300 * 2 ** 20, 1024, 7]);
    assert.deepEqual(['300MB', '-1', 'KiB'].map(readBytes), Array(3).fill(undefined));
  });
});

/** A program of the project, as the launcher starts it. */
interface Program {
  file: string;
  command: Command<Options>;
  /** Words that come before an option that takes a number, and that option; absent: it has none. */
  negative?: readonly [...words: string[], flag: string];
  /** Without arguments it prints its usage; the others do something useful then, which takes minutes. */
  needsWords?: boolean;
  /** Words that its table allows and the program itself refuses, and what it says; absent: it refuses none. */
  refused?: { words: readonly string[]; error: RegExp };
}

const PROGRAMS: Record<string, Program> = {
  relay: { file: 'server/bin/relay.ts', command: RELAY, negative: ['--workers'] },
  admin: { file: 'server/bin/admin.ts', command: ADMIN, negative: ['profile', '--seconds'], needsWords: true },
  spr: { file: 'server/bin/spr.ts', command: SPR, negative: ['pack', 'a.png', '--scale'], needsWords: true },
  bench: { file: 'server/bench/bench.ts', command: BENCH, negative: ['outside', '--rate'] },
  'bench:pacing': { file: 'client-win/bench/pacing.ts', command: BENCH_PACING, negative: ['--sprites'] },
  'bench:heap': {
    ...{ file: 'v8-patches/bench/heap.ts', command: BENCH_HEAP, negative: ['relay', '--rounds'] },
    refused: { words: ['buffers', 'nonsense'], error: /^"nonsense": must be one of every-4k, / },
  },
  swarm: {
    ...{ file: 'loadtest/bin/swarm.ts', command: SWARM, negative: ['--rate'] },
    refused: {
      words: ['vilage'],
      error: /^There is no scenario "vilage": .* one of .*village\. Did you mean village\?$/m,
    },
  },
  fleet: { file: 'ec2/bin/fleet.ts', command: FLEET, negative: ['plan', '--rate'], needsWords: true },
  client: { file: 'tools/client.ts', command: CLIENT },
  libraries: { file: 'server/libraries/pack.ts', command: LIBRARIES },
  test: { file: 'tools/test/test.ts', command: TEST },
};

function start({ file }: Program, argv: readonly string[]): Promise<{ code: unknown; out: string; err: string }> {
  const flags = ['--disable-warning=ExperimentalWarning', join(ROOT, file)];
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, ...argv], { timeout: 60_000 }, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

describe('every command', { concurrency: 2, timeout: 900_000 }, () => {
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const { command, negative, needsWords, refused } = program;
    const unknown = { words: ['--no-such-option'], error: /^Unknown option '--no-such-option'\. See --help\.\n$/ };

    it(`${name} prints its help, which is made of its table, and exits 0`, async () => {
      const { code, out, err } = await run(command, assert.fail, '--help');
      assert.deepEqual([code, err], [0, '']);
      const words = out.replace(/\s+/g, ' ');
      for (const [option, { value, meaning, shown }] of Object.entries(command.options)) {
        assert.ok(words.includes(`--${flagOf(option)}${value && ` ${value}`} ${meaning}`), option);
        assert.ok(words.includes(`[${shown}]`) || shown === '', `${option}: ${shown}`);
      }
      for (const one of Object.keys(command.commands ?? {})) assert.match(out, new RegExp(`^  ${one}\\b`, 'm'));
      assert.match(out, /^Exit code: 0 done, 1 failed(?: \([^)]+\))?, 2 misused\.$/m);
      for (const [title, options] of Object.entries(command.sections ?? {})) {
        assert.ok(out.includes(`\n${title}:\n`));
        for (const option of Object.keys(options)) assert.ok(option in command.options);
      }
      const headed = Object.values(command.sections ?? { '': command.options }).flatMap(Object.keys);
      assert.deepEqual(headed.toSorted(), Object.keys(command.options).toSorted());
    });

    it(`${name}, started with words that it does not know, says so on stderr and exits 2`, async () => {
      const { words, error } = refused ?? unknown;
      const { code, out, err } = await start(program, words);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, error);
    });

    if (negative) {
      it(`${name} exits 2 on a negative ${negative.at(-1)} and says what it must be`, async () => {
        const { code, out, err } = await run(command, assert.fail, ...negative, '-5');
        assert.deepEqual([code, out], [2, '']);
        assert.match(err, new RegExp(`^${negative.at(-1)}: must be a (?:whole )?number from .* not "-5"\\.$`));
      });
    }

    if (needsWords) {
      it(`${name} exits 2 without arguments, and prints its usage on stderr`, async () => {
        assert.deepEqual(await run(command, assert.fail), { code: 2, out: '', err: helpOf(command) });
      });
    }
  }

  it('reads no variable of ours that the launcher does not know', () => {
    const options = Object.values(PROGRAMS).flatMap(({ command }) => Object.values<Option<unknown>>(command.options));
    const read = new Set(options.flatMap(({ variables = [] }) => variables.filter((name) => /^SPRITES_/.test(name))));
    for (const path of listFiles().filter((one) => /\.[jt]s$/.test(one))) {
      const code = readFileSync(join(ROOT, path), 'utf8');
      for (const [, name] of code.matchAll(/(?:\benv\.|^const \w+ = ')(SPRITES_\w+)/gm)) read.add(name);
    }
    for (const path of listFiles().filter((one) => /^ec2\/boot\/.*\.sh$/.test(one))) {
      for (const [, name] of readFileSync(join(ROOT, path), 'utf8').matchAll(/\$\{?(SPRITES_\w+)/g)) read.add(name);
    }
    assert.deepEqual(VARIABLES.toSorted(), [...read].toSorted());
  });

  it('says which benches there are, and that a command takes no words', async () => {
    assert.match(
      (await run(BENCH_HEAP, assert.fail, 'nonsense')).err,
      /there are topology, collection, buffers, relay\./,
    );
    assert.match((await run(BENCH_PACING, assert.fail, 'nonsense')).err, /^Unexpected argument 'nonsense'/);
  });
});

it('a variable that looks like ours and is none is named, with the nearest that is', () => {
  const ours = { SPRITES_PORT: '1', SPRITES_NODE: 'node', HOME: '/', SPRITES: '1' };
  const others = ['SPRITES_PROT', 'SPRITES_BUCKT', 'SPRITES_NO_ATP', 'SPRITES_COLOUR'];
  assert.deepEqual(unknownVariables({ ...ours, ...Object.fromEntries(others.map((name) => [name, ''])) }), [
    'Nothing reads the variable SPRITES_PROT. Did you mean SPRITES_PORT?',
    'Nothing reads the variable SPRITES_BUCKT. Did you mean SPRITES_BUCKET?',
    'Nothing reads the variable SPRITES_NO_ATP. Did you mean SPRITES_NO_APT?',
    'Nothing reads the variable SPRITES_COLOUR.',
  ]);
});
