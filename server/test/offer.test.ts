/** Which visitors the page offers a program to, in a real browser: those on a system for which the relay has one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import express from 'express';
import type { Browser } from 'playwright-core';
import { site } from '../http/site.ts';
import { launchBrowser, noBrowser, openPage } from './browser_page.ts';
import { BOUNDED } from './relay_process.ts';

const ON = (system: string) =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`;
const WINDOWS = ON('Windows NT 10.0; Win64; x64');
const LINUX = ON('X11; Linux x86_64');

describe('the offer of the programs', { ...BOUNDED, skip: noBrowser }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'offer-'));
  let server: http.Server;
  let browser: Browser;

  before(async () => {
    server = express()
      .use(site([], { downloads: folder }))
      .listen(0, '127.0.0.1');
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** Opens the page as a visitor with this system, up to the join dialog. */
  async function visit(userAgent: string) {
    const page = await openPage(browser, 'visitor', [], { userAgent, viewport: { width: 1280, height: 800 } });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForSelector('#join[open]');
    const hrefs = (links: HTMLAnchorElement[]) => links.map((link) => new URL(link.href).pathname);
    return { page, offered: await page.locator('a[download]:visible').evaluateAll(hrefs) };
  }

  it('is made to no visitor while the relay does not have the program', async () => {
    assert.deepEqual((await visit(WINDOWS)).offered, []);
    assert.deepEqual((await visit(LINUX)).offered, []);
  });

  it('is shown to visitors on Windows, one click away, and is in the help for the others', async () => {
    writeFileSync(join(folder, 'Sprites-Setup.exe'), 'MZ');
    const { page, offered } = await visit(WINDOWS);
    assert.deepEqual(offered, Array(2).fill('/download/Sprites-Setup.exe'));
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#join a.for-windows')]);
    assert.match(download.suggestedFilename(), /^Sprites-Setup_http_\d+_127\.0\.0\.1\.exe$/);
    const opens = await page.locator('#open-app').getAttribute('href');
    assert.equal(opens, `sprites:${page.url()}`);
    const other = await visit(LINUX);
    assert.deepEqual(other.offered, []);
    assert.equal(await other.page.locator('#download-windows').evaluate((line: HTMLElement) => line.hidden), false);
  });

  it('is of the package to visitors on Linux, whom the page about Sprites tells how to install it', async () => {
    writeFileSync(join(folder, 'sprites_amd64.deb'), 'deb');
    const size = { sha256: 'c'.repeat(64), size: 3 };
    writeFileSync(
      join(folder, 'linux.json'),
      JSON.stringify({ version: '1.2.3', files: { 'sprites_amd64.deb': size } }),
    );
    const { page, offered } = await visit(LINUX);
    assert.deepEqual(offered, Array(2).fill('/download/sprites_amd64.deb'));
    assert.deepEqual((await visit(WINDOWS)).offered, Array(2).fill('/download/Sprites-Setup.exe'));
    await page.goto(new URL('/about', page.url()).href);
    const about = page.locator('#download-linux');
    await about.waitFor({ state: 'visible' });
    assert.match((await about.textContent()) ?? '', /Version 1\.2\.3\..*c{64}/s);
    assert.equal(await about.locator('#open-app').getAttribute('href'), `sprites:${new URL('/', page.url()).href}`);
  });
});
