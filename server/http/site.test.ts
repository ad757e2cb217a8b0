import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import express from 'express';
import { pino } from 'pino';
import { versionWords } from '../../tools/version.js';
import { TEXTS } from '../web/texts/texts.ts';
import { errorHandlers } from './api.ts';
import { installerName, site } from './site.ts';

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

  const PATHS = ['/', '/gallery', '/make', '/about', '/offline'];

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
    assert.deepEqual(offline.match(/<script[^>]* src="[^"]*"/g), ['<script type="module" src="/web/pages/offline.ts"']);
  });

  it('is of pages that say at their end which version they are of', async () => {
    for (const path of ['/gallery', '/make', '/about', '/nothing']) {
      const { text } = await ask(path, { accept: 'text/html' });
      assert.ok(text.includes(`<footer class="quiet small">Sprites ${versionWords()}</footer>`), path);
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

describe('site › the modules of a page', () => {
  it('are JavaScript, and its head names all that the browser imports at once, and no other', async (t) => {
    const server = express().use(site([])).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const name of ['desktop', 'gallery', 'make', 'about', 'offline']) {
      const page = await (await fetch(`${url}/${name === 'desktop' ? '' : name}`)).text();
      const named = [...page.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
      const imported = new Set([/<script type="module" src="([^"]+)"/.exec(page)![1]]);
      for (const path of imported) {
        const answer = await fetch(`${url}${path}`);
        assert.deepEqual(
          [answer.status, answer.headers.get('content-type')],
          [200, 'text/javascript; charset=utf-8'],
          path,
        );
        const text = await answer.text();
        assert.equal(stripTypeScriptTypes(text), text, `${path} has no types`);
        for (const [, from] of text.matchAll(/^(?:import|export)\b[^'";]*\bfrom '([^']+)'/gm)) {
          imported.add(new URL(from, `${url}${path}`).pathname);
        }
      }
      assert.deepEqual(named.sort(), [...imported].sort(), name);
    }
  });
});

describe('site › an address without a page', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  let server: http.Server;
  let url: string;
  before(async () => {
    const app = express().disable('etag'); // as api_listener.ts
    const noDownloads = join(import.meta.dirname, 'nothing');
    server = app.use(site([], noDownloads), ...errorHandlers(pino({ level: 'silent' }))).listen(0, '127.0.0.1');
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
    server = app.use(site([], downloads), ...errorHandlers(log)).listen(0, '127.0.0.1');
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
