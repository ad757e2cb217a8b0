/**
 * The cursor of a seat: what its next poll acknowledges, and what the relay may know of that.
 *
 * Both transports have one. Invariant: it is advanced only when everything before it is saved.
 */
import { CURSOR_CODES, ENDED_CODES, lostAfter, type Problem, type TransportHandlers } from './transport.ts';

export class Cursor {
  at: string;
  /** With the present cursor. It starts at 1 because a page before a reload may have sent one. */
  pollsSent = 1;

  constructor(at: string) {
    this.at = at;
  }

  /** The batch before this cursor is saved. */
  advance(to: string): void {
    this.at = to;
    this.pollsSent = 0;
  }

  /**
   * Handles a problem that answers a poll. `moved`: the relay goes on from another cursor. `ended`: so has the seat, and `close` was
   * called before the page was told. Otherwise the relay could not answer.
   */
  refused(problem: Problem, handlers: TransportHandlers, close: () => void): 'moved' | 'ended' | 'failed' {
    if (CURSOR_CODES.has(problem.code) && problem.cursor !== undefined) {
      this.at = problem.cursor;
      handlers.cursorLost(this.at);
      return 'moved';
    }
    if (!ENDED_CODES.has(problem.code)) return 'failed';
    close();
    handlers.ended(problem, lostAfter(problem, this.at, this.pollsSent));
    return 'ended';
  }
}
