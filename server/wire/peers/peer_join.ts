/**
 * A join that one relay passes on to the relay that has its world, and the answer.
 *
 * Both are JSON in UTF-8 with a `version`. The question has the body of the join as PROTOCOL.md defines it, the client's addresses and its program. The
 * answer has the desktop's seat and the relay's addresses, or a problem, or `elsewhere`: that relay does not have the world.
 * Invariant: a join that decodePeerJoin() returns has passed the same checks as one of a client.
 */
import { CLIENT_KINDS, type Client } from '../client.ts';
import { checkObject, readJson } from '../fields.ts';
import { writeInvitation } from '../invitation.ts';
import { checkJoin, type Join } from '../join.ts';
import { PROBLEMS, type ProblemCode } from '../problem.ts';
import { VERSION_LENGTH_MAX } from '../rules.ts';

export const PEER_JOIN_VERSION = 1;

/** Bytes of an address of a client, as text. */
const ADDRESS_LENGTH_MAX = 64;

/** Where clients reach a relay. */
export interface RelayAddresses {
  /** Base of the API; undefined when the operator has named none. */
  url?: string;
  eventsUrl?: string;
  apiPort: number;
  eventsPort: number;
  /** The name of its machine. Without `url`, only relays on the same machine know how clients reach it. */
  machine: string;
}

/** What the master answers to a join, and the addresses of the relay. */
export type PeerSeat = Record<string, unknown> & { at: RelayAddresses };

export type PeerJoinAnswer =
  | { seat: PeerSeat }
  | { problem: { code: ProblemCode; detail: string } }
  | { elsewhere: true };

export function encodePeerJoin({
  name,
  world,
  pictures,
  stage,
  named,
  near,
  clientAddress,
  address,
  client,
}: Join): Buffer {
  const invitation = near && writeInvitation(near.slot, near.secret, near.relay);
  // The screen was checked, and the relay does not store it.
  const body = { name, world, pictures, stage, named, near: invitation, screen: { width: 1, height: 1 } };
  return Buffer.from(JSON.stringify({ version: PEER_JOIN_VERSION, body, clientAddress, address, client }));
}

/** Undefined when the bytes are not a join of this version. */
export function decodePeerJoin(bytes: Uint8Array): Join | undefined {
  return decoded(bytes, ({ body, clientAddress, address, client }) => {
    const join = checkJoin(body);
    if (isAddress(clientAddress)) join.clientAddress = clientAddress;
    if (isAddress(address)) join.address = address;
    if (isClient(client)) join.client = client;
    return join;
  });
}

export function encodePeerJoinAnswer(answer: PeerJoinAnswer): Buffer {
  return Buffer.from(JSON.stringify({ version: PEER_JOIN_VERSION, ...answer }));
}

/** Undefined when the bytes are not an answer of this version. */
export function decodePeerJoinAnswer(bytes: Uint8Array): PeerJoinAnswer | undefined {
  return decoded<PeerJoinAnswer | undefined>(bytes, ({ seat, problem, elsewhere }) => {
    if (elsewhere === true) return { elsewhere };
    if (problem !== undefined) {
      const { code, detail } = checkObject(problem, 'problem');
      const isKnown = typeof code === 'string' && Object.hasOwn(PROBLEMS, code);
      return { problem: { code: isKnown ? (code as ProblemCode) : 'relay-busy', detail: String(detail) } };
    }
    const { desktop, token, at } = checkObject(seat, 'seat');
    const { url, eventsUrl, apiPort, eventsPort, machine } = checkObject(at, 'at');
    const isGood =
      [desktop, token, machine].every((text) => typeof text === 'string') &&
      [url, eventsUrl].every((text) => text === undefined || (typeof text === 'string' && URL.canParse(text))) &&
      [apiPort, eventsPort].every((port) => Number.isInteger(port));
    return isGood ? { seat: seat as PeerSeat } : undefined;
  });
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && value.length <= ADDRESS_LENGTH_MAX;
}

function isClient(value: unknown): value is Client {
  const { kind, version } = (value ?? {}) as Partial<Client>;
  return (
    CLIENT_KINDS.some((known) => known === kind) && typeof version === 'string' && version.length <= VERSION_LENGTH_MAX
  );
}

/** What `read` returns; undefined when it throws, or when the bytes are of another version. */
function decoded<Value>(bytes: Uint8Array, read: (message: Record<string, unknown>) => Value): Value | undefined {
  try {
    const message = checkObject(readJson(bytes), 'message');
    return message.version === PEER_JOIN_VERSION ? read(message) : undefined;
  } catch {
    return undefined;
  }
}
