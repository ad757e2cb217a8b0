/**
 * The messages of one kind that the relay has not answered, by their numbers, oldest first.
 *
 * A message is sent again under its number over each new line, and after an answer that decides nothing; or, of a kind that is sent `once`,
 * never: it is old by the time there is another line.
 */
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import type { SocketLine } from './socket_line.ts';
import { backoffMs, type Environment, isVerdict, type Problem, type VerdictOf } from './transport.ts';

/** What a message is sent over now, and what ends all of them. */
export interface Sending extends Environment {
  line(): SocketLine | null;
  signal: AbortSignal;
}

interface Waiting<Accepted> {
  readonly message: object;
  readonly resolve: (verdict: VerdictOf<Accepted>) => void;
  /** How often it was sent. One that was sent before this connection counts once. */
  sent: number;
  /** How often the answer decided nothing. */
  undecided: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Unanswered<Accepted> {
  readonly #waiting = new Map<number, Waiting<Accepted>>();
  readonly #sending: Sending;
  readonly #once: boolean;

  constructor(sending: Sending, { once = false } = {}) {
    this.#sending = sending;
    this.#once = once;
  }

  /** Sends a message until the relay has decided; once, if the line is open. */
  post(number: number, message: object, wasSent = false): Promise<VerdictOf<Accepted>> {
    if (this.#sending.signal.aborted || (this.#once && !this.#sending.line()?.isOpen))
      return Promise.resolve('unknown');
    return new Promise((resolve) => {
      this.#waiting.set(number, { message, resolve, sent: wasSent ? 1 : 0, undecided: 0, timer: undefined });
      this.#send(number);
    });
  }

  /** There is a new line. */
  opened(): void {
    for (const number of this.#waiting.keys()) this.#send(number);
  }

  /** The line is closed. */
  closed(): void {
    if (this.#once) this.end();
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
  }

  /** Handles the answer to a message. When it decides nothing, the message is sent again. */
  async answered(number: number, accepted: Accepted, problem: Problem | undefined): Promise<void> {
    const one = this.#waiting.get(number);
    if (one === undefined) return;
    if (problem === undefined || this.#once || isVerdict(problem, one.sent > 1)) {
      this.#settle(number, problem ? { refused: problem } : accepted);
      return;
    }
    clearTimeout(one.timer);
    const { sent } = one;
    const { random, sleep, signal } = this.#sending;
    await sleep(backoffMs(one.undecided++, random), signal);
    if (one.sent === sent) this.#send(number); // else it was sent over another line
  }

  /** Nothing is asked any more. */
  end(): void {
    for (const number of this.#waiting.keys()) this.#settle(number, 'unknown');
  }

  #settle(number: number, verdict: VerdictOf<Accepted>): void {
    const one = this.#waiting.get(number);
    this.#waiting.delete(number);
    clearTimeout(one?.timer);
    one?.resolve(verdict);
  }

  /** A line that has no answer for too long is closed, and another one is opened. */
  #send(number: number): void {
    const one = this.#waiting.get(number);
    const line = this.#sending.line();
    if (!line?.isOpen || one === undefined) return;
    one.sent++;
    line.send(one.message);
    clearTimeout(one.timer);
    one.timer = setTimeout(() => line.close(), ANSWER_MS_MAX);
  }
}
