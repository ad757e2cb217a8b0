/** Sprite files of an attacker: small ones, large ones, and ones that inflate to 64 MiB and are wrong in the last row. */
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { writePng } from '../../wire/files/png.ts';
import type { Random } from './random.ts';

/** Pixels on a side of the largest sheet: 4 bytes each are 64 MiB. */
const BOMB_SIDE = 4096;

/** A filter byte that PNG does not have. */
const FILTER_WRONG = 5;

/** Pixels on a side of the largest picture of noise, which deflate can't shrink: a file just below 1 MiB. */
const NOISE_SIDE_MAX = 511;

/** The same of a picture of 400 KB: more than usual ones have. */
const NOISE_SIDE = 316;

export interface Picture {
  /** SHA-256 in hex. */
  hash: string;
  bytes: Buffer;
}

let made = 0;
let packedBomb: Buffer | undefined;
const packedNoise = new Map<number, Buffer>();

/** Returns a valid file of some 300 bytes, different with each call. */
export function smallPicture(): Picture {
  return png(16, 8, deflateSync(Buffer.alloc(8 * (1 + 16 * 4))));
}

/** Returns a valid file just below the limit of 1 MiB, different with each call. */
export const largePicture = (random: Random): Picture => noise(random, NOISE_SIDE_MAX);

/** Returns a valid file of 400 KB, different with each call. */
export const mediumPicture = (random: Random): Picture => noise(random, NOISE_SIDE);

/** Pictures of one size share their pixels; their descriptions differ. */
function noise(random: Random, side: number): Picture {
  const packed = packedNoise.get(side) ?? packNoise(random, side);
  packedNoise.set(side, packed);
  return png(side, side, packed);
}

function packNoise(random: Random, side: number): Buffer {
  const raw = Buffer.alloc(side * (1 + side * 4));
  for (let row = 0; row < side; row++) {
    const from = row * (1 + side * 4) + 1;
    for (let at = from; at < from + side * 4; at++) raw[at] = random.below(256);
  }
  return deflateSync(raw, { level: 0 });
}

/** Returns a file of 65 KB that inflates to 64 MiB, valid up to the last row; its hash is different with each call. */
export function bomb(): Picture {
  if (packedBomb === undefined) {
    const rowBytes = 1 + BOMB_SIDE * 4;
    const raw = Buffer.alloc(BOMB_SIDE * rowBytes);
    raw[(BOMB_SIDE - 1) * rowBytes] = FILTER_WRONG;
    packedBomb = deflateSync(raw, { level: 9 });
  }
  return png(BOMB_SIDE, BOMB_SIDE, packedBomb);
}

function png(width: number, height: number, packed: Buffer): Picture {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const description = {
    format: 'spr/1',
    name: `Hostile ${process.pid}-${made++}`,
    frame: { width, height },
    animations: { idle: { frames: [0], fps: 4 } },
  };
  const chunks = [
    { type: 'IHDR', content: header },
    { type: 'iTXt', content: Buffer.from(`sprite\0\0\0\0\0${JSON.stringify(description)}`) },
    { type: 'IDAT', content: packed },
    { type: 'IEND', content: Buffer.alloc(0) },
  ];
  const bytes = Buffer.from(writePng(chunks, crc32));
  return { hash: createHash('sha256').update(bytes).digest('hex'), bytes };
}
