/** The page in a browser: the charts are drawn and nothing is requested. A picture of it is written to screenshots/. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { installHint } from '../../tools/machine.js';
import { resultOf, secondOf } from '../test/results.ts';
import { merge, overRuns, type Report } from './merge.ts';
import { growingPage, page } from './page.ts';
import type { RelaySample } from './relay_sample.ts';
import { judge, readThreshold } from './verdict.ts';

const CHROMIUM = '/usr/bin/chromium';
const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];
const SCREENSHOTS = join(import.meta.dirname, '../../screenshots');
const missing = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: ${installHint(['chromium'])}`;

const START = 1_700_000_000_000;
const HOSTILE = `</style><img src="http://127.0.0.1:9/x"><script>alert(1)</script>&"`;

/** Half a minute of a run with values for every chart. */
function reportOf(desktops: number, name = 'a test'): Report {
  const latencies = Array.from({ length: 3000 }, (_, i) => 150_000 * 1.0025 ** i);
  const seconds = Array.from({ length: 30 }, (_, i) =>
    secondOf(i + 1, latencies.slice(i * 90, i * 90 + 100), {
      phase: i < 4 ? 'warmUp' : 'measure',
      ...{
        relayCores: 0.4 + (i % 5) / 20,
        relayRssBytes: 2e8 + i * 1e5,
        tcpMemoryBytes: 1e6,
        slabBytes: 1e9 + i * 1e6,
      },
    }),
  );
  const samples = seconds.map(
    ({ atS }): RelaySample => ({
      ...{ atMs: START + atS * 1000 - 50, heapBytes: 2e7 + (atS % 7) * 1e6, loopDelayMaxMs: 12 + (atS % 3) },
      gcPauses: { count: atS, seconds: atS * 0.002, atMost: [[0.002, atS]] },
    }),
  );
  const report = merge([resultOf(latencies, { seconds, desktops, lost: 1, startedAtMs: START })], {
    ...{ name, shows: 'What a page looks like.', command: 'npm run swarm -- village', relay: 'native front, 1 worker' },
    load: '1,000 desktops, each throwing every 5 s: 200 sprites/s for 26 s',
    machines: [
      {
        name: 'x',
        cores: 2,
        model: 'A processor',
        memoryBytes: 2 ** 34,
        system: 'Linux',
        node: 'v26',
        commit: '1a2b3c4',
      },
    ],
    samples,
  });
  return judge(report, ['p99 < 5s', 'lost == 0'].map(readThreshold));
}

describe('page', { skip: missing, timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-page-'));
  let browser: Browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (report: Report, colorScheme: 'light' | 'dark' = 'light') => openPage(page(report), colorScheme);

  async function openPage(
    html: string,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<{ view: Page; asked: string[] }> {
    const file = join(folder, 'report.html');
    writeFileSync(file, html);
    const view = await browser.newPage({ viewport: { width: 1240, height: 900 }, colorScheme });
    const asked: string[] = [];
    const own = pathToFileURL(file).href;
    view.on('request', (request) => request.url() !== own && asked.push(request.url()));
    view.on('console', (message) => asked.push(`console: ${message.text()}`));
    view.on('pageerror', (error) => asked.push(`error: ${error.message}`));
    await view.goto(own);
    return { view, asked };
  }

  it('draws every chart, and requests nothing', async () => {
    const { view, asked } = await open(reportOf(1000));
    const charts = await view.$$eval('figure', (figures) =>
      figures.map((figure) => {
        const marks = [...figure.querySelectorAll<SVGGraphicsElement>('path.line, rect.bar')];
        return {
          title: figure.querySelector('b')?.textContent ?? '',
          // Whether something is visible: wider than a dot, and within the picture.
          drawn: marks.some((mark) => mark.getBBox().width > 1),
          inside: marks.every(({ getBBox }, i) => {
            const box = getBBox.call(marks[i]);
            return box.x >= 0 && box.x + box.width <= 560 && box.y >= 0 && box.y + box.height <= 250;
          }),
          width: figure.getBoundingClientRect().width,
        };
      }),
    );
    assert.deepEqual(
      charts.map(({ title }) => title),
      [
        ...['Connections', 'Sprites a second', 'Latency over time', 'CPU', 'Relay memory', 'Pauses of the relay'],
        ...['Kernel memory', 'Latency distribution'],
      ],
    );
    for (const { title, drawn, inside, width } of charts) assert.ok(drawn && inside && width > 300, title);
    assert.deepEqual(asked, []);
    mkdirSync(SCREENSHOTS, { recursive: true });
    await view.screenshot({ path: join(SCREENSHOTS, 'swarm-report.png'), fullPage: true });
    await view.close();
  });

  it('fits into the width of the window, light and dark, also on a telephone', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { view } = await open(reportOf(250_000), scheme);
      for (const width of [1240, 800, 390]) {
        await view.setViewportSize({ width, height: 900 });
        const scrolls = await view.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(scrolls <= 0, `${scheme}, ${width}: ${scrolls} too wide`);
      }
      await view.close();
    }
  });

  it('grows: the page of a run that is still on has its charts and the runs before it, and requests nothing', async () => {
    const before = [reportOf(1000), reportOf(1000)].flatMap(({ runs }) => runs);
    const { view, asked } = await openPage(growingPage(reportOf(1000), '1 min 20 s', before));
    assert.equal(await view.textContent('.badge'), 'RUNNING');
    assert.equal(await view.$$eval('.wide tbody tr', (rows) => rows.length), 2);
    assert.ok((await view.$$('figure')).length >= 8);
    const scrolls = await view.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(scrolls <= 0);
    assert.deepEqual(asked, []);
    await view.screenshot({ path: join(SCREENSHOTS, 'swarm-running.png'), fullPage: true });
    await view.close();
  });

  it('shows one bar for each number of desktops of a sweep', async () => {
    const sweep = [10, 100, 1000].map((desktops) => reportOf(desktops));
    for (const [i, { relay, runs }] of sweep.entries()) runs[0].relay = { ...relay, cpuCores: 0.1 * (i + 1) };
    const { view, asked } = await open({ ...overRuns(sweep), runs: sweep.flatMap(({ runs }) => runs) });
    const bars = await view.$$eval('figure:first-of-type rect.bar', (rects) =>
      rects.map((rect) => rect.getBoundingClientRect().height),
    );
    assert.equal(bars.length, 3);
    assert.ok(bars[0] < bars[1] && bars[1] < bars[2]);
    assert.deepEqual(asked, []);
    await view.close();
  });

  it('shows names and messages as text, not as HTML', async () => {
    const report = { ...reportOf(10, HOSTILE), command: HOSTILE, relayIs: HOSTILE, ok: false, message: HOSTILE };
    const { view, asked } = await open(report);
    assert.equal(await view.$('img, script'), null);
    assert.ok((await view.textContent('h1'))?.includes(HOSTILE));
    assert.deepEqual(asked, []);
    await view.close();
  });

  it('has a page for a run that failed at once', async () => {
    const { view, asked } = await open(
      merge([resultOf([], { ok: false, message: 'cannot reach a relay' })], {
        ...{ name: 'nothing', command: 'npm run swarm', machines: [] },
      }),
    );
    assert.match((await view.textContent('.complaint')) ?? '', /This run is not complete: cannot reach a relay\./);
    assert.deepEqual(asked, []);
    await view.close();
  });
});
