/** Imports go down only: bin → roles → domain → wire, with front beside domain, and web on its own. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('../server', import.meta.url));

/** Which layers each layer may import besides itself. */
const BELOW: Record<string, readonly string[]> = {
  bin: ['roles', 'domain', 'front', 'wire', 'bench', '..'],
  roles: ['domain', 'front', 'wire'],
  domain: ['wire'],
  front: ['wire'],
  wire: [],
  web: ['wire'],
};

/** What layers that are pure may have from outside: nothing with a clock, a socket or a file. */
const OUTSIDE_OF_PURE: Record<string, readonly string[]> = {
  domain: ['node:assert'],
  wire: ['node:assert', 'node:crypto', 'node:zlib'],
};

interface Import {
  /** A file of ours as `layer/…/x.ts`, or the name of a builtin or package. */
  to: string;
  ours: boolean;
  /** Gone when the types are stripped. */
  typeOnly: boolean;
}

interface Source {
  readonly path: string;
  readonly code: string;
  readonly imports: Import[];
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[\w*{][^;'"]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm;
const EXPRESSION = /\bimport\s*\(\s*['"]([^'"\n]+)['"]\s*\)/g;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

function readImports(path: string, code: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean) => {
    const ours = specifier.startsWith('.');
    const to = ours
      ? normalize(join(dirname(path), specifier))
          .split(sep)
          .join('/')
      : specifier;
    found.push({ to, ours, typeOnly });
  };
  for (const [, type, specifier] of code.matchAll(STATEMENT)) add(specifier, type !== undefined);
  for (const [, specifier] of code.matchAll(EXPRESSION)) add(specifier, false);
  return found;
}

/** All programs of the layers: no tests, no contracts that tests share, no drawings that are made once. */
function readSources(): Source[] {
  const paths = readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
  return paths
    .filter((path) => path.endsWith('.ts') && !/\.(?:test|contract|d)\.ts$|(?:^|\/)(?:node_modules|build)\//.test(path))
    .filter((path) => layerOf(path) in BELOW && !path.startsWith('web/sprites/'))
    .map((path) => {
      const code = readFileSync(join(SERVER, path), 'utf8').replace(COMMENT, '');
      return { path, code, imports: readImports(path, code) };
    });
}

const layerOf = (path: string) => path.slice(0, Math.max(0, path.indexOf('/')));

const SOURCES = readSources();
const byPath = new Map(SOURCES.map((source) => [source.path, source]));

/** Everything that runs when `path` is loaded, itself included. */
function loadedBy(path: string): Source[] {
  const seen = new Set([path]);
  for (const at of seen) {
    for (const { to, ours, typeOnly } of byPath.get(at)?.imports ?? []) if (ours && !typeOnly) seen.add(to);
  }
  return [...seen].flatMap((at) => byPath.get(at) ?? []);
}

describe('imports', () => {
  it('are read from every form they are written in', () => {
    const code = [
      "import a from './a.ts';",
      "import { b, type B } from '../b.ts';",
      "import type { C } from './c.ts';",
      "import {\n  d,\n  e,\n} from 'node:d';",
      "import * as f from './f.ts';",
      "import './g.ts';",
      "export { h } from './h.ts';",
      "export * from './i.ts';",
      "export type { J } from './j.ts';",
      "const k = await import('./k.ts');",
      "export const l = { from: 'nowhere' };",
      "export function m(from: string): string {\n  return 'm' + from;\n}",
    ].join('\n');
    const found = readImports('x/y.ts', code).map(({ to, typeOnly }) => (typeOnly ? `type ${to}` : to));
    assert.deepEqual(found, [
      'x/a.ts',
      'b.ts',
      'type x/c.ts',
      'node:d',
      'x/f.ts',
      'x/g.ts',
      'x/h.ts',
      'x/i.ts',
      'type x/j.ts',
      'x/k.ts',
    ]);
  });

  it('are found in every layer that has files', () => {
    for (const layer of ['bin', 'roles', 'domain', 'front', 'wire']) {
      assert.ok(
        SOURCES.some(({ path }) => layerOf(path) === layer),
        layer,
      );
    }
    assert.ok(byPath.get('domain/relay.ts')?.imports.some(({ to }) => to === 'domain/torus.ts'));
  });

  it('name files that are there', () => {
    for (const { path, imports } of SOURCES) {
      for (const { to, ours } of imports) {
        if (ours && to.endsWith('.ts') && layerOf(to) in BELOW) assert.ok(byPath.has(to), `${path} imports ${to}`);
      }
    }
  });

  it('go down only, also for types', () => {
    const up = SOURCES.flatMap(({ path, imports }) =>
      imports
        .filter(({ to, ours }) => ours && layerOf(to) !== layerOf(path) && !BELOW[layerOf(path)].includes(layerOf(to)))
        .map(({ to }) => `${path} imports ${to}`),
    );
    assert.deepEqual(up, []);
  });

  it('run in no circle', () => {
    const done = new Set<string>();
    const follow = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), [...trail.slice(trail.indexOf(path)), path].join(' → '));
      if (done.has(path)) return;
      for (const { to, ours, typeOnly } of byPath.get(path)?.imports ?? [])
        if (ours && !typeOnly) follow(to, [...trail, path]);
      done.add(path);
    };
    for (const { path } of SOURCES) follow(path, []);
  });

  it('bring no clock, socket or file into domain and wire, and no package', () => {
    for (const [layer, allowed] of Object.entries(OUTSIDE_OF_PURE)) {
      for (const { path, imports } of SOURCES.filter((source) => layerOf(source.path) === layer)) {
        for (const { to, ours } of imports) assert.ok(ours || allowed.includes(to), `${path} imports ${to}`);
      }
    }
    const ambient =
      /\b(?:Date\.now|new Date\(|performance\.|Math\.random|setTimeout|setInterval|setImmediate|fetch\(|process\.)/;
    for (const { path, code } of SOURCES) {
      if (layerOf(path) === 'domain' || layerOf(path) === 'wire') assert.doesNotMatch(code, ambient, path);
    }
  });

  it('bring nothing into a page that a browser does not have', () => {
    for (const { path } of SOURCES.filter((source) => layerOf(source.path) === 'web')) {
      for (const loaded of loadedBy(path)) {
        for (const { to, ours, typeOnly } of loaded.imports) {
          assert.ok(
            ours || typeOnly,
            `${path} loads ${loaded.path}, which imports ${isBuiltin(to) ? 'the builtin' : 'the package'} ${to}`,
          );
        }
        assert.doesNotMatch(loaded.code, /\b(?:Buffer|process)\b[.(]/, `${path} loads ${loaded.path}`);
      }
    }
  });
});
