/**
 * Copies the files of a journal, also while a relay writes them.
 *
 * A segment only grows, and is complete when the next one is there. So the segments of one moment, each as far as it can be read later, are what the
 * journal was at some moment of the copying; what a relay writes after that moment is not in the copy. The tail is read first: a relay
 * moves its frames to the last segment, where they are then found twice. All files are opened before any is read, because
 * a compaction removes some.
 */
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FolderDisk } from './disk.ts';
import { segmentsIn } from './journal.ts';
import { segmentName } from './segments.ts';
import { readTail, withTail } from './tail.ts';

/** Compactions that may replace what has been opened: each takes far longer than opening the files. */
const TRIES_MAX = 100;

/**
 * Copies the journal of a folder to another one, which has none. The copy has no tail: what is in it is in the last segment. It may hold what no
 * relay has left, if the journal is damaged: check it.
 *
 * Throws  the system's error, TailDamaged.
 */
export async function copyJournal(from: string, to: string): Promise<void> {
  const disk = new FolderDisk(from);
  for (let tries = 1; ; tries++) {
    const opened = new Map<number, number>();
    try {
      const tail = readTail(disk);
      for (const number of segmentsIn(disk)) {
        await nextTurn();
        opened.set(number, openSync(join(from, segmentName(number)), 'r'));
      }
      for (const [number, file] of opened) {
        await nextTurn();
        const bytes = withTail(readFileSync(file), number, tail);
        writeFileSync(join(to, segmentName(number)), bytes, { flag: 'wx', mode: 0o600 });
      }
      return;
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' || !path?.startsWith(from) || tries === TRIES_MAX) throw error;
    } finally {
      for (const file of opened.values()) closeSync(file);
    }
  }
}
