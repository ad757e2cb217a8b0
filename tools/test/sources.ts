/**
 * The project's sources and what each imports, read from the text of the files that git tracks or does not know yet.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface Import {
  /** A file of ours, from the root, or the name of a builtin, a package or a system header. */
  to: string;
  ours: boolean;
  /** Gone when the types are stripped. */
  typeOnly: boolean;
}

export interface Source {
  readonly path: string;
  readonly code: string;
  readonly imports: Import[];
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[\w*{][^;'"]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm;
const EXPRESSION = /\bimport\s*\(\s*['"]([^'"\n]+)['"]\s*\)/g;
const INCLUDE = /^\s*#\s*include\s+(["<])([^">\n]+)[">]/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** What a source imports, in the order of its text: TypeScript and JavaScript, or C++. */
export function readImports(path: string, code: string): Import[] {
  return /\.(?:ts|js)$/.test(path) ? readModules(path, code) : readIncludes(path, code);
}

function readModules(path: string, code: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean) => {
    const ours = specifier.startsWith('.');
    found.push({ to: ours ? posix.join(posix.dirname(path), specifier) : specifier, ours, typeOnly });
  };
  for (const [, type, specifier] of code.matchAll(STATEMENT)) add(specifier, type !== undefined);
  for (const [, specifier] of code.matchAll(EXPRESSION)) add(specifier, false);
  return found;
}

/** C++ names a file from a folder that is around both (client-win/, server/native/, or the one that both are in), or from server/. */
function readIncludes(path: string, code: string): Import[] {
  const folders = path.split('/').slice(0, -1);
  const around = [...folders.map((_, i) => folders.slice(0, folders.length - i).join('/')), 'server'];
  return [...code.matchAll(INCLUDE)].map(([, quote, name]) => {
    const candidates = around.map((folder) => posix.join(folder, name));
    const to = quote === '"' ? candidates.find((candidate) => existsSync(join(ROOT, candidate))) : undefined;
    return { to: to ?? name, ours: to !== undefined, typeOnly: false };
  });
}

/** The part that a file belongs to: its top-level folder. */
export const partOf = (path: string): string => path.slice(0, path.indexOf('/'));

/** All files of the project, with a path from the root each: what git tracks, and what it neither knows nor ignores. */
export function listFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

/** Reads one source, without its comments. */
export function readSource(path: string): Source {
  const code = readFileSync(join(ROOT, path), 'utf8').replace(COMMENT, '');
  return { path, code, imports: readImports(path, code) };
}
