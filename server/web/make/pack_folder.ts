/** The files of a dropped folder that a Shimeji pack may have, each with its path as its name. */
import { phrase } from '../texts/language.ts';
import { PACK_ENTRIES_MAX } from './zip.ts';

export const FOLDER_DEPTH_MAX = 6; // folders in each other: a pack has two or three
const PACK_FILE = /\.(png|xml)$/i;

/** Throws an Error whose message is for the person. */
export async function filesIn(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const files: File[] = [];
  const folders = [{ entry: folder, path: folder.name, depth: 1 }];
  let count = 0;
  for (let here = folders.pop(); here !== undefined; here = folders.pop()) {
    const { entry, path, depth } = here;
    for (const one of await entriesOf(entry)) {
      if (++count > PACK_ENTRIES_MAX) throw new Error(phrase('pack.too-many', { count: PACK_ENTRIES_MAX }));
      const its = { path: `${path}/${one.name}`, depth: depth + 1 };
      if (one.isFile && PACK_FILE.test(one.name)) files.push(await fileOf(one as FileSystemFileEntry, its.path));
      else if (one.isDirectory && depth < FOLDER_DEPTH_MAX) {
        folders.push({ entry: one as FileSystemDirectoryEntry, ...its });
      }
    }
  }
  if (!files.some(({ name }) => /\.xml$/i.test(name))) throw new Error(phrase('pack.no-actions'));
  return files;
}

/** A reader gives some entries at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const more = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (more.length === 0 || entries.length > PACK_ENTRIES_MAX) return entries;
    entries.push(...more);
  }
}

async function fileOf(entry: FileSystemFileEntry, path: string): Promise<File> {
  const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
  return new File([file], path, { type: file.type });
}
