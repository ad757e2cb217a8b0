/**
 * The network of peers: how relays of one cluster reach each other. There are two: NATS (nats.ts), and a pretend one for tests.
 *
 * Messages may be late, lost, repeated or reordered. Owner: bytes given to a network are not changed afterwards.
 */
import { ok } from 'node:assert';
import { PEER_FRAME_BYTES_MAX } from '../wire/peers/peer_frame.ts';
import { PEER_SAYINGS_BYTES_MAX } from '../wire/peers/peer_sayings.ts';

/** Bytes of a message that a network must carry: what NATS allows by default. The largest that relays send, lists of reports, have 750 KB. */
export const MESSAGE_BYTES_MAX = 1 << 20;
ok(MESSAGE_BYTES_MAX > 5 * PEER_FRAME_BYTES_MAX && MESSAGE_BYTES_MAX > 5 * PEER_SAYINGS_BYTES_MAX);

/** The subject has no subscriber, or there is no connection, so the message has certainly not arrived. */
export class NobodyThere extends Error {}

export interface PeerNetwork {
  /** Whether messages can be sent now. */
  readonly isConnected: boolean;
  /** Sends to all other relays that have subscribed. */
  publish(subject: string, bytes: Uint8Array): void;
  /** `answer` is absent for messages that were published. */
  subscribe(subject: string, receive: (bytes: Uint8Array, answer?: (bytes: Uint8Array) => void) => void): void;
  /** Resolves to the answer. Rejects with NobodyThere, or with another error when it is not known whether the message has arrived. */
  request(subject: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /** Sends what is left, and ends the connection. */
  close(): Promise<void>;
}
