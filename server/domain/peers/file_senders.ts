/**
 * File senders: the relay from which each sprite file can be fetched, as crossings and stages of other relays have named it.
 *
 * A file counts for the desktop that has named it first. A desktop that names more files than its share replaces its own, so it can't
 * make the relay forget those of others.
 * Limits: FILES_MAX files, FILES_PER_DESKTOP_MAX of each desktop. Cost: O(1); 170 … 360 bytes a file, most when each desktop has one.
 */
import { STAGE_SPRITES_MAX } from '../../wire/rules.ts';

/** Sprite files whose sender is remembered. A picture whose sender is forgotten stays a stand-in where it has not been fetched. */
export const FILES_MAX = 16_384;

/** Files that count for one desktop: twice those that one stage may name. So it takes 256 desktops to replace all. */
export const FILES_PER_DESKTOP_MAX = 2 * STAGE_SPRITES_MAX;

interface Naming {
  /** The relay that has named the file last. */
  relay: string;
  /** The desktop for which the file counts. */
  desktop: string;
}

export class FileSenders {
  /** By file; the one that was named last is the last. */
  readonly #namings = new Map<string, Naming>();
  /** The files of each desktop, in the same order. */
  readonly #filesOf = new Map<string, Set<string>>();

  /** A crossing or a stage of this desktop, which another relay has sent, names a file. */
  note(file: string, relay: string, desktop: string): void {
    const owner = this.#namings.get(file)?.desktop ?? `${relay}/${desktop}`;
    this.#remove(file);
    this.#namings.set(file, { relay, desktop: owner });
    const own = this.#filesOf.get(owner) ?? new Set();
    this.#filesOf.set(owner, own.add(file));
    if (own.size > FILES_PER_DESKTOP_MAX) this.#removeFirst(own);
    if (this.#namings.size > FILES_MAX) this.#removeFirst(this.#namings);
  }

  /** The relay that has named a file last; undefined when none did, or when that is forgotten. */
  relayOf(file: string): string | undefined {
    return this.#namings.get(file)?.relay;
  }

  #removeFirst(files: { keys(): Iterator<string> }): void {
    this.#remove(files.keys().next().value as string);
  }

  #remove(file: string): void {
    const naming = this.#namings.get(file);
    if (naming === undefined) return;
    this.#namings.delete(file);
    const own = this.#filesOf.get(naming.desktop) as Set<string>;
    own.delete(file);
    if (own.size === 0) this.#filesOf.delete(naming.desktop);
  }
}
