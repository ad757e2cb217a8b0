/**
 * Responses: the verdicts about crossings, and what their senders are answered.
 *
 * Writer: the one response, which the next call overwrites.
 * Cost: no allocation; a refusal of one kind allocates its body once, but one of a desktop that is not live each time.
 */
import type { AnswerView } from '../wire/answer.ts';
import { PeerVerdict } from '../wire/peers/peer_frame.ts';
import { PROBLEMS, type ProblemCode, type ProblemDocument, problem } from '../wire/problem.ts';
import type { Desktops } from './state/desktops.ts';
import type { NotLive } from './way_down.ts';

/** The `detail` of the problem document for each reason to refuse a crossing. */
const REFUSALS = {
  'mailbox-full': "The neighbour's mailbox is full; the sprite stays with you, throw it again later.",
  'too-fast': 'This desktop throws faster than the relay allows; the sprite stays with you.',
  'crossing-stale':
    'This number is more than 32 below the newest one, so the neighbour may have the sprite; do not throw it again.',
  'crossing-ahead':
    'An older throw has no answer yet, and this number is 32 or more above it; the sprite stays with you, throw it again later.',
  draining: 'The relay is going down; the sprite stays with you.',
  'picture-refused': 'This world does not carry this picture; the sprite stays with you.',
  'journal-full': 'The relay cannot write to its disk; the sprite stays with you, throw it again later.',
  'relay-busy': "The neighbour's relay cannot be reached or is busy; the sprite stays with you, throw it again later.",
} as const satisfies Partial<Record<ProblemCode, string>>;

type Refusal = keyof typeof REFUSALS;

/**
 * The decision about a crossing. 'repeated': it was accepted before. 'deferred': another relay decides, and the ticket is answered later. The
 * others are the problem codes of a refusal.
 */
export type Verdict = 'accepted' | 'repeated' | 'deferred' | Refusal | NotLive;

const REFUSAL_OF: Record<number, Refusal> = {
  [PeerVerdict.full]: 'mailbox-full',
  [PeerVerdict.journalFull]: 'journal-full',
};

/**
 * The verdict about a crossing and the answer to its sender.
 *
 * Owner   the relay: the next accept() overwrites it.
 */
export interface CrossingResponse extends AnswerView {
  verdict: Verdict;
  body: Buffer;
}

const TO = Buffer.from('{"to":');
const TO_UNKNOWN = Buffer.from('{"to":null}');
const CLOSE = 0x7d;

export class Responses {
  readonly #desktops: Desktops;
  /** The body of the response to an accepted crossing. Its first bytes are always `{"to":`. */
  readonly #receipt = Buffer.concat([TO], 512);
  /** Problem documents of refused crossings, made when first needed. */
  readonly #refusals = new Map<Refusal, Buffer>();
  readonly #response: CrossingResponse = {
    verdict: 'accepted',
    status: 202,
    retryAfterSeconds: 0,
    body: this.#receipt,
    start: 0,
    end: 0,
    shared: undefined,
  };

  constructor(desktops: Desktops) {
    this.#desktops = desktops;
  }

  /** 202 with the receiver, `{"to":{…}}`; or `{"to":null}` when the receiver is no longer known (-1). */
  confirm(verdict: 'accepted' | 'repeated', receiver: number): CrossingResponse {
    if (receiver < 0) return this.#accepted(verdict, TO_UNKNOWN.copy(this.#receipt));
    // `{"to":` is already at the beginning.
    const end = this.#desktops.writeReference(receiver, this.#receipt, TO.length);
    this.#receipt[end] = CLOSE;
    return this.#accepted(verdict, end + 1);
  }

  /** The same with the receiver at another relay, as JSON. */
  confirmRemote(reference: Buffer): CrossingResponse {
    const end = TO.length + reference.copy(this.#receipt, TO.length);
    this.#receipt[end] = CLOSE;
    return this.#accepted('accepted', end + 1);
  }

  /** Another relay decides, and the ticket is answered later. */
  defer(): CrossingResponse {
    const response = this.#response;
    response.verdict = 'deferred';
    response.status = 0;
    response.end = 0;
    return response;
  }

  refuse(code: Refusal): CrossingResponse {
    let body = this.#refusals.get(code);
    if (!body) {
      body = Buffer.from(JSON.stringify(problem(code, REFUSALS[code])));
      this.#refusals.set(code, body);
    }
    return this.#refusedBy(code, body);
  }

  /** The refusal that a verdict of another relay means: one of PeerVerdict. */
  refuseAs(verdict: number): CrossingResponse {
    return this.refuse(REFUSAL_OF[verdict] ?? 'relay-busy');
  }

  /** The refusal of a desktop that is not live. */
  refuseNotLive(document: ProblemDocument & { code: NotLive }): CrossingResponse {
    return this.#refusedBy(document.code, Buffer.from(JSON.stringify(document)));
  }

  #accepted(verdict: 'accepted' | 'repeated', length: number): CrossingResponse {
    const response = this.#response;
    response.verdict = verdict;
    response.status = 202;
    response.retryAfterSeconds = 0;
    response.body = this.#receipt;
    response.end = length;
    return response;
  }

  #refusedBy(code: Refusal | NotLive, body: Buffer): CrossingResponse {
    const { status, retryAfterSeconds } = PROBLEMS[code];
    const response = this.#response;
    response.verdict = code;
    response.status = status;
    response.retryAfterSeconds = retryAfterSeconds;
    response.body = body;
    response.end = body.length;
    return response;
  }
}
