/**
 * The relay and the browser that all suites of a process share: they start with the first test that needs them, and end after the last.
 * Each suite has a world of its own, and closes its pages.
 */
import { after } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser_page.ts';
import { type RelayProcess, startRelay } from './relay_process.ts';

export interface Site {
  relay: RelayProcess;
  browser: Browser;
}

let site: Promise<Site> | undefined;

export function sharedSite(): Promise<Site> {
  site ??= start();
  return site;
}

async function start(): Promise<Site> {
  const relay = await startRelay({ workers: 0 });
  return { relay, browser: await launchBrowser() };
}

/** Closes every page of the browser, with its visitor. Their desktops leave, so that the next suite waits for no lease. */
export async function closePages(): Promise<void> {
  const contexts = (await site)?.browser.contexts() ?? [];
  const pages = contexts.flatMap((context) => context.pages());
  await Promise.all(
    pages.map((page) => Promise.all([page.waitForEvent('close'), page.close({ runBeforeUnload: true })])),
  );
  await Promise.all(contexts.map((context) => context.close()));
}

after(async () => {
  await (await site)?.browser.close();
  await (await site)?.relay.stop();
});
