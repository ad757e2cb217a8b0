/** Pointer and keyboard: turns what a person does into calls of the simulation. Its only state is which sprite is selected. */
import type { Edge, Reaction } from '../../wire/rules.ts';
import {
  drag,
  grab,
  type Point,
  point,
  release,
  type Simulation,
  type Sprite,
  spriteAt,
  steer,
  throwTo,
} from '../motion/simulation.ts';
import { REACTION_KEYS } from './reactions.ts';

/** What a page does about keys and about a selected sprite, besides moving it. */
interface InputHandlers {
  /** Returns where on the desktop an event is. */
  onDesktop(event: PointerEvent): Point;
  togglePause(): void;
  selected?(sprite: Sprite | null): void;
  /** The pointer rests on a sprite. */
  rested?(sprite: Sprite): void;
  /** The person wants to put this sprite back on the shelf. */
  putBack?(sprite: Sprite): void;
  /** The person wants to say something. */
  say?(): void;
  /** The person waves, sends a heart or laughs. */
  react?(reaction: Reaction): void;
  /** The person wants to keep what the stage shows, or how it has moved. */
  photograph?(kind: 'picture' | 'animation'): void;
  /** The person wants to look over the next edge, or has gone through all and wants to look over none. */
  peek?(): void;
  stopPeeking?(): void;
}

const FINGER_SLACK = 14; // px by which a finger or a pen may miss a sprite
const REST_MS = 500; // ms that a pointer rests on a sprite until that tells of itself: one that passes by, or strokes, asks nothing
const MOUSE_SLACK = 3; // px by which a mouse may miss a sprite

const ARROWS: Record<string, Edge> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'top', ArrowDown: 'bottom' };

/** What the keys steer. Down only drops a sprite: nothing ends when that key is released. */
const STEERS: Record<string, 'left' | 'right' | 'jump'> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'jump',
  ' ': 'jump',
};

export class Input {
  #selected: Sprite | null = null;
  #resting: ReturnType<typeof setTimeout> | undefined;
  readonly #canvas: HTMLCanvasElement;
  readonly #simulation: Simulation;
  readonly #handlers: InputHandlers;

  /** The keys are those that are pressed in `keysIn`. */
  constructor(
    canvas: HTMLCanvasElement,
    simulation: Simulation,
    handlers: InputHandlers,
    keysIn: Document | HTMLElement = document,
  ) {
    this.#canvas = canvas;
    this.#simulation = simulation;
    this.#handlers = handlers;
    canvas.setAttribute('role', 'application'); // makes screen readers pass the keys on to the page
    canvas.addEventListener('pointerdown', (event) => this.#pointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.#pointerMoved(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, (event) => this.#pointerUp(event));
    }
    keysIn.addEventListener('keydown', (event) => this.#keyDown(event as KeyboardEvent));
    keysIn.addEventListener('keyup', (event) => this.#keyUp(event as KeyboardEvent));
    canvas.addEventListener('pointerleave', () => clearTimeout(this.#resting));
    // The page gets no keyup for a key that is released while another window has the focus.
    addEventListener('blur', () => {
      simulation.steered = null;
    });
  }

  get selected(): Sprite | null {
    return this.#selected;
  }

  #select(sprite: Sprite | null): void {
    if (this.#selected === sprite) return;
    this.#selected = sprite;
    this.#handlers.selected?.(sprite);
  }

  #spriteUnder(event: PointerEvent): Sprite | null {
    const { x, y } = this.#handlers.onDesktop(event);
    return spriteAt(this.#simulation, x, y, event.pointerType === 'mouse' ? MOUSE_SLACK : FINGER_SLACK);
  }

  #pointerDown(event: PointerEvent): void {
    if (event.button !== 0 || this.#simulation.held !== null) return;
    this.#canvas.focus({ preventScroll: true });
    const sprite = this.#spriteUnder(event);
    this.#select(sprite);
    if (sprite === null) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#canvas.classList.add('holding');
    const { x, y } = this.#handlers.onDesktop(event);
    grab(this.#simulation, sprite, x, y, event.timeStamp);
  }

  #pointerMoved(event: PointerEvent): void {
    if (!this.#canvas.hasPointerCapture(event.pointerId)) {
      const { x, y } = this.#handlers.onDesktop(event);
      point(this.#simulation, x, y);
      this.#canvas.classList.toggle('over', this.#spriteUnder(event) !== null);
      clearTimeout(this.#resting);
      this.#resting = setTimeout(() => this.#rest(event), REST_MS);
      return;
    }
    // Between two frames a pointer reports several points. All of them count for the speed of the throw.
    const points = event.getCoalescedEvents?.() ?? [];
    for (const one of points.length > 0 ? points : [event]) {
      const { x, y } = this.#handlers.onDesktop(one);
      drag(this.#simulation, x, y, one.timeStamp);
    }
  }

  #rest(event: PointerEvent): void {
    const sprite = this.#simulation.held === null ? this.#spriteUnder(event) : null;
    if (sprite !== null) this.#handlers.rested?.(sprite);
  }

  #pointerUp({ pointerId, timeStamp }: PointerEvent): void {
    if (!this.#canvas.hasPointerCapture(pointerId)) return;
    this.#canvas.releasePointerCapture(pointerId);
    this.#canvas.classList.remove('holding');
    release(this.#simulation, timeStamp);
  }

  #keyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.target as Element).closest('dialog, input, button, a')) return;
    if (this.#selected !== null && !this.#simulation.sprites.includes(this.#selected)) this.#select(null);
    if (this.#isPageKey(event) || this.#isSpriteKey(event)) event.preventDefault();
  }

  #keyUp({ key }: KeyboardEvent): void {
    if (this.#selected === null || this.#simulation.steered === null) return;
    if (Object.hasOwn(STEERS, key)) steer(this.#simulation, this.#selected, STEERS[key], false);
  }

  /** Handles a key that means the same whatever is selected. Returns whether it is one. */
  #isPageKey({ key, repeat, shiftKey }: KeyboardEvent): boolean {
    const { sprites } = this.#simulation;
    const { togglePause, say, react, photograph, peek, stopPeeking } = this.#handlers;
    const name = key.length === 1 ? key.toLowerCase() : key;
    const reaction = REACTION_KEYS[name];
    if (reaction !== undefined) {
      if (!repeat) react?.(reaction);
      return true;
    }
    switch (name) {
      case 'n':
        this.#select(sprites[(sprites.indexOf(this.#selected!) + 1) % sprites.length] ?? null);
        return true;
      case 'p':
        if (!repeat) togglePause();
        return true;
      case 'Enter':
        if (!repeat) say?.();
        return true;
      case 'c':
        if (!repeat) photograph?.(shiftKey ? 'animation' : 'picture');
        return true;
      case 'v':
        if (!repeat) peek?.();
        return true;
      case 'Escape':
        stopPeeking?.();
        this.#select(null);
        return false;
      default:
        return false;
    }
  }

  /** Handles a key that moves the selected sprite. Returns whether it does. */
  #isSpriteKey({ key, shiftKey, repeat }: KeyboardEvent): boolean {
    const sprite = this.#selected;
    if (sprite === null || sprite.mode === 'drag') return false;
    const edge = ARROWS[key];
    if (edge !== undefined && shiftKey) {
      if (!repeat) throwTo(this.#simulation, sprite, edge);
    } else if (edge === 'bottom') {
      if (!repeat) steer(this.#simulation, sprite, 'drop', true);
    } else if (Object.hasOwn(STEERS, key)) {
      steer(this.#simulation, sprite, STEERS[key], true);
    } else if (key === 'Delete' || key === 'Backspace') {
      this.#handlers.putBack?.(sprite);
    } else {
      return false;
    }
    return true;
  }
}
