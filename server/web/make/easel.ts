/**
 * The easel: shows a frame of the picture, in which a person points at the background. With the keyboard, a cross is moved.
 *
 * What is removed shines through faintly, so that the person sees what a click has done.
 */
import type { Pixels } from '../../wire/files/pixels.ts';
import type { Point } from '../motion/simulation.ts';
import { colourAt, type Pick } from '../pictures/cutout.ts';
import { canvasOf } from '../pictures/picture_files.ts';

const SIDE_MAX = 1024; // pixels of the canvas: small pictures are enlarged by a whole number, so that they stay crisp
const FAINT = 0.22; // opacity of what is removed
const STEPS = 40; // steps of the cross from one side to the other

/** Where the arrow keys move the cross. */
const WAYS: Record<string, Point> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export class Easel {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #picked: (pick: Pick) => void;
  #shown: { uncut: Pixels; cut: Pixels } | null = null;
  #cross: Point | null = null;

  constructor(canvas: HTMLCanvasElement, picked: (pick: Pick) => void) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#picked = picked;
    canvas.setAttribute('role', 'application'); // makes screen readers pass the keys on to the page
    canvas.addEventListener('click', (event) => this.#clicked(event));
    canvas.addEventListener('keydown', (event) => this.#keyDown(event));
    canvas.addEventListener('focus', () => {
      if (canvas.matches(':focus-visible')) this.#moveCross({ x: 0, y: 0 }, 0);
    });
    canvas.addEventListener('blur', () => {
      this.#cross = null;
      this.#draw();
    });
  }

  show(uncut: Pixels, cut: Pixels): void {
    const before = this.#shown?.uncut;
    if (before?.width !== uncut.width || before.height !== uncut.height) this.#cross = null;
    this.#shown = { uncut, cut };
    this.#draw();
  }

  #clicked({ clientX, clientY, detail }: MouseEvent): void {
    if (this.#shown === null || detail === 0) return;
    const box = this.#canvas.getBoundingClientRect();
    const { width, height } = this.#shown.uncut;
    this.#pick({ x: ((clientX - box.left) / box.width) * width, y: ((clientY - box.top) / box.height) * height });
  }

  #keyDown(event: KeyboardEvent): void {
    if (this.#shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      this.#moveCross({ x: 0, y: 0 }, 0);
      this.#pick(this.#cross!);
    } else if (Object.hasOwn(WAYS, event.key)) {
      const side = Math.max(this.#shown.uncut.width, this.#shown.uncut.height);
      this.#moveCross(WAYS[event.key], Math.max(1, Math.round(side / (event.shiftKey ? STEPS / 4 : STEPS))));
    } else return;
    event.preventDefault();
  }

  /** Moves the cross by some pixels, inside of the picture. It begins in the middle. */
  #moveCross(way: Point, pixels: number): void {
    if (this.#shown === null) return;
    const { width, height } = this.#shown.uncut;
    const { x, y } = this.#cross ?? { x: Math.floor(width / 2), y: Math.floor(height / 2) };
    this.#cross = inside({ x: x + way.x * pixels, y: y + way.y * pixels }, this.#shown.uncut);
    this.#draw();
  }

  #pick(at: Point): void {
    if (this.#shown === null) return;
    const { x, y } = inside({ x: Math.floor(at.x), y: Math.floor(at.y) }, this.#shown.uncut);
    this.#picked({ x, y, colour: colourAt(this.#shown.uncut, x, y) });
  }

  #draw(): void {
    if (this.#shown === null) return;
    const { uncut, cut } = this.#shown;
    const [canvas, context] = [this.#canvas, this.#context];
    const factor = Math.max(1, Math.floor(SIDE_MAX / 2 / Math.max(uncut.width, uncut.height)));
    [canvas.width, canvas.height] = [uncut.width * factor, uncut.height * factor];
    context.imageSmoothingEnabled = false;
    context.globalAlpha = FAINT;
    context.drawImage(canvasOf(uncut), 0, 0, canvas.width, canvas.height);
    context.globalAlpha = 1;
    context.drawImage(canvasOf(cut), 0, 0, canvas.width, canvas.height);
    if (this.#cross !== null) this.#drawCross((this.#cross.x + 0.5) * factor, (this.#cross.y + 0.5) * factor);
  }

  /** Draws the cross in two colours, so that it is seen on every ground. */
  #drawCross(x: number, y: number): void {
    const context = this.#context;
    const arm = Math.max(this.#canvas.width, this.#canvas.height) / 24;
    const line = Math.max(1, arm / 8);
    for (const [colour, width] of [
      ['#14102f', 3 * line],
      ['#ffffff', line],
    ] as const) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x - arm, y);
      context.lineTo(x + arm, y);
      context.moveTo(x, y - arm);
      context.lineTo(x, y + arm);
      context.stroke();
    }
  }
}

function inside({ x, y }: Point, { width, height }: Pixels): Point {
  return { x: Math.min(width - 1, Math.max(0, x)), y: Math.min(height - 1, Math.max(0, y)) };
}
