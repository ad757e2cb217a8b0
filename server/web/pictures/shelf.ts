/**
 * The shelf: the characters of this desktop. Some come from the relay; the person adds others by dropping pictures.
 *
 * Invariant: a figure is on the shelf once, and its sheet is loaded.
 */
import type { Description } from '../../wire/files/description.ts';
import { part } from '../texts/part.ts';
import type { Background } from './dropped.ts';
import { keptPicture, keptPictures } from './kept_pictures.ts';
import type { Sheets } from './sheets.ts';

/** Most visitors drop nothing. */
const dropped = part(() => import('./dropped.ts'));

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
  /** By file: what a figure was made of whose background can be removed or brought back. */
  readonly #dropped = new Map<string, { source: File; background: Background }>();
  readonly #sheets: Sheets;

  constructor(sheets: Sheets) {
    this.#sheets = sheets;
  }

  has(file: string): boolean {
    return this.#find(file) !== undefined;
  }

  /**
   * Adds the characters that ship with the relay, in their order: the `first` ones, then the others, behind all else that
   * the page loads. Those of a part are fetched at once, because on a slow line each one costs a round trip; `added` is called
   * for each when it is here, with its number in the relay's list.
   */
  async addShipped(first: number, added: (figure: Figure, number: number) => void): Promise<void> {
    const shipped: (OwnFigure & { url: string })[] = await fetch('/sprites/index.json')
      .then((response) => response.json())
      .catch(() => []);
    const numbers = new Map(shipped.map(({ file }, number) => [file, number]));
    const numberOf = ({ file }: Figure) => numbers.get(file) ?? numbers.size;
    const add = async ({ file, name, url }: (typeof shipped)[number], priority: RequestPriority) => {
      const figure = await this.#addFromRelay(file, name, url, { priority });
      if (figure === undefined) return;
      this.figures.sort((a, b) => numberOf(a) - numberOf(b));
      added(figure, numberOf(figure));
    };
    await Promise.all(shipped.slice(0, first).map((one) => add(one, 'auto')));
    await Promise.all(shipped.slice(first).map((one) => add(one, 'low')));
  }

  /**
   * Adds a picture of the gallery. `isSent`: the relay of the seat has it, because the seat is at the page's relay. Returns the
   * figure, also when the shelf has it already; undefined when the picture cannot be fetched or read.
   */
  async addTaken(file: string, isSent: boolean): Promise<Figure | undefined> {
    const known = this.#find(file);
    if (known !== undefined) return known;
    const figure = await this.#addFromRelay(file, '', `/v1/sprites/${encodeURIComponent(file)}`, { isSent });
    if (figure !== undefined) this.own.push({ file, name: figure.name });
    return figure;
  }

  /** Adds the person's own characters of before a reload, from the relay of the seat. */
  async addSaved(own: readonly OwnFigure[], relay: string): Promise<void> {
    for (const { file, name } of own) await this.#addFromRelay(file, name, `${relay}/v1/sprites/${file}`);
    this.own.push(...own);
  }

  /**
   * Adds a file the person dropped. `isNew` is false when the shelf had it already.
   *
   * Throws  an Error whose message is for the person.
   */
  async addDropped(source: File, wanted?: Background): Promise<{ figure: Figure; isNew: boolean }> {
    const { toSpr } = await dropped();
    const { spr, background } = await toSpr(source, wanted);
    const added = await this.#addOwn(spr);
    if (background !== undefined) this.#dropped.set(added.figure.file, { source, background });
    return added;
  }

  /** What became of the background of a figure; undefined when there is no other version of it. */
  backgroundOf(file: string): Background | undefined {
    return this.#dropped.get(file)?.background;
  }

  /**
   * Replaces a figure by its other version: with its background, or without. Undefined when there is none.
   *
   * Throws  an Error whose message is for the person.
   */
  async swapBackground(file: string): Promise<Figure | undefined> {
    const before = this.#dropped.get(file);
    if (before === undefined) return undefined;
    const { figure } = await this.addDropped(before.source, before.background === 'cut' ? 'kept' : 'cut');
    this.remove(file);
    return figure;
  }

  /** Adds a picture that this browser keeps. Returns the figure; undefined when it keeps none with this hash. */
  async addKept(file: string): Promise<Figure | undefined> {
    const bytes = await keptPicture(file);
    return bytes && (await this.#addOwn(bytes)).figure;
  }

  /** Adds all pictures that this browser keeps. The relay need not have them. */
  async addAllKept(): Promise<void> {
    for (const { file, bytes } of await keptPictures()) if (!this.has(file)) await this.#addOwn(bytes).catch(() => {});
  }

  async #addOwn(bytes: Uint8Array<ArrayBuffer>): Promise<{ figure: Figure; isNew: boolean }> {
    const file = await this.#sheets.add(bytes);
    const known = this.#find(file);
    if (known !== undefined) return { figure: known, isNew: false };
    const { description, image } = this.#sheets.get(file);
    const figure = { file, name: description.name, description, image: image! };
    this.figures.push(figure);
    if (!this.own.some((one) => one.file === file)) this.own.push({ file, name: description.name });
    return { figure, isNew: true };
  }

  /** Removes a character whose picture the operator has removed. Returns whether there was one. */
  remove(file: string): boolean {
    const at = this.figures.findIndex((figure) => figure.file === file);
    if (at < 0) return false;
    this.figures.splice(at, 1);
    this.#dropped.delete(file);
    const own = this.own.findIndex((figure) => figure.file === file);
    if (own >= 0) this.own.splice(own, 1);
    return true;
  }

  #find(file: string): Figure | undefined {
    return this.figures.find((figure) => figure.file === file);
  }

  /** Returns the figure. A character that cannot be fetched or read is left out. */
  async #addFromRelay(
    file: string,
    name: string,
    url: string,
    { isSent = true, priority = 'auto' as RequestPriority } = {},
  ): Promise<Figure | undefined> {
    try {
      const bytes = new Uint8Array(await (await fetch(url, { priority })).arrayBuffer());
      const hash = await this.#sheets.add(bytes);
      if (isSent) this.#sheets.markSent(hash);
      const { description, image } = this.#sheets.get(hash);
      if (hash !== file || image === null) return undefined;
      const known = this.#find(file); // since the request: a shipped character may have been taken from the gallery
      if (known !== undefined) return known;
      const figure = { file, name: name || description.name, description, image };
      this.figures.push(figure);
      return figure;
    } catch {
      return undefined; // the other characters are still added
    }
  }
}
