/**
 * Pages in a real browser talk: bubbles over sprites and at edges, the history, mutes, refusals, and what is missed.
 *
 * Ann uses a socket; Bob uses long-polls, which the test can hold and refuse. They are alone in their world until Carol joins,
 * a desktop without a page.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import { TAIL_INSET } from '../web/desktop/bubbles.ts';
import { joinPage, noBrowser, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { type Joined, join, poll, sendRequest } from './desktop_client.ts';
import { type RelayProcess, until } from './relay_process.ts';

interface SeenBubble {
  text: string;
  name: string | null;
  tail: string;
  isReaction: boolean;
}

declare global {
  var bubblesSeen: SeenBubble[];
}

/** Keeps each bubble that appears on the page, so that a slow test finds it even after it is gone. */
function watchBubbles(page: Page): Promise<void> {
  return page.evaluate(() => {
    const seen: SeenBubble[] = [];
    globalThis.bubblesSeen = seen;
    const look = ({ addedNodes }: MutationRecord) => {
      for (const bubble of addedNodes as NodeListOf<HTMLElement>) {
        const text = bubble.querySelector('span')?.textContent ?? '';
        const name = bubble.querySelector('strong')?.textContent ?? null;
        const isReaction = bubble.classList.contains('reaction');
        seen.push({ text, name, tail: bubble.dataset.tail ?? '', isReaction });
      }
    };
    const layer = document.getElementById('bubbles') as HTMLElement;
    new MutationObserver((records) => records.forEach(look)).observe(layer, { childList: true });
  });
}

describe('sayings in a browser', { timeout: 900_000, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ann: Page;
  let bob: Page;
  let carol: Joined;
  let carolSaid = 0;
  let mine = '';
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    ann = await joinPage(browser, `${relay.url}/?world=talk`, 'Ann', faults, { reducedMotion: 'no-preference' });
    const dark = { colorScheme: 'dark' } as const;
    bob = await joinPage(browser, `${relay.url}/?world=talk&transport=poll`, 'Bob', faults, dark);
    await bob.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Ann' }).waitFor();
    await Promise.all([ann, bob].map(watchBubbles));
  });
  after(closePages);

  /** Says a line as a person does, and leaves the line open. */
  async function say(page: Page, text: string): Promise<void> {
    if (!(await page.locator('#talk').isVisible())) await page.keyboard.press('Enter');
    await page.locator('#saying:not([readonly])').fill(text);
    await page.keyboard.press('Enter');
  }

  const told = (page: Page, words: string) => page.locator('#saying-state', { hasText: words }).waitFor();
  /** Resolves to the bubble with this in its text, as it was when it appeared. */
  const bubble = async (page: Page, text: string) => {
    const found = await page.waitForFunction(
      (wanted) => globalThis.bubblesSeen.find((one) => one.text.includes(wanted)),
      text,
    );
    return (await found.jsonValue()) as SeenBubble;
  };
  const history = (page: Page) => page.locator('#history-lines .text, #history-lines .missed').allTextContents();
  const heardBy = (page: Page, text: string) =>
    page.locator('#history-lines li', { hasText: text }).waitFor({ state: 'attached' });
  /** She polls once, so she stays for the lease of a desktop that has polled. */
  const joinCarol = async () => {
    carol = await join(relay.url, { name: 'Carol', world: 'talk' });
    assert.equal((await poll(carol)).status, 200);
    carolSaid = 0;
  };
  const sayByCarol = (text: string) =>
    sendRequest(`${relay.url}/v1/desktops/${carol.desktop}/sayings`, {
      ...{ method: 'POST', token: carol.token, body: { saying: ++carolSaid, text } },
    });

  it('opens a line with Enter, says it with Enter, and both desktops show it', async () => {
    await ann.locator('#canvas').focus();
    await ann.keyboard.press('Enter');
    await ann.locator('#saying:focus').waitFor();
    await ann.keyboard.type('Whose cat is that?');
    assert.equal(await ann.textContent('#saying-size'), '18 / 280');
    await ann.keyboard.press('Enter');
    await told(ann, '1 heard you.');
    assert.equal(await ann.inputValue('#saying'), '');
    const [own, other] = [await bubble(ann, 'Whose cat is that?'), await bubble(bob, 'Whose cat is that?')];
    assert.deepEqual([own.name, other.name], [null, 'Ann']);
    // Bob has no sprite of Ann's, so the bubble is at an edge beyond which she sits: in a world of two that is each edge.
    assert.match(other.tail, /^(left|right|top|bottom)$/);
    assert.equal(await bob.locator('#announcements').textContent(), 'Ann says: Whose cat is that?');
    assert.deepEqual(await history(ann), ['Whose cat is that?']);
    await shoot(ann, 'sayings-1-ann-says');
    await shoot(bob, 'sayings-2-bob-hears');
  });

  it('closes the line with Escape, or with Enter when it is empty, and gives the keys back to the canvas', async () => {
    for (const key of ['Escape', 'Enter']) {
      await ann.keyboard.press(key);
      await ann.locator('#talk').waitFor({ state: 'hidden' });
      await ann.locator('#canvas:focus').waitFor({ state: 'attached' });
      await ann.click('#say');
      await ann.locator('#saying:focus').waitFor();
    }
  });

  it('shows the bubble over the newest sprite of the speaker, and follows it', async () => {
    mine = `That one is mine. ${'It likes to walk. '.repeat(14)}`.trim(); // the longer, the longer it is shown
    await ann.keyboard.press('Escape');
    const before = await bob.evaluate(() => globalThis.sprites.sprites().length);
    await ann.keyboard.press('n');
    await ann.keyboard.press('Shift+ArrowRight');
    await bob.waitForFunction((count) => globalThis.sprites.sprites().length > count, before);
    await say(ann, mine);
    const isOverIt = (inset: number) => {
      const guest = globalThis.sprites.sprites().find(({ fromShelf }) => !fromShelf);
      const shown = [...document.querySelectorAll<HTMLElement>('.bubble.placed')].find((one) =>
        one.textContent?.includes('That one is mine.'),
      );
      if (!guest || shown?.dataset.tail !== 'bottom') return false;
      const box = shown.getBoundingClientRect();
      const tail = box.left + Number.parseFloat(shown.style.getPropertyValue('--tail-at'));
      // The tail stays away from the corners: a guest may stand beside the bubble, at the side of the stage.
      const nearest = Math.max(box.left + inset, Math.min(guest.x, box.right - inset));
      return box.bottom < guest.y && guest.y - box.bottom < 130 && Math.abs(tail - nearest) < 12;
    };
    await bob.waitForFunction(isOverIt, TAIL_INSET);
    await shoot(bob, 'sayings-3-over-a-sprite');
  });

  it('shows a text of a stranger as text, whatever is in it', async () => {
    const text = '<img src=x onerror="document.title=1"> &amp; שלום';
    await say(ann, text);
    assert.equal((await bubble(bob, '&amp; שלום')).text, text);
    assert.equal(await bob.locator('.bubble img, #history img, #announcements img').count(), 0);
    assert.deepEqual(await history(bob), ['Whose cat is that?', mine, text]);
  });

  it('does not say a text that is too long, and says how much', async () => {
    await say(ann, '猫'.repeat(94));
    await told(ann, 'This is 2 bytes too long.');
    assert.equal(await ann.textContent('#saying-size'), '282 / 280');
    assert.equal(await ann.inputValue('#saying'), '猫'.repeat(94));
    await say(ann, `${'猫'.repeat(93)}!`);
    await told(ann, '1 heard you.');
    await bubble(bob, '猫!');
    await shoot(bob, 'sayings-4-the-longest');
  });

  it('reacts by a button and by one key, large, with a wave of the sprite; what is typed stays in the line', async () => {
    await ann.locator('#saying:not([readonly])').fill('I still write this');
    await ann.getByRole('button', { name: 'Send a heart' }).click();
    const { name, isReaction } = await bubble(bob, '💜');
    assert.deepEqual([name, isReaction], ['Ann', true]);
    await bob.locator('#announcements', { hasText: 'Ann sends a heart' }).waitFor({ state: 'attached' });
    assert.equal(await ann.inputValue('#saying'), 'I still write this');
    await ann.locator('#saying').fill('');
    await ann.keyboard.press('Escape');
    await until('the sprite waves', async () => {
      await ann.keyboard.press('w');
      return ann.evaluate(() => globalThis.sprites.sprites().some(({ mode }) => mode === 'wave'));
    });
    assert.equal((await bubble(ann, '👋')).name, null);
    await bubble(bob, '👋');
    await shoot(bob, 'sayings-9-a-wave');
  });

  it('keeps the text of a refused saying and says why; a saying without an answer is repeated under its number', async () => {
    const numbers: number[] = [];
    const answers: ((route: Route) => Promise<void>)[] = [
      (route) =>
        route.fulfill({
          ...{ status: 429, contentType: 'application/problem+json' },
          body: JSON.stringify({ title: 'Too fast', status: 429, code: 'too-fast' }),
        }),
      (route) => route.abort(),
      async (route) => {
        await route.fetch(); // the relay accepts it, and the answer is lost
        await route.abort();
      },
    ];
    await bob.route('**/sayings', async (route) => {
      numbers.push(route.request().postDataJSON().saying);
      const answer = answers.shift();
      await (answer === undefined ? route.continue() : answer(route));
    });
    await say(bob, 'Can you hear me?');
    await told(bob, 'That was too fast.');
    assert.equal(await bob.inputValue('#saying'), 'Can you hear me?');
    await shoot(bob, 'sayings-5-refused');
    await bob.keyboard.press('Enter');
    await told(bob, '1 heard you.');
    assert.deepEqual(numbers, [1, 2, 2, 2]);
    await bob.unroute('**/sayings');
    await heardBy(ann, 'Can you hear me?');
    assert.equal((await history(ann)).filter((text) => text === 'Can you hear me?').length, 1);
  });

  it('says a pending saying after a reload, once, and goes on with the next number', async () => {
    const numbers: number[] = [];
    await bob.route('**/sayings', async (route) => {
      numbers.push(route.request().postDataJSON().saying);
      await route.abort();
    });
    await say(bob, 'Before the reload');
    await until('it was sent', () => numbers.length > 0);
    await bob.unroute('**/sayings');
    await bob.reload();
    await bob.waitForSelector('body[data-state="connected"]');
    await watchBubbles(bob);
    await heardBy(ann, 'Before the reload');
    bob.on('request', (request) => {
      if (request.url().endsWith('/sayings')) numbers.push(request.postDataJSON().saying);
    });
    await bob.locator('#canvas').focus();
    await say(bob, 'After the reload');
    await heardBy(ann, 'After the reload');
    assert.deepEqual([...new Set(numbers)], [3, 4]);
    assert.equal((await history(ann)).filter((text) => text === 'Before the reload').length, 1);
  });

  it('says how many sayings were missed', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = 0;
    await bob.route('**/events?*', async (route) => {
      held++;
      await released;
      await route.continue();
    });
    await say(ann, 'This answers the present poll'); // and the next one is held
    await until('the next poll is held', () => held > 0);
    await joinCarol();
    assert.equal((await sayByCarol('Rude')).status, 202);
    await heardBy(ann, 'Rude');
    const kick = { method: 'POST', token: relay.adminToken, body: { desktop: carol.desktop } };
    assert.equal((await sendRequest(`${relay.adminUrl}/admin/kick`, kick)).status, 200);
    release();
    await heardBy(bob, '1 saying was missed');
    assert.ok(!(await history(bob)).includes('Rude'));
  });

  it('mutes a speaker beside its name, with the keyboard alone, and hears it again', async () => {
    await say(bob, 'Hello');
    await heardBy(bob, 'Hello');
    await say(ann, `Hello Bob. ${'How are you? '.repeat(19)}`.trim()); // shown for long, unless she is muted
    await heardBy(bob, 'Hello Bob');
    await bob.locator('#history-toggle').focus();
    await bob.keyboard.press('Enter');
    await bob.locator('#history').waitFor();
    const button = bob.getByRole('button', { name: 'Mute Ann' }).first();
    for (let i = 0; i < 9 && !(await button.evaluate((one) => one === document.activeElement)); i++) {
      await bob.keyboard.press('Tab');
    }
    await shoot(bob, 'sayings-6-history');
    await bob.keyboard.press('Enter');
    await bob.locator('.notice', { hasText: 'Ann is muted' }).waitFor();
    await bob.locator('#history :focus', { hasText: 'Hear again' }).waitFor();
    await bob.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.equal(await bob.locator('.bubble', { hasText: 'Hello Bob' }).count(), 0);
    await say(ann, 'Can Bob hear this?');
    await heardBy(ann, 'Can Bob hear this?');
    await joinCarol();
    assert.equal((await sayByCarol('I am back.')).status, 202);
    await heardBy(bob, 'I am back.');
    assert.ok(!(await history(bob)).includes('Can Bob hear this?'));
    await bob.keyboard.press('Enter');
    await bob.locator('.notice', { hasText: 'You get what Ann throws again' }).waitFor();
    await say(ann, 'And this?');
    await heardBy(bob, 'And this?');
  });

  it('has room for bubbles, the line and the history in a narrow window, by touch', async () => {
    const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
    const dora = await joinPage(browser, `${relay.url}/?world=talk`, 'Dora', faults, phone);
    await watchBubbles(dora);
    await say(ann, 'A long line for a narrow window, with a Donaudampfschifffahrtsgesellschaftskapitänsmütze in it.');
    await bubble(dora, 'A long line');
    await dora.tap('#say');
    await dora.locator('#saying').fill('Hello from the telephone');
    await dora.tap('#say-form .button');
    await told(dora, 'heard you.');
    await bubble(dora, 'Hello from the telephone');
    // Read at once: a bubble is gone after a while.
    const boxes = await dora
      .locator('.bubble.placed, #talk')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    assert.ok(boxes.length > 0);
    for (const { left, top, right, bottom } of boxes) {
      assert.ok(left >= 0 && top >= 0 && right <= 360 && bottom <= 640, `${left}, ${top} to ${right}, ${bottom}`);
    }
    await shoot(dora, 'sayings-7-narrow');
    await dora.tap('#history-toggle');
    await shoot(dora, 'sayings-8-narrow-history');
    await dora.context().close();
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
