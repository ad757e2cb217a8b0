/**
 * The easel: shows a frame of the picture, in which a person points at the background. With the keyboard, a cross is moved.
 *
 * What is removed shines through faintly, so that the person sees what a click has done.
 */
import type { Pixels } from '../../wire/pixels.ts';
import { colourAt, type Pick } from './cutout.ts';
import { canvasOf } from './drawing.ts';

export interface Easel {
  show(uncut: Pixels, cut: Pixels): void;
}

const SIDE_MAX = 1024; // pixels of the canvas: small pictures are enlarged by a whole number, so that they stay crisp
const FAINT = 0.22; // opacity of what is removed
const STEPS = 40; // steps of the cross from one side to the other

export function createEasel(canvas: HTMLCanvasElement, picked: (pick: Pick) => void): Easel {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  canvas.setAttribute('role', 'application'); // makes screen readers pass the keys on to the page
  let shown: { uncut: Pixels; cut: Pixels } | null = null;
  let cross: { x: number; y: number } | null = null;

  canvas.addEventListener('click', ({ clientX, clientY, detail }) => {
    if (shown === null || detail === 0) return;
    const box = canvas.getBoundingClientRect();
    const { width, height } = shown.uncut;
    pick(((clientX - box.left) / box.width) * width, ((clientY - box.top) / box.height) * height);
  });
  canvas.addEventListener('keydown', (event) => {
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = shown.uncut;
    const by = Math.max(1, Math.round(Math.max(width, height) / (event.shiftKey ? STEPS / 4 : STEPS)));
    cross ??= { x: Math.floor(width / 2), y: Math.floor(height / 2) };
    if (event.key === 'ArrowLeft') cross.x = Math.max(0, cross.x - by);
    else if (event.key === 'ArrowRight') cross.x = Math.min(width - 1, cross.x + by);
    else if (event.key === 'ArrowUp') cross.y = Math.max(0, cross.y - by);
    else if (event.key === 'ArrowDown') cross.y = Math.min(height - 1, cross.y + by);
    else if (event.key === 'Enter' || event.key === ' ') pick(cross.x, cross.y);
    else return;
    event.preventDefault();
    draw();
  });
  canvas.addEventListener('focus', () => {
    if (shown === null || !canvas.matches(':focus-visible')) return;
    cross ??= { x: Math.floor(shown.uncut.width / 2), y: Math.floor(shown.uncut.height / 2) };
    draw();
  });
  canvas.addEventListener('blur', () => {
    cross = null;
    draw();
  });

  return {
    show(uncut, cut) {
      const isOther = shown?.uncut.width !== uncut.width || shown.uncut.height !== uncut.height;
      if (isOther) cross = null;
      shown = { uncut, cut };
      draw();
    },
  };

  function pick(atX: number, atY: number): void {
    if (shown === null) return;
    const { uncut } = shown;
    const x = Math.min(uncut.width - 1, Math.max(0, Math.floor(atX)));
    const y = Math.min(uncut.height - 1, Math.max(0, Math.floor(atY)));
    picked({ x, y, colour: colourAt(uncut, x, y) });
  }

  function draw(): void {
    if (shown === null) return;
    const { uncut, cut } = shown;
    const factor = Math.max(1, Math.floor(SIDE_MAX / 2 / Math.max(uncut.width, uncut.height)));
    [canvas.width, canvas.height] = [uncut.width * factor, uncut.height * factor];
    context.imageSmoothingEnabled = false;
    context.globalAlpha = FAINT;
    context.drawImage(canvasOf(uncut), 0, 0, canvas.width, canvas.height);
    context.globalAlpha = 1;
    context.drawImage(canvasOf(cut), 0, 0, canvas.width, canvas.height);
    if (cross !== null) drawCross((cross.x + 0.5) * factor, (cross.y + 0.5) * factor);
  }

  /** Draws the cross in two colours, so that it is seen on every ground. */
  function drawCross(x: number, y: number): void {
    const arm = Math.max(canvas.width, canvas.height) / 24;
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
