/**
 * Plays the cases of guests.vectors.json with the page's guests. As a command it writes their results to the file:
 *
 *   node client-win/test/guest_vectors.ts        after a change of the rules; the diff shows what changes for users
 *
 * core/desktop/guest_list_test.cc plays the same file. BEHAVIOUR.md has the rules. Arrivals without room wait, and those that have room come
 * in every FRAME_MS, the longest waiting first. A guest that goes on is gone at once, unless its number is in `stuck`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as guests from '../../server/web/desktop/guests.ts';
import type { Edge } from '../../server/wire/rules.ts';

export const GUEST_VECTORS = fileURLToPath(new URL('../guests.vectors.json', import.meta.url));
export const FRAME_MS = 100;

/**
 * `arrive`: so many sprites of a desktop, numbered from 1 on. `sendOn`: the guests of one go on, or all. `pass`: this guest is on its way to
 * somebody else, by this edge. `stay`: it is not any more.
 */
type Action = { ms: number } & (
  | { arrive: number; from: string; edge: Edge }
  | { sendOn: string | null }
  | { pass: number; edge: Edge }
  | { stay: number }
);

export interface GuestCase {
  name: string;
  script: Action[];
  /** Guests that bounce back whenever they are thrown. */
  stuck?: number[];
  endMs: number;
  expect?: { in: [ms: number, sprite: number][]; on: [ms: number, sprite: number, edge: Edge][] };
}

export interface GuestVectors {
  constants: Record<string, number>;
  cases: GuestCase[];
}

export const readGuestVectors = (): GuestVectors => JSON.parse(readFileSync(GUEST_VECTORS, 'utf8'));

export const guestConstants = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(guests).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  );

export function playGuests({ script, stuck = [], endMs }: GuestCase): NonNullable<GuestCase['expect']> {
  const here = new guests.Guests();
  const waiting: { id: number; from: string; edge: Edge }[] = [];
  const outcome: NonNullable<GuestCase['expect']> = { in: [], on: [] };
  let nextId = 1;
  for (let ms = 0; ms <= endMs; ms += FRAME_MS) {
    for (const action of script.filter((one) => one.ms === ms)) {
      if ('sendOn' in action) here.sendOn(action.sendOn, ms);
      else if ('pass' in action) here.pass(action.pass, action.edge, ms);
      else if ('stay' in action) here.stay(action.stay);
      else for (let i = 0; i < action.arrive; i++) waiting.push({ id: nextId++, from: action.from, edge: action.edge });
    }
    for (const one of [...waiting]) {
      if (!here.hasRoom(one.from, ms)) continue;
      here.add(one.id, one.from, one.edge, ms);
      waiting.splice(waiting.indexOf(one), 1);
      outcome.in.push([ms, one.id]);
    }
    const going = here.next(ms);
    if (going === null) continue;
    outcome.on.push([ms, going.id, going.edge]);
    if (!stuck.includes(going.id)) here.remove(going.id);
  }
  return outcome;
}

if (import.meta.main) {
  const { cases } = readGuestVectors();
  const played = cases.map((one) => ({ ...one, expect: playGuests(one) }));
  writeFileSync(GUEST_VECTORS, JSON.stringify({ constants: guestConstants(), cases: played }));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', GUEST_VECTORS], { stdio: 'inherit' });
}
