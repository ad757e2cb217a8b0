/** Moderation in a real browser: a page mutes a neighbour, reports a picture, and loses a picture that the operator removes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { joinPage, noBrowser, openMenuOf, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { crossingOf, DesktopClient, type Joined, post, sendRequest } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

describe('moderation in a browser', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let page: Page;
  let client: DesktopClient;
  let bob: Joined;
  const picture = sprFile();
  const file = hashOf(picture);
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    page = await joinPage(browser, `${relay.url}/?world=moderated`, 'Ann', faults);
    client = await DesktopClient.join(relay.url, { name: 'Bob', world: 'moderated' });
    bob = client.joined;
    await sendRequest(`${relay.url}/v1/sprites/${file}`, { method: 'PUT', token: bob.token, body: picture });
  });
  after(async () => {
    await client?.stop();
    await closePages();
  });

  const admin = (path: string, body: object) =>
    sendRequest(`${relay.adminUrl}/admin/${path}`, { method: 'POST', token: relay.adminToken, body });
  const shot = (name: string) => shoot(page, `moderation-${name}`);
  /** Sprites of the picture on the page. */
  const shown = () => page.evaluate((of) => globalThis.sprites.sprites().filter((sprite) => sprite.file === of), file);
  let crossing = 0;
  const throwIt = async () => {
    const body = crossingOf(++crossing, 'right', 'Rude');
    return post(bob, { ...body, vx: 300, sprite: { ...body.sprite, file, scale: 4 } });
  };

  it('reports the picture of a sprite from its menu', async () => {
    assert.equal((await throwIt()).status, 202);
    await page.waitForFunction((of) => globalThis.sprites.sprites().some((sprite) => sprite.file === of), file);
    const report = await openMenuOf(page, file, 'Report this picture');
    await shot('1-menu-of-a-sprite');
    assert.deepEqual(await page.locator('#menu button').allTextContents(), [
      'Report this picture',
      'Mute Bob',
      'Send all guests on',
      'Make it a hot potato',
      'Throw without my name',
    ]);
    await report.click();
    await page.locator('.notice', { hasText: 'Reported' }).waitFor();
    await shot('2-reported');
    const { json } = await sendRequest(`${relay.adminUrl}/admin/reports`, { token: relay.adminToken });
    assert.deepEqual(
      (json as { reports: { file: string }[] }).reports.map((report) => report.file),
      [file],
    );
  });

  it('takes a removed picture off the page, and shows what the operator announces', async () => {
    assert.equal((await shown()).length, 1);
    await admin('remove-picture', { picture: file });
    await page.waitForFunction((of) => !globalThis.sprites.sprites().some((sprite) => sprite.file === of), file);
    await page.locator('.notice', { hasText: 'has removed a picture' }).waitFor();
    await admin('announce', { text: 'The relay restarts at noon.' });
    await page.locator('.notice', { hasText: 'The relay restarts at noon.' }).waitFor();
    await shot('3-removed-and-announced');
  });

  it('mutes a neighbour from its name at the edge, and hears it again', async () => {
    const tab = page.locator('.edge[data-edge="right"] .neighbour');
    await tab.filter({ hasText: 'Bob' }).click();
    await page.locator('#menu button', { hasText: 'Mute Bob' }).waitFor();
    await shot('4-menu-of-a-neighbour');
    await page.locator('#menu button').click();
    await page.locator('.notice', { hasText: 'Bob is muted' }).waitFor();
    // In a world of two there is no other desktop to go on to.
    assert.equal((await post(bob, crossingOf(++crossing))).status, 503);
    await tab.click();
    await page.locator('#menu button', { hasText: 'Hear Bob again' }).click();
    await page.locator('.notice', { hasText: 'You get what Bob throws again' }).waitFor();
    assert.equal((await post(bob, crossingOf(++crossing))).status, 202);
  });

  it('shows the name at the lower edge in front of the sprites, which get the pointer all the same', async () => {
    const tab = page.locator('.edge[data-edge="bottom"] .neighbour', { hasText: 'Bob' });
    const { x, y, width, height } = (await tab.boundingBox()) ?? assert.fail('Bob is below');
    const middle = { x: x + width / 2, y: y + height / 2 };
    const front = (pointerEvents: string) =>
      tab.evaluate(
        (one: HTMLElement, [events, at]) => {
          one.style.pointerEvents = events;
          return document.elementFromPoint(at.x, at.y)?.className;
        },
        [pointerEvents, middle] as const,
      );
    assert.equal(await front('auto'), 'neighbour', 'the canvas does not cover it');
    assert.notEqual(await front(''), 'neighbour', 'the canvas gets its pointer');
    await until('no sprite is in front of the name, and a click on it opens the menu', async () => {
      await page.mouse.click(middle.x, middle.y);
      if (await page.locator('#menu button', { hasText: 'Mute Bob' }).isVisible()) return true;
      // A slow sprite that is clicked stays where it is: it is put aside.
      await page.mouse.down();
      await page.mouse.move(middle.x + 2 * width, middle.y - 100, { steps: 5 });
      await page.mouse.up();
      return false;
    });
    await page.keyboard.press('Escape');
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
