/**
 * The admin port's lists of desktops and worlds, in pages: `from` says where a page begins, and `next` in an answer where the
 * one after it does (null after the last one).
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import type { Relay } from '../domain/relay.ts';
import type { World } from '../domain/state/torus.ts';
import type { Moderator } from '../moderation/moderator.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import { ProblemError } from '../wire/problem.ts';
import { wholeNumber } from './query.ts';

/** Rows of a page. */
export const LISTED_MAX = 1000;

/** Desktops in the list of the busiest, and how long they are watched at most. */
const BUSIEST_MAX = 20;
export const BUSIEST_SECONDS_MAX = 60;

/** Slots that are looked at in one turn: some 0.3 ms. */
const SLOTS_PER_TURN = 65_536;

export function listings(relay: Relay, moderator: Moderator): express.Router {
  const { torus } = relay;
  const router = express.Router();
  router.get('/admin/who', async ({ query: { from, world, busiest } }, response) => {
    const row = (slot: number) => moderator.row(slot);
    if (busiest !== undefined) {
      const seconds = wholeNumber(busiest, 'busiest', 0, 1, BUSIEST_SECONDS_MAX);
      response.json(await busiestDesktops(relay, seconds, row));
      return;
    }
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

/** The desktops that have thrown most within so many seconds, the busiest first; those that have not thrown are left out. */
async function busiestDesktops<Row>(
  { desktops }: Relay,
  seconds: number,
  row: (slot: number) => Row,
): Promise<{ count: number; seconds: number; desktops: (Row & { thrown: number })[] }> {
  const slots = desktops.untouched;
  const before = new Float64Array(slots);
  await eachSlot(slots, (slot) => {
    before[slot] = desktops.newestCrossing(slot);
  });
  await sleep(seconds * 1000);
  const found: { slot: number; thrown: number }[] = [];
  await eachSlot(slots, (slot) => {
    const newest = desktops.newestCrossing(slot);
    // Another owner of the slot has begun again.
    const thrown = newest < before[slot] ? newest : newest - before[slot];
    if (thrown === 0 || !desktops.isLive(slot)) return;
    if (found.length === BUSIEST_MAX && thrown <= found[BUSIEST_MAX - 1].thrown) return;
    found.splice(BUSIEST_MAX - 1);
    const at = found.findIndex((other) => other.thrown < thrown);
    found.splice(at < 0 ? found.length : at, 0, { slot, thrown });
  });
  const here = found.filter(({ slot }) => desktops.isLive(slot));
  return { count: desktops.count, seconds, desktops: here.map(({ slot, thrown }) => ({ ...row(slot), thrown })) };
}

/** Calls `look` with each slot, some of them in each turn of the loop. */
async function eachSlot(slots: number, look: (slot: number) => void): Promise<void> {
  for (let from = 0; from < slots; from += SLOTS_PER_TURN) {
    const end = Math.min(slots, from + SLOTS_PER_TURN);
    for (let slot = from; slot < end; slot++) look(slot);
    await nextTurn();
  }
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
