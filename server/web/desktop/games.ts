/**
 * Two small games that need nothing but crossings: keep up, and hot potato. Loaded with the first sprite that somebody else throws here.
 *
 * The rules are those of client-win/BEHAVIOUR.md (Games); `relay.vectors.json` is played here and in core/relay/crossings/games.cc. The
 * time is that of a clock which does not stop with the page: all desktops mean the same by it.
 */
import type { Sprite } from '../motion/simulation.ts';
import { phrase } from '../texts/language.ts';

const KEPT_UP_MAX = 9_999; // edges in a row: nobody has gone so far
const KEPT_UP_SHOWN_MIN = 2; // edges in a row that are a game: one throw is none
const POTATO_MS_MIN = 15_000; // ms until a potato goes off: some throws there and back
const POTATO_MS_MAX = 40_000; // ms likewise: before it gets dull, and it is not known when
const POTATO_STEP_MS = 100; // ms: the unit in which a potato says how long it has left
const LOST_MS = 2_000; // ms after its end until a potato that was thrown on has not come back

/** How a game is shown. */
interface Handlers {
  /** What is shown over sprites now. */
  readonly tags: Map<Sprite, unknown>;
  /** Shows words over a sprite for a while. */
  tag(sprite: Sprite, words: string): void;
  announce(words: string): void;
  /** A game is over. */
  over(words: string): void;
}

export class Games {
  readonly #handlers: Handlers;
  /** Sprites in the air since they came in, and over how many edges in a row they have gone. */
  readonly #kept = new Map<Sprite, number>();
  /** Potatoes that are here, and when they go off. */
  readonly #potatoes = new Map<Sprite, number>();
  /** Potatoes that were thrown on: their file and name, and when it is known that they went off elsewhere. */
  readonly #away = new Map<string, number>();

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
  }

  /** Somebody has thrown a sprite here, with this animation. */
  arrived(sprite: Sprite, animation: string, nowMs = performance.now()): void {
    this.#away.delete(keyOf(sprite)); // it has not gone off, even if who had it plays no games
    const [, game, digits] = /^(keep-up|hot-potato)-([1-9][0-9]{0,3})$/.exec(animation) ?? [];
    if (game === 'hot-potato') {
      this.#hold(sprite, nowMs + Math.min(Number(digits) * POTATO_STEP_MS, POTATO_MS_MAX));
      return;
    }
    const count = game === 'keep-up' ? Number(digits) : 1;
    this.#kept.set(sprite, count);
    if (count >= KEPT_UP_SHOWN_MIN) this.#show(sprite, phrase('game.kept-up', { count }));
  }

  /** This person makes a sprite a hot potato. `luck`: 0 … 1. */
  light(sprite: Sprite, luck = Math.random(), nowMs = performance.now()): void {
    this.#hold(sprite, nowMs + POTATO_MS_MIN + luck * (POTATO_MS_MAX - POTATO_MS_MIN));
  }

  /** A sprite leaves over an edge: the animation with which it does. Undefined for one without a game. */
  animationOf(sprite: Sprite, nowMs = performance.now()): string | undefined {
    const endMs = this.#potatoes.get(sprite);
    if (endMs !== undefined) return `hot-potato-${Math.max(1, Math.ceil((endMs - nowMs) / POTATO_STEP_MS))}`;
    const count = this.#kept.get(sprite);
    return count === undefined ? undefined : `keep-up-${Math.min(count + 1, KEPT_UP_MAX)}`;
  }

  /** Somebody else has a sprite now. */
  gone(sprite: Sprite): void {
    const endMs = this.#potatoes.get(sprite);
    this.#potatoes.delete(sprite);
    const isBack = [...this.#potatoes.keys()].some((one) => keyOf(one) === keyOf(sprite)); // before the relay's answer
    if (endMs !== undefined && !isBack) this.#away.set(keyOf(sprite), endMs + LOST_MS);
    this.#kept.delete(sprite);
  }

  /** Looks who has touched the ground, and which potatoes have gone off. Call it in each frame. */
  step(sprites: readonly Sprite[], nowMs = performance.now()): void {
    for (const [sprite, count] of this.#kept) {
      if (!sprites.includes(sprite) || sprite.mode === 'fall' || sprite.mode === 'drag') continue;
      this.#kept.delete(sprite);
      if (count >= KEPT_UP_SHOWN_MIN) this.#handlers.over(phrase('game.dropped', { name: sprite.name, count }));
    }
    for (const [sprite, endMs] of this.#potatoes) {
      if (!sprites.includes(sprite)) continue; // one on its way goes off where it arrives
      if (nowMs < endMs) {
        if (!this.#handlers.tags.has(sprite)) this.#handlers.tag(sprite, '🔥');
        continue;
      }
      this.#potatoes.delete(sprite);
      this.#handlers.tags.delete(sprite);
      this.#handlers.over(phrase('game.burnt', { name: sprite.name }));
    }
    for (const [key, lostMs] of this.#away) {
      if (nowMs < lostMs) continue;
      this.#away.delete(key);
      this.#handlers.over(phrase('game.burnt-there', { name: key.slice(key.indexOf(' ') + 1) }));
    }
  }

  #hold(sprite: Sprite, endMs: number): void {
    this.#kept.delete(sprite);
    this.#potatoes.set(sprite, endMs);
    this.#show(sprite, phrase('game.hot'));
  }

  #show(sprite: Sprite, words: string): void {
    this.#handlers.tag(sprite, words);
    this.#handlers.announce(words);
  }
}

function keyOf({ file, name }: Sprite): string {
  return `${file} ${name}`;
}
