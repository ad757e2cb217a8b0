/**
 * Measures how soon the page shows something on a slow line, and how many bytes it has received by then.
 *
 *     node server/test/browser_weight.ts
 *
 * Chromium emulates the line; its cache is empty. Bytes are those on the wire, with headers.
 */
import { exit } from 'node:process';
import { launchBrowser, noBrowser, openPage } from './browser_page.ts';
import { startRelay } from './relay_process.ts';

const LATENCY_MS = 400;
const BYTES_PER_SECOND = 50_000;

if (noBrowser) {
  console.error(`Nothing can be measured: ${noBrowser}.`);
  exit(1);
}

const relay = await startRelay({ workers: 0 });
const browser = await launchBrowser();
try {
  const page = await openPage(browser, 'visitor', [], { whole: true });
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  session.on('Network.responseReceived', ({ response }) => {
    bytes += response.encodedDataLength; // of the headers
  });
  await session.send('Network.enable');
  const line = { latency: LATENCY_MS, downloadThroughput: BYTES_PER_SECOND, uploadThroughput: BYTES_PER_SECOND };
  await session.send('Network.emulateNetworkConditions', { offline: false, ...line });
  const startMs = performance.now();
  const report = (what: string) =>
    console.log(`${what}: ${((performance.now() - startMs) / 1000).toFixed(1)} s, ${Math.round(bytes / 1000)} kB`);
  const painted = () => performance.getEntriesByName('first-contentful-paint').length > 0;
  const hasSprite = () => Number(document.body.dataset.sprites) >= 1;
  await page.goto(relay.url, { waitUntil: 'commit' });
  await Promise.all([
    page.waitForFunction(painted).then(() => report('the welcome is styled')),
    page.waitForSelector('#enter:enabled').then(() => report('the welcome answers')),
    page.waitForFunction(hasSprite).then(() => report('the first sprite stands')),
    page.click('#enter').then(() => report('Come in is pressed')),
    page.waitForSelector('body[data-state="connected"]').then(() => report('the desktop is connected')),
  ]);
} finally {
  await browser.close();
  await relay.stop();
}
