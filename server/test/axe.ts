/** What axe-core finds on a page, for the suites of pages. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, Result, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SERIOUS = ['serious', 'critical'];

declare global {
  var axe: { run(options: RunOptions): Promise<AxeResults> };
}

/** What is serious on the page, in words: by all rules when it is light, and by that of contrasts when it is dark. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found: Result[] = [];
  for (const [colorScheme, rules] of [
    ['light', []],
    ['dark', ['color-contrast']],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(
      (only) => globalThis.axe.run(only.length > 0 ? { runOnly: [...only] } : {}),
      rules,
    );
    found.push(...violations);
  }
  return found
    .filter(({ impact }) => SERIOUS.includes(impact ?? ''))
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`,
    );
}
