/**
 * The sheets this page can draw, by the hash of their file: fetched once, checked, decoded.
 *
 * Files come from strangers. A file is read up to its limit, must have the hash it is called by, and must pass the same
 * checks as in the relay before the browser's decoder sees it. What cannot be had is drawn as a parcel and can be thrown
 * on: a sprite never gets lost for want of its picture.
 * Cost: decoded pixels, up to DECODED_PIXELS_MAX at once; who is not on screen makes room first.
 */
import { BEHAVIOUR_DEFAULT, type Description } from '../wire/description.ts';
import { crc32 } from '../wire/png.ts';
import { readSheet, SPR_BYTES_MAX } from '../wire/sheet.ts';
import { sha256 } from './sha256.ts';
import type { Nature } from './simulation.ts';

export interface Look {
  description: Description;
  /** Null while it is on its way, or when it cannot be had. */
  image: ImageBitmap | null;
  state: 'coming' | 'here' | 'missing';
}

export const DECODED_PIXELS_MAX = 50_331_648; // pixels of all decoded sheets: three of the largest, 192 MiB

export const SHOWN_SIDE_MAX = 320; // px of a frame's longer side on screen: strangers' art must not cover the desktop
export const SHOWN_SIDE_MIN = 16; // px of it: what a pointer can take hold of
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
  readonly #looks = new Map<string, Look>();
  /** Files made on this page, until the relay has them. */
  readonly #own = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Called when a look has changed from coming to here or missing. */
  readonly #changed: (file: string) => void;

  constructor(changed: (file: string) => void) {
    this.#changed = changed;
  }

  /** What is known of a file now; asked for the first time it is fetched. */
  look(file: string): Look {
    const known = this.#looks.get(file);
    if (known !== undefined) return known;
    const look: Look = { description: PARCEL, image: null, state: 'coming' };
    this.#looks.set(file, look);
    void this.#fetch(file, look);
    return look;
  }

  /** Takes a file made or dropped here. Throws SprRefused when it is no .spr. Returns its hash. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const { description } = readSheet(bytes, crc32);
    const file = await sha256(bytes);
    const image = await decode(bytes);
    this.#looks.set(file, { description, image, state: 'here' });
    this.#own.set(file, bytes);
    return file;
  }

  /** The bytes of a file the relay may not have yet. */
  unsent(file: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#own.get(file);
  }

  sent(file: string): void {
    this.#own.delete(file);
  }

  /** Asks again for what could not be had: the relay may have it now. */
  retry(): void {
    for (const [file, look] of this.#looks) if (look.state === 'missing') this.#looks.delete(file);
  }

  async #fetch(file: string, look: Look): Promise<void> {
    try {
      const answer = await fetch(`/v1/sprites/${file}`, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
      if (!answer.ok || answer.body === null) throw new Error(`The relay answered ${answer.status}.`);
      const bytes = await readUpTo(answer.body, SPR_BYTES_MAX);
      if ((await sha256(bytes)) !== file) throw new Error('The file is not the one that was asked for.');
      const { description, header } = readSheet(bytes, crc32);
      this.#makeRoom(header.width * header.height, file);
      look.image = await decode(bytes);
      look.description = description;
      look.state = 'here';
    } catch {
      look.state = 'missing';
    }
    this.#changed(file);
  }

  /** Forgets decoded sheets, longest known first, until so many pixels fit; throws when even that is not enough. */
  #makeRoom(pixels: number, newcomer: string): void {
    let used = pixels;
    for (const { image } of this.#looks.values()) used += (image?.width ?? 0) * (image?.height ?? 0);
    for (const [file, { image }] of this.#looks) {
      if (used <= DECODED_PIXELS_MAX) return;
      if (image === null || file === newcomer || this.inUse(file)) continue;
      used -= image.width * image.height;
      image.close();
      this.#looks.delete(file);
    }
    if (used > DECODED_PIXELS_MAX) throw new Error('There is no room for another large sheet.');
  }

  /** Whether a sprite on this page wears this sheet. */
  inUse: (file: string) => boolean = () => true;
}

/** The scale a sprite is shown at: its own, unless that would fill the screen or be too small to take hold of. */
export function shownScale({ frame }: Description, scale: number): number {
  const side = Math.max(frame.width, frame.height);
  return Math.max(SHOWN_SIDE_MIN / side, Math.min(scale, SHOWN_SIDE_MAX / side));
}

/** The nature of a sprite that looks like this, at a scale of its own. */
export function natureOf(description: Description, scale: number): Nature {
  const { hitbox, behaviour } = description;
  const shown = shownScale(description, scale);
  return { width: hitbox[2] * shown, height: hitbox[3] * shown, ...behaviour };
}

/** Which cell of the sheet shows an animation that began `elapsedMs` ago; `land` plays once, all others turn. */
export function cellOf({ animations }: Description, mode: string, elapsedMs: number): number {
  const { frames, fps } = animations[mode] ?? animations.idle;
  const count = Math.max(0, Math.floor((elapsedMs * fps) / 1000));
  return frames[mode === 'land' ? Math.min(count, frames.length - 1) : count % frames.length];
}

async function decode(bytes: Uint8Array<ArrayBuffer>): Promise<ImageBitmap> {
  return createImageBitmap(new Blob([bytes], { type: 'image/png' }));
}

async function readUpTo(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > bytesMax) {
      await reader.cancel();
      throw new Error('The file is larger than a .spr may be.');
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
