/**
 * Text that people enter: names of desktops, worlds and sprites.
 *
 * Invariant: an accepted name is well-formed Unicode in NFC, at most NAME_BYTES_MAX long, and has no hidden characters
 * (hidden.ts), except as parts of an emoji; and it is not made of combining marks alone.
 */
import { HIDDEN, ONLY_MARKS } from './hidden.ts';
import { NAME_BYTES_MAX } from './rules.ts';

/** Emoji whose parts are joined by invisible characters: families, professions, flags of regions. */
const EMOJI = '\\p{RGI_Emoji}';

/** Made for the first text that may have such an emoji: it takes 20 ms, a twentieth of a relay's start, and as long to parse a literal of it. */
let emoji: RegExp | undefined;

/** Why `text` can't be a name, as the end of a sentence that begins with its field; undefined when it can. */
export function whyInvalidName(text: string, bytesMax = NAME_BYTES_MAX): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (HIDDEN.test(text) && HIDDEN.test(withoutEmoji(text))) return 'must not have control or invisible characters';
  if (ONLY_MARKS.test(text)) return 'must have more than combining marks';
  if (Buffer.byteLength(text) > bytesMax) return `must be at most ${bytesMax} bytes of UTF-8`;
  return undefined;
}

/** The form in which names are stored and compared: NFC, without space around them. */
export function normalizeName(text: string): string {
  return text.normalize('NFC').trim();
}

function withoutEmoji(text: string): string {
  emoji ??= new RegExp(EMOJI, 'gv');
  return text.replace(emoji, '');
}
