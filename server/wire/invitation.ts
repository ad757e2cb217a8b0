/**
 * Invitations: who has one may be seated beside the desktop that gave it away, in its world.
 *
 * An invitation is `<slot>.<32 hex digits>`: the slot for the look-up, and 128 random bits. In a cluster, `.<relay>` follows: the name of
 * the relay that the desktop is on. It is not an id (no dash before the dot) and not a token. A link carries it in the fragment, which
 * browsers send to no server; it belongs into no path, query or log line.
 */
import { isRelayName } from './identity.ts';
import { SECRET_DIGITS } from './rules.ts';

export interface Invitation {
  slot: number;
  /** The four words of the secret. */
  secret: readonly number[];
  /** Undefined for an invitation of a relay that was alone. */
  relay?: string;
}

const INVITATION = new RegExp(`^(0|[1-9a-f][0-9a-f]{0,5})\\.([0-9a-f]{${SECRET_DIGITS}})(?:\\.(.+))?$`);

export function writeInvitation(slot: number, secret: ArrayLike<number>, relay?: string): string {
  const digits = Array.from(secret, (word) => word.toString(16).padStart(8, '0')).join('');
  return `${slot.toString(16)}.${digits}${relay === undefined ? '' : `.${relay}`}`;
}

/** Undefined when `text` is not an invitation. */
export function readInvitation(text: string): Invitation | undefined {
  const [, slot, digits, relay] = INVITATION.exec(text) ?? [];
  if (slot === undefined || (relay !== undefined && !isRelayName(relay))) return undefined;
  const secret = [0, 8, 16, 24].map((at) => Number.parseInt(digits.slice(at, at + 8), 16));
  return { slot: Number.parseInt(slot, 16), secret, ...(relay !== undefined && { relay }) };
}
