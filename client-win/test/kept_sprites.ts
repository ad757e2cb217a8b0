/** The sprites that a client has kept in its data folder, for the tests. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of the saved state that the tests look at. */
export interface SavedState {
  sprites: { name: string; x: number; y: number }[];
  leaving: unknown[];
  /** None until a relay has given it one. */
  seat?: unknown;
}

/** The state that the client last saved in this folder. */
export function readSavedState(folder: string): SavedState {
  const path = join(folder, 'kept.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { sprites: [], leaving: [] };
}

/** Gives a client one more sprite that it has kept, with its middle at x and its foot at y. */
export function keepSprite(folder: string, spr: Buffer, name: string, x: number, y: number): void {
  const file = createHash('sha256').update(spr).digest('hex');
  mkdirSync(join(folder, 'files', 'own'), { recursive: true });
  writeFileSync(join(folder, 'files', 'own', file), spr);
  const { sprites } = readSavedState(folder);
  sprites.push({ ...{ file, scale: 2, fromShelf: true, facing: 'right' }, name, x, y });
  writeFileSync(join(folder, 'kept.json'), JSON.stringify({ sprites }));
}
