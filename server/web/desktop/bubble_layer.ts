/**
 * Draws speech bubbles as elements over the canvas. Clicks pass through them. Screen readers read sayings from #announcements.
 *
 * A bubble glides to its place, so that it does not jump when another one makes room.
 * Cost: nothing while no bubble is shown; else one layout when a bubble appears, and in each frame one transform a bubble.
 */
import { shownName } from '../relay/api_client.ts';
import { type Anchor, type Box, BUBBLE_WIDTH_MAX, type Bubble, type BubblePlace, placeBubbles } from './bubbles.ts';
import { element, newElement } from './elements.ts';
import { isReaction } from './reactions.ts';

interface BubbleFrame {
  nowMs: number;
  /** The id of this desktop. Its bubbles have no name. */
  self: string;
  /** Bubbles do not glide (prefers-reduced-motion). */
  calm: boolean;
  /** The box of a dragged sprite, which no bubble covers. */
  held: Box | null;
}

interface Shown {
  readonly element: HTMLElement;
  width: number;
  height: number;
  /** Where it is drawn; null while there is no place for it. */
  at: { left: number; top: number } | null;
  tail: BubblePlace['tail'];
}

/** A bubble as the page shows it, in px of the page. */
export interface ShownBubble extends Omit<Shown, 'element' | 'at'> {
  /** Empty for this desktop's own. */
  readonly name: string;
  readonly text: string;
  readonly isReaction: boolean;
  readonly left: number;
  readonly top: number;
}

const FADE_MS = 300; // ms before the end of its time at which a bubble begins to fade out
const GLIDE_MS = 70; // ms in which a bubble goes about two thirds of the way to its place
const MARGIN = 34; // px on each side of the page for the tabs with the neighbours' names
const BELOW_BAR = 8; // px

/** What bubbles do not cover. They do not cover each other either. */
const OBSTACLES = '#talk:not([hidden]), #alone:not([hidden]), .notice';

export class BubbleLayer {
  readonly #layer = element('bubbles');
  readonly #shown = new Map<Bubble, Shown>();
  #widthMax = 0;
  #lastMs = 0;

  /** Shows these bubbles, newest first, each at its anchor. */
  draw(bubbles: readonly Bubble[], anchorOf: (bubble: Bubble) => Anchor, frame: BubbleFrame): void {
    const { nowMs, self, calm, held } = frame;
    this.#removeAllBut(bubbles);
    const share = calm ? 1 : 1 - Math.exp(-(nowMs - this.#lastMs) / GLIDE_MS);
    this.#lastMs = nowMs;
    if (bubbles.length === 0) return;
    const room = roomOfPage();
    this.#measure(bubbles, self, room);
    const toPlace = bubbles.map((bubble) => {
      const { width, height } = this.#shown.get(bubble)!;
      return { width, height, anchor: anchorOf(bubble) };
    });
    const obstacles = [...document.querySelectorAll(OBSTACLES)].map((card): Box => card.getBoundingClientRect());
    const places = placeBubbles(room, toPlace, held === null ? obstacles : [...obstacles, held]);
    for (const [i, bubble] of bubbles.entries()) this.#put(bubble, places[i], share, nowMs);
  }

  /** Returns the bubbles that have a place, those below others first. */
  shown(): ShownBubble[] {
    return [...this.#shown].flatMap(([{ saying }, { element: bubble, at, ...box }]) => {
      const name = bubble.querySelector('strong')?.textContent ?? '';
      return at === null ? [] : [{ name, text: saying.text, isReaction: isReaction(saying.text), ...at, ...box }];
    });
  }

  #removeAllBut(bubbles: readonly Bubble[]): void {
    for (const [bubble, { element: gone }] of this.#shown) {
      if (bubbles.includes(bubble)) continue;
      gone.remove();
      this.#shown.delete(bubble);
    }
  }

  /** Makes and measures the elements of new bubbles. When their largest width has changed, it measures all. */
  #measure(bubbles: readonly Bubble[], self: string, room: Box): void {
    const width = Math.min(BUBBLE_WIDTH_MAX, room.right - room.left);
    const added = bubbles.filter((bubble) => !this.#shown.has(bubble));
    const toMeasure = width === this.#widthMax ? added : bubbles;
    if (width !== this.#widthMax) this.#layer.style.setProperty('--bubble-width', `${width}px`);
    this.#widthMax = width;
    for (const bubble of added) {
      const made = bubbleElement(bubble, self);
      this.#layer.append(made);
      this.#shown.set(bubble, { element: made, width: 0, height: 0, at: null, tail: null });
    }
    for (const bubble of toMeasure) {
      const one = this.#shown.get(bubble)!;
      one.width = one.element.offsetWidth;
      one.height = one.element.offsetHeight;
    }
  }

  #put(bubble: Bubble, place: BubblePlace | null, share: number, nowMs: number): void {
    const one = this.#shown.get(bubble)!;
    one.element.classList.toggle('going', bubble.untilMs - nowMs < FADE_MS);
    one.element.classList.toggle('placed', place !== null);
    if (place === null) {
      one.at = null;
      return;
    }
    const from = one.at ?? place;
    one.at = {
      left: from.left + (place.left - from.left) * share,
      top: from.top + (place.top - from.top) * share,
    };
    one.element.style.transform = `translate(${Math.round(one.at.left)}px, ${Math.round(one.at.top)}px)`;
    one.tail = place.tail;
    one.element.dataset.tail = place.tail?.side ?? '';
    one.element.style.setProperty('--tail-at', `${Math.round(place.tail?.at ?? 0)}px`);
  }
}

/** Returns the part of the page where bubbles may be: below the bar, and inside the neighbours' tabs. */
function roomOfPage(): Box {
  const { bottom } = element('bar').getBoundingClientRect();
  return { left: MARGIN, top: bottom + BELOW_BAR, right: innerWidth - MARGIN, bottom: innerHeight - MARGIN };
}

function bubbleElement({ saying: { from, text } }: Bubble, self: string): HTMLElement {
  const bubble = newElement('div', { className: isReaction(text) ? 'bubble reaction' : 'bubble' });
  if (from.desktop !== self) bubble.append(newElement('strong', { dir: 'auto', textContent: shownName(from.name) }));
  bubble.append(newElement('span', { dir: 'auto', textContent: text }));
  return bubble;
}
