/**
 * Writes files that exist whole or not at all, also after a power cut: the bytes go into a partial file, which is synced and
 * then renamed; then the folder is synced, because a rename is an entry of the folder.
 *
 * When a write fails, the partial file is removed. When the process is killed meanwhile, the partial file stays.
 * Cost: two fsyncs.
 */
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes `bytes` by way of `partial`, a path on the same file system that no other write uses; beside the file unless given. Rejects with
 * the system's error.
 */
export async function writeFileAtomically(
  path: string,
  bytes: Uint8Array,
  mode: number,
  partial = `${path}.${partialName()}`,
): Promise<void> {
  try {
    const handle = await open(partial, 'wx', mode);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Syncs the entries of a folder. Does nothing where the system cannot do that. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!cannotSyncFolders(error)) throw error;
  }
}

/** A name for a partial file that no other process uses. */
export function partialName(): string {
  return `${process.pid}.${randomBytes(6).toString('hex')}`;
}

/** Windows opens no folders, and some file systems sync none. */
function cannotSyncFolders(error: unknown): boolean {
  return ['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '');
}
