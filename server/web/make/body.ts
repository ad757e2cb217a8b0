/** The body: a frame with the lines of its hitbox, which a person drags. The number fields beside it do the same. */

import type { Pixels } from '../../wire/files/pixels.ts';
import { EDGES, type Edge } from '../../wire/rules.ts';
import { element } from '../desktop/elements.ts';
import type { Point, Size } from '../motion/simulation.ts';
import { canvasOf } from '../pictures/picture_files.ts';
import { clamp, type Hitbox } from './draft.ts';

const SHOWN_PX = 240; // px of the canvas's longer side
const SLACK_PX = 18; // px by which a pointer may miss a line

const fieldOf = (side: Edge) => element<HTMLInputElement>(`body-${side}`);
const isAcross = (side: Edge) => side === 'left' || side === 'right';

export class Body {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #changed: (hitbox: Hitbox) => void;
  #shown: { frame: Pixels; hitbox: Hitbox; factor: number } | null = null;
  #held: { side: Edge | 'all'; from: Point; hitbox: Hitbox } | null = null;

  constructor(canvas: HTMLCanvasElement, changed: (hitbox: Hitbox) => void) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#changed = changed;
    for (const side of EDGES) fieldOf(side).addEventListener('change', () => this.#typed(side));
    canvas.addEventListener('pointerdown', (event) => this.#pointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.#pointerMoved(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, () => {
        this.#held = null;
      });
    }
  }

  show(frame: Pixels, hitbox: Hitbox): void {
    const factor = SHOWN_PX / Math.max(frame.width, frame.height);
    this.#shown = { frame, hitbox, factor: factor > 1 ? Math.floor(factor) : factor };
    const sides = sidesOf(hitbox);
    for (const side of EDGES) {
      const field = fieldOf(side);
      field.min = '0';
      field.max = String(isAcross(side) ? frame.width : frame.height);
      if (document.activeElement !== field) field.value = String(sides[side]);
    }
    this.#draw();
  }

  #typed(side: Edge): void {
    const { value } = fieldOf(side);
    const to = Math.round(Number(value));
    if (this.#shown === null || value === '' || !Number.isFinite(to)) return;
    const { hitbox, frame } = this.#shown;
    this.#changed(moved(hitbox, side, to - sidesOf(hitbox)[side], frame));
  }

  #pointerDown(event: PointerEvent): void {
    if (this.#shown === null || event.button !== 0) return;
    const from = this.#placeOf(event);
    this.#held = { side: this.#sideAt(from), from, hitbox: this.#shown.hitbox };
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #pointerMoved(event: PointerEvent): void {
    if (this.#shown === null || this.#held === null) return;
    const { side, from, hitbox } = this.#held;
    const { frame } = this.#shown;
    const { x, y } = this.#placeOf(event);
    const by = { x: Math.round(x - from.x), y: Math.round(y - from.y) };
    if (side !== 'all') {
      this.#changed(moved(hitbox, side, isAcross(side) ? by.x : by.y, frame));
      return;
    }
    const [left, top, width, height] = hitbox;
    const to = [clamp(left + by.x, 0, frame.width - width), clamp(top + by.y, 0, frame.height - height)] as const;
    this.#changed([...to, width, height]);
  }

  #placeOf({ clientX, clientY }: PointerEvent): Point {
    const box = this.#canvas.getBoundingClientRect();
    const { width, height } = this.#shown!.frame;
    return { x: ((clientX - box.left) / box.width) * width, y: ((clientY - box.top) / box.height) * height };
  }

  /** The line at a place, or all of them inside of the box. */
  #sideAt({ x, y }: Point): Edge | 'all' {
    const { hitbox, frame } = this.#shown!;
    const px = this.#canvas.getBoundingClientRect().width / frame.width;
    const sides = sidesOf(hitbox);
    const away = (side: Edge) => Math.abs((isAcross(side) ? x : y) - sides[side]) * px;
    const nearest = EDGES.toSorted((a, b) => away(a) - away(b))[0];
    return away(nearest) <= SLACK_PX ? nearest : 'all';
  }

  #draw(): void {
    const { frame, factor } = this.#shown!;
    const [canvas, context] = [this.#canvas, this.#context];
    const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
    const unit = factor * ratio;
    [canvas.width, canvas.height] = [Math.round(frame.width * unit), Math.round(frame.height * unit)];
    canvas.style.width = `${frame.width * factor}px`;
    context.imageSmoothingEnabled = factor < 1;
    context.drawImage(canvasOf(frame), 0, 0, canvas.width, canvas.height);
    this.#drawLines(ratio, unit);
  }

  /** Draws the hitbox, and the ground on which it stands. */
  #drawLines(ratio: number, unit: number): void {
    const [canvas, context] = [this.#canvas, this.#context];
    const [left, top, width, height] = this.#shown!.hitbox;
    context.lineWidth = 2 * ratio;
    context.strokeStyle = '#6a58f5';
    context.setLineDash([5 * ratio, 4 * ratio]);
    context.strokeRect(left * unit + ratio, top * unit + ratio, width * unit - 2 * ratio, height * unit - 2 * ratio);
    context.setLineDash([]);
    context.lineWidth = 4 * ratio;
    context.strokeStyle = '#e8546a';
    context.beginPath();
    const ground = Math.min(canvas.height - 2 * ratio, (top + height) * unit);
    context.moveTo(0, ground);
    context.lineTo(canvas.width, ground);
    context.stroke();
  }
}

function sidesOf([left, top, width, height]: Hitbox): Record<Edge, number> {
  return { left, top, right: left + width, bottom: top + height };
}

/** The hitbox with one side moved. It stays inside of the frame, and at least one pixel wide and high. */
export function moved(hitbox: Hitbox, side: Edge, by: number, frame: Size): Hitbox {
  const sides = sidesOf(hitbox);
  const to = sides[side] + by;
  if (side === 'left') sides.left = clamp(to, 0, sides.right - 1);
  else if (side === 'right') sides.right = clamp(to, sides.left + 1, frame.width);
  else if (side === 'top') sides.top = clamp(to, 0, sides.bottom - 1);
  else sides.bottom = clamp(to, sides.top + 1, frame.height);
  return [sides.left, sides.top, sides.right - sides.left, sides.bottom - sides.top];
}
