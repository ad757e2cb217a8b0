/**
 * Reloads: whether the page is going because it is being reloaded, so that it comes back in a moment.
 *
 * A browser tells a page that is going which page of the same site comes next (`pageswap`), and nothing when its tab is closed. In
 * a browser without that event, every page that goes counts as closed: one that was reloaded finds its saved seat, and joins again.
 */

/** What this file needs of a window. */
export interface SwapEvents {
  addEventListener(
    type: 'pageswap',
    listener: (event: { activation: { navigationType: string } | null }) => void,
  ): void;
}

/** Returns a function that says whether the page is being reloaded. */
export function watchReloads(page: SwapEvents): () => boolean {
  let isReloading = false;
  page.addEventListener('pageswap', ({ activation }) => {
    isReloading = activation?.navigationType === 'reload';
  });
  return () => isReloading;
}
