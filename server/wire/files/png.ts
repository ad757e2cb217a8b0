/**
 * The PNG container: its signature and its chunks, read without copying.
 *
 * The bytes come from strangers, so every length is checked before it is used, and no memory is allocated by a length that a
 * chunk claims. Invariant: an accepted file has IHDR first, one unbroken run of IDAT, IEND last with no byte after it, and
 * every chunk's CRC is right. Browser-safe: it imports nothing, so relay and browser follow the same rules.
 * Cost: O(bytes), one small object a chunk.
 */

/** Why a file is refused. `part` is the chunk (or `file`, `json`) with the error; `message` is a sentence for its author. */
export class SprRefused extends Error {
  readonly part: string;

  constructor(part: string, message: string) {
    super(message);
    this.name = 'SprRefused';
    this.part = part;
  }
}

/** CRC-32 as PNG uses it (ISO 3309). Node passes zlib's, browsers `crc32` below: ten times slower, still 3 ms for a whole file. */
export type Crc32 = (bytes: Uint8Array) => number;

export interface Chunk {
  type: string;
  /** A view of the file's own bytes. */
  content: Uint8Array;
}

export interface PngHeader {
  /** Pixels. */
  width: number;
  height: number;
  bitDepth: number;
  colourType: number;
  interlaced: boolean;
}

export const PNG_SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

export const SHEET_SIDE_PIXELS_MAX = 4096; // pixels a side: every graphics card supports textures of this size

const CHUNKS_MAX = 1024; // chunks a file: encoders cut IDAT at 8 KiB or more, so 1 MiB needs 130; bounds the walk

const CHUNK_FRAME_BYTES = 12; // length, type and CRC around every chunk's content
const HEADER_BYTES = 13;
const PALETTE_COLOURS_MAX = 256;

/** The bit depths and the samples per pixel of each colour type (PNG, third edition, table 8). */
const COLOUR_TYPES: ReadonlyMap<number, { depths: readonly number[]; samples: number }> = new Map([
  [0, { depths: [1, 2, 4, 8, 16], samples: 1 }],
  [2, { depths: [8, 16], samples: 3 }],
  [3, { depths: [1, 2, 4, 8], samples: 1 }],
  [4, { depths: [8, 16], samples: 2 }],
  [6, { depths: [8, 16], samples: 4 }],
]);

const PALETTE_COLOUR_TYPE = 3;

/** Bytes of a tRNS by colour type; the types with alpha have none. */
const TRANSPARENCY_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 2],
  [2, 6],
]);

/**
 * All chunks of a PNG, in order, and its header.
 *
 * Owner   chunks are views of `bytes`.
 * Cost    O(bytes) for the CRCs; memory O(chunks) ≤ CHUNKS_MAX.
 * Throws  SprRefused, naming the chunk.
 */
export function readPng(bytes: Uint8Array, crc: Crc32): { header: PngHeader; chunks: Chunk[] } {
  for (let i = 0; i < PNG_SIGNATURE.length; i++) {
    if (bytes[i] !== PNG_SIGNATURE[i]) throw new SprRefused('file', 'The file does not start with the PNG signature.');
  }
  const chunks: Chunk[] = [];
  let header: PngHeader | null = null;
  let offset = PNG_SIGNATURE.length;
  while (offset < bytes.length) {
    const chunk = readChunk(bytes, offset, crc);
    offset += CHUNK_FRAME_BYTES + chunk.content.length;
    if (chunks.length === CHUNKS_MAX) throw new SprRefused('file', `The file has more than ${CHUNKS_MAX} chunks.`);
    header ??= readHeader(chunk); // refuses impossible sizes before the next chunk is read
    checkOrder(chunk, chunks, header);
    chunks.push(chunk);
    if (chunk.type === 'IEND') break;
  }
  if (header === null || chunks.at(-1)?.type !== 'IEND') {
    throw new SprRefused('file', 'The file ends before its IEND chunk.');
  }
  if (offset !== bytes.length) throw new SprRefused('IEND', 'Bytes follow the IEND chunk, which must end the file.');
  if (!chunks.some((chunk) => chunk.type === 'IDAT')) throw new SprRefused('IDAT', 'The file has no IDAT chunk.');
  return { header, chunks };
}

/**
 * The number of bytes that the IDAT chunks inflate to: every row of every pass with its filter byte.
 *
 * Cost    O(1).
 */
export function rawBytes(header: PngHeader): number {
  const bitsPerPixel = COLOUR_TYPES.get(header.colourType)!.samples * header.bitDepth;
  let total = 0;
  for (const pass of passes(header)) total += pass.rows * (1 + Math.ceil((pass.columns * bitsPerPixel) / 8));
  return total;
}

/** The sizes of the pictures in the raw bytes, in order: one, or the seven of Adam7 without the empty ones. */
export function passes(header: PngHeader): { columns: number; rows: number; rowBytes: number }[] {
  const bitsPerPixel = COLOUR_TYPES.get(header.colourType)!.samples * header.bitDepth;
  const grid = header.interlaced ? ADAM7 : [[0, 0, 1, 1]];
  return grid
    .map(([x, y, stepX, stepY]) => {
      const columns = Math.max(0, Math.ceil((header.width - x) / stepX));
      const rows = Math.max(0, Math.ceil((header.height - y) / stepY));
      return { columns, rows, rowBytes: 1 + Math.ceil((columns * bitsPerPixel) / 8) };
    })
    .filter((pass) => pass.columns > 0 && pass.rows > 0);
}

const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** Writes a PNG of these chunks, in this order. */
export function writePng(chunks: readonly Chunk[], crc: Crc32): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, chunk) => sum + CHUNK_FRAME_BYTES + chunk.content.length, PNG_SIGNATURE.length);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes.set(PNG_SIGNATURE);
  let offset = PNG_SIGNATURE.length;
  for (const { type, content } of chunks) {
    const end = offset + 8 + content.length;
    view.setUint32(offset, content.length);
    for (let i = 0; i < 4; i++) bytes[offset + 4 + i] = type.charCodeAt(i);
    bytes.set(content, offset + 8);
    view.setUint32(end, crc(bytes.subarray(offset + 4, end)));
    offset = end + 4;
  }
  return bytes;
}

/** CRC-32 in plain JavaScript, for browsers. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ bytes[i]) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc >>> 0;
});

function readChunk(bytes: Uint8Array, offset: number, crc: Crc32): Chunk {
  const left = bytes.length - offset;
  if (left < CHUNK_FRAME_BYTES) throw new SprRefused('file', `The file is cut off at byte ${offset}, inside a chunk.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, left);
  const length = view.getUint32(0);
  const type = String.fromCharCode(bytes[offset + 4], bytes[offset + 5], bytes[offset + 6], bytes[offset + 7]);
  if (!/^[A-Za-z]{4}$/.test(type)) {
    throw new SprRefused('file', `At byte ${offset + 4} a chunk's type is not four letters.`);
  }
  if (length > left - CHUNK_FRAME_BYTES) {
    throw new SprRefused(type, `The ${type} chunk claims ${length} bytes, but the file ends before that.`);
  }
  const expected = view.getUint32(8 + length);
  if (crc(bytes.subarray(offset + 4, offset + 8 + length)) !== expected) {
    throw new SprRefused(type, `The CRC of the ${type} chunk at byte ${offset} is wrong: the file is damaged.`);
  }
  return { type, content: bytes.subarray(offset + 8, offset + 8 + length) };
}

function readHeader({ type, content }: Chunk): PngHeader {
  if (type !== 'IHDR') throw new SprRefused(type, `The first chunk is ${type}; it must be IHDR.`);
  if (content.length !== HEADER_BYTES) throw new SprRefused('IHDR', `IHDR has ${content.length} bytes instead of 13.`);
  const view = new DataView(content.buffer, content.byteOffset, content.length);
  const width = view.getUint32(0);
  const height = view.getUint32(4);
  const [bitDepth, colourType, compression, filter, interlace] = content.subarray(8);
  if (width < 1 || height < 1 || width > SHEET_SIDE_PIXELS_MAX || height > SHEET_SIDE_PIXELS_MAX) {
    throw new SprRefused(
      'IHDR',
      `The sheet is ${width}×${height} pixels; a side has 1 to ${SHEET_SIDE_PIXELS_MAX} pixels.`,
    );
  }
  if (!COLOUR_TYPES.get(colourType)?.depths.includes(bitDepth)) {
    throw new SprRefused('IHDR', `PNG knows no colour type ${colourType} with ${bitDepth} bits per sample.`);
  }
  if (compression !== 0 || filter !== 0 || interlace > 1) {
    throw new SprRefused('IHDR', 'IHDR names a compression, filter or interlace method that PNG does not know.');
  }
  return { width, height, bitDepth, colourType, interlaced: interlace === 1 };
}

function checkOrder({ type, content }: Chunk, before: readonly Chunk[], header: PngHeader): void {
  const seen = (other: string) => before.some((chunk) => chunk.type === other);
  const last = before.at(-1)?.type;
  switch (type) {
    case 'IHDR':
      if (before.length > 0) throw new SprRefused('IHDR', 'IHDR appears a second time.');
      break;
    case 'PLTE':
      if (seen('PLTE') || seen('IDAT')) throw new SprRefused('PLTE', 'PLTE must appear once, before IDAT.');
      if (content.length === 0 || content.length % 3 !== 0 || content.length > 3 * PALETTE_COLOURS_MAX) {
        throw new SprRefused('PLTE', 'PLTE must hold 1 to 256 colours of 3 bytes.');
      }
      break;
    case 'IDAT':
      if (seen('IDAT') && last !== 'IDAT') throw new SprRefused('IDAT', 'The IDAT chunks must follow one another.');
      if (header.colourType === PALETTE_COLOUR_TYPE && !seen('PLTE')) {
        throw new SprRefused('PLTE', 'A sheet with a palette needs a PLTE chunk before IDAT.');
      }
      break;
    case 'IEND':
      if (content.length > 0) throw new SprRefused('IEND', 'IEND must be empty.');
      break;
    case 'tRNS':
      if (seen('tRNS') || seen('IDAT')) throw new SprRefused('tRNS', 'tRNS must appear once, before IDAT.');
      if (!isTransparency(content.length, before, header)) {
        throw new SprRefused(
          'tRNS',
          'tRNS must fit the colours: one grey, one colour, or as many as the palette before it.',
        );
      }
      break;
  }
}

/** Whether a tRNS of so many bytes fits the colour type. Some decoders refuse the picture otherwise. */
function isTransparency(bytes: number, before: readonly Chunk[], { colourType }: PngHeader): boolean {
  if (colourType !== PALETTE_COLOUR_TYPE) return bytes === TRANSPARENCY_BYTES.get(colourType);
  const palette = before.find(({ type }) => type === 'PLTE');
  return palette !== undefined && bytes <= palette.content.length / 3;
}
