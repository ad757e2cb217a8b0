/** What visitors get where esbuild cannot run: it reads its path when it is loaded, so this suite has a process of its own. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { env } from 'node:process';
import { it } from 'node:test';
import express from 'express';
import { pino } from 'pino';
import { errorHandlers } from './api.ts';
import { site } from './site.ts';

it('a page whose program cannot be made is an error of that page, and the relay goes on', async (t) => {
  env.ESBUILD_BINARY_PATH = '/bin/false';
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const server = express()
    .use(site([]), ...errorHandlers(log))
    .listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statusOf = async (path: string) => (await fetch(`${url}${path}`, { headers: { accept: 'text/html' } })).status;
  const pages = ['/', '/gallery', '/make', '/world', '/about', '/offline'];
  for (const path of [...pages, '/web/desktop.js', '/service_worker.js']) assert.equal(await statusOf(path), 500, path);
  for (const path of ['/protocol', '/changelog', '/privacy', '/manifest.webmanifest', '/web/desktop/style.css'])
    assert.equal(await statusOf(path), 200, path);
  assert.equal(await statusOf('/nothing'), 404);
  assert.ok(
    lines.some((line) => line.includes('request failed')),
    'the log says what is missing',
  );
});
