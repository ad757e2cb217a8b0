/**
 * A saying: a line of text that others in the world hear. It is checked once, in the process that received it.
 */
import { ok } from 'node:assert';
import { checkObject, checkRisingNumber, malformed, readJson } from './fields.ts';
import { ProblemError } from './problem.ts';
import { EDGES, SAYING_BODY_BYTES_MAX, SAYING_TEXT_BYTES_MAX } from './rules.ts';
import { normalizeName, whyInvalidName } from './text.ts';

/** The edge of a saying whose speaker may be anywhere in the world. */
export const NO_EDGE = 4;
ok(NO_EDGE === EDGES.length);

export interface Saying {
  /** The speaker's own rising number, 1 … 2^53 − 1. */
  saying: number;
  /** In the form of names: NFC, without hidden characters and without space around it. Not empty. */
  text: string;
}

/** Checks the body of a saying, bytes[start, end). Throws malformed (with the field), too-large. */
export function readSaying(bytes: Uint8Array, start: number, end: number): Saying {
  if (end - start > SAYING_BODY_BYTES_MAX) {
    throw new ProblemError('too-large', `The body of a saying is at most ${SAYING_BODY_BYTES_MAX} bytes.`);
  }
  return checkSaying(readJson(bytes, start, end));
}

/** Checks a saying that was already parsed from JSON. Throws malformed (with the field). Source PROTOCOL.md#sayings */
export function checkSaying(value: unknown): Saying {
  const { saying, text } = checkObject(value, 'body');
  const number = checkRisingNumber(saying, 'saying');
  if (typeof text !== 'string') throw malformed('text', 'must be a string');
  const line = normalizeName(text);
  const why = line === '' ? 'must not be empty' : whyInvalidName(line, SAYING_TEXT_BYTES_MAX);
  if (why) throw malformed('text', why);
  return { saying: number, text: line };
}
