/**
 * The members of a request's JSON, checked one by one.
 *
 * Each check returns the value, or throws malformed with the name of the member. The name may have two parts, `parent` and `member`,
 * which are put together only for a problem, because a stage has many members.
 */
import { blankIdentity, readId } from './identity.ts';
import { ProblemError } from './problem.ts';
import { ANIMATION_LENGTH_MAX, FILE_DIGITS } from './rules.ts';
import { normalizeName, whyInvalidName } from './text.ts';

/** The hash of a .spr file. */
export const FILE = new RegExp(`^[0-9a-f]{${FILE_DIGITS}}$`);
const ANIMATION = /^[a-z][a-z0-9-]*$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function malformed(field: string, why: string): ProblemError {
  return new ProblemError('malformed', `${field}: ${why}.`, { field });
}

/** Parses a body, bytes[start, end). */
export function readJson(bytes: Uint8Array, start = 0, end = bytes.length): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes.subarray(start, end)));
  } catch {
    throw new ProblemError('malformed', 'The body must be JSON in UTF-8.', { field: 'body' });
  }
}

export function checkObject(value: unknown, member: string, parent = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed(parent + member, 'must be an object');
  }
  return value as Record<string, unknown>;
}

export function checkNumber(value: unknown, member: string, min: number, max: number, parent = ''): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw malformed(parent + member, `must be a number from ${min} to ${max}`);
  }
  return value;
}

export function checkWhole(value: unknown, member: string, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw malformed(member, `must be a whole number from ${min} to ${max}`);
  }
  return value as number;
}

export function checkSwitch(value: unknown, member: string): boolean {
  if (typeof value !== 'boolean') throw malformed(member, 'must be true or false');
  return value;
}

/** Checks the rising number of a crossing or a saying: 1 … 2^53 − 1. */
export function checkRisingNumber(value: unknown, member: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw malformed(member, 'must be a whole number from 1 to 2^53 - 1');
  }
  return value;
}

/** Whether this can be the hash of a .spr file. */
export function isFileHash(value: unknown): value is string {
  return typeof value === 'string' && FILE.test(value);
}

/** Checks the hash of a .spr file. */
export function checkFile(value: unknown, member: string, parent = ''): string {
  if (!isFileHash(value)) {
    throw malformed(parent + member, `must be the SHA-256 of a .spr file in ${FILE_DIGITS} lowercase hex digits`);
  }
  return value;
}

/** Checks the id of a desktop, which need not be here: an answer must not tell whether it is. */
export function checkDesktop(value: unknown, member: string): { slot: number; generation: number } {
  const identity = blankIdentity();
  if (typeof value !== 'string' || !readId(value, identity)) throw malformed(member, 'must be the id of a desktop');
  return { slot: identity.slot, generation: identity.generation };
}

/** Checks a name. Returns it in the form in which names are stored. */
export function checkName(value: unknown, member: string): string {
  if (typeof value !== 'string') throw malformed(member, 'must be a string');
  const name = normalizeName(value);
  const why = whyInvalidName(name);
  if (why) throw malformed(member, why);
  return name;
}

/** Checks the name of a desktop that somebody means: it must not be empty. */
export function checkPerson(value: unknown, member: string): string {
  const name = checkName(value, member);
  if (name === '') throw malformed(member, 'must not be empty');
  return name;
}

export function checkPersons(value: unknown, member: string, countMax: number): string[] {
  if (!Array.isArray(value) || value.length > countMax) {
    throw malformed(member, `must be a list of at most ${countMax} names`);
  }
  return value.map((one, index) => checkPerson(one, `${member}[${index}]`));
}

export function checkAnimation(value: unknown, member: string, parent = ''): string {
  if (typeof value !== 'string' || value.length > ANIMATION_LENGTH_MAX || !ANIMATION.test(value)) {
    throw malformed(
      parent + member,
      `must be at most ${ANIMATION_LENGTH_MAX} characters of a-z, 0-9 and -, beginning with a letter`,
    );
  }
  return value;
}

export function checkFacing(value: unknown, member: string, parent = ''): 'left' | 'right' {
  if (value !== 'left' && value !== 'right') throw malformed(parent + member, 'must be left or right');
  return value;
}
