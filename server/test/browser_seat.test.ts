/** The seat of a page in a real browser: throws without a verdict when it ends, a lost connection, and a page that goes and comes back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { freePorts } from '../bench/free_ports.ts';
import { comeIn, launchBrowser, noBrowser, openPage, shoot } from './browser_page.ts';
import { DesktopClient, sendRequest } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

describe('the seat of a page', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  const faults: string[] = [];
  const clients: DesktopClient[] = [];
  before(async () => {
    relay = await startRelay({ workers: 0 });
    browser = await launchBrowser();
  });
  after(async () => {
    for (const client of clients) await client.stop();
    await browser?.close();
    await relay?.stop();
    assert.deepEqual(faults, []);
  });

  const desktops = async () => ((await sendRequest(`${relay.url}/v1/worlds`)).json as { desktops: number }).desktops;
  const idOf = (page: Page) => page.evaluate(() => globalThis.sprites.desktop());
  const onTheWay = (page: Page) => page.evaluate(() => globalThis.sprites.onTheWay());

  /** Opens a path of the relay as a new visitor of a world, and joins. */
  async function visit(world: string, query = ''): Promise<Page> {
    const page = await openPage(browser, world, faults);
    await page.goto(`${relay.url}/?world=${world}${query}`);
    await comeIn(page);
    return page;
  }

  async function throwOne(page: Page): Promise<void> {
    await page.focus('#canvas');
    await page.keyboard.press('n');
    await page.keyboard.press('Shift+ArrowRight');
  }

  /** Ends the seat of a page without its knowledge, as a lease does. */
  async function endSeat(page: Page): Promise<void> {
    const { seat } = await page.evaluate(() => JSON.parse(sessionStorage.getItem('sprites.desktop') ?? '{}'));
    const url = `${relay.url}/v1/desktops/${seat.desktop}`;
    const { status } = await sendRequest(url, { method: 'DELETE', token: seat.token });
    assert.equal(status, 204);
  }

  for (const [what, reaches, isReloaded] of [
    ['gives a sprite to its neighbour once, although the 202 was lost and its seat ended', true, false],
    ['gives a sprite to its neighbour once, although it was reloaded after that', true, true],
    ['has a sprite back that the relay never got, after its seat ended', false, false],
  ] as const) {
    it(what, async () => {
      const world = `doubt-${reaches}-${isReloaded}`;
      const ann = await visit(world, '&transport=poll');
      const bob = await DesktopClient.join(relay.url, { name: 'Bob', world });
      clients.push(bob);
      let isDark = true;
      await ann.route('**/crossings', async (route) => {
        if (!isDark) return route.continue();
        if (reaches) await route.fetch();
        await route.abort();
      });
      const first = await idOf(ann);
      const sprites = await ann.evaluate(() => globalThis.sprites.sprites().length);
      await throwOne(ann);
      await ann.waitForFunction(() => globalThis.sprites.onTheWay() === 1);
      if (reaches) await until('the relay has it', async () => bob.received.length === 1);
      await endSeat(ann);
      await ann.waitForFunction((before) => globalThis.sprites.desktop() !== before, first);
      assert.equal(await onTheWay(ann), 1, 'it is neither here nor there yet');
      if (isReloaded) {
        await ann.reload();
        await ann.waitForSelector('body[data-state="connected"]');
      }
      isDark = false;
      await ann.waitForFunction(() => globalThis.sprites.onTheWay() === 0);
      const left = await ann.evaluate(() => globalThis.sprites.sprites().length);
      assert.equal(left, sprites - (reaches ? 1 : 0));
      await ann.context().close();
    });
  }

  for (const [what, reaches, isReloaded] of [
    ['keeps a sprite that a lost poll had acknowledged when its seat ends', true, false],
    ['gives up a sprite that no poll had acknowledged when its seat ends, however many were lost', false, false],
    ['gives up such a sprite also when it was reloaded meanwhile', false, true],
  ] as const) {
    it(what, async () => {
      const world = `end-${reaches}-${isReloaded}`;
      const ann = await visit(world, '&transport=poll');
      const bob = await DesktopClient.join(relay.url, { name: 'Bob', world });
      clients.push(bob);
      const first = await idOf(ann);
      const named = () =>
        ann.evaluate(() => globalThis.sprites.sprites().filter(({ name }) => name === 'Curly').length);
      let lost = 0;
      let isDark = true;
      await ann.route('**/events?cursor=*', async (route) => {
        if (!isDark || (lost === 0 && (await named()) === 0)) return route.continue();
        if (reaches && lost === 0) void route.fetch({ timeout: 1_000 }).catch(() => {}); // it reaches the relay, and is answered into the void
        lost++;
        await route.abort();
      });
      await bob.throw('right', 'Curly');
      await until('the sprite is here, and polls are lost', async () => lost >= 2 && (await named()) === 1);
      if (reaches) await until('the relay knows', async () => (await relay.metrics()).get('sprites_waiting') === 0);
      const closing = isReloaded ? ann.reload() : Promise.resolve();
      await closing;
      await endSeat(ann);
      isDark = false;
      await ann.waitForFunction((before) => globalThis.sprites.desktop() !== before, first);
      assert.equal(await named(), reaches ? 1 : 0);
      await until('Bob has what Ann gave up', () => bob.received.length === (reaches ? 0 : 1));
      await ann.context().close();
    });
  }

  it('falls to the long-poll at once in a browser that allows no socket', async () => {
    const page = await openPage(browser, 'no socket', faults);
    await page.addInitScript(() => {
      globalThis.WebSocket = class {
        constructor() {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        }
      } as never;
    });
    await page.goto(`${relay.url}/?world=no-socket`);
    await comeIn(page);
    assert.equal(await page.getAttribute('body', 'data-transport'), 'poll');
    await page.context().close();
  });

  for (const transport of ['socket', 'poll']) {
    it(`shows that it is offline, lets throws bounce, and goes on when the network is back: ${transport}`, async () => {
      const page = await visit(`offline-${transport}`, `&transport=${transport}`);
      const id = await idOf(page);
      const sprites = await page.evaluate(() => globalThis.sprites.sprites().length);
      await page.context().setOffline(true);
      await page.waitForSelector('body[data-state="reconnecting"]');
      await throwOne(page);
      await page.waitForFunction(() => globalThis.sprites.sprites().some(({ mode }) => mode === 'fall'));
      await page.waitForFunction(
        (count) => globalThis.sprites.sprites().filter(({ mode }) => mode !== 'fall').length === count,
        sprites,
      );
      assert.equal(await onTheWay(page), 0);
      assert.equal(await page.getAttribute('body', 'data-state'), 'reconnecting');
      await shoot(page, `seat-offline-${transport}`);
      await page.context().setOffline(false);
      await page.waitForSelector('body[data-state="connected"]');
      assert.equal(await page.getAttribute('body', 'data-transport'), transport);
      assert.equal(await idOf(page), id, 'it has the same seat');
      await page.context().close();
    });
  }

  it('leaves at once for another page of the site, and does not meet itself when it comes back', async () => {
    await until('the pages before have left', async () => (await desktops()) === clients.length);
    const page = await visit('gallery');
    // From its second visit on a page is served by the worker of the site.
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.reload();
    await page.waitForSelector('body[data-state="connected"]');
    assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
    for (let visits = 0; visits < 3; visits++) {
      await page.goto(`${relay.url}/gallery`);
      const leftMs = performance.now();
      await until('the desktop has left', async () => (await desktops()) === clients.length);
      assert.ok(performance.now() - leftMs < 25_000, 'long before its lease would have ended');
      await page.goBack();
      await page.waitForSelector('body[data-state="connected"]');
      await page.waitForSelector('#alone:visible');
      assert.equal(await page.locator('.edge.led').count(), 0, 'there is nobody else');
      await until('the desktop is here again', async () => (await desktops()) === clients.length + 1);
    }
    await page.context().close();
  });

  it('opens an invitation with Try again when the relay is back: the address keeps its fragment', async () => {
    const [api, events, admin] = await freePorts(3);
    const start = () => startRelay({ workers: 0, ports: { api, events, admin } });
    let one = await start();
    try {
      const page = await openPage(browser, 'offline page', faults);
      await page.goto(one.url);
      await page.evaluate(() => navigator.serviceWorker.ready);
      await one.stop();
      const link = `${one.url}/?lang=en#near=1a2b.0123456789abcdef0123456789abcdef&world=secret`;
      const invited = await page.context().newPage();
      await invited.goto(link);
      await invited.locator('h1', { hasText: 'No connection' }).waitFor();
      await shoot(invited, 'seat-offline-page');
      one = await start();
      await invited.click('#again');
      await invited.waitForSelector('#enter:enabled');
      assert.equal(invited.url(), link);
      assert.match((await invited.textContent('#join-text')) ?? '', /friend|invited/i);
      await page.context().close();
    } finally {
      await one.stop();
    }
  });

  // Browsers in tests keep no pages and freeze none, so the events of such a page are sent by hand.
  for (const [what, away, back] of [
    ['is frozen', 'freeze', 'resume'],
    ['is kept whole', 'pagehide', 'pageshow'],
  ] as const) {
    it(`leaves when the page ${what}, and is here again with its sprites when the visitor comes back to it`, async () => {
      await until('the pages before have left', async () => (await desktops()) === clients.length);
      const page = await visit('kept');
      await until('the desktop is here', async () => (await desktops()) === clients.length + 1);
      const id = await idOf(page);
      const sprites = await page.evaluate(() => globalThis.sprites.sprites().length);
      const change = (type: string) =>
        page.evaluate((event) => {
          if (event.startsWith('page')) dispatchEvent(new PageTransitionEvent(event, { persisted: true }));
          else document.dispatchEvent(new Event(event));
        }, type);
      await change(away);
      const leftMs = performance.now();
      await until('the desktop has left', async () => (await desktops()) === clients.length);
      assert.ok(performance.now() - leftMs < 25_000, 'long before its lease would have ended');
      await change(back);
      await page.locator('.notice', { hasText: 'Welcome back' }).waitFor();
      await page.waitForSelector('body[data-state="connected"]');
      assert.notEqual(await idOf(page), id);
      assert.equal(await page.evaluate(() => globalThis.sprites.sprites().length), sprites);
      await page.waitForSelector('#alone:visible');
      await throwOne(page);
      await page.locator('.notice', { hasText: 'is coming home' }).waitFor();
      await page.context().close();
    });
  }
});
