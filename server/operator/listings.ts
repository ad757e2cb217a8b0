/**
 * The admin port's lists of desktops and worlds, in pages: `from` says where a page begins, and `next` in an answer where the
 * one after it does (null after the last one).
 */
import express from 'express';
import type { Relay } from '../domain/relay.ts';
import type { World } from '../domain/state/torus.ts';
import type { Moderator } from '../moderation/moderator.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { ProblemError } from '../wire/problem.ts';
import { wholeNumber } from './query.ts';

/** Rows of a page. */
export const LISTED_MAX = 1000;

export function listings(relay: Relay, moderator: Moderator): express.Router {
  const { torus } = relay;
  const router = express.Router();
  router.get('/admin/who', ({ query: { from, world } }, response) => {
    const row = (slot: number) => moderator.row(slot);
    const isNamed = typeof world === 'string';
    response.json(isNamed ? inWorld(relay, world, firstOf(from), row) : desktopsFrom(relay, firstOf(from), row));
  });
  router.get('/admin/worlds', ({ query }, response) => {
    const from = firstOf(query.from);
    const worlds = Iterator.from(torus.worlds()).drop(from).take(LISTED_MAX);
    const rows = [...worlds].map(({ name, count }) => ({ world: name, desktops: count }));
    const count = torus.worldCount;
    response.json({ count, worlds: rows, next: from + rows.length < count ? from + rows.length : null });
  });
  return router;
}

const firstOf = (from: unknown): number => wholeNumber(from, 'from', 0);

interface Page<Row> {
  /** All desktops, or all of this world. */
  count: number;
  desktops: Row[];
  next: number | null;
}

/** The desktops from slot `from` on. */
function desktopsFrom<Row>({ desktops }: Relay, from: number, row: (slot: number) => Row): Page<Row> {
  const rows: Row[] = [];
  let slot = from;
  for (; slot < desktops.max && rows.length < LISTED_MAX; slot++) if (desktops.isLive(slot)) rows.push(row(slot));
  return { count: desktops.count, desktops: rows, next: slot < desktops.max ? slot : null };
}

/** The desktops of a world from place `from` on. Throws not-found. */
function inWorld<Row>({ torus }: Relay, name: string, from: number, row: (slot: number) => Row): Page<Row> {
  const world: World | undefined = torus.find(name);
  if (!world && name !== DEFAULT_WORLD) throw new ProblemError('not-found', 'There is no world of this name now.');
  const count = world?.count ?? 0;
  const end = Math.min(count, from + LISTED_MAX);
  const rows: Row[] = [];
  for (let place = from; place < end; place++) rows.push(row((world as World).slots[place]));
  return { count, desktops: rows, next: end < count ? end : null };
}
