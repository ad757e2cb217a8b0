/** The admin port's routes for the relays of a cluster. */
import express from 'express';
import type { Peering } from '../cluster/peering.ts';
import { malformed } from '../wire/fields.ts';
import { ProblemError } from '../wire/problem.ts';

/** Body of a request in bytes. */
const BODY_BYTES_MAX = 4096;

/** `peering` returns undefined when this relay is not in a cluster. */
export function adminRelays(peering: () => Peering | undefined): express.Router {
  const router = express.Router();
  const joined = () => {
    const found = peering();
    if (!found) throw new ProblemError('not-found', 'This relay is not in a cluster; it was started without --nats.');
    return found;
  };
  router.get('/admin/relays', (_, response) => {
    response.json(joined().describe());
  });
  router.post(
    '/admin/relays/forget',
    express.json({ limit: BODY_BYTES_MAX, type: () => true }),
    (request, response) => {
      const relay: unknown = request.body?.relay;
      if (typeof relay !== 'string') throw malformed('relay', 'must be a string');
      const found = joined();
      const state = found.membership.stateOf(relay);
      if (state === undefined)
        throw new ProblemError(
          'not-found',
          `There is no relay ${JSON.stringify(relay)} in this cluster; "npm run admin -- relays" lists them.`,
        );
      if (state === 'here') throw malformed('relay', `must be one that is gone; ${relay} is here`);
      response.json({ relay, abandoned: found.forget(relay) });
    },
  );
  return router;
}
