/**
 * `npm run libraries`: packs the libraries by which a program becomes a desktop, for npm and for pip.
 *
 * The compiler makes JavaScript of the page's own modules, with their types beside them; the wheel is one file of Python. The same commit
 * makes the same bytes, with the same versions of the compiler and of Python's zlib.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, runCommand, text } from '../../tools/command.ts';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { findInModules } from '../../tools/packages.js';
import { VERSION } from '../../tools/version.js';

const ROOT = join(import.meta.dirname, '../..');
const README = join(import.meta.dirname, 'README.md');
const LICENCE = join(ROOT, 'LICENSE');

const OPTIONS = { out: text('FOLDER', 'where to; by default build/libraries/ of the project') };

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run libraries -- [options]'],
  about: 'Packs the libraries for other programs: sprites-client for JavaScript (npm) and for Python (pip).',
  options: OPTIONS,
};

/** What to give npm and pip. */
export interface Archives {
  readonly javascript: string;
  readonly python: string;
}

/** Packs both into a folder. Throws an Error with a sentence. */
export function packLibraries(out: string): Archives {
  mkdirSync(out, { recursive: true });
  return { javascript: packJavascript(out), python: packPython(out) };
}

function packJavascript(out: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'sprites-library-'));
  try {
    const compiler = findInModules(ROOT, 'typescript/bin/tsc');
    if (compiler === undefined) throw new Error('The compiler of TypeScript is missing: npm ci installs it.');
    const project = join(import.meta.dirname, 'javascript');
    execFileSync(process.execPath, [compiler, '-p', project, '--outDir', join(stage, 'lib')], { stdio: 'inherit' });
    const entry = './lib/libraries/javascript/client';
    const described = {
      name: 'sprites-client',
      version: VERSION,
      description: 'A desktop without a window, for programs that throw and catch sprites',
      license: 'MIT',
      type: 'module',
      exports: { types: `${entry}.d.ts`, default: `${entry}.js` },
      sideEffects: false,
      engines: { node: '>=22' },
    };
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
    cpSync(join(import.meta.dirname, 'examples'), join(stage, 'examples'), { recursive: true });
    copyFileSync(README, join(stage, 'README.md'));
    copyFileSync(LICENCE, join(stage, 'LICENSE'));
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(out)];
    const name = execFileSync('npm', pack, { cwd: stage, encoding: 'utf8' }).trim();
    return join(out, name);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

function packPython(out: string): string {
  if (!ensurePrograms(['python3'], ['python3'])) throw new Error(`Python is missing: ${installHint(['python3'])}`);
  execFileSync('python3', [join(import.meta.dirname, 'python/wheel.py'), out, VERSION, README, LICENCE]);
  return join(out, `sprites_client-${VERSION}-py3-none-any.whl`);
}

if (import.meta.main) {
  process.exitCode = await runCommand(COMMAND, ({ values }) => {
    const { javascript, python } = packLibraries(values.out ?? join(ROOT, 'build/libraries'));
    console.log(`For npm:  ${javascript}\nFor pip:  ${python}`);
    return undefined;
  });
}
