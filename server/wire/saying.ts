/**
 * A saying: a line of text that others in the world hear. It is checked once, in the process that received it.
 */
import { ProblemError } from './problem.ts';
import { normalizeName, whyInvalidName } from './text.ts';

/** Text of a saying in bytes of UTF-8: three or four lines of a speech bubble. */
export const SAYING_TEXT_BYTES_MAX = 280;

/** Body of a saying in bytes, as of a crossing: its text with half of it escaped. */
export const SAYING_BODY_BYTES_MAX = 1024;

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
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes.subarray(start, end)));
  } catch {
    throw malformed('body', 'must be JSON in UTF-8');
  }
  return checkSaying(value);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Checks a saying that was already parsed from JSON. Throws malformed (with the field). Source PROTOCOL.md#sayings */
export function checkSaying(value: unknown): Saying {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('body', 'must be an object');
  const { saying, text } = value as Record<string, unknown>;
  if (typeof saying !== 'number' || !Number.isSafeInteger(saying) || saying < 1) {
    throw malformed('saying', 'must be a whole number from 1 to 2^53 - 1');
  }
  if (typeof text !== 'string') throw malformed('text', 'must be a string');
  const line = normalizeName(text);
  const why = line === '' ? 'must not be empty' : whyInvalidName(line, SAYING_TEXT_BYTES_MAX);
  if (why) throw malformed('text', why);
  return { saying, text: line };
}

function malformed(field: string, why: string): ProblemError {
  return new ProblemError('malformed', `${field}: ${why}.`, { field });
}
