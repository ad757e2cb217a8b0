/**
 * Shared moderation: what an operator decides at one relay of a cluster holds at all.
 *
 * Bans of addresses and pictures are the keys of a bucket that every relay watches, and so are the listed pictures of the gallery and the newest
 * announcement. Each relay keeps its own lists (moderation_list.ts, gallery_list.ts), so it works on while NATS is away; the first one remembers
 * which changes the bucket lacks, also over a restart. When both meet again, the bucket gets those changes, and all others are taken from it.
 * Of two changes of one decision, that with the higher revision wins. When NATS has lost the bucket, each relay writes its decisions again.
 * The end of a decision is a value, too, because a relay that was away must learn of it; it is removed after FORGET_MS.
 * Invariant: no address is logged. Memory: one revision for each key.
 */
import type { Logger } from 'pino';
import { checkEntry } from '../moderation/gallery_list.ts';
import { readNetwork } from '../moderation/ip_network.ts';
import type { ModerationSharing, Moderator, SharedDecision } from '../moderation/moderator.ts';
import { checkObject, isFileHash, readJson } from '../wire/fields.ts';
import type { Bucket, Entry } from './bucket.ts';

const VERSION = 1;

/** How long the end of a decision stays in the bucket, in ms: thirty days. A relay that was away for longer brings its old one again. */
const FORGET_MS = 30 * 86_400_000;

/** An older announcement is not shown, in ms: its relay, or this one, was without NATS. */
const ANNOUNCEMENT_AGE_MS_MAX = 300_000;

/** Time between two tries to write changes that the bucket lacks, in ms. */
const RETRY_MS = 1_000;

const ANNOUNCEMENT = 'announcement';

interface SharedModerationOptions {
  /** The name of this relay. */
  name: string;
  bucket: Bucket;
  moderator: Moderator;
  log: Logger;
  /** The wall clock in ms. */
  clock?: () => number;
}

export class SharedModeration implements ModerationSharing {
  readonly #options: SharedModerationOptions;
  readonly #clock: () => number;
  /** The revision of each key of the bucket that this relay has received or written. */
  readonly #revisions = new Map<string, number>();
  /** Decisions of the bucket that wait until all that were there have been received, or until earlier ones are adopted. */
  readonly #received: SharedDecision[] = [];
  /** Present while decisions are being adopted. */
  #adopting: Promise<void> | undefined;
  /** Values that are no longer needed. */
  #stale: Entry[] = [];
  #isWatching = false;
  #isWriting = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: SharedModerationOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    options.moderator.setSharing(this);
    options.bucket.watch({
      connected: () => void this.#connected(),
      receive: (entry) => this.#receive(entry),
      lost: () => this.#revisions.clear(),
    });
  }

  decided(kind: SharedDecision['kind'], name: string): void {
    this.#options.moderator.list.addUnshared(keyOf(kind, name));
    void this.#write();
  }

  announce(text: string): void {
    const { bucket, name, log } = this.#options;
    const value = { version: VERSION, text, by: name, atMs: this.#clock() };
    bucket
      .put(ANNOUNCEMENT, Buffer.from(JSON.stringify(value)))
      .catch(() => log.warn('the announcement did not reach the other relays, because NATS does not answer'));
  }

  /** All values that were in the bucket have been received. */
  async #connected(): Promise<void> {
    const { bucket } = this.#options;
    const { list, gallery } = this.#options.moderator;
    const isFirst = !this.#isWatching;
    this.#isWatching = true;
    await this.#adopt();
    const { addresses, pictures } = list.bans;
    const own = [
      ...addresses.map(({ network }) => keyOf('address', network)),
      ...pictures.map(({ file }) => keyOf('picture', file)),
      ...gallery.copy.listed.map(({ file }) => keyOf('listing', file)),
    ];
    // Decisions of a time when this relay was alone.
    for (const key of own) if (!this.#revisions.has(key)) list.addUnshared(key);
    await this.#write();
    if (isFirst) for (const { key, revision } of this.#stale) await bucket.remove(key, revision).catch(() => {});
    this.#stale = [];
  }

  #receive(entry: Entry): void {
    const { key, revision } = entry;
    if (revision <= (this.#revisions.get(key) ?? 0)) return;
    this.#revisions.set(key, revision);
    try {
      const value = checkObject(readJson(entry.value), key);
      if (value.version !== VERSION) throw new Error('another version');
      if (key === ANNOUNCEMENT) this.#receiveAnnouncement(value);
      else this.#receiveDecision(entry, value);
    } catch {
      this.#options.log.warn({ revision }, 'a decision of another relay is not understood');
    }
  }

  #receiveAnnouncement({ text, by, atMs }: Record<string, unknown>): void {
    const isOld = typeof atMs !== 'number' || this.#clock() - atMs > ANNOUNCEMENT_AGE_MS_MAX;
    // An announcement that is there at the start was made before this relay started.
    if (this.#isWatching && by !== this.#options.name && !isOld) this.#options.moderator.announce(text, true);
  }

  #receiveDecision(entry: Entry, value: Record<string, unknown>): void {
    const decision = readDecision(entry.key, value, this.#options.name);
    const nowMs = this.#clock();
    const isOver =
      decision.isEnded || (decision.kind !== 'listing' && decision.untilMs !== null && decision.untilMs <= nowMs);
    if (isOver && !(nowMs - Number(value.atMs) < FORGET_MS)) this.#stale.push(entry);
    // This relay's own change will be written, and then it is the newer one.
    if (this.#options.moderator.list.unshared.has(entry.key)) return;
    this.#received.push(isOver ? { ...decision, isEnded: true } : decision);
    if (this.#isWatching) void this.#adopt();
  }

  /** Adopts what was received. Decisions that are received meanwhile are adopted together, because the lists are written for each call. */
  async #adopt(): Promise<void> {
    if (this.#received.length > 0) this.#adopting ??= this.#adoptReceived();
    await this.#adopting;
  }

  async #adoptReceived(): Promise<void> {
    const { moderator, log } = this.#options;
    while (this.#received.length > 0) {
      await moderator
        .adopt(this.#received.splice(0))
        .catch((error) => log.warn({ why: error.message }, 'decisions of another relay do not hold here'));
    }
    this.#adopting = undefined;
  }

  /** Writes the changes that the bucket lacks, and tries again until that has succeeded. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { bucket } = this.#options;
    const { list } = this.#options.moderator;
    try {
      for (const key of list.unshared) {
        const text = this.#textOf(key);
        const revision = await bucket.put(key, Buffer.from(text));
        this.#revisions.set(key, Math.max(revision, this.#revisions.get(key) ?? 0));
        // If the decision has changed meanwhile, it is written again.
        if (this.#textOf(key) === text) list.removeUnshared(key);
      }
    } catch {
      this.#options.log.debug('NATS does not answer; decisions reach the other relays later');
    }
    this.#isWriting = false;
    if (list.unshared.size > 0) this.#writeSoon();
  }

  #writeSoon(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      void this.#write();
    }, RETRY_MS).unref();
  }

  #textOf(key: string): string {
    const { list } = this.#options.moderator;
    const [kind, hex] = key.split('.');
    const name = kind === 'address' ? Buffer.from(hex, 'hex').toString() : hex;
    const decision =
      kind === 'listing' ? this.#listing(name) : kind === 'address' ? list.addressBan(name) : list.pictureBan(name);
    const of = kind === 'address' ? { network: name } : { file: name };
    return JSON.stringify({ version: VERSION, ...of, ...(decision ?? { isEnded: true, atMs: this.#dayMs }) });
  }

  /** A picture in the gallery, with the relay that has its file. */
  #listing(file: string): object | undefined {
    const entry = this.#options.moderator.gallery.listing(file);
    return entry && { relay: this.#options.name, ...entry };
  }

  /** The time to the day, so that a text stays the same while it is written. */
  get #dayMs(): number {
    return Math.floor(this.#clock() / 86_400_000) * 86_400_000;
  }
}

/** The key of a decision, and its name among those that the bucket lacks. NATS allows no colons in keys, which IPv6 addresses have. */
function keyOf(kind: SharedDecision['kind'], name: string): string {
  return `${kind}.${kind === 'address' ? Buffer.from(name).toString('hex') : name}`;
}

/** `self`: the name of this relay. Throws Error when the value is not a decision. */
function readDecision(key: string, value: Record<string, unknown>, self: string): SharedDecision {
  const { network, file, untilMs, isEnded, isRemoved } = value;
  if (isFileHash(file) && key === keyOf('listing', file)) {
    if (isEnded === true) return { kind: 'listing', file, isEnded };
    const { relay, ...entry } = checkEntry(value);
    if (entry.acceptedMs === null) throw new Error('acceptedMs');
    return { kind: 'listing', file, isEnded: false, entry: relay === self ? entry : { ...entry, relay } };
  }
  const until = untilMs ?? null;
  if (until !== null && typeof until !== 'number') throw new Error('untilMs');
  const state = { untilMs: until, isEnded: isEnded === true };
  if (typeof network === 'string' && readNetwork(network)?.text === network && key === keyOf('address', network))
    return { kind: 'address', network, ...state };
  if (isFileHash(file) && key === keyOf('picture', file))
    return { kind: 'picture', file, isRemoved: isRemoved === true, ...state };
  throw new Error('neither an address nor a picture');
}
