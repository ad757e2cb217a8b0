/** `npm run admin -- backup`: copies the data directory. It asks no relay: the files are such that a copy can be made while one runs. */
import { existsSync } from 'node:fs';
import { constants, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { Misused } from '../../tools/command.ts';
import { copyJournal } from '../journal/backup.ts';
import { FolderDisk } from '../journal/disk.ts';
import { checkJournal } from '../journal/inspect.ts';
import { JOURNAL_FOLDER } from '../roles/journaling.ts';
import { counted, type Print } from './admin_query.ts';

/** What is not in a backup: the journal, which has a copy of its own, recordings, and files that are being written. */
const LEFT_OUT = /^(journal|recordings|sprites\/partial)$|\.(recording|new)$|\.\d+\.[0-9a-f]{12}$/;

/**
 * Copies the data directory `data` to a new folder. It appears under its name when it is whole; a relay can start with it.
 *
 * Throws  Misused; Error that says why there is no backup.
 */
export async function backupCommand(
  words: readonly string[],
  data: string,
  folder: string,
  print: Print,
): Promise<void> {
  if (words.length !== 1) throw new Misused('backup: must be followed by a folder that does not exist yet.');
  const to = resolve(folder, words[0]);
  if (!existsSync(data)) throw new Error(`There is no data directory at ${data}; --data names it.`);
  if (existsSync(to)) throw new Error(`${to} exists already; name another folder.`);
  const inside = relative(data, to);
  if (!isAbsolute(inside) && !/^\.\.([\\/]|$)/.test(inside))
    throw new Error(`${to} is in the data directory; name a folder elsewhere.`);
  await mkdir(dirname(to), { recursive: true });
  const partial = await mkdtemp(`${to}.partial-`); // mode 0700
  try {
    // The journal first: each picture that a sprite in it has is there by then.
    const contents = existsSync(join(data, JOURNAL_FOLDER)) ? await backUpJournal(data, partial) : 'no journal';
    const files = await copyFiles(data, partial);
    await rename(partial, to);
    print(`Written to ${to}: ${contents}, and ${counted(files, 'other file')}. It holds tokens: keep it to yourself.`);
    print('Stop the original before a relay starts with it (--data): what both of them did would be lost or doubled.');
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Returns what is in the copy. */
async function backUpJournal(data: string, to: string): Promise<string> {
  const folder = join(to, JOURNAL_FOLDER);
  const disk = new FolderDisk(folder);
  await copyJournal(join(data, JOURNAL_FOLDER), folder);
  const { refusal, desktops, sprites } = checkJournal(disk);
  if (refusal !== undefined) throw new Error(`No backup was made, because no relay could start with it. ${refusal}`);
  return `a journal with ${counted(desktops, 'desktop')} and ${counted(sprites, 'sprite')} waiting`;
}

/** Copies everything else; returns how many files. Those that a relay removes meanwhile are left out. */
async function copyFiles(data: string, to: string): Promise<number> {
  let files = 0;
  for (const entry of await readdir(data, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const parts = relative(data, path).split(/[\\/]/);
    if (!entry.isFile() || parts.some((_, at) => LEFT_OUT.test(parts.slice(0, at + 1).join('/')))) continue;
    const copy = join(to, ...parts);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE);
      files++;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return files;
}
