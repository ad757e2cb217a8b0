/**
 * The sheets this page can draw, by the hash of their file. Each is fetched once, checked and decoded.
 *
 * The files come from strangers. A file is read up to its size limit, must have the hash it was requested by, and must
 * pass the same checks as in the relay before the browser's decoder sees it. A sprite whose sheet cannot be had is drawn
 * as a parcel and can still be thrown, so a sprite is never lost because its picture is missing.
 * Cost: decoded pixels, at most DECODED_PIXELS_MAX; sheets that no sprite uses are evicted first.
 */

import { BEHAVIOUR_DEFAULT, type Description, PLAYED, playedFor } from '../../wire/files/description.ts';
import { crc32 } from '../../wire/files/png.ts';
import { readSheet } from '../../wire/files/sheet.ts';
import { SPR_BYTES_MAX } from '../../wire/rules.ts';
import type { Nature, Point, Size } from '../motion/simulation.ts';
import { readUpTo } from '../relay/read_up_to.ts';
import { sha256 } from './sha256.ts';

export interface Sheet {
  description: Description;
  /** Null while the file is loading, and when it is missing. */
  image: ImageBitmap | null;
  state: 'loading' | 'loaded' | 'missing' | 'removed';
}

interface SheetHandlers {
  /** A sheet that was loading is now loaded or missing. */
  changed(file: string): void;
  /** Whether something on this page is drawn with the sheet. */
  inUse(file: string): boolean;
  /** The address of the relay to load sheets from. Default: that of the page. */
  relay?(): string;
}

const DECODED_PIXELS_MAX = 50_331_648; // pixels of all decoded sheets: three of the largest, 192 MiB

export const SHOWN_SIDE_MAX = 320; // px of a frame's longer side on screen: strangers' art must not cover the desktop
export const SHOWN_SIDE_MIN = 16; // px of a frame's longer side on screen: large enough for a pointer to grab
export const NAME_LENGTH_MAX = 32; // characters of a sprite's name, as many as can be typed: a longer one does not fit on a phone
const FETCH_TIMEOUT_MS = 20_000; // ms for one file of at most 1 MiB

export const PARCEL: Description = {
  format: 'spr/1',
  name: 'Parcel',
  author: '',
  licence: '',
  frame: { width: 32, height: 32 },
  scale: 2,
  hitbox: [4, 8, 24, 24],
  animations: { idle: { frames: [0], fps: 1 } },
  behaviour: BEHAVIOUR_DEFAULT,
};

export class Sheets {
  readonly #sheets = new Map<string, Sheet>();
  /** Files that were added on this page and that the relay may not have yet. */
  readonly #unsent = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #handlers: SheetHandlers;

  constructor(handlers: SheetHandlers) {
    this.#handlers = handlers;
  }

  /** Returns the sheet of a file as it is now. The first call for a file starts to fetch it. */
  get(file: string): Sheet {
    const known = this.#sheets.get(file);
    if (known !== undefined) return known;
    const sheet: Sheet = { description: PARCEL, image: null, state: 'loading' };
    this.#sheets.set(file, sheet);
    void this.#fetch(file, sheet);
    return sheet;
  }

  /** Adds a file and returns its hash. Throws SprRefused when it is not a valid .spr. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const { description } = readSheet(bytes, crc32);
    const file = await sha256(bytes);
    const image = await decode(bytes);
    this.#sheets.set(file, { description, image, state: 'loaded' });
    this.#unsent.set(file, bytes);
    return file;
  }

  /** Returns the bytes of a file that the relay may not have yet. */
  unsent(file: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#unsent.get(file);
  }

  /** The relay has this file. */
  markSent(file: string): void {
    this.#unsent.delete(file);
  }

  /** The operator has removed this picture: it is not drawn any more. A caller that still shows it shows a parcel. */
  remove(file: string): void {
    this.#sheets.set(file, { description: PARCEL, image: null, state: 'removed' });
    this.#unsent.delete(file);
  }

  /** Forgets which sheets are missing, so that they are fetched again: the relay may have them by now. */
  retryMissing(): void {
    for (const [file, sheet] of this.#sheets) if (sheet.state === 'missing') this.#sheets.delete(file);
  }

  async #fetch(file: string, sheet: Sheet): Promise<void> {
    try {
      const response = await fetch(`${this.#handlers.relay?.() ?? ''}/v1/sprites/${file}`, {
        signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      });
      if (!response.ok || response.body === null) throw new Error(`The relay answered ${response.status}.`);
      const bytes = await readUpTo(response.body, SPR_BYTES_MAX);
      if ((await sha256(bytes)) !== file) throw new Error('The file is not the one that was requested.');
      const { description, header } = readSheet(bytes, crc32);
      this.#evictFor(header.width * header.height, file);
      sheet.image = await decode(bytes);
      sheet.description = description;
      sheet.state = 'loaded';
    } catch {
      sheet.state = 'missing';
    }
    this.#handlers.changed(file);
  }

  /** Evicts unused sheets, the oldest first, until `pixels` more fit. Throws when evicting all of them is not enough. */
  #evictFor(pixels: number, newFile: string): void {
    let used = pixels;
    for (const { image } of this.#sheets.values()) used += (image?.width ?? 0) * (image?.height ?? 0);
    for (const [file, { image }] of this.#sheets) {
      if (used <= DECODED_PIXELS_MAX) return;
      if (image === null || file === newFile || this.#handlers.inUse(file)) continue;
      used -= image.width * image.height;
      image.close();
      this.#sheets.delete(file);
    }
    if (used > DECODED_PIXELS_MAX) throw new Error('There is no room for another large sheet.');
  }
}

/** Returns the scale a sprite is shown at: `scale`, unless that is too large for a screen or too small to grab. */
export function shownScale({ frame }: Description, scale: number): number {
  const side = Math.max(frame.width, frame.height);
  return Math.max(SHOWN_SIDE_MIN / side, Math.min(scale, SHOWN_SIDE_MAX / side));
}

/** Returns the nature of a sprite with this description, at this scale. */
export function natureOf(description: Description, scale: number): Nature {
  const { hitbox, behaviour } = description;
  const shown = shownScale(description, scale);
  return { width: hitbox[2] * shown, height: hitbox[3] * shown, ...behaviour };
}

/** Returns the cell of the sheet for an animation that began `elapsedMs` ago. Some play once, all others repeat. */
export function cellOf({ animations }: Description, animation: string, elapsedMs: number): number {
  const played = playedFor(animations, animation);
  const { frames, fps } = animations[played];
  const count = Math.max(0, Math.floor((elapsedMs * fps) / 1000));
  return frames[PLAYED[animation]?.once ? Math.min(count, frames.length - 1) : count % frames.length];
}

/** Returns where on the sheet a cell is. */
export function placeOf({ frame }: Description, sheet: Size, cell: number): Point {
  const columns = Math.max(1, Math.floor(sheet.width / frame.width));
  return { x: (cell % columns) * frame.width, y: Math.floor(cell / columns) * frame.height };
}

/** Returns what a sprite that arrived is called: by its own name, or by that of its picture when its own is empty or too long. */
export function spriteName(own: string, { name }: Description): string {
  return own !== '' && own.length <= NAME_LENGTH_MAX ? own : name;
}

async function decode(bytes: Uint8Array<ArrayBuffer>): Promise<ImageBitmap> {
  return createImageBitmap(new Blob([bytes], { type: 'image/png' }));
}
