/**
 * The list of what the operator has banned and what desktops have reported, kept in one JSON file of the data directory.
 *
 * Only the master reads and writes it. A file is written under another name and renamed when it is complete, so it exists
 * complete or not at all. A file that cannot be understood is moved aside and logged, and the relay starts with an empty
 * list: a relay that does not start would be the worse harm.
 * Invariant: a ban that was answered is in the file; a report is there SAVE_MS later.
 */
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { ProblemError } from '../wire/problem.ts';
import type { BansCopy } from './bans.ts';
import { readNetwork } from './network.ts';

/** Bans of addresses, and of pictures: a join compares its address with all of the former, some 40 µs. */
export const BANS_MAX = 4096;

/** Reported pictures: more than an operator looks at. A further one replaces the one with the fewest reports. */
export const REPORTS_MAX = 1000;

/** Reasons kept of one reported picture: the newest. */
export const REASONS_KEPT = 3;

/** Reports are written at most this often, in ms: strangers cause them. */
const SAVE_MS = 5_000;

const FILE_NAME = 'moderation.json';

export interface AddressBan {
  network: string;
  sinceMs: number;
  untilMs: number | null;
}

export interface PictureBan {
  file: string;
  sinceMs: number;
  untilMs: number | null;
}

export interface Report {
  file: string;
  count: number;
  firstMs: number;
  lastMs: number;
  /** The newest ones, oldest first. */
  reasons: string[];
}

interface Content {
  version: 1;
  addresses: AddressBan[];
  pictures: PictureBan[];
  reports: Report[];
}

export class ModerationList {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #addresses = new Map<string, AddressBan>();
  readonly #pictures = new Map<string, PictureBan>();
  readonly #reports = new Map<string, Report>();
  #saving: Promise<void> = Promise.resolve();
  #saveTimer: NodeJS.Timeout | undefined;

  /** Reads the file of this data directory. `clock`: the wall clock in ms. */
  constructor(data: string, log: Logger, clock = Date.now) {
    this.#path = join(data, FILE_NAME);
    this.#log = log;
    this.#clock = clock;
    mkdirSync(data, { recursive: true });
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      log.error({ err: error, file: this.#path }, 'the list of bans cannot be read: nobody is banned');
      return;
    }
    try {
      const { addresses, pictures, reports } = checkContent(JSON.parse(text));
      for (const ban of addresses) this.#addresses.set(ban.network, ban);
      for (const ban of pictures) this.#pictures.set(ban.file, ban);
      for (const report of reports) this.#reports.set(report.file, report);
    } catch (error) {
      const aside = `${this.#path}.malformed-${this.#clock()}`;
      renameSync(this.#path, aside);
      log.error(
        { file: this.#path, aside, why: (error as Error).message },
        'the list of bans is malformed: nobody is banned; a copy is kept aside',
      );
    }
  }

  get copy(): Pick<BansCopy, 'addresses' | 'pictures'> {
    return {
      addresses: [...this.#addresses.values()].map(({ network, untilMs }) => ({ network, untilMs })),
      pictures: [...this.#pictures.values()].map(({ file, untilMs }) => ({ file, untilMs })),
    };
  }

  /** Bans that have not ended, the newest last. */
  get bans(): { addresses: AddressBan[]; pictures: PictureBan[] } {
    this.#removeEnded();
    return { addresses: [...this.#addresses.values()], pictures: [...this.#pictures.values()] };
  }

  /** The most reported first. */
  get reports(): Report[] {
    return [...this.#reports.values()].sort((a, b) => b.count - a.count || b.lastMs - a.lastMs);
  }

  /** Adds a ban, or replaces the one of the same network. Throws list-full. */
  banAddress(network: string, untilMs: number | null): void {
    this.#removeEnded();
    throwIfFull(this.#addresses, network);
    this.#addresses.delete(network);
    this.#addresses.set(network, { network, sinceMs: this.#clock(), untilMs });
  }

  /** Adds a ban, or replaces the one of the same picture. Its reports are settled, and removed. Throws list-full. */
  banPicture(file: string, untilMs: number | null): void {
    this.#removeEnded();
    throwIfFull(this.#pictures, file);
    this.#pictures.delete(file);
    this.#pictures.set(file, { file, sinceMs: this.#clock(), untilMs });
    this.#reports.delete(file);
  }

  /** Returns whether there was such a ban. */
  unbanAddress(network: string): boolean {
    return this.#addresses.delete(network);
  }

  unbanPicture(file: string): boolean {
    return this.#pictures.delete(file);
  }

  /** Counts a report. `reason` may be empty. It is written to the file later. */
  report(file: string, reason: string): void {
    const nowMs = this.#clock();
    let report = this.#reports.get(file);
    if (report === undefined) {
      if (this.#reports.size >= REPORTS_MAX) this.#reports.delete(this.reports.at(-1)?.file ?? '');
      report = { file, count: 0, firstMs: nowMs, lastMs: nowMs, reasons: [] };
      this.#reports.set(file, report);
    }
    report.count++;
    report.lastMs = nowMs;
    if (reason !== '' && !report.reasons.includes(reason)) {
      report.reasons = [...report.reasons, reason].slice(-REASONS_KEPT);
    }
    this.#saveTimer ??= setTimeout(() => void this.save().catch(() => {}), SAVE_MS).unref();
  }

  /** Removes the reports of a picture. Returns whether there were any. */
  dismiss(file: string): boolean {
    return this.#reports.delete(file);
  }

  /** Writes the file. Throws the system's error, after logging it. */
  save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    const save = this.#saving.catch(() => {}).then(() => this.#write());
    this.#saving = save;
    return save;
  }

  /** Writes reports that have not been written yet. */
  async close(): Promise<void> {
    if (this.#saveTimer) await this.save().catch(() => {});
    await this.#saving.catch(() => {});
  }

  async #write(): Promise<void> {
    const content: Content = {
      version: 1,
      addresses: [...this.#addresses.values()],
      pictures: [...this.#pictures.values()],
      reports: [...this.#reports.values()],
    };
    const partial = `${this.#path}.partial`;
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      const handle = await open(partial, 'w', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(content, null, 1)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(partial, this.#path);
    } catch (error) {
      this.#log.error({ err: error, file: this.#path }, 'the list of bans could not be written');
      await unlink(partial).catch(() => {});
      throw error;
    }
  }

  #removeEnded(): void {
    const nowMs = this.#clock();
    for (const list of [this.#addresses, this.#pictures]) {
      for (const [key, { untilMs }] of list) if (untilMs !== null && untilMs <= nowMs) list.delete(key);
    }
  }
}

function throwIfFull(list: ReadonlyMap<string, unknown>, key: string): void {
  if (list.size < BANS_MAX || list.has(key)) return;
  throw new ProblemError('list-full', `There are ${BANS_MAX} bans of this kind; unban something, or ban a network.`);
}

const HASH = /^[0-9a-f]{64}$/;

/** Throws Error that names the first entry that is not well-formed. */
function checkContent(value: unknown): Content {
  const content = value as Partial<Content> | null;
  if (content?.version !== 1) throw new Error('version: must be 1');
  const list = <T>(name: 'addresses' | 'pictures' | 'reports', max: number, isGood: (entry: T) => boolean): T[] => {
    const entries = content[name];
    if (!Array.isArray(entries) || entries.length > max) throw new Error(`${name}: must be a list of at most ${max}`);
    for (const [at, entry] of entries.entries()) {
      if (typeof entry !== 'object' || entry === null || !isGood(entry as T))
        throw new Error(`${name}[${at}] is malformed`);
    }
    return entries as unknown as T[];
  };
  const isTime = (ms: unknown) => typeof ms === 'number' && ms >= 0;
  const isSpan = ({ sinceMs, untilMs }: AddressBan | PictureBan) =>
    isTime(sinceMs) && (untilMs === null || isTime(untilMs));
  return {
    version: 1,
    addresses: list<AddressBan>(
      'addresses',
      BANS_MAX,
      (ban) => typeof ban.network === 'string' && readNetwork(ban.network)?.text === ban.network && isSpan(ban),
    ),
    pictures: list<PictureBan>('pictures', BANS_MAX, (ban) => HASH.test(ban.file) && isSpan(ban)),
    reports: list<Report>(
      'reports',
      REPORTS_MAX,
      ({ file, count, firstMs, lastMs, reasons }) =>
        HASH.test(file) &&
        Number.isSafeInteger(count) &&
        isTime(firstMs) &&
        isTime(lastMs) &&
        Array.isArray(reasons) &&
        reasons.every((reason) => typeof reason === 'string'),
    ),
  };
}
