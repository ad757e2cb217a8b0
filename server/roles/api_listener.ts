/**
 * The API listener: a worker behind its front — crossings on the hot path, everything else through express and ws.
 */
import express from 'express';
import type { Logger } from 'pino';
import type { FrontListener } from '../front/front.ts';
import { api, endOf, type PublicAddresses } from './api.ts';
import { CHARACTERS_FOLDER, site } from './site.ts';
import { SocketDesktops } from './socket_desktop.ts';
import { SpriteStore } from './sprite_store.ts';
import type { Worker } from './worker.ts';

export interface ApiListener {
  listener: FrontListener;
  sockets: SocketDesktops;
}

/** `addresses` may be filled in after this, once the ports are known. Throws when a shipped character is no sprite. */
export async function makeApiListener(
  worker: Worker,
  data: string,
  addresses: PublicAddresses,
  at: { host: string; port: number; shared: boolean },
  log: Logger,
): Promise<ApiListener> {
  const store = new SpriteStore(data);
  const characters = await store.ship(CHARACTERS_FOLDER);
  const sockets = new SocketDesktops(worker);
  const app = express().disable('x-powered-by').disable('etag');
  app.use(api(worker, store, addresses), site(characters), ...endOf(log));
  const listener: FrontListener = {
    ...at,
    routes: 'crossings',
    fallback: app,
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
  };
  return { listener, sockets };
}
