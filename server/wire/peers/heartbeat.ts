/**
 * A heartbeat: what a relay sends to all other relays of its cluster, four times a second.
 *
 * Layout, little-endian: version u8, flags u8, log2 of the width u8, length of the name u8, count u32, digest u32, step f64, life f64,
 * name (ASCII). Later members of the same version follow the name and are skipped.
 * Invariant: what decodeHeartbeat() returns is within the limits here, whatever the bytes are.
 */
import { isRelayName } from '../identity.ts';

const HEARTBEAT_VERSION = 1;

/** Bytes of a heartbeat, with room for members of later versions. */
export const HEARTBEAT_BYTES_MAX = 256;

/** Steps and lives are whole numbers below this: a step counts quarters of a second and a life milliseconds, both from 1970 on. */
export const STEP_MAX = 2 ** 48;

/** log2 of the largest width: that of 2^32 desktops. */
const WIDTH_LOG2_MAX = 16;

const HEAD_BYTES = 28;
const LEAVING = 1;

export interface Heartbeat {
  name: string;
  /** Larger after each start. */
  life: number;
  /** The step in which the sender had these values. */
  step: number;
  /** Desktops in the shared world. */
  count: number;
  /** The width of the shared world as the sender computes it. A power of two. */
  width: number;
  /** Of the sender's view in this step. */
  digest: number;
  /** Whether the relay is about to stop. */
  leaving: boolean;
}

export function encodeHeartbeat({ name, life, step, count, width, digest, leaving }: Heartbeat): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + name.length);
  bytes[0] = HEARTBEAT_VERSION;
  bytes[1] = leaving ? LEAVING : 0;
  bytes[2] = Math.log2(width);
  bytes[3] = name.length;
  bytes.writeUInt32LE(count, 4);
  bytes.writeUInt32LE(digest, 8);
  bytes.writeDoubleLE(step, 12);
  bytes.writeDoubleLE(life, 20);
  bytes.write(name, HEAD_BYTES, 'latin1');
  return bytes;
}

/** Returns `version` for a version that this relay does not know, and `malformed` for bytes that are not a heartbeat. */
export function decodeHeartbeat(bytes: Uint8Array): Heartbeat | 'version' | 'malformed' {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (from.length === 0 || from.length > HEARTBEAT_BYTES_MAX) return 'malformed';
  if (from[0] !== HEARTBEAT_VERSION) return 'version';
  if (from.length < HEAD_BYTES || from.length < HEAD_BYTES + from[3]) return 'malformed';
  const name = from.toString('latin1', HEAD_BYTES, HEAD_BYTES + from[3]);
  const [step, life] = [from.readDoubleLE(12), from.readDoubleLE(20)];
  if (!isRelayName(name) || !isStep(step) || !isStep(life) || from[2] > WIDTH_LOG2_MAX) return 'malformed';
  const [count, digest] = [from.readUInt32LE(4), from.readUInt32LE(8)];
  return { name, life, step, count, width: 2 ** from[2], digest, leaving: (from[1] & LEAVING) !== 0 };
}

function isStep(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < STEP_MAX;
}
