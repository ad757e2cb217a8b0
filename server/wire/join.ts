/** A join: what a newcomer says of itself. Checked once, in the process that took it from the socket. */
import { blankIdentity, readId } from './identity.ts';
import { ProblemError } from './problem.ts';
import { tidyName, whyNoName } from './text.ts';

/** Body of a join in bytes. */
export const JOIN_BYTES_MAX = 2048;

/** A side of a screen in device-independent px: several monitors side by side; beyond it is a mistake. */
export const SCREEN_MAX = 65_535;

export const DEFAULT_WORLD = 'commons';

export interface Join {
  /** Empty: the desktop goes by its id. */
  name: string;
  /** Undefined: the world of `near`, or the default one. */
  world?: string;
  /** Slot and generation of the friend to sit next to. */
  near?: { slot: number; generation: number };
}

/** Checks a join already parsed from JSON. Throws malformed (with the field). Source PROTOCOL.md#join */
export function checkJoin(value: unknown): Join {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('body', 'must be an object');
  const body = value as Record<string, unknown>;
  const join: Join = { name: name(body.name ?? '', 'name') };
  if (body.world !== undefined) {
    const world = name(body.world, 'world');
    if (world === '') throw wrong('world', 'must not be empty; leave it out for the world everybody is in');
    join.world = world;
  }
  if (body.near !== undefined) {
    const friend = blankIdentity();
    if (typeof body.near !== 'string' || !readId(body.near, friend)) throw wrong('near', "must be a desktop's id");
    join.near = { slot: friend.slot, generation: friend.generation };
  }
  const screen = body.screen as Record<string, unknown> | undefined;
  if (typeof screen !== 'object' || screen === null) throw wrong('screen', 'must be an object with width and height');
  side(screen.width, 'screen.width');
  side(screen.height, 'screen.height');
  return join;
}

function name(value: unknown, field: string): string {
  if (typeof value !== 'string') throw wrong(field, 'must be a string');
  const tidy = tidyName(value);
  const why = whyNoName(tidy);
  if (why) throw wrong(field, why);
  return tidy;
}

function side(value: unknown, field: string): void {
  if (typeof value !== 'number' || !(value >= 1 && value <= SCREEN_MAX)) {
    throw wrong(field, `must be a number from 1 to ${SCREEN_MAX}`);
  }
}

function wrong(field: string, why: string): ProblemError {
  return new ProblemError('malformed', `${field}: ${why}.`, { field });
}
