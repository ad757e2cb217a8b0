/**
 * The cursor: how far a desktop has received its events, as `<epoch>-<sequence>`.
 *
 * The epoch (32 bits, 8 hex digits) identifies one run of a relay; the sequence counts the sprites of one mailbox from 1,
 * so 0 means "none yet". A poll's cursor acknowledges every event up to its sequence. Cost: one pass, no allocation.
 */

/** The last sequence of a mailbox: 49 days at one sprite a millisecond. After it the mailbox is full. */
export const SEQ_MAX = 0xffffffff;

export interface Cursor {
  epoch: number;
  seq: number;
}

const EPOCH_DIGITS = 8;

export function writeCursor(epoch: number, seq: number): string {
  return `${epoch.toString(16).padStart(EPOCH_DIGITS, '0')}-${seq}`;
}

/** Reads a cursor into `into`. Returns false when `text` is not a cursor; `into` may then hold anything. */
export function readCursor(text: string, into: Cursor): boolean {
  const digits = text.length - EPOCH_DIGITS - 1;
  if (digits < 1 || digits > 10 || text.charCodeAt(EPOCH_DIGITS) !== 0x2d) return false;
  let epoch = 0;
  for (let at = 0; at < EPOCH_DIGITS; at++) {
    const code = text.charCodeAt(at);
    const nibble = code >= 0x30 && code <= 0x39 ? code - 0x30 : code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
    if (nibble < 0) return false;
    epoch = epoch * 16 + nibble;
  }
  let seq = 0;
  for (let at = EPOCH_DIGITS + 1; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return false;
    seq = seq * 10 + digit;
  }
  if (seq > SEQ_MAX || (digits > 1 && text.charCodeAt(EPOCH_DIGITS + 1) === 0x30)) return false;
  into.epoch = epoch;
  into.seq = seq;
  return true;
}
