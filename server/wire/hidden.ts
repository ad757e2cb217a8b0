/**
 * Hidden characters: those that break a line, change the reading order of the text around them, or show nothing, so that
 * two texts look the same or one looks empty.
 *
 * They follow from Unicode's properties: control (Cc), format (Cf), surrogate (Cs) and separator (Zl, Zp) characters, and
 * every character with Default_Ignorable_Code_Point (fillers of Hangul, variation selectors, joiners, tags, reserved ones). No property
 * has the blank ones below: they are letters and symbols whose glyph is empty. Spaces (Zs) are not hidden.
 * hidden.vectors.json lists the resulting ranges, which core/text/text.cc of the Windows client has too.
 * Source  Unicode Standard §5.21 (default ignorable code points); UnicodeData.txt for the names of the blank ones.
 */

/**
 * Blank, but with no property that says so: the Braille pattern without dots, the object replacement character, the two
 * Egyptian blanks, the Khitan filler, the null notehead.
 */
const BLANK = '\\u2800\\ufffc\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}';

export const HIDDEN = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}${BLANK}]`, 'u');

/**
 * Nothing but marks that stand on any character (those of general use, and enclosing ones), and spaces: there is nothing that they stand on, so
 * the text shows over what is beside it. Marks of one script show a place holder instead. hidden.vectors.json lists the ranges, and
 * core/text/text.cc has them, too.
 */
export const ONLY_MARKS =
  /^\p{Zs}*(?:(?=\p{Script=Inherited})\p{Mn}|\p{Me})(?:(?=\p{Script=Inherited})\p{Mn}|[\p{Me}\p{Zs}])*$/u;

/** A symbol, or a keycap, that the variation selector U+FE0F turns into an emoji: there the selector shows. */
export const EMOJI_STYLE = /\p{Extended_Pictographic}\ufe0f|[#*0-9]\ufe0f\u20e3/gu;
