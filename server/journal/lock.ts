/**
 * The locks of a journal: one relay at a time in its folder, and one of a machine for all copies of it.
 *
 * It is the kernel's lock on a file, which ends with the process that holds it, however that dies; Node has no call for it, so
 * SQLite takes it. The file stays empty, and means nothing by itself; but it says that a relay has used its folder.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/** Another process holds the lock. */
export class Locked extends Error {}

/** SQLite would make it for everybody to read. */
const MODE = 0o600;

export interface Lock {
  /** Whether the file was there before. */
  wasUsed: boolean;
  unlock(): void;
}

/** Takes the lock. Throws Locked, or Error that says what is wrong with the file. */
export function lockFile(path: string): Lock {
  const wasUsed = prepare(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is stored, so SQLite needs no file for its own journal.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Locked('another relay uses this data directory; stop it first, or choose another one with --data');
  }
  return { wasUsed, unlock: () => database.close() };
}

/**
 * Keeps relays of this machine from going on from copies of one journal: both would give the same desktops and sprites to their clients.
 * `key` is the same in all copies. The kernel has a name for it (an abstract socket of Linux; elsewhere there is none). Resolves to what
 * gives it free; the end of the process does, too.
 *
 * Throws  Locked.
 */
export async function lockCopies(key: Uint8Array): Promise<() => void> {
  if (process.platform !== 'linux') return () => {};
  const name = createHash('sha256').update('sprites journal').update(key).digest('hex');
  const server = createServer((socket) => socket.destroy()).listen(`\0sprites-journal-${name}`);
  try {
    await once(server.unref(), 'listening');
    return () => server.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Locked(
      'another relay of this machine goes on from the same journal, of which this is a copy; stop that one first, so that no sprite is on both',
    );
  }
}

/** Makes the file, if it is not there. Returns whether it was. A file that may be locked is never opened here: closing it would end the lock. */
function prepare(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    closeSync(openSync(path, 'wx', MODE));
    return false;
  }
  if (!stats.isFile() || stats.size > 0) {
    throw new Error(`${path} must be an empty file; if no relay uses this data directory, remove it`);
  }
  if ((stats.mode & 0o777) !== MODE) chmodSync(path, MODE);
  return true;
}
