/**
 * The API listener: crossings go from the front straight to the worker, everything else through express and ws.
 */
import express from 'express';
import type { Logger } from 'pino';
import type { FrontListener } from '../front/front.ts';
import { api, errorHandlers, type PublicAddresses } from './api.ts';
import { Bans } from './bans.ts';
import { complaints } from './complaints.ts';
import type { ModerationMessage } from './moderator.ts';
import { PictureGate, type Pictures } from './picture_gate.ts';
import { CHARACTERS_FOLDER, site } from './site.ts';
import { SocketDesktops } from './socket_desktop.ts';
import { SpriteStore } from './sprite_store.ts';
import type { Worker } from './worker.ts';

export interface ApiListener {
  listener: FrontListener;
  sockets: SocketDesktops;
  /** Enforces what the moderator has decided. */
  moderate: (message: ModerationMessage) => void;
}

/** The ports in `addresses` may be filled in later. Throws when a shipped character is not a valid sprite. */
export async function makeApiListener(
  worker: Worker,
  data: string,
  addresses: PublicAddresses,
  at: { host: string; port: number; shared: boolean },
  log: Logger,
  pictures: Pictures,
): Promise<ApiListener> {
  const store = new SpriteStore(data);
  const characters = await store.ship(CHARACTERS_FOLDER);
  const sockets = new SocketDesktops(worker);
  const bans = new Bans();
  const gate = new PictureGate(pictures, bans, store);
  worker.setGate(gate);
  const moderate = (message: ModerationMessage): void => {
    if (message.type === 'bans') gate.update(message.bans);
    else if (message.type === 'ended') sockets.end(message.desktops);
    else {
      store
        .remove(message.file)
        .catch((error) => log.error({ err: error, file: message.file }, 'a removed picture could not be deleted'));
    }
  };
  const app = express().disable('x-powered-by').disable('etag');
  app.use(
    api(worker, store, addresses, bans, gate),
    complaints(worker, store),
    site(characters),
    ...errorHandlers(log),
  );
  const listener: FrontListener = {
    ...at,
    routes: 'crossings',
    fallback: app,
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
  };
  return { listener, sockets, moderate };
}
