/**
 * Invitations: who has one may be seated beside the desktop that gave it away, in its world.
 *
 * An invitation is `<slot>.<32 hex digits>`: the slot for the look-up, and 128 random bits. It is not an id (no dash) and not a
 * token. A link carries it in the fragment, which browsers send to no server; it belongs into no path, query or log line.
 */
export interface Invitation {
  slot: number;
  /** The four words of the secret. */
  secret: readonly number[];
}

const INVITATION = /^(0|[1-9a-f][0-9a-f]{0,5})\.([0-9a-f]{32})$/;

export function writeInvitation(slot: number, secret: ArrayLike<number>): string {
  return `${slot.toString(16)}.${Array.from(secret, (word) => word.toString(16).padStart(8, '0')).join('')}`;
}

/** Undefined when `text` is not an invitation. */
export function readInvitation(text: string): Invitation | undefined {
  const [, slot, digits] = INVITATION.exec(text) ?? [];
  if (slot === undefined) return undefined;
  const secret = [0, 8, 16, 24].map((at) => Number.parseInt(digits.slice(at, at + 8), 16));
  return { slot: Number.parseInt(slot, 16), secret };
}
