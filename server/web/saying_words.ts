/** What the page tells a person about sayings: how many heard one, why one was refused, how many were missed. */
import type { Problem } from './transport.ts';

/** What is said of a saying that has no answer yet. */
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

/** Says why a saying was refused, and what to do. A code that is not known here is told in the relay's own words. */
export function refusalWords({ code, title, detail }: Problem): string {
  return REFUSALS[code] ?? (code.startsWith('http-5') ? BUSY : (detail ?? title));
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
