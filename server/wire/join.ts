/** A join: the request of a new desktop. It is checked once, in the process that received it. */
import { type Client, isVersion } from './client.ts';
import { checkName, checkNumber, checkObject, checkSwitch, malformed } from './fields.ts';
import { type Invitation, readInvitation } from './invitation.ts';
import { PICTURES, type Pictures } from './pictures.ts';
import { SCREEN_MAX, VERSION_LENGTH_MAX } from './rules.ts';

export const DEFAULT_WORLD = 'commons';

export interface Join {
  /** Empty: the desktop gets a friendly name. */
  name: string;
  /** Undefined: the world of `near`, or DEFAULT_WORLD. */
  world?: string;
  /** The policy for pictures of the private world that this join opens; one that exists keeps its own. Undefined: any. */
  pictures?: Pictures;
  /** Whether the desktop shows its stage, and the default of the private world that this join opens. Undefined: as its world says. */
  stage?: boolean;
  /** Whether public pages may show the desktop's name. Undefined: they may not. */
  named?: boolean;
  /** The whole address of the client, for bans. The worker sets it; a body can't. Undefined when it is not known. */
  clientAddress?: string;
  /** The invitation of the friend to be seated next to. */
  near?: Invitation;
  /** The client's address, as admission counts it. The worker sets it; a body can't. */
  address?: string;
  /** The program that joins. The worker sets it; a body can't. Undefined when it is not known. */
  client?: Client;
  /** Admission has counted it. The master sets it; a body can't. */
  isCounted?: boolean;
}

/** Checks the body of the switch: whether public pages may show the desktop's name. Throws malformed. */
export function checkNamed(value: unknown): boolean {
  return checkSwitch(checkObject(value, 'body').named, 'named');
}

/** Checks the version of the page that joins. Empty when the body has none. Throws malformed. Source PROTOCOL.md#join */
export function checkVersion(value: unknown): string {
  const { version } = checkObject(value, 'body');
  if (version === undefined) return '';
  if (isVersion(version)) return version;
  throw malformed('version', `must have 1 to ${VERSION_LENGTH_MAX} letters, digits, dots, plus or minus signs`);
}

/** Checks a join that was already parsed from JSON. Throws malformed (with the field). Source PROTOCOL.md#join */
export function checkJoin(value: unknown): Join {
  const body = checkObject(value, 'body');
  const join: Join = { name: checkName(body.name ?? '', 'name') };
  if (body.world !== undefined) {
    const world = checkName(body.world, 'world');
    if (world === '') throw malformed('world', 'must not be empty; leave it out to join the default world');
    join.world = world;
  }
  if (body.pictures !== undefined) {
    if (!PICTURES.includes(body.pictures as Pictures)) throw malformed('pictures', 'must be any, known or shipped');
    join.pictures = body.pictures as Pictures;
  }
  if (body.stage !== undefined) join.stage = checkSwitch(body.stage, 'stage');
  if (body.named !== undefined) join.named = checkNamed(body);
  if (body.near !== undefined) {
    const near = typeof body.near === 'string' ? readInvitation(body.near) : undefined;
    if (!near) throw malformed('near', "must be an invitation that a friend's desktop gave away; its id is none");
    join.near = near;
  }
  const screen = body.screen as Record<string, unknown> | undefined;
  if (typeof screen !== 'object' || screen === null)
    throw malformed('screen', 'must be an object with width and height');
  checkNumber(screen.width, 'screen.width', 1, SCREEN_MAX);
  checkNumber(screen.height, 'screen.height', 1, SCREEN_MAX);
  return join;
}
