import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { pino } from 'pino';
import { VERSION, versionWords } from '../../tools/version.js';
import { TEXTS } from '../web/texts/texts.ts';
import { errorHandlers } from './api.ts';
import { installerName, type SiteSetup, site } from './site.ts';

const PATH = '/download/Sprites-Setup.exe';
const BYTES = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 31) & 255));

describe('site › the language', () => {
  let server: http.Server;
  let url: string;
  before(async () => {
    server = express().use(site([])).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  async function ask(path: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${url}${path}`, { headers: { 'accept-language': '', ...headers } });
    const text = await response.text();
    return { headers: response.headers, text, lang: /<html lang="(\w+)">/.exec(text)?.[1] };
  }

  const PATHS = ['/', '/gallery', '/make', '/world', '/about', '/offline'];

  it('is that of the address, else the one that was chosen before, else one that the browser asks for, else English', async () => {
    for (const path of PATHS) {
      const asks = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' };
      assert.equal((await ask(path)).lang, 'en');
      assert.equal((await ask(path, { 'accept-language': 'fr' })).lang, 'en');
      assert.equal((await ask(path, asks)).lang, 'de');
      assert.equal((await ask(path, { ...asks, cookie: 'a=b; lang=en' })).lang, 'en');
      assert.equal((await ask(`${path}?lang=de`, { cookie: 'lang=en' })).lang, 'de');
    }
  });

  it('is kept when it is chosen, and only when it is one that the pages have', async () => {
    const { headers } = await ask('/?lang=de');
    assert.match(headers.get('set-cookie') ?? '', /^lang=de; Path=\/; Max-Age=\d+; SameSite=Lax$/);
    for (const wrong of ['?lang=fr', '?lang=de%0d%0aX:1', '?lang=de&lang=en', '?lang[a]=de', '']) {
      const { headers: others, lang } = await ask(`/${wrong}`);
      assert.deepEqual([others.get('set-cookie'), lang], [null, 'en'], wrong);
    }
    assert.equal((await ask('/', { cookie: 'lang=constructor; xlang=de' })).lang, 'en');
  });

  it('is also that of a page whose head has the picture of the sprite that a link carries', async () => {
    const hash = 'ab'.repeat(32);
    for (const lang of ['en', 'de'] as const) {
      const asks = { 'accept-language': lang, 'accept-encoding': 'br, gzip' };
      const { text, headers } = await ask(`/?sprite=${hash}`, asks);
      assert.equal(headers.get('content-encoding'), 'gzip');
      assert.ok(text.includes(`<meta property="og:image" content="${url}/preview/${hash}.png" />`));
      assert.ok(text.includes(`<meta property="og:description" content="${TEXTS[lang]['index.description']}" />`));
    }
    for (const wrong of ['', '?sprite=', '?sprite=AB', `?sprite=${hash}a`, `?sprite[]=${hash}`, `?sprite="${hash}`]) {
      assert.ok(!(await ask(`/${wrong}`)).text.includes('og:image'), wrong);
    }
  });

  it('is in the headers that keep caches from serving a page in another language', async () => {
    const { headers } = await ask('/about', { 'accept-language': 'de' });
    assert.equal(headers.get('content-language'), 'de');
    assert.equal(headers.get('vary'), 'Accept-Encoding, Accept-Language, Cookie');
    const again = await fetch(`${url}/about`, {
      headers: { 'accept-language': 'en', 'if-none-match': headers.get('etag') ?? '' },
    });
    assert.equal(again.status, 200, 'the English page is another one');
  });

  it('is one for a page: with the texts that its programs use, and without those of other pages', async () => {
    for (const [path, has, lacks] of [
      ['/', 'desktop.with', 'gallery.taken'],
      ['/', 'file.gif-too-long', 'make.saved'], // of a module that is loaded when it is needed
      ['/gallery', 'gallery.flying_other', 'desktop.with'],
      ['/make', 'does.yawn', 'desktop.with'],
      ['/about', 'here_one', 'gallery.taken'],
    ]) {
      const { text } = await ask(path, { 'accept-language': 'de' });
      assert.doesNotMatch(text, /\{\{/);
      const { texts } = JSON.parse(/<script type="application\/json" id="texts">(.*?)<\/script>/.exec(text)?.[1] ?? '');
      assert.equal(texts[has], TEXTS.de[has as keyof typeof TEXTS.de]);
      assert.equal(texts[lacks], undefined);
    }
    const offline = (await ask('/offline')).text;
    assert.doesNotMatch(offline, /\{\{/);
    assert.deepEqual(offline.match(/<script[^>]* src="[^"]*"/g), ['<script type="module" src="/web/offline.js"']);
  });

  it('is of pages that say at their end which version they are of', async () => {
    for (const path of ['/gallery', '/make', '/world', '/about', '/nothing']) {
      const { text } = await ask(path, { accept: 'text/html' });
      assert.match(text, /<footer/, path);
      assert.ok(text.includes(`<span>Sprites ${versionWords()}</span>`), path);
    }
  });

  it('is that of the manifest, too', async () => {
    const manifest = JSON.parse((await ask('/manifest.webmanifest', { 'accept-language': 'de' })).text);
    assert.deepEqual([manifest.lang, manifest.name], ['de', 'Sprites']);
    assert.match(manifest.description, /Werfen/);
  });

  it('is of icons that are as large as the manifest says', async () => {
    const { icons } = JSON.parse((await ask('/manifest.webmanifest')).text);
    for (const { src, sizes } of icons) {
      const icon = Buffer.from(await (await fetch(`${url}${src}`)).arrayBuffer());
      assert.equal(`${icon.readUInt32BE(16)}x${icon.readUInt32BE(20)}`, sizes);
    }
  });
});

describe('site › the program of a page', () => {
  let server: http.Server;
  let url: string;
  before(async () => {
    server = express().use(site([])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  const PROGRAMS = ['desktop', 'gallery', 'make', 'world', 'about', 'offline'];

  /** The program's text, after a check that it is one. */
  async function script(path: string): Promise<string> {
    const answer = await fetch(`${url}${path}`);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type')],
      [200, 'text/javascript; charset=utf-8'],
      path,
    );
    return answer.text();
  }

  it('is JavaScript with a map, and the head names all files that the browser imports at once, and no other', async () => {
    for (const name of PROGRAMS) {
      const page = await (await fetch(`${url}/${name === 'desktop' ? '' : name}`)).text();
      const named = [...page.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
      const first = /<script type="module" src="([^"]+)"/.exec(page)![1] as string;
      const imported = new Set([first]);
      for (const path of imported) {
        const text = await script(path);
        for (const [, from] of text.matchAll(/(?:\bfrom|\bimport)"(\.\/[\w-]+\.js)"/g)) {
          imported.add(new URL(from as string, `${url}${path}`).pathname);
        }
        const map = /^\/\/# sourceMappingURL=(.+)$/m.exec(text)![1] as string;
        const { sources } = await (await fetch(new URL(map, `${url}${path}`))).json();
        assert.ok(Array.isArray(sources), `${path} has a map`);
      }
      assert.deepEqual(named.sort(), [...imported].filter((path) => path !== first).sort(), name);
    }
  });

  it('leaves in files of their own what a person may ask for later', async () => {
    const [later] = /\/web\/desktop-dropped-\w+\.js/.exec(
      (await script('/web/desktop.js')).replaceAll('import("./', 'import("/web/'),
    ) as RegExpExecArray;
    assert.match(await script(later), /^import/);
  });

  it('has no other file', async () => {
    for (const path of [
      '/web/desktop-other-AAAAAAAA.js',
      '/web/desktop.ts',
      '/web/desktop/desktop.ts',
      '/web/other.js',
    ]) {
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    }
  });

  it('comes in the smallest form that the browser reads', async () => {
    const ask = async (accepted: string) => {
      const [answer] = (await once(
        http.get(`${url}/web/desktop.js`, { headers: { 'accept-encoding': accepted } }),
        'response',
      )) as [http.IncomingMessage];
      const bytes = Buffer.concat(await answer.toArray());
      return { encoding: answer.headers['content-encoding'], bytes };
    };
    const plain = await ask('identity');
    const gzip = await ask('gzip, deflate');
    const brotli = await ask('gzip, deflate, br');
    assert.deepEqual([plain.encoding, gzip.encoding, brotli.encoding], [undefined, 'gzip', 'br']);
    assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
    assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
    assert.ok(brotli.bytes.length < gzip.bytes.length);
  });
});

describe('site › the project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  let commit: string;
  before(() => {
    writeFileSync(join(folder, 'tracked'), 'of the commit');
    git('init', '-q');
    git('add', 'tracked');
    git('-c', 'user.name=A', '-c', 'user.email=a@relay.example', 'commit', '-qm', 'one');
    commit = git('rev-parse', '--short=12', 'HEAD');
    writeFileSync(join(folder, 'tracked'), 'changed');
    writeFileSync(join(folder, 'secret'), 'not tracked');
  });
  after(() => rmSync(folder, { recursive: true }));

  const BROWSER = { accept: 'text/html', 'accept-language': 'en' };
  /** Asks a site for these paths, one after the other. */
  async function ask(setup: SiteSetup, paths: readonly string[], headers: Record<string, string> = BROWSER) {
    const log = pino({ level: 'silent' });
    const app = express()
      .disable('etag')
      .use(site([], setup), ...errorHandlers(log));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answers = [];
    for (const path of paths) {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers });
      const bytes = Buffer.from(await answer.arrayBuffer());
      answers.push({ status: answer.status, headers: answer.headers, bytes, text: bytes.toString() });
    }
    server.close();
    return answers;
  }

  it('gives the source of the commit that runs: its files, and no others of the folder', async () => {
    const [first, again] = await ask({ root: folder, commit: `${commit}+changed` }, [
      '/source.tar.gz',
      '/source.tar.gz',
    ]);
    const name = `sprites-${VERSION}-${commit}`;
    assert.equal(first.headers.get('content-disposition'), `attachment; filename="${name}.tar.gz"`);
    assert.equal(first.headers.get('content-type'), 'application/gzip');
    assert.deepEqual(again.bytes, first.bytes);
    const archive = join(folder, 'archive.tar.gz');
    writeFileSync(archive, first.bytes);
    const tar = (...args: string[]) => execFileSync('tar', args, { cwd: folder, encoding: 'utf8' });
    assert.deepEqual(tar('-tzf', archive).trim().split('\n'), [`${name}/`, `${name}/tracked`]);
    assert.equal(tar('-xzOf', archive, `${name}/tracked`), 'of the commit');
    const etag = first.headers.get('etag') ?? '';
    const [known] = await ask({ root: folder, commit }, ['/source.tar.gz'], {
      'if-none-match': etag,
      'cache-control': 'max-age=0',
    });
    assert.equal(known.status, 304);
  });

  it('gives the archive that came with a package', async () => {
    const root = join(folder, 'package');
    mkdirSync(root);
    writeFileSync(join(root, 'source.tar.gz'), 'packed');
    const [answer] = await ask({ root, commit }, ['/source.tar.gz']);
    assert.deepEqual([answer.status, answer.text], [200, 'packed']);
  });

  it('says so where there is no archive: without a checkout, and without the commit', async () => {
    const nothing = join(folder, 'nothing');
    mkdirSync(nothing);
    for (const setup of [
      { root: nothing, commit },
      { root: folder, commit: '0123456789ab' },
      { root: folder, commit: 'unknown' },
    ]) {
      const [page] = await ask(setup, ['/source.tar.gz']);
      assert.equal(page.status, 404);
      assert.match(page.text, /<p class="quiet" hidden>.*<p class="quiet" >[^<]*no archive of its source/s);
      const [problem] = await ask(setup, ['/source.tar.gz'], {});
      assert.equal(JSON.parse(problem.text).code, 'not-found');
    }
  });

  it('says what has changed and what is stored of visitors, in documents whose links lead to pages only', async () => {
    for (const path of ['/changelog', '/privacy']) {
      for (const lang of ['en', 'de']) {
        const [{ text, headers }] = await ask({ commit }, [`${path}?lang=${lang}`]);
        assert.equal(headers.get('content-language'), lang);
        const [, article] = /<article[^>]*>(.*)<\/article>/s.exec(text) ?? [];
        assert.match(article, /<h1>/, path);
        for (const [, href] of article.matchAll(/href="([^"]*)"/g)) assert.match(href, /^(?:https?:|\/)/);
      }
    }
    const [changelog] = await ask({ commit }, ['/changelog']);
    assert.match(changelog.text, /THIRD_PARTY\.md/);
  });

  it('says the same of privacy in each language', () => {
    const read = (name: string) => readFileSync(join(import.meta.dirname, '..', name), 'utf8');
    const [english, german] = ['PRIVACY.md', 'PRIVACY.de.md'].map(read);
    const code = (text: string) => text.match(/`[^`]+`/g);
    const shape = (text: string) =>
      text
        .split('\n')
        .map((line) => /^(?:#+|-|\|)/.exec(line)?.[0])
        .filter(Boolean);
    assert.deepEqual(code(german), code(english));
    assert.deepEqual(shape(german), shape(english));
  });

  it('leads to the operator: to the address that they have given, else to the feedback form', async () => {
    const links = (text: string) => [...text.matchAll(/href="([^"]*)">Contact</g)].map(([, href]) => href);
    for (const [contact, href] of [
      [undefined, '/about#feedback'],
      ['me@relay.example', 'mailto:me@relay.example'],
      ['https://relay.example/?a=1&b="><script>', 'https://relay.example/?a=1&amp;b=&quot;><script>'],
    ]) {
      const [privacy, about] = await ask({ commit, contact }, ['/privacy', '/about']);
      assert.deepEqual([links(privacy.text), links(about.text)], [[href, href], [href]]);
    }
  });

  it('shows the rules of the operator, if they have some, as they are now', async () => {
    const [none, page] = await ask({ commit }, ['/rules', '/about']);
    assert.equal(none.status, 404);
    assert.match(page.text, /<a href="\/rules" hidden>/);
    const rules = join(folder, 'rules.md');
    const server = express().use(site([], { commit, rules })).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const read = async () => {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/rules`, {
        headers: BROWSER,
      });
      return { status: answer.status, text: await answer.text() };
    };
    writeFileSync(rules, '# Be kind\n\nOr **leave**: $& {{site.nav}}');
    const { text } = await read();
    assert.match(text, /<h1>Be kind<\/h1>\n<p>Or <strong>leave<\/strong>: \$&amp; \{\{site.nav\}\}<\/p>/);
    assert.match(text, /<a href="\/rules">/);
    writeFileSync(rules, 'Be kinder');
    assert.match((await read()).text, /<p>Be kinder<\/p>/);
    rmSync(rules);
    assert.equal((await read()).status, 404);
    mkdirSync(rules);
    assert.equal((await read()).status, 404);
    server.close();
  });
});

describe('site › an address without a page', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  let server: http.Server;
  let url: string;
  before(async () => {
    const app = express().disable('etag'); // as api_listener.ts
    const noDownloads = join(import.meta.dirname, 'nothing');
    server = app
      .use(site([], { downloads: noDownloads }), ...errorHandlers(pino({ level: 'silent' })))
      .listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  it('is answered 404 with a page in the language of the visitor, who opened it in a browser', async () => {
    for (const path of ['/nothing', '/gallery/nothing', '/sprites/nothing.spr', '/download/Sprites-Setup.exe']) {
      const answer = await fetch(`${url}${path}`, { headers: { accept: BROWSER, 'accept-language': 'de' } });
      assert.equal(answer.status, 404, path);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/, path);
      assert.match(answer.headers.get('vary') ?? '', /\bAccept,/, path);
      assert.match(await answer.text(), /<html lang="de">.*Hier ist nichts/s, path);
    }
  });

  it('is answered 404 with a problem document for a program, and everywhere below /v1/', async () => {
    for (const [path, headers] of [
      ['/nothing', {}],
      ['/nothing', { accept: 'application/json' }],
      ['/nothing.png', { accept: 'image/avif,image/*,*/*;q=0.8' }],
      ['/v1/nothing', { accept: BROWSER }],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { headers });
      assert.equal(answer.status, 404, path);
      assert.equal((await answer.json()).code, 'not-found', path);
    }
    assert.equal((await fetch(`${url}/nothing`, { method: 'POST', headers: { accept: BROWSER } })).status, 404);
  });
});

describe('site › the program for Windows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const downloads = join(folder, '.dist'); // a dot in the path must not matter
  const installer = join(downloads, 'Sprites-Setup.exe');
  let server: http.Server;
  let port: number;

  before(async () => {
    mkdirSync(downloads);
    writeFileSync(join(folder, 'secret'), 'nobody may have this');
    writeFileSync(join(downloads, 'Sprites.exe'), 'nor is this offered');
    const log = pino({ level: 'silent' });
    const app = express().disable('etag'); // as api_listener.ts
    server = app.use(site([], { downloads }), ...errorHandlers(log)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });

  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** Sends the path unchanged; fetch would normalize it. */
  function ask(path: string, method = 'GET', headers: http.OutgoingHttpHeaders = {}) {
    return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      request.on('error', reject);
      request.end();
    });
  }

  const page = async () => (await ask('/')).body.toString();
  const present = () => writeFileSync(installer, BYTES);

  it('is offered while its file exists, and not otherwise, without a restart', async () => {
    assert.match(await page(), /id="download-windows" hidden/);
    assert.equal((await ask(PATH)).status, 404);
    present();
    assert.match(await page(), /id="download-windows">.*href="\/download\/Sprites-Setup.exe"/s);
    assert.equal((await ask(PATH)).status, 200);
    renameSync(installer, join(folder, 'away'));
    assert.match(await page(), /id="download-windows" hidden/);
    assert.equal((await ask(PATH)).status, 404);
  });

  it('is sent whole, with headers that save it as a program under a name that has the relay in it', async () => {
    present();
    const { status, headers, body } = await ask(PATH);
    assert.equal(status, 200);
    assert.deepEqual(body, BYTES);
    assert.equal(headers['content-length'], String(BYTES.length));
    assert.equal(headers['content-type'], 'application/vnd.microsoft.portable-executable');
    assert.equal(headers['content-disposition'], `attachment; filename="Sprites-Setup_http_${port}_127.0.0.1.exe"`);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });

  it('has a name that the program can read, and no other one', () => {
    for (const [base, name] of [
      ['https://relay.example', 'Sprites-Setup_https_443_relay.example.exe'],
      ['https://relay.example:8443', 'Sprites-Setup_https_8443_relay.example.exe'],
      ['http://relay.example', 'Sprites-Setup_http_80_relay.example.exe'],
      ['http://127.0.0.1:8080', 'Sprites-Setup_http_8080_127.0.0.1.exe'],
      ['http://localhost:9100/', 'Sprites-Setup_http_9100_localhost.exe'],
      ['http://[::1]:8080', 'Sprites-Setup.exe'],
      ['http://under_score.example', 'Sprites-Setup.exe'],
      ['http://trailing.example.', 'Sprites-Setup.exe'],
    ]) {
      assert.equal(installerName(base), name);
    }
  });

  it('never has what a client writes into Host beside a name and a port', async () => {
    present();
    for (const host of ['a"b', 'a/../b', 'a b', 'a;b', 'a\\b', '%22', 'a@b', 'a:99999999']) {
      const { headers } = await ask(PATH, 'GET', { host });
      assert.match(
        headers['content-disposition'] ?? '',
        /^attachment; filename="Sprites-Setup(_http_\d+_[\w.-]+)?\.exe"$/,
      );
      assert.doesNotMatch(headers['content-disposition'] ?? '', /[ab]_?\.exe/);
    }
  });

  it('has a version, a hash and a size, which are told only if they are of this file', async () => {
    present();
    const latest = join(downloads, 'latest.json');
    const about = { version: '1.2.3', sha256: 'a'.repeat(64), size: BYTES.length };
    const askLatest = async () => await ask('/client/latest.json');
    assert.equal((await askLatest()).status, 404);
    writeFileSync(latest, JSON.stringify(about));
    const { status, headers, body } = await askLatest();
    assert.deepEqual([status, JSON.parse(body.toString())], [200, about]);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    assert.equal(headers['cache-control'], 'no-cache');
    for (const wrong of [JSON.stringify({ ...about, size: BYTES.length + 1 }), '{', 'null', '']) {
      writeFileSync(latest, wrong);
      assert.equal((await askLatest()).status, 404);
    }
    writeFileSync(latest, JSON.stringify(about));
    rmSync(installer);
    assert.equal((await askLatest()).status, 404);
    rmSync(latest);
    present();
  });

  it('stands beside those for Linux, which are offered and described as it is, under their own names', async () => {
    const files = { 'sprites_amd64.deb': 'debian.binary-package', 'sprites-linux-x86_64.tar.xz': 'x-xz' };
    const about = { version: '1.2.3', files: { 'sprites_amd64.deb': { sha256: 'b'.repeat(64), size: 3 } } };
    const latest = async () => (await ask('/client/linux.json')).status;
    writeFileSync(join(downloads, 'linux.json'), JSON.stringify(about));
    assert.match(await page(), /id="download-linux" hidden/);
    assert.equal(await latest(), 404);
    for (const [file, type] of Object.entries(files)) {
      assert.equal((await ask(`/download/${file}`)).status, 404);
      writeFileSync(join(downloads, file), 'deb');
      const { headers, body } = await ask(`/download/${file}`);
      assert.deepEqual([headers['content-disposition'], body.toString()], [`attachment; filename="${file}"`, 'deb']);
      assert.match(headers['content-type'] ?? '', new RegExp(type));
    }
    assert.match(await page(), /id="download-linux">/);
    assert.deepEqual(JSON.parse((await ask('/client/linux.json')).body.toString()), about);
    writeFileSync(join(downloads, 'sprites_amd64.deb'), 'another');
    assert.equal(await latest(), 404);
    for (const file of ['linux.json', ...Object.keys(files)]) rmSync(join(downloads, file));
  });

  it('answers HEAD with its size and without its bytes', async () => {
    const { status, headers, body } = await ask(PATH, 'HEAD');
    assert.deepEqual([status, body.length, headers['content-length']], [200, 0, String(BYTES.length)]);
  });

  it('continues an interrupted download', async () => {
    const { headers } = await ask(PATH);
    for (const [range, first, last] of [
      ['bytes=4000-', 4000, 4999],
      ['bytes=0-0', 0, 0],
      ['bytes=-1', 4999, 4999],
    ] as const) {
      const rest = await ask(PATH, 'GET', { range, 'if-range': headers.etag });
      assert.equal(rest.status, 206);
      assert.equal(rest.headers['content-range'], `bytes ${first}-${last}/5000`);
      assert.deepEqual(rest.body, BYTES.subarray(first, last + 1));
    }
    const beyond = await ask(PATH, 'GET', { range: 'bytes=5000-' });
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */5000']);
    writeFileSync(installer, 'a newer one');
    const other = await ask(PATH, 'GET', { range: 'bytes=4-', 'if-range': headers.etag });
    assert.deepEqual([other.status, other.body.toString()], [200, 'a newer one']);
    present();
  });

  it('is revalidated each time, and sent again only when it has changed', async () => {
    const { headers } = await ask(PATH);
    assert.equal(headers['cache-control'], 'no-cache');
    assert.equal((await ask(PATH, 'GET', { 'if-none-match': headers.etag })).status, 304);
    writeFileSync(installer, 'a newer one');
    const newer = await ask(PATH, 'GET', { 'if-none-match': headers.etag });
    assert.deepEqual([newer.status, newer.body.toString()], [200, 'a newer one']);
  });

  it('is the only file served from its folder, and no path leads out of that folder', async () => {
    for (const path of [
      '/download/',
      '/download/Sprites.exe',
      '/download/../secret',
      '/download/..%2fsecret',
      '/download/%2e%2e/secret',
      '/download/..%5csecret',
      '/download/Sprites-Setup.exe/../../secret',
      '/download/Sprites-Setup.exe%00',
      '/download//etc/passwd',
    ]) {
      const { status, body } = await ask(path);
      assert.ok(status === 404 || status === 400, `${path}: ${status}`);
      assert.doesNotMatch(body.toString(), /nobody may|nor is this|root:/);
    }
  });
});
