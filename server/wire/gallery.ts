/** A publication: a picture for the gallery, with its title, author and licence. It is checked once, in the worker. */
import { checkFile, checkName, checkObject, malformed } from './fields.ts';

/** Body of a publication in bytes. */
export const PUBLICATION_BYTES_MAX = 1024;

/** Licences, as SPDX names them, that allow copying, which is what a gallery does. */
export const LICENCES = ['CC0-1.0', 'CC-BY-4.0', 'CC-BY-SA-4.0'] as const;

export interface Publication {
  /** SHA-256 of the .spr file. */
  file: string;
  title: string;
  /** The person who drew it; may be empty. */
  author: string;
  licence: string;
}

/** A publication as the operator sees it, in GET /admin/gallery. */
export interface GalleryEntry extends Publication {
  /** When it was published, and when it was accepted, by the wall clock in ms. */
  sinceMs: number;
  acceptedMs: number | null;
  /** The relay of the cluster whose operator has accepted it, and which has its file. Absent: this one. */
  relay?: string;
}

/** Throws malformed, with the field. Source PROTOCOL.md#gallery */
export function checkPublication(value: unknown): Publication {
  const { file, title, author = '', licence } = checkObject(value, 'body');
  const publication = {
    file: checkFile(file, 'file'),
    title: checkName(title, 'title'),
    author: checkName(author, 'author'),
    licence: licence as string,
  };
  if (publication.title === '') throw malformed('title', 'must not be empty');
  if (!LICENCES.includes(publication.licence as never)) throw malformed('licence', `must be ${LICENCES.join(', ')}`);
  return publication;
}
