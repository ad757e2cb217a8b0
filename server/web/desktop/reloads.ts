/**
 * Reloads: whether the page is going because it is being reloaded, so that it comes back in a moment.
 *
 * A browser tells a page that is going which page of the same site comes next (`pageswap`), and nothing when its tab is closed. Firefox
 * has no such event, but tells a page that it is about to be reloaded (`navigate`). In a browser with neither, every page that goes
 * counts as closed: one that was reloaded finds its saved seat, and joins again.
 */

type Listen<Name, Event> = { addEventListener(type: Name, listener: (event: Event) => void): void };

/** What this file needs of a window. */
export type ReloadEvents = Listen<'pageswap', { activation: { navigationType: string } | null }> & {
  navigation?: Listen<'navigate', { navigationType: string }>;
};

/** Returns a function that says whether the page is being reloaded. */
export function watchReloads(page: ReloadEvents): () => boolean {
  let isReloading = false;
  page.navigation?.addEventListener('navigate', ({ navigationType }) => {
    isReloading = navigationType === 'reload';
  });
  page.addEventListener('pageswap', ({ activation }) => {
    isReloading = activation?.navigationType === 'reload';
  });
  return () => isReloading;
}
