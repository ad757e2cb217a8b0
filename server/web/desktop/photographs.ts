/**
 * Draws moments of the stage again and gives them to the person: the last one as a PNG, or all as an animated GIF with a link in it. A browser
 * loads this for the first of them.
 *
 * A picture has what is on the stage: the sprites with their tags, the bubbles, and what the page has behind them. It has nothing of what a
 * neighbour shows beyond an edge.
 * Cost: an animation is drawn twice, to choose its colours and to write it, each time with a task a frame, so that the page goes on.
 */
import type { Point, Size } from '../motion/simulation.ts';
import { toGif } from '../pictures/gif.ts';
import { phrase } from '../texts/language.ts';
import type { ShownBubble } from './bubble_layer.ts';
import type { Renderer } from './canvas.ts';
import type { Moment } from './moments.ts';

export const ANIMATION_SIDE_MAX = 1280; // px of the longer side: sayings can be read, and a phone writes it in seconds
export const ANIMATION_BYTES_MAX = 8 * 2 ** 20; // bytes: chats take as much, and any one frame fits
const DOWNLOAD_MS = 60_000; // ms a browser has to read the file

const FONT = 'system-ui, "Segoe UI", sans-serif';
const LINK = { font: `600 16px ${FONT}`, margin: 12, padding: 12, height: 30 }; // px of the animation
/** As style.css draws the page. Hills: their middle and reach in widths of the page, their height in px, and their colour. */
const HILLS = [
  [0.62, 0.9, 230, 'hill-far'],
  [0.88, 0.75, 110, 'hill-near'],
  [0.18, 0.6, 150, 'hill-near'],
] as const;
const FLOOR = 6; // px
/** Thresholds 0 … 15 of neighbouring pixels (Bayer's matrix), and by how many levels of a channel the highest is above the lowest. */
const DITHER = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
const DITHER_LEVELS = 16;
const LEDGE = { inset: 12, height: 10 }; // px
const BUBBLE = { padding: 13, top: 8, name: 16.2, line: 18.9, reaction: 41, tail: 7, margin: 4 }; // px

/** What draws on a canvas. It comes from the page: a part that shared it would make a file more of that. */
type MakeRenderer = (canvas: HTMLCanvasElement) => Renderer;

/** What an animation is drawn of. */
export interface Clip {
  /** Oldest first; at least one. */
  readonly moments: readonly Moment[];
  /** Ms that the last one is shown. */
  readonly lastMs: number;
  /** What is written in it. */
  readonly link: string;
}

/** Saves a moment as a PNG. */
export async function savePicture(moment: Moment, makeRenderer: MakeRenderer): Promise<void> {
  const picture = new Picture(moment, makeRenderer, devicePixelRatio || 1);
  picture.draw(moment);
  await give(await picture.png(), 'png');
}

/** Saves moments as a GIF. */
export async function saveAnimation(clip: Clip, makeRenderer: MakeRenderer): Promise<void> {
  await give(await animation(clip, makeRenderer), 'gif');
}

async function animation({ moments, lastMs, link }: Clip, makeRenderer: MakeRenderer): Promise<Blob> {
  const last = moments.at(-1)!;
  const { width, height } = sizeOf(last);
  const picture = new Picture(last, makeRenderer, Math.min(1, ANIMATION_SIDE_MAX / Math.max(width, height)));
  picture.ditherGround();
  const endMs = last.simulation.nowMs + lastMs;
  const frames = moments.map((moment, i) => ({
    ms: (moments[i + 1]?.simulation.nowMs ?? endMs) - moment.simulation.nowMs,
    draw: async () => {
      await nextTask();
      picture.draw(moment);
      picture.drawLink(link);
      return picture.pixels();
    },
  }));
  return new Blob([await toGif(picture.size, frames, ANIMATION_BYTES_MAX)], { type: 'image/gif' });
}

/** Shares a file on a phone, where a browser can; else it is downloaded. */
async function give(blob: Blob, ending: string): Promise<void> {
  const local = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString();
  const name = `Sprites ${local.slice(0, 19).replace('T', ' ').replaceAll(':', '.')}.${ending}`;
  const file = new File([blob], name, { type: blob.type });
  if (matchMedia('(pointer: coarse)').matches && navigator.canShare?.({ files: [file] })) {
    const refusal = await navigator.share({ files: [file] }).then(
      () => '',
      ({ name: what }: DOMException) => what,
    );
    if (refusal !== 'NotAllowedError') return; // it is, if the drawing took longer than a browser lets pass after a tap
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}

/** The size of the stage, in px of the page. */
const sizeOf = ({ simulation: { width, height }, zoom }: Moment): Size => ({
  width: width * zoom,
  height: height * zoom,
});

/** Lets the page go on. A timer would wait for a second in a tab that is not seen. */
const nextTask = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });

/** A picture of the stage, on which one moment is drawn after the other. */
class Picture {
  readonly #canvas = document.createElement('canvas');
  readonly #context: CanvasRenderingContext2D;
  readonly #renderer: Renderer;
  readonly #style = getComputedStyle(document.body);
  readonly #page: Size;
  readonly #ratio: number;
  readonly #ground: OffscreenCanvas;

  /** As large as the stage was at a moment, with `ratio` pixels for each px of the page. */
  constructor(moment: Moment, makeRenderer: MakeRenderer, ratio: number) {
    [this.#page, this.#ratio] = [sizeOf(moment), ratio];
    const context = this.#canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error(phrase('file.no-canvas'));
    this.#context = context;
    this.#renderer = makeRenderer(this.#canvas);
    this.#renderer.resize(moment.simulation, ratio * moment.zoom);
    this.#ground = new OffscreenCanvas(this.#canvas.width, this.#canvas.height);
    this.#drawGround();
  }

  get size(): Size {
    return { width: this.#canvas.width, height: this.#canvas.height };
  }

  /** Mixes neighbouring colours of the ground: an animation has few, and its sky would have broad bands. */
  ditherGround(): void {
    const { width, height } = this.#ground;
    const context = this.#ground.getContext('2d')!;
    const image = context.getImageData(0, 0, width, height);
    for (let at = 0; at < image.data.length; at += 4) {
      const y = Math.floor(at / 4 / width);
      const more = (DITHER[4 * (y & 3) + ((at / 4 - y * width) & 3)] / 15 - 0.5) * DITHER_LEVELS;
      for (let i = 0; i < 3; i++) image.data[at + i] += more;
    }
    context.putImageData(image, 0, 0);
  }

  draw({ simulation, tags, bubbles, zoom, slide }: Moment): void {
    const context = this.#context;
    this.#renderer.draw(simulation, tags, null, null, 0);
    context.save();
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    context.globalCompositeOperation = 'destination-over';
    context.fillStyle = this.#colour('card');
    for (const { left, right, y } of simulation.ledges) {
      const [x, width] = [left * zoom - LEDGE.inset, (right - left) * zoom + 2 * LEDGE.inset];
      this.#fillRound({ x, y: y * zoom, width, height: LEDGE.height }, LEDGE.height / 2);
    }
    context.drawImage(this.#ground, 0, 0, this.#page.width, this.#page.height);
    context.globalCompositeOperation = 'source-over';
    for (const bubble of bubbles) {
      const leftMax = this.#page.width - bubble.width - BUBBLE.margin;
      const left = Math.max(BUBBLE.margin, Math.min(bubble.left - slide.x * zoom, leftMax));
      this.#drawBubble({ ...bubble, left, top: bubble.top - slide.y * zoom });
    }
    context.restore();
  }

  /** Writes an address into the upper left corner, in a size that is read however small the picture is. */
  drawLink(address: string): void {
    const context = this.#context;
    const { font, margin, padding, height } = LINK;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.font = font;
    const widthMax = this.#canvas.width - 2 * (margin + padding);
    const width = Math.min(context.measureText(address).width, widthMax);
    context.fillStyle = '#2a2350';
    this.#fillRound({ x: margin, y: margin, width: width + 2 * padding, height }, height / 2);
    context.fillStyle = '#ffffff';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.fillText(address, margin + padding, margin + height / 2 + 1, widthMax);
    context.restore();
  }

  pixels(): Uint8ClampedArray {
    return this.#context.getImageData(0, 0, this.#canvas.width, this.#canvas.height).data;
  }

  async png(): Promise<Blob> {
    const blob = await new Promise<Blob | null>((resolve) => this.#canvas.toBlob(resolve));
    if (blob === null) throw new Error(phrase('file.no-canvas'));
    return blob;
  }

  /** Draws what style.css has behind the sprites. */
  #drawGround(): void {
    const { width, height } = this.#page;
    const context = this.#ground.getContext('2d')!;
    context.scale(this.#ratio, this.#ratio);
    const sky = context.createLinearGradient(0, 0, 0, height);
    for (const [i, at] of [0, 0.55, 1].entries()) sky.addColorStop(at, this.#colour(`sky-${i + 1}`));
    context.fillStyle = sky;
    context.fillRect(0, 0, width, height);
    for (const [middle, reach, rise, colour] of HILLS) {
      context.fillStyle = this.#colour(colour);
      context.beginPath();
      context.ellipse(middle * width, height, reach * width, rise, 0, 0, 2 * Math.PI);
      context.fill();
    }
    context.fillStyle = this.#colour('floor');
    context.fillRect(0, height - FLOOR, width, FLOOR);
  }

  #drawBubble(bubble: ShownBubble): void {
    const { name, text, isReaction, left, top, width, height } = bubble;
    const context = this.#context;
    context.fillStyle = this.#colour('bubble');
    context.strokeStyle = this.#colour('bubble-edge');
    context.lineWidth = 1;
    this.#fillRound({ x: left, y: top, width, height }, 14);
    context.stroke();
    this.#drawTail(bubble);
    const inner = width - 2 * BUBBLE.padding;
    const x = left + (isReaction ? width / 2 : BUBBLE.padding);
    let y = top + BUBBLE.top;
    context.textAlign = isReaction ? 'center' : 'left';
    context.textBaseline = 'middle';
    if (name !== '') {
      context.font = `700 12px ${FONT}`;
      context.fillStyle = this.#colour('bubble-name');
      context.fillText(name, x, y + BUBBLE.name / 2, inner);
      y += BUBBLE.name;
    }
    context.font = `${isReaction ? 34 : 14}px ${FONT}`;
    context.fillStyle = this.#colour('bubble-ink');
    const line = isReaction ? BUBBLE.reaction : BUBBLE.line;
    for (const words of linesOf(text, (more) => context.measureText(more).width <= inner + 1)) {
      context.fillText(words, x, y + line / 2);
      y += line;
    }
  }

  #drawTail({ tail, left, top, width, height }: ShownBubble): void {
    if (tail === null) return;
    const { side, at } = tail;
    const [x, y, quarters] = { bottom: [at, height, 0], left: [0, at, 1], top: [at, 0, 2], right: [width, at, 3] }[
      side
    ];
    const context = this.#context;
    context.save();
    context.translate(left + x, top + y);
    context.rotate((quarters * Math.PI) / 2);
    context.beginPath();
    context.moveTo(-BUBBLE.tail, -1); // covers the border
    context.lineTo(0, BUBBLE.tail);
    context.lineTo(BUBBLE.tail, -1);
    context.fill();
    context.restore();
  }

  #fillRound({ x, y, width, height }: Point & Size, radius: number): void {
    this.#context.beginPath();
    this.#context.roundRect(x, y, width, height, radius);
    this.#context.fill();
  }

  #colour(name: string): string {
    return this.#style.getPropertyValue(`--${name}`);
  }
}

/** Wraps a text at its spaces, and between letters where a word is longer than a line. `fits`: whether a text is as wide as a line at most. */
export function linesOf(text: string, fits: (line: string) => boolean): string[] {
  const lines = [''];
  const add = (part: string) => {
    if (lines.at(-1) !== '' && !fits((lines.at(-1) + part).trimEnd())) lines.push('');
    lines[lines.length - 1] += part;
  };
  for (const word of text.split(/(?<= )/)) for (const part of fits(word.trimEnd()) ? [word] : word) add(part);
  return lines.map((line) => line.trimEnd());
}
