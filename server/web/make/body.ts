/** The body: a frame with the lines of its hitbox, which a person drags. The number fields beside it do the same. */
import type { Pixels } from '../../wire/pixels.ts';
import { element } from '../desktop/panel.ts';
import type { Hitbox } from './draft.ts';
import { canvasOf } from './drawing.ts';

export interface Body {
  show(frame: Pixels, hitbox: Hitbox): void;
}

type Side = 'left' | 'right' | 'top' | 'bottom';

const SIDES: readonly Side[] = ['left', 'right', 'top', 'bottom'];
const SHOWN_PX = 240; // px of the canvas's longer side
const SLACK_PX = 18; // px by which a pointer may miss a line

export function createBody(canvas: HTMLCanvasElement, changed: (hitbox: Hitbox) => void): Body {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const fields = SIDES.map((side) => [side, element<HTMLInputElement>(`body-${side}`)] as const);
  let shown: { frame: Pixels; hitbox: Hitbox; factor: number } | null = null;
  let held: { side: Side | 'all'; fromX: number; fromY: number; hitbox: Hitbox } | null = null;

  for (const [side, field] of fields) {
    field.addEventListener('change', () => {
      const value = Math.round(Number(field.value));
      if (shown !== null && field.value !== '' && Number.isFinite(value)) {
        changed(moved(shown.hitbox, side, value - sidesOf(shown.hitbox)[side], shown.frame));
      }
    });
  }
  canvas.addEventListener('pointerdown', (event) => {
    if (shown === null || event.button !== 0) return;
    const { x, y } = placeOf(event);
    held = { side: sideAt(x, y), fromX: x, fromY: y, hitbox: shown.hitbox };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (shown === null || held === null) return;
    const { x, y } = placeOf(event);
    const [byX, byY] = [Math.round(x - held.fromX), Math.round(y - held.fromY)];
    if (held.side === 'all') {
      const [left, top, width, height] = held.hitbox;
      const { frame } = shown;
      const to = [clamp(left + byX, 0, frame.width - width), clamp(top + byY, 0, frame.height - height)] as const;
      changed([...to, width, height]);
    } else {
      const isAcross = held.side === 'left' || held.side === 'right';
      changed(moved(held.hitbox, held.side, isAcross ? byX : byY, shown.frame));
    }
  });
  for (const end of ['pointerup', 'pointercancel'] as const) {
    canvas.addEventListener(end, () => {
      held = null;
    });
  }

  return {
    show(frame, hitbox) {
      const factor = SHOWN_PX / Math.max(frame.width, frame.height);
      shown = { frame, hitbox, factor: factor > 1 ? Math.floor(factor) : factor };
      const sides = sidesOf(hitbox);
      for (const [side, field] of fields) {
        field.min = '0';
        field.max = String(side === 'left' || side === 'right' ? frame.width : frame.height);
        if (document.activeElement !== field) field.value = String(sides[side]);
      }
      draw(shown);
    },
  };

  function placeOf({ clientX, clientY }: PointerEvent): { x: number; y: number } {
    const box = canvas.getBoundingClientRect();
    const { width, height } = shown!.frame;
    return { x: ((clientX - box.left) / box.width) * width, y: ((clientY - box.top) / box.height) * height };
  }

  /** The line at a place, or all of them inside of the box. */
  function sideAt(x: number, y: number): Side | 'all' {
    const { hitbox, frame } = shown!;
    const px = canvas.getBoundingClientRect().width / frame.width;
    const sides = sidesOf(hitbox);
    const away = (side: Side) => Math.abs((side === 'left' || side === 'right' ? x : y) - sides[side]) * px;
    const nearest = SIDES.toSorted((a, b) => away(a) - away(b))[0];
    return away(nearest) <= SLACK_PX ? nearest : 'all';
  }

  function draw({ frame, hitbox: [left, top, width, height], factor }: NonNullable<typeof shown>): void {
    const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
    const unit = factor * ratio;
    [canvas.width, canvas.height] = [Math.round(frame.width * unit), Math.round(frame.height * unit)];
    canvas.style.width = `${frame.width * factor}px`;
    context.imageSmoothingEnabled = factor < 1;
    context.drawImage(canvasOf(frame), 0, 0, canvas.width, canvas.height);
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

function sidesOf([left, top, width, height]: Hitbox): Record<Side, number> {
  return { left, top, right: left + width, bottom: top + height };
}

/** The hitbox with one side moved. It stays inside of the frame, and at least one pixel wide and high. */
export function moved(hitbox: Hitbox, side: Side, by: number, frame: { width: number; height: number }): Hitbox {
  const sides = sidesOf(hitbox);
  const to = sides[side] + by;
  if (side === 'left') sides.left = clamp(to, 0, sides.right - 1);
  else if (side === 'right') sides.right = clamp(to, sides.left + 1, frame.width);
  else if (side === 'top') sides.top = clamp(to, 0, sides.bottom - 1);
  else sides.bottom = clamp(to, sides.top + 1, frame.height);
  return [sides.left, sides.top, sides.right - sides.left, sides.bottom - sides.top];
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
