/**
 * What a browser runs beside the pages of the site: it shows a page of its own when the relay cannot be reached.
 *
 * Everything else goes to the relay as usual: nothing of the desktop is kept, so a new version is there at once.
 */

interface FetchEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(done: Promise<unknown>): void;
}

/** What this file needs of the global object of a service worker. */
interface ServiceWorker {
  skipWaiting(): Promise<void>;
  addEventListener(
    type: 'install',
    listener: (event: {
      waitUntil(done: Promise<unknown>): void;
      /** Absent in browsers without static routes. */
      addRoutes?(routes: { condition: { urlPattern: URLPattern }; source: 'network' }): Promise<void>;
    }) => void,
  ): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}

const CACHE = 'sprites-offline-1';
const OFFLINE = '/offline';
const KEPT = [OFFLINE, '/web/desktop/style.css', '/web/pages/pages.css', '/web/offline.js'];

const worker = globalThis as unknown as ServiceWorker;

worker.addEventListener('install', (event) => {
  // A page that goes ends its desktop with a last request, which must outlive the page. With this route the browser sends the requests
  // to the relay itself, and does not ask this worker.
  const routed = event.addRoutes?.({
    condition: { urlPattern: new URLPattern({ pathname: '/v1/*' }) },
    source: 'network',
  });
  event.waitUntil(Promise.all([keepPages(), routed]).then(() => worker.skipWaiting()));
});

async function keepPages(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(KEPT);
}

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, searchParams } = new URL(request.url);
  // A browser without static routes asks the worker. If that left the last request to the browser, it would end with the page.
  if (request.keepalive && pathname.startsWith('/v1/')) {
    event.respondWith(fetch(request));
    return;
  }
  const isKept = KEPT.includes(pathname);
  if (request.mode !== 'navigate' && !isKept) return;
  const kept = async () => (await caches.match(isKept ? request : OFFLINE)) ?? Response.error();
  const answered = fetch(request);
  event.respondWith(answered.catch(kept));
  // The person has chosen a language: from now on the page for a lost connection is in it.
  if (searchParams.has('lang')) event.waitUntil(answered.then(keepPages).catch(() => {}));
});
