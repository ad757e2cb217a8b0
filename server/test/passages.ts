/** Checked crossings and passages of tests, each with a body of its own. */

import type { CheckedCrossing } from '../wire/crossing.ts';
import { NO_HEAD, type Passage } from '../wire/passage.ts';
import type { EdgeNumber } from '../wire/rules.ts';

/** A crossing that leaves by `edge`. */
export function checkedCrossing(crossing: number, edge: EdgeNumber, passage: Buffer | string): CheckedCrossing {
  const body = typeof passage === 'string' ? Buffer.from(passage) : passage;
  return { crossing, edge, body, start: 0, end: body.length };
}

/** A passage that enters by `edge`; its event is head[0, headLength) and then all of `body`. */
export function passageOf(edge: EdgeNumber, body: Buffer, head = NO_HEAD, headLength = head.length): Passage {
  return { edge, head, headLength, body, start: 0, end: body.length };
}
