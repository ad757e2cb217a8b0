import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

type Listener = (event: unknown) => void;

describe('the service worker', () => {
  const listeners = new Map<string, Listener>();
  const cached: string[] = [];
  let isReachable = true;

  before(async () => {
    const cache = { addAll: async (paths: string[]) => cached.push(...paths) };
    const match = async (request: Request | string) => {
      const path = typeof request === 'string' ? request : new URL(request.url).pathname;
      return cached.includes(path) ? new Response(path) : undefined;
    };
    Object.assign(globalThis, {
      addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
      skipWaiting: async () => {},
      caches: { open: async () => cache, match },
      fetch: async () => {
        if (isReachable) return new Response('from the relay');
        throw new TypeError('network');
      },
    });
    await import('./service_worker.ts');
  });

  /** Installs it, and resolves to the routes that it has asked for. */
  async function install(hasRoutes: boolean): Promise<{ condition: { urlPattern: URLPattern }; source: string }[]> {
    const routes: { condition: { urlPattern: URLPattern }; source: string }[] = [];
    let done: Promise<unknown> | undefined;
    const addRoutes = async (route: (typeof routes)[number]) => routes.push(route);
    listeners.get('install')?.({
      waitUntil: (until: Promise<unknown>) => {
        done = until;
      },
      addRoutes: hasRoutes ? addRoutes : undefined,
    });
    await done;
    return routes;
  }

  /** Resolves to what it answers a request with; null when it leaves the request to the browser. */
  async function answer(path: string, request: Partial<Request> = {}): Promise<string | null> {
    let response: Promise<Response> | undefined;
    listeners.get('fetch')?.({
      request: { url: `https://r.example${path}`, mode: 'cors', keepalive: false, ...request },
      respondWith: (with_: Promise<Response>) => {
        response = with_;
      },
      waitUntil: () => {},
    });
    return response === undefined ? null : (await response).text();
  }

  it('keeps the page for a lost connection and all that it needs', async () => {
    await install(true);
    assert.deepEqual(cached, ['/offline', '/web/desktop/style.css', '/web/pages/pages.css', '/web/offline.js']);
  });

  it('has the browser send the requests of a desktop past it, to every relay, where browsers can do that', async () => {
    const [{ condition, source }, ...others] = await install(true);
    assert.equal(source, 'network');
    assert.deepEqual(others, []);
    for (const [url, isRouted] of [
      ['https://r.example/v1/desktops/1-1', true],
      ['http://127.0.0.1:8181/v1/desktops/1-1/crossings', true],
      ['https://r.example/offline', false],
      ['https://r.example/', false],
    ] as const) {
      assert.equal(condition.urlPattern.test(url), isRouted, url);
    }
    assert.deepEqual(await install(false), []);
  });

  it('sends itself what a page sends at its end where browsers cannot do that: the page is gone by then', async () => {
    assert.equal(await answer('/v1/desktops/1-1', { method: 'DELETE', keepalive: true }), 'from the relay');
  });

  it('leaves all other requests to the browser', async () => {
    for (const path of ['/v1/desktops/1-1/events', '/v1/worlds', '/web/desktop/desktop.ts', '/sprites/index.json']) {
      assert.equal(await answer(path), null, path);
    }
  });

  it('shows its page in place of one that cannot be reached, in its styles', async () => {
    isReachable = false;
    assert.equal(await answer('/gallery', { mode: 'navigate' }), '/offline');
    assert.equal(await answer('/web/desktop/style.css'), '/web/desktop/style.css');
    isReachable = true;
    assert.equal(await answer('/gallery', { mode: 'navigate' }), 'from the relay');
  });
});
