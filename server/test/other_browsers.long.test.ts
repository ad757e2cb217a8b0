/**
 * A visit in Firefox and in WebKit, as in server/test/browser_visit.test.ts: by the form into a world, throws by the pointer both ways, a
 * saying, a reload, and the ends of a page, with a service worker in control and without.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FIRST_SPRITES, hasLeft, type SavedSeat, SCREENSHOTS, takesScreenshots } from './browser_page.ts';
import { DesktopClient } from './desktop_client.ts';
import { type BrowserKind, DrivenBrowser, KEYS, type Move, noOtherBrowsers } from './driven_browser.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/** Pages that are closed, of each sort. */
const CLOSED = 3;

/** A throw by hand: px and ms between two places of the pointer. */
const THROW = { stepPx: 40, stepMs: 16 };

for (const [kind, name] of [
  ['firefox', 'Firefox'],
  ['webkit', 'WebKit'],
] as const) {
  describe(`a visit in ${name}`, { ...BOUNDED, skip: noOtherBrowsers }, () => visit(kind));
}

function visit(kind: BrowserKind): void {
  let relay: RelayProcess;
  let browser: DrivenBrowser;
  /** Bob has no page, and is Ann's only neighbour. */
  let bob: DesktopClient;
  before(async () => {
    relay = await startRelay({ workers: 0 });
    browser = await DrivenBrowser.start(kind);
  });
  after(async () => {
    await bob?.stop();
    await browser?.stop();
    await relay?.stop();
  });

  const sprites = () => browser.evaluate(() => globalThis.sprites.sprites());
  const isConnected = () => document.body.dataset.state === 'connected' && Number(document.body.dataset.sprites) >= 1;
  const connected = () => browser.waitFor('the desktop is connected and has a sprite', isConnected);

  async function comeIn(): Promise<void> {
    await browser.click('#enter');
    await connected();
    const hasAll = (first: number) => Number(document.body.dataset.sprites) >= first;
    await browser.waitFor('its first sprites are here', hasAll, FIRST_SPRITES);
  }

  /** The seat of the page, as soon as it is saved. */
  async function seat(): Promise<SavedSeat> {
    const saved = () => {
      const { seat } = JSON.parse(sessionStorage.getItem('sprites.desktop') ?? '{}');
      return seat?.desktop === globalThis.sprites.desktop() ? seat : undefined;
    };
    await browser.waitFor('the seat is saved', saved);
    return browser.evaluate(saved);
  }

  async function shoot(what: string): Promise<void> {
    if (takesScreenshots) writeFileSync(join(SCREENSHOTS, `${kind}-${what}.png`), await browser.screenshot());
  }

  it('comes in by the form', async () => {
    await browser.open(`${relay.url}/?world=pair`);
    await browser.waitFor('the parade is drawn', () => document.querySelectorAll('#parade canvas').length > 0);
    await shoot('1-front-page');
    await browser.click('#name');
    await browser.type('Ann');
    await comeIn();
    assert.equal(await browser.evaluate(() => document.querySelector('#who')?.textContent), 'Ann');
    bob = await DesktopClient.join(relay.url, { name: 'Bob', world: 'pair' });
    const edge = () => document.querySelector('.edge[data-edge="right"] .neighbour')?.textContent === 'Bob';
    await browser.waitFor('the neighbour has a name', edge);
    await shoot('2-desktop');
  });

  it('throws a sprite with the pointer, which arrives next door once', async () => {
    const before = await sprites();
    await until('a sprite has left', async () => {
      await throwOne();
      return (await sprites()).length < before.length;
    });
    await until('Bob has it', () => bob.received.length > 0);
    await browser.waitFor('the relay has decided', () => globalThis.sprites.onTheWay() === 0);
    const [{ edge, from, vx }] = bob.received;
    assert.deepEqual([edge, from.name, vx > 200], ['left', 'Ann', true]);
    assert.equal((await sprites()).length, before.length - 1);
    assert.equal(bob.received.length, 1);
  });

  /** Takes a sprite that stands free and throws it to the right. It may miss: sprites walk, and a slow machine is a slow hand. */
  async function throwOne(): Promise<void> {
    const free = (await sprites()).find(({ mode }) => mode !== 'drag' && mode !== 'fall');
    if (free === undefined) return;
    const width = await browser.evaluate(() => innerWidth);
    const path: Move[] = [{ x: free.x, y: free.y - 12 }];
    for (let x = free.x + THROW.stepPx; x < width - THROW.stepPx; x += THROW.stepPx) {
      path.push({ x, y: free.y - 12, afterMs: THROW.stepMs });
    }
    await browser.drag(path);
    const hasEnded = () => globalThis.sprites.sprites().every(({ mode }) => mode !== 'drag' && mode !== 'fall');
    await browser.waitFor('it has landed or left', hasEnded);
  }

  it('shows what is thrown back', async () => {
    await bob.throw('left', 'Curly');
    const isHere = () => globalThis.sprites.sprites().some((sprite) => sprite.name === 'Curly');
    await browser.waitFor('the sprite is here', isHere);
  });

  it('says a line, which is heard next door', async () => {
    await browser.click('#say');
    await browser.type(`Hello, Bob${KEYS.enter}`);
    await until('Bob has heard it', () => bob.sayings.some(({ text }) => text === 'Hello, Bob'));
    const isInBubble = () => document.querySelector('#bubbles')?.textContent?.includes('Hello, Bob');
    await browser.waitFor('it is in a bubble', isInBubble);
    await shoot('3-saying');
  });

  // Firefox does not tell a page that it is being reloaded, so the desktop leaves there, and joins again.
  it(`keeps its ${kind === 'firefox' ? '' : 'seat and its '}sprites over a reload`, async () => {
    const [former, here] = [await seat(), await sprites()];
    await browser.reload();
    if (kind === 'firefox') await hasLeft(relay.url, former);
    await connected();
    const hasOther = (desktop: string) => (globalThis.sprites.desktop() ?? desktop) !== desktop;
    if (kind === 'firefox') await browser.waitFor('there is another seat', hasOther, former.desktop);
    else assert.equal((await seat()).desktop, former.desktop);
    const areHere = (count: number) => globalThis.sprites.sprites().length === count;
    await browser.waitFor('they are all here', areHere, here.length);
    assert.deepEqual((await sprites()).map(({ name }) => name).sort(), here.map(({ name }) => name).sort());
  });

  it('leaves for another page of the site at once, and does not meet itself when it comes back', async () => {
    await bob.leave();
    const former = await seat();
    await browser.goto(`${relay.url}/gallery`);
    await hasLeft(relay.url, former);
    await shoot('4-gallery');
    await browser.goto(`${relay.url}/make`);
    await shoot('5-make');
    await browser.back();
    await browser.back();
    await connected();
    const isAlone = () => (document.querySelector('#alone') as HTMLElement).offsetHeight > 0;
    await browser.waitFor('it is alone', isAlone);
    const next = await seat();
    assert.notEqual(next.desktop, former.desktop);
    await browser.close();
    await hasLeft(relay.url, next);
  });

  for (const isControlled of [false, true]) {
    it(`leaves at once when its tab is closed ${isControlled ? 'with' : 'without'} a service worker in control`, async () => {
      for (let pages = 0; pages < CLOSED; pages++) {
        await browser.open(`${relay.url}/about`);
        await browser.evaluate(async () => {
          for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
        });
        await browser.goto(`${relay.url}/?world=closed`);
        if (isControlled) {
          const isReady = () => navigator.serviceWorker.ready.then(({ active }) => active?.state === 'activated');
          await browser.waitFor('the worker is there', isReady);
          await browser.goto(`${relay.url}/?world=closed`);
        }
        await comeIn();
        const { controller } = await browser.evaluate(() => ({
          controller: navigator.serviceWorker.controller !== null,
        }));
        assert.equal(controller, isControlled);
        const last = await seat();
        await browser.close();
        await hasLeft(relay.url, last);
      }
    });
  }
}
