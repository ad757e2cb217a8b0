/** Every page, as axe-core sees it: nothing that is serious for people who use a screen reader, a keyboard or large contrasts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { faultsOf } from './axe.ts';
import { comeIn, noBrowser, openPage, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { DesktopClient } from './desktop_client.ts';
import { choose, openEditor, photograph } from './editor_page.ts';
import { BOUNDED, type RelayProcess } from './relay_process.ts';

/** The pages of the site, and what each has when it is ready. */
const PAGES = [
  ['/', '#enter:enabled'],
  ['/gallery', '.entry canvas'],
  ['/make', '#stage-empty'],
  ['/world', '#thrown:not(:text-is("–"))'],
  ['/about', '#here:not(:empty)'],
  ['/privacy', 'h1'],
  ['/changelog', 'h1'],
  ['/offline', 'h1'],
  ['/nothing', 'h1'],
] as const;

describe('axe-core finds nothing serious', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
  });
  after(closePages);

  it('but would find a button without a name, and words that are too faint when it is dark', async () => {
    const page = await openPage(browser, 'visitor', faults);
    await page.setContent(`<html lang="en"><title>x</title>
      <style>@media (prefers-color-scheme: dark) { p { background: #000; color: #333 } }</style>
      <main><h1>x</h1><p>words</p><button></button></main></html>`);
    const [nameless, faint, ...others] = await faultsOf(page);
    assert.match(nameless, /^button-name/);
    assert.match(faint, /^color-contrast/);
    assert.deepEqual(others, []);
    await page.context().close();
  });

  it("on the operator's page, on a phone", async () => {
    const page = await openPage(browser, 'operator', faults, { viewport: { width: 360, height: 640 } });
    await page.goto(relay.adminUrl);
    assert.deepEqual(await faultsOf(page), []);
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
      assert.deepEqual(await faultsOf(page), [], path);
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
    const page = await openPage(browser, 'maker', faults, { viewport: { width: 900, height: 700 } });
    await openEditor(page, relay.url);
    await choose(page, 'Red.jpg', 'image/jpeg', await photograph(browser));
    assert.deepEqual(await faultsOf(page), [], 'the editor');
    await page.click('#publish-open');
    assert.deepEqual(await faultsOf(page), [], 'publishing');
    await page.context().close();
  });

  it('on the welcome, on a desktop, where it says something, and in its help', async () => {
    const other = await DesktopClient.join(relay.url, { name: 'Bob', world: 'axe' });
    const page = await openPage(browser, 'Ann', faults);
    await page.goto(`${relay.url}/?world=axe`);
    await page.waitForSelector('#enter:enabled');
    assert.deepEqual(await faultsOf(page), [], 'the welcome');
    await comeIn(page);
    await page.locator('.edge[data-edge="right"] .neighbour').waitFor();
    await page.click('#say');
    assert.deepEqual(await faultsOf(page), [], 'the desktop');
    await page.click('#help');
    assert.deepEqual(await faultsOf(page), [], 'the help');
    await page.context().close();
    await other.leave();
    assert.deepEqual(faults, []);
  });
});
