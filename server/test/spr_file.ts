/** Sprite files for tests: small, valid, and different with each call. */
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { type Chunk, writePng } from '../wire/png.ts';

let made = 0;

export interface Drawing {
  /** The size in the header. The pixels are always 16 × 8. */
  width?: number;
  height?: number;
}

/** Returns a .spr of 16 × 8 RGBA pixels in two frames. */
export function sprFile({ width = 16, height = 8 }: Drawing = {}): Buffer {
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
    { type: 'IDAT', content: deflateSync(Buffer.alloc(8 * (1 + 16 * 4))) },
    { type: 'IEND', content: Buffer.alloc(0) },
  ];
  return Buffer.from(writePng(chunks, crc32));
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
