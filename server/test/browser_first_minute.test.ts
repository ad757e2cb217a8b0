/** The first minute on a fresh relay, alone but for its residents: on a screen in English, and on a phone in German. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { blobOf, comeIn, launchBrowser, noBrowser, openPage, shoot, type Visitor } from './browser_page.ts';
import { BOUNDED, type RelayProcess, startRelay } from './relay_process.ts';

/** ms within which something comes back, from the throw on: residents play with a sprite for 15 s at most. */
const BACK_MS_MAX = 30_000;

interface Words {
  readonly options: Visitor;
  readonly heading: string;
  readonly with: RegExp;
  readonly home: RegExp;
  readonly saying: string;
  readonly answer: RegExp;
}

const VISITORS: Readonly<Record<string, Words>> = {
  'a screen': {
    options: { viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
    heading: 'Throw something over an edge',
    with: /^Blob is with (?:Moss|Juniper) \(resident\) now\.$/,
    home: /^Blob is home/,
    saying: 'Hello there!',
    answer: /^(?:Moss|Juniper) \(resident\)(?:Hello!|Hi there!)/,
  },
  'a phone, in German': {
    options: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, locale: 'de-DE' },
    heading: 'Werfen Sie etwas über einen Rand',
    with: /^Blob ist jetzt bei (?:Moss|Juniper) \(Bewohner\)\.$/,
    home: /^Blob ist wieder da/,
    saying: 'Hi',
    answer: /^(?:Moss|Juniper) \(Bewohner\).*(?:Hallo!)/,
  },
};

describe('the first minute on a fresh relay', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  const faults: string[] = [];
  before(async () => {
    relay = await startRelay({ workers: 0, residents: 2 });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
    assert.deepEqual(faults, []);
  });

  async function say(page: Page, text: string): Promise<void> {
    await page.click('#say');
    await page.fill('#saying', text);
    await page.click('#say-form [type="submit"]');
  }

  for (const [what, words] of Object.entries(VISITORS)) {
    it(`has company that throws back and answers: ${what}`, async () => {
      const film = `minute-${words.options.isMobile ? 'phone' : 'screen'}`;
      const page = await openPage(browser, what, faults, { ...words.options, reducedMotion: 'no-preference' });
      await page.goto(relay.url);
      await page.waitForSelector('#enter:enabled');
      await shoot(page, `${film}-1-welcome`);
      await comeIn(page);
      await page.locator('.edge .neighbour.resident:visible').first().waitFor();
      await page.locator('#alone h2', { hasText: words.heading }).waitFor();
      await shoot(page, `${film}-2-here`);

      const { at } = await blobOf(page);
      await page.evaluate((index) => globalThis.sprites.throw(index, 'right'), at);
      await page.locator('.notice', { hasText: words.with }).waitFor();
      const thrownMs = performance.now();
      await shoot(page, `${film}-3-thrown`);
      await page.locator('#announcements p', { hasText: words.home }).waitFor({ state: 'attached' });
      const backMs = performance.now() - thrownMs;
      assert.ok(backMs < BACK_MS_MAX, `it is back after ${backMs} ms`);
      assert.equal(await page.isVisible('#alone'), false, 'the card is gone');
      await shoot(page, `${film}-4-back`);

      await say(page, words.saying);
      await page.locator('.bubble.placed', { hasText: words.answer }).waitFor();
      await shoot(page, `${film}-5-answered`);
      await page.context().close();
    });
  }
});
