/** The sentences about sayings that a person reads: how many others heard one, why one was refused, how many were missed. */
import { type Problem, wordsOf } from './transport.ts';

/** Describes a saying that the relay has not answered yet. */
export function sendingWords(connected: boolean): string {
  return connected ? 'Sending …' : 'No connection. It is sent as soon as the relay answers.';
}

export function heardWords(heard: number | null): string {
  if (heard === null) return 'Said.';
  return heard === 0 ? 'Nobody is here to hear you.' : `${heard.toLocaleString('en')} heard you.`;
}

export function missedWords(sayings: number): string {
  return sayings === 1 ? '1 saying was missed' : `${sayings.toLocaleString('en')} sayings were missed`;
}

/** Returns why a saying was refused, and what to do. For a code that this page does not know, it returns the relay's sentence. */
export function refusalWords(problem: Problem): string {
  const { code } = problem;
  return REFUSALS[code] ?? (code.startsWith('http-5') ? BUSY : wordsOf(problem));
}

const BUSY = 'The relay is busy. Press Enter again in a moment.';

const REFUSALS: Record<string, string> = {
  'too-fast': 'That was too fast. Wait a moment, then press Enter again.',
  'sayings-off': 'The operator of this relay has turned sayings off.',
  malformed: 'This text has characters that cannot be said. Change it, then press Enter again.',
  'relay-busy': BUSY,
  draining: BUSY,
  'desktop-ended': 'The connection was lost before the relay answered. Press Enter to say it again.',
};
