/** Sprite files for tests: small, valid, and different with each call. */
import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { type Chunk, writePng } from '../wire/files/png.ts';
import { RAW_BYTES_MAX } from '../wire/files/spr.ts';

let made = 0;

export interface Drawing {
  /** The size in the header. The pixels are always 16 × 8. */
  width?: number;
  height?: number;
}

/** Returns a .spr of 16 × 8 RGBA pixels in two frames. */
export function sprFile({ width = 16, height = 8 }: Drawing = {}): Buffer {
  return sprWithPixels(width, height, deflateSync(Buffer.alloc(8 * (1 + 16 * 4))));
}

/** Returns a .spr of this size in two frames, with these deflated RGBA pixels. */
export function sprWithPixels(width: number, height: number, packed: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const description = {
    ...{ format: 'spr/1', name: `Test ${process.pid}-${made++}`, author: 'a test', licence: 'CC0-1.0' },
    frame: { width: width / 2, height },
    animations: { idle: { frames: [0, 1], fps: 4 } },
  };
  const chunks: Chunk[] = [
    { type: 'IHDR', content: header },
    { type: 'iTXt', content: Buffer.from(`sprite\0\0\0\0\0${JSON.stringify(description)}`) },
    { type: 'IDAT', content: packed },
    { type: 'IEND', content: Buffer.alloc(0) },
  ];
  return Buffer.from(writePng(chunks, crc32));
}

let packedWrong: Buffer | undefined;

/** Returns a .spr of 65 KB that inflates to 64 MiB and is wrong in its last row; another one with each call. */
export function wrongInLastRow(): Buffer {
  if (!packedWrong) {
    const raw = Buffer.alloc(RAW_BYTES_MAX);
    raw[RAW_BYTES_MAX - (1 + 4096 * 4)] = 5; // an unknown filter
    packedWrong = deflateSync(raw, { level: 9 });
  }
  return sprWithPixels(4096, 4096, packedWrong);
}

/** Returns a .spr of nearly 1 MiB; another one with each call. */
export function largeSprFile(): Buffer {
  return sprWithPixels(
    512,
    500,
    deflateSync(
      randomBytes(500 * (1 + 512 * 4)).map((byte, at) => (at % (1 + 512 * 4) === 0 ? 0 : byte)),
      { level: 0 },
    ),
  );
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
