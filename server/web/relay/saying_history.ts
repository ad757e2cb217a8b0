/**
 * The history of sayings: the last ones that this desktop heard, and how many it missed between them.
 *
 * Oldest first, in the order of the relay's events. It is not kept over a reload.
 */
import type { Neighbour } from './transport.ts';

export const HISTORY_MAX = 50; // lines: what a person scrolls through; the oldest is removed first

export interface SaidLine {
  kind: 'said';
  from: Neighbour;
  text: string;
  /** This desktop said it. */
  own: boolean;
  /** When it came: ms since 1970. */
  atMs: number;
}

interface MissedLine {
  kind: 'missed';
  /** How many sayings were lost here. */
  sayings: number;
  atMs: number;
}

export type HistoryLine = SaidLine | MissedLine;

export class SayingHistory {
  readonly lines: HistoryLine[] = [];

  /** Adds a line. Missed sayings with nothing heard between them are one line. */
  add(line: HistoryLine): void {
    const last = this.lines.at(-1);
    if (line.kind === 'missed' && last?.kind === 'missed') {
      last.sayings += line.sayings;
      last.atMs = line.atMs;
      return;
    }
    this.lines.push(line);
    if (this.lines.length > HISTORY_MAX) this.lines.shift();
  }
}
