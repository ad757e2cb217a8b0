/**
 * Frames over IPC: the uplink of a worker process, and the master's link back to it.
 *
 * A frame is one Buffer (wire/frame.ts). It goes through shared memory (frame_ring.ts) or, where there is none, is sent with
 * process.send and `serialization: 'advanced'`. Each turn sends at most one frame in each direction; a worker that has many turns in a
 * millisecond sends one frame for all of them.
 * Invariant: the records of one worker arrive in the order in which they were written.
 */
import type { Answer } from '../wire/answer.ts';
import type { CheckedCrossing } from '../wire/crossing.ts';
import {
  FRAME_BYTES_TARGET,
  FrameWriter,
  MalformedFrame,
  RecordKind,
  type RecordView,
  readFrame,
} from '../wire/frame.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Standing } from '../wire/pictures.ts';
import type { Link } from './links.ts';
import type { Master } from './master.ts';
import type { PendingRequests } from './pending.ts';
import { QUERIES, type Query, type Uplink } from './uplink.ts';

/** Sends a frame to the other process; calls `done` once, now or later, when the system has accepted it or that has failed. */
type SendFrame = (frame: Buffer, done: (failed: boolean) => void) => void;

/** How long a busy worker gathers records for one frame, in ms: the shortest time a timer has. */
const GATHER_MS = 1;

/**
 * Frames that are sent at once in GATHER_MS, each with the records of one turn; after them, records wait for a shared frame.
 * A frame and its answer cost both processes some 20 µs and a wake-up each, as much as the rest of a crossing. Eight,
 * so that no crossing waits at 5,000 a second: an average of five turns a millisecond often means six or seven.
 */
export const PROMPT_FRAMES_MAX = 8;

/**
 * Bytes on the way to one worker, in bytes: four frames. Above this the worker gets no more batches of sprites: they stay in the
 * mailboxes until the worker has read half of these bytes. Verdicts and other small answers are always sent; the number of
 * pending requests bounds them.
 */
export const LINK_BYTES_MAX = 4 * FRAME_BYTES_TARGET;

/**
 * The same for sayings and stages, which must leave room for sprites: above this, in bytes, the worker gets no batch because of
 * them. They wait for the next round; sayings that wait too long are missed, and of a stage only the newest is sent.
 */
export const LINK_SAYINGS_BYTES_MAX = FRAME_BYTES_TARGET;

/**
 * Bytes on the way from one worker to the master, in bytes: 16 frames, some 40,000 crossings, more than the master handles in
 * half a second. Above this the worker refuses requests with relay-busy, until half of these bytes have left.
 */
export const UPLINK_BYTES_MAX = 16 * FRAME_BYTES_TARGET;

/** The worker's end: gathers the records of a turn into one frame, or those of a millisecond when there are many turns. */
export class IpcUplink implements Uplink {
  readonly #writer = new FrameWriter();
  readonly #send: SendFrame;
  readonly #pending: PendingRequests;
  readonly #clock: () => number;
  /** Frames sent at once since #promptSinceMs. */
  #promptCount = 0;
  #promptSinceMs = Number.NEGATIVE_INFINITY;
  #bytesOnTheWay = 0;
  #gatherTimer: NodeJS.Timeout | undefined;
  #flushDue = false;

  /** `pending` gets the answers, and the requests that could not be sent. `clock`: monotonic, in ms. */
  constructor(send: SendFrame, pending: PendingRequests, clock = () => performance.now()) {
    this.#send = send;
    this.#pending = pending;
    this.#clock = clock;
  }

  /** Sent with flush(), which the front calls at the end of each turn that had crossings. */
  crossing(request: number, from: Identity, checked: CheckedCrossing, standing?: Standing): void {
    this.#writer.crossing(request, from, checked, standing);
    if (this.#writer.length > FRAME_BYTES_TARGET) this.#sendFrame();
  }

  /** Sent with flush(), as crossings are. */
  show(request: number, from: Identity, body: Buffer, standing: Standing): void {
    this.#writer.show(request, from, body, standing);
    if (this.#writer.length > FRAME_BYTES_TARGET) this.#sendFrame();
  }

  poll(request: number, desktop: Identity, epoch: number, seq: number): void {
    this.#writer.poll(request, desktop, epoch, seq);
    this.#flushSoon();
  }

  closed(request: number, desktop: Identity): void {
    this.#writer.desktop(RecordKind.closed, request, desktop);
    this.#flushSoon();
  }

  query(query: Query, request: number, desktop: Identity, json?: string): void {
    this.#writer.desktop(RecordKind[query], request, desktop, json);
    this.#flushSoon();
  }

  join(request: number, join: Join): void {
    this.#writer.join(request, JSON.stringify(join));
    this.#flushSoon();
  }

  flush(): void {
    if (this.#writer.count === 0 || this.#gatherTimer) return;
    const nowMs = this.#clock();
    if (nowMs - this.#promptSinceMs >= GATHER_MS) {
      this.#promptSinceMs = nowMs;
      this.#promptCount = 0;
    }
    if (this.#promptCount++ < PROMPT_FRAMES_MAX) this.#sendFrame();
    else this.#gatherTimer = setTimeout(() => this.#endGathering(), GATHER_MS);
  }

  /** Reads a frame of the master's answers. */
  receive(frame: Uint8Array): void {
    const { answer } = this.#pending;
    readFrame(frame, (record) => answer(record.request, record));
  }

  #endGathering(): void {
    this.#gatherTimer = undefined;
    if (this.#writer.count > 0) this.#sendFrame();
  }

  #sendFrame(): void {
    const frame = this.#writer.finish();
    this.#bytesOnTheWay += frame.length;
    if (this.#bytesOnTheWay > UPLINK_BYTES_MAX) this.#pending.isHeld = true;
    this.#send(frame, (failed) => {
      this.#bytesOnTheWay -= frame.length;
      if (this.#bytesOnTheWay <= UPLINK_BYTES_MAX / 2) this.#pending.isHeld = false;
      if (failed) this.#pending.refuse(unansweredIn(frame));
    });
  }

  /** For requests that come outside of a front's turns. */
  #flushSoon(): void {
    if (this.#writer.length > FRAME_BYTES_TARGET) this.#sendFrame();
    if (this.#flushDue) return;
    this.#flushDue = true;
    setImmediate(() => {
      this.#flushDue = false;
      this.flush();
    });
  }
}

/** The requests of a frame that nobody will answer, because the frame was not sent. */
function unansweredIn(frame: Uint8Array): number[] {
  const requests: number[] = [];
  readFrame(frame, ({ kind, request }) => {
    // A closed poll is still parked in the master, which answers it with the next ping.
    if (kind !== RecordKind.closed) requests.push(request);
  });
  return requests;
}

/** The master's end of one worker: gathers answers until the end of the master's turn, and counts the bytes on the way. */
export class IpcLink implements Link {
  readonly #writer = new FrameWriter();
  readonly #send: (frame: Buffer, onSent: () => void) => void;
  readonly #onRoom: () => void;
  #bytesOnTheWay = 0;
  #isFull = false;

  /** `send` calls `onSent` once, now or later, when the frame has left this process. `onRoom` is called when a full link has room again. */
  constructor(send: (frame: Buffer, onSent: () => void) => void, onRoom: () => void) {
    this.#send = send;
    this.#onRoom = onRoom;
  }

  hasRoom(): boolean {
    if (!this.#isFull) this.#isFull = this.#bytesOnTheWay + this.#writer.length > LINK_BYTES_MAX;
    return !this.#isFull;
  }

  hasRoomForSayings(): boolean {
    return this.#bytesOnTheWay + this.#writer.length <= LINK_SAYINGS_BYTES_MAX;
  }

  readonly answer: Answer = (request, answer) => {
    this.#writer.answer(request, answer);
    if (this.#writer.length > FRAME_BYTES_TARGET) this.flush();
  };

  flush(): void {
    if (this.#writer.count === 0) return;
    const frame = this.#writer.finish();
    this.#bytesOnTheWay += frame.length;
    this.#send(frame, () => this.#sent(frame.length));
  }

  #sent(bytes: number): void {
    this.#bytesOnTheWay -= bytes;
    if (!this.#isFull || this.#bytesOnTheWay > LINK_BYTES_MAX / 2) return;
    this.#isFull = false;
    this.#onRoom();
  }
}

/**
 * Passes each record of a worker's frame to the master; the caller ends the master's turn. A frame that arrives after the end of its
 * worker is dropped: nobody could be answered, and its polls would stay parked. Its senders repeat their requests.
 *
 * Throws  MalformedFrame: the worker is faulty. The records before the fault were passed on.
 */
export function receiveFrame(master: Master, link: number, frame: Uint8Array): void {
  if (!master.turns.links.has(link)) return;
  try {
    readFrame(frame, (record) => receiveRecord(master, link, record));
  } catch (error) {
    // Only JSON of a record is parsed here.
    if (error instanceof SyntaxError) throw new MalformedFrame('a record has no JSON');
    throw error;
  }
}

/** The query that a record of each kind carries. */
const QUERY_OF: ReadonlyMap<number, Query> = new Map(QUERIES.map((query) => [RecordKind[query], query]));

function receiveRecord(master: Master, link: number, record: RecordView): void {
  const { request, body, start, end } = record;
  switch (record.kind) {
    case RecordKind.crossing:
      master.crossing(link, request, record, record, record.standing);
      break;
    case RecordKind.poll:
      master.poll(link, request, record, record.epoch, record.seq);
      break;
    case RecordKind.closed:
      master.closed(link, request, record.slot);
      break;
    case RecordKind.join:
      master.join(link, request, JSON.parse(body.toString('utf8', start, end)));
      break;
    case RecordKind.show:
      master.show(link, request, record, record);
      break;
    default: {
      const query = QUERY_OF.get(record.kind);
      if (query === undefined) throw new MalformedFrame(`a worker must not send records of kind ${record.kind}`);
      master.query(query, link, request, record, body.toString('utf8', start, end));
    }
  }
}
