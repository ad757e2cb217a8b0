/**
 * Imports go down only, in every part, in TypeScript and in C++, and run in no circle.
 *
 * The parts stand beside each other: each imports of another only what that one publishes, and the workshop (`tools/`) imports
 * no part. Within a part, layers import the layers below them. Read from the text of the files that git tracks.
 *
 * Needs no build: it names files of every part, and reads only their text.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { listFiles, partOf, readImports, readSource, type Source } from './test/sources.ts';

const ROOT = join(import.meta.dirname, '..');

/** The parts that each part may import from. `tools` is everybody's. */
const PARTS: Record<string, readonly string[]> = {
  server: [],
  loadtest: ['server'],
  'client-win': ['server'],
  'v8-patches': ['server'],
  ec2: ['loadtest'],
  tools: [],
};

/** Tests of the workshop that hold every part to one rule, so they import from all. */
const ACROSS: readonly string[] = ['tools/command.test.ts'];

/** What a part publishes for the others. */
const PUBLISHED: readonly string[] = [
  'server/wire/rules.h', // the rules of the wire
  'server/wire/rules.ts',
  'server/wire/files/sheet.ts', // the .spr file, read and written
  'server/wire/files/spr.ts',
  'server/wire/files/description.ts', // which animations are played, and instead of which
  'server/web/motion/simulation.ts', // the rules that every desktop shares
  'server/web/desktop/bubbles.ts',
  'server/web/desktop/company_panel.ts',
  'server/web/desktop/games.ts',
  'server/web/desktop/guests.ts',
  'server/web/pictures/cutout.ts',
  'server/web/pictures/picture_files.ts',
  'server/web/pictures/trim.ts',
  'server/web/relay/saying_history.ts',
  'server/web/relay/arrivals.ts',
  'server/web/relay/away.ts',
  'server/web/relay/moves.ts',
  'server/web/relay/departures.ts',
  'server/web/relay/goal.ts',
  'server/web/relay/journey.ts',
  'server/wire/crossing.ts',
  'server/web/relay/poll.ts',
  'server/web/relay/posts.ts',
  'server/web/relay/transport.ts',
  'server/web/relay/peek.ts',
  'server/web/desktop/peek_gesture.ts',
  'server/web/desktop/silhouettes.ts',
  'server/web/relay/stage.ts',
  'server/web/relay/stage_posts.ts',
  'server/libraries/javascript/client.ts', // a desktop for programs
  'server/test/relay_process.ts', // a relay for tests
  'server/test/desktop_client.ts', // a desktop without a window for tests
  'server/test/shimeji_pack.ts', // a pack of another program, for tests
  'server/test/browser_page.ts', // a page in a browser, for tests
  'server/test/random.ts', // random numbers of a seed, for tests
  'server/test/editor_page.ts',
  'server/operator/garbage_collection.ts', // what the heap bench measures
  'server/front/file_limit.ts',
  'loadtest/report/merge.ts',
  'loadtest/report/relay_account.ts',
  'loadtest/report/relay_sample.ts',
  'loadtest/report/report.ts',
  'loadtest/report/verdict.ts',
  'loadtest/run/machine.ts',
  'loadtest/run/plan.ts', // a scenario of the swarm, for a fleet
  'loadtest/run/relay_target.ts',
  'loadtest/run/scenario.ts',
  'loadtest/run/share.ts',
  'loadtest/test/faulty_relay.ts', // a relay and results for tests
  'loadtest/test/results.ts',
];

/** The folders of the client's core, and which others each may include. */
const CLIENT_CORE: Record<string, readonly string[]> = {
  text: [],
  screen: ['text'],
  motion: ['text', 'screen'],
  picture: ['text', 'screen', 'motion'],
  scene: ['text', 'screen', 'motion', 'picture'],
  relay: ['text', 'screen', 'motion', 'picture'],
  desktop: ['text', 'screen', 'motion', 'picture', 'scene', 'relay'],
  words: ['text', 'screen', 'motion', 'picture', 'scene', 'relay', 'desktop'],
  app: ['text', 'screen', 'motion', 'picture', 'scene', 'relay', 'desktop', 'words'],
};

/** The rooms around the domain that a relay's roles are made of, each above the ones after it. */
const RELAY_ROOMS: readonly string[] = [
  'server/operator',
  'server/cluster',
  'server/metrics',
  'server/http',
  'server/moderation',
  'server/processes',
  'server/store',
];

/** The rooms of the relay without processes and sockets, each above the ones after it: what decides, above what is kept. */
const DOMAIN: readonly string[] = ['', '/peers', '/talk', '/state', '/slots'].map((room) => `server/domain${room}`);

/** What all of them speak: to desktops, between relays, and the files of sprites. */
const WIRE: readonly string[] = ['server/wire/peers', 'server/wire/files', 'server/wire'];

/** The rooms of the pages, each above the ones after it. */
const PAGE_ROOMS: readonly string[] = ['make', 'pages', 'desktop', 'pictures', 'relay', 'motion', 'texts'].map(
  (room) => `server/web/${room}`,
);

/** The rooms of the swarm's engine, each above the ones after it. */
const ENGINE_ROOMS: readonly string[] = ['run', 'desktops', 'plan', 'account', 'net'].map(
  (room) => `loadtest/engine/${room}`,
);

const inCore = (folder: string) => `client-win/core/${folder}`;

/** The layers of a desktop program, whose rooms are each above the ones after it. */
function shellLayers(folder: string, rooms: readonly string[], below: readonly string[]): Record<string, string[]> {
  const all = [...rooms.map((room) => `${folder}/${room}`), ...below, ...Object.keys(CLIENT_CORE).map(inCore)];
  return Object.fromEntries([folder, ...all.slice(0, rooms.length)].map((layer, i) => [layer, all.slice(i)]));
}

/**
 * The layers of each part, and which others each may import. The longest folder that fits a file is its layer. Tests may import
 * every layer of their part; so may `test` folders, which only tests import.
 */
const LAYERS: Record<string, readonly string[]> = {
  'server/bench': ['server/bin', 'server/roles', ...RELAY_ROOMS, 'server/journal', ...DOMAIN, 'server/front', ...WIRE],
  'server/bin': ['server/roles', 'server/journal', ...RELAY_ROOMS, ...DOMAIN, 'server/front', ...WIRE],
  'server/roles': [...RELAY_ROOMS, 'server/journal', ...DOMAIN, 'server/front', ...WIRE],
  ...Object.fromEntries(
    RELAY_ROOMS.map((room, i) => [
      room,
      [...RELAY_ROOMS.slice(i + 1), ...DOMAIN, 'server/front', ...WIRE, 'server/web/texts'],
    ]),
  ),
  'server/journal': [...DOMAIN, ...WIRE],
  ...Object.fromEntries(DOMAIN.map((room, i) => [room, [...DOMAIN.slice(i + 1), ...WIRE]])),
  'server/front': ['server/wire'],
  'server/wire/peers': ['server/wire'],
  'server/wire/files': ['server/wire'],
  'server/wire': [],
  'server/tools': ['server/domain/state', 'server/web/relay', 'server/wire'],
  ...Object.fromEntries(
    PAGE_ROOMS.map((room, i) => [room, [...PAGE_ROOMS.slice(i + 1), 'server/wire/files', 'server/wire']]),
  ),
  'server/residents': ['server/web/relay', 'server/web/motion', 'server/wire'],
  'server/libraries/javascript': ['server/web/relay', 'server/web/motion', 'server/wire'],
  'server/libraries': [],
  'server/web/admin': ['server/web/texts', 'server/wire/peers', 'server/wire'],
  'loadtest/bin': ['loadtest/run', 'loadtest/report'],
  'loadtest/run': ['loadtest/report'],
  'loadtest/report': [],
  ...Object.fromEntries(ENGINE_ROOMS.map((room, i) => [room, ENGINE_ROOMS.slice(i + 1)])),
  'ec2/bin': ['ec2'],
  ec2: [],
  ...shellLayers('client-win/win32', ['dialogs', 'windows', 'system'], []),
  ...shellLayers('client-win/x11', ['windows', 'system'], ['client-win/posix']),
  'client-win/posix': Object.keys(CLIENT_CORE).map(inCore),
  ...Object.fromEntries(Object.entries(CLIENT_CORE).map(([folder, below]) => [inCore(folder), below.map(inCore)])),
  'v8-patches/bench': [],
  'tools/bench': ['tools'],
  'tools/release': ['tools'],
  tools: [],
};

/** What pure layers may import from outside: nothing with a clock, a socket or a file. */
const OUTSIDE_OF_PURE: Record<string, readonly string[]> = {
  ...Object.fromEntries(DOMAIN.map((room) => [room, ['node:assert']])),
  ...Object.fromEntries(WIRE.map((room) => [room, ['node:assert', 'node:crypto', 'node:zlib']])),
};

/** The longest folder of LAYERS that holds the file; undefined for tests, and outside of all layers. */
function layerOf(path: string): string | undefined {
  if (isTest(path)) return undefined;
  let folder = posix.dirname(path);
  while (folder !== '.' && !(folder in LAYERS)) folder = posix.dirname(folder);
  return folder === '.' ? undefined : folder;
}

function isTest(path: string): boolean {
  return /\.(?:test|contract)\.ts$|_(?:test|fuzz|bench)\.cc$|\/test\//.test(path);
}

const SOURCES = listFiles()
  .filter((path) => /\.(?:ts|js|cc|h)$/.test(path) && partOf(path) in PARTS && path !== 'tools/imports.test.ts')
  .map(readSource);
const byPath = new Map(SOURCES.map((source) => [source.path, source]));

/** Everything that runs when `path` is loaded, itself included. */
function loadedBy(path: string): Source[] {
  const seen = new Set([path]);
  for (const at of seen) {
    for (const { to, ours, typeOnly } of byPath.get(at)?.imports ?? []) if (ours && !typeOnly) seen.add(to);
  }
  return [...seen].flatMap((at) => byPath.get(at) ?? []);
}

/** Each import that `isWrong`, as a sentence. */
function wrong(isWrong: (from: Source, to: string) => boolean): string[] {
  return SOURCES.flatMap((source) =>
    source.imports
      .filter(({ to, ours }) => ours && isWrong(source, to))
      .map(({ to }) => `${source.path} imports ${to}`),
  );
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
    const includes = readImports('server/native/http/x.cc', '#include "io/inbox.h"\n#include <vector>\n');
    assert.deepEqual(
      includes.map(({ to, ours }) => [to, ours]),
      [
        ['server/native/io/inbox.h', true],
        ['vector', false],
      ],
    );
  });

  it('are found in every layer', () => {
    for (const layer of Object.keys(LAYERS).filter((folder) => existsSync(join(ROOT, folder)))) {
      assert.ok(
        SOURCES.some(({ path }) => layerOf(path) === layer),
        layer,
      );
    }
    const finds = (from: string, to: string) => byPath.get(from)?.imports.some((found) => found.to === to);
    assert.ok(finds('server/domain/relay.ts', 'server/domain/state/torus.ts'));
    assert.ok(finds('client-win/core/desktop/desktop.cc', 'client-win/core/desktop/desktop.h'));
  });

  it('of the client core lie in folders that are known here', () => {
    const folders = SOURCES.filter(({ path }) => /^client-win\/core\/\w+\//.test(path)).map(
      ({ path }) => path.split('/')[2],
    );
    assert.deepEqual([...new Set(folders)].sort(), Object.keys(CLIENT_CORE).sort());
  });

  it('name files that are there', () => {
    assert.deepEqual(
      wrong((_, to) => /\.(?:ts|js)$/.test(to) && !byPath.has(to)),
      [],
    );
  });

  it('go down only, also for types', () => {
    const up = wrong(({ path }, to) => {
      const [from, target] = [layerOf(path), layerOf(to)];
      if (from === undefined || partOf(path) !== partOf(to)) return false;
      // What has no layer is a test, which no program imports.
      return from !== target && (target === undefined || !LAYERS[from].includes(target));
    });
    assert.deepEqual(up, []);
  });

  it('reach into another part only for what it publishes', () => {
    const reaching = wrong(({ path }, to) => {
      const [from, target] = [partOf(path), partOf(to)];
      if (from === target || target === 'tools' || ACROSS.includes(path)) return false;
      return !PARTS[from].includes(target) || !PUBLISHED.includes(to);
    });
    assert.deepEqual(reaching, []);
  });

  it('of what is published are made by somebody', () => {
    for (const published of PUBLISHED) {
      const isUsed = SOURCES.some(
        ({ path, imports }) => partOf(path) !== partOf(published) && imports.some(({ to }) => to === published),
      );
      assert.ok(isUsed, `${published} is published, but no other part imports it`);
    }
  });

  it('run in no circle, also for types', () => {
    const done = new Set<string>();
    const follow = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), [...trail.slice(trail.indexOf(path)), path].join(' → '));
      if (done.has(path)) return;
      for (const { to, ours } of byPath.get(path)?.imports ?? []) if (ours) follow(to, [...trail, path]);
      done.add(path);
    };
    for (const { path } of SOURCES) follow(path, []);
  });

  it('bring no clock, socket or file into domain and wire, and no package', () => {
    for (const [layer, allowed] of Object.entries(OUTSIDE_OF_PURE)) {
      for (const { path, imports } of SOURCES.filter(({ path }) => layerOf(path) === layer && path.endsWith('.ts'))) {
        for (const { to, ours } of imports) assert.ok(ours || allowed.includes(to), `${path} imports ${to}`);
      }
    }
    const ambient =
      /\b(?:Date\.now|new Date\(|performance\.|Math\.random|setTimeout|setInterval|setImmediate|fetch\(|process\.)/;
    for (const { path, code } of SOURCES) {
      if ((layerOf(path) ?? '') in OUTSIDE_OF_PURE) assert.doesNotMatch(code, ambient, path);
    }
  });

  it('bring no platform into the client core, and no Node into what lies below Node-API', () => {
    for (const { path, imports } of SOURCES) {
      const isCore = path.startsWith('client-win/core/');
      const isBelowNodeApi =
        path.startsWith('server/native/') && !/\/(?:addon|node_wait|ring_set)\.(?:cc|h)$/.test(path);
      const forbidden = isCore
        ? /^(?:windows\.h|winhttp\.h|curl\/|openssl\/|xcb\/)/i
        : isBelowNodeApi
          ? /^(?:napi|node_api|uv|v8)\.h$/
          : undefined;
      for (const { to } of imports) assert.ok(!forbidden?.test(to), `${path} includes ${to}`);
    }
  });

  /** Packages that esbuild puts into a page, because a browser can run them. */
  const PACKAGES_OF_PAGES = ['omggif', 'uqr'];

  it('bring nothing into a page, or a program that uses its modules, that a browser does not have', () => {
    const isPage = (path: string) => /^server\/(?:web|libraries\/javascript)\//.test(layerOf(path)?.concat('/') ?? '');
    for (const { path } of SOURCES.filter((source) => isPage(source.path))) {
      for (const loaded of loadedBy(path)) {
        for (const { to, ours, typeOnly } of loaded.imports) {
          assert.ok(
            ours || typeOnly || PACKAGES_OF_PAGES.includes(to),
            `${path} loads ${loaded.path}, which imports ${isBuiltin(to) ? 'the builtin' : 'the package'} ${to}`,
          );
        }
        assert.doesNotMatch(loaded.code, /\b(?:Buffer|process)\b[.(]/, `${path} loads ${loaded.path}`);
      }
    }
  });
});
