/**
 * The relay's reader of .spr files: the checks of sheet.ts, and the pixels.
 *
 * The files are uploaded by strangers, so limits are checked before memory is allocated: a file of ≤ 1 MiB may have a sheet
 * that inflates to at most RAW_BYTES_MAX, and the inflater stops at the size that the header implies. There are two readers:
 * checkSpr() for the relay, which inflates on zlib's threads and holds a small window; readSpr() for commands and tests, which
 * is synchronous and holds the whole picture.
 * Invariant: any PNG decoder decodes an accepted file to exactly the size in its header, and both readers accept the same files.
 * Cost: O(raw bytes). Node only (zlib).
 */
import { crc32, createInflate, inflateSync } from 'node:zlib';
import type { Description } from './description.ts';
import { type Chunk, type PngHeader, passes, rawBytes, SHEET_SIDE_PIXELS_MAX, SprRefused } from './png.ts';
import { readSheet, type Sheet } from './sheet.ts';

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

/** Bytes zlib inflates at a time: 0.1 ms on one of its threads. checkSpr() holds two such steps, readSpr() inflates one too many. */
const INFLATE_STEP_BYTES = 65_536;

/**
 * The checked .spr in `bytes`.
 *
 * Owner   the result does not refer to `bytes`.
 * Cost    O(raw bytes) ≤ RAW_BYTES_MAX; as much memory while it runs; the worst file takes about 0.1 s.
 * Throws  SprRefused: which chunk or field, and why, as a sentence for the author of the file.
 */
export function readSpr(bytes: Uint8Array): Spr {
  const sheet = readSheet(bytes, crc32);
  checkPixels(sheet);
  return sprOf(sheet);
}

/**
 * Inflates the pixels of a PNG, and drops them. Decoders that do not check them return what their memory held.
 *
 * Cost    as readSpr().
 * Throws  SprRefused, when a decoder would not get exactly the size in the header.
 */
export function checkPixels({ header, chunks }: Pick<Sheet, 'header' | 'chunks'>): void {
  const rows = new RowReader(header);
  const packed = packedPixels(chunks);
  try {
    // With `info` zlib returns the bytes and the engine that counted its input; Node's types do not say so.
    const { buffer, engine } = inflateSync(packed, {
      maxOutputLength: rows.expected,
      chunkSize: INFLATE_STEP_BYTES,
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    rows.read(buffer);
    rows.end(engine.bytesWritten, packed.length);
  } catch (error) {
    throw refusalOf(error, rows);
  }
}

/**
 * The same for a relay, which must not stop for a picture.
 *
 * Owner   `bytes` must not change until the promise is settled; the result does not refer to them.
 * Cost    on the caller's thread the chunks' CRCs (0.3 ms for 1 MiB), then each row's filter byte; zlib's threads inflate.
 *         Memory: two steps of INFLATE_STEP_BYTES. It refuses at the first row, or byte, that is wrong.
 * Throws  SprRefused, as readSpr().
 */
export async function checkSpr(bytes: Uint8Array): Promise<Spr> {
  const sheet = readSheet(bytes, crc32);
  const rows = new RowReader(sheet.header);
  const packed = packedPixels(sheet.chunks);
  const inflater = createInflate({ chunkSize: INFLATE_STEP_BYTES });
  inflater.end(packed);
  try {
    // If the loop is left early, its iterator destroys the inflater, which then reads no further.
    for await (const raw of inflater as AsyncIterable<Buffer>) {
      rows.read(raw);
      // A full step is this loop's alone. Freed now, it does not wait for a garbage collection, with 1,000 others.
      const isWhole = raw.length === raw.buffer.byteLength;
      if (isWhole) (raw.buffer as ArrayBuffer).transfer(0);
    }
    rows.end(inflater.bytesWritten, packed.length);
  } catch (error) {
    throw refusalOf(error, rows);
  }
  return sprOf(sheet);
}

function sprOf({ header, frames, description }: Sheet): Spr {
  return { width: header.width, height: header.height, frames, sheet: header, description };
}

function packedPixels(chunks: Chunk[]): Uint8Array {
  const contents = chunks.filter(({ type }) => type === 'IDAT').map(({ content }) => content);
  return contents.length === 1 ? contents[0] : Buffer.concat(contents);
}

/**
 * Reads the inflated bytes of a picture as they come: it finds the filter byte of each row, and counts.
 *
 * Cost: O(rows), not O(bytes).
 */
class RowReader {
  /** Bytes that the header promises. */
  readonly expected: number;
  readonly #passes: ReturnType<typeof passes>;
  #count = 0;
  #pass = 0;
  #row = 0;
  /** Where the next row begins, counted from the first byte of the picture. */
  #rowAt = 0;

  /** Throws SprRefused when the header promises more than RAW_BYTES_MAX. */
  constructor(header: PngHeader) {
    this.expected = rawBytes(header);
    if (this.expected > RAW_BYTES_MAX) {
      throw new SprRefused(
        'IHDR',
        `The sheet inflates to ${this.expected} bytes; at most ${RAW_BYTES_MAX} are allowed.`,
      );
    }
    this.#passes = passes(header);
  }

  read(raw: Uint8Array): void {
    const end = this.#count + raw.length;
    if (end > this.expected) throw this.tooLong();
    while (this.#rowAt < end) {
      if (raw[this.#rowAt - this.#count] > FILTER_MAX) {
        throw new SprRefused('IDAT', 'A row of pixels has an unknown filter.');
      }
      const { rows, rowBytes } = this.#passes[this.#pass];
      this.#rowAt += rowBytes;
      if (++this.#row === rows) {
        this.#row = 0;
        this.#pass++;
      }
    }
    this.#count = end;
  }

  /** Call it after the last byte: zlib has used `usedBytes` of `packedBytes`. */
  end(usedBytes: number, packedBytes: number): void {
    if (usedBytes !== packedBytes) {
      throw new SprRefused('IDAT', 'Bytes follow the pixels inside the IDAT chunks.');
    }
    if (this.#count !== this.expected) {
      throw new SprRefused(
        'IDAT',
        `The IDAT chunks inflate to ${this.#count} bytes; the header promises ${this.expected}.`,
      );
    }
  }

  tooLong(): SprRefused {
    return new SprRefused(
      'IDAT',
      `The IDAT chunks inflate to more than the ${this.expected} bytes the header promises.`,
    );
  }
}

function refusalOf(error: unknown, rows: RowReader): unknown {
  if (error instanceof SprRefused) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE') return rows.tooLong();
  // The data is at fault unless zlib had no memory.
  if (code?.startsWith('Z_') && code !== 'Z_MEM_ERROR')
    return new SprRefused('IDAT', 'The IDAT chunks are not a whole zlib stream.');
  return error;
}
