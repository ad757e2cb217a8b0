/**
 * Links that the program for Windows or Linux opens. What it reads is in client-win/core/relay/relay_link.h.
 */

const AUTHOR_BYTES_MAX = 64; // UTF-8, what the program accepts; a .spr may have 400

/** The link that puts a picture of this relay's gallery onto the desktop, after a question there. */
export function takeInApp(
  origin: string,
  { file, title, author }: { file: string; title: string; author: string },
): string {
  const link = `sprites:${origin}/#take=${file}&name=${encodeURIComponent(title)}`;
  const isShort = new TextEncoder().encode(author).length <= AUTHOR_BYTES_MAX;
  return author !== '' && isShort ? `${link}&author=${encodeURIComponent(author)}` : link;
}
