/** The query parameters of the admin port's routes. A value that has not the form throws malformed. */
import { malformed } from '../wire/fields.ts';

/** A parameter that must be one of `words`; the first one when it is missing. */
export function oneOf<T extends string>(value: unknown, field: string, words: readonly T[]): T {
  if (value === undefined) return words[0];
  if (!words.includes(value as T)) throw malformed(field, `must be ${words.join(' or ')}`);
  return value as T;
}

/** A parameter that must be a whole number; `absent` when it is missing. */
export function wholeNumber(value: unknown, field: string, absent: number, min = 0, max = 999_999_999): number {
  if (value === undefined) return absent;
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (number < min || number > max) throw malformed(field, `must be a whole number from ${min} to ${max}`);
  return number;
}
