/**
 * What other programs show of a link with a sprite, `/?sprite=HASH`: a picture of that sprite, which the relay draws.
 *
 * It is made of the sprite's file alone: what else an invitation says is in the fragment, which no server gets.
 * Cost: a picture blocks its thread for some ten ms, so SHEET_PIXELS_MAX and PAUSE_MS bound how often, and the last ones are kept.
 */
import { crc32 } from 'node:zlib';
import { PNG } from 'pngjs';
import { LruCache } from '../store/lru_cache.ts';
import type { Description } from '../wire/files/description.ts';
import { crop } from '../wire/files/pixels.ts';
import { readSheet } from '../wire/files/sheet.ts';
import { ProblemError } from '../wire/problem.ts';

/** Pixels of a sheet that is drawn: three times those of the shipped characters. A larger one has no picture. */
export const SHEET_PIXELS_MAX = 2 ** 19;

/** ms from one picture that is drawn to the next. Chats show one for each link, and keep it. */
export const PAUSE_MS = 250;

/** Bytes of the pictures that are kept: some hundred. */
const KEPT_BYTES_MAX = 2 ** 20;

/** px. Chats cut a picture of another shape. */
export const SIZE = { width: 600, height: 315 };
const HORIZON = 267; // px from the upper side
const SPRITE_MAX = 216; // px of the longer side of the sprite's frame
const COLOURS = { sky: Buffer.from('e9e6ffff', 'hex'), ground: Buffer.from('7c6cffff', 'hex') };

export class LinkPreviews {
  readonly #nowMs: () => number;
  readonly #kept = new LruCache<Buffer>(KEPT_BYTES_MAX);
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Returns a PNG of the sprite in a .spr file. Throws relay-busy, and not-found for a file with too many pixels. */
  of(file: string, spr: Uint8Array): Buffer {
    const kept = this.#kept.get(file);
    if (kept !== undefined) return kept;
    const { header, description } = readSheet(spr, crc32);
    if (header.width * header.height > SHEET_PIXELS_MAX) {
      throw new ProblemError('not-found', 'This sprite file is too large for a picture.');
    }
    const nowMs = this.#nowMs();
    if (nowMs - this.#drawnMs < PAUSE_MS) {
      throw new ProblemError('relay-busy', 'The relay draws another picture; try again in a second.');
    }
    this.#drawnMs = nowMs;
    const picture = draw(spr, description);
    this.#kept.set(file, picture, picture.length);
    return picture;
  }
}

/** Draws the first frame in which the sprite stands, on a piece of ground. */
function draw(spr: Uint8Array, { frame, hitbox, animations }: Description): Buffer {
  const sheet = PNG.sync.read(Buffer.from(spr));
  const [cell] = animations.idle.frames;
  const columns = sheet.width / frame.width;
  const from = { left: (cell % columns) * frame.width, top: Math.floor(cell / columns) * frame.height };
  const { data } = crop(sheet, from.left, from.top, frame);
  const fit = SPRITE_MAX / Math.max(frame.width, frame.height);
  const scale = fit < 1 ? fit : Math.floor(fit); // its pixels stay squares
  const size = { width: Math.round(frame.width * scale), height: Math.round(frame.height * scale) };
  const left = Math.round((SIZE.width - size.width) / 2);
  const top = Math.max(0, HORIZON - Math.round((hitbox[1] + hitbox[3]) * scale));
  const picture = new PNG({ ...SIZE });
  picture.data.fill(COLOURS.sky).fill(COLOURS.ground, 4 * SIZE.width * HORIZON);
  for (let y = 0; y < Math.min(size.height, SIZE.height - top); y++) {
    for (let x = 0; x < size.width; x++) {
      const at = 4 * (Math.floor(y / scale) * frame.width + Math.floor(x / scale));
      const to = 4 * ((top + y) * SIZE.width + left + x);
      for (let i = 0; i < 3; i++) picture.data[to + i] += (data[at + 3] / 255) * (data[at + i] - picture.data[to + i]);
    }
  }
  return PNG.sync.write(picture, { colorType: 2, filterType: 0, deflateLevel: 6, deflateStrategy: 0 });
}

/** Puts the picture at this address into the head of a page, as chats read it. */
export function withPreview(page: string, image: string, words: string): string {
  const tag = (property: string, content: string) => `<meta property="${property}" content="${content}" />`;
  const { width, height } = SIZE;
  const tags = [
    tag('og:title', 'Sprites'),
    tag('og:description', words),
    tag('og:image', image),
    tag('og:image:width', `${width}`),
    tag('og:image:height', `${height}`),
    '<meta name="twitter:card" content="summary_large_image" />',
  ];
  return page.replace('</title>', () => ['</title>', ...tags].join('\n    '));
}
