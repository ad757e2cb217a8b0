/** Every page, as axe-core sees it: nothing that is serious for people who use a screen reader, a keyboard or large contrasts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { faultsOf } from './axe.ts';
import { joinPage, launchBrowser, noBrowser, openPage, shoot } from './browser_page.ts';
import { choose, openEditor, photograph } from './editor_page.ts';
import { BOUNDED, type RelayProcess, startRelay } from './relay_process.ts';

/** The pages of the site, and what each has when it is ready. */
const PAGES = [
  ['/', '#enter:enabled'],
  ['/gallery', '.entry canvas'],
  ['/make', '#stage-empty'],
  ['/about', '#here:not(:empty)'],
  ['/offline', 'h1'],
  ['/nothing', 'h1'],
] as const;

describe('axe-core finds nothing serious', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  const faults: string[] = [];
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
    await page.context().close();
  });

  it('on the pages of the site, on a phone', async () => {
    const page = await openPage(browser, 'visitor', faults, { viewport: { width: 360, height: 640 } });
    for (const [path, ready] of PAGES) {
      await page.goto(`${relay.url}${path}`);
      await page.waitForSelector(ready);
      await check(page, path);
    }
    await page.goto(relay.adminUrl);
    await check(page, "the operator's page");
    await page.context().close();
  });

  it('on the pages in German, whose longer words fit on a phone, and a switch leads back to English', async () => {
    const phone = { viewport: { width: 320, height: 640 }, locale: 'de-DE' };
    const page = await openPage(browser, 'visitor', faults, phone);
    const lang = () => page.getAttribute('html', 'lang');
    for (const [path, ready] of PAGES) {
      await page.goto(`${relay.url}${path}`);
      await page.waitForSelector(ready);
      assert.equal(await lang(), 'de', path);
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter((one) => one.checkVisibility() && one.closest('canvas, .bubbles, .hidden, .shelf, .edge') === null)
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML.slice(0, 90)),
      );
      assert.deepEqual(wide, [], path);
      await shoot(page, `german-${path.slice(1) || 'welcome'}`);
    }
    await page.goto(`${relay.url}/?world=here#near=friend`);
    await page.waitForSelector('#enter:enabled');
    assert.equal(await page.isVisible('#elsewhere'), false, 'an invited visitor chooses no world');
    assert.deepEqual(await faultsOf(page), []);
    await page.click('#join a[hreflang="en"]');
    await page.waitForURL(`${relay.url}/?world=here&lang=en#near=friend`);
    assert.equal(await lang(), 'en');
    await page.goto(`${relay.url}/about`);
    assert.equal(await lang(), 'en', 'it is kept');
    await page.context().close();
  });

  it('in the editor, with a picture in it', async () => {
    const page = await openPage(browser, 'maker', faults, { viewport: { width: 1280, height: 900 } });
    await openEditor(page, relay.url);
    await choose(page, 'Red.jpg', 'image/jpeg', await photograph(browser));
    await check(page, 'the editor');
    await page.click('#publish-open');
    await check(page, 'publishing');
    await page.context().close();
  });

  it('on a desktop, where it says something, and in its help', async () => {
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
