/**
 * Text that people give: names of desktops, worlds and sprites.
 *
 * Invariant: what passes is well-formed Unicode in NFC, within its bytes, with nothing invisible in it that could
 * break a line, a terminal or the reading order of a page.
 */

/** A name in UTF-8 bytes: two lines of a tag; 16 characters of the widest scripts. */
export const NAME_BYTES_MAX = 64;

const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Emoji whose parts are held together by invisible characters: families, professions, flags of regions. */
const EMOJI = /\p{RGI_Emoji}/gv;

/** Why `text` can't be a name, as the end of a sentence beginning with its field; undefined when it can. */
export function whyNoName(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (FORBIDDEN.test(text) && FORBIDDEN.test(text.replace(EMOJI, '')))
    return 'must not have control or invisible characters';
  if (Buffer.byteLength(text) > NAME_BYTES_MAX) return `must be at most ${NAME_BYTES_MAX} bytes of UTF-8`;
  return undefined;
}

/** The one form a name is kept in: NFC, no space around it. */
export function tidyName(text: string): string {
  return text.normalize('NFC').trim();
}
