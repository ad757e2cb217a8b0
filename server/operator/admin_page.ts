/**
 * The operator's page at `/` of the admin port: static files, which anybody who reaches the port may read.
 *
 * They hold no data. The page asks for the admin token and sends it as a header with each request for data.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import express from 'express';

const FOLDER = join(import.meta.dirname, '../web/admin');

/** Nothing but the page's own files, and no other page may frame it. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", 'img-src data:'],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

export function adminPage(): express.Router {
  const router = express.Router();
  for (const name of readdirSync(FOLDER)) {
    const [path, type] = name === 'index.html' ? ['/', 'text/html'] : [`/page/${name}`, typeOf(name)];
    if (!type || name.endsWith('.test.ts')) continue;
    const text = readFileSync(join(FOLDER, name), 'utf8');
    let body: string | undefined;
    router.get(path, (_, response) => {
      // With the first request: stripping takes a fifth of a relay's start.
      body ??= name.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
      response.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff' });
      response.set({ 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-cache' });
      response.type(`${type}; charset=utf-8`).send(body);
    });
  }
  return router;
}

function typeOf(name: string): string | undefined {
  if (name.endsWith('.css')) return 'text/css';
  if (name.endsWith('.ts')) return 'text/javascript';
  return undefined;
}
