/**
 * A .spr as a file: a PNG whose one iTXt chunk `sprite` holds the description.
 *
 * Only chunks that pictures need are allowed, so a .spr has no location of a photograph, no compressed profile and no second
 * text. The pixels are not checked here: the relay inflates them (spr.ts), a browser leaves that to its decoder.
 * Browser-safe: relay and browser follow the same rules. Cost: O(bytes); limits are checked before memory is allocated.
 */

import { SPR_BYTES_MAX } from '../rules.ts';
import { type Description, JSON_BYTES_MAX, readDescription } from './description.ts';
import { type Chunk, type Crc32, type PngHeader, readPng, SprRefused, writePng } from './png.ts';

export const SPR_KEYWORD = 'sprite';

/** The chunks that a picture needs, and the small uncompressed ones that define its colours. */
const CHUNKS_ALLOWED = 'IHDR PLTE tRNS IDAT IEND iTXt gAMA cHRM sRGB sBIT bKGD pHYs tIME'.split(' ');

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
  const forbidden = chunks.find((chunk) => !CHUNKS_ALLOWED.includes(chunk.type));
  if (forbidden !== undefined) {
    throw new SprRefused(forbidden.type, `A .spr has no ${forbidden.type} chunk; pack the picture again to remove it.`);
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
 * Makes a .spr of a PNG: the same picture, only the allowed chunks, and this description.
 *
 * Throws  SprRefused when readSheet() would refuse the result.
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
    throw new SprRefused('iTXt', 'The iTXt chunk is compressed; a description must be stored uncompressed.');
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
