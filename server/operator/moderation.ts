/**
 * The admin port's routes for moderation. Bodies are JSON objects. A change is answered when every process enforces it; `unsaved` in the answer
 * says what could not be saved.
 */
import { readFile } from 'node:fs/promises';
import express from 'express';
import type { OperatorRequests } from '../cluster/operator_requests.ts';
import type { Relay } from '../domain/relay.ts';
import { BAN_SECONDS_MAX } from '../moderation/bans.ts';
import type { Moderator } from '../moderation/moderator.ts';
import { storedPath } from '../store/sprite_store.ts';
import { isFileHash, malformed } from '../wire/fields.ts';
import { ProblemError } from '../wire/problem.ts';

/** Body of a request in bytes. */
const BODY_BYTES_MAX = 4096;

export interface ModerationSources {
  relay: Relay;
  moderator: Moderator;
  /** The data directory. */
  data: string;
  /** What the operator asks of the other relays; undefined when this relay is not in a cluster. */
  others?: OperatorRequests;
  /** Removes from the journal what is no longer alive. Resolves to whether that was possible. */
  compactJournal: () => Promise<boolean>;
}

type Body = Record<string, unknown> | undefined;

export function moderation(sources: ModerationSources): express.Router {
  const { relay, moderator, data, others } = sources;
  const router = express.Router();
  for (const [name, list] of Object.entries(listsOf(sources))) {
    router.get(`/admin/${name}`, async (_, response) => {
      response.json(await list());
    });
  }
  router.get('/admin/picture/:file', async (request, response) => {
    const { file } = request.params;
    const stored = isFileHash(file) ? await readFile(storedPath(data, file)).catch(() => undefined) : undefined;
    const bytes = stored ?? (await others?.picture(file));
    if (bytes === undefined) throw new ProblemError('not-found', 'There is no sprite file with this hash.');
    response.set('X-Content-Type-Options', 'nosniff').type('image/png').send(bytes);
  });
  router.use('/admin', express.json({ limit: BODY_BYTES_MAX, type: () => true }));
  for (const [name, change] of Object.entries(changesOf(sources))) {
    router.post(`/admin/${name}`, async (request, response) => {
      response.json(await change(request.body));
    });
  }
  router.post('/admin/announce', (request, response) => {
    moderator.announce(request.body?.text);
    response.status(202).json({ desktops: relay.desktops.count });
  });
  return router;
}

/** The answers to GET, by route. */
function listsOf({ moderator, others }: ModerationSources): Record<string, () => object | Promise<object>> {
  return {
    bans: () => moderator.list.bans,
    reports: () => others?.reports() ?? { reports: moderator.list.reports },
    gallery: () => ({ entries: moderator.gallery.entries }),
    feedback: () => ({ lines: moderator.feedback.read() }),
  };
}

/** What each POST changes, by route; resolves to the answer. */
function changesOf({
  moderator,
  others,
  compactJournal,
}: ModerationSources): Record<string, (body: Body) => Promise<object>> {
  const pictureIn = (body: Body) => textIn(body, 'picture');
  return {
    kick: async (body) => {
      await (others ?? moderator).kick(textIn(body, 'desktop'));
      return { kicked: 1 };
    },
    forget: async (body) => {
      if (body?.contact !== undefined) {
        const contact = textIn(body, 'contact');
        if (contact === '') throw malformed('contact', 'must not be empty: many texts have none');
        return { feedback: await moderator.feedback.forget(contact) };
      }
      const forgotten = await moderator.forget(textIn(body, 'desktop'));
      if (await compactJournal()) return forgotten;
      return {
        ...forgotten,
        unsaved: 'the disk is full, so the journal still has what it had; try again when there is room.',
      };
    },
    ban: async (body) => {
      const seconds = secondsIn(body);
      if (body?.picture === undefined) return moderator.banAddress(textIn(body, 'address'), seconds);
      const picture = pictureIn(body);
      return { picture, ...(await moderator.banPicture(picture, seconds)) };
    },
    unban: async (body) => {
      const isAddress = body?.picture === undefined;
      const saved = isAddress
        ? await moderator.unbanAddress(textIn(body, 'address'))
        : await moderator.unbanPicture(pictureIn(body));
      return { unbanned: true, ...saved };
    },
    'remove-picture': async (body) => ({ removed: true, ...(await moderator.removePicture(pictureIn(body))) }),
    dismiss: async (body) => ({ dismissed: true, ...(await (others ?? moderator).dismiss(pictureIn(body))) }),
    'gallery/accept': async (body) => ({ accepted: true, ...(await moderator.acceptPicture(pictureIn(body))) }),
    'gallery/refuse': async (body) => ({ refused: true, ...(await moderator.refusePicture(pictureIn(body))) }),
  };
}

function textIn(body: Body, field: string): string {
  const value = body?.[field];
  if (typeof value === 'string') return value;
  throw malformed(field, 'must be a string');
}

/** The length of a ban; undefined for one that does not end. */
function secondsIn(body: Body): number | undefined {
  const seconds = body?.seconds;
  if (seconds === undefined) return undefined;
  if (typeof seconds === 'number' && seconds >= 1 && seconds <= BAN_SECONDS_MAX) return seconds;
  throw malformed('seconds', `must be a number from 1 to ${BAN_SECONDS_MAX}`);
}
