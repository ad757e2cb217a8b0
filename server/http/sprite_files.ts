/** The routes of sprite files: anybody reads them and their pictures for links, a desktop uploads them. */
import { createHash } from 'node:crypto';
import express, { type Request, type Response } from 'express';
import type { PictureGate } from '../moderation/picture_gate.ts';
import type { SpriteStore } from '../store/sprite_store.ts';
import { writeId } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import {
  type ApiSources,
  announcedBytes,
  answerEarly,
  baseOf,
  holder,
  readBody,
  route,
  sendProblem,
  sendReply,
} from './api.ts';
import { FetchedSprites } from './fetched_sprites.ts';
import { LinkPreviews } from './link_preview.ts';
import { sendSprite } from './sprite_answer.ts';

interface SpriteSources extends ApiSources {
  store: SpriteStore;
  gate: PictureGate;
}

export function spriteFiles(sources: SpriteSources): express.Router {
  const { worker, store, gate, admission } = sources;
  const router = express.Router();
  const fetched = new FetchedSprites(worker, store, gate);
  const hold = async (request: Request<{ file: string }>) => {
    const { file } = request.params;
    const client = admission?.networkOf(request);
    let held = gate.isServed(file) ? await store.hold(file, client) : undefined;
    if (!held && worker.isInCluster && (await fetched.fetch(file, client))) held = await store.hold(file, client);
    if (!held) throw new ProblemError('not-found', 'There is no sprite file with this hash.');
    return held;
  };
  route<{ file: string }>(router, '/v1/sprites/:file', {
    get: async (request, response) => sendSprite(request, response, request.params.file, await hold(request)),
    put: (request, response) => upload(sources, request.params.file, request, response),
  });
  const previews = new LinkPreviews();
  router.get('/preview/:file.png', async (request: Request<{ file: string }>, response) => {
    const held = await hold(request);
    try {
      const picture = previews.of(request.params.file, held.bytes);
      response.set({ 'Cache-Control': 'public, max-age=86400', 'X-Content-Type-Options': 'nosniff' });
      response.type('image/png').send(picture);
    } finally {
      held.release();
    }
  });
  return router;
}

/** Stores the file in a request's body. What is refused, or here already, is answered before the body is read. */
async function upload(
  { worker, store, addresses, clients, bans, gate, admission }: SpriteSources,
  file: string,
  request: Request<{ file: string }>,
  response: Response,
): Promise<void> {
  store.checkName(file);
  bans.checkAddress(clients.addressOf(request));
  gate.checkUpload(file);
  const desktop = holder(request);
  const verified = await worker.query('verify', desktop);
  if (verified.status !== 204) return answerEarly(request, response, () => sendReply(response, verified));
  store.throwIfRefused(file);
  if (await store.find(file)) return answerEarly(request, response, () => response.status(204).end());
  const bytes = announcedBytes(request, SPR_BYTES_MAX);
  try {
    admission?.countUpload(request, bytes);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { document } = error;
    return answerEarly(request, response, () => sendProblem(response, document));
  }
  // Where addresses are not told apart, desktops are.
  const client = admission?.networkOf(request) ?? writeId(desktop.slot, desktop.generation);
  if (!store.uploads.reserve(client, bytes)) {
    throw new ProblemError('relay-busy', 'The relay receives too many sprite files; try again in a second.');
  }
  try {
    const sha256 = createHash('sha256');
    const body = await readBody(request, SPR_BYTES_MAX, sha256);
    await store.put(file, body, client, sha256.digest('hex'));
  } finally {
    store.uploads.release(client, bytes);
  }
  response.status(201).json({ file, url: `${baseOf(request, addresses)}/v1/sprites/${file}` });
}
