/** Which visitors the page offers the Windows program to, in a real browser: those on Windows, if the relay has it. */
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

describe('the offer of the program for Windows', { ...BOUNDED, skip: noBrowser }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'offer-'));
  let server: http.Server;
  let browser: Browser;

  before(async () => {
    server = express().use(site([], folder)).listen(0, '127.0.0.1');
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
    return { page, shown: await page.locator('.for-windows:visible').count() };
  }

  it('is made to no visitor while the relay does not have the program', async () => {
    assert.equal((await visit(WINDOWS)).shown, 0);
  });

  it('is shown to visitors on Windows, one click away, and is in the help for the others', async () => {
    writeFileSync(join(folder, 'Sprites-Setup.exe'), 'MZ');
    const { page, shown } = await visit(WINDOWS);
    assert.equal(shown, 2);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#join .for-windows a')]);
    assert.match(download.suggestedFilename(), /^Sprites-Setup_http_\d+_127\.0\.0\.1\.exe$/);
    const opens = await page.locator('#open-app').getAttribute('href');
    assert.equal(opens, `sprites:${page.url()}`);
    const other = await visit(LINUX);
    assert.equal(other.shown, 0);
    assert.equal(await other.page.locator('#download').evaluate((line: HTMLElement) => line.hidden), false);
  });
});
