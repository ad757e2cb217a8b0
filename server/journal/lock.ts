/**
 * The lock of a folder: one relay at a time.
 *
 * It is the kernel's lock on a file, which ends with the process that holds it, however that dies; Node has no call for it, so
 * SQLite takes it. The file stays, and means nothing by itself.
 */
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/** Another process holds the lock. */
export class Locked extends Error {}

/** Takes the lock; returns how to give it back. Throws Locked, or the system's error. */
export function lockFile(path: string): () => void {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is stored, so SQLite needs no file for its own journal.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Locked('another relay uses this data directory; stop it first, or choose another one with --data');
  }
  return () => database.close();
}
