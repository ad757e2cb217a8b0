/** A page whose relay stops for good, in a real browser: it goes on at the relay that is named, with its sprites, its name and its world. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { joinPage, launchBrowser, noBrowser, shoot } from './browser_page.ts';
import { sendRequest } from './desktop_client.ts';
import { BOUNDED, lastingPorts, type RelayProcess, startRelay, until } from './relay_process.ts';

describe('a page whose relay stops for good', { ...BOUNDED, skip: noBrowser || whyNoNats() }, () => {
  const faults: string[] = [];
  const relays: RelayProcess[] = [];
  let nats: NatsServer;
  let browser: Browser;

  before(async () => {
    nats = await NatsServer.start();
    for (const name of ['r1', 'r2']) {
      const ports = await lastingPorts();
      const url = (port: number) => `http://127.0.0.1:${port}`;
      const addresses = ['--public-url', url(ports.api), '--public-events-url', url(ports.events)];
      const args = ['--nats', nats.url, '--relay-name', name, ...addresses];
      relays.push(await startRelay({ workers: 0, ports, args }));
    }
    await until('the relays know each other', async () => {
      const metrics = await Promise.all(relays.map((relay) => relay.metrics()));
      return metrics.every((one) => one.get('sprites_peers') === 1);
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    for (const relay of relays) await relay.stop();
    await nats?.kill();
    assert.deepEqual(faults, []);
  });

  it('goes on at the relay that is named, on each transport', async () => {
    const [r1, r2] = relays;
    const pages = [];
    for (const [name, path] of [
      ['Ann', '/'],
      ['Amy', '/?transport=poll'],
    ]) {
      const page = await joinPage(browser, `${r1.url}${path}`, name, faults);
      const sprites = await page.evaluate(() => document.body.dataset.sprites);
      const desktop = await page.evaluate(() => document.body.dataset.desktop);
      pages.push({ page, name, sprites, desktop });
    }
    await until('both poll', async () => (await r1.metrics()).get('sprites_polls_parked') === 2);
    // Each moves at a time of its own, and tells it for some seconds.
    const told = pages.map(async ({ page, name }) => {
      await page.locator('.notice', { hasText: 'has stopped, so you have moved to another one' }).waitFor();
      await shoot(page, `moved-${name}`);
    });
    await r1.stop();
    await Promise.all(told);
    for (const { page, sprites, desktop } of pages) {
      await page.waitForFunction(
        (before) => document.body.dataset.desktop !== before && document.body.dataset.state === 'connected',
        desktop,
      );
      assert.equal(await page.evaluate(() => document.body.dataset.sprites), sprites, 'its sprites stay on it');
      const link = await page.locator('#second').getAttribute('href');
      assert.ok(link?.startsWith(`${r2.url}/#near=`), `friends are led to the new relay: ${link}`);
      assert.equal(new URL(page.url()).origin, r1.url, 'the page stays where it is');
    }
    const { json } = await sendRequest(`${r2.adminUrl}/admin/who`, { token: r2.adminToken });
    const names = (json as { desktops: { name: string; world: string }[] }).desktops.map(({ name }) => name);
    assert.deepEqual(names.sort(), ['Amy', 'Ann']);
  });
});
