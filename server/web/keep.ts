/**
 * What one tab keeps over a reload: its seat, where it is in the stream of events, and every sprite it is answerable for.
 *
 * Written in one piece before a cursor acknowledges anything, so a sprite is either here or still with the relay.
 * A tab that was duplicated starts with a copy of the other's memory; `claim` tells which of them may go on with it.
 */
import type { Leaving } from './departures.ts';
import type { Sprite } from './simulation.ts';
import type { Arrival, Seat } from './transport.ts';

/** A sprite as it is kept: where it was, and whose it is. */
export type KeptSprite = Pick<Sprite, 'file' | 'name' | 'scale' | 'fromShelf' | 'facing' | 'x' | 'y'>;

export interface Kept {
  seat: Seat;
  name: string;
  /** Of the newest event that was taken in; −1 when none was since the relay's epoch began. */
  seq: number;
  nextNumber: number;
  sprites: KeptSprite[];
  leaving: (Pick<Leaving, 'crossing'> & { sprite: KeptSprite })[];
  /** Pictures of one's own on the shelf. */
  own: { file: string; name: string }[];
  /** Arrived and acknowledged, but there was no room yet. */
  waiting: Arrival[];
}

const KEPT_KEY = 'sprites.desktop';
const NAME_KEY = 'sprites.name';
const CLAIM_TIMEOUT_MS = 600; // ms a reload waits for its former self to let go of the desktop

export function readKept(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_KEY) ?? 'null');
  } catch {
    return null;
  }
}

/** A browser that keeps nothing, or has no room, loses the desktop on a reload; until then all works. */
export function writeKept(kept: Kept): void {
  try {
    sessionStorage.setItem(KEPT_KEY, JSON.stringify(kept));
  } catch {
    // There is nowhere else to write it.
  }
}

export function forgetKept(): void {
  try {
    sessionStorage.removeItem(KEPT_KEY);
  } catch {
    // Nothing was kept to begin with.
  }
}

export function readName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? '';
  } catch {
    return '';
  }
}

export function writeName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

/**
 * Makes this tab the only one of this browser that is the desktop, for as long as the page lives.
 *
 * Shape   false: another tab is it.
 */
export async function claim(desktop: string): Promise<boolean> {
  const name = `sprites-desktop-${desktop}`;
  return navigator.locks === undefined ? claimByAsking(name) : claimByLock(name);
}

function claimByLock(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const held = navigator.locks.request(name, { signal: AbortSignal.timeout(CLAIM_TIMEOUT_MS) }, () => {
      resolve(true);
      return new Promise(() => {}); // held until the page goes
    });
    held.catch(() => resolve(false));
  });
}

/** Pages on plain http have no locks: ask the other tabs instead. Of two that ask at once, the older one stays. */
function claimByAsking(name: string): Promise<boolean> {
  const channel = new BroadcastChannel(name);
  const bornMs = performance.timeOrigin;
  return new Promise((resolve) => {
    const answer = setTimeout(() => resolve(true), CLAIM_TIMEOUT_MS);
    channel.onmessage = ({ data }) => {
      if (data.question === true && data.bornMs > bornMs) channel.postMessage({ question: false, bornMs });
      if (data.question === false && data.bornMs < bornMs) {
        clearTimeout(answer);
        channel.close();
        resolve(false);
      }
    };
    channel.postMessage({ question: true, bornMs });
  });
}
