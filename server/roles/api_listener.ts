/**
 * The API listener: crossings go from the front straight to the worker, everything else through express and ws.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import express from 'express';
import type { Logger } from 'pino';
import type { FrontListener } from '../front/front.ts';
import { ProblemError } from '../wire/problem.ts';
import type { WorkerAdmission } from './admission.ts';
import { api, errorHandlers, type PublicAddresses } from './api.ts';
import { CHARACTERS_FOLDER, site } from './site.ts';
import { refuseUpgrade, SocketDesktops } from './socket_desktop.ts';
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
  admission?: WorkerAdmission,
): Promise<ApiListener> {
  const store = new SpriteStore(data, { log });
  const characters = await store.ship(CHARACTERS_FOLDER);
  // Uploads wait for it; nothing else does.
  void store.open();
  const sockets = new SocketDesktops(worker);
  const app = express().disable('x-powered-by').disable('etag');
  app.use(api(worker, store, addresses, admission), site(characters), ...errorHandlers(log));
  const listener: FrontListener = {
    ...at,
    routes: 'crossings',
    fallback: app,
    upgrade: (request, socket, head) => {
      if (countUpgrade(request, socket, admission)) sockets.upgrade(request, socket, head);
    },
  };
  return { listener, sockets };
}

/** Counts the connection of an upgrade until it closes. Returns false, and answers, when its address has too many. */
function countUpgrade(request: IncomingMessage, socket: Duplex, admission: WorkerAdmission | undefined): boolean {
  try {
    const uncount = admission?.countSocket(request);
    if (uncount) socket.once('close', uncount);
    return true;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    socket.on('error', () => socket.destroy());
    refuseUpgrade(socket, error.document);
    return false;
  }
}
