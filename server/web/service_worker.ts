/**
 * What a browser runs beside the pages of the site: it shows a page of its own when the relay cannot be reached.
 *
 * Everything else goes to the relay as usual: nothing of the desktop is kept, so a new version is there at once.
 */

/** What this file needs of the global object of a service worker. */
interface ServiceWorker {
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install', listener: (event: { waitUntil(done: Promise<unknown>): void }) => void): void;
  addEventListener(
    type: 'fetch',
    listener: (event: {
      request: Request;
      respondWith(response: Promise<Response>): void;
      waitUntil(done: Promise<unknown>): void;
    }) => void,
  ): void;
}

const CACHE = 'sprites-offline-1';
const OFFLINE = '/offline';

const worker = globalThis as unknown as ServiceWorker;

worker.addEventListener('install', (event) => {
  event.waitUntil(keepPages().then(() => worker.skipWaiting()));
});

async function keepPages(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([OFFLINE, '/desktop/style.css', '/desktop/pages.css']);
}

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const isStyle = /^\/desktop\/(?:style|pages)\.css$/.test(new URL(request.url).pathname);
  if (request.mode !== 'navigate' && !isStyle) return;
  const kept = async () => (await caches.match(isStyle ? request : OFFLINE)) ?? Response.error();
  const answered = fetch(request);
  event.respondWith(answered.catch(kept));
  // The person has chosen a language: from now on the page for a lost connection is in it.
  if (new URL(request.url).searchParams.has('lang')) event.waitUntil(answered.then(keepPages).catch(() => {}));
});
