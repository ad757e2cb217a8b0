/**
 * The API listener: crossings go from the front straight to the worker, everything else through express and ws.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { FrontListener } from '../front/front.ts';
import { refuseHead } from '../front/refusal.ts';
import { Bans } from '../moderation/bans.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import { PictureGate } from '../moderation/picture_gate.ts';
import { SpriteStore } from '../store/sprite_store.ts';
import type { Pictures } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import type { WorkerAdmission } from './admission.ts';
import { api, errorHandlers, type PublicAddresses } from './api.ts';
import type { ClientAddresses } from './client_address.ts';
import { Gallery, galleryRoutes } from './gallery.ts';
import { reports } from './reports.ts';
import { CHARACTERS_FOLDER, type SiteSetup, site } from './site.ts';
import { SocketDesktops } from './socket_desktop.ts';
import { spriteFiles } from './sprite_files.ts';
import type { Worker } from './worker.ts';

export interface ApiListener {
  listener: FrontListener;
  sockets: SocketDesktops;
  /** Enforces what the moderator has decided. Resolves when it does. */
  moderate: (message: ModerationMessage) => Promise<void>;
}

/** The pictures of a process, and the rules for them. */
interface OpenPictures {
  store: SpriteStore;
  /** Those that ship with the relay. */
  characters: Awaited<ReturnType<SpriteStore['ship']>>;
  bans: Bans;
  gate: PictureGate;
}

/** Opens the sprite store in the data directory. Throws when a shipped character is not a valid sprite. */
export async function openPictures(data: string, policy: Pictures, log: Logger): Promise<OpenPictures> {
  const store = new SpriteStore(data, { log });
  const characters = await store.ship(CHARACTERS_FOLDER);
  // Uploads wait for it; nothing else does.
  void store.open();
  const bans = new Bans();
  return { store, characters, bans, gate: new PictureGate(policy, bans, store) };
}

/** What a listener is made of. */
export interface ApiSetup {
  /** Its gate is that of `pictures`. */
  worker: Worker;
  pictures: OpenPictures;
  /** Its ports may be filled in later. */
  addresses: PublicAddresses;
  /** What the pages say of the operator, and of the version that runs. */
  operator: Pick<SiteSetup, 'contact' | 'rules' | 'commit'>;
  at: Pick<FrontListener, 'host' | 'port' | 'shared' | 'descriptor'>;
  log: Logger;
  clients: ClientAddresses;
  admission?: WorkerAdmission;
}

export function makeApiListener(setup: ApiSetup): ApiListener {
  const { worker, addresses, operator, at, log, clients, admission } = setup;
  const { contact, rules, commit } = operator;
  const { store, characters, bans, gate } = setup.pictures;
  const sockets = new SocketDesktops(worker);
  const gallery = new Gallery(characters, store);
  const moderate = async (message: ModerationMessage): Promise<void> => {
    if (message.type === 'bans') {
      gate.update(message.bans);
      gallery.update(message.bans.gallery);
    } else if (message.type === 'ended') sockets.end(message.desktops);
    else {
      await store
        .remove(message.file)
        .catch((error) => log.error({ err: error, file: message.file }, 'a removed picture could not be deleted'));
    }
  };
  const sources = { worker, addresses, clients, bans, admission };
  const app = express().disable('x-powered-by').disable('etag');
  app.use(
    checkHost,
    api(sources),
    spriteFiles({ ...sources, store, gate }),
    reports(worker, store),
    galleryRoutes(worker, store, gallery, gate, clients),
    site(characters, { addresses, contact, rules, commit, log }),
    ...errorHandlers(log),
  );
  const listener: FrontListener = {
    ...at,
    routes: 'crossings',
    fallback: app,
    upgrade: (request, socket, head) => {
      if (!countUpgrade(request, socket, admission)) return;
      sockets.upgrade(request, socket, head, admission?.networkOf(request));
    },
  };
  return { listener, sockets, moderate };
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
    refuseHead(socket as Socket, error.document);
    return false;
  }
}

/**
 * Refuses a Host header that can't be part of a URL, such as `a:99999` or `999.1.1.1`, before anything is done: addresses in
 * answers are made from it. RFC 9112 §3.2 requires 400. An empty one counts as absent.
 */
function checkHost({ headers: { host } }: Request, _: Response, next: NextFunction): void {
  if (host && !URL.canParse(`http://${host}`)) {
    throw new ProblemError('malformed', 'Host: must be a name or an address, with or without a port.', {
      field: 'host',
    });
  }
  next();
}
