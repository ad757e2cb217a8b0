/**
 * The journal of a running relay: opens it with its lock, recovers the relay from it, and reports what happens to it.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Relay } from '../domain/relay.ts';
import { FolderDisk, type SystemCalls } from '../journal/disk.ts';
import { type Durability, Journal } from '../journal/journal.ts';
import { type Lock, Locked, lockCopies, lockFile } from '../journal/lock.ts';
import { countersIn, gaugesIn } from '../metrics/gauges.ts';
import { GENERATION_KEY_BYTES } from '../wire/generations.ts';

/** What survives: nothing beyond this process, or what `Durability` says. */
export const DURABILITIES = ['process', 'machine', 'none'] as const;

export type DurabilityOption = (typeof DURABILITIES)[number];

/** The folder of the journal in the data directory. */
export const JOURNAL_FOLDER = 'journal';

const WAY_BACK =
  'if files were cut or removed by mistake, stop this relay, put the whole folder back from a backup, and start it again';

/** How long after a line about a full disk the next one is left out, in ms. */
const QUIET_MS = 60_000;

export class Journaling {
  readonly journal: Journal;
  readonly #disk: FolderDisk;
  readonly #folder: string;
  readonly #lock: Lock;
  #unlockCopies = () => {};
  /** Whose changes are written; undefined before it has recovered, and when the journal is closed. */
  #relay: Relay | undefined;
  readonly #log: Logger;
  #quietUntilMs = 0;
  #isQuiet = false;

  /** Throws Locked, JournalDamaged, OtherFormat, or the system's error. */
  constructor(data: string, durability: Durability, log: Logger, calls?: SystemCalls) {
    this.#log = log;
    const folder = join(data, JOURNAL_FOLDER);
    this.#folder = folder;
    this.#disk = new FolderDisk(folder, calls);
    this.#lock = lock(join(folder, 'lock'));
    this.journal = new Journal(this.#disk, {
      durability,
      epoch: randomInt(2 ** 32),
      generationKey: randomBytes(GENERATION_KEY_BYTES),
      fail: (error) => {
        log.fatal(
          { err: error, folder },
          'the journal could not be written; this process ends, and nothing that it lacks was answered',
        );
        process.exit(1);
      },
      changed: (hasRoom, error) => this.#report(hasRoom, error),
      tailless: (error) => log.warn({ err: error, folder }, 'the journal has no tail, so each turn costs a write'),
    });
  }

  /** Resolves when no relay of this machine goes on from a copy of the journal, nor can until this one is closed. Throws Locked. */
  async lockCopies(): Promise<void> {
    this.#unlockCopies = await lockCopies(this.journal.generationKey);
  }

  /** Logs that the disk is full, or has room again. A disk that is full again and again is logged once a minute. */
  #report(hasRoom: boolean, error?: Error): void {
    if (!hasRoom) {
      this.#isQuiet = performance.now() < this.#quietUntilMs;
      if (!this.#isQuiet) this.#quietUntilMs = performance.now() + QUIET_MS;
    }
    if (this.#isQuiet) return;
    if (hasRoom) this.#log.info('the journal can be written again; joins and crossings are accepted');
    else {
      this.#log.error(
        { err: error, folder: this.#folder },
        'the journal cannot be written; joins and crossings are refused until it can. Make room on its disk',
      );
    }
  }

  /** Restores a relay that was made at `nowMs`; from now on its changes are written. Throws JournalDamaged. */
  recover(relay: Relay, nowMs: number): void {
    const folder = this.#folder;
    const startMs = performance.now();
    const recovered = this.journal.recover(relay, nowMs);
    this.#relay = relay;
    if (recovered.tornBytes > 0) {
      const { tornBytes } = recovered;
      this.#log.warn(
        { tornBytes },
        'the last turn of the journal was not whole and is cut off; if only the relay died meanwhile, it was not answered',
      );
    }
    if (recovered.missingBytes > 0) {
      const { missingBytes } = recovered;
      this.#log.warn(
        { missingBytes, folder },
        `the journal lacks its last turns, as after the death of the machine; ${WAY_BACK}`,
      );
    }
    if (recovered.isEmpty && this.#lock.wasUsed) {
      this.#log.warn(
        { folder },
        `the journal has lost its contents: a relay has used its folder, but no file in it can be read. This relay starts empty; ${WAY_BACK}`,
      );
    }
    if (recovered.frames === 0) return;
    const tookMs = Math.round(performance.now() - startMs);
    this.#log.info({ ...recovered, tookMs }, 'the relay goes on from its journal');
  }

  /** As Journal.tick(). */
  tick(nowMs: number): void {
    if (this.#relay) this.journal.tick(nowMs);
  }

  /** Registers its metrics. */
  gauges(registry: Registry): void {
    const { journal } = this;
    const gauge = gaugesIn(registry);
    const counter = countersIn(registry);
    gauge('sprites_journal_bytes', 'Bytes of the files of the journal', () => journal.sizeBytes);
    gauge('sprites_journal_live_bytes', 'Bytes that a journal begun now would have', () => journal.liveBytes);
    gauge('sprites_journal_full', '1 while the journal cannot be written', () => (journal.hasRoom ? 0 : 1));
    counter('sprites_journal_written_bytes_total', 'Bytes written to the journal', () => journal.writtenBytes);
  }

  /** As Journal.compact(); resolves when the earlier files are removed. */
  async compact(): Promise<boolean> {
    const isCompacted = await this.journal.compact();
    await this.#disk.settled;
    return isCompacted;
  }

  /**
   * Writes what is left and gives the data directory free: from now on the next process may write there. What the relay still tells its desktops
   * changes nothing that must survive. Resolves when what is done in the background is done.
   */
  async close(): Promise<void> {
    this.journal.close();
    this.#relay?.setFacts(undefined);
    this.#relay = undefined;
    await this.#disk.settled;
    this.#unlockCopies();
    this.#lock.unlock();
  }
}

/** Takes the lock. Throws Locked, or Error with the file and what to do: SQLite names neither. */
function lock(path: string): Lock {
  try {
    return lockFile(path);
  } catch (error) {
    if (error instanceof Locked || (error as { code?: string }).code === undefined) throw error;
    throw new Error(
      `the file ${path} can't be locked (${(error as Error).message}); the user of the relay must own the data directory and its files`,
    );
  }
}
