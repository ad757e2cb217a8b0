/**
 * Reloads: whether the page is going because it is being reloaded, so that it comes back in a moment.
 *
 * A browser tells a page that is going which page of the same site comes next (`pageswap`), and nothing when its tab is closed. In
 * a browser without that event, every page that goes counts as closed: one that was reloaded finds its saved seat, and joins again.
 */

/** Returns a function that says whether the page is being reloaded. */
export function watchReloads(page: EventTarget): () => boolean {
  let isReloading = false;
  page.addEventListener('pageswap', (event) => {
    isReloading = (event as PageSwapEvent).activation?.navigationType === 'reload';
  });
  return () => isReloading;
}
