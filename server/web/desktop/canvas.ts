/**
 * Draws the simulation on a canvas: sprites in whole device pixels, their shadows, puffs of dust and their tags, and the
 * silhouettes of the sprites beyond the edge that a person looks over.
 *
 * Reads the simulation and changes nothing in it. Scales up by nearest neighbour, at any pixel ratio. Nothing flies about while
 * the simulation is calm.
 * Cost: one drawImage per sprite and frame; text only for tags that are shown.
 */

import type { Description } from '../../wire/files/description.ts';
import type { Edge } from '../../wire/rules.ts';
import { animationOf, type Facing, type Point, type Simulation, type Size, type Sprite } from '../motion/simulation.ts';
import { cellOf, placeOf, type Sheets, shownScale } from '../pictures/sheets.ts';
import { phrase } from '../texts/language.ts';
import type { Box } from './bubbles.ts';
import type { PeekView } from './peek_view.ts';
import type { Silhouette } from './silhouettes.ts';
import { stackTags } from './tag_stack.ts';

/** A label over a sprite's head, with its lines, until `untilMs` of the simulation's clock. */
export interface Tag {
  text: string;
  kind: 'from' | 'refused' | 'name';
  untilMs: number;
}

const LARGE: Size = { width: 1920, height: 960 }; // px of a page on a usual large screen, below the browser's own bars

const TAG_FONT = '600 12px system-ui, sans-serif';
const TAG_LINE = 16; // px
const TAG_FADE_MS = 400; // ms a tag takes to fade out
const RISE_PX = 26; // px that a sign rises from a sprite's head
const PUFF_MS = 420; // ms of a puff of dust
const PUFFS_MAX = 16; // puffs at once; the oldest goes first
const SHADOW_SIDE = 64; // px of the soft disc that all shadows are scaled from
const SHADOW_PX = 420; // px above the ground at which a sprite has no shadow any more
const SILHOUETTE_ALPHA = 0.8;
const UNKNOWN_SIDE = 36; // px; side of the silhouette of a sprite whose picture has not been loaded yet

/**
 * Returns how many px of the page a device-independent px of the desktop has: one, and more on a page of 4K that is not scaled, where
 * sprites would be specks. A whole number, so that their pixels stay squares. What crosses an edge is in px of the desktop.
 */
export function zoomOf({ width, height }: Size): number {
  return Math.max(1, Math.floor(Math.min(width / LARGE.width, height / LARGE.height)));
}

/** Draws one simulation after the other on a canvas. */
export class Renderer {
  readonly #canvas: HTMLCanvasElement;
  readonly #sheets: Sheets;
  readonly #context: CanvasRenderingContext2D;
  readonly #stencil = new OffscreenCanvas(1, 1);
  readonly #stencilContext: OffscreenCanvasRenderingContext2D;
  readonly #shadow = softDisc(SHADOW_SIDE);
  #puffs: { at: Point; sinceMs: number }[] = [];
  #ratio = 1;
  #colours = { beyond: '', border: '', silhouette: '', dust: '' };

  /** Throws an Error, in the language of the page, where the browser has no canvas. */
  constructor(canvas: HTMLCanvasElement, sheets: Sheets) {
    this.#canvas = canvas;
    this.#sheets = sheets;
    const [context, stencilContext] = [canvas.getContext('2d'), this.#stencil.getContext('2d')];
    if (context === null || stencilContext === null) throw new Error(phrase('file.no-canvas'));
    this.#context = context;
    this.#stencilContext = stencilContext;
  }

  /** Lets a puff of dust rise at a point, from `nowMs` of the simulation's clock on: a sprite has come in there. */
  puff(at: Point, nowMs: number): void {
    this.#puffs = [...this.#puffs, { at: { ...at }, sinceMs: nowMs }].slice(-PUFFS_MAX);
  }

  /** Fits the canvas to its place on the page. Returns its size in the simulation's pixels, of which each is `zoom` of the page. */
  fit(zoom = 1): Size {
    const { clientWidth, clientHeight } = this.#canvas;
    const size = { width: clientWidth / zoom, height: clientHeight / zoom };
    this.resize(size, (globalThis.devicePixelRatio || 1) * zoom);
    return size;
  }

  /** Gives the canvas a size in the simulation's pixels, of which each has `ratio` of its own. */
  resize({ width, height }: Size, ratio: number): void {
    this.#ratio = ratio;
    const style = getComputedStyle(document.body);
    const colour = (name: string) => style.getPropertyValue(`--${name}`);
    this.#colours = {
      beyond: colour('beyond'),
      border: colour('accent'),
      silhouette: colour('silhouette'),
      dust: colour('dust'),
    };
    this.#canvas.width = Math.max(1, Math.round(width * ratio));
    this.#canvas.height = Math.max(1, Math.round(height * ratio));
  }

  draw(
    simulation: Simulation,
    tags: ReadonlyMap<Sprite, Tag>,
    selected: Sprite | null,
    view: PeekView | null,
    nowMs: number,
  ): void {
    this.#context.setTransform(1, 0, 0, 1, 0, 0);
    this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#context.scale(this.#ratio, this.#ratio);
    if (view !== null && view.edge !== null && view.shift > 0) {
      this.#context.translate(this.#snap(view.slide.x), this.#snap(view.slide.y));
      this.#drawBeyond(simulation, view.edge, view.shift);
      for (const silhouette of view.silhouettes) this.#drawSilhouette(silhouette, nowMs);
    }
    for (const sprite of simulation.sprites) this.#drawShadow(simulation, sprite);
    for (const sprite of simulation.sprites) {
      this.#drawSprite(simulation, sprite, sprite === selected);
      const rising = risingFrom(sprite);
      if (rising !== undefined) this.#drawRising(simulation, sprite, ...rising);
    }
    this.#drawPuffs(simulation);
    this.#drawTags(simulation, tags);
  }

  /** Draws a soft shadow on the ground below a sprite: small and faint while it is high above. */
  #drawShadow(simulation: Simulation, { x, y, nature, mode }: Sprite): void {
    let ground = simulation.height;
    for (const { left, right, y: top } of simulation.ledges) {
      if (x >= left && x <= right && y <= top + 1) ground = Math.min(ground, top);
    }
    const near = 1 - Math.min(1, (ground - y) / SHADOW_PX);
    if (near <= 0 || mode === 'climb' || mode === 'hang') return;
    const [width, height] = [nature.width * (0.7 + 0.6 * near), 7 + 5 * near];
    this.#context.globalAlpha = 0.4 * near;
    this.#context.imageSmoothingEnabled = true;
    this.#context.drawImage(this.#shadow, x - width / 2, ground - 1 - height / 2, width, height);
    this.#context.globalAlpha = 1;
  }

  /** Draws the dust of hard landings, and of sprites that came in. */
  #drawPuffs({ sprites, nowMs, calm }: Simulation): void {
    this.#puffs = this.#puffs.filter(({ sinceMs }) => nowMs - sinceMs < PUFF_MS);
    if (calm) return;
    for (const { at, sinceMs } of this.#puffs) this.#drawPuff(at, (nowMs - sinceMs) / PUFF_MS, 26);
    for (const { mode, sinceMs, nature, x, y } of sprites) {
      if (mode === 'land' && nowMs - sinceMs < PUFF_MS)
        this.#drawPuff({ x, y }, (nowMs - sinceMs) / PUFF_MS, nature.width / 2);
    }
  }

  /** Draws small clouds that spread and fade. `age` is 0 … 1. */
  #drawPuff({ x, y }: Point, age: number, reach: number): void {
    this.#context.fillStyle = this.#colours.dust;
    this.#context.globalAlpha = 0.7 * (1 - age) ** 1.5;
    const spread = 1 - (1 - age) ** 2; // fast at first
    this.#context.beginPath();
    for (const [side, rise, size] of CLOUDS) {
      const [cx, cy] = [x + side * reach * (0.6 + spread * 0.7), y - 3 - rise * 14 * spread];
      const radius = size * (0.6 + 0.6 * spread);
      this.#context.moveTo(cx + radius, cy);
      this.#context.arc(cx, cy, radius, 0, 2 * Math.PI);
    }
    this.#context.fill();
    this.#context.globalAlpha = 1;
  }

  #drawSprite(simulation: Simulation, sprite: Sprite, selected: boolean): void {
    const { image, description } = this.#sheets.get(sprite.file);
    if (selected) this.#drawHalo(sprite);
    if (image === null) {
      this.#drawParcel(sprite);
      return;
    }
    const { x, y, width, height, scale } = this.#frameOf(description, sprite);
    const cell = cellOf(description, animationOf(sprite), simulation.nowMs - sprite.sinceMs);
    this.#context.imageSmoothingEnabled = scale < 1;
    this.#context.save();
    this.#context.translate(x, y);
    drawCell(this.#context, { image, description, cell, facing: sprite.facing }, { width, height });
    this.#context.restore();
  }

  /** Draws the ground beyond an edge, and the edge as a line. */
  #drawBeyond({ width, height }: Simulation, edge: Edge, depth: number): void {
    const across = edge === 'left' || edge === 'right';
    const [x, y] = across ? [edge === 'left' ? -depth : width, 0] : [0, edge === 'top' ? -depth : height];
    this.#context.fillStyle = this.#colours.beyond;
    this.#context.fillRect(x, y, across ? depth : width, across ? height : depth);
    this.#context.fillStyle = this.#colours.border;
    const [left, top] = [edge === 'right' ? width - 1 : -1, edge === 'bottom' ? height - 1 : -1];
    this.#context.fillRect(across ? left : 0, across ? 0 : top, across ? 2 : width, across ? height : 2);
  }

  /** Draws a sprite in one colour, so that only its shape is seen before it comes. */
  #drawSilhouette(silhouette: Silhouette, nowMs: number): void {
    const { image, description } = this.#sheets.get(silhouette.file);
    this.#context.globalAlpha = SILHOUETTE_ALPHA;
    if (image === null) {
      this.#context.fillStyle = this.#colours.silhouette;
      const [left, top] = [silhouette.x - UNKNOWN_SIDE / 2, silhouette.y - UNKNOWN_SIDE];
      this.#context.beginPath();
      this.#context.roundRect(left, top, UNKNOWN_SIDE, UNKNOWN_SIDE, 14);
      this.#context.fill();
    } else {
      const { x, y, width, height, scale } = this.#frameOf(description, silhouette);
      const cell = cellOf(description, silhouette.animation, nowMs - silhouette.sinceMs);
      this.#stencil.width = Math.ceil(width * this.#ratio); // clears it, and resets its context
      this.#stencil.height = Math.ceil(height * this.#ratio);
      this.#stencilContext.imageSmoothingEnabled = scale < 1;
      drawCell(this.#stencilContext, { image, description, cell, facing: silhouette.facing }, this.#stencil);
      this.#stencilContext.globalCompositeOperation = 'source-in';
      this.#stencilContext.fillStyle = this.#colours.silhouette;
      this.#stencilContext.fillRect(0, 0, this.#stencil.width, this.#stencil.height);
      this.#context.drawImage(this.#stencil, x, y, width, height);
    }
    this.#context.globalAlpha = 1;
  }

  /** Returns where the frame of a sprite is, and how large. */
  #frameOf(
    description: Description,
    sprite: { x: number; y: number; scale: number; facing: Facing },
  ): { x: number; y: number; width: number; height: number; scale: number } {
    const { frame, hitbox } = description;
    const scale = shownScale(description, sprite.scale);
    const left = sprite.facing === 'left' ? frame.width - hitbox[0] - hitbox[2] : hitbox[0];
    return {
      x: this.#snap(sprite.x - (left + hitbox[2] / 2) * scale),
      y: this.#snap(sprite.y - (hitbox[1] + hitbox[3]) * scale),
      width: frame.width * scale,
      height: frame.height * scale,
      scale,
    };
  }

  #drawHalo({ x, y, nature }: Sprite): void {
    this.#context.strokeStyle = '#7c6cff';
    this.#context.lineWidth = 2;
    this.#context.setLineDash([5, 4]);
    const [left, top] = [this.#snap(x - nature.width / 2 - 6), this.#snap(y - nature.height - 6)];
    this.#context.beginPath();
    this.#context.roundRect(left, top, nature.width + 12, nature.height + 8, 10);
    this.#context.stroke();
    this.#context.setLineDash([]);
  }

  /** Draws a sprite whose sheet is not loaded: a parcel with a ribbon. */
  #drawParcel({ x, y, nature }: Sprite): void {
    const side = Math.min(nature.width, nature.height);
    const [left, top] = [this.#snap(x - side / 2), this.#snap(y - side)];
    this.#context.fillStyle = '#c99a63';
    this.#context.strokeStyle = '#5b3a26';
    this.#context.lineWidth = 2;
    this.#context.beginPath();
    this.#context.roundRect(left, top, side, side, 4);
    this.#context.fill();
    this.#context.stroke();
    this.#context.fillStyle = '#e8546a';
    this.#context.fillRect(left + side * 0.42, top + 1, side * 0.16, side - 2);
    this.#context.fillRect(left + 1, top + side * 0.36, side - 2, side * 0.16);
  }

  /** Draws three signs that rise from a sprite's head. */
  #drawRising({ nowMs, calm }: Simulation, { x, y, nature, sinceMs }: Sprite, sign: string, colour: string): void {
    this.#context.fillStyle = colour;
    for (let i = 0; i < 3; i++) {
      const age = calm ? 0.2 + i * 0.25 : ((nowMs - sinceMs) / 2400 + i / 3) % 1;
      this.#context.globalAlpha = Math.sin(age * Math.PI) * 0.9;
      this.#context.font = `700 ${9 + age * 7}px system-ui, sans-serif`;
      this.#context.textAlign = 'left';
      this.#context.fillText(sign, x + nature.width * 0.25 + age * 14, y - nature.height - 2 - age * RISE_PX);
    }
    this.#context.globalAlpha = 1;
  }

  /** Draws the tags, those that came last at their sprites and the others above them. */
  #drawTags(simulation: Simulation, tags: ReadonlyMap<Sprite, Tag>): void {
    const shown = [...tags]
      .filter(([sprite, { untilMs }]) => untilMs > simulation.nowMs && simulation.sprites.includes(sprite))
      .reverse();
    const boxes = shown.map(([sprite, { text }]) => this.#boxOfTag(simulation, sprite, text));
    for (const [i, top] of stackTags(boxes).entries()) {
      if (top !== null) this.#drawTag(shown[i][1], { ...boxes[i], top }, simulation.nowMs);
    }
  }

  /** Returns where a tag wants to be: over the head, and over what rises from it. */
  #boxOfTag({ width }: Simulation, sprite: Sprite, text: string): Box {
    this.#context.font = TAG_FONT;
    const lines = text.split('\n');
    const widest = Math.max(...lines.map((line) => this.#context.measureText(line).width));
    const half = Math.min(widest, width - 26) / 2 + 9; // a longer line is drawn narrower
    const middle = Math.min(Math.max(sprite.x, half + 4), width - half - 4);
    const bottom = sprite.y - sprite.nature.height - (risingFrom(sprite) ? RISE_PX + TAG_LINE : 10);
    return { left: middle - half, right: middle + half, top: bottom - TAG_LINE * lines.length - 6, bottom };
  }

  #drawTag({ text, kind, untilMs }: Tag, { left, right, top }: Box, nowMs: number): void {
    const lines = text.split('\n');
    const wide = right - left;
    this.#context.font = TAG_FONT;
    this.#context.globalAlpha = Math.min(1, (untilMs - nowMs) / TAG_FADE_MS);
    this.#context.fillStyle = kind === 'refused' ? '#b3264c' : '#2a2350';
    this.#context.beginPath();
    this.#context.roundRect(left, top, wide, TAG_LINE * lines.length + 6, 11);
    this.#context.fill();
    this.#context.fillStyle = '#ffffff';
    this.#context.textAlign = 'center';
    this.#context.textBaseline = 'middle';
    for (const [i, line] of lines.entries()) {
      this.#context.fillText(line, left + wide / 2, top + 11.5 + i * TAG_LINE, wide - 18);
    }
    this.#context.textBaseline = 'alphabetic';
    this.#context.globalAlpha = 1;
  }

  #snap(value: number): number {
    return Math.round(value * this.#ratio) / this.#ratio;
  }
}

/** Returns what rises from a sprite's head, and its colour. */
function risingFrom({ mode, reels }: Sprite): readonly [sign: string, colour: string] | undefined {
  if (mode === 'sleep') return ['z', '#7c6cff'];
  if (mode === 'pet') return ['♥', '#e8546a'];
  return mode === 'walk' && reels > 0 ? ['★', '#d99a00'] : undefined;
}

/** Where the clouds of a puff are: to the side, how high they rise, and their size in px. */
const CLOUDS: readonly (readonly [side: number, rise: number, size: number])[] = [
  [-1, 0.5, 5],
  [-0.6, 1, 3.5],
  [-0.15, 0.4, 4],
  [0.3, 0.9, 3],
  [0.65, 0.6, 4.5],
  [1, 0.3, 4],
];

/** Returns a dark disc that fades out towards its rim. */
function softDisc(side: number): OffscreenCanvas {
  const disc = new OffscreenCanvas(side, side);
  const context = disc.getContext('2d');
  if (context === null) return disc;
  const half = side / 2;
  const fade = context.createRadialGradient(half, half, 0, half, half, half);
  fade.addColorStop(0, 'rgb(20 16 49 / 100%)');
  fade.addColorStop(0.5, 'rgb(20 16 49 / 60%)');
  fade.addColorStop(1, 'rgb(20 16 49 / 0%)');
  context.fillStyle = fade;
  context.fillRect(0, 0, side, side);
  return disc;
}

/** One cell of a sheet, as a sprite shows it. */
interface Cell {
  image: ImageBitmap;
  description: Description;
  cell: number;
  facing: Facing;
}

/** Draws a cell at the origin, in this size. */
function drawCell(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  { image, description, cell, facing }: Cell,
  { width, height }: Size,
): void {
  const { frame } = description;
  const { x, y } = placeOf(description, image, cell);
  if (facing === 'left') {
    context.translate(width, 0);
    context.scale(-1, 1);
  }
  context.drawImage(image, x, y, frame.width, frame.height, 0, 0, width, height);
}
