/** Pages in a real browser, each of its own visitor, for the suites of the desktop in a browser. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { installHint } from '../../tools/machine.js';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];
const SCREENSHOTS = join(import.meta.dirname, '../../screenshots');

/** The window of a visitor who has no other. */
export const VIEW = { width: 900, height: 600 };

/** ms for one wait of a page: a busy machine may draw a frame a second. */
const PATIENCE_MS = 60_000;

/** Why the suites of pages cannot run here; false when they can. */
export const noBrowser = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: ${installHint(['chromium'])}`;

export function launchBrowser(): Promise<Browser> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Opens an empty page for a new visitor. Errors in the page are added to `faults`, after the visitor's name. */
export async function openPage(
  browser: Browser,
  name: string,
  faults: string[],
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEW, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${name}: ${error.stack}`));
  return page;
}

/** Leaves the dialog of a page that asks its visitor to join, and waits until the desktop has a sprite. */
export async function comeIn(page: Page): Promise<void> {
  await page.click('#enter');
  await page.waitForSelector('body[data-state="connected"]');
  await page.waitForFunction(() => Number(document.body.dataset.sprites) >= 1);
}

/** Shows what a visitor can choose about the world, in the dialog that asks to join. */
export async function chooseWorld(page: Page): Promise<void> {
  await page.click('#elsewhere summary');
}

/** Joins at `url` as a new visitor. Errors in the page are added to `faults`. */
export async function joinPage(
  browser: Browser,
  url: string,
  name: string,
  faults: string[],
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPage(browser, name, faults, options);
  await page.goto(url);
  await page.fill('#name', name);
  await comeIn(page);
  return page;
}

/** Writes a screenshot to screenshots/NAME.png. */
export async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}
