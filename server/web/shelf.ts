/**
 * The shelf: the characters of this desktop. Some come from the relay; the person adds others by dropping pictures.
 *
 * Invariant: a figure is on the shelf once, and its sheet is loaded.
 */
import type { Description } from '../wire/description.ts';
import { toSpr } from './dropped.ts';
import type { Sheets } from './sheets.ts';

/** One character on the shelf. */
export interface Figure {
  file: string;
  name: string;
  description: Description;
  image: ImageBitmap;
}

/** A character the person added. It is saved with the desktop. */
export type OwnFigure = Pick<Figure, 'file' | 'name'>;

export class Shelf {
  readonly figures: Figure[] = [];
  readonly own: OwnFigure[] = [];
  readonly #sheets: Sheets;

  constructor(sheets: Sheets) {
    this.#sheets = sheets;
  }

  has(file: string): boolean {
    return this.figures.some((figure) => figure.file === file);
  }

  /** Adds the characters that ship with the relay. */
  async addShipped(): Promise<void> {
    const shipped: (OwnFigure & { url: string })[] = await fetch('/sprites/index.json')
      .then((response) => response.json())
      .catch(() => []);
    for (const { file, name, url } of shipped) await this.#addFromRelay(file, name, url);
  }

  /** Adds the person's own characters of before a reload. */
  async addSaved(own: readonly OwnFigure[]): Promise<void> {
    for (const { file, name } of own) await this.#addFromRelay(file, name, `/v1/sprites/${file}`);
    this.own.push(...own);
  }

  /**
   * Adds a file the person dropped. `isNew` is false when the shelf had it already.
   *
   * Throws  an Error whose message is for the person.
   */
  async addDropped(dropped: File): Promise<{ figure: Figure; bytes: Uint8Array<ArrayBuffer>; isNew: boolean }> {
    const bytes = await toSpr(dropped);
    const file = await this.#sheets.add(bytes);
    const known = this.figures.find((figure) => figure.file === file);
    if (known !== undefined) return { figure: known, bytes, isNew: false };
    const { description, image } = this.#sheets.get(file);
    const figure = { file, name: description.name, description, image: image! };
    this.figures.push(figure);
    this.own.push({ file, name: description.name });
    return { figure, bytes, isNew: true };
  }

  /** Removes a character whose picture the operator has removed. Returns whether there was one. */
  remove(file: string): boolean {
    const at = this.figures.findIndex((figure) => figure.file === file);
    if (at < 0) return false;
    this.figures.splice(at, 1);
    const own = this.own.findIndex((figure) => figure.file === file);
    if (own >= 0) this.own.splice(own, 1);
    return true;
  }

  /** A character that cannot be fetched or read is left out. */
  async #addFromRelay(file: string, name: string, url: string): Promise<void> {
    try {
      const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
      const hash = await this.#sheets.add(bytes);
      this.#sheets.markSent(hash);
      const { description, image } = this.#sheets.get(hash);
      if (hash === file && image !== null) this.figures.push({ file, name, description, image });
    } catch {
      // The other characters are still added.
    }
  }
}
