/** What a trial and the process of its attacker send each other. */
import type { AssaultOptions } from './assault.ts';

export interface Order extends Omit<AssaultOptions, 'random' | 'from'> {
  attack: string;
  seed: number;
}

/** The first message of an attacker; the report is the second. */
export const STARTED = 'started';

export interface Report {
  counts: Record<string, number>;
  notes: string[];
}
