/**
 * Swaps: two desktops of a small private world change places, when one asks and the other one agrees.
 *
 * A place whose desktop is away, or is a resident's, is free: it is taken at once. Who asks never learns of a no: that looks as silence does.
 * Places stay a bijection, whatever is swapped, so the torus keeps its law. The journal gets two facts about places, which it has anyway.
 * Writer: the questions (slots/swap_requests.ts), and the mark SWAP_DUE.
 * Cost: O(SWAPS_OPEN_MAX) a call, which the rate of questions bounds.
 */
import { ProblemError } from '../wire/problem.ts';
import { isResident } from '../wire/resident.ts';
import { AWAY_MS, COMPANY_MAX, SWAP_LEASE_MS } from '../wire/rules.ts';
import type { SwapAnswer, SwapWish } from '../wire/swap.ts';
import type { News } from './news.ts';
import { SWAP_DUE } from './slots/marks.ts';
import { RateLimits } from './slots/rate_limits.ts';
import { SWAPS_BURST_MAX, SWAPS_PER_MINUTE_MAX } from './state/limits.ts';
import type { Tables } from './tables.ts';
import type { WayDown } from './way_down.ts';

/** What became of a question: the other desktop is asked for `leaseMs`, or its place was free. */
interface Asked {
  readonly swap: 'asked' | 'done';
  readonly leaseMs: number;
}

const ASKED: Asked = { swap: 'asked', leaseMs: SWAP_LEASE_MS };
const DONE: Asked = { swap: 'done', leaseMs: 0 };

export class Swaps {
  readonly #tables: Tables;
  readonly #news: News;
  readonly #down: WayDown;
  readonly #rates: RateLimits;

  constructor(tables: Tables, news: News, down: WayDown) {
    this.#tables = tables;
    this.#news = news;
    this.#down = down;
    this.#rates = new RateLimits(tables.desktops.max, SWAPS_PER_MINUTE_MAX / 60, SWAPS_BURST_MAX);
  }

  /** A live desktop asks another one, and no other one any more. Throws swap-gone, too-fast, relay-busy, draining. */
  ask(slot: number, wish: SwapWish): Asked {
    const { swaps, nowMs } = this.#tables;
    if (this.#down.draining) throw new ProblemError('draining', 'The relay is going down; ask again in some seconds.');
    const other = this.#find(slot, wish);
    if (!this.#rates.countIfAllowed(slot, nowMs)) {
      throw new ProblemError('too-fast', `A desktop can ask ${SWAPS_PER_MINUTE_MAX} times a minute to change places.`);
    }
    this.#close(slot);
    if (this.#down.silentMs(other) >= AWAY_MS || isResident(wish.name)) {
      this.#swap(slot, other);
      this.#tell(other, slot);
      return DONE;
    }
    if (this.#tables.mutes.has(other, slot, this.#tables.desktops.generation(slot))) return ASKED;
    if (swaps.isFull) throw new ProblemError('relay-busy', 'Too many desktops ask to change places; ask again later.');
    swaps.ask(slot, other, nowMs);
    if (swaps.questionOf(other)?.asker === slot) this.#due(other);
    return ASKED;
  }

  /** A live desktop answers another one. Throws swap-gone when it accepts a question that is over. */
  answer(slot: number, { from, accept }: SwapAnswer): void {
    const { swaps, desktops } = this.#tables;
    const question = swaps.questionFrom(from.slot);
    const isOpen = question?.asked === slot && desktops.generation(from.slot) === from.generation;
    if (isOpen) {
      swaps.close(from.slot);
      if (swaps.questionOf(slot) !== undefined) this.#due(slot);
    }
    if (!accept) return;
    if (!isOpen) throw new ProblemError('swap-gone', 'This desktop does not ask any more to change places.');
    this.#swap(slot, from.slot);
    this.#tell(from.slot, slot);
  }

  /** A desktop has ended: it neither asks nor is asked. */
  leave(slot: number): void {
    const { swaps } = this.#tables;
    this.#rates.clear(slot);
    this.#close(slot);
    swaps.popPartner(slot);
    for (let one = swaps.questionOf(slot); one !== undefined; one = swaps.questionOf(slot)) swaps.close(one.asker);
  }

  /** Ends the questions that were open for too long. */
  step(): void {
    const { swaps, nowMs } = this.#tables;
    for (let one = swaps.popEnded(nowMs); one !== undefined; one = swaps.popEnded(nowMs)) this.#due(one.asked);
  }

  /** The desktop that is meant, as the list of the company has it. */
  #find(slot: number, { name, column, row }: SwapWish): number {
    const { torus, defaultWorld, desktops } = this.#tables;
    const world = torus.worldOf(slot);
    if (world !== defaultWorld && world.count <= COMPANY_MAX) {
      const { count, width, slots } = world;
      const place = (((torus.placeOf(slot) + column + row * width) % count) + count) % count;
      const other = slots[place];
      if (other !== slot && desktops.name(other) === name) return other;
    }
    throw new ProblemError('swap-gone', 'Nobody of this name sits there; look at the company again.');
  }

  #swap(slot: number, other: number): void {
    const { torus, facts } = this.#tables;
    torus.swap(slot, other);
    for (const one of [slot, other]) facts?.place(one, torus.placeOf(one));
    this.#news.worldChanged(torus.worldOf(slot));
  }

  /** Tells a desktop that it has changed places with `partner`. */
  #tell(slot: number, partner: number): void {
    const { swaps, desktops } = this.#tables;
    swaps.swapped(slot, Buffer.from(JSON.stringify({ desktop: desktops.id(partner), name: desktops.name(partner) })));
    this.#due(slot);
  }

  #close(asker: number): void {
    const question = this.#tables.swaps.close(asker);
    if (question !== undefined) this.#due(question.asked);
  }

  #due(slot: number): void {
    this.#tables.marks.set(slot, SWAP_DUE);
    this.#down.markReady(slot);
  }
}
