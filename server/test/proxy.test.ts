/** The relay behind the proxies whose configurations it ships: the very files, with other ports, names and certificates put in. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { isListening } from '../../tools/bench/listener.ts';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { PING_MS } from '../wire/rules.ts';
import { joinPage, launchBrowser, noBrowser } from './browser_page.ts';
import { type Batch, crossingOf, isSprite, type Joined } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';
import { askOverTls } from './tls_requests.ts';

const DEPLOY = joinPath(import.meta.dirname, '../deploy');

/** The longest that the relay holds a poll: the ping's time and its jitter, in seconds. */
const HELD_SECONDS_MAX = (PING_MS * 1.1) / 1000;

interface Proxy {
  name: string;
  file: string;
  /** Writes what the proxy reads; returns the command that runs it in the foreground. */
  configure(text: string, place: Place): string[];
}

interface Place {
  folder: string;
  port: number;
  relay: RelayProcess;
}

const PROXIES: Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    configure(text, { folder, port, relay }) {
      const site = replaceAll(text, {
        'listen 443 ssl http2;': `listen 127.0.0.1:${port} ssl http2;`,
        'listen [::]:443 ssl http2;': '',
        'sprites.example': 'localhost',
        '/etc/ssl/sprites/fullchain.pem': joinPath(folder, 'cert.pem'),
        '/etc/ssl/sprites/privkey.pem': joinPath(folder, 'key.pem'),
        '127.0.0.1:8080': `127.0.0.1:${relay.ports.api}`,
        '127.0.0.1:8081': `127.0.0.1:${relay.ports.events}`,
      });
      writeFileSync(joinPath(folder, 'site.conf'), site);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const main = [
        process.getuid?.() === 0 ? 'user root;' : '',
        ...[
          'daemon off;',
          'worker_processes 1;',
          `pid ${folder}/nginx.pid;`,
          'error_log stderr;',
          'events {}',
          'http {',
        ],
        ...['access_log off;', ...paths.map((path) => `${path}_temp_path ${folder}/${path};`)],
        ...[`include ${folder}/site.conf;`, '}'],
      ];
      writeFileSync(joinPath(folder, 'nginx.conf'), main.join('\n'));
      return ['nginx', '-p', folder, '-c', joinPath(folder, 'nginx.conf')];
    },
  },
  {
    name: 'HAProxy',
    file: 'haproxy.cfg',
    configure(text, { folder, port, relay }) {
      const config = replaceAll(text, {
        'maxconn 20000': 'maxconn 1000', // two files a connection, within a test's limit
        'bind :443': `bind 127.0.0.1:${port}`,
        '/etc/haproxy/sprites.pem': joinPath(folder, 'both.pem'),
        '127.0.0.1:8080': `127.0.0.1:${relay.ports.api}`,
        '127.0.0.1:8081': `127.0.0.1:${relay.ports.events}`,
      });
      writeFileSync(joinPath(folder, 'haproxy.cfg'), config);
      return ['haproxy', '-db', '-f', joinPath(folder, 'haproxy.cfg')];
    },
  },
  {
    name: 'Caddy',
    file: 'Caddyfile',
    configure(text, { folder, port, relay }) {
      const tls = `tls ${joinPath(folder, 'cert.pem')} ${joinPath(folder, 'key.pem')}`;
      const config = replaceAll(text, {
        'sprites.example {': `https://localhost:${port} {\n\t${tls}`,
        '127.0.0.1:8080': `127.0.0.1:${relay.ports.api}`,
        '127.0.0.1:8081': `127.0.0.1:${relay.ports.events}`,
      });
      writeFileSync(joinPath(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${config}`);
      return ['caddy', 'run', '--config', joinPath(folder, 'Caddyfile')];
    },
  },
];

/** The text with each key, which must be there, replaced. */
function replaceAll(text: string, values: Record<string, string>): string {
  for (const [from, to] of Object.entries(values)) {
    assert.ok(text.includes(from), `the shipped file has ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const PACKAGES = ['nginx-light', 'haproxy', 'caddy', 'openssl', 'curl'];
const lacking = ensurePrograms(['nginx', 'haproxy', 'caddy', 'openssl', 'curl'], PACKAGES)
  ? false
  : `the proxies are missing: ${installHint(PACKAGES)}`;

for (const proxy of PROXIES) {
  describe(`the relay behind ${proxy.name}`, { ...BOUNDED, skip: lacking }, () => behind(proxy));
}

function behind({ file, configure }: Proxy): void {
  const folder = mkdtempSync(joinPath(tmpdir(), 'sprites-proxy-'));
  let relay: RelayProcess;
  let proxy: ChildProcess;
  let url = '';
  let certificate: Buffer;

  before(async () => {
    const [port] = await freePorts(1);
    url = `https://localhost:${port}`;
    relay = await startRelay({ workers: 0, args: ['--public-url', url] });
    makeCertificate(folder);
    certificate = readFileSync(joinPath(folder, 'cert.pem'));
    const [program, ...args] = configure(readFileSync(joinPath(DEPLOY, file), 'utf8'), { folder, port, relay });
    proxy = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await until('the proxy listens', () => isListening({ port, host: '127.0.0.1' }));
  });
  after(async () => {
    if (proxy?.pid !== undefined && proxy.exitCode === null) {
      const ended = once(proxy, 'exit');
      proxy.kill('SIGTERM');
      await ended;
    }
    await relay?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** One request through the proxy, over TLS. */
  const ask = (...[to, asking]: Parameters<typeof askOverTls> extends [Buffer, ...infer Rest] ? Rest : never) =>
    askOverTls(certificate, to, asking);

  async function join(name: string, world: string): Promise<Joined> {
    const body = { name, world, screen: { width: 800, height: 600 } };
    const { status, body: answer } = await ask(`${url}/v1/desktops`, { method: 'POST', body });
    assert.equal(status, 201, String(answer));
    return JSON.parse(String(answer));
  }

  /** Polls until a sprite has come. */
  async function sprite(desktop: Joined): Promise<Batch['events'][number]> {
    for (let { cursor } = desktop; ; ) {
      const { status, body } = await ask(`${desktop.events}?cursor=${cursor}`, { token: desktop.token });
      assert.equal(status, 200, String(body));
      const batch: Batch = JSON.parse(String(body));
      const found = batch.events.find(isSprite);
      if (found) return found;
      cursor = batch.cursor;
    }
  }

  it('is reached by one name: --public-url is enough', async () => {
    const desktop = await join('Ann', 'addresses');
    const path = `/v1/desktops/${desktop.desktop}`;
    assert.equal(desktop.events, `${url}${path}/events`);
    assert.equal(desktop.crossings, `${url}${path}/crossings`);
    assert.equal(desktop.socket, `${url.replace('https', 'wss')}${path}/socket`);
  });

  it('holds a poll until a sprite comes', async () => {
    const [ann, bob] = [await join('Ann', 'polls'), await join('Bob', 'polls')];
    const coming = sprite(bob);
    await until('the poll is parked', async () => (await relay.metrics()).get('sprites_polls_parked') === 1);
    const thrown = await ask(ann.crossings, { method: 'POST', token: ann.token, body: crossingOf(1) });
    assert.equal(thrown.status, 202, String(thrown.body));
    const event = await coming;
    assert.ok(isSprite(event) && event.from.name === 'Ann');
  });

  it('carries a socket, both ways', async () => {
    const [ann, bob] = [await join('Ann', 'sockets'), await join('Bob', 'sockets')];
    const socket = new WebSocket(bob.socket, { ca: certificate });
    await once(socket, 'open');
    const messages: Record<string, unknown>[] = [];
    socket.on('message', (text) => {
      const message = JSON.parse(String(text));
      messages.push(message);
      if (typeof message.cursor === 'string') socket.send(JSON.stringify({ cursor: message.cursor }));
    });
    socket.send(JSON.stringify({ token: bob.token, cursor: bob.cursor }));
    const thrown = await ask(ann.crossings, { method: 'POST', token: ann.token, body: crossingOf(1) });
    assert.equal(thrown.status, 202);
    await until('the sprite came', () => messages.some(({ events }) => (events as Batch['events'])?.some(isSprite)));
    socket.send(JSON.stringify(crossingOf(1, 'left', 'Back')));
    await until('the throw is answered', () => messages.some(({ crossing, to }) => crossing === 1 && to !== undefined));
    socket.close();
    await once(socket, 'close');
    const back = await sprite(ann);
    assert.ok(isSprite(back) && back.sprite.name === 'Back');
  });

  it('takes and gives sprite files', async () => {
    const { token } = await join('Ann', 'files');
    const bytes = sprFile();
    const path = `${url}/v1/sprites/${hashOf(bytes)}`;
    assert.equal((await ask(path, { method: 'PUT', token, body: bytes })).status, 201);
    assert.deepEqual((await ask(path)).body, bytes);
  });

  it('is spoken to by curl, in HTTP/2 too', async () => {
    const words = ['--silent', '--show-error', '--fail-with-body', '--cacert', joinPath(folder, 'cert.pem')];
    const body = ['--json', '{"name":"curl","world":"curl","screen":{"width":80,"height":24}}'];
    const version = ['--write-out', '\n%{http_version}'];
    const run = promisify(execFile)('curl', [...words, ...body, ...version, `${url}/v1/desktops`]);
    const [answer, http] = (await run).stdout.split('\n');
    assert.equal(JSON.parse(answer).world, 'curl');
    assert.equal(http, '2');
  });

  it('serves the page, which comes in', { skip: noBrowser }, async () => {
    const browser = await launchBrowser();
    try {
      for (const transport of ['socket', 'poll']) {
        const link = `${url}/?world=browser&transport=${transport}`;
        const page = await joinPage(browser, link, transport, [], { ignoreHTTPSErrors: true });
        await page.context().close();
      }
    } finally {
      await browser.close();
    }
  });
}

function makeCertificate(folder: string): void {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => joinPath(folder, name));
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  writeFileSync(joinPath(folder, 'both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 });
}

describe('the shipped configurations', () => {
  const read = (file: string) => readFileSync(joinPath(DEPLOY, file), 'utf8');
  const seconds = (file: string, pattern: RegExp) => Number(pattern.exec(read(file))?.[1]);

  it('wait longer than the relay holds a poll', () => {
    assert.ok(seconds('nginx.conf', /proxy_read_timeout (\d+)s/) > HELD_SECONDS_MAX);
    assert.ok(seconds('haproxy.cfg', /timeout server (\d+)s/) > HELD_SECONDS_MAX);
    assert.ok(seconds('haproxy.cfg', /timeout client (\d+)s/) > HELD_SECONDS_MAX);
  });

  it('send the polls to the events port, and nothing else', () => {
    for (const file of ['nginx.conf', 'haproxy.cfg', 'Caddyfile']) {
      const [, pattern] = /(\^\/v1\/desktops\/\S+events\$)/.exec(read(file)) ?? [];
      const events = new RegExp(pattern);
      assert.match('/v1/desktops/1a2b-3f/events', events, file);
      for (const path of [
        '/v1/desktops/1a2b-3f/socket',
        '/v1/desktops/1a2b-3f',
        '/v1/desktops',
        '/x/v1/desktops/1/events',
      ]) {
        assert.doesNotMatch(path, events, file);
      }
    }
  });
});
