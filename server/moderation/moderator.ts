/**
 * The moderator: what the operator does about desktops, addresses and pictures, and what desktops report. In the master.
 *
 * Invariant: a ban is enforced by every process before the operator is answered. It is saved then, too, or the answer says that it is not: a
 * full disk must not keep an operator from acting.
 * Cost: a join compares its address with every ban; a scan of all desktops is done in steps of less than a millisecond.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Addresses } from '../domain/slots/addresses.ts';
import type { Flights } from '../processes/flights.ts';
import type { Moderation } from '../processes/master.ts';
import type { Doorkeeper } from '../processes/seats.ts';
import type { Turns } from '../processes/turns.ts';
import type { Feedback, FeedbackFile } from '../store/feedback_file.ts';
import { checkFile, malformed } from '../wire/fields.ts';
import type { GalleryEntry, Publication } from '../wire/gallery.ts';
import { blankIdentity, readId } from '../wire/identity.ts';
import { ProblemError } from '../wire/problem.ts';
import { ANNOUNCEMENT_BYTES_MAX, REPORTS_PER_WINDOW_MAX } from '../wire/rules.ts';
import { normalizeName, whyInvalidName } from '../wire/text.ts';
import { AddressWindow } from './address_window.ts';
import { BANNED, Bans, type ModerationCopy } from './bans.ts';
import type { GalleryList } from './gallery_list.ts';
import { type IpNetwork, isInNetwork, readAddress, readBanned, readNetwork, writeAddress } from './ip_network.ts';
import type { ModerationList } from './moderation_list.ts';

/** What the master tells its workers. */
export type ModerationMessage =
  | { type: 'bans'; bans: ModerationCopy }
  /** These desktops have been ended: their sockets close. */
  | { type: 'ended'; desktops: { slot: number; generation: number }[] }
  /** A picture is to be deleted from the sprite store, and from what a worker remembers of it. */
  | { type: 'removed'; file: string };

/** Slots looked at in one step of a scan. */
const SLOTS_PER_STEP = 8_192;

/** Desktops that one step of a scan ends, each with its sprites: some 5 µs. */
const KICKS_PER_STEP = 64;

/** In it, the desktops of one IPv4 address, or of one IPv6 /64, may send REPORTS_PER_WINDOW_MAX reports. */
const REPORT_WINDOW_MS = 60_000;

/** Pictures that the desktops of one address may publish in PUBLISH_WINDOW_MS: what one person draws in an afternoon. */
export const PUBLICATIONS_PER_WINDOW_MAX = 10;
const PUBLISH_WINDOW_MS = 3_600_000;

/** Feedback that may come from one address in FEEDBACK_WINDOW_MS. */
export const FEEDBACK_PER_WINDOW_MAX = 5;
export const FEEDBACK_WINDOW_MS = 3_600_000;

/** Feedback of all addresses in FEEDBACK_WINDOW_MS: a tenth of the file, so that it takes ten hours to fill. */
export const FEEDBACK_ALL_MAX = 25;

/** Stands for all addresses where their sum is limited. */
const EVERYBODY = [0, 0, 0xffff, 0] as const;

const KICKED = 'The operator of this relay has ended this desktop.';

/** How an action of the operator was saved. */
export interface Saved {
  /** What is not saved, and why; absent when everything is. */
  unsaved?: string;
}

/** A ban as the relays of a cluster share it. */
type SharedBan = { untilMs: number | null; isEnded: boolean } & (
  | { kind: 'address'; network: string }
  /** `isRemoved`: its file was removed, too. */
  | { kind: 'picture'; file: string; isRemoved: boolean }
);

/** A picture in the gallery, as the relays of a cluster share it. `entry` is absent when it is no longer there. */
interface SharedListing {
  kind: 'listing';
  file: string;
  isEnded: boolean;
  entry?: GalleryEntry;
}

export type SharedDecision = SharedBan | SharedListing;

/** The way to the moderators of other relays (cluster/shared_moderation.ts). */
export interface ModerationSharing {
  /** The operator of this relay has made this decision, changed it or ended it. `name`: the network, or the file of the picture. */
  decided(kind: SharedDecision['kind'], name: string): void;
  announce(text: string): void;
}

export interface ModeratorOptions {
  turns: Turns;
  list: ModerationList;
  gallery: GalleryList;
  feedback: FeedbackFile;
  flights: Flights;
  /** The files that ship with the relay. */
  shipped: readonly string[];
  log: Logger;
  /** Tells every worker. Resolves when all of them enforce it. */
  send: (message: ModerationMessage) => Promise<void>;
  /** Monotonic, in ms. */
  clock?: () => number;
}

/** A live desktop, as operators see it. */
export interface WhoRow {
  desktop: string;
  name: string;
  world: string;
  place: number;
  /** Sprites in its mailbox. */
  waiting: number;
  /** Null when it is not known. */
  address: string | null;
  /** Its program and version, such as `windows 0.2.0`. */
  client: string;
  /** The number of its newest crossing: how often it has thrown, if it counts by one. */
  newestCrossing: number;
}

export class Moderator implements Doorkeeper, Moderation {
  readonly list: ModerationList;
  readonly gallery: GalleryList;
  readonly feedback: FeedbackFile;
  readonly #flights: Flights;
  readonly #shipped: readonly string[];
  readonly #turns: Turns;
  readonly #log: Logger;
  readonly #send: (message: ModerationMessage) => Promise<void>;
  readonly #addresses: Addresses;
  readonly #bans = new Bans();
  readonly #reports: AddressWindow;
  readonly #publications: AddressWindow;
  readonly #feedbacks: AddressWindow;
  readonly #allFeedback: AddressWindow;
  /** Undefined without a cluster. */
  #sharing: ModerationSharing | undefined;
  /** A world was opened with a policy of its own for pictures, or was recovered with one. */
  #strictWorlds: boolean;

  constructor(options: ModeratorOptions) {
    const { turns, list, gallery, feedback, flights, shipped, log, send, clock = () => performance.now() } = options;
    this.list = list;
    this.gallery = gallery;
    this.feedback = feedback;
    this.#flights = flights;
    this.#shipped = shipped;
    this.#turns = turns;
    this.#log = log;
    this.#send = send;
    this.#reports = new AddressWindow(REPORTS_PER_WINDOW_MAX, REPORT_WINDOW_MS, clock);
    this.#publications = new AddressWindow(PUBLICATIONS_PER_WINDOW_MAX, PUBLISH_WINDOW_MS, clock);
    this.#feedbacks = new AddressWindow(FEEDBACK_PER_WINDOW_MAX, FEEDBACK_WINDOW_MS, clock);
    this.#allFeedback = new AddressWindow(FEEDBACK_ALL_MAX, FEEDBACK_WINDOW_MS, clock);
    this.#addresses = new Addresses(turns.relay.desktops.max);
    this.#strictWorlds = [...turns.relay.torus.worlds()].some(({ pictures }) => pictures !== 'any');
    this.#bans.update(this.copy);
    this.#track();
  }

  setSharing(sharing: ModerationSharing): void {
    this.#sharing = sharing;
  }

  /** Throws banned. The worker has checked this too, but a ban may have come since. */
  admit(address: string | undefined): void {
    if (address) this.#bans.checkAddress(address);
  }

  /** What every worker must know. */
  get copy(): ModerationCopy {
    return { ...this.list.copy, strictWorlds: this.#strictWorlds, gallery: this.gallery.copy };
  }

  /** A desktop has joined from this address. */
  joined(slot: number, address: string | undefined): void {
    if (!this.#strictWorlds && this.#turns.relay.torus.worldOf(slot).pictures !== 'any') {
      this.#strictWorlds = true;
      void this.#send({ type: 'bans', bans: this.copy });
    }
    this.#addresses.set(slot, address ? readAddress(address) : undefined);
  }

  /** Rows of the desktop at `slot`. */
  row(slot: number): WhoRow {
    const { desktops, torus, mailboxes, clients } = this.#turns.relay;
    const { kind, version } = clients.of(slot);
    return {
      desktop: desktops.id(slot),
      name: desktops.name(slot),
      world: torus.worldOf(slot).name,
      place: torus.placeOf(slot),
      waiting: mailboxes.count(slot),
      address: writeAddress(this.#addresses.of(slot)) ?? null,
      client: version === '' ? kind : `${kind} ${version}`,
      newestCrossing: desktops.newestCrossing(slot),
    };
  }

  /** Ends a desktop. Its name is shown no more, also when it has left. Throws malformed; not-found when it is not here. */
  kick(id: string): void {
    const identity = blankIdentity();
    if (!readId(id, identity)) throw malformed('desktop', 'must be the id of a desktop');
    const { desktops, day } = this.#turns.relay;
    const { slot, generation } = identity;
    day.hideName(slot, generation);
    if (slot >= desktops.max || !desktops.isLive(slot) || desktops.generation(slot) !== generation) {
      throw new ProblemError('not-found', `There is no desktop ${id}; it may have left.`);
    }
    this.#kick([slot], KICKED);
    this.#log.info({ desktop: id }, 'the operator has ended a desktop');
  }

  /** Ends a desktop, if it is here, and takes it out of the reports. Throws malformed. */
  async forget(id: string): Promise<{ ended: boolean; reports: number } & Saved> {
    let ended = true;
    try {
      this.kick(id);
    } catch (error) {
      if (!(error instanceof ProblemError && error.document.code === 'not-found')) throw error;
      ended = false;
    }
    const reports = this.list.forget(id);
    return { ended, reports, ...(await savedBy(this.list)) };
  }

  /** Bans an address or a network, and ends the desktops that joined from it; resolves to how many. Throws malformed, list-full. */
  async banAddress(text: string, seconds: number | undefined): Promise<{ address: string; kicked: number } & Saved> {
    const network = networkOf(text);
    this.list.banAddress(network.text, untilMs(seconds));
    this.#sharing?.decided('address', network.text);
    const confirmed = this.#sendCopy();
    let kicked = await this.#kickFrom(network);
    this.#log.info({ network: network.text, seconds }, 'the operator has banned a network');
    const saved = await savedBy(this.list);
    await confirmed; // a worker that hangs delays the answer only
    kicked += await this.#kickFrom(network); // those that such a worker has let in meanwhile
    return { address: network.text, kicked, ...saved };
  }

  /** Ends the ban of a network, and of an address both that of its network and one of its own. Throws malformed, not-found. */
  async unbanAddress(text: string): Promise<Saved> {
    const networks = new Set([networkOf(text).text, readNetwork(text)?.text ?? text]);
    const ended = [...networks].filter((network) => this.list.unbanAddress(network));
    if (ended.length === 0) throw new ProblemError('not-found', `${[...networks].join(' and ')}: not banned.`);
    for (const network of ended) this.#sharing?.decided('address', network);
    await this.#sendCopy();
    this.#log.info({ networks: ended }, 'the operator has ended a ban');
    return savedBy(this.list);
  }

  /** Bans a picture: from now on nobody can throw, upload or fetch it. Throws malformed, list-full. */
  async banPicture(file: string, seconds: number | undefined, isRemoved = false): Promise<Saved> {
    checkFile(file, 'picture');
    this.list.banPicture(file, untilMs(seconds), isRemoved);
    this.#sharing?.decided('picture', file);
    const wasInGallery = this.#removeFromGallery(file);
    const confirmed = this.#sendCopy();
    if (isRemoved) await this.#takeOff(file);
    this.#log.info({ picture: file, seconds }, 'the operator has banned a picture');
    const saved = await (wasInGallery ? savedBy(this.list, this.gallery) : savedBy(this.list));
    await confirmed;
    return saved;
  }

  /** Throws malformed, not-found. */
  async unbanPicture(file: string): Promise<Saved> {
    checkFile(file, 'picture');
    if (!this.list.unbanPicture(file)) throw new ProblemError('not-found', 'This picture is not banned.');
    this.#sharing?.decided('picture', file);
    await this.#sendCopy();
    this.#log.info({ picture: file }, 'the operator has ended a ban');
    return savedBy(this.list);
  }

  /** Bans a picture for ever, deletes it from the store, and takes it off every desktop. Throws malformed, list-full. */
  removePicture(file: string): Promise<Saved> {
    return this.banPicture(file, undefined, true);
  }

  /** Deletes a picture from the store, and takes it off every desktop. */
  async #takeOff(file: string): Promise<void> {
    this.#turns.relay.notify({ type: 'removed', file });
    await this.#send({ type: 'removed', file });
  }

  /** Sends a line of text to every desktop. `isAdopted`: the operator of another relay has announced it. Throws malformed. */
  announce(text: unknown, isAdopted = false): void {
    if (typeof text !== 'string') throw malformed('text', 'must be a string');
    const line = cleanLine(text, 'text', ANNOUNCEMENT_BYTES_MAX);
    if (line === '') throw malformed('text', 'must not be empty');
    this.#turns.relay.notify({ type: 'announcement', text: line });
    this.#log.info({ text: line }, `the operator${isAdopted ? ' of another relay' : ''} has announced something`);
    if (!isAdopted) this.#sharing?.announce(line);
  }

  /** The operators of other relays have decided this. Throws list-full when a list here has no room; what fits holds. */
  async adopt(decisions: readonly SharedDecision[]): Promise<void> {
    const banned: IpNetwork[] = [];
    const removed: string[] = [];
    let changes = 0;
    let isGalleryChanged = false;
    let refused: unknown;
    for (const decision of decisions) {
      if (!this.#isNews(decision)) continue;
      try {
        if (decision.kind === 'listing') {
          if (decision.entry === undefined) this.gallery.remove(decision.file);
          else this.gallery.adopt(decision.entry);
          isGalleryChanged = true;
        } else if (decision.kind === 'address') {
          if (decision.isEnded) this.list.unbanAddress(decision.network);
          else {
            this.list.banAddress(decision.network, decision.untilMs);
            const network = readNetwork(decision.network);
            if (network) banned.push(network);
          }
        } else if (decision.isEnded) this.list.unbanPicture(decision.file);
        else {
          this.list.banPicture(decision.file, decision.untilMs, decision.isRemoved);
          const listing = this.gallery.listing(decision.file);
          isGalleryChanged = this.gallery.remove(decision.file) || isGalleryChanged;
          // This relay may have listed it while the other one banned it, and then that one could not end the listing.
          if (listing !== undefined && listing.relay === undefined) this.#sharing?.decided('listing', decision.file);
          if (decision.isRemoved) removed.push(decision.file);
        }
        changes++;
      } catch (error) {
        refused = error;
      }
    }
    if (changes > 0) {
      const confirmed = this.#sendCopy();
      for (const file of removed) await this.#takeOff(file);
      for (const network of banned) await this.#kickFrom(network);
      this.#log.info({ decisions: changes }, 'operators of other relays have changed bans or the gallery');
      // What is not saved is in the log, and tried again.
      await this.list.save();
      if (isGalleryChanged) await this.gallery.save();
      await confirmed;
    }
    if (refused !== undefined) throw refused;
  }

  #isNews(decision: SharedDecision): boolean {
    if (decision.kind === 'listing') {
      const known = this.gallery.listing(decision.file);
      const { entry } = decision;
      if (entry !== undefined && this.list.isPictureBanned(decision.file)) return false;
      if (entry === undefined || known === undefined) return entry !== known;
      return entry.title !== known.title || entry.author !== known.author || entry.licence !== known.licence;
    }
    const picture = decision.kind === 'picture' ? this.list.pictureBan(decision.file) : undefined;
    const known = decision.kind === 'address' ? this.list.addressBan(decision.network) : picture;
    if (decision.isEnded || known === undefined) return decision.isEnded === (known !== undefined);
    return (
      known.untilMs !== decision.untilMs || (decision.kind === 'picture' && decision.isRemoved && !picture?.isRemoved)
    );
  }

  /** A desktop reports a picture; `reason` may be empty, `desktop` has thrown it. The worker has checked the texts. Throws too-fast. */
  report(slot: number, { file, reason, desktop }: { file: string; reason: string; desktop?: string }): void {
    if (!this.#reports.countIfAllowed(this.#addresses.of(slot))) {
      const most = `At most ${REPORTS_PER_WINDOW_MAX} reports a minute may come from one address.`;
      throw new ProblemError('too-fast', most);
    }
    this.list.report(file, reason, desktop);
  }

  /** A desktop publishes a picture, which the worker has checked. Throws too-fast, list-full. */
  publish(slot: number, publication: Publication): 'waiting' | 'listed' {
    if (!this.#publications.countIfAllowed(this.#addresses.of(slot))) {
      const most = `At most ${PUBLICATIONS_PER_WINDOW_MAX} pictures an hour may be published from one address.`;
      throw new ProblemError('too-fast', most);
    }
    const before = this.gallery.copy.waiting.length;
    const state = this.gallery.publish(publication);
    // Workers must not evict it before the operator has seen it.
    if (this.gallery.copy.waiting.length !== before) void this.#sendCopy();
    return state;
  }

  /** From now on a published picture is in the gallery. Throws malformed, not-found, list-full. */
  async acceptPicture(file: string): Promise<Saved> {
    checkFile(file, 'picture');
    this.gallery.accept(file);
    this.#sharing?.decided('listing', file);
    await this.#sendCopy();
    this.#log.info({ picture: file }, 'the operator has accepted a picture for the gallery');
    return savedBy(this.gallery);
  }

  /** Removes a picture from the gallery, listed or not; it may still be thrown. Throws malformed, not-found. */
  async refusePicture(file: string): Promise<Saved> {
    checkFile(file, 'picture');
    if (!this.#removeFromGallery(file)) throw new ProblemError('not-found', 'Nobody has published this picture.');
    await this.#sendCopy();
    this.#log.info({ picture: file }, 'the operator has removed a picture from the gallery');
    return savedBy(this.gallery);
  }

  /** Removes a picture from the gallery, here and, if it was listed, at the other relays. Returns whether it was there. */
  #removeFromGallery(file: string): boolean {
    const wasListed = this.gallery.listing(file) !== undefined;
    const wasThere = this.gallery.remove(file);
    if (wasListed) this.#sharing?.decided('listing', file);
    return wasThere;
  }

  /** Feedback of a visitor from this address; the worker has checked the texts. Throws too-fast, store-full. */
  addFeedback({ text, contact, address }: Feedback & { address: string }): void {
    const words = readAddress(address) ?? new Uint32Array(4);
    if (!this.#feedbacks.countIfAllowed(words) || !this.#allFeedback.countIfAllowed(EVERYBODY)) {
      throw new ProblemError('too-fast', 'The relay has received a lot of feedback lately; try again in an hour.');
    }
    this.feedback.add({ text, contact });
  }

  /** Throws not-found. */
  async dismiss(file: string): Promise<Saved> {
    checkFile(file, 'picture');
    if (!this.list.dismiss(file)) throw new ProblemError('not-found', 'Nobody has reported this picture.');
    return savedBy(this.list);
  }

  /** Sends the bans and the gallery to every worker. Resolves when all of them enforce it. */
  #sendCopy(): Promise<void> {
    const bans = this.copy;
    this.#bans.update(bans);
    this.#track();
    return this.#send({ type: 'bans', bans });
  }

  /** Flights are counted for what the gallery shows. */
  #track(): void {
    this.#flights.track([...this.#shipped, ...this.gallery.copy.listed.map(({ file }) => file)]);
  }

  /** Ends the desktops of a network, in steps; resolves to how many. */
  async #kickFrom(network: IpNetwork): Promise<number> {
    const { desktops } = this.#turns.relay;
    let kicked = 0;
    for (let slot = 0; slot < desktops.max; ) {
      const end = Math.min(desktops.max, slot + SLOTS_PER_STEP);
      const found: number[] = [];
      for (; slot < end && found.length < KICKS_PER_STEP; slot++) {
        if (desktops.isLive(slot) && isInNetwork(this.#addresses.words, network, slot * 4)) found.push(slot);
      }
      if (found.length > 0) this.#kick(found, BANNED);
      kicked += found.length;
      await nextTurn();
    }
    return kicked;
  }

  /** Ends desktops that the operator does not want here: what they said is lost, too, and no page shows their names any more. */
  #kick(slots: readonly number[], detail: string): void {
    const { relay } = this.#turns;
    for (const slot of slots) {
      relay.silence(slot);
      relay.day.hideName(slot, relay.desktops.generation(slot));
    }
    this.end(slots, detail);
  }

  /** Ends desktops, and closes their sockets. */
  end(slots: readonly number[], detail: string): void {
    const { relay } = this.#turns;
    const desktops = slots.map((slot) => ({ slot, generation: relay.desktops.generation(slot) }));
    for (const slot of slots) relay.leave(slot, detail);
    this.#turns.end();
    void this.#send({ type: 'ended', desktops });
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

/** Saves these lists. */
async function savedBy(...lists: readonly (ModerationList | GalleryList)[]): Promise<Saved> {
  const unsaved = (await Promise.all(lists.map((list) => list.save()))).filter((why) => why !== undefined);
  return unsaved.length === 0 ? {} : { unsaved: `${unsaved.join('; ')}.` };
}

function networkOf(text: string): IpNetwork {
  const network = readBanned(text);
  if (!network) throw malformed('address', 'must be an address such as 192.0.2.7, or a network such as 2001:db8::/48');
  return network;
}
