/**
 * Cut-out: removes the background of a picture by its colours.
 *
 * An area is removed if it touches the picture's edge, or a place that the person picked, and has about the colour of that. So a
 * white shirt before a white wall stays, as long as something lies between them.
 * Pure. Cost: O(pixels), a few bytes for each.
 */
import type { Pixels } from '../../wire/files/pixels.ts';
import { contentBox } from './trim.ts';

/** A place of which the area is removed, and the colour it had where the person picked it. Pixels of the picture. */
export interface Pick {
  readonly x: number;
  readonly y: number;
  readonly colour: Colour;
}

export type Colour = readonly [red: number, green: number, blue: number];

export interface Cut {
  /** Whether areas that touch the edge, in the usual colours of the edge, are removed. */
  readonly fromEdges: boolean;
  readonly picks: readonly Pick[];
  /** How different a colour may be from the one to remove, 0 … TOLERANCE_MAX. */
  readonly tolerance: number;
  /** Pixels that are removed at the rim of what stays, where colours of the background shine through. */
  readonly rim: number;
}

const TOLERANCE_MAX = 100;
export const PICKS_MAX = 64; // picks: each costs a pass over the picture
export const RIM_MAX = 4; // pixels

/** The part of the edge that a colour must have to count as background: more than a foot that touches it. */
const EDGE_SHARE_MIN = 0.06;
const EDGE_COLOURS_MAX = 8; // colours of the edge: a plain wall has one, a gradient some

const SEE_THROUGH = 8; // alpha up to which a pixel counts as transparent

/** The cut of a picture that nobody has adjusted. A photograph has noise, and soft edges. */
export function usualCut(isPhoto: boolean): Cut {
  return { fromEdges: true, picks: [], tolerance: isPhoto ? 14 : 6, rim: isPhoto ? 1 : 0 };
}

/**
 * Returns the picture after its usual cut; undefined when it has no background: a part is transparent already, or the cut removes
 * nothing, or everything.
 */
export function withoutBackground(pixels: Pixels, isPhoto: boolean): Pixels | undefined {
  if (hasTransparency(pixels)) return undefined;
  const cut = cutOut(pixels, usualCut(isPhoto));
  return hasTransparency(cut) && contentBox([cut]) !== undefined ? cut : undefined;
}

/** Returns the picture with its background transparent. The given picture stays as it is. */
export function cutOut(pixels: Pixels, { fromEdges, picks, tolerance, rim }: Cut): Pixels {
  const { width, height, data } = pixels;
  const removed = new Uint8Array(width * height);
  const limit = limitOf(tolerance);
  if (fromEdges) flood(pixels, removed, edgePixels(pixels), edgeColours(pixels), limit);
  for (const { x, y, colour } of picks.slice(0, PICKS_MAX)) {
    if (x >= 0 && y >= 0 && x < width && y < height) flood(pixels, removed, [y * width + x], [colour], limit);
  }
  const cut = { width, height, data: new Uint8ClampedArray(data) };
  if (!removed.includes(1)) return cut;
  for (let step = 0; step < Math.min(rim, RIM_MAX); step++) growInto(removed, pixels);
  for (let at = 0; at < removed.length; at++) if (removed[at] === 1) cut.data[4 * at + 3] = 0;
  return cut;
}

/** Whether a part of the picture is transparent already, so that it needs no cut-out. */
export function hasTransparency({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] <= SEE_THROUGH) return true;
  return false;
}

export function colourAt({ width, data }: Pixels, x: number, y: number): Colour {
  const at = 4 * (y * width + x);
  return [data[at], data[at + 1], data[at + 2]];
}

/**
 * Marks what is connected with one of the seeds and has about one of the colours. Transparent pixels are passed: what they enclose
 * is background, too.
 */
function flood(
  pixels: Pixels,
  removed: Uint8Array,
  seeds: Iterable<number>,
  colours: readonly Colour[],
  limit: number,
) {
  const { width, height, data } = pixels;
  const seen = new Uint8Array(width * height);
  const waiting: number[] = [];
  const visit = (at: number) => {
    if (seen[at] === 1) return;
    seen[at] = 1;
    const isOpen = data[4 * at + 3] <= SEE_THROUGH;
    if (!isOpen && !colours.some((colour) => distance(data, 4 * at, colour) <= limit)) return;
    removed[at] = 1;
    waiting.push(at);
  };
  for (const seed of seeds) visit(seed);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const x = at % width;
    if (x > 0) visit(at - 1);
    if (x < width - 1) visit(at + 1);
    if (at >= width) visit(at - width);
    if (at < width * (height - 1)) visit(at + width);
  }
}

/** Marks the pixels beside those that are marked. The picture's edge is not a rim: a body that is cut off there stays whole. */
function growInto(removed: Uint8Array, { width, height }: Pixels): void {
  const before = removed.slice();
  for (let at = 0; at < before.length; at++) {
    if (before[at] === 1) continue;
    const x = at % width;
    const isBeside =
      (x > 0 && before[at - 1] === 1) ||
      (x < width - 1 && before[at + 1] === 1) ||
      (at >= width && before[at - width] === 1) ||
      (at < width * (height - 1) && before[at + width] === 1);
    if (isBeside) removed[at] = 1;
  }
}

/** The pixels along the four edges. */
function* edgePixels({ width, height }: Pixels): Generator<number> {
  for (let x = 0; x < width; x++) {
    yield x;
    yield (height - 1) * width + x;
  }
  for (let y = 1; y < height - 1; y++) {
    yield y * width;
    yield y * width + width - 1;
  }
}

/** Returns the usual colours of the edge: the means of its commonest groups of like colours. */
function edgeColours(pixels: Pixels): Colour[] {
  const { data } = pixels;
  const groups = new Map<number, { count: number; sum: [number, number, number] }>();
  let total = 0;
  for (const at of edgePixels(pixels)) {
    if (data[4 * at + 3] <= SEE_THROUGH) continue;
    total++;
    const [red, green, blue] = [data[4 * at], data[4 * at + 1], data[4 * at + 2]];
    const key = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const group = groups.get(key) ?? { count: 0, sum: [0, 0, 0] };
    group.count++;
    group.sum = [group.sum[0] + red, group.sum[1] + green, group.sum[2] + blue];
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ count }) => count >= total * EDGE_SHARE_MIN)
    .sort((a, b) => b.count - a.count)
    .slice(0, EDGE_COLOURS_MAX)
    .map(({ count, sum: [red, green, blue] }): Colour => [red / count, green / count, blue / count]);
}

/**
 * Returns the squared distance of two colours as people see it, in the "redmean" approximation: 0 for the same, 584,970 for black
 * and white.
 */
function distance(data: Pixels['data'], at: number, [red, green, blue]: Colour): number {
  const mean = (data[at] + red) / 2;
  const [byRed, byGreen, byBlue] = [data[at] - red, data[at + 1] - green, data[at + 2] - blue];
  return (2 + mean / 256) * byRed ** 2 + 4 * byGreen ** 2 + (2 + (255 - mean) / 256) * byBlue ** 2;
}

const FARTHEST = 764.8; // the distance of black and white

function limitOf(tolerance: number): number {
  return ((tolerance / TOLERANCE_MAX) * FARTHEST) ** 2;
}
