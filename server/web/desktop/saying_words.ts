/** The sentences about sayings that a person reads: how many others heard one, why one was refused, how many were missed. */

import type { ProblemCode } from '../../wire/problem.ts';
import { wordsOf } from '../relay/problem_words.ts';
import type { Problem } from '../relay/transport.ts';
import { counted, type Plain, phrase } from '../texts/language.ts';

/** Describes a saying that the relay has not answered yet. */
export function sendingWords(connected: boolean): string {
  return phrase(connected ? 'saying.sending' : 'saying.waiting');
}

export function heardWords(heard: number | null): string {
  if (heard === null) return phrase('saying.said');
  return heard === 0 ? phrase('saying.nobody') : counted('saying.heard', heard);
}

export function missedWords(sayings: number): string {
  return counted('saying.missed', sayings);
}

/** Returns why a saying was refused, and what to do. For a code that this page does not know, it returns the relay's sentence. */
export function refusalWords(problem: Problem): string {
  const { code } = problem;
  const key = code.startsWith('http-5') ? 'saying.busy' : REFUSALS.get(code);
  return key === undefined ? wordsOf(problem) : phrase(key);
}

const REFUSALS: ReadonlyMap<string, Plain> = new Map<ProblemCode, Plain>([
  ['too-fast', 'saying.too-fast'],
  ['sayings-off', 'saying.off'],
  ['malformed', 'saying.malformed'],
  ['relay-busy', 'saying.busy'],
  ['draining', 'saying.busy'],
  ['desktop-ended', 'saying.ended'],
]);
