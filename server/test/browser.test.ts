/**
 * Two pages in a real browser and one desktop that is only `curl` throw sprites to each other.
 *
 * They are alone in their world, in a row: Ann, Bob, Carol, and right of Carol is Ann again. Ann uses a socket, Bob uses
 * long-polls, and Carol is three commands.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { STEP_MS, STEPS_PER_CALL_MAX } from '../web/motion/simulation.ts';
import { chooseWorld, comeIn, launchBrowser, noBrowser, openPage, shoot, VIEW } from './browser_page.ts';
import {
  type Batch,
  crossingOf,
  isSprite,
  type Joined,
  join,
  type SpriteEvent,
  sendRequest,
} from './desktop_client.ts';
import { type FrontKind, onEachFront } from './fronts.ts';
import { type RelayProcess, startRelay, until } from './relay_process.ts';

/** A sprite of a page, as the page's handle for tests returns it. */
interface Seen {
  file: string;
  name: string;
  mode: string;
  x: number;
  y: number;
  fromShelf: boolean;
  id: number;
}

/** What a page shows of a neighbour. */
interface SeenView {
  edge: string | null;
  shift: number;
  silhouettes: { id: number; file: string; animation: string; x: number; y: number }[];
}

declare global {
  var sprites: {
    desktop(): string | null;
    sprites(): Seen[];
    onTheWay(): number;
    view(): SeenView;
    throw(index: number, edge: string): void;
  };
}

/** Sends an event of the mouse, which bears the time in `afterMs` ms. */
type Mouse = (
  type: 'mousePressed' | 'mouseMoved' | 'mouseReleased',
  x: number,
  y: number,
  afterMs?: number,
) => Promise<unknown>;

/** Runs curl and parses what it prints as JSON. */
async function curl(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)('curl', ['--silent', '--show-error', '--max-time', '150', ...args]);
  return JSON.parse(stdout);
}

/** Polls with curl until a sprite comes. */
async function nextSprite({ token, events, cursor }: Joined): Promise<SpriteEvent> {
  const batch = (await curl('--header', `Authorization: Bearer ${token}`, `${events}?cursor=${cursor}`)) as Batch;
  return batch.events.find(isSprite) ?? nextSprite({ token, events, cursor: batch.cursor } as Joined);
}

/** How many frames of an arrival are looked at. */
const FRAMES = 8;

/**
 * Resolves when the page looks for the next sprite, or the one of this name, that arrives on it: to what resolves to its first frames. Await
 * it before the throw.
 */
async function arrival(page: Page, name?: string): Promise<() => Promise<Seen[]>> {
  const path = await page.evaluateHandle(
    ([frames, wanted]) => {
      const seen: Seen[] = [];
      const look = () => {
        const came = globalThis.sprites.sprites().filter(({ fromShelf }) => !fromShelf);
        const here = wanted === undefined ? came[0] : came.find((sprite) => sprite.name === wanted);
        if (here) seen.push(here);
        if (seen.length < frames) requestAnimationFrame(look);
      };
      look();
      return seen;
    },
    [FRAMES, name] as const,
  );
  return async () => {
    await page.waitForFunction(([frames, seen]) => seen.length === frames, [FRAMES, path] as const);
    return path.jsonValue();
  };
}

/** What a page makes, at most, of the time of two frames, in s: as late may `arrival` see a sprite. */
const SEEN_S_MAX = (2 * STEPS_PER_CALL_MAX * STEP_MS) / 1000;

/** Asserts that these are the frames of a sprite that entered over the left edge and flies on. */
function assertEnteredFromTheLeft(path: Seen[], { at, vx }: Pick<SpriteEvent, 'at' | 'vx'>): void {
  const [first] = path;
  const last = path.at(-1) as Seen;
  assert.ok(first.x <= vx * SEEN_S_MAX, `it starts at the left, not at ${first.x}, with ${vx} px/s`);
  assert.ok(last.x > first.x, `it flies on to the right: ${first.x}, ${last.x}`);
  // The foot is half its height below the middle, and the sprite falls a little before the first frame.
  assert.ok(Math.abs(first.y - at * VIEW.height) < 110, `it left at ${at * VIEW.height} and entered at ${first.y}`);
}

let browser: Browser;
before(async () => {
  if (!noBrowser) browser = await launchBrowser();
});
after(() => browser?.close());

onEachFront('desktops in a browser', desktops, noBrowser);

function desktops(front: FrontKind): void {
  let relay: RelayProcess;
  let ann: Page;
  let bob: Page;
  let carol: Joined;
  /** The sprite that Carol gets. She polls from the start, so her lease does not end however slow the pages are. */
  let toCarol: Promise<SpriteEvent>;
  const faults: string[] = [];
  before(async () => {
    // The requests of a page go to other processes than its events, or to the same.
    relay = await startRelay({ workers: front === 'native' ? 2 : 0, front });
  });
  after(async () => {
    for (const page of [ann, bob]) await page?.context().close();
    await relay?.stop();
  });

  /** Opens a page as a new visitor, and joins. */
  async function joinInBrowser(name: string, query: string): Promise<Page> {
    return joinAt(`/?world=browser${query}`, name);
  }

  /** Opens a link of the relay as a new visitor, and joins after `before` has changed the form. */
  async function joinAt(link: string, name: string, before = async (_: Page) => {}): Promise<Page> {
    const page = await openPage(browser, name, faults, { reducedMotion: 'no-preference' });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${name}: ${message.text()}`);
    });
    await page.goto(`${relay.url}${link}`);
    await page.fill('#name', name);
    await before(page);
    await comeIn(page);
    return page;
  }

  const neighbour = (page: Page, edge: string) => page.locator(`.edge[data-edge="${edge}"] .neighbour`);

  // The front does not serve what these look at.
  if (front === 'portable') {
    it('say how many are here before one joins', async () => {
      const other = await join(relay.url);
      const page = await openPage(browser, 'one who looks', faults);
      await page.goto(relay.url);
      await page.locator('#join-here', { hasText: 'One desktop is on this relay now.' }).waitFor();
      await page.context().close();
      const { token } = other;
      await sendRequest(`${relay.url}/v1/desktops/${other.desktop}`, { method: 'DELETE', token });
    });

    it('take no name from an invitation that hides or turns text, or is longer than a name', async () => {
      const page = await openPage(browser, 'one who is invited', faults);
      for (const from of ['', '\u202eadA', 'A\u0000', 'A'.repeat(33)]) {
        await page.goto('about:blank');
        await page.goto(`${relay.url}/#${new URLSearchParams({ near: '1.00', from })}`);
        await page.locator('#join-text', { hasText: /^A friend has invited you/ }).waitFor();
      }
      await page.context().close();
    });

    it('join a friend in a new private world by a link whose secret no server sees, and the history does not keep', async () => {
      const dora = await joinAt('/', 'Dora', async (page) => {
        await chooseWorld(page);
        await page.check('#private');
      });
      assert.equal(await dora.textContent('#world-name'), 'in a private world');
      const link = new URL((await dora.locator('#second').getAttribute('href')) as string);
      // The world is where the friend goes when the invitation has ended.
      assert.match(link.hash, /^#near=[0-9a-f]+\.[0-9a-f]{32}&from=Dora&world=private-[\w-]{22}$/);
      assert.equal(link.search, '');
      const targets: string[] = [];
      const emil = await joinAt(`/${link.hash}`, 'Emil', async (page) => {
        page.on('request', (request) => targets.push(request.url()));
        await page.locator('#join-text', { hasText: /^Dora has invited you to the desktop next door\.$/ }).waitFor();
      });
      await neighbour(emil, 'left').filter({ hasText: 'Dora' }).waitFor();
      assert.equal(await emil.textContent('#world-name'), 'in a private world');
      // Both see who is here: a list, beside the picture.
      for (const [page, lines] of [
        [dora, ['Dora You', 'Emil 1 to the right, has just come']],
        [emil, ['Emil You', 'Dora 1 to the right']],
      ] as const) {
        await page.locator('#company-toggle', { hasText: '2 here' }).click();
        for (const [at, line] of lines.entries())
          await page
            .getByRole('region', { name: 'Who is here' })
            .getByRole('listitem')
            .nth(at)
            .filter({ hasText: line })
            .waitFor();
        assert.deepEqual(
          await page.locator('#company-places span').allTextContents(),
          lines.map((line) => line[0]),
        );
      }
      assert.equal(new URL(emil.url()).hash, '');
      const members = new URLSearchParams(link.hash.slice(1));
      const secrets = ['near', 'world'].map((member) => members.get(member) as string);
      for (const secret of secrets)
        assert.ok(targets.length > 0 && targets.every((target) => !target.includes(secret)));
      for (const page of [dora, emil]) await page.context().close();
    });

    it('find the sprite of an invitation before anything is asked; it is the picture of the link, which says nothing else', async () => {
      const fay = await joinAt('/?world=gifts', 'Fay');
      await fay.evaluate(() => {
        navigator.clipboard.writeText = async (text) => {
          document.body.dataset.copied = text;
        };
      });
      await fay.focus('#canvas');
      await fay.keyboard.press('n');
      await fay.click('#invite');
      const link = new URL((await fay.getAttribute('body', 'data-copied')) as string);
      const file = link.searchParams.get('sprite') as string;
      assert.equal(link.search, `?sprite=${file}`);
      const name = await fay.evaluate((of) => globalThis.sprites.sprites().find((one) => one.file === of)?.name, file);
      await fay.locator('.notice', { hasText: `and finds ${name} there.` }).waitFor();
      assert.match(link.hash, /^#near=[0-9a-f]+\.[0-9a-f]{32}&from=Fay&world=gifts$/);

      const guest = await openPage(browser, 'Gil', faults);
      await guest.goto(link.href);
      await guest.waitForFunction(
        (of) => globalThis.sprites.sprites().some((one) => one.file === of && !one.fromShelf),
        file,
      );
      assert.ok(await guest.isVisible('#join[open]'), 'nothing has been asked yet');
      await shoot(guest, 'browser-gift');
      await comeIn(guest);
      await neighbour(guest, 'left').filter({ hasText: 'Fay' }).waitFor();
      const gifts = await guest.evaluate(() => globalThis.sprites.sprites().filter(({ fromShelf }) => !fromShelf));
      assert.deepEqual(
        gifts.map((one) => one.name),
        [name],
      );

      const { body } = await sendRequest(`${relay.url}/${link.search}`, { headers: { 'accept-language': 'en' } });
      assert.ok(!/Fay|gifts|near=/.test(body.toString()));
      const image = /<meta property="og:image" content="([^"]+)"/.exec(body.toString())?.[1] as string;
      const picture = await sendRequest(image);
      assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/png']);
      assert.equal((await sendRequest(image.replace(file, 'ab'.repeat(32)))).status, 404);
      for (const page of [fay, guest]) await page.context().close();
    });
  }

  it('join, show their neighbours, and have sprites of their own', async () => {
    ann = await joinInBrowser('Ann', '');
    bob = await joinInBrowser('Bob', '&transport=poll');
    carol = (await curl(
      ...['--json', JSON.stringify({ name: 'Carol', world: 'browser', screen: { width: 80, height: 24 } })],
      `${relay.url}/v1/desktops`,
    )) as Joined;
    toCarol = nextSprite(carol);
    toCarol.catch(() => {}); // the test that awaits it tells
    for (const [page, left, right] of [
      [ann, 'Carol', 'Bob'],
      [bob, 'Ann', 'Carol'],
    ] as const) {
      await neighbour(page, 'left').filter({ hasText: left }).waitFor();
      await neighbour(page, 'right').filter({ hasText: right }).waitFor();
    }
    assert.equal(await ann.locator('body').getAttribute('data-transport'), 'socket');
    assert.equal(await bob.locator('body').getAttribute('data-transport'), 'poll');
    await shoot(ann, 'browser-1-ann-is-in');
  });

  it('throw with the mouse: the sprite enters the neighbour at the same height and flies on', async () => {
    const crossings: SpriteEvent[] = [];
    bob.on('response', async (response) => {
      if (!response.url().includes('/events')) return;
      const batch = (await response.json().catch(() => undefined)) as Batch | undefined;
      crossings.push(...(batch?.events ?? []).filter(isSprite));
    });
    const before = await ann.evaluate(() => globalThis.sprites.sprites().length);
    const coming = await arrival(bob);
    const thrown = await throwByMouse(ann);
    const path = await coming();
    await shoot(bob, 'browser-3-bob-has-it');
    await until('the batch of the sprite has been read here, too', () => crossings.length > 0);
    const [event] = crossings;
    assert.equal(event.from.name, 'Ann');
    assert.equal(event.edge, 'left');
    assert.equal(event.sprite.file, thrown.file);
    assert.ok(event.vx > 200, `it flies to the right with ${event.vx} px/s`);
    assert.ok(Math.abs(event.at - 0.4) < 0.15, `it was released at 0.4 of the height and crossed at ${event.at}`);
    assertEnteredFromTheLeft(path, event);
    await ann.waitForFunction(() => globalThis.sprites.onTheWay() === 0);
    const left = await ann.evaluate(() => globalThis.sprites.sprites().length);
    assert.equal(left, before - 1, 'Bob has it, and only Bob');
  });

  it('throw with the keyboard, over long-polls, to a desktop that is only curl', async () => {
    await bob.keyboard.press('n');
    await bob.keyboard.press('Shift+ArrowRight');
    const got = await toCarol;
    assert.equal(got.from.name, 'Bob');
    assert.equal(got.edge, 'left');
    assert.ok(got.vx > 0);
    const file = await fetch(`${relay.url}/v1/sprites/${got.sprite.file}`);
    assert.equal(file.status, 200, 'the receiver of a sprite can fetch its file');
  });

  it('receive a throw of curl', async () => {
    const [{ file }] = await ann.evaluate(() => globalThis.sprites.sprites());
    const coming = await arrival(ann, 'Curly');
    const crossing = crossingOf(1, 'right', 'Curly');
    const answer = await curl(
      ...['--header', `Authorization: Bearer ${carol.token}`],
      ...['--json', JSON.stringify({ ...crossing, at: 0.3, vx: 500, sprite: { ...crossing.sprite, file, scale: 2 } })],
      carol.crossings,
    );
    assert.deepEqual(answer, { to: { desktop: await ann.evaluate(() => globalThis.sprites.desktop()), name: 'Ann' } });
    assertEnteredFromTheLeft(await coming(), { at: 0.3, vx: 500 });
    await shoot(ann, 'browser-4-ann-has-curly');
  });

  it('logged no error and lost no sprite', async () => {
    assert.deepEqual(faults, []);
    const metrics = await relay.metrics();
    assert.equal(metrics.get('sprites_accepted_total'), 3);
  });

  /** Drags a sprite to the right and releases it on the way. The events carry their times, so no machine is too busy for it. */
  async function throwByMouse(page: Page): Promise<Seen> {
    const session = await page.context().newCDPSession(page);
    const mouse: Mouse = (type, x, y, afterMs = 0) =>
      session.send('Input.dispatchMouseEvent', {
        ...{ type, x, y, button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1 },
        timestamp: (Date.now() + afterMs) / 1000,
      });
    const thrown = await grab(page, mouse);
    const [y, width] = [0.4 * VIEW.height, VIEW.width];
    await mouse('mouseMoved', 0.5 * width, y);
    await shoot(page, 'browser-2-ann-drags');
    const path = [0.5, 0.55, 0.61, 0.67, 0.73, 0.79, 0.85, 0.91].map((x) => x * width);
    const events = path.map((x, i) => mouse('mouseMoved', x, y, 1_000 + 16 * i));
    events.push(mouse('mouseReleased', path.at(-1) as number, y, 1_000 + 16 * path.length));
    await Promise.all(events);
    await session.detach();
    return thrown;
  }

  /** Presses the mouse on a sprite that is not under a card, and returns the sprite. It may need some tries: sprites walk. */
  async function grab(page: Page, mouse: Mouse): Promise<Seen> {
    let held = undefined as Seen | undefined;
    await until('a sprite is caught', async () => {
      const sprite = (await page.evaluate(() => globalThis.sprites.sprites())).find(({ y }) => y > 0.5 * VIEW.height);
      if (sprite === undefined) return false;
      const [x, y] = [sprite.x, sprite.y - 12];
      await mouse('mousePressed', x, y);
      held = (await page.evaluate(() => globalThis.sprites.sprites())).find(({ mode }) => mode === 'drag');
      if (held === undefined) await mouse('mouseReleased', x, y);
      return held !== undefined;
    });
    return held as Seen;
  }
}
