/** What a page says about a problem, in its language. */
import { phrase, problemWords } from '../texts/language.ts';
import type { Problem } from './transport.ts';

/** Returns a sentence about a problem, for a person to read: the relay's own, unless the page has one in its language. */
export function wordsOf(problem: Problem): string {
  return problemWords(problem.code) ?? problem.detail ?? titleOf(problem);
}

/** Returns a few words about a problem, to be read beside a sprite. */
export function labelOf(problem: Problem): string {
  return problemWords(problem.code) ?? titleOf(problem);
}

/** A title that was made up, because the answer had no problem document, is English. */
function titleOf({ code, title, status }: Problem): string {
  return code.startsWith('http-') ? phrase('relay.answered', { status: `${status}` }) : title;
}
