/**
 * The admin port's routes for moderation. Bodies are JSON objects. A change is answered when every process enforces it; `unsaved` in the answer
 * says what could not be saved.
 */
import { readFile } from 'node:fs/promises';
import express from 'express';
import type { OperatorRequests } from '../cluster/operator_requests.ts';
import type { Relay } from '../domain/relay.ts';
import type { World } from '../domain/torus.ts';
import type { Moderator, WhoRow } from '../moderation/moderator.ts';
import { storedPath } from '../store/sprite_store.ts';
import { isFileHash, malformed } from '../wire/fields.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { ProblemError } from '../wire/problem.ts';

/** Desktops, or worlds, in one answer. */
export const LISTED_MAX = 1000;

/** Body of a request in bytes. */
const BODY_BYTES_MAX = 4096;

/** The longest ban that ends by itself, in seconds: ten years. */
export const BAN_SECONDS_MAX = 10 * 365 * 86_400;

/** `data`: the data directory. `others`: the way to the other relays; undefined without a cluster. */
export function moderation(
  relay: Relay,
  moderator: Moderator,
  data: string,
  others: OperatorRequests | undefined,
): express.Router {
  const router = express.Router();
  router.get('/admin/who', (request, response) => {
    const from = indexIn(request.query.from);
    const { world } = request.query;
    response.json(
      typeof world === 'string' ? inWorld(relay, moderator, world, from) : everywhere(relay, moderator, from),
    );
  });
  router.get('/admin/worlds', (request, response) => {
    const from = indexIn(request.query.from);
    const worlds: { world: string; desktops: number }[] = [];
    let index = 0;
    for (const { name, count } of relay.torus.worlds()) {
      if (index++ < from) continue;
      if (worlds.length === LISTED_MAX) break;
      worlds.push({ world: name, desktops: count });
    }
    const count = relay.torus.worldCount;
    response.json({ count, worlds, next: from + worlds.length < count ? from + worlds.length : null });
  });
  router.get('/admin/bans', (_, response) => {
    response.json(moderator.list.bans);
  });
  router.get('/admin/reports', async (_, response) => {
    response.json(others === undefined ? { reports: moderator.list.reports } : await others.reports());
  });

  router.get('/admin/gallery', (_, response) => {
    response.json({ entries: moderator.gallery.entries });
  });
  router.get('/admin/picture/:file', async (request, response) => {
    const { file } = request.params;
    const stored = isFileHash(file) ? await readFile(storedPath(data, file)).catch(() => undefined) : undefined;
    const bytes = stored ?? (await others?.picture(file));
    if (bytes === undefined) throw new ProblemError('not-found', 'There is no sprite file with this hash.');
    response.set('X-Content-Type-Options', 'nosniff').type('image/png').send(bytes);
  });
  router.get('/admin/feedback', (_, response) => {
    response.json({ lines: moderator.feedback.read() });
  });

  router.use('/admin', express.json({ limit: BODY_BYTES_MAX, type: () => true }));
  router.post('/admin/kick', async (request, response) => {
    await (others ?? moderator).kick(textIn(request.body, 'desktop'));
    response.json({ kicked: 1 });
  });
  router.post('/admin/ban', async (request, response) => {
    const seconds = secondsIn(request.body);
    if (request.body?.picture === undefined) {
      response.json(await moderator.banAddress(textIn(request.body, 'address'), seconds));
      return;
    }
    const picture = textIn(request.body, 'picture');
    response.json({ picture, ...(await moderator.banPicture(picture, seconds)) });
  });
  router.post('/admin/unban', async (request, response) => {
    const saved =
      request.body?.picture === undefined
        ? await moderator.unbanAddress(textIn(request.body, 'address'))
        : await moderator.unbanPicture(textIn(request.body, 'picture'));
    response.json({ unbanned: true, ...saved });
  });
  router.post('/admin/remove-picture', async (request, response) => {
    response.json({ removed: true, ...(await moderator.removePicture(textIn(request.body, 'picture'))) });
  });
  router.post('/admin/dismiss', async (request, response) => {
    response.json({ dismissed: true, ...(await (others ?? moderator).dismiss(textIn(request.body, 'picture'))) });
  });
  router.post('/admin/gallery/accept', async (request, response) => {
    response.json({ accepted: true, ...(await moderator.acceptPicture(textIn(request.body, 'picture'))) });
  });
  router.post('/admin/gallery/refuse', async (request, response) => {
    response.json({ refused: true, ...(await moderator.refusePicture(textIn(request.body, 'picture'))) });
  });
  router.post('/admin/announce', (request, response) => {
    moderator.announce(request.body?.text);
    response.status(202).json({ desktops: relay.desktops.count });
  });
  return router;
}

interface WhoPage {
  /** All desktops, or all of this world. */
  count: number;
  desktops: WhoRow[];
  /** Where the next page begins; null after the last one. */
  next: number | null;
}

/** The desktops from slot `from` on. */
function everywhere({ desktops }: Relay, moderator: Moderator, from: number): WhoPage {
  const rows: WhoRow[] = [];
  let slot = from;
  for (; slot < desktops.max && rows.length < LISTED_MAX; slot++)
    if (desktops.isLive(slot)) rows.push(moderator.row(slot));
  return { count: desktops.count, desktops: rows, next: slot < desktops.max ? slot : null };
}

/** The desktops of a world from place `from` on. Throws not-found. */
function inWorld({ torus }: Relay, moderator: Moderator, name: string, from: number): WhoPage {
  const world: World | undefined = torus.find(name);
  if (!world && name !== DEFAULT_WORLD) throw new ProblemError('not-found', 'There is no world of this name now.');
  const count = world?.count ?? 0;
  const end = Math.min(count, from + LISTED_MAX);
  const rows: WhoRow[] = [];
  for (let place = from; place < end; place++) rows.push(moderator.row((world as World).slots[place]));
  return { count, desktops: rows, next: end < count ? end : null };
}

function indexIn(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw malformed('from', 'must be a whole number from 0 to 999999999');
}

function textIn(body: Record<string, unknown> | undefined, field: string): string {
  const value = body?.[field];
  if (typeof value === 'string') return value;
  throw malformed(field, 'must be a string');
}

/** The length of a ban; undefined for one that does not end. */
function secondsIn(body: Record<string, unknown> | undefined): number | undefined {
  const seconds = body?.seconds;
  if (seconds === undefined) return undefined;
  if (typeof seconds === 'number' && seconds >= 1 && seconds <= BAN_SECONDS_MAX) return seconds;
  throw malformed('seconds', `must be a number from 1 to ${BAN_SECONDS_MAX}`);
}
