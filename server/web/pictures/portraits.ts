/**
 * Portraits: canvases outside of the desktop that show a figure and move.
 *
 * A canvas plays the animation that its `data-animation` names, or `idle`. One that has left the page is forgotten.
 */
import { cellOf, placeOf } from './sheets.ts';
import type { Figure } from './shelf.ts';

/** Draws the next frame of all portraits on the page. An offset for each keeps them out of step. */
export function animatePortraits(nowMs: number): void {
  for (const [canvas, figure] of portraits) {
    if (!canvas.isConnected) portraits.delete(canvas);
    else drawPortrait(canvas, figure, nowMs + figure.name.charCodeAt(0) * 97);
  }
}

/** Moves all portraits of a page that has no clock of its own, unless the visitor wants no motion. */
export function playPortraits(): void {
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  requestAnimationFrame(function draw(nowMs) {
    requestAnimationFrame(draw);
    animatePortraits(calm.matches ? 0 : nowMs);
  });
}

/** The canvases on the page that show a figure. */
const portraits = new Map<HTMLCanvasElement, Figure>();

/** Returns a canvas that shows a figure as long as it is on the page. */
export function portrait(figure: Figure): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  portraits.set(canvas, figure);
  drawPortrait(canvas, figure, 0);
  return canvas;
}

/** Draws what a figure shows above the ground, which is the lower side of the canvas, unless the canvas shows it already. */
export function drawPortrait(canvas: HTMLCanvasElement, { description, image }: Figure, nowMs: number): void {
  const { width } = description.frame;
  const [hitboxLeft, hitboxTop, hitboxWidth, hitboxHeight] = description.hitbox;
  const cell = cellOf(description, canvas.dataset.animation ?? 'idle', nowMs);
  if (canvas.dataset.cell === String(cell)) return;
  canvas.dataset.cell = String(cell);
  const ground = hitboxTop + hitboxHeight;
  const side = Math.max(ground, hitboxWidth);
  [canvas.width, canvas.height] = [side, side];
  const { x, y } = placeOf(description, image, cell);
  const [left, top] = [Math.max(0, Math.round(hitboxLeft + (hitboxWidth - side) / 2)), Math.max(0, ground - side)];
  const [seenWidth, seenHeight] = [Math.min(side, width - left), ground - top];
  const to = [(side - seenWidth) / 2, side - seenHeight] as const;
  canvas.getContext('2d')?.drawImage(image, x + left, y + top, seenWidth, seenHeight, ...to, seenWidth, seenHeight);
}
