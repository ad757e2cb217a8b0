/**
 * The moderator: what the operator does about desktops, addresses and pictures, and what desktops report. In the master.
 *
 * Invariant: a ban is enforced by every process and written to disk before the operator is answered.
 * Cost: a join compares its address with every ban; a scan of all desktops is done in steps of less than a millisecond.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Addresses } from '../domain/addresses.ts';
import { checkFile, malformed } from '../wire/fields.ts';
import { blankIdentity, readId } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { normalizeName, whyInvalidName } from '../wire/text.ts';
import { BANNED, Bans, type BansCopy } from './bans.ts';
import type { Master, Moderation } from './master.ts';
import type { ModerationList } from './moderation_list.ts';
import { isInNetwork, type Network, readAddress, readNetwork, writeAddress } from './network.ts';

/** What the master tells its workers. */
export type ModerationMessage =
  | { type: 'bans'; bans: BansCopy }
  /** The operator has ended these desktops: their sockets close. */
  | { type: 'ended'; desktops: { slot: number; generation: number }[] }
  /** A picture is to be deleted from the sprite store, and from what a worker remembers of it. */
  | { type: 'removed'; file: string };

/** Slots looked at in one step of a scan. */
const SLOTS_PER_STEP = 8_192;

/** Desktops that one step of a scan ends, each with its sprites: some 5 µs. */
const KICKS_PER_STEP = 64;

/** Reports that the desktops of one IPv4 address, or of one IPv6 /64, may send in REPORT_WINDOW_MS: a class behind one address. */
export const REPORTS_PER_WINDOW_MAX = 10;
export const REPORT_WINDOW_MS = 60_000;

/** Addresses that are counted in one window; reports from further ones are refused until it ends. */
const REPORTERS_MAX = 10_000;

/** Bytes of an announcement in UTF-8: two lines on a page. As JSON it has at most twice as many, which fit into a notice. */
export const ANNOUNCEMENT_BYTES_MAX = 400;

const KICKED = 'The operator of this relay has ended this desktop.';

export interface ModeratorOptions {
  master: Master;
  list: ModerationList;
  log: Logger;
  /** Tells every worker. */
  send: (message: ModerationMessage) => void;
  /** Monotonic, in ms. */
  clock?: () => number;
}

export interface WhoRow {
  desktop: string;
  name: string;
  world: string;
  place: number;
  /** Null when it is not known. */
  address: string | null;
}

export class Moderator implements Moderation {
  readonly list: ModerationList;
  readonly #master: Master;
  readonly #log: Logger;
  readonly #send: (message: ModerationMessage) => void;
  readonly #clock: () => number;
  readonly #addresses: Addresses;
  readonly #bans = new Bans();
  /** Reports in this window, by the address or /64 they came from. */
  readonly #reporters = new Map<string, number>();
  #windowEndsMs = 0;
  /** A world was opened with a policy of its own for pictures, or was recovered with one. */
  #strictWorlds: boolean;

  constructor({ master, list, log, send, clock = () => performance.now() }: ModeratorOptions) {
    this.list = list;
    this.#master = master;
    this.#log = log;
    this.#send = send;
    this.#clock = clock;
    this.#addresses = new Addresses(master.relay.desktops.max);
    this.#strictWorlds = [...master.relay.torus.worlds()].some(({ pictures }) => pictures !== 'any');
    this.#bans.update(this.copy);
  }

  /** Throws banned. The worker has checked this too, but a ban may have come since. */
  admit(address: string | undefined): void {
    if (address) this.#bans.checkAddress(address);
  }

  /** What every worker must know. */
  get copy(): BansCopy {
    return { ...this.list.copy, strictWorlds: this.#strictWorlds };
  }

  /** A desktop has joined from this address. */
  joined(slot: number, address: string | undefined): void {
    if (!this.#strictWorlds && this.#master.relay.torus.worldOf(slot).pictures !== 'any') {
      this.#strictWorlds = true;
      this.#send({ type: 'bans', bans: this.copy });
    }
    this.#addresses.set(slot, address ? readAddress(address) : undefined);
  }

  /** Rows of the desktop at `slot`. */
  row(slot: number): WhoRow {
    const { desktops, torus } = this.#master.relay;
    return {
      desktop: desktops.id(slot),
      name: desktops.name(slot),
      world: torus.worldOf(slot).name,
      place: torus.placeOf(slot),
      address: writeAddress(this.#addresses.of(slot)) ?? null,
    };
  }

  /** Ends a desktop. Throws malformed; not-found when it is not here. */
  kick(id: string): void {
    const identity = blankIdentity();
    if (!readId(id, identity)) throw malformed('desktop', 'must be the id of a desktop');
    const { desktops } = this.#master.relay;
    const { slot, generation } = identity;
    if (slot >= desktops.max || !desktops.isLive(slot) || desktops.generation(slot) !== generation) {
      throw new ProblemError('not-found', `There is no desktop ${id}; it may have left.`);
    }
    this.#end([slot], KICKED);
    this.#log.info({ desktop: id }, 'the operator has ended a desktop');
  }

  /** Bans an address or a network, and ends the desktops that joined from it; resolves to how many. Throws malformed, list-full. */
  async banAddress(text: string, seconds: number | undefined): Promise<{ address: string; kicked: number }> {
    const network = networkOf(text);
    this.list.banAddress(network.text, untilMs(seconds));
    await this.#changed();
    this.#log.info({ network: network.text, seconds }, 'the operator has banned a network');
    return { address: network.text, kicked: await this.#kickFrom(network) };
  }

  /** Throws malformed, not-found. */
  async unbanAddress(text: string): Promise<void> {
    const { text: network } = networkOf(text);
    if (!this.list.unbanAddress(network)) throw new ProblemError('not-found', `${network} is not banned.`);
    await this.#changed();
    this.#log.info({ network }, 'the operator has ended a ban');
  }

  /** Bans a picture: from now on nobody can throw, upload or fetch it. Throws malformed, list-full. */
  async banPicture(file: string, seconds: number | undefined): Promise<void> {
    checkFile(file, 'picture');
    this.list.banPicture(file, untilMs(seconds));
    await this.#changed();
    this.#log.info({ picture: file, seconds }, 'the operator has banned a picture');
  }

  /** Throws malformed, not-found. */
  async unbanPicture(file: string): Promise<void> {
    checkFile(file, 'picture');
    if (!this.list.unbanPicture(file)) throw new ProblemError('not-found', 'This picture is not banned.');
    await this.#changed();
    this.#log.info({ picture: file }, 'the operator has ended a ban');
  }

  /** Bans a picture for ever, deletes it from the store, and takes it off every desktop. Throws malformed, list-full. */
  async removePicture(file: string): Promise<void> {
    await this.banPicture(file, undefined);
    this.#send({ type: 'removed', file });
    this.#master.relay.notify({ type: 'removed', file });
  }

  /** Sends a line of text to every desktop. Throws malformed. */
  announce(text: unknown): void {
    if (typeof text !== 'string') throw malformed('text', 'must be a string');
    const line = cleanLine(text, 'text', ANNOUNCEMENT_BYTES_MAX);
    if (line === '') throw malformed('text', 'must not be empty');
    this.#master.relay.notify({ type: 'announcement', text: line });
    this.#log.info({ text: line }, 'the operator has announced something');
  }

  /** A desktop reports a picture; `reason` may be empty. The worker has checked both texts. Throws too-fast. */
  report(slot: number, { file, reason }: { file: string; reason: string }): void {
    this.#countReport(slot);
    this.list.report(file, reason);
  }

  /** Throws not-found. */
  async dismiss(file: string): Promise<void> {
    checkFile(file, 'picture');
    if (!this.list.dismiss(file)) throw new ProblemError('not-found', 'Nobody has reported this picture.');
    await this.list.save();
  }

  /** Counts a report of this desktop. Throws too-fast. */
  #countReport(slot: number): void {
    const nowMs = this.#clock();
    if (nowMs >= this.#windowEndsMs) {
      this.#reporters.clear();
      this.#windowEndsMs = nowMs + REPORT_WINDOW_MS;
    }
    const words = this.#addresses.of(slot);
    const isIPv4 = words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
    const key = isIPv4 ? `${words[3]}` : `${words[0]}:${words[1]}`;
    const count = this.#reporters.get(key) ?? 0;
    if (count >= REPORTS_PER_WINDOW_MAX || (count === 0 && this.#reporters.size >= REPORTERS_MAX)) {
      throw new ProblemError(
        'too-fast',
        `At most ${REPORTS_PER_WINDOW_MAX} reports a minute may come from one address.`,
      );
    }
    this.#reporters.set(key, count + 1);
  }

  async #changed(): Promise<void> {
    const bans = this.copy;
    this.#bans.update(bans);
    this.#send({ type: 'bans', bans });
    await this.list.save();
  }

  /** Ends the desktops of a network, in steps; resolves to how many. */
  async #kickFrom(network: Network): Promise<number> {
    const { desktops } = this.#master.relay;
    let kicked = 0;
    for (let slot = 0; slot < desktops.max; ) {
      const end = Math.min(desktops.max, slot + SLOTS_PER_STEP);
      const found: number[] = [];
      for (; slot < end && found.length < KICKS_PER_STEP; slot++) {
        if (desktops.isLive(slot) && isInNetwork(this.#addresses.words, network, slot * 4)) found.push(slot);
      }
      if (found.length > 0) this.#end(found, BANNED);
      kicked += found.length;
      await nextTurn();
    }
    return kicked;
  }

  #end(slots: readonly number[], detail: string): void {
    const { relay } = this.#master;
    const desktops = slots.map((slot) => ({ slot, generation: relay.desktops.generation(slot) }));
    for (const slot of slots) {
      relay.silence(slot);
      relay.leave(slot, detail);
    }
    this.#master.endTurn();
    this.#send({ type: 'ended', desktops });
  }
}

/** A line of text that people entered, cleaned as names are. Throws malformed. */
export function cleanLine(text: string, field: string, bytesMax: number): string {
  const line = normalizeName(text);
  const why = whyInvalidName(line, bytesMax);
  if (why) throw malformed(field, why);
  return line;
}

function untilMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Date.now() + seconds * 1000;
}

function networkOf(text: string): Network {
  const network = readNetwork(text);
  if (!network) throw malformed('address', 'must be an address such as 192.0.2.7, or a network such as 2001:db8::/48');
  return network;
}
