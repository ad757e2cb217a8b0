/** Kept pictures: those that the visitor made in the editor. They are on the shelf of every desktop in this browser. */

import { phrase } from '../texts/language.ts';
import { readAllStored, readStored, removeStored, writeStored } from './browser_store.ts';

/** Pictures: a shelf has room for about as many, and each has at most 1 MiB. */
export const KEPT_MAX = 24;

/** The key of the picture that was handed over; the others have their file as a key. */
const HANDED_OVER = 'handed-over';

interface Kept {
  key: string;
  file: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** When it was kept: the shelf shows the oldest first. */
  ms: number;
}

/** Keeps a picture. Throws an Error whose message is for the person. */
export async function keepPicture(file: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const kept = await keptPictures();
  if (kept.some((one) => one.file === file)) return;
  if (kept.length >= KEPT_MAX) {
    throw new Error(phrase('kept.full', { count: KEPT_MAX }));
  }
  await write(file, file, bytes);
}

async function write(key: string, file: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await writeStored('pictures', key, { key, file, bytes, ms: Date.now() } satisfies Kept).catch(() => {
    throw new Error(phrase('kept.no-room'));
  });
}

/** Stores a picture until the next one is handed over, for a desktop that opens now. Throws an Error whose message is for the person. */
export async function handOver(file: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await write(HANDED_OVER, file, bytes);
}

export async function keptPictures(): Promise<Kept[]> {
  return (await readAllStored<Kept>('pictures')).filter(({ key }) => key !== HANDED_OVER).sort((a, b) => a.ms - b.ms);
}

/** Returns a picture that is kept or was handed over, or undefined when there is none with this hash. */
export async function keptPicture(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const kept = await readStored<Kept>('pictures', file);
  const handedOver = await readStored<Kept>('pictures', HANDED_OVER);
  return kept?.bytes ?? (handedOver?.file === file ? handedOver.bytes : undefined);
}

export async function forgetPicture(file: string): Promise<void> {
  await removeStored('pictures', file);
}
