/**
 * The API listener: crossings go from the front straight to the worker, everything else through express and ws.
 */
import express from 'express';
import type { Logger } from 'pino';
import type { FrontListener } from '../front/front.ts';
import { api, errorHandlers, type PublicAddresses } from './api.ts';
import { CHARACTERS_FOLDER, site } from './site.ts';
import { SocketDesktops } from './socket_desktop.ts';
import { SpriteStore } from './sprite_store.ts';
import type { Worker } from './worker.ts';

export interface ApiListener {
  listener: FrontListener;
  sockets: SocketDesktops;
}

/** The ports in `addresses` may be filled in later. Throws when a shipped character is not a valid sprite. */
export async function makeApiListener(
  worker: Worker,
  data: string,
  addresses: PublicAddresses,
  at: { host: string; port: number; shared: boolean },
  log: Logger,
): Promise<ApiListener> {
  const store = new SpriteStore(data, { log });
  const characters = await store.ship(CHARACTERS_FOLDER);
  // Uploads wait for it; nothing else does.
  void store.open();
  const sockets = new SocketDesktops(worker);
  const app = express().disable('x-powered-by').disable('etag');
  app.use(api(worker, store, addresses), site(characters), ...errorHandlers(log));
  const listener: FrontListener = {
    ...at,
    routes: 'crossings',
    fallback: app,
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
  };
  return { listener, sockets };
}
