/**
 * The site: the desktop in a browser, the shipped characters, and the protocol's definition.
 *
 * Browser modules are written in TypeScript; their types are stripped once, at start, and their URLs end in `.ts` too.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import express, { type NextFunction, type Response } from 'express';
import { baseOf, type PublicAddresses } from './api.ts';
import { sendSprite } from './sprite_answer.ts';
import type { Character } from './sprite_store.ts';

/** A page may load its own files and pictures it made, and connect to any relay (long-polls have another port). */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' blob: data:",
  'connect-src *',
  "style-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const SERVER = join(import.meta.dirname, '..');
const WEB = join(SERVER, 'web');

/** The folder into which `npm run client` puts the installer of the program for Windows. */
const DIST = join(SERVER, '../client-win/dist');
const INSTALLER = 'Sprites-Setup.exe';

/** Version, hash and size of that installer. The program asks for it, to tell its user about a newer version. */
const LATEST = 'latest.json';

/** A host that can be a part of a file name: a name or an IPv4 address. */
const FILE_HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;

/** Headers that make a browser save the file under this name. */
const installerHeaders = (name: string) => ({
  'Content-Type': 'application/vnd.microsoft.portable-executable',
  'Content-Disposition': `attachment; filename="${name}"`,
});

/** The modules that both browser and relay use: they read sprite files, and name desktops. */
const SHARED_MODULES = ['png.ts', 'hidden.ts', 'description.ts', 'sheet.ts', 'friendly_names.ts'];

/** Folder of the shipped characters. */
export const CHARACTERS_FOLDER = join(WEB, 'sprites');

export function site(
  characters: readonly Character[],
  downloads = DIST,
  addresses: PublicAddresses = { eventsPort: 0, apiPort: 0 },
): express.Router {
  const installer = join(downloads, INSTALLER);
  const router = express.Router();
  router.use((_, response, next) => {
    response.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff' });
    response.set({ 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-cache' });
    next();
  });
  const files: [string, string, string | Buffer][] = [
    ['/protocol', 'text/markdown', readFileSync(join(SERVER, 'PROTOCOL.md'))],
    ['/openapi.yaml', 'application/yaml', readFileSync(join(SERVER, 'openapi.yaml'))],
    ['/sprites/index.json', 'application/json', JSON.stringify(characters)],
  ];
  for (const name of readdirSync(WEB)) {
    const path = `/desktop/${name}`;
    if (name.endsWith('.css')) files.push([path, 'text/css', readFileSync(join(WEB, name))]);
    if (name.endsWith('.ts') && !name.endsWith('.test.ts')) files.push(moduleAt(path, join(WEB, name)));
  }
  for (const name of SHARED_MODULES) files.push(moduleAt(`/wire/${name}`, join(SERVER, 'wire', name)));
  for (const [path, type, content] of files) {
    const bytes = Buffer.from(content);
    router.get(path, (_, response) => {
      response.type(`${type}; charset=utf-8`).send(bytes);
    });
  }
  const [plain, withDownload] = pages();
  router.get('/', (_, response) => {
    response.type('text/html; charset=utf-8').send(existsSync(installer) ? withDownload : plain);
  });
  router.get(`/download/${INSTALLER}`, (request, response, next) =>
    sendInstaller(response, installer, installerName(baseOf(request, addresses)), next),
  );
  router.get('/client/latest.json', (_, response, next) => sendLatest(response, downloads, next));
  for (const { url, file } of characters) {
    const bytes = readFileSync(join(CHARACTERS_FOLDER, url.slice(url.lastIndexOf('/') + 1)));
    router.get(url, (request, response) => sendSprite(request, response, file, { bytes, release: () => {} }));
  }
  return router;
}

/** The page without and with the download of the program for Windows. */
function pages(): [plain: Buffer, withDownload: Buffer] {
  const html = readFileSync(join(WEB, 'index.html'), 'utf8');
  return [Buffer.from(html), Buffer.from(html.replace('id="download" hidden', 'id="download"'))];
}

/**
 * The name under which a browser saves the installer. It has the relay's address, which the installed program then uses. A name
 * survives a signature, and the installer's hash is the same for every relay.
 */
export function installerName(base: string): string {
  const { protocol, hostname, port } = new URL(base);
  if (!FILE_HOST.test(hostname)) return INSTALLER; // an IPv6 address: the program asks its user
  const scheme = protocol.slice(0, -1);
  return `Sprites-Setup_${scheme}_${port || (scheme === 'https' ? 443 : 80)}_${hostname}.exe`;
}

/** Sends what `npm run client` has written about the installer. Calls `next` when it is not about the one that is here. */
function sendLatest(response: Response, downloads: string, next: NextFunction): void {
  let latest: string | undefined;
  try {
    latest = readFileSync(join(downloads, LATEST), 'utf8');
    if (statSync(join(downloads, INSTALLER)).size !== JSON.parse(latest).size) latest = undefined;
  } catch {
    latest = undefined; // there is no installer, or nothing is known of it
  }
  if (latest === undefined) next();
  else response.type('application/json').send(latest);
}

/** Sends the installer, or the rest of an interrupted download. Calls `next` when there is no installer. */
function sendInstaller(response: Response, path: string, name: string, next: NextFunction): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) {
    next();
    return;
  }
  // The next build has the same name, so a download may continue only in the same file: the ETag tells them apart.
  const headers = { ...installerHeaders(name), ETag: `"${file.size}-${Math.round(file.mtimeMs)}"` };
  response.sendFile(path, { cacheControl: false, etag: false, dotfiles: 'allow', headers }, (error) => {
    if (error === undefined || response.headersSent) return; // sent, or interrupted
    const { status, headers: errorHeaders } = error as { status?: number; headers?: Record<string, string> };
    if (status === 416)
      response
        .status(416)
        .set(errorHeaders ?? {})
        .end();
    else next(error);
  });
}

function moduleAt(path: string, file: string): [string, string, string] {
  return [path, 'text/javascript', stripTypeScriptTypes(readFileSync(file, 'utf8'))];
}
