/**
 * The list of what the operator has banned and what desktops have reported, kept in one JSON file of the data directory.
 *
 * Only the master reads and writes it (saved_file.ts). When it cannot be understood, nobody is banned.
 * Invariant: a ban that was answered as saved is in the file; a report is there some seconds later.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { SavedFile } from '../store/saved_file.ts';
import { isFileHash } from '../wire/fields.ts';
import { blankIdentity, readId } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Report } from '../wire/report.ts';
import { FILE_DIGITS, REASON_BYTES_MAX } from '../wire/rules.ts';
import type { BansCopy } from './bans.ts';
import { readNetwork } from './ip_network.ts';

/** Bans of addresses, and of pictures: a join compares its address with all of the former, some 40 µs. */
export const BANS_MAX = 4096;

/** Reported pictures: more than an operator looks at. A further one replaces the one with the fewest reports. */
export const REPORTS_MAX = 1000;

/** Decisions that the other relays of the cluster do not know yet: as many bans as there can be, and as many that have ended. */
const UNSHARED_MAX = 4 * BANS_MAX;

/** Reasons kept of one reported picture: the newest. */
export const REASONS_KEPT = 3;

/** Desktops kept of one reported picture, which have thrown it: the newest. */
export const THROWERS_KEPT = 3;

const UNSHARED = new RegExp(`^(address\\.([0-9a-f]{2})+|(picture|listing)\\.[0-9a-f]{${FILE_DIGITS}})$`);

const FILE_NAME = 'moderation.json';

interface AddressBan {
  network: string;
  sinceMs: number;
  untilMs: number | null;
}

interface PictureBan {
  file: string;
  sinceMs: number;
  untilMs: number | null;
  /** Its file was removed, too. */
  isRemoved?: boolean;
}

interface Content {
  version: 1;
  addresses: AddressBan[];
  pictures: PictureBan[];
  reports: Report[];
  /** Absent without a cluster. */
  unshared?: string[];
}

export class ModerationList {
  readonly #file: SavedFile;
  readonly #clock: () => number;
  readonly #addresses = new Map<string, AddressBan>();
  readonly #pictures = new Map<string, PictureBan>();
  readonly #reports = new Map<string, Report>();
  readonly #unshared = new Set<string>();

  /** Reads the file of this data directory. `clock`: the wall clock in ms. */
  constructor(data: string, log: Logger, clock = Date.now) {
    this.#clock = clock;
    this.#file = new SavedFile({
      path: join(data, FILE_NAME),
      name: 'the list of bans',
      without: 'nobody is banned',
      log,
      clock,
      content: () => this.#content(),
    });
    const content = this.#file.read(checkContent);
    for (const ban of content?.addresses ?? []) this.#addresses.set(ban.network, ban);
    for (const ban of content?.pictures ?? []) this.#pictures.set(ban.file, ban);
    for (const report of content?.reports ?? []) this.#reports.set(report.file, report);
    for (const ban of content?.unshared ?? []) this.#unshared.add(ban);
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
    return [...this.#reports.values()].sort(byCount);
  }

  /** Adds a ban, or replaces the one of the same network. Throws list-full. */
  banAddress(network: string, untilMs: number | null): void {
    this.#removeEnded();
    throwIfFull(this.#addresses, network);
    this.#addresses.delete(network);
    this.#addresses.set(network, { network, sinceMs: this.#clock(), untilMs });
  }

  /** Adds a ban, or replaces the one of the same picture. Its reports are settled, and removed. Throws list-full. */
  banPicture(file: string, untilMs: number | null, isRemoved = false): void {
    this.#removeEnded();
    throwIfFull(this.#pictures, file);
    this.#pictures.delete(file);
    this.#pictures.set(file, { file, sinceMs: this.#clock(), untilMs, ...(isRemoved && { isRemoved }) });
    this.#reports.delete(file);
  }

  /** Returns whether there was such a ban. */
  unbanAddress(network: string): boolean {
    return this.#addresses.delete(network);
  }

  unbanPicture(file: string): boolean {
    return this.#pictures.delete(file);
  }

  addressBan(network: string): AddressBan | undefined {
    return this.#addresses.get(network);
  }

  pictureBan(file: string): PictureBan | undefined {
    return this.#pictures.get(file);
  }

  /** Whether a ban of this picture has not ended. */
  isPictureBanned(file: string): boolean {
    const ban = this.#pictures.get(file);
    return ban !== undefined && (ban.untilMs === null || ban.untilMs > this.#clock());
  }

  /** Names of the decisions that the cluster does not know yet (cluster/shared_moderation.ts), the oldest first. */
  get unshared(): ReadonlySet<string> {
    return this.#unshared;
  }

  /** The file has it with the decision, or soon after. */
  addUnshared(decision: string): void {
    if (this.#unshared.has(decision)) return;
    if (this.#unshared.size >= UNSHARED_MAX) this.#unshared.delete([...this.#unshared][0]);
    this.#unshared.add(decision);
    this.#file.saveSoon();
  }

  removeUnshared(decision: string): void {
    if (this.#unshared.delete(decision)) this.#file.saveSoon();
  }

  /** Counts a report. `reason` may be empty. `desktop` has thrown the picture. It is written to the file later. */
  report(file: string, reason: string, desktop?: string): void {
    const nowMs = this.#clock();
    let report = this.#reports.get(file);
    if (report === undefined) {
      if (this.#reports.size >= REPORTS_MAX) this.#reports.delete(this.reports.at(-1)?.file ?? '');
      report = { file, count: 0, firstMs: nowMs, lastMs: nowMs, reasons: [] };
      this.#reports.set(file, report);
    }
    report.count++;
    report.lastMs = nowMs;
    if (reason !== '') report.reasons = newest([...report.reasons, reason], REASONS_KEPT);
    if (desktop !== undefined) report.desktops = newest([...(report.desktops ?? []), desktop], THROWERS_KEPT);
    this.#file.saveSoon();
  }

  /** Removes the reports of a picture. Returns whether there were any. */
  dismiss(file: string): boolean {
    return this.#reports.delete(file);
  }

  /** Takes a desktop out of the reports of pictures that it has thrown. Returns of how many. */
  forget(desktop: string): number {
    const reports = [...this.#reports.values()].filter(({ desktops }) => desktops?.includes(desktop));
    for (const report of reports) report.desktops = report.desktops?.filter((thrower) => thrower !== desktop);
    return reports.length;
  }

  /** Writes the file. Resolves to a sentence that says what is not saved; undefined when all is. */
  save(): Promise<string | undefined> {
    return this.#file.save();
  }

  /** Writes reports that have not been written yet. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #content(): Content {
    return {
      version: 1,
      addresses: [...this.#addresses.values()],
      pictures: [...this.#pictures.values()],
      reports: [...this.#reports.values()],
      ...(this.#unshared.size > 0 && { unshared: [...this.#unshared] }),
    };
  }

  #removeEnded(): void {
    const nowMs = this.#clock();
    for (const list of [this.#addresses, this.#pictures]) {
      for (const [key, { untilMs }] of list) if (untilMs !== null && untilMs <= nowMs) list.delete(key);
    }
  }
}

/** Reports of several relays as one list, the most reported first. */
export function mergeReports(lists: readonly (readonly Report[])[]): Report[] {
  const all = new Map<string, Report>();
  for (const report of lists.flat().sort((a, b) => a.lastMs - b.lastMs)) {
    const { file, count, firstMs, lastMs, reasons, desktops = [] } = report;
    const known = all.get(file);
    const thrown = newest([...(known?.desktops ?? []), ...desktops], THROWERS_KEPT);
    all.set(file, {
      file,
      count: count + (known?.count ?? 0),
      firstMs: Math.min(firstMs, known?.firstMs ?? firstMs),
      lastMs,
      reasons: newest([...(known?.reasons ?? []), ...reasons], REASONS_KEPT),
      ...(thrown.length > 0 && { desktops: thrown }),
    });
  }
  return [...all.values()].sort(byCount);
}

const byCount = (a: Report, b: Report): number => b.count - a.count || b.lastMs - a.lastMs;

/** The last `max` different texts. A repeat stays where its first one is. */
function newest(texts: readonly string[], max: number): string[] {
  return [...new Set(texts)].slice(-max);
}

/** Whether a report is within the limits here. */
export function isReport({ file, count, firstMs, lastMs, reasons, desktops }: Report): boolean {
  const isList = (list: unknown, max: number, isGood: (text: string) => boolean) =>
    Array.isArray(list) && list.length <= max && list.every((text) => typeof text === 'string' && isGood(text));
  return (
    isFileHash(file) &&
    Number.isSafeInteger(count) &&
    isTime(firstMs) &&
    isTime(lastMs) &&
    isList(reasons, REASONS_KEPT, (text) => Buffer.byteLength(text) <= REASON_BYTES_MAX) &&
    (desktops === undefined || isList(desktops, THROWERS_KEPT, (id) => readId(id, blankIdentity())))
  );
}

const isTime = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0;

function throwIfFull(list: ReadonlyMap<string, unknown>, key: string): void {
  if (list.size < BANS_MAX || list.has(key)) return;
  throw new ProblemError('list-full', `There are ${BANS_MAX} bans of this kind; unban something, or ban a network.`);
}

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
  const isSpan = ({ sinceMs, untilMs }: AddressBan | PictureBan) =>
    isTime(sinceMs) && (untilMs === null || isTime(untilMs));
  return {
    version: 1,
    addresses: list<AddressBan>(
      'addresses',
      BANS_MAX,
      (ban) => typeof ban.network === 'string' && readNetwork(ban.network)?.text === ban.network && isSpan(ban),
    ),
    pictures: list<PictureBan>('pictures', BANS_MAX, (ban) => isFileHash(ban.file) && isSpan(ban)),
    reports: list<Report>('reports', REPORTS_MAX, isReport),
    unshared: readUnshared(content.unshared),
  };
}

function readUnshared(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((ban) => UNSHARED.test(ban)).slice(0, UNSHARED_MAX) : [];
}
