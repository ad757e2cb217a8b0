/**
 * Palettes: the few colours in which all frames of an animation or of a sprite are drawn, so that a colour does not flicker.
 *
 * Colours are sorted into buckets of 5 bits a channel: nobody tells those of one bucket apart. Boxes of buckets are halved until there is one
 * box a colour; at the middle of their range and not of their pixels, so that a rare colour, such as that of an eye, is not lost among common
 * ones. gif_writer.cc does the same.
 * Pure. Cost: O(pixels), and 1 MiB.
 */
import type { Pixels } from '../../wire/files/pixels.ts';

const COLOURS_MAX = 255;
const BUCKETS = 2 ** 15;
const CHANNELS = [10, 5, 0]; // where red, green and blue are in the number of a bucket

/** Buckets, and where the longest side of the box around them is halved. */
interface Box {
  buckets: readonly number[];
  shift: number;
  side: number;
  middle: number;
}

/** Which box is halved next: the first of those with the highest number, if that is above 0. `pixels`: those in the box. */
type Rank = (box: Box, pixels: number) => number;

/** Of an animation, where a gradient of the sky matters as much as what is small. */
const BY_SIDE: Rank = ({ side }) => side;

/** Of a sprite, which may have few colours: those of many pixels matter more. */
const BY_SIDE_AND_PIXELS: Rank = ({ side }, pixels) => side ** 2 * Math.sqrt(pixels);

/** Returns the frames in at most `colours` colours. Alpha stays as it is, and transparent pixels have no colour. */
export function reduceColours(frames: readonly Pixels[], colours: number): Pixels[] {
  const palette = new Palette(Math.min(colours, COLOURS_MAX), BY_SIDE_AND_PIXELS);
  for (const { data } of frames) palette.count(data, 1);
  palette.choose();
  return frames.map(({ width, height, data }) => {
    const reduced = new Uint8ClampedArray(data);
    const indices = palette.indicesOf(data);
    for (let at = 0; at < data.length; at += 4) {
      const colour = data[at + 3] === 0 ? 0 : 3 * indices[at / 4];
      for (let i = 0; i < 3; i++) reduced[at + i] = palette.colours[colour + i];
    }
    return { width, height, data: reduced };
  });
}

export class Palette {
  /** Red, green and blue of each colour. The first one, 0, is nobody's: it stays 0, 0, 0. */
  readonly colours = new Uint8Array(3 * (COLOURS_MAX + 1));
  readonly #coloursMax: number;
  readonly #rank: Rank;
  readonly #sums = new Float64Array(4 * BUCKETS);
  readonly #colourOf = new Uint8Array(BUCKETS);

  constructor(coloursMax = COLOURS_MAX, rank = BY_SIDE) {
    this.#coloursMax = coloursMax;
    this.#rank = rank;
  }

  /** Counts the pixels of a frame, four bytes each, whose alpha is at least `alphaMin`. */
  count(pixels: Pixels['data'], alphaMin = 0): void {
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at + 3] < alphaMin) continue;
      const sum = 4 * bucketOf(pixels, at);
      for (let i = 0; i < 3; i++) this.#sums[sum + i] += pixels[at + i];
      this.#sums[sum + 3]++;
    }
  }

  /** Chooses the colours, when all frames are counted. */
  choose(): void {
    const ranked = (buckets: readonly number[]) => {
      const box = boxOf(buckets);
      return { ...box, rank: this.#rank(box, this.#total(buckets)[3]) };
    };
    const used = [...Array(BUCKETS).keys()].filter((bucket) => this.#sums[4 * bucket + 3] > 0);
    const boxes = [ranked(used)];
    while (boxes.length < this.#coloursMax) {
      const highest = Math.max(...boxes.map(({ rank }) => rank));
      if (highest <= 0) break;
      const at = boxes.findIndex(({ rank }) => rank === highest);
      const { buckets, shift, middle } = boxes[at];
      const isLow = (bucket: number) => ((bucket >> shift) & 31) <= middle;
      boxes[at] = ranked(buckets.filter(isLow));
      boxes.push(ranked(buckets.filter((bucket) => !isLow(bucket))));
    }
    for (const [i, { buckets }] of boxes.entries()) this.#set(i + 1, buckets);
  }

  /** Returns the colour of each pixel of a frame that was counted. */
  indicesOf(pixels: Pixels['data']): Uint8Array {
    const indices = new Uint8Array(pixels.length / 4);
    for (let i = 0; i < indices.length; i++) indices[i] = this.#colourOf[bucketOf(pixels, 4 * i)];
    return indices;
  }

  /** Gives buckets the mean of their pixels as their colour. */
  #set(colour: number, buckets: readonly number[]): void {
    const total = this.#total(buckets);
    const count = total[3];
    for (const bucket of buckets) this.#colourOf[bucket] = colour;
    for (let i = 0; i < 3; i++) this.colours[3 * colour + i] = Math.floor((2 * total[i] + count) / (2 * count));
  }

  /** The sums of the channels of all pixels in these buckets, and how many they are. */
  #total(buckets: readonly number[]): number[] {
    return [0, 1, 2, 3].map((i) => buckets.reduce((sum, bucket) => sum + this.#sums[4 * bucket + i], 0));
  }
}

function bucketOf(pixels: Pixels['data'], at: number): number {
  return ((pixels[at] >> 3) << 10) | ((pixels[at + 1] >> 3) << 5) | (pixels[at + 2] >> 3);
}

function boxOf(buckets: readonly number[]): Box {
  const box = { buckets, shift: 0, side: -1, middle: 0 };
  for (const shift of CHANNELS) {
    let [low, high] = [31, 0];
    for (const bucket of buckets) {
      const value = (bucket >> shift) & 31;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (high - low > box.side) Object.assign(box, { shift, side: high - low, middle: (low + high) >> 1 });
  }
  return box;
}
