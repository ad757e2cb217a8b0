/**
 * The site: the desktop in a browser, the gallery, the editor, the pages about the world and about Sprites, the shipped characters, the definition of
 * the protocol; what has changed, what is stored of visitors, the operator's rules, and the source of the version that runs.
 *
 * All files are read at start, so the pages and programs of a process are of one version. What takes time is done once, for the first
 * request: to make a page's program (page_program.ts), to compress. A relay or a worker starts in half the time, and many serve no page.
 *
 * Each page is made once in each language of web/texts/, with the texts that its modules use. A visitor gets the language of `?lang=`,
 * which is then kept in a cookie, else that of the cookie, else that of Accept-Language.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { commit as commitOfProject, VERSION, versionWords } from '../../tools/version.js';
import type { Character } from '../store/sprite_store.ts';
import { LANGUAGES, type Language, PROBLEM_TEXTS, TEXTS, textsIn } from '../web/texts/texts.ts';
import { isFileHash } from '../wire/fields.ts';
import { baseOf, type PublicAddresses } from './api.ts';
import { withDocument } from './documents.ts';
import { withPreview } from './link_preview.ts';
import { type PageProgram, pageProgram } from './page_program.ts';
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

/** The folders of the pages, of their style sheets and of their modules. A style sheet's URL is its path below server/. */
const PAGE_FOLDERS = ['desktop', 'make', 'motion', 'pages', 'pictures', 'relay', 'texts'];

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
  addFiles(router);
  const modules = readModules();
  const program = (name: string, entry: string, url?: string) => addProgram(router, { name, entry, url }, modules);
  program('service_worker', 'web/pages/service_worker.ts', '/');
  addCharacters(router, characters);
  const desktop = program('desktop', 'web/desktop/desktop.ts');
  addPage(router, '/', pageOf(read(WEB, 'desktop/index.html'), desktop), downloads, addresses);
  const frame = { version: versionWords(commit), contact, hasRules: rules !== undefined };
  const framedPage = (path: string, url?: string) => {
    const html = framed(read(WEB, `${path}.html`), frame, url);
    const entry = `web/${path}.ts`;
    return pageOf(html, modules.has(entry) ? program(basename(path), entry) : undefined);
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
  const noSource: Page = async (language) =>
    (await missing(language)).replace('id="no-page"', 'hidden').replace('id="no-source" hidden', '');
  addSource(router, { root, commit, log }, refuse(noSource));
  router.get('/{*path}', refuse(missing));
  return router;
}

/** Answers that there is nothing. Programs get the problem document: only browsers that open a page prefer HTML. */
function refuse(page: Page): RequestHandler {
  const texts = inEachLanguage('text/html', page);
  return async (request, response, next) => {
    if (request.path.startsWith('/v1/') || request.accepts(['json', 'html']) !== 'html') return next();
    await sendTranslated(request, response.status(404), texts, `Accept, ${LANGUAGE_VARY}`);
  };
}

/** The sources that programs of pages are made of, by their paths below server/: the pages' own, and the rules that the relay has too. */
function readModules(): ReadonlyMap<string, string> {
  const folders = [...PAGE_FOLDERS.map((folder) => `web/${folder}`), 'wire', 'wire/files'];
  const paths = folders.flatMap((folder) => readdirSync(join(SERVER, folder)).map((file) => `${folder}/${file}`));
  return new Map(
    paths
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => [path, read(SERVER, path)]),
  );
}

/** The files that are the same in every language: style sheets, documents. */
function addFiles(router: express.Router): void {
  const add = (path: string, type: string, text: string) => {
    const made = packed(type, text);
    router.get(path, (request, response) => sendText(request, response, made));
  };
  add('/protocol', 'text/markdown', read(SERVER, 'PROTOCOL.md'));
  add('/openapi.yaml', 'application/yaml', read(SERVER, 'openapi.yaml'));
  for (const folder of PAGE_FOLDERS) {
    for (const file of readdirSync(join(WEB, folder)).filter((one) => one.endsWith('.css'))) {
      add(`/web/${folder}/${file}`, 'text/css', read(WEB, folder, file));
    }
  }
}

/** The program of a page, and its files, which are made when the first is asked for. */
function addProgram(
  router: express.Router,
  { name, entry, url = '/web/' }: { name: string; entry: string; url: string | undefined },
  modules: ReadonlyMap<string, string>,
): () => Promise<PageProgram> {
  const program = once(() => pageProgram({ name, url, entry }, modules));
  const files = once(async () => {
    const { files } = await program();
    return new Map(
      [...files].map(([path, text]) => [
        path,
        packed(path.endsWith('.map') ? 'application/json' : 'text/javascript', text),
      ]),
    );
  });
  router.get([`${url}${name}.js{.map}`, `${url}${name}-:part`], async (request, response, next) => {
    const text = (await files()).get(request.path);
    if (text === undefined) next();
    else await sendText(request, response, text);
  });
  return program;
}

/** The shipped characters, and the list of them. */
function addCharacters(router: express.Router, characters: readonly Character[]): void {
  const list = packed('application/json', JSON.stringify(characters));
  router.get('/sprites/index.json', (request, response) => sendText(request, response, list));
  for (const { url, file } of characters) {
    const bytes = readFileSync(join(CHARACTERS_FOLDER, url.slice(url.lastIndexOf('/') + 1)));
    router.get(url, (request, response) => sendSprite(request, response, file, { bytes, release: () => {} }));
  }
}

/** What a browser needs to install the page as a program. */
function addManifest(router: express.Router): void {
  const manifest = inEachLanguage('application/manifest+json', async (language) => {
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

/**
 * A page, which offers the programs that are there when it is requested, if it has a place for them. With `addresses`, chats show a picture of
 * the sprite that a link to it carries.
 */
function addPage(
  router: express.Router,
  url: string,
  page: Page,
  downloads: string,
  addresses?: PublicAddresses,
): void {
  const pages = [[], ['windows'], ['linux'], ['windows', 'linux']].map((systems) =>
    inEachLanguage('text/html', async (language) =>
      systems.reduce(
        (html, system) => html.replace(`id="download-${system}" hidden`, `id="download-${system}"`),
        await page(language),
      ),
    ),
  );
  router.get(url, async (request, response) => {
    const has = (file: string) => Number(existsSync(join(downloads, file)));
    const texts = pages[has(INSTALLER) + 2 * has(DEB)] as Translated;
    const { sprite } = request.query;
    const isCarrying = addresses !== undefined && isFileHash(sprite);
    const shown = isCarrying ? carrying(texts, `${baseOf(request, addresses)}/preview/${sprite}.png`) : texts;
    await sendTranslated(request, response, shown);
  });
}

/** A page with the address of a picture in its head. It is made for one request, so it is compressed the fast way. */
function carrying(texts: Translated, image: string): Translated {
  return Object.fromEntries(
    LANGUAGES.map((language) => [
      language,
      async () => {
        const { plain } = await texts[language]();
        const made = packed('text/html', withPreview(plain.toString(), image, TEXTS[language]['index.description']));
        return { ...made, compressed: { gzip: () => promisify(gzip)(made.plain) } };
      },
    ]),
  ) as Translated;
}

/** A page with a document of the project in each language, if the project has it. */
function addDocument(router: express.Router, url: string, page: Page, paths: Readonly<Record<Language, string>>): void {
  if (!Object.values(paths).every((path) => existsSync(path))) return;
  const documents = Object.fromEntries(Object.entries(paths).map(([language, path]) => [language, read(path)]));
  const texts = inEachLanguage('text/html', async (language) =>
    withDocument(await page(language), documents[language] as string),
  );
  router.get(url, (request, response) => sendTranslated(request, response, texts));
}

/** The page of the operator's rules, which may be changed while the relay runs. */
function addRules(router: express.Router, page: Page, path: string): void {
  let shown: { document: string; texts: Translated } | undefined;
  router.get('/rules', async (request, response, next) => {
    let document: string;
    try {
      document = read(path);
    } catch {
      next(); // the operator has moved it away
      return;
    }
    if (shown?.document !== document) {
      const texts = inEachLanguage('text/html', async (language) => withDocument(await page(language), document));
      shown = { document, texts };
    }
    await sendTranslated(request, response, shown.texts);
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

/** How a text is compressed, the best way first. Browsers accept Brotli over https and from their own machine. */
const ENCODINGS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};
type Encoding = keyof typeof ENCODINGS;

/** A text as it is sent: plain, and compressed for browsers that can read that. */
interface Text {
  type: string;
  plain: Buffer;
  compressed: Readonly<Partial<Record<Encoding, () => Promise<Buffer>>>>;
  etag: string;
}

function packed(type: string, content: string): Text {
  const plain = Buffer.from(content);
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const compressed = { br: once(() => ENCODINGS.br(plain)), gzip: once(() => ENCODINGS.gzip(plain)) };
  return { type: `${type}; charset=utf-8`, plain, compressed, etag };
}

/** What makes a page in a language. */
type Page = (language: Language) => Promise<string>;

type Translated = Readonly<Record<Language, () => Promise<Text>>>;

function inEachLanguage(type: string, make: Page): Translated {
  const texts = LANGUAGES.map((language) => [language, once(async () => packed(type, await make(language)))]);
  return Object.fromEntries(texts) as Translated;
}

/** Returns what `make` made when it was called first, or last if it failed before. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

function read(...path: string[]): string {
  return readFileSync(join(...path), 'utf8');
}

/** Sends a text in the visitor's language. Keeps the language when the visitor has chosen it. */
async function sendTranslated(
  request: Request,
  response: Response,
  texts: Translated,
  vary = LANGUAGE_VARY,
): Promise<void> {
  const chosen = LANGUAGES.find((one) => one === request.query.lang);
  if (chosen !== undefined)
    response.set('Set-Cookie', `lang=${chosen}; Path=/; Max-Age=${LANGUAGE_KEPT_S}; SameSite=Lax`);
  const language = chosen ?? languageOf(request);
  response.set('Content-Language', language);
  await sendText(request, response, await texts[language](), vary);
}

function languageOf(request: Request): Language {
  const kept = /(?:^|;\s*)lang=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
  return (
    LANGUAGES.find((one) => one === kept) ?? ((request.acceptsLanguages([...LANGUAGES]) || LANGUAGES[0]) as Language)
  );
}

/** Sends a text, or 304 to a browser that has it already. */
async function sendText(
  request: Request,
  response: Response,
  { type, plain, compressed, etag }: Text,
  vary = 'Accept-Encoding',
): Promise<void> {
  response.set({ 'Content-Type': type, ETag: etag, Vary: vary });
  const found = Object.entries(compressed).find(([encoding]) => request.acceptsEncodings(encoding) === encoding);
  if (found !== undefined) response.set('Content-Encoding', found[0]);
  response.send(found === undefined ? plain : await found[1]());
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
 * Returns what makes a page in a language. Its head names the files that its program imports at once, so that they come in parallel, and
 * its end has the texts that the program uses, as JSON.
 *
 * Throws an Error when the page names a text that does not exist.
 */
function pageOf(html: string, program: (() => Promise<PageProgram>) | undefined): Page {
  return async (language) => {
    const table = TEXTS[language];
    const page = html
      .replace('<html lang="en">', `<html lang="${language}">`)
      .replace(/\{\{([\w.-]+)\}\}/g, (_, key: string) => {
        if (!Object.hasOwn(table, key)) throw new Error(`A page names the text ${key}, which does not exist.`);
        return table[key as keyof typeof table];
      });
    if (program === undefined) return page;
    const { imports, sources } = await program();
    const isUsed = textsIn(sources.join());
    const sent = Object.entries(table).filter(([key]) => isUsed(key));
    const json = JSON.stringify({ texts: Object.fromEntries(sent), problems: PROBLEM_TEXTS[language] });
    const lines = imports.map((path) => `<link rel="modulepreload" href="${path}" />`);
    return page
      .replace('</title>', () => ['</title>', ...lines].join('\n    '))
      .replace(
        '</body>',
        () => `<script type="application/json" id="texts">${json.replaceAll('<', '\\u003c')}</script>\n  </body>`,
      );
  };
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
