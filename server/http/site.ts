/**
 * The site: the desktop in a browser, the gallery, the editor, the pages about the world and about Sprites, the shipped characters, the definition of
 * the protocol; what has changed, what is stored of visitors, the operator's rules, and the source of the version that runs.
 *
 * Browser modules are written in TypeScript; their types are stripped, and their URLs end in `.ts` too. The head of a page names all
 * modules that it needs, so a browser does not need a round trip for each level of imports.
 *
 * All files are read at start, so the pages and modules of a process are of one version. What takes time is done once, for the first
 * request: to strip types, to compress. A relay or a worker starts in half the time, and many serve no page.
 *
 * Each page is made once in each language of web/texts/, with the texts that its modules use. A visitor gets the language of `?lang=`,
 * which is then kept in a cookie, else that of the cookie, else that of Accept-Language.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { commit as commitOfProject, VERSION, versionWords } from '../../tools/version.js';
import type { Character } from '../store/sprite_store.ts';
import { LANGUAGES, type Language, PROBLEM_TEXTS, TEXTS } from '../web/texts/texts.ts';
import { baseOf, type PublicAddresses } from './api.ts';
import { withDocument } from './documents.ts';
import { sourceArchive } from './source_archive.ts';
import { sendSprite } from './sprite_answer.ts';

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
const ROOT = join(SERVER, '..');
const WEB = join(import.meta.dirname, '../web');

/** The folder into which `npm run client` puts the programs that visitors can download. */
const DIST = join(ROOT, 'client-win/dist');
const INSTALLER = 'Sprites-Setup.exe';
const DEB = 'sprites_amd64.deb';
const ARCHIVE = 'sprites-linux-x86_64.tar.xz';

/** The types of the files. */
const DOWNLOADS = {
  [INSTALLER]: 'application/vnd.microsoft.portable-executable',
  [DEB]: 'application/vnd.debian.binary-package',
  [ARCHIVE]: 'application/x-xz',
};

/** Version, hash and size of the installer, which the program asks for to tell its user about a newer version; likewise for Linux. */
const LATEST = ['latest.json', 'linux.json'];

/** A host that can be a part of a file name: a name or an IPv4 address. */
const FILE_HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;

/** The modules that both browser and relay use: their rules, what reads and makes sprite files, and what names desktops. */
const SHARED_MODULES = [
  ...[
    'rules.ts',
    'hidden.ts',
    'friendly_names.ts',
    'resident.ts',
    'files/png.ts',
    'files/description.ts',
    'files/sheet.ts',
    'files/gif.ts',
  ],
  ...['files/aseprite.ts', 'files/pixels.ts', 'files/frame_list.ts'],
];

/** The folders of the pages, of their style sheets and of their modules. A file's URL is its path below server/. */
const PAGE_FOLDERS = ['desktop', 'make', 'motion', 'pages', 'pictures', 'relay', 'texts'];

/** The library that unpacks GIFs. It is a script that exports only where there are CommonJS modules, so an export is added. */
const GIF_LIBRARY = '/lib/omggif.js';

/** The library that makes QR codes: a module as it is. */
const CODE_LIBRARY = '/lib/uqr.js';

/** The pages beside the desktop: the URL of each, and the path of its files without what follows the dot. */
const PAGES = [
  ['/gallery', 'pages/gallery'],
  ['/make', 'make/make'],
  ['/world', 'pages/world'],
  ['/about', 'pages/about'],
  ['/offline', 'pages/offline'],
] as const;

/** What has changed, and what a relay stores of people. The bundle of a fleet has neither. */
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const PRIVACY = { en: join(SERVER, 'PRIVACY.md'), de: join(SERVER, 'PRIVACY.de.md') };

/** What a page has in place of the operator's contact: the form of the page about Sprites. */
const FEEDBACK_FORM = 'href="/about#feedback"';

const ICON_SIDES = [192, 512] as const;

/** With it, a browser installs the page as a program. */
const MANIFEST = {
  name: 'Sprites',
  short_name: 'Sprites',
  id: '/',
  start_url: '/',
  display: 'standalone',
  background_color: '#e9e6ff',
  theme_color: '#e9e6ff',
  icons: ICON_SIDES.map((side) => ({
    src: `/icon-${side}.png`,
    sizes: `${side}x${side}`,
    type: 'image/png',
    purpose: 'any maskable',
  })),
};

const LANGUAGE_KEPT_S = 365 * 24 * 3600; // s that a browser keeps the language that its user has chosen

/** The headers of a request that choose between the languages of a page. */
const LANGUAGE_VARY = 'Accept-Encoding, Accept-Language, Cookie';

/** Folder of the shipped characters. */
export const CHARACTERS_FOLDER = join(WEB, 'sprites');

/** What a site is of, beside its own files. */
export interface SiteSetup {
  /** The folder of the programs that visitors can download. */
  downloads?: string;
  addresses?: PublicAddresses;
  /** Where visitors reach the operator: an e-mail address or a URL. */
  contact?: string;
  /** The file of the operator's rules, in Markdown. */
  rules?: string;
  /** The commit that runs, and the folder of its project. */
  commit?: string;
  root?: string;
  log?: Logger;
}

export function site(characters: readonly Character[], setup: SiteSetup = {}): express.Router {
  const { downloads = DIST, addresses = { eventsPort: 0, apiPort: 0 }, contact, rules } = setup;
  const { commit = commitOfProject(), root = ROOT, log } = setup;
  const router = express.Router();
  router.use((_, response, next) => {
    response.set({ 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff' });
    response.set({ 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-cache' });
    next();
  });
  const modules = readModules();
  addFiles(router, modules);
  addCharacters(router, characters);
  addPage(router, '/', pageOf(read(WEB, 'desktop/index.html'), '/web/desktop/desktop.ts', modules), downloads);
  const frame = { version: versionWords(commit), contact, hasRules: rules !== undefined };
  const framedPage = (path: string, url?: string) => {
    return pageOf(framed(read(WEB, `${path}.html`), frame, url), `/web/${path}.ts`, modules);
  };
  for (const [url, path] of PAGES) addPage(router, url, framedPage(path, url), downloads);
  addDocument(router, '/changelog', framedPage('pages/changelog'), { en: CHANGELOG, de: CHANGELOG });
  addDocument(router, '/privacy', framedPage('pages/privacy'), PRIVACY);
  if (rules !== undefined) addRules(router, framedPage('pages/rules'), rules);
  addManifest(router);
  for (const [file, type] of Object.entries(DOWNLOADS)) {
    router.get(`/download/${file}`, (request, response, next) => {
      const name = file === INSTALLER ? installerName(baseOf(request, addresses)) : file;
      sendDownload(response, join(downloads, file), name, type, next);
    });
  }
  for (const file of LATEST)
    router.get(`/client/${file}`, (_, response, next) => sendLatest(response, downloads, file, next));
  const missing = framedPage('pages/missing');
  const noSource = (language: Language) =>
    missing(language).replace('id="no-page"', 'hidden').replace('id="no-source" hidden', '');
  addSource(router, { root, commit, log }, refuse(noSource));
  router.get('/{*path}', refuse(missing));
  return router;
}

/** Answers that there is nothing. Programs get the problem document: only browsers that open a page prefer HTML. */
function refuse(page: (language: Language) => string): RequestHandler {
  const texts = inEachLanguage('text/html', page);
  return (request, response, next) => {
    if (request.path.startsWith('/v1/') || request.accepts(['json', 'html']) !== 'html') return next();
    sendTranslated(request, response.status(404), texts, `Accept, ${LANGUAGE_VARY}`);
  };
}

/** Sources of browser modules by URL. */
type Modules = ReadonlyMap<string, string>;

function readModules(): Modules {
  const own = pageFiles().filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  return new Map([
    ...own.map((path) => [`/web/${path}`, read(WEB, path)] as const),
    ...SHARED_MODULES.map((name) => [`/wire/${name}`, read(SERVER, 'wire', name)] as const),
  ]);
}

/** The paths of the files of all pages. */
function pageFiles(): string[] {
  return PAGE_FOLDERS.flatMap((folder) => readdirSync(join(WEB, folder)).map((file) => `${folder}/${file}`));
}

/** The files that are the same in every language: modules, style sheets, documents. */
function addFiles(router: express.Router, modules: Modules): void {
  const add = (path: string, type: string, make: () => string) => {
    const text = once(() => packed(type, make()));
    router.get(path, (request, response) => sendText(request, response, text()));
  };
  const addText = (path: string, type: string, text: string) => add(path, type, () => text);
  addText('/protocol', 'text/markdown', read(SERVER, 'PROTOCOL.md'));
  addText('/openapi.yaml', 'application/yaml', read(SERVER, 'openapi.yaml'));
  for (const path of pageFiles().filter((one) => one.endsWith('.css')))
    addText(`/web/${path}`, 'text/css', read(WEB, path));
  const library = createRequire(import.meta.url).resolve('omggif');
  addText(CODE_LIBRARY, 'text/javascript', readFileSync(fileURLToPath(import.meta.resolve('uqr')), 'utf8'));
  addText(GIF_LIBRARY, 'text/javascript', `${read(library)}\nexport { GifReader };\n`);
  const scripts = [...modules, ['/service_worker.js', read(WEB, 'pages/service_worker.ts')] as const];
  for (const [path, source] of scripts) add(path, 'text/javascript', () => stripTypeScriptTypes(source));
}

/** The shipped characters, and the list of them. */
function addCharacters(router: express.Router, characters: readonly Character[]): void {
  const list = once(() => packed('application/json', JSON.stringify(characters)));
  router.get('/sprites/index.json', (request, response) => sendText(request, response, list()));
  for (const { url, file } of characters) {
    const bytes = readFileSync(join(CHARACTERS_FOLDER, url.slice(url.lastIndexOf('/') + 1)));
    router.get(url, (request, response) => sendSprite(request, response, file, { bytes, release: () => {} }));
  }
}

/** What a browser needs to install the page as a program. */
function addManifest(router: express.Router): void {
  const manifest = inEachLanguage('application/manifest+json', (language) => {
    return JSON.stringify({ ...MANIFEST, lang: language, description: TEXTS[language]['index.description'] });
  });
  router.get('/manifest.webmanifest', (request, response) => sendTranslated(request, response, manifest));
  for (const name of ICON_SIDES.map((side) => `icon-${side}.png`)) {
    const icon = readFileSync(join(WEB, 'pages', name));
    router.get(`/${name}`, (_, response) => {
      response.set('Cache-Control', 'max-age=86400').type('image/png').send(icon);
    });
  }
}

/** A page, which offers the programs that are there when it is requested, if it has a place for them. */
function addPage(router: express.Router, url: string, page: (language: Language) => string, downloads: string): void {
  const pages = [[], ['windows'], ['linux'], ['windows', 'linux']].map((systems) =>
    inEachLanguage('text/html', (language) =>
      systems.reduce(
        (html, system) => html.replace(`id="download-${system}" hidden`, `id="download-${system}"`),
        page(language),
      ),
    ),
  );
  router.get(url, (request, response) => {
    const has = (file: string) => Number(existsSync(join(downloads, file)));
    sendTranslated(request, response, pages[has(INSTALLER) + 2 * has(DEB)] as Translated);
  });
}

/** A page with a document of the project in each language, if the project has it. */
function addDocument(
  router: express.Router,
  url: string,
  page: (language: Language) => string,
  paths: Readonly<Record<Language, string>>,
): void {
  if (!Object.values(paths).every((path) => existsSync(path))) return;
  const documents = Object.fromEntries(Object.entries(paths).map(([language, path]) => [language, read(path)]));
  const texts = inEachLanguage('text/html', (language) => withDocument(page(language), documents[language] as string));
  router.get(url, (request, response) => sendTranslated(request, response, texts));
}

/** The page of the operator's rules, which may be changed while the relay runs. */
function addRules(router: express.Router, page: (language: Language) => string, path: string): void {
  let shown: { document: string; texts: Translated } | undefined;
  router.get('/rules', (request, response, next) => {
    let document: string;
    try {
      document = read(path);
    } catch {
      next(); // the operator has moved it away
      return;
    }
    if (shown?.document !== document) {
      shown = { document, texts: inEachLanguage('text/html', (language) => withDocument(page(language), document)) };
    }
    sendTranslated(request, response, shown.texts);
  });
}

/** The archive of the source. It is made once, for the first visitor who asks; `sendMissing` answers when there is none. */
function addSource(
  router: express.Router,
  { root, commit, log }: { root: string; commit: string; log: Logger | undefined },
  sendMissing: RequestHandler,
): void {
  const hash = commit.replace('+changed', '');
  const name = `sprites-${VERSION}-${hash}`;
  const archive = once(() =>
    sourceArchive(root, hash, name).catch((error) => {
      log?.warn({ err: error }, 'git could not make the archive of the source, so visitors do not get it');
      return undefined;
    }),
  );
  router.get('/source.tar.gz', async (request, response, next) => {
    const bytes = await archive();
    if (bytes === undefined) {
      sendMissing(request, response, next);
      return;
    }
    response.set({ 'Content-Disposition': `attachment; filename="${name}.tar.gz"`, ETag: `"${hash}"` });
    response.type('application/gzip').send(bytes);
  });
}

/** A text as it is sent: plain, and compressed for browsers that can read that. */
interface Text {
  type: string;
  plain: Buffer;
  gzip: Buffer;
  etag: string;
}

function packed(type: string, content: string): Text {
  const plain = Buffer.from(content);
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return {
    type: `${type}; charset=utf-8`,
    plain,
    gzip: gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }),
    etag,
  };
}

type Translated = Readonly<Record<Language, () => Text>>;

function inEachLanguage(type: string, make: (language: Language) => string): Translated {
  const texts = LANGUAGES.map((language) => [language, once(() => packed(type, make(language)))]);
  return Object.fromEntries(texts) as Translated;
}

/** Returns what `make` returned when it was called first. */
function once<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function read(...path: string[]): string {
  return readFileSync(join(...path), 'utf8');
}

/** Sends a text in the visitor's language. Keeps the language when the visitor has chosen it. */
function sendTranslated(request: Request, response: Response, texts: Translated, vary = LANGUAGE_VARY): void {
  const chosen = LANGUAGES.find((one) => one === request.query.lang);
  if (chosen !== undefined)
    response.set('Set-Cookie', `lang=${chosen}; Path=/; Max-Age=${LANGUAGE_KEPT_S}; SameSite=Lax`);
  const language = chosen ?? languageOf(request);
  response.set('Content-Language', language);
  sendText(request, response, texts[language](), vary);
}

function languageOf(request: Request): Language {
  const kept = /(?:^|;\s*)lang=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
  return (
    LANGUAGES.find((one) => one === kept) ?? ((request.acceptsLanguages([...LANGUAGES]) || LANGUAGES[0]) as Language)
  );
}

/** Sends a text, or 304 to a browser that has it already. */
function sendText(
  request: Request,
  response: Response,
  { type, plain, gzip, etag }: Text,
  vary = 'Accept-Encoding',
): void {
  response.set({ 'Content-Type': type, ETag: etag, Vary: vary });
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) response.set('Content-Encoding', 'gzip');
  response.send(isCompressed ? gzip : plain);
}

/** What all pages have alike. */
interface Frame extends Pick<SiteSetup, 'contact'> {
  readonly version: string;
  readonly hasRules: boolean;
}

/** Puts in the first lines of the head, the links to the pages, with that to this one marked, and the footer. */
function framed(page: string, { version, contact, hasRules }: Frame, url?: string): string {
  const part = (name: string) => read(WEB, `pages/${name}.html`).trim();
  const header = part('header').replace(`href="${url}"`, '$& aria-current="page"');
  const footer = part('footer')
    .replace('{{version}}', version)
    .replace('href="/rules" hidden', hasRules ? 'href="/rules"' : '$&');
  const whole = page.replace('{{head}}', part('head')).replace('{{header}}', header).replace('{{footer}}', footer);
  if (contact === undefined) return whole;
  const href = contact.includes('://') ? contact : `mailto:${contact}`;
  return whole.replaceAll(FEEDBACK_FORM, () => `href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`);
}

/**
 * Returns what makes a page in a language. Its head has a line for each module that the page needs at once, and its end has the texts
 * that all its modules use, as JSON.
 *
 * Throws an Error when the page names a text that does not exist.
 */
function pageOf(html: string, entry: string, modules: Modules): (language: Language) => string {
  return (language) => {
    const lines = [...reached(entry, modules, IMPORT)].map((path) => `<link rel="modulepreload" href="${path}" />`);
    const used = [...reached(entry, modules, IMPORT, DYNAMIC_IMPORT)].map((path) => modules.get(path) ?? '').join();
    const words = new Set([...used.matchAll(/'([\w.-]+)'/g)].map(([, word]) => word));
    const table = TEXTS[language];
    const page = html
      .replace('<html lang="en">', `<html lang="${language}">`)
      .replace(/\{\{([\w.-]+)\}\}/g, (_, key: string) => {
        if (!Object.hasOwn(table, key)) throw new Error(`A page names the text ${key}, which does not exist.`);
        return table[key as keyof typeof table];
      });
    if (!modules.has(entry)) return page; // a page without a program
    const sent = Object.entries(table).filter(([key]) => words.has(key.replace(/_(?:one|other)$/, '')));
    const json = JSON.stringify({ texts: Object.fromEntries(sent), problems: PROBLEM_TEXTS[language] });
    return page
      .replace('</title>', () => `</title>\n    ${lines.join('\n    ')}`)
      .replace(
        '</body>',
        () => `<script type="application/json" id="texts">${json.replaceAll('<', '\\u003c')}</script>\n  </body>`,
      );
  };
}

/** An import that stays when the types are stripped. */
const IMPORT = /^(?:import|export)\b(?! type\b)[^'";]*\bfrom '([^']+)'/gm;
const DYNAMIC_IMPORT = /\bimport\('([^']+)'\)/g;

/** The modules that `entry` imports, and those that they import, with `entry` itself. */
function reached(entry: string, modules: Modules, ...imports: readonly RegExp[]): Set<string> {
  const found = new Set([entry]);
  for (const path of found) {
    const text = modules.get(path) ?? '';
    for (const [, from] of imports.flatMap((pattern) => [...text.matchAll(pattern)])) {
      found.add(new URL(from, `http://site${path}`).pathname);
    }
  }
  return found;
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

/** Sends what `npm run client` has written about its files. Calls `next` when it is not about those that are here. */
function sendLatest(response: Response, downloads: string, name: string, next: NextFunction): void {
  let latest: string | undefined;
  try {
    latest = readFileSync(join(downloads, name), 'utf8');
    const about = JSON.parse(latest);
    const files: [string, { size: number }][] = Object.entries(about.files ?? { [INSTALLER]: about });
    if (files.some(([file, { size }]) => statSync(join(downloads, file)).size !== size)) latest = undefined;
  } catch {
    latest = undefined; // there are no files, or nothing is known of them
  }
  if (latest === undefined) next();
  else response.type('application/json').send(latest);
}

/** Sends a program, which a browser saves under this name, or the rest of an interrupted download. Calls `next` when it is not there. */
function sendDownload(response: Response, path: string, name: string, type: string, next: NextFunction): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) {
    next();
    return;
  }
  // The next build has the same name, so a download may continue only in the same file: the ETag tells them apart.
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    ETag: `"${file.size}-${Math.round(file.mtimeMs)}"`,
  };
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
