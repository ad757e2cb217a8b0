/**
 * What one tab saves for a reload: its seat, its position in the stream of events, and every sprite it is responsible for.
 *
 * All of it is written at once, before a cursor acknowledges anything, so each sprite is either here or with the relay.
 * A duplicated tab starts with a copy of the other tab's session; `claimDesktop` decides which of the two may use it.
 */
import { friendlyName, languageOf } from '../../wire/friendly_names.ts';
import type { Edge } from '../../wire/rules.ts';
import type { Carried, Goal, Sprite } from '../motion/simulation.ts';
import type { OwnFigure } from '../pictures/shelf.ts';
import type { AwaySprite } from '../relay/away.ts';
import type { SavedSayings } from '../relay/sayings.ts';
import { type Arrival, type Crossing, type Neighbour, readSeat, type Seat, type Sender } from '../relay/transport.ts';
import { KeptChoice, KeptText } from './kept_text.ts';

/** A sprite as it is saved: what it is, where it was, and whether it is from the shelf. */
export type SavedSprite = Carried &
  Pick<Sprite, 'fromShelf' | 'x' | 'y'> & {
    /** The number of the event that brought it with the last batch, which the relay may not know to be received. */
    seq?: number;
    /** Of a guest: who threw it, and the edge by which it goes on. */
    guest?: { from: Neighbour; edge: Edge };
    /** Of a guest that is on its way to somebody: what its next crossing says. */
    goal?: Goal;
  };

/** A throw without a verdict. */
interface SavedCrossing {
  crossing: Crossing;
  sprite: SavedSprite;
  /** The seat that sends it. */
  sender: Sender;
}

export interface Session {
  seat: Seat;
  name: string;
  /** The sequence number of the newest event received; −1 when there was none in the relay's present epoch. */
  seq: number;
  nextNumber: number;
  sayings: SavedSayings;
  sprites: SavedSprite[];
  /** The own sprites that were thrown and are not home again. */
  away?: readonly AwaySprite[];
  /** Thrown, and not yet accepted by the relay. */
  leaving: SavedCrossing[];
  own: OwnFigure[];
  /** Waiting for room. */
  waiting: Arrival[];
  /** How many of these, the newest, came with the last batch. */
  newWaiting: number;
  /** The page went for good and has ended its seat: it joins again when the person comes back to it. */
  left?: true;
}

const SESSION = new KeptText('sessionStorage', 'sprites.desktop');
export const NAME = new KeptText('localStorage', 'sprites.name');
/** A neighbour has got a sprite from this browser. */
export const HAS_THROWN = new KeptChoice('sprites.thrown');
/** This person's name is not in the journeys of what it throws. */
export const UNSIGNED = new KeptChoice('sprites.unsigned');
const FRIENDLY = new KeptText('localStorage', 'sprites.friendly-name');
const CLAIM_TIMEOUT_MS = 600; // ms at least that a reloaded page waits for its predecessor to release the desktop
const CLAIM_TRIES = 12; // how often it asks meanwhile

export function readSession(): Session | null {
  const session = SESSION.readJson<Session>();
  return session && { ...session, seat: readSeat(session.seat) };
}

/** A browser that keeps nothing loses the desktop with a reload. */
export function writeSession(session: Session): void {
  SESSION.write(JSON.stringify(session));
}

export function clearSession(): void {
  SESSION.clear();
}

/** The name of a visitor who types none: two words in the visitor's language, picked at the first visit and kept. */
export function readFriendlyName(random: () => number, languages: readonly string[]): string {
  const name = FRIENDLY.read() || friendlyName(Math.floor(random() * 2 ** 32), languageOf(languages));
  FRIENDLY.write(name);
  return name;
}

/** Claims a desktop for this tab, for as long as the page lives. Returns false when another tab of this browser has it. */
export async function claimDesktop(desktop: string): Promise<boolean> {
  const name = `sprites-desktop-${desktop}`;
  return navigator.locks === undefined ? claimByAsking(name) : claimByLock(name);
}

/** Asks a number of times, and not until some time: a page that is slow also hears late that it has the lock. */
async function claimByLock(name: string): Promise<boolean> {
  for (let tries = 1; tries <= CLAIM_TRIES; tries++) {
    if (await takeLock(name)) return true;
    await new Promise((resolve) => setTimeout(resolve, CLAIM_TIMEOUT_MS / CLAIM_TRIES));
  }
  return false;
}

function takeLock(name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {}); // held until the page is unloaded
    });
    held.catch(reject);
  });
}

/** Asks the other tabs: pages on plain http have no locks. Of two tabs that ask at once, the older one gets the desktop. */
function claimByAsking(name: string): Promise<boolean> {
  const channel = new BroadcastChannel(name);
  const bornMs = performance.timeOrigin;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), CLAIM_TIMEOUT_MS);
    channel.onmessage = ({ data }) => {
      if (data.question === true && data.bornMs > bornMs) channel.postMessage({ question: false, bornMs });
      if (data.question === false && data.bornMs < bornMs) {
        clearTimeout(timer);
        channel.close();
        resolve(false);
      }
    };
    channel.postMessage({ question: true, bornMs });
  });
}
