/** Pages in a real browser, each of its own visitor, for the suites of the desktop in a browser. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { installHint } from '../../tools/machine.js';
import { LEASE_MS } from '../wire/rules.ts';
import { sendRequest } from './desktop_client.ts';
import { until } from './relay_process.ts';

const CHROMIUM = '/usr/bin/chromium';

/**
 * Features of Chromium that no test sees. The first ones are pages in every window, below its address field, and a renderer in reserve;
 * a visitor costs half as much without them. The others are those that Playwright turns off: this list replaces its list.
 */
const FEATURES_OFF = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'PreloadTopChromeWebUI'],
  ...['SpareRendererForSitePerProcess', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', `--disable-features=${FEATURES_OFF}`],
];
export const SCREENSHOTS = join(import.meta.dirname, '../../screenshots');
export const takesScreenshots = process.env.SPRITES_SCREENSHOTS !== undefined;

/** The window of a visitor who has no other: above the sizes for which the pages are laid out as on a phone. */
export const VIEW = { width: 640, height: 500 };

/** ms between two frames of a page: far below the 100 ms from which on a desktop is slower than time. */
const FRAME_MS = 50;

export interface Visitor extends BrowserContextOptions {
  /**
   * As people have it: each frame of the screen, motion, blurred backgrounds, and the worker of the site. A page without them costs a
   * third of the processor's time.
   */
  whole?: boolean;
}

/** ms for one wait of a page: a busy machine may draw a frame a second. */
const PATIENCE_MS = 60_000;

/** Why the suites of pages cannot run here; false when they can. */
export const noBrowser = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: ${installHint(['chromium'])}`;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Opens an empty page for a new visitor. Errors in the page are added to `faults`, after the visitor's name. */
export async function openPage(
  browser: Browser,
  name: string,
  faults: string[],
  { whole = false, ...options }: Visitor = {},
): Promise<Page> {
  const sparing = { reducedMotion: 'reduce', serviceWorkers: 'block' } as const;
  const context = await browser.newContext({ viewport: VIEW, ...(whole ? {} : sparing), ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  if (!whole) await context.addInitScript(spareFrames, FRAME_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${name}: ${error.stack}`));
  return page;
}

/** Runs in a page before its own code: a frame each `frameMs`, and nothing that is blurred. */
function spareFrames(frameMs: number): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after, ::backdrop { backdrop-filter: none !important; }');
  document.adoptedStyleSheets.push(sheet);
  const nextFrame = globalThis.requestAnimationFrame;
  const screenMs = 1000 / 60; // a frame of the screen follows the pause
  globalThis.requestAnimationFrame = (draw) => Number(setTimeout(() => nextFrame(draw), frameMs - screenMs));
}

/** Sprites on a new desktop. Each comes with its picture, so it may have fewer for a moment. */
export const FIRST_SPRITES = 3;

/** Leaves the dialog of a page that asks its visitor to join, and waits until the desktop has its first sprites: tests count them. */
export async function comeIn(page: Page): Promise<void> {
  await page.click('#enter');
  await page.waitForSelector('body[data-state="connected"]');
  await page.waitForFunction((first) => Number(document.body.dataset.sprites) >= first, FIRST_SPRITES);
}

/** Shows what a visitor can choose about the world, in the dialog that asks to join. */
export async function chooseWorld(page: Page): Promise<void> {
  await page.click('#elsewhere summary');
}

/**
 * Opens the menu of the sprite with this picture, and returns its entry with this text. The sprite moves, and another one may be in front of it,
 * so the click may need some tries.
 */
export async function openMenuOf(page: Page, file: string, text: string): Promise<Locator> {
  const entry = page.locator('#menu button', { hasText: text });
  await until(`the menu of the sprite with "${text}" is open`, async () => {
    const sprite = (await page.evaluate(() => globalThis.sprites.sprites())).find((one) => one.file === file);
    if (sprite) await page.mouse.click(sprite.x, sprite.y - 8, { button: 'right' });
    return (await entry.count()) > 0;
  });
  return entry;
}

/** Joins at `url` as a new visitor. Errors in the page are added to `faults`. */
export async function joinPage(
  browser: Browser,
  url: string,
  name: string,
  faults: string[],
  options: Visitor = {},
): Promise<Page> {
  const page = await openPage(browser, name, faults, options);
  await page.goto(url);
  await page.fill('#name', name);
  await comeIn(page);
  return page;
}

/** A seat as a page saves it. */
export interface SavedSeat {
  desktop: string;
  token: string;
}

/** Resolves to the present seat of a page, as soon as it is saved. */
export async function seatOf(page: Page): Promise<SavedSeat> {
  const saved = await page.waitForFunction(() => {
    const { seat } = JSON.parse(sessionStorage.getItem('sprites.desktop') ?? '{}');
    return seat?.desktop === globalThis.sprites.desktop() && seat;
  });
  return saved.jsonValue();
}

/** Waits until a seat has ended, and asserts that no lease ended it. */
export async function hasLeft(url: string, { desktop, token }: SavedSeat): Promise<void> {
  const startMs = performance.now();
  await until('the desktop has left', async () => {
    return (await sendRequest(`${url}/v1/desktops/${desktop}`, { token })).status === 410;
  });
  assert.ok(performance.now() - startMs < LEASE_MS - 1_000, 'long before its lease would have ended');
}

/** Resolves to where Blob is among the sprites of a page, and its picture: a snail's hop may be shorter than a frame, Blob's is not. */
export async function blobOf(page: Page): Promise<{ at: number; file: string }> {
  const found = await page.waitForFunction(() => {
    const all = globalThis.sprites.sprites();
    const at = all.findIndex(({ name }) => name === 'Blob');
    return at >= 0 && { at, file: all[at].file };
  });
  return (await found.jsonValue()) as { at: number; file: string };
}

/** What `modesAtHome` resolves to for a sprite that is home: between its landing and its greeting it hops. */
export const HOPS_AND_GREETS = /^fall (?:(?!fall|greet)\w+ )+fall .*greet$/;

/** Resolves to the modes of the next sprite with this picture that comes in, until it greets, or to the first twelve. Call it before the throw. */
export function modesAtHome(page: Page, file: string): Promise<string> {
  return page.evaluate(
    (wanted) =>
      new Promise<string>((resolve) => {
        const modes: string[] = [];
        const here = new Set(globalThis.sprites.sprites().map(({ id }) => id));
        const look = () => {
          const sprite = globalThis.sprites.sprites().find((one) => one.file === wanted && !here.has(one.id));
          if (sprite && sprite.mode !== modes.at(-1)) modes.push(sprite.mode);
          if (modes.at(-1) === 'greet' || modes.length === 12) resolve(modes.join(' '));
          else requestAnimationFrame(look);
        };
        look();
      }),
    file,
  );
}

/** Writes a screenshot to screenshots/NAME.png when SPRITES_SCREENSHOTS is set. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!takesScreenshots) return;
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Gives a page a module of server/web/ as a global, because a page's program is one file. */
export async function giveModule(page: Page, name: string, path: string): Promise<void> {
  const entry = join(import.meta.dirname, '../web', path);
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, globalName: name });
  await page.evaluate(`${outputFiles[0]?.text} globalThis.${name} = ${name};`);
}
