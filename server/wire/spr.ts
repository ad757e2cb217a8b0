/**
 * The relay's reader of .spr files: the checks of sheet.ts, and the pixels.
 *
 * The files are uploaded by strangers, so limits are checked before memory is allocated: a file of ≤ 1 MiB may have a sheet
 * that inflates to at most RAW_BYTES_MAX, and the inflater stops at exactly the size that the header implies.
 * Invariant: any PNG decoder decodes an accepted file to exactly the size in its header.
 * Cost: O(raw bytes), synchronous; the worst file takes about 0.1 s and 64 MiB for that time. Node only (zlib).
 */
import { crc32, inflateSync } from 'node:zlib';
import type { Description } from './description.ts';
import { type PngHeader, passes, rawBytes, SHEET_SIDE_PIXELS_MAX, SprRefused } from './png.ts';
import { readSheet, type Sheet } from './sheet.ts';

export type { Animation, Behaviour, Description } from './description.ts';
export { SprRefused } from './png.ts';
export { SPR_BYTES_MAX } from './sheet.ts';

export interface Spr {
  /** Of the whole sheet, in pixels. */
  width: number;
  height: number;
  /** Cells of its grid. */
  frames: number;
  sheet: PngHeader;
  description: Description;
}

/** Bytes inflated: the largest sheet at 4 bytes a pixel with a filter byte a row; deeper colours must be smaller sheets. */
export const RAW_BYTES_MAX = SHEET_SIDE_PIXELS_MAX * (1 + 4 * SHEET_SIDE_PIXELS_MAX);

const FILTER_MAX = 4; // Paeth, the last of PNG's filters
const INFLATE_STEP_BYTES = 65_536; // bytes zlib inflates at a time; at most one step too many is inflated

/**
 * The checked .spr in `bytes`.
 *
 * Owner   the result does not refer to `bytes`.
 * Cost    O(raw bytes) ≤ RAW_BYTES_MAX; as much memory while it runs.
 * Throws  SprRefused: which chunk or field, and why, as a sentence for the author of the file.
 */
export function readSpr(bytes: Uint8Array): Spr {
  const sheet = readSheet(bytes, crc32);
  checkPixels(sheet);
  const { header, frames, description } = sheet;
  return { width: header.width, height: header.height, frames, sheet: header, description };
}

function checkPixels({ header, chunks }: Sheet): void {
  const expected = rawBytes(header);
  if (expected > RAW_BYTES_MAX) {
    throw new SprRefused('IHDR', `The sheet inflates to ${expected} bytes; at most ${RAW_BYTES_MAX} are allowed.`);
  }
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ content }) => content));
  const raw = inflate(packed, expected);
  if (raw.length !== expected) {
    throw new SprRefused('IDAT', `The IDAT chunks inflate to ${raw.length} bytes; the header promises ${expected}.`);
  }
  let offset = 0;
  for (const { rows, rowBytes } of passes(header)) {
    for (let row = 0; row < rows; row++, offset += rowBytes) {
      if (raw[offset] > FILTER_MAX) throw new SprRefused('IDAT', `A row of pixels has an unknown filter.`);
    }
  }
}

function inflate(packed: Buffer, expected: number): Buffer {
  try {
    // With `info` zlib returns the bytes and the engine that counted its input; Node's types do not say so.
    const { buffer, engine } = inflateSync(packed, {
      maxOutputLength: expected,
      chunkSize: INFLATE_STEP_BYTES,
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten !== packed.length) {
      throw new SprRefused('IDAT', 'Bytes follow the pixels inside the IDAT chunks.');
    }
    return buffer;
  } catch (error) {
    if (error instanceof SprRefused) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new SprRefused('IDAT', `The IDAT chunks inflate to more than the ${expected} bytes the header promises.`);
    }
    throw new SprRefused('IDAT', 'The IDAT chunks are not a whole zlib stream.');
  }
}
