/** The operator's page in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, noBrowser, openPage, shoot } from './browser_page.ts';
import { crossingOf, join, sendRequest } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

describe('the page of the admin port', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const requested: string[] = [];
  before(async () => {
    relay = await startRelay({ workers: 1 });
    browser = await launchBrowser();
    page = await openPage(browser, 'operator', faults, { viewport: { width: 1000, height: 700 } });
    page.on('console', (message) => {
      // A rejected token is the browser's error too.
      if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text());
    });
    page.on('request', (request) => requested.push(request.url()));
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
  });

  const enter = async (token: string) => {
    await page.fill('#token', token);
    await page.click('#enter button');
  };
  /** On a slow machine the leases of desktops that never poll may have ended. */
  const showsWhoIsHere = () =>
    until('the first tile shows how many are here', async () => {
      const here = (await relay.metrics()).get('sprites_desktops');
      return (await page.locator('.tile-value').first().textContent()) === `${here}`;
    });
  const tile = (name: string) => page.locator('#tiles li', { hasText: name }).locator('.tile-value');

  it('asks for the token, and says when it is wrong', async () => {
    await page.goto(`${relay.adminUrl}/`);
    assert.ok(await page.isVisible('#token'));
    assert.ok(!(await page.isVisible('main')));
    await enter('f'.repeat(64));
    await page.waitForFunction(() => document.querySelector('#why')?.textContent?.includes('rejects'));
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });

  it('draws every chart, and shows the newest values', async () => {
    const joined = await join(relay.url, { name: 'Ann' });
    const bob = await join(relay.url, { name: 'Bob' });
    for (let n = 1; n <= 20; n++) {
      const { status } = await sendRequest(joined.crossings, {
        method: 'POST',
        token: joined.token,
        body: crossingOf(n),
      });
      assert.equal(status, 202);
    }
    // They are sent, and wait until a cursor acknowledges them.
    assert.equal((await sendRequest(bob.events, { token: bob.token })).status, 200);
    await enter(relay.adminToken);
    await page.waitForSelector('body[data-state="open"]');
    // The second sample has rates.
    await page.waitForFunction(() => document.querySelectorAll('.chart path[class^="line"]').length >= 12);
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.chart')].every((chart) =>
        [...chart.querySelectorAll('path[class^="line"]')].some((path) =>
          /^M[\d.]+ [\d.]+/.test(path.getAttribute('d') ?? ''),
        ),
      ),
    );
    await showsWhoIsHere();
    assert.match((await tile('Memory').textContent()) ?? '', /^\d+ MiB$/);
    assert.equal(await page.locator('.chart').count(), 11);
    const waiting = page.locator('.chart', { hasText: 'Waiting' });
    // The newest sample may have been taken before the throws.
    await until('a sample has the sprites that wait', async () =>
      /waiting20/.test((await waiting.locator('.legend').textContent()) ?? ''),
    );
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await shoot(page, `admin-${scheme}`);
    }
  });

  it('says in a sentence how the relay is, and what each number is', async () => {
    await page.locator('#health', { hasText: /\w\.$/ }).waitFor();
    for (const width of [1000, 390]) {
      await page.setViewportSize({ width, height: 700 });
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll('#tiles span')]
          .filter((span) => span.scrollWidth > span.clientWidth || !span.textContent)
          .map((span) => span.textContent),
      );
      assert.deepEqual(cut, []);
      await shoot(page, `admin-${width}`);
    }
    await page.setViewportSize({ width: 1000, height: 700 });
  });

  it('updates itself', async () => {
    await join(relay.url, { name: 'Carol' });
    await showsWhoIsHere();
  });

  it('shows the values under the pointer in all charts', async () => {
    const svg = page.locator('.chart svg').first();
    await svg.hover({ position: { x: 60, y: 50 } });
    assert.match((await page.textContent('#status')) ?? '', /^at \d\d:\d\d:\d\d$/);
    assert.equal(await page.locator('.chart .cursor').count(), 11);
    await page.mouse.move(0, 0);
    assert.match((await page.textContent('#status')) ?? '', /^live/);
  });

  it('keeps the token through a reload, in no URL, and forgets it', async () => {
    await page.reload();
    await page.waitForSelector('body[data-state="open"]');
    assert.ok(requested.some((url) => url.includes('/admin/history')));
    for (const url of requested) assert.ok(!url.includes(relay.adminToken), url);
    assert.ok(!(await page.content()).includes(relay.adminToken));
    await page.click('#forget');
    assert.ok(await page.isVisible('#token'));
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });

  it('works on a narrow screen, and made no error', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await enter(relay.adminToken);
    await page.waitForSelector('body[data-state="open"]');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(faults, []);
  });
});
