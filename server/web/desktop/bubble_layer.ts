/**
 * Draws speech bubbles as elements over the canvas. Clicks pass through them. Screen readers read sayings from #announcements.
 *
 * A bubble glides to its place, so that it does not jump when another one makes room.
 * Cost: nothing while no bubble is shown; else one layout when a bubble appears, and in each frame one transform a bubble.
 */
import { type Anchor, type Box, BUBBLE_WIDTH_MAX, type Bubble, type BubblePlace, placeBubbles } from './bubbles.ts';
import { element } from './panel.ts';

export interface BubbleLayer {
  /** Shows these bubbles, newest first, each at its anchor. `held` is the box of a dragged sprite, which no bubble covers. */
  draw(bubbles: readonly Bubble[], anchorOf: (bubble: Bubble) => Anchor, held: Box | null, frame: BubbleFrame): void;
}

export interface BubbleFrame {
  nowMs: number;
  /** The id of this desktop. Its bubbles have no name. */
  self: string;
  /** Bubbles do not glide (prefers-reduced-motion). */
  calm: boolean;
}

interface Shown {
  readonly element: HTMLElement;
  width: number;
  height: number;
  /** Where it is drawn; null while there is no place for it. */
  at: { left: number; top: number } | null;
}

const FADE_MS = 300; // ms before the end of its time at which a bubble begins to fade out
const GLIDE_MS = 70; // ms in which a bubble goes about two thirds of the way to its place
const MARGIN = 34; // px on each side of the page for the tabs with the neighbours' names
const BELOW_BAR = 8; // px

/** What bubbles do not cover. They do not cover each other either. */
const OBSTACLES = '#talk:not([hidden]), #alone:not([hidden]), .notice';

export function createBubbleLayer(): BubbleLayer {
  const layer = element('bubbles');
  const shown = new Map<Bubble, Shown>();
  let widthMax = 0;
  let lastMs = 0;

  return { draw };

  function draw(
    bubbles: readonly Bubble[],
    anchorOf: (bubble: Bubble) => Anchor,
    held: Box | null,
    { nowMs, self, calm }: BubbleFrame,
  ): void {
    for (const [bubble, { element: gone }] of shown) {
      if (bubbles.includes(bubble)) continue;
      gone.remove();
      shown.delete(bubble);
    }
    const passedMs = nowMs - lastMs;
    lastMs = nowMs;
    if (bubbles.length === 0) return;
    const room = measureRoom();
    measureBubbles(bubbles, self, room);
    const toPlace = bubbles.map((bubble) => ({ ...sizeOf(bubble), anchor: anchorOf(bubble) }));
    const obstacles = [...document.querySelectorAll(OBSTACLES)].map((card): Box => card.getBoundingClientRect());
    const places = placeBubbles(room, toPlace, held === null ? obstacles : [...obstacles, held]);
    const share = calm ? 1 : 1 - Math.exp(-passedMs / GLIDE_MS);
    for (const [i, bubble] of bubbles.entries()) put(bubble, places[i], share, nowMs);
  }

  /** Returns the part of the page where bubbles may be: below the bar, and inside the neighbours' tabs. */
  function measureRoom(): Box {
    const { bottom } = element('bar').getBoundingClientRect();
    return { left: MARGIN, top: bottom + BELOW_BAR, right: innerWidth - MARGIN, bottom: innerHeight - MARGIN };
  }

  /** Makes and measures the elements of new bubbles. When their largest width has changed, it measures all. */
  function measureBubbles(bubbles: readonly Bubble[], self: string, room: Box): void {
    const width = Math.min(BUBBLE_WIDTH_MAX, room.right - room.left);
    const isNew = (bubble: Bubble) => !shown.has(bubble);
    const toMeasure = width === widthMax ? bubbles.filter(isNew) : bubbles;
    if (width !== widthMax) layer.style.setProperty('--bubble-width', `${width}px`);
    widthMax = width;
    for (const bubble of bubbles.filter(isNew)) {
      const made = makeElement(bubble, self);
      layer.append(made);
      shown.set(bubble, { element: made, width: 0, height: 0, at: null });
    }
    for (const bubble of toMeasure) {
      const one = shown.get(bubble)!;
      one.width = one.element.offsetWidth;
      one.height = one.element.offsetHeight;
    }
  }

  function sizeOf(bubble: Bubble): { width: number; height: number } {
    const { width, height } = shown.get(bubble)!;
    return { width, height };
  }

  function put(bubble: Bubble, place: BubblePlace | null, share: number, nowMs: number): void {
    const one = shown.get(bubble)!;
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
    one.element.dataset.tail = place.tail?.side ?? '';
    one.element.style.setProperty('--tail-at', `${Math.round(place.tail?.at ?? 0)}px`);
  }
}

function makeElement({ saying }: Bubble, self: string): HTMLElement {
  const bubble = document.createElement('div');
  bubble.className = 'bubble';
  if (saying.from.desktop !== self) {
    const name = document.createElement('strong');
    name.dir = 'auto';
    name.textContent = saying.from.name;
    bubble.append(name);
  }
  const text = document.createElement('span');
  text.dir = 'auto';
  text.textContent = saying.text;
  bubble.append(text);
  return bubble;
}
