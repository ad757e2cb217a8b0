/**
 * A .spr as a file: a PNG whose one iTXt chunk `sprite` holds the description.
 *
 * Only chunks that pictures need are allowed, so a .spr carries no camera's position, no profile to inflate and no second
 * text. What is not looked at here is the pixels themselves: the relay inflates them (spr.ts), a browser's decoder does.
 * Browser-safe: one rule for relay and browser. Cost: O(bytes); limits come before memory.
 */
import { type Description, JSON_BYTES_MAX, readDescription } from './description.ts';
import { type Chunk, type Crc32, type PngHeader, readPng, SprRefused, writePng } from './png.ts';

export const SPR_BYTES_MAX = 1_048_576; // bytes: 1 MiB, a hundred times what a character of 32×32 needs

export const SPR_KEYWORD = 'sprite';

/** Chunks a picture needs, and the small uncompressed ones that say how its colours are meant. */
export const CHUNKS_ALLOWED = 'IHDR PLTE tRNS IDAT IEND iTXt gAMA cHRM sRGB sBIT bKGD pHYs tIME'.split(' ');

export interface Sheet {
  header: PngHeader;
  chunks: Chunk[];
  description: Description;
  /** Cells of the grid, 1 … FRAMES_MAX. */
  frames: number;
}

/**
 * The checked sheet in `bytes`; its pixels are not yet inflated.
 *
 * Owner   chunks are views of `bytes`.
 * Throws  SprRefused: which chunk or field, and why.
 */
export function readSheet(bytes: Uint8Array, crc: Crc32): Sheet {
  if (bytes.length > SPR_BYTES_MAX) {
    throw new SprRefused('file', `The file has ${bytes.length} bytes; at most ${SPR_BYTES_MAX} are allowed.`);
  }
  const { header, chunks } = readPng(bytes, crc);
  const stranger = chunks.find((chunk) => !CHUNKS_ALLOWED.includes(chunk.type));
  if (stranger !== undefined) {
    throw new SprRefused(
      stranger.type,
      `A .spr has no ${stranger.type} chunk; packing the picture anew leaves it out.`,
    );
  }
  const texts = chunks.filter((chunk) => chunk.type === 'iTXt');
  if (texts.length !== 1) {
    throw new SprRefused('iTXt', `There are ${texts.length} iTXt chunks; a .spr has exactly one.`);
  }
  const description = readDescription(readText(texts[0].content), header);
  const { width, height } = description.frame;
  return { header, chunks, description, frames: (header.width / width) * (header.height / height) };
}

/**
 * The .spr of a PNG: its picture as it is, without chunks a .spr does not have, and with this description.
 *
 * Throws  SprRefused when the result would not be read back.
 */
export function writeSheet(png: Uint8Array, description: object, crc: Crc32): Uint8Array<ArrayBuffer> {
  const kept = readPng(png, crc).chunks.filter(({ type }) => type !== 'iTXt' && CHUNKS_ALLOWED.includes(type));
  kept.splice(1, 0, { type: 'iTXt', content: writeText(JSON.stringify(description)) });
  const bytes = writePng(kept, crc);
  readSheet(bytes, crc);
  return bytes;
}

/** iTXt: keyword 0, compression flag, compression method, language 0, translated keyword 0, UTF-8 text. */
function readText(content: Uint8Array): string {
  const keywordEnd = content.indexOf(0);
  const keyword = String.fromCharCode(...content.subarray(0, Math.min(keywordEnd < 0 ? 80 : keywordEnd, 80)));
  if (keyword !== SPR_KEYWORD) throw new SprRefused('iTXt', `The iTXt chunk's keyword is not "${SPR_KEYWORD}".`);
  if (content[keywordEnd + 1] !== 0) {
    throw new SprRefused('iTXt', 'The iTXt chunk is compressed; a description is stored as it is.');
  }
  const languageEnd = content.indexOf(0, keywordEnd + 3);
  const translatedEnd = languageEnd < 0 ? -1 : content.indexOf(0, languageEnd + 1);
  if (translatedEnd < 0) throw new SprRefused('iTXt', 'The iTXt chunk ends before its text.');
  const text = content.subarray(translatedEnd + 1);
  if (text.length > JSON_BYTES_MAX) {
    throw new SprRefused('iTXt', `The description has ${text.length} bytes; at most ${JSON_BYTES_MAX} are allowed.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch {
    throw new SprRefused('iTXt', 'The description is not UTF-8.');
  }
}

function writeText(json: string): Uint8Array {
  return new TextEncoder().encode(`${SPR_KEYWORD}\0\0\0\0\0${json}`);
}
