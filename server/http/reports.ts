/** Reports: the routes by which a desktop reports a picture, and mutes another desktop. */

import express, { type Request } from 'express';
import { cleanLine } from '../moderation/moderator.ts';
import type { SpriteStore } from '../store/sprite_store.ts';
import { checkDesktop, checkObject, malformed, readJson } from '../wire/fields.ts';
import { ProblemError } from '../wire/problem.ts';
import { REASON_BYTES_MAX } from '../wire/rules.ts';
import { bearer, holder, readBody, route, sendReply } from './api.ts';
import type { Worker } from './worker.ts';

/** Body of a mute or a report in bytes: a report with its hash and its reason. */
const REPORT_BYTES_MAX = 1024;

export function reports(worker: Worker, store: SpriteStore): express.Router {
  const router = express.Router();

  route(router, '/v1/desktops/:id/mutes', {
    post: async (request, response) => {
      const desktop = bearer(request);
      const { desktop: muted } = await readObject(request);
      sendReply(response, await worker.query('mute', desktop, mutedJson(muted)));
    },
  });
  route(router, '/v1/desktops/:id/mutes/:muted', {
    delete: async (request, response) => {
      const muted = mutedJson(request.params.muted);
      sendReply(response, await worker.query('unmute', bearer(request), muted));
    },
  });

  const report: express.RequestHandler = async (request, response) => {
    const desktop = holder(request);
    const { file, reason = '', desktop: thrower } = await readObject(request);
    if (typeof file !== 'string') throw malformed('file', 'must be the SHA-256 of a .spr file');
    if (typeof reason !== 'string') throw malformed('reason', 'must be a string');
    if (thrower !== undefined) checkDesktop(thrower, 'desktop');
    const sent = { file, reason: cleanLine(reason, 'reason', REASON_BYTES_MAX), desktop: thrower };
    // So that nobody can fill the list with pictures that nobody sees.
    if (!(await store.find(file))) throw new ProblemError('not-found', 'There is no sprite file with this hash.');
    sendReply(response, await worker.query('report', desktop, JSON.stringify(sent)));
  };
  route(router, '/v1/reports', { post: report });
  return router;
}

async function readObject(request: Request): Promise<Record<string, unknown>> {
  return checkObject(readJson(await readBody(request, REPORT_BYTES_MAX)), 'body');
}

/** The slot and generation of a desktop that is muted. */
function mutedJson(id: unknown): string {
  return JSON.stringify(checkDesktop(id, 'desktop'));
}
