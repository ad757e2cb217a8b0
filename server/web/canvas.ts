/**
 * Draws the simulation on a canvas: sprites in whole device pixels, their shadows and their tags, and the silhouettes of the
 * sprites beyond the edge that a person looks over.
 *
 * Reads the simulation and changes nothing in it. Scales up by nearest neighbour, at any pixel ratio.
 * Cost: one drawImage per sprite and frame; text only for tags that are shown.
 */
import type { Description } from '../wire/description.ts';
import type { View } from './peeking.ts';
import { cellOf, type Sheets, shownScale } from './sheets.ts';
import type { Silhouette } from './silhouettes.ts';
import type { Edge, Facing, Point, Simulation, Sprite } from './simulation.ts';

/** A label over a sprite's head, until `untilMs` of the simulation's clock. */
export interface Tag {
  text: string;
  kind: 'from' | 'refused' | 'name';
  untilMs: number;
}

export interface Renderer {
  draw(
    simulation: Simulation,
    tags: ReadonlyMap<Sprite, Tag>,
    selected: Sprite | null,
    view: View,
    nowMs: number,
  ): void;
  /** Fits the canvas to its place on the page. Returns its size in device-independent pixels. */
  fit(): { width: number; height: number };
}

const TAG_FONT = '600 12px system-ui, sans-serif';
const TAG_FADE_MS = 400; // ms a tag takes to fade out
const SILHOUETTE_ALPHA = 0.8;
const UNKNOWN_SIDE = 36; // px; side of the silhouette of a sprite whose picture has not been loaded yet

/** Returns by how much the desktop has slid, in px to the right and down. */
export function slideOf({ edge, shift }: View): Point {
  if (edge === 'left' || edge === 'right') return { x: edge === 'left' ? shift : -shift, y: 0 };
  return { x: 0, y: edge === 'top' ? shift : -shift };
}

export function createRenderer(canvas: HTMLCanvasElement, sheets: Sheets): Renderer {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser has no canvas.');
  const stencil = new OffscreenCanvas(1, 1);
  const stencilContext = stencil.getContext('2d');
  if (stencilContext === null) throw new Error('This browser has no canvas.');
  let ratio = 1;
  let colours = { beyond: '', border: '', silhouette: '' };

  return { draw, fit };

  function fit(): { width: number; height: number } {
    const { clientWidth: width, clientHeight: height } = canvas;
    ratio = globalThis.devicePixelRatio || 1;
    const style = getComputedStyle(canvas);
    const colour = (name: string) => style.getPropertyValue(`--${name}`);
    colours = { beyond: colour('beyond'), border: colour('accent'), silhouette: colour('silhouette') };
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    return { width, height };
  }

  function draw(
    simulation: Simulation,
    tags: ReadonlyMap<Sprite, Tag>,
    selected: Sprite | null,
    view: View,
    nowMs: number,
  ): void {
    context!.setTransform(1, 0, 0, 1, 0, 0);
    context!.clearRect(0, 0, canvas.width, canvas.height);
    context!.scale(ratio, ratio);
    if (view.edge !== null && view.shift > 0) {
      const slide = slideOf(view);
      context!.translate(snap(slide.x), snap(slide.y));
      drawBeyond(simulation, view.edge, view.shift);
      for (const silhouette of view.silhouettes) drawSilhouette(silhouette, nowMs);
    }
    for (const sprite of simulation.sprites) drawShadow(simulation, sprite);
    for (const sprite of simulation.sprites) {
      drawSprite(simulation, sprite, sprite === selected);
      if (sprite.mode === 'sleep') drawSleep(simulation, sprite);
    }
    for (const [sprite, tag] of tags) if (simulation.sprites.includes(sprite)) drawTag(simulation, sprite, tag);
  }

  function drawShadow(simulation: Simulation, { x, y, nature, mode }: Sprite): void {
    const ledge = simulation.ledges.find((one) => x >= one.left && x <= one.right && y <= one.y + 1);
    const ground = ledge?.y ?? simulation.height;
    const near = 1 - Math.min(1, (ground - y) / 420);
    if (near <= 0 || mode === 'climb') return;
    context!.globalAlpha = 0.22 * near;
    context!.fillStyle = '#141031';
    context!.beginPath();
    context!.ellipse(x, ground - 2, nature.width * (0.3 + 0.24 * near), 3 + 1.5 * near, 0, 0, 2 * Math.PI);
    context!.fill();
    context!.globalAlpha = 1;
  }

  function drawSprite(simulation: Simulation, sprite: Sprite, selected: boolean): void {
    const { image, description } = sheets.get(sprite.file);
    if (selected) drawHalo(sprite);
    if (image === null) {
      drawParcel(sprite);
      return;
    }
    const { x, y, width, height, scale } = frameOf(description, sprite);
    const cell = cellOf(description, sprite.mode, simulation.nowMs - sprite.sinceMs);
    context!.imageSmoothingEnabled = scale < 1;
    context!.save();
    context!.translate(x, y);
    drawCell(context!, image, description, cell, sprite.facing, width, height);
    context!.restore();
  }

  /** Draws the ground beyond an edge, and the edge as a line. */
  function drawBeyond({ width, height }: Simulation, edge: Edge, depth: number): void {
    const across = edge === 'left' || edge === 'right';
    const [x, y] = across ? [edge === 'left' ? -depth : width, 0] : [0, edge === 'top' ? -depth : height];
    context!.fillStyle = colours.beyond;
    context!.fillRect(x, y, across ? depth : width, across ? height : depth);
    context!.fillStyle = colours.border;
    const [left, top] = [edge === 'right' ? width - 1 : -1, edge === 'bottom' ? height - 1 : -1];
    context!.fillRect(across ? left : 0, across ? 0 : top, across ? 2 : width, across ? height : 2);
  }

  /** Draws a sprite in one colour, so that only its shape is seen before it comes. */
  function drawSilhouette(silhouette: Silhouette, nowMs: number): void {
    const { image, description } = sheets.get(silhouette.file);
    context!.globalAlpha = SILHOUETTE_ALPHA;
    if (image === null) {
      context!.fillStyle = colours.silhouette;
      context!.beginPath();
      context!.roundRect(silhouette.x - UNKNOWN_SIDE / 2, silhouette.y - UNKNOWN_SIDE, UNKNOWN_SIDE, UNKNOWN_SIDE, 14);
      context!.fill();
    } else {
      const { x, y, width, height, scale } = frameOf(description, silhouette);
      const cell = cellOf(description, silhouette.animation, nowMs - silhouette.sinceMs);
      stencil.width = Math.ceil(width * ratio); // clears it, and resets its context
      stencil.height = Math.ceil(height * ratio);
      stencilContext!.imageSmoothingEnabled = scale < 1;
      drawCell(stencilContext!, image, description, cell, silhouette.facing, stencil.width, stencil.height);
      stencilContext!.globalCompositeOperation = 'source-in';
      stencilContext!.fillStyle = colours.silhouette;
      stencilContext!.fillRect(0, 0, stencil.width, stencil.height);
      context!.drawImage(stencil, x, y, width, height);
    }
    context!.globalAlpha = 1;
  }

  /** Returns where the frame of a sprite is, and how large. */
  function frameOf(
    description: Description,
    sprite: { x: number; y: number; scale: number; facing: Facing },
  ): { x: number; y: number; width: number; height: number; scale: number } {
    const { frame, hitbox } = description;
    const scale = shownScale(description, sprite.scale);
    const left = sprite.facing === 'left' ? frame.width - hitbox[0] - hitbox[2] : hitbox[0];
    return {
      x: snap(sprite.x - (left + hitbox[2] / 2) * scale),
      y: snap(sprite.y - (hitbox[1] + hitbox[3]) * scale),
      ...{ width: frame.width * scale, height: frame.height * scale, scale },
    };
  }

  function drawHalo({ x, y, nature }: Sprite): void {
    context!.strokeStyle = '#7c6cff';
    context!.lineWidth = 2;
    context!.setLineDash([5, 4]);
    context!.beginPath();
    context!.roundRect(
      snap(x - nature.width / 2 - 6),
      snap(y - nature.height - 6),
      nature.width + 12,
      nature.height + 8,
      10,
    );
    context!.stroke();
    context!.setLineDash([]);
  }

  /** Draws a sprite whose sheet is not loaded: a parcel with a ribbon. */
  function drawParcel({ x, y, nature }: Sprite): void {
    const side = Math.min(nature.width, nature.height);
    const [left, top] = [snap(x - side / 2), snap(y - side)];
    context!.fillStyle = '#c99a63';
    context!.strokeStyle = '#5b3a26';
    context!.lineWidth = 2;
    context!.beginPath();
    context!.roundRect(left, top, side, side, 4);
    context!.fill();
    context!.stroke();
    context!.fillStyle = '#e8546a';
    context!.fillRect(left + side * 0.42, top + 1, side * 0.16, side - 2);
    context!.fillRect(left + 1, top + side * 0.36, side - 2, side * 0.16);
  }

  function drawSleep({ nowMs, calm }: Simulation, { x, y, nature, sinceMs }: Sprite): void {
    context!.fillStyle = '#7c6cff';
    for (let i = 0; i < 3; i++) {
      const age = calm ? 0.2 + i * 0.25 : ((nowMs - sinceMs) / 2400 + i / 3) % 1;
      context!.globalAlpha = Math.sin(age * Math.PI) * 0.9;
      context!.font = `700 ${9 + age * 7}px system-ui, sans-serif`;
      context!.textAlign = 'left';
      context!.fillText('z', x + nature.width * 0.25 + age * 14, y - nature.height - 2 - age * 26);
    }
    context!.globalAlpha = 1;
  }

  function drawTag({ nowMs, width }: Simulation, { x, y, nature }: Sprite, { text, kind, untilMs }: Tag): void {
    const left = untilMs - nowMs;
    if (left <= 0) return;
    context!.font = TAG_FONT;
    const half = context!.measureText(text).width / 2 + 9;
    const middle = Math.min(Math.max(x, half + 4), width - half - 4);
    const top = Math.max(4, y - nature.height - 32);
    context!.globalAlpha = Math.min(1, left / TAG_FADE_MS);
    context!.fillStyle = kind === 'refused' ? '#b3264c' : '#2a2350';
    context!.beginPath();
    context!.roundRect(middle - half, top, half * 2, 22, 11);
    context!.fill();
    context!.fillStyle = '#ffffff';
    context!.textAlign = 'center';
    context!.textBaseline = 'middle';
    context!.fillText(text, middle, top + 11.5);
    context!.textBaseline = 'alphabetic';
    context!.globalAlpha = 1;
  }

  function snap(value: number): number {
    return Math.round(value * ratio) / ratio;
  }
}

/** Draws one cell of a sheet at the origin, in this size. */
function drawCell(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  image: ImageBitmap,
  { frame }: Description,
  cell: number,
  facing: Facing,
  width: number,
  height: number,
): void {
  const columns = Math.max(1, Math.floor(image.width / frame.width));
  const [x, y] = [(cell % columns) * frame.width, Math.floor(cell / columns) * frame.height];
  if (facing === 'left') {
    context.translate(width, 0);
    context.scale(-1, 1);
  }
  context.drawImage(image, x, y, frame.width, frame.height, 0, 0, width, height);
}
