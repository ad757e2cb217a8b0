/** Every page, as axe-core sees it: nothing that is serious for people who use a screen reader, a keyboard or large contrasts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { faultsOf } from './axe.ts';
import { joinPage, launchBrowser, noBrowser } from './browser_page.ts';
import { choose, openEditor, photograph } from './editor_page.ts';
import { BOUNDED, type RelayProcess, startRelay } from './relay_process.ts';

describe('axe-core finds nothing serious', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  before(async () => {
    relay = await startRelay({ workers: 0 });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
  });

  /** Checks the page as it is, light and dark. */
  async function check(page: Page, what: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await faultsOf(page), [], `${what}, ${colorScheme}`);
    }
  }

  it('but would find a button without a name', async () => {
    const page = await browser.newPage();
    await page.setContent('<html lang="en"><title>x</title><main><h1>x</h1><button></button></main></html>');
    assert.match(String(await faultsOf(page)), /^button-name/);
    await page.close();
  });

  it('on the pages of the site, on a phone', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } });
    for (const [path, ready] of [
      ['/', '#enter:enabled'],
      ['/gallery', '.entry canvas'],
      ['/make', '#stage-empty'],
      ['/about', '#here:not(:empty)'],
      ['/offline', 'h1'],
    ]) {
      await page.goto(`${relay.url}${path}`);
      await page.waitForSelector(ready);
      await check(page, path);
    }
    await page.goto(relay.adminUrl);
    await check(page, "the operator's page");
    await page.close();
  });

  it('in the editor, with a picture in it', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await openEditor(page, relay.url);
    await choose(page, 'Red.jpg', 'image/jpeg', await photograph(browser));
    await check(page, 'the editor');
    await page.click('#publish-open');
    await check(page, 'publishing');
    await page.close();
  });

  it('on a desktop, where it says something, and in its help', async () => {
    const faults: string[] = [];
    const page = await joinPage(browser, `${relay.url}/?world=axe`, 'Ann', faults);
    const other = await joinPage(browser, `${relay.url}/?world=axe`, 'Bob', faults);
    await page.locator('.edge[data-edge="right"] .neighbour').waitFor();
    await page.click('#say');
    await check(page, 'the desktop');
    await page.click('#help');
    await check(page, 'the help');
    assert.deepEqual(faults, []);
    for (const one of [page, other]) await one.context().close();
  });
});
