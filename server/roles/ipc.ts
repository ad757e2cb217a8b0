/**
 * Frames over IPC: the uplink of a worker process, and its other end in the master.
 *
 * A frame is one Buffer (wire/frame.ts), sent by process.send with `serialization: 'advanced'`: one a turn and direction, and
 * when a worker has many turns in a millisecond, one for all of them.
 * Invariant: records of one worker arrive in the order they were asked in.
 */
import type { Answer } from '../wire/answer.ts';
import type { CheckedCrossing, EdgeNumber } from '../wire/crossing.ts';
import { FRAME_BYTES_TARGET, FrameWriter, Kind, type RecordView, readFrame } from '../wire/frame.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import type { Link, Master } from './master.ts';
import type { Question, Uplink } from './uplink.ts';

const QUESTION_KINDS: Record<Question, number> = { leave: Kind.leave, look: Kind.look, know: Kind.know };

/** Sends a frame to the other process; `unsent` is called, now or later, when it can't be. */
export type Send = (frame: Buffer, unsent: () => void) => void;

/** How long a busy worker gathers for one frame, in ms: the shortest that a timer knows. */
const GATHER_MS = 1;

/**
 * Frames that leave at once in GATHER_MS, each with what one turn brought. More than that, and the rest waits for a shared one:
 * a frame and its answer cost both processes some 20 µs and a wake-up each, as much as all else that a crossing costs. Eight, for
 * at 5,000 a second nobody is to wait, and five a millisecond are often six or seven.
 */
export const PROMPT_FRAMES_MAX = 8;

/** The worker's end: gathers a turn's records into one frame, or those of a millisecond when there are many turns. */
export class IpcUplink implements Uplink {
  readonly #writer = new FrameWriter();
  /** When the frames now counted began to leave, and how many have. */
  #promptSinceMs = Number.NEGATIVE_INFINITY;
  #prompt = 0;
  #gathering: NodeJS.Timeout | undefined;
  readonly #send: Send;
  readonly #failed: (requests: readonly number[]) => void;
  readonly #clock: () => number;
  #flushDue = false;

  /** `failed` is told of the requests of a frame that was not sent: nobody else will answer them. `clock`: monotonic, in ms. */
  constructor(send: Send, failed: (requests: readonly number[]) => void, clock = () => performance.now()) {
    this.#send = send;
    this.#failed = failed;
    this.#clock = clock;
  }

  /** Leaves with flush(), which ends each turn that crossings came in. */
  crossing(request: number, from: Identity, checked: CheckedCrossing): void {
    this.#writer.crossing(request, from, checked);
    if (this.#writer.length > FRAME_BYTES_TARGET) this.#sendFrame();
  }

  poll(request: number, desktop: Identity, epoch: number, seq: number): void {
    this.#writer.poll(request, desktop, epoch, seq);
    this.#soon();
  }

  gone(request: number, desktop: Identity): void {
    this.#writer.desktop(Kind.gone, request, desktop);
    this.#soon();
  }

  ask(question: Question, request: number, desktop: Identity): void {
    this.#writer.desktop(QUESTION_KINDS[question], request, desktop);
    this.#soon();
  }

  join(request: number, join: Join): void {
    this.#writer.join(request, JSON.stringify(join));
    this.#soon();
  }

  flush(): void {
    if (this.#writer.count === 0 || this.#gathering) return;
    const nowMs = this.#clock();
    if (nowMs - this.#promptSinceMs >= GATHER_MS) {
      this.#promptSinceMs = nowMs;
      this.#prompt = 0;
    }
    if (this.#prompt++ < PROMPT_FRAMES_MAX) this.#sendFrame();
    else this.#gathering = setTimeout(() => this.#endGathering(), GATHER_MS);
  }

  #endGathering(): void {
    this.#gathering = undefined;
    if (this.#writer.count > 0) this.#sendFrame();
  }

  #sendFrame(): void {
    const frame = this.#writer.take();
    this.#send(frame, () => this.#unsent(frame));
  }

  /** A frame of answers has come. */
  receive(frame: Uint8Array, answered: Answer): void {
    readFrame(frame, (r) => answered(r.request, r.status, r.bytes, r.start, r.end, r.retryAfterSeconds));
  }

  #unsent(frame: Uint8Array): void {
    const requests: number[] = [];
    readFrame(frame, ({ kind, request }) => {
      // The poll of a socket that is gone is still the master's: it answers it with the next ping.
      if (kind !== Kind.gone) requests.push(request);
    });
    this.#failed(requests);
  }

  /** For what comes outside of a front's turns. */
  #soon(): void {
    if (this.#writer.length > FRAME_BYTES_TARGET) this.#sendFrame();
    if (this.#flushDue) return;
    this.#flushDue = true;
    setImmediate(() => {
      this.#flushDue = false;
      this.flush();
    });
  }
}

/** The master's end of one worker: answers are gathered until the end of the master's turn. */
export class IpcLink implements Link {
  readonly #writer = new FrameWriter();
  readonly #send: (frame: Buffer) => void;

  constructor(send: (frame: Buffer) => void) {
    this.#send = send;
  }

  readonly answer: Answer = (request, status, body, start, end, retryAfterSeconds) => {
    this.#writer.answer(request, status, body, start, end, retryAfterSeconds);
    if (this.#writer.length > FRAME_BYTES_TARGET) this.flush();
  };

  flush(): void {
    if (this.#writer.count > 0) this.#send(this.#writer.take());
  }
}

/** Hands each record of a worker's frame to the master, then ends the master's turn. */
export function receiveFrame(master: Master, link: number, frame: Uint8Array): void {
  readFrame(frame, (record) => receiveRecord(master, link, record));
  master.endTurn();
}

function receiveRecord(master: Master, link: number, record: RecordView): void {
  const { request, bytes, start, end } = record;
  switch (record.kind) {
    case Kind.crossing:
      master.crossing(link, request, record, record.crossing, record.edge as EdgeNumber, bytes, start, end);
      break;
    case Kind.poll:
      master.poll(link, request, record, record.epoch, record.seq);
      break;
    case Kind.gone:
      master.gone(link, request, record.slot);
      break;
    case Kind.join:
      master.join(link, request, JSON.parse(bytes.toString('utf8', start, end)));
      break;
    case Kind.leave:
      master.leave(link, request, record);
      break;
    case Kind.look:
      master.look(link, request, record);
      break;
    case Kind.know:
      master.know(link, request, record);
      break;
    default:
      throw new Error(`frame: no record of kind ${record.kind} goes up`);
  }
}
