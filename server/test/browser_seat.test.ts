/** The seat of a page in a real browser: throws without a verdict when it ends, a lost connection, and a page that goes and comes back. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { VERSION } from '../../tools/version.js';
import { comeIn, hasLeft, launchBrowser, noBrowser, openPage, seatOf, shoot, type Visitor } from './browser_page.ts';
import { DesktopClient, sendRequest } from './desktop_client.ts';
import { BOUNDED, lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';

describe('the seat of a page', { ...BOUNDED, skip: noBrowser }, () => {
  let ports: Ports;
  let relay: RelayProcess;
  let browser: Browser;
  /** Ann uses long-polls, and Bob, who has no page, is her only neighbour. */
  let ann: Page;
  let bob: DesktopClient;
  /** Dora uses a socket, and is alone. */
  let dora: Page;
  /** Walt goes to other pages of the site and comes back. The worker of the site serves him. */
  let walt: Page;
  const faults: string[] = [];
  before(async () => {
    ports = await lastingPorts();
    relay = await startRelay({ workers: 0, ports });
    browser = await launchBrowser();
    ann = await visit('pair', '&transport=poll');
    bob = await DesktopClient.join(relay.url, { name: 'Bob', world: 'pair' });
  });
  afterEach(async () => {
    if (!ann.isClosed()) await ann.unrouteAll({ behavior: 'ignoreErrors' });
  });
  after(async () => {
    await bob?.stop();
    await browser?.close();
    await relay?.stop();
    assert.deepEqual(faults, []);
  });

  const idOf = (page: Page) => page.evaluate(() => globalThis.sprites.desktop());
  const onTheWay = (page: Page) => page.evaluate(() => globalThis.sprites.onTheWay());

  /** Opens a path of the relay as a new visitor of a world, and joins. */
  async function visit(world: string, query = '', options: Visitor = {}): Promise<Page> {
    const page = await openPage(browser, world, faults, options);
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
    const { desktop, token } = await seatOf(page);
    const { status } = await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { method: 'DELETE', token });
    assert.equal(status, 204);
  }

  it('says its version when it joins', async () => {
    const metrics = await relay.metrics();
    assert.equal(metrics.get(`sprites_client_desktops{client="page",version="${VERSION}"}`), 1);
  });

  for (const [what, reaches, isReloaded] of [
    ['gives a sprite to its neighbour once, although the 202 was lost and its seat ended', true, false],
    ['gives a sprite to its neighbour once, although it was reloaded after that', true, true],
    ['has a sprite back that the relay never got, after its seat ended', false, false],
  ] as const) {
    it(what, async () => {
      let isDark = true;
      await ann.route('**/crossings', async (route) => {
        if (!isDark) return route.continue();
        if (reaches) await route.fetch();
        await route.abort();
      });
      await ann.waitForSelector('body[data-state="connected"]'); // the test before has given it a new seat
      const first = await idOf(ann);
      const received = bob.received.length;
      const sprites = await ann.evaluate(() => globalThis.sprites.sprites().length);
      await throwOne(ann);
      await ann.waitForFunction(() => globalThis.sprites.onTheWay() === 1);
      if (reaches) await until('the relay has it', () => bob.received.length === received + 1);
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
      assert.equal(bob.received.length, received + (reaches ? 1 : 0));
    });
  }

  for (const [what, sprite, reaches, isReloaded] of [
    ['keeps a sprite that a lost poll had acknowledged when its seat ends', 'Curly', true, false],
    [
      'gives up a sprite that no poll had acknowledged when its seat ends, however many were lost',
      'Larry',
      false,
      false,
    ],
    ['gives up such a sprite also when it was reloaded meanwhile', 'Moe', false, true],
  ] as const) {
    it(what, async () => {
      const first = await idOf(ann);
      const received = bob.received.length;
      const named = () =>
        ann.evaluate((of) => globalThis.sprites.sprites().filter(({ name }) => name === of).length, sprite);
      let lost = 0;
      let isDark = true;
      await ann.route('**/events?cursor=*', async (route) => {
        if (!isDark || (lost === 0 && (await named()) === 0)) return route.continue();
        if (reaches && lost === 0) void route.fetch({ timeout: 0 }).catch(() => {}); // it reaches the relay, and is answered into the void
        lost++;
        await route.abort();
      });
      await bob.throw('right', sprite);
      await until('the sprite is here, and polls are lost', async () => lost >= 2 && (await named()) === 1);
      if (reaches) await until('the relay knows', async () => (await relay.metrics()).get('sprites_waiting') === 0);
      if (isReloaded) await ann.reload();
      await endSeat(ann);
      isDark = false;
      await ann.waitForFunction((before) => globalThis.sprites.desktop() !== before, first);
      assert.equal(await named(), reaches ? 1 : 0);
      await until('Bob has what Ann gave up', () => bob.received.length === received + (reaches ? 0 : 1));
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

  for (const transport of ['poll', 'socket']) {
    it(`shows that it is offline, and that a throw waits, which goes on when the network is back: ${transport}`, async () => {
      if (transport === 'socket') dora = await visit('alone');
      const page = transport === 'poll' ? ann : dora;
      const id = await idOf(page);
      const sprites = await page.evaluate(() => globalThis.sprites.sprites().length);
      await page.context().setOffline(true);
      await page.waitForSelector('body[data-state="reconnecting"]');
      const received = bob.received.length;
      await throwOne(page);
      await page.locator('.notice', { hasText: 'waits for the connection' }).waitFor();
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
      if (transport === 'poll') await until('Bob has it', () => bob.received.length > received);
      else await page.locator('.notice', { hasText: 'is coming home' }).waitFor();
      await page.waitForFunction(() => globalThis.sprites.onTheWay() === 0);
      assert.equal(bob.received.length, received + (transport === 'poll' ? 1 : 0), 'once');
    });
  }

  it('throws a sprite no more that was taken up while it waited', async () => {
    const sprites = await dora.evaluate(() => globalThis.sprites.sprites().length);
    await dora.context().setOffline(true);
    await dora.waitForSelector('body[data-state="reconnecting"]');
    await throwOne(dora);
    await dora.locator('.notice', { hasText: 'waits for the connection' }).last().waitFor();
    await dora.waitForFunction((count) => globalThis.sprites.sprites().length === count, sprites);
    await dora.keyboard.press('ArrowUp'); // it is still selected
    await dora.keyboard.press('Escape');
    await dora.context().setOffline(false);
    await dora.waitForSelector('body[data-state="connected"]');
    await dora.waitForFunction(
      (count) => globalThis.sprites.sprites().filter(({ mode }) => mode !== 'fall').length === count,
      sprites,
    );
    assert.equal(await onTheWay(dora), 0);
  });

  // Browsers in tests keep no pages and freeze none, so the events of such a page are sent by hand.
  for (const [what, transport, away, back] of [
    ['is frozen', 'poll', 'freeze', 'resume'],
    ['is kept whole', 'socket', 'pagehide', 'pageshow'],
  ] as const) {
    it(`leaves when the page ${what}, and is here again with its sprites when the visitor comes back to it`, async () => {
      if (transport === 'poll') await bob.leave();
      const page = transport === 'poll' ? ann : dora;
      const seat = await seatOf(page);
      const sprites = await page.evaluate(() => globalThis.sprites.sprites().length);
      const change = (type: string) =>
        page.evaluate((event) => {
          if (event.startsWith('page')) dispatchEvent(new PageTransitionEvent(event, { persisted: true }));
          else document.dispatchEvent(new Event(event));
        }, type);
      await change(away);
      await hasLeft(relay.url, seat);
      await change(back);
      await page.locator('.notice', { hasText: 'Welcome back' }).waitFor();
      await page.waitForSelector('body[data-state="connected"]');
      assert.notEqual(await idOf(page), seat.desktop);
      assert.equal(await page.evaluate(() => globalThis.sprites.sprites().length), sprites);
      await page.waitForSelector('#alone:visible');
      await page.evaluate(() => document.querySelector('#notices')?.replaceChildren()); // of the tests before
      await throwOne(page);
      await page.locator('.notice', { hasText: 'is coming home' }).waitFor();
      await page.context().close();
    });
  }

  it('leaves at once for another page of the site, and does not meet itself when it comes back', async () => {
    walt = await visit('walk', '', { serviceWorkers: 'allow' });
    // From its second visit on a page is served by the worker of the site.
    await walt.evaluate(() => navigator.serviceWorker.ready);
    await walt.reload();
    await walt.waitForSelector('body[data-state="connected"]');
    assert.ok(await walt.evaluate(() => navigator.serviceWorker.controller !== null));
    for (let visits = 0; visits < 2; visits++) {
      const seat = await seatOf(walt);
      await walt.goto(`${relay.url}/protocol`);
      await hasLeft(relay.url, seat);
      await walt.goBack();
      await walt.waitForSelector('body[data-state="connected"]');
      await walt.waitForSelector('#alone:visible');
      assert.equal(await walt.locator('.edge.led').count(), 0, 'there is nobody else');
    }
  });

  it('opens an invitation with Try again when the relay is back: the address keeps its fragment', async () => {
    await relay.stop();
    const link = `${relay.url}/?lang=en#near=1a2b.0123456789abcdef0123456789abcdef&world=secret`;
    const invited = await walt.context().newPage();
    await walt.close();
    await invited.goto(link);
    await invited.locator('h1', { hasText: 'No connection' }).waitFor();
    await shoot(invited, 'seat-offline-page');
    relay = await startRelay({ workers: 0, ports });
    await invited.click('#again');
    await invited.waitForSelector('#enter:enabled');
    assert.equal(invited.url(), link);
    assert.match((await invited.textContent('#join-text')) ?? '', /friend|invited/i);
  });
});
