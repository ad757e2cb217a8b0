/** A page that is written again and again while a run is on, so that a browser shows it grow. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How often a browser reads the page again. */
export const PAGE_REFRESH_SECONDS = 2;

/** With a longer history a page takes longer to make, so it is made less often: at most a sixtieth of the time it shows. */
const PAGES_PER_HISTORY = 60;

/** Whether a page is due after this second of the run. */
export function isPageDue(second: number): boolean {
  return second % Math.max(PAGE_REFRESH_SECONDS, Math.floor(second / PAGES_PER_HISTORY)) === 0;
}

/** Writes report.html as a whole, so that a browser never reads half of it. */
export function keepPage(folder: string, html: string): void {
  const unfinished = join(folder, 'report.html.part');
  writeFileSync(unfinished, html);
  renameSync(unfinished, join(folder, 'report.html'));
}
