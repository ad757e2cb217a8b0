/** The libraries for JavaScript and Python, installed from their own archives into an empty folder, and their examples, with a relay. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aptInstall, installHint } from '../../tools/machine.js';
import { findInModules } from '../../tools/packages.js';
import { pageProgram } from '../http/page_program.ts';
import { packLibraries } from '../libraries/pack.ts';
import type * as transport from '../web/relay/transport.ts';
import * as rules from '../wire/rules.ts';
import { comeIn, launchBrowser, noBrowser, openPage } from './browser_page.ts';
import { DesktopClient, type Event, join, pollFor, type StageEvent, sendRequest } from './desktop_client.ts';
import { meetVisitor, visitOf } from './library_visit.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

const ROOT = joinPath(import.meta.dirname, '../..');
const LIBRARIES = joinPath(ROOT, 'server/libraries');
const VECTORS = ['../../client-win/relay.vectors.json', '../../client-win/moves.vectors.json'];

/** Whether a wheel can be installed. On Debian pip is a package of its own. */
function whyNoPip(): string | false {
  const hasPip = () => {
    try {
      execFileSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  if (!hasPip()) aptInstall(['python3', 'python3-pip']);
  return hasPip() ? false : `needs Python and pip: ${installHint(['python3', 'python3-pip'])}`;
}

/** The same program in each language. It prints JSON, one line each. */
const SPEAKERS = {
  javascript: {
    name: 'speaker.mjs',
    text: `
import { join, NoAnswer } from 'sprites-client';
const tell = (what) => console.log(JSON.stringify(what));
const [task, ...words] = process.argv.slice(2);
if (task === 'wrong') {
  await join(words[0], { on: { sprit() {} } }).catch((error) => tell(error.message));
  await join(words[0], { world: 'wrong', on: { connected: () => Promise.reject(new Error('Oh dear.')) } });
  await new Promise((resolve) => setTimeout(resolve, 1e9)); // something else than .ended
}
if (task === 'join') {
  for (const relay of words) await join(relay).then(() => tell('joined'), (error) => tell(error.message));
  process.exit();
}
const on = { seated: () => tell('seated') };
const desktop = await join(words[0], { world: words[1], name: 'Thrower', on });
if (task === 'company') {
  on.sprite = ({ sprite }) => tell(sprite.name);
  on.swap = async ({ from, with: one }) => tell(from ? await desktop.answer(from, true) : { with: one?.name });
  const { company } = await desktop.company();
  const near = company.find(({ column, row }) => Math.abs(column) + Math.abs(row) === 1);
  tell([near, await desktop.throw({ file: words[2], name: 'Near' }, near)]);
  const far = company.find(({ column, row }) => Math.abs(column) + Math.abs(row) > 1);
  tell(far);
  tell(await desktop.throw({ file: words[2], name: 'Blob' }, far));
  tell(await desktop.throw({ file: words[2] }, { name: 'Nobody', column: 1, row: 0 }));
  tell(await desktop.swap(far));
  tell((await desktop.swap({ ...far, column: 0, row: 0 })).refused.code);
}
if (task === 'peek') {
  on.stage = ({ edge, sprites }) => tell([edge, sprites.map(({ x }) => x)]);
  on.hidden = ({ edge, problem }) => tell([edge, problem.code]);
  desktop.peek('right');
}
if (task === 'show') {
  desktop.show(Array.from({ length: 40 }, (_, id) => ({ id, file: words[2], x: id, y: 600, animation: 'walk' })));
  await new Promise((resolve) => process.stdin.once('data', resolve));
  desktop.show([{ id: 1, file: words[2], x: 'left', y: 600 }]);
}
if (task === 'gone') {
  tell('here');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const asked = ['gallery', 'company', 'swap', 'answer'].map((name) => desktop[name]({ name: 'Ann' }));
  for (const { reason } of await Promise.allSettled(asked)) tell([reason instanceof NoAnswer, reason.message]);
  process.exit();
}
if (task === 'throw') {
  tell(await desktop.throw({ file: words[2], name: 'Blob' }, 'right'));
  tell(await desktop.say(' Done '));
  await desktop.leave();
}
await desktop.ended;
tell('ended');
`,
  },
  python: {
    name: 'speaker.py',
    text: `
import asyncio, json, sys
from sprites_client import join, NoAnswer
def tell(what):
    print(json.dumps(what), flush=True)
async def main(task, *words):
    if task == 'wrong':
        try:
            await join(words[0], on={'sprit': print})
        except ValueError as error:
            tell(str(error))
        def fail(event):
            raise ValueError('Oh dear.')
        await join(words[0], world='wrong', on={'connected': fail})
        await asyncio.sleep(1e6)  # something else than .ended
    if task == 'join':
        for relay in words:
            try:
                await join(relay)
                tell('joined')
            except Exception as error:
                tell(str(error))
        return
    on = {'seated': lambda event: tell('seated')}
    desktop = await join(words[0], world=words[1], name='Thrower', on=on)
    async def swapped(event):
        tell(await desktop.answer(event['from'], True) if 'from' in event else {'with': event.get('with', {}).get('name')})
    if task == 'company':
        on.update(sprite=lambda event: tell(event['sprite']['name']), swap=swapped)
        company = (await desktop.company())['company']
        near = next(one for one in company if abs(one['column']) + abs(one['row']) == 1)
        tell([near, await desktop.throw({'file': words[2], 'name': 'Near'}, near)])
        far = next(one for one in company if abs(one['column']) + abs(one['row']) > 1)
        tell(far)
        tell(await desktop.throw({'file': words[2], 'name': 'Blob'}, far))
        tell(await desktop.throw({'file': words[2]}, {'name': 'Nobody', 'column': 1, 'row': 0}))
        tell(await desktop.swap(far))
        tell((await desktop.swap({**far, 'column': 0, 'row': 0}))['refused']['code'])
    if task == 'peek':
        on['stage'] = lambda event: tell([event['edge'], [one['x'] for one in event['sprites']]])
        on['hidden'] = lambda event: tell([event['edge'], event['problem']['code']])
        desktop.peek('right')
    if task == 'show':
        desktop.show([{'id': n, 'file': words[2], 'x': n, 'y': 600, 'animation': 'walk'} for n in range(40)])
        await asyncio.to_thread(sys.stdin.readline)
        desktop.show([{'id': 1, 'file': words[2], 'x': 'left', 'y': 600}])
    if task == 'gone':
        tell('here')
        await asyncio.to_thread(sys.stdin.readline)
        ann = {'name': 'Ann', 'column': 1, 'row': 0, 'desktop': '1-1'}
        for asked in (desktop.gallery(), desktop.company(), desktop.swap(ann), desktop.answer(ann, True)):
            try:
                await asked
            except Exception as error:
                tell([isinstance(error, NoAnswer), str(error)])
        return
    if task == 'throw':
        tell(await desktop.throw({'file': words[2], 'name': 'Blob'}, 'right'))
        tell(await desktop.say(' Done '))
        await desktop.leave()
    await desktop.ended
    tell('ended')
asyncio.run(main(*sys.argv[1:]))
`,
  },
} as const;

type Language = keyof typeof SPEAKERS;
const LANGUAGES: readonly Language[] = ['javascript', 'python'];
const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';

describe('the libraries', { ...BOUNDED, skip: whyNoPip() }, () => {
  const folder = mkdtempSync(joinPath(tmpdir(), 'sprites-libraries-'));
  const env = { ...process.env, PYTHONPATH: joinPath(folder, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
  const running = new Set<ChildProcess>();
  const servers: http.Server[] = [];
  let relay: RelayProcess;

  before(async () => {
    const started = startRelay({ workers: 0 });
    const { javascript, python } = packLibraries(folder);
    const run = (program: string, ...words: string[]) => execFileSync(program, words, { cwd: folder, stdio: 'pipe' });
    writeFileSync(joinPath(folder, 'package.json'), '{"private":true,"type":"commonjs"}');
    run('npm', 'install', '--offline', '--no-audit', '--no-fund', javascript);
    run('python3', '-m', 'pip', 'install', '--quiet', '--no-index', '--target', joinPath(folder, 'python'), python);
    for (const { name, text } of Object.values(SPEAKERS)) writeFileSync(joinPath(folder, name), text);
    const examples = joinPath(folder, 'node_modules/sprites-client/examples');
    for (const name of readdirSync(examples)) copyFileSync(joinPath(examples, name), joinPath(folder, name));
    relay = await started;
  });
  after(async () => {
    for (const child of running) child.kill('SIGKILL');
    for (const server of servers) server.close().closeAllConnections();
    await relay?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a program of the folder with the installed libraries. */
  function start(name: string, ...words: string[]) {
    const program = name.endsWith('.py') ? 'python3' : process.execPath;
    const child = spawn(program, [joinPath(folder, name), ...words], { cwd: folder, env, stdio: 'pipe' });
    running.add(child);
    const output = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        output.text += part;
      });
    const ended = once(child, 'close').then(() => running.delete(child));
    return { child, output, ended };
  }

  const linesOf = ({ text }: { text: string }) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  async function serve(handle: http.RequestListener): Promise<string> {
    const server = http.createServer(handle).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A proxy in front of the relay, which swallows the answer to the first throw: the relay has accepted it by then. */
  async function swallowingProxy(): Promise<{ url: string; throws: string[] }> {
    const throws: string[] = [];
    const url = await serve(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const { method, headers } = request;
      const to = request.url?.includes('/events') ? relay.eventsUrl : relay.url;
      const body = Buffer.concat(parts);
      const answer = await sendRequest(`${to}${request.url}`, { method, headers, body }).catch(() => undefined);
      if (request.url?.endsWith('/crossings')) {
        throws.push(body.toString());
        if (throws.length === 1) assert.equal(answer?.status, 202);
        if (throws.length === 1) return response.destroy();
      }
      if (answer === undefined) return response.destroy();
      const text = answer.body.toString().replaceAll(relay.eventsUrl, url);
      response.writeHead(answer.status, { 'content-type': `${answer.headers['content-type']}` });
      return response.end(text.replaceAll(relay.url, url));
    });
    return { url, throws };
  }

  for (const language of LANGUAGES) {
    const { name } = SPEAKERS[language];

    it(`${language}: a throw whose 202 is swallowed is repeated under its number, and arrives once`, async () => {
      const { url, throws } = await swallowingProxy();
      const neighbour = await DesktopClient.join(relay.url, { name: 'Ann', world: `swallowed-${language}` });
      const { output, ended } = start(name, 'throw', url, `swallowed-${language}`, FILE);
      await ended;
      const [thrown, said, last] = linesOf(output);
      assert.equal(thrown.to.name, 'Ann');
      assert.deepEqual([said, last], [{ heard: 1 }, 'ended']);
      assert.equal(throws.length, 2);
      assert.equal(throws[0], throws[1]);
      await until('the sprite is here', () => neighbour.received.length > 0);
      assert.deepEqual(
        neighbour.received.map(({ sprite }) => sprite.name),
        ['Blob'],
      );
      await neighbour.leave();
    });

    it(`${language}: says what is wrong when what answers is no relay, or refuses`, async () => {
      const answers: [number, string][] = [
        [200, '<html>Please log in</html>'],
        [201, '{'],
        [201, '['.repeat(100_000)],
        [201, '{"desktop":"1-1"}'],
        [201, `"${'x'.repeat(2 << 20)}"`],
        [503, '{"code":"relay-full","title":"The relay is full","detail":"There is no room."}'],
        [502, '<html>'],
      ];
      const urls: string[] = [];
      for (const [status, body] of answers)
        urls.push(await serve((_, response) => response.writeHead(status).end(body)));
      const gone = http.createServer().listen(0, '127.0.0.1');
      await once(gone, 'listening');
      urls.push(`http://127.0.0.1:${(gone.address() as AddressInfo).port}`);
      await new Promise((resolve) => gone.close(resolve));
      const { output, ended } = start(name, 'join', ...urls, 'localhost:8080');
      await ended;
      const expected = [
        ...[/is no relay of sprites/, /is no relay of sprites/, /is no relay of sprites/, /is no relay of sprites/],
        ...[/more than 1048576 bytes/, /^There is no room\.$/, /^The relay answered 502\.$/],
        ...[/^No relay answers at http:/, /begins with http:\/\/ or https:\/\//],
      ];
      const messages = linesOf(output);
      assert.equal(messages.length, expected.length, output.text);
      for (const [i, pattern] of expected.entries()) assert.match(messages[i], pattern);
    });

    it(`${language}: says what is wrong with a function, at once`, async () => {
      const { child, output, ended } = start(name, 'wrong', relay.url);
      await until('it has failed', () => output.text.includes('Oh dear.'));
      assert.match(output.text, /^"There is no event sprit\. A function may be for sprite, neighbours, /);
      child.kill();
      await ended;
    });

    it(`${language}: says so when the relay does not answer any more`, async () => {
      const own = await startRelay({ workers: 0 });
      const { child, output, ended } = start(name, 'gone', own.url, 'gone');
      await until('it is here', () => output.text.includes('here'));
      await own.stop();
      child.stdin.write('\n');
      await ended;
      const [, ...messages] = linesOf(output);
      assert.equal(messages.length, 4, output.text);
      for (const [isNoAnswer, message] of messages) {
        assert.equal(isNoAnswer, true);
        assert.ok(message.startsWith(`No relay answers at ${own.url}: `), message);
      }
    });

    it(`${language}: throws to one of its company, lets pass what others throw, and changes places`, async () => {
      const world = `company-${language}`;
      const others = new Map<string, DesktopClient>();
      for (const one of ['Ann', 'Bob', 'Cid', 'Dan', 'Eve'])
        others.set(one, await DesktopClient.join(relay.url, { name: one, world }));
      const { child, output, ended } = start(name, 'company', relay.url, world, FILE);
      const told = () => linesOf({ text: output.text.slice(0, output.text.lastIndexOf('\n') + 1) || '""' });
      await until('it has asked', () => told().length > 5 || child.exitCode !== null);
      const [[near, here], far, thrown, notThrown, asked, notAsked] = told();
      assert.equal(here.to?.name, near.name, 'also before the neighbours were told');
      assert.deepEqual(
        [notThrown.refused.code, asked, notAsked],
        ['no-neighbour', { swap: 'asked', leaseMs: rules.SWAP_LEASE_MS }, 'swap-gone'],
      );
      const first = others.get(thrown.to.name)!;
      const onTheWay = () => first.received.find(({ sprite }) => sprite.name === 'Blob');
      await until('it is on its way', () => onTheWay() !== undefined);
      const { goal, from } = onTheWay()!;
      assert.equal(goal?.name, far.name);

      const beside = (edge: rules.Edge) =>
        [...others.values()].find(({ neighbours }) => neighbours?.[edge]?.name === 'Thrower');
      await until('they know where it is', () => beside('right') !== undefined && beside('bottom') !== undefined);
      const [before, above] = [beside('right')!, beside('bottom')!];
      await before.throw('right', 'Rosa', { goal: { name: 'Zoe', column: 0, row: -2 }, animation: 'keep-up-3' });
      await until('Rosa has passed', () => above.received.some(({ sprite }) => sprite.name === 'Rosa'));
      const [rosa] = above.received.filter(({ sprite }) => sprite.name === 'Rosa');
      assert.deepEqual([rosa.goal, rosa.sprite.animation], [{ name: 'Zoe', column: 0, row: -1 }, 'keep-up-3']);
      await before.throw('right', 'Nora', { goal: { name: 'Thrower', column: 0, row: 0 } });
      await until('Nora stays', () => told().includes('Nora'));
      assert.ok(!told().includes('Rosa'));

      const swap = ({ joined }: DesktopClient, method: string, body: object) =>
        sendRequest(joined.crossings.replace(/crossings$/, 'swap'), { method, token: joined.token, body });
      const partner = others.get(far.name)!;
      assert.equal((await swap(partner, 'PUT', { from: from.desktop, accept: true })).status, 204);
      await until('the event swap has come', () => told().some((one) => one.with === far.name));
      const { json } = await sendRequest(partner.joined.crossings.replace(/crossings$/, 'company'), partner.joined);
      const there = (json as transport.Company).company.find((one) => one.name === 'Thrower')!;
      await swap(partner, 'POST', there);
      await until('it has said yes', () => told().some((one) => one.swap === 'done'));
      child.kill();
      await Promise.all([ended, ...[...others.values()].map((one) => one.leave())]);
    });

    it(`${language}: peeks over an edge, and hears when nothing is shown there any more`, async () => {
      const ann = await DesktopClient.join(relay.url, { name: 'Ann', world: `peek-${language}` });
      const ask = (method: string, body: object) =>
        sendRequest(ann.joined.crossings.replace(/crossings$/, 'stage'), { method, token: ann.joined.token, body });
      const { child, output, ended } = start(name, 'peek', relay.url, `peek-${language}`);
      const shown = { width: 800, height: 600, files: [FILE], sprites: [{ id: 1, file: 0, x: 10, y: 600 }] };
      await until('it looks', async () => {
        const { json } = await ask('POST', shown);
        return ((json as { edges?: string[] }).edges ?? []).length > 0;
      });
      const told = () => output.text.replaceAll(' ', '');
      await until('it sees the sprite', () => told().includes('["right",[10]]'));
      assert.equal((await ask('PUT', { stage: false })).status, 204);
      await until('it sees nothing', () => told().includes('["right",[]]'));
      await until('it hears the reason', () => told().includes('["right","stage-hidden"]'));
      child.kill();
      await Promise.all([ended, ann.leave()]);
    });

    it(`${language}: shows as many sprites as fit, and says what is wrong with them`, async () => {
      const ann = await join(relay.url, { name: 'Ann', world: `show-${language}` });
      const { child, output, ended } = start(name, 'show', relay.url, `show-${language}`, FILE);
      const look = async () => {
        const body = { edge: 'right' };
        const url = ann.crossings.replace(/crossings$/, 'peeks');
        return (await sendRequest(url, { method: 'POST', token: ann.token, body })).status === 202;
      };
      await until('it has joined, and is watched', look);
      const isShown = (event: Event) => event.type === 'stage' && event.sprites.length > 0;
      const { events } = await pollFor(ann, ann.cursor, isShown);
      const stage = events.find(isShown) as StageEvent;
      const ids = stage.sprites.map(({ id }) => id);
      assert.ok(ids.length > 20 && ids.length <= rules.STAGE_SPRITES_MAX, `${ids}`);
      assert.deepEqual(ids, [...ids.keys()]);
      child.stdin.write('\n');
      await ended;
      assert.match(output.text, /sprites\[0\]\.x/);
    });

    it(`${language}: follows a bye to the relay that it names`, async () => {
      const bye = {
        cursor: '00000001-0',
        events: [{ type: 'bye', retryAfterMs: 0, join: `${relay.url}/v1/desktops` }],
      };
      const world = `moved-${language}`;
      const url: string = await serve((request, response) => {
        const own = `${url}/v1/desktops/1-1`;
        const addresses = { events: `${own}/events`, crossings: `${own}/crossings`, socket: own.replace('http', 'ws') };
        const seat = { desktop: '1-1', token: '1-1.aa', invitation: '1.aa', world, cursor: '00000001-0', ...addresses };
        response.end(JSON.stringify(request.method === 'GET' ? bye : seat));
      });
      const { child, output, ended } = start(name, 'stay', url, world);
      await until('it has another seat', () => output.text.includes('seated'));
      const friend = await join(relay.url, { world });
      const { json } = await sendRequest(`${relay.url}/v1/desktops/${friend.desktop}`, { token: friend.token });
      assert.match(JSON.stringify(json), /"name":"Thrower"/);
      child.kill();
      await ended;
    });
  }

  it('python: does what the page does in every case of the vectors', () => {
    const vectors = VECTORS.map((path) => joinPath(import.meta.dirname, path));
    const words = [joinPath(LIBRARIES, 'python/vectors_test.py'), ...vectors];
    execFileSync('python3', words, { env, stdio: 'pipe' });
  });

  it('javascript: joins, throws and polls in the page of another site', { skip: noBrowser }, async () => {
    const installed = joinPath(folder, 'node_modules/sprites-client');
    const { exports } = JSON.parse(readFileSync(joinPath(installed, 'package.json'), 'utf8'));
    const url = await serve((request, response) => {
      const isPage = request.url === '/';
      response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript');
      response.end(isPage ? '<link rel="icon" href="data:,">' : readFileSync(joinPath(installed, `${request.url}`)));
    });
    const browser = await launchBrowser();
    try {
      const faults: string[] = [];
      const page = await openPage(browser, 'page', faults);
      await page.goto(url);
      await meetVisitor(relay.url, 'page', () => page.evaluate(visitOf(exports.default, relay.url, 'page')));
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  });

  it('javascript: the page works with its modules taken from the package', { skip: noBrowser }, async () => {
    const server = joinPath(ROOT, 'server');
    const installed = joinPath(folder, 'node_modules/sprites-client/lib');
    const sources = (pattern: string, where: string) =>
      globSync(pattern, { cwd: where }).map((path) => [path, readFileSync(joinPath(where, path), 'utf8')] as const);
    const modules = new Map(sources('{web,wire}/**/*.ts', server));
    const packed = sources('{web,wire}/**/*.js', installed);
    assert.ok(packed.some(([path]) => path === 'web/relay/departures.js'));
    for (const [path, text] of packed) {
      const module = path.replace(/js$/, 'ts');
      assert.ok(modules.has(module), `${module} is one of the page's modules`);
      modules.set(module, text);
    }
    const { files } = await pageProgram({ name: 'desktop', url: '/web/', entry: 'web/desktop/desktop.ts' }, modules);
    const browser = await launchBrowser();
    const faults: string[] = [];
    const ann = await DesktopClient.join(relay.url, { name: 'Ann', world: 'packed' });
    try {
      const page = await openPage(browser, 'page', faults);
      const given = new Set<string>();
      await page.route(`${relay.url}/web/**/*.js`, (route) => {
        const { pathname } = new URL(route.request().url());
        const body = files.get(pathname);
        if (body === undefined) return route.continue(); // the page names the files that it had
        given.add(pathname);
        return route.fulfill({ body, contentType: 'text/javascript' });
      });
      await page.goto(`${relay.url}/?world=packed`);
      await page.fill('#name', 'Bob');
      await comeIn(page);
      assert.ok(given.has('/web/desktop.js'));
      await page.evaluate(() => globalThis.sprites.throw(0, 'right'));
      await page.locator('.notice', { hasText: 'is with Ann now.' }).waitFor();
      await until('the sprite is here', () => ann.received.length > 0);
      await ann.throw('left', 'Nova');
      await page.waitForFunction(() => globalThis.sprites.sprites().some(({ name }) => name === 'Nova'));
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
      await ann.leave();
    }
  });

  it('javascript: brings its types', () => {
    const program = [
      "import { join } from 'sprites-client';",
      "const desktop = await join('http://r', { on: { saying: ({ text }) => text.length } });",
      "const verdict = await desktop.throw({ file: 'f' }, 'left');",
      "export const name: string | undefined = 'to' in verdict ? verdict.to?.name : verdict.refused.title;",
      'const { company } = await desktop.company();',
      "if ('swap' in (await desktop.swap(company[0]))) await desktop.throw({ file: 'f' }, company[0]);",
      '// @ts-expect-error: there is no such edge',
      "await desktop.throw({ file: 'f' }, 'middle');",
    ];
    writeFileSync(joinPath(folder, 'typed.mts'), program.join('\n'));
    const compiler = findInModules(ROOT, 'typescript/bin/tsc') as string;
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom'];
    execFileSync(process.execPath, [compiler, ...flags, 'typed.mts'], { cwd: folder, stdio: 'pipe' });
  });

  it('say hello as their README does, to a person who has opened the address that it names', async (t) => {
    const readme = readFileSync(joinPath(folder, 'node_modules/sprites-client/README.md'), 'utf8');
    const usual = await startRelay({ workers: 0, residents: 2 });
    t.after(async () => {
      await you?.leave();
      await usual.stop();
    });
    let you: DesktopClient | undefined;
    await until('the residents are here', async () => {
      const { residents } = (await sendRequest(`${usual.url}/v1/worlds`)).json as { residents: number };
      return residents === 2;
    });
    const [address] = /http:\/\/localhost:8080\/\S*(?=`)/.exec(readme) ?? [''];
    const world = new URL(address).searchParams.get('world') ?? undefined;
    you = await DesktopClient.join(usual.url, { name: 'You', world });
    for (const [, ending, program] of readme.matchAll(/```(js|python)\n(.*?)```/gs)) {
      const name = `hello.${ending === 'js' ? 'mjs' : 'py'}`;
      writeFileSync(joinPath(folder, name), program.replace('http://localhost:8080', usual.url));
      const { output, ended } = start(name);
      await ended;
      assert.match(output.text, /to'?: \{.*name'?: 'You'/s, output.text);
    }
    await until('both sprites are here', () => you?.received.length === 2);
  });

  describe('their examples', () => {
    it('are short', () => {
      for (const name of readdirSync(joinPath(LIBRARIES, 'examples'))) {
        const lines = readFileSync(joinPath(LIBRARIES, 'examples', name), 'utf8').split('\n').length;
        assert.ok(lines < 40, `${name} has ${lines} lines`);
      }
    });

    it('a weather vane throws a sprite with the wind', async () => {
      const neighbour = await DesktopClient.join(relay.url, { name: 'Ann' });
      const forecast = await serve((_, response) =>
        response.end('{"current":{"wind_speed_10m":20,"wind_direction_10m":270}}'),
      );
      const vane = start('weather_vane.mjs', relay.url, forecast);
      await until('a sprite is here', () => neighbour.received.length > 0 || vane.child.exitCode !== null);
      assert.equal(neighbour.received.length, 1, vane.output.text);
      const [{ edge, vx, from }] = neighbour.received;
      assert.deepEqual(
        [edge, Math.round(vx), from.name],
        ['left', 800, 'Weather vane'],
        'a west wind blows to the right',
      );
      const calm = start('weather_vane.mjs', relay.url, 'http://127.0.0.1:1');
      await until('it has seen no forecast', () => calm.output.text.includes('No wind: '));
      for (const { child } of [vane, calm]) {
        assert.equal(child.exitCode, null, 'it waits for the next forecast');
        child.kill();
      }
      await Promise.all([vane.ended, calm.ended, neighbour.leave()]);
    });

    it('a build light shows a sprite that has fallen over while the build is red', async () => {
      const light = start('build_light.py', relay.url, 'false');
      await until('it is here', () => light.output.text.includes('#near=') || light.child.exitCode !== null);
      const near = /#near=(\S+)/.exec(light.output.text)?.[1];
      const friend = await join(relay.url, { name: 'Ann', near });
      const asked = await sendRequest(`${relay.url}/v1/desktops/${friend.desktop}/peeks`, {
        ...{ method: 'POST', token: friend.token, body: { edge: 'left' } },
      });
      assert.equal(asked.status, 202, `${asked.body}`);
      const { events } = await pollFor(
        friend,
        friend.cursor,
        (event) => event.type === 'stage' && event.sprites.length > 0,
      );
      const stage = events.find((event) => event.type === 'stage' && event.sprites.length > 0);
      assert.equal(stage?.type === 'stage' && stage.sprites[0].animation, 'sleep');
      light.child.kill();
      await light.ended;
    });

    it('a resident says thank you, and throws back what it catches', async () => {
      const otto = start('resident.mjs', relay.url);
      await until('it is here', () => otto.output.text.includes('#near=') || otto.child.exitCode !== null);
      const near = /#near=(\S+)/.exec(otto.output.text)?.[1];
      const friend = await DesktopClient.join(relay.url, { name: 'Ann', near });
      assert.equal((await friend.throw('left', 'Blob'))?.to?.name, 'Otto (resident)');
      await until('it is back', () => friend.received.length > 0);
      assert.equal(friend.received[0].from.name, 'Otto (resident)');
      otto.child.kill();
      await Promise.all([otto.ended, friend.leave()]);
    });

    it('a resident comes to a private world when it is invited there', async () => {
      const friend = await DesktopClient.join(relay.url, { name: 'Ann', world: 'at home' });
      const otto = start('resident.mjs', `${relay.url}/#near=${friend.joined.invitation}&from=Ann`);
      const isHere = () => friend.neighbours?.right?.name === 'Otto (resident)';
      await until('it is here', () => isHere() || otto.child.exitCode !== null);
      assert.ok(isHere(), otto.output.text);
      otto.child.kill();
      await Promise.all([otto.ended, friend.leave()]);
    });
  });
});
