/**
 * The gallery, in a worker: the operator's own characters, and the published pictures that the operator has accepted. And the routes by
 * which a desktop publishes a picture, a page shows the map of the world and its day, and a visitor gives feedback.
 *
 * Cost: a page of the list has at most GALLERY_PAGE_MAX entries; the master is asked for flights at most once in COUNTS_MS.
 */
import express, { type Request } from 'express';
import type { GalleryCopy } from '../moderation/gallery_list.ts';
import { cleanLine } from '../moderation/moderator.ts';
import type { PictureGate } from '../moderation/picture_gate.ts';
import type { Flying } from '../processes/flights.ts';
import type { Character, SpriteStore } from '../store/sprite_store.ts';
import { checkObject, malformed, readJson } from '../wire/fields.ts';
import { checkPublication, PUBLICATION_BYTES_MAX, type Publication } from '../wire/gallery.ts';
import { blankIdentity } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { holder, readBody, route, sendReply } from './api.ts';
import type { ClientAddresses } from './client_address.ts';
import { PublicCounts } from './public_counts.ts';
import type { Worker } from './worker.ts';

/** Entries of one answer: each is a picture that a page fetches. */
const GALLERY_PAGE_MAX = 24;

/** Body of a feedback in bytes, and of its two texts in UTF-8: a page of text, and an address. */
const FEEDBACK_BYTES_MAX = 8192;
const FEEDBACK_TEXT_BYTES_MAX = 4000;
const CONTACT_BYTES_MAX = 200;

/** Control characters, and lone surrogates. */
const CONTROLS = /[\p{Cc}\p{Cs}]/gu;

interface Listed extends Publication {
  /** `relay`: it is one of the operator's characters. `people`: somebody has published it. */
  from: 'relay' | 'people';
}

export class Gallery {
  readonly #characters: readonly Listed[];
  readonly #store: SpriteStore;
  #entries: readonly Listed[];

  constructor(characters: readonly Character[], store: SpriteStore) {
    this.#characters = characters.map(({ file, name, author, licence }) => ({
      file,
      title: name,
      author,
      licence,
      from: 'relay',
    }));
    this.#entries = this.#characters;
    this.#store = store;
  }

  /** Replaces what people published. The store keeps their pictures, also those that wait for the operator. */
  update({ listed, waiting }: GalleryCopy): void {
    this.#entries = [...this.#characters, ...listed.map((entry): Listed => ({ ...entry, from: 'people' }))];
    this.#store.pin([...listed.map(({ file }) => file), ...waiting]);
  }

  /** The entries that are shown now: the operator's, then the newest first. */
  entries(gate: Pick<PictureGate, 'isServed'>): Listed[] {
    return this.#entries.filter(({ file }) => gate.isServed(file));
  }
}

export function galleryRoutes(
  worker: Worker,
  store: SpriteStore,
  gallery: Gallery,
  gate: PictureGate,
  clients: ClientAddresses,
): express.Router {
  const router = express.Router();
  const flights = flightsOf(worker);

  const list: express.RequestHandler = async (request, response) => {
    const from = indexIn(request.query.from);
    const entries = gallery.entries(gate);
    const { counts } = await flights();
    const page = entries.slice(from, from + GALLERY_PAGE_MAX);
    const next = from + GALLERY_PAGE_MAX;
    response.json({
      count: entries.length,
      entries: page.map((entry) => ({ ...entry, flying: counts[entry.file] ?? 0, url: `/v1/sprites/${entry.file}` })),
      next: next < entries.length ? next : null,
    });
  };
  const publish: express.RequestHandler = async (request, response) => {
    const desktop = holder(request);
    const publication = checkPublication(readJson(await readBody(request, PUBLICATION_BYTES_MAX)));
    const { file } = publication;
    if (!gate.isServed(file) || !(await store.find(file))) {
      throw new ProblemError('not-found', 'There is no sprite file with this hash; upload it first.');
    }
    if (store.isShipped(file)) throw malformed('file', "must not be one of the relay's own characters");
    sendReply(response, await worker.query('publish', desktop, JSON.stringify(publication)));
  };
  route(router, '/v1/gallery', { get: list, post: publish });

  route(router, '/v1/flights', {
    get: async (_, response) => {
      const { map } = await flights();
      response.json({ ...map, flights: map.flights.filter(({ file }) => gate.isServed(file)) });
    },
  });

  route(router, '/v1/today', {
    get: async (_, response) => {
      const { thrown, mostThrown, farthest } = await flights();
      const isServed = ({ file }: { file: string }) => gate.isServed(file);
      const shown = farthest !== null && isServed(farthest) ? farthest : null;
      response.json({ thrown, mostThrown: mostThrown.filter(isServed), farthest: shown });
    },
  });

  const feedback: express.RequestHandler = async (request, response) => {
    const { text, contact = '' } = checkObject(readJson(await readBody(request, FEEDBACK_BYTES_MAX)), 'body');
    const sent = { text: textIn(text), contact: '', address: clients.addressOf(request) };
    if (typeof contact !== 'string') throw malformed('contact', 'must be a string');
    sent.contact = cleanLine(contact, 'contact', CONTACT_BYTES_MAX);
    sendReply(response, await worker.query('feedback', blankIdentity(), JSON.stringify(sent)));
  };
  route(router, '/v1/feedback', { post: feedback });
  return router;
}

/** Returns a function that resolves to the flights of the last minute, at most COUNTS_MS old. */
function flightsOf(worker: Worker): () => Promise<Flying> {
  const answers = new PublicCounts(worker, undefined, 'flying');
  let read: { body: Uint8Array; flying: Flying } | undefined;
  return async () => {
    const { body } = await answers.read();
    if (read?.body !== body) read = { body, flying: JSON.parse(Buffer.from(body).toString()) };
    return read.flying;
  };
}

function indexIn(value: Request['query'][string]): number {
  if (value === undefined) return 0;
  if (typeof value === 'string' && /^\d{1,6}$/.test(value)) return Number(value);
  throw malformed('from', 'must be a whole number from 0 to 999999');
}

/** A text of several lines, without control characters. */
function textIn(value: unknown): string {
  if (typeof value !== 'string') throw malformed('text', 'must be a string');
  const text = value
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, (control) => (control === '\n' ? control : ''))
    .trim();
  if (text === '') throw malformed('text', 'must not be empty');
  if (Buffer.byteLength(text) > FEEDBACK_TEXT_BYTES_MAX) {
    throw malformed('text', `must be at most ${FEEDBACK_TEXT_BYTES_MAX} bytes of UTF-8`);
  }
  return text;
}
