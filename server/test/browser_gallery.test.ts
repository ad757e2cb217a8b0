/** The gallery in a real browser: a picture is published, accepted, taken, and removed; and feedback reaches the operator. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { run } from '../bin/admin.ts';
import { faultsOf } from './axe.ts';
import { joinPage, launchBrowser, noBrowser, openMenuOf, openPage, shoot } from './browser_page.ts';
import { DesktopClient, join, sendRequest } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

const PICTURE = joinPath(import.meta.dirname, '../web/talking.png');

interface Listed {
  count: number;
  entries: { file: string; title: string; from: string; flying: number }[];
}

describe('the gallery in a browser', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ann: Page;
  let gallery: Page;
  let file: string;
  const faults: string[] = [];
  before(async () => {
    relay = await startRelay({ workers: 1 });
    browser = await launchBrowser();
    // The worker of the site shows a page when the relay cannot be reached.
    ann = await joinPage(browser, relay.url, 'Ann', faults, { serviceWorkers: 'allow' });
    gallery = await ann.context().newPage();
    gallery.on('pageerror', (error) => faults.push(`gallery: ${error.stack}`));
  });
  after(async () => {
    await browser?.close();
    await relay?.stop();
  });

  const listed = async () => (await sendRequest(`${relay.url}/v1/gallery`)).json as Listed;
  const published = async () => (await listed()).entries.filter(({ from }) => from === 'people');

  /** Runs a command of the operator and returns what it prints. */
  async function admin(...args: string[]): Promise<string> {
    const lines: string[] = [];
    const code = await run({
      argv: [...args, '--admin-port', String(relay.ports.admin), '--data', relay.data],
      environment: {},
      print: (line) => void lines.push(line),
      complain: (line) => void lines.push(line),
    });
    assert.equal(code, 0, lines.join('\n'));
    return lines.join('\n');
  }

  it("shows the operator's characters, which move, with who flies", async () => {
    await ann.focus('#canvas');
    await ann.keyboard.press('n');
    await ann.keyboard.press('Shift+ArrowRight');
    await until('the flight is counted', async () => (await listed()).entries.some(({ flying }) => flying === 1));
    await gallery.goto(`${relay.url}/gallery`);
    const cards = gallery.locator('.entry');
    await cards.nth((await listed()).count - 1).waitFor();
    await gallery.locator('.entry canvas').first().waitFor();
    assert.equal(await cards.filter({ hasText: '1 flying just now' }).count(), 1);
    assert.equal(await gallery.locator('#more').isVisible(), false, 'there is no second page');
    await shoot(gallery, 'gallery-1-desktop');
  });

  it('is beside a page about the world, which names the farthest thrower only if they have chosen that', async () => {
    await gallery.click('nav a[href="/world"]');
    await gallery.locator('#thrown', { hasText: '1 sprite' }).waitFor();
    await gallery.locator('#farthest-none').waitFor();
    await gallery.locator('#most li', { hasText: '1 throw' }).locator('canvas').waitFor();
    await shoot(gallery, 'world-1-first');
    const bob = await DesktopClient.join(relay.url, { name: 'Bob' });
    await ann.locator('.edge[data-edge="right"] .neighbour', { hasText: 'Bob' }).waitFor();
    const told = () => ann.waitForResponse((answer) => answer.url().endsWith('/named') && answer.status() === 204);
    let relayKnows = told();
    await gallery.check('#name');
    await relayKnows;
    await ann.bringToFront();
    await ann.focus('#canvas');
    await ann.keyboard.press('n');
    await ann.keyboard.press('Shift+ArrowRight');
    await ann.locator('.notice', { hasText: 'is with Bob now' }).waitFor();
    await gallery.bringToFront();
    const farthest = gallery.locator('#farthest', { hasText: '1 desktop from where it set out' });
    await farthest.filter({ hasText: 'thrown there by Ann' }).waitFor();
    assert.deepEqual(await faultsOf(gallery), []);
    await gallery.reload();
    assert.ok(await gallery.isChecked('#name'), 'the browser keeps the choice');
    await shoot(gallery, 'world-2-named');
    relayKnows = told();
    await gallery.uncheck('#name');
    await relayKnows;
    await until('the name is gone', async () => {
      const { farthest: far } = (await sendRequest(`${relay.url}/v1/today`)).json as { farthest: { name: unknown } };
      return far.name === null;
    });
    await farthest.filter({ hasNotText: 'Ann' }).waitFor();
    await bob.leave();
    await gallery.goto(`${relay.url}/gallery`);
  });

  it('shows a picture that a person published only when the operator has accepted it', async () => {
    const stored = ann.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.ok());
    await ann.setInputFiles('#file', { name: 'Postcard.png', mimeType: 'image/png', buffer: readFileSync(PICTURE) });
    file = new URL((await stored).url()).pathname.split('/').at(-1) as string;
    await (await openMenuOf(ann, file, 'Publish')).click();
    assert.equal(await ann.inputValue('#publish-author'), 'Ann');
    await ann.fill('#publish-title', 'A postcard');
    await ann.check('#publish-may');
    await shoot(ann, 'gallery-2-publish');
    await ann.click('#publish-send');
    await ann.locator('.notice', { hasText: 'Sent.' }).waitFor();
    assert.deepEqual(await published(), []);
    assert.match(await admin('gallery'), new RegExp(`${file} waits .* A postcard, by Ann, CC0-1.0`));
    await admin('gallery', 'accept', file);
    await until('every worker lists it', async () => (await published()).length === 1);
    await gallery.reload();
    await gallery.locator('.entry', { hasText: 'A postcard' }).locator('canvas').waitFor();
    await shoot(gallery, 'gallery-3-accepted');
  });

  it('gives a picture to the open desktop, and else opens one', async () => {
    const wisp = gallery.locator('.entry', { hasText: 'Wisp' });
    const name = 'Wisp';
    const count = () =>
      ann.evaluate((of) => globalThis.sprites.sprites().filter((sprite) => sprite.name === of).length, name);
    const before = await count();
    await wisp.getByRole('button', { name: 'Take' }).click();
    await until('it dropped in', async () => (await count()) === before + 1);
    // A visitor without a desktop.
    const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
    const page = await openPage(browser, 'visitor', faults, phone);
    await page.goto(`${relay.url}/gallery`);
    await page.locator('.entry', { hasText: 'A postcard' }).locator('canvas').waitFor();
    await shoot(page, 'gallery-4-phone');
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(isWide, false, 'nothing is beyond the right edge');
    await page.locator('.entry', { hasText: 'A postcard' }).getByRole('button', { name: 'Take' }).click();
    await page.click('#enter');
    await page.waitForFunction((of) => globalThis.sprites?.sprites().some((sprite) => sprite.file === of), file);
    await page.context().close();
  });

  it("is decided on by the operator, on the admin port's page", async () => {
    const bob = await join(relay.url);
    const bytes = sprFile();
    const waiting = hashOf(bytes);
    const token = bob.token;
    await sendRequest(`${relay.url}/v1/sprites/${waiting}`, { method: 'PUT', token, body: bytes });
    const body = { file: waiting, title: '<b>A square</b>', author: 'Bob', licence: 'CC0-1.0' };
    assert.equal((await sendRequest(`${relay.url}/v1/gallery`, { method: 'POST', token, body })).status, 202);
    const page = await openPage(browser, 'operator', faults);
    await page.goto(relay.adminUrl);
    await page.fill('#token', relay.adminToken);
    await page.click('#enter button');
    await page.waitForSelector('body[data-state="open"]');
    await page.locator('#gallery summary').focus();
    await page.keyboard.press('Enter');
    const state = page.locator('#gallery [role="status"]');
    await state.filter({ hasText: /pictures? waits? for you/ }).waitFor();
    const item = page.locator(`#gallery li[data-file="${waiting}"]`);
    assert.equal(await item.locator('h3').textContent(), body.title, 'a title is text');
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>('#gallery img')].every(({ naturalWidth }) => naturalWidth > 0),
    );
    await item.scrollIntoViewIfNeeded();
    await shoot(page, 'gallery-6-operator');
    assert.deepEqual(await faultsOf(page), []);
    await item.getByRole('button', { name: 'Accept' }).click();
    await state.filter({ hasText: `${body.title} is in the gallery. ` }).waitFor();
    await until('it is listed', async () => (await published()).some((entry) => entry.file === waiting));
    await item.getByRole('button', { name: 'Take out' }).click();
    await item.waitFor({ state: 'detached' });
    await until('it is not listed', async () => !(await published()).some((entry) => entry.file === waiting));
    let asked = '';
    page.once('dialog', (dialog) => {
      asked = dialog.message();
      void dialog.dismiss();
    });
    await page.getByRole('button', { name: 'Remove everywhere: A postcard' }).click();
    assert.match(asked, /^Remove A postcard from every desktop/);
    assert.equal((await published()).length, 1, 'it is still there');
    const eve = await join(relay.url); // Bob, who does not poll, may have left by now
    const complaint = { file: waiting, reason: 'not <b>mine</b>', desktop: eve.desktop };
    const reported = await sendRequest(`${relay.url}/v1/reports`, {
      method: 'POST',
      token: eve.token,
      body: complaint,
    });
    assert.equal(reported.status, 204);
    await page.locator('#reports summary', { hasText: '1 for you' }).click();
    const shown = page.locator(`#reports li[data-file="${waiting}"]`, { hasText: 'Reported once' });
    await shown.locator('p', { hasText: '“not <b>mine</b>”' }).waitFor();
    await shoot(page, 'gallery-7-reports');
    await shown.getByRole('button', { name: 'Dismiss' }).click();
    await page.locator('#reports [role="status"]', { hasText: 'is no longer reported. 0 pictures' }).waitFor();
    await page.click('#forget');
    assert.equal(await page.locator('#pictures li').count(), 0, 'nothing is left on the page');
    await page.context().close();
  });

  it("shows a waiting picture to the operator only, and no file but the store's", async () => {
    const get = (path: string, token?: string) => sendRequest(`${relay.adminUrl}/admin/picture/${path}`, { token });
    assert.equal((await get(file)).status, 401);
    assert.equal((await get(file, relay.adminToken)).headers['content-type'], 'image/png');
    for (const other of ['e'.repeat(64), '..%2F..%2Fadmin-token', 'admin-token']) {
      assert.equal((await get(other, relay.adminToken)).status, 404, other);
    }
  });

  it('loses a picture that the operator removes', async () => {
    await admin('remove-picture', file);
    await until('it is gone', async () => (await published()).length === 0);
    assert.doesNotMatch(await admin('gallery'), /postcard/);
  });

  it('is beside a page about Sprites, with a map of what flies and a way to reach the operator', async () => {
    await ann.bringToFront();
    await ann.focus('#canvas');
    await ann.keyboard.press('n');
    await ann.keyboard.press('Shift+ArrowRight');
    await gallery.bringToFront();
    const errors: string[] = [];
    gallery.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await gallery.click('nav a[href="/about"]');
    await gallery.locator('#here', { hasText: 'on this relay now' }).waitFor();
    await gallery
      .locator('#map-words', { hasText: /in the world of everybody now\. In the last minute, .* crossed an edge/ })
      .waitFor();
    const isPainted = () =>
      gallery.evaluate(() => {
        const canvas = document.querySelector('#map') as HTMLCanvasElement;
        const { data } = canvas.getContext('2d')!.getImageData(canvas.width / 2, canvas.height * 0.7, 1, 1);
        return data[3] > 0;
      });
    await until('the map is drawn', isPainted);
    const isCutOff = await gallery.evaluate(() => {
      const canvas = document.querySelector('#map') as HTMLCanvasElement;
      const { width, height } = canvas;
      const isPaintedIn = (x: number, y: number, wide: number, high: number) =>
        canvas
          .getContext('2d')!
          .getImageData(x, y, wide, high)
          .data.some((value) => value > 0);
      return (
        isPaintedIn(0, 0, width, 1) ||
        isPaintedIn(0, height - 1, width, 1) ||
        isPaintedIn(0, 0, 1, height) ||
        isPaintedIn(width - 1, 0, 1, height)
      );
    });
    assert.equal(isCutOff, false, 'the map fits into its place');
    await gallery.fill('#text', 'More cats,\nplease');
    await gallery.click('#send');
    await gallery.locator('#sent', { hasText: 'Thank you' }).waitFor();
    await shoot(gallery, 'gallery-5-about');
    assert.deepEqual(errors, [], 'nothing is missing, although this relay has no program for Windows');
    await until('the operator reads it', async () => /More cats,\n {2}please/.test(await admin('feedback')));
  });

  it('is shown as a page of its own when the relay cannot be reached', async () => {
    await ann.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    await ann.context().setOffline(true);
    await gallery.goto(`${relay.url}/gallery`);
    assert.equal(await gallery.textContent('h1'), 'No connection');
    const manifest = (await sendRequest(`${relay.url}/manifest.webmanifest`)).json as { icons: { src: string }[] };
    for (const { src } of manifest.icons) assert.equal((await sendRequest(`${relay.url}${src}`)).status, 200);
    assert.deepEqual(faults, []);
  });
});
