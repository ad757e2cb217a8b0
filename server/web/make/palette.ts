/**
 * Palettes: reduces pictures to few colours, as pixel art has.
 *
 * All frames get one palette, so that a colour does not flicker. The palette is found as in median cut: the box of colours that is
 * spread most is split, again and again. It is split at the middle of its range and not of its pixels, so that a rare colour, such as
 * that of an eye, is not lost among common ones.
 * Pure. Cost: O(pixels) and 32,768 groups of colours.
 */
import type { Pixels } from '../../wire/files/pixels.ts';

/** Colours that differ only in their last three bits are one group: nobody tells them apart. */
const BITS = 5;

interface Group {
  key: number;
  count: number;
  mean: readonly [number, number, number];
}

/** Returns the frames in at most `colours` colours. Alpha stays as it is, and transparent pixels have no colour. */
export function reduceColours(frames: readonly Pixels[], colours: number): Pixels[] {
  const groups = groupsOf(frames);
  const colourOf = new Map<number, readonly [number, number, number]>();
  for (const box of cutBoxes(groups, colours)) {
    const total = box.reduce((sum, { count }) => sum + count, 0);
    const mean = [0, 1, 2].map((channel) =>
      Math.round(box.reduce((sum, group) => sum + group.mean[channel] * group.count, 0) / total),
    ) as [number, number, number];
    for (const { key } of box) colourOf.set(key, mean);
  }
  return frames.map(({ width, height, data }) => {
    const reduced = new Uint8ClampedArray(data);
    for (let at = 0; at < reduced.length; at += 4) {
      if (reduced[at + 3] === 0) reduced.fill(0, at, at + 3);
      else reduced.set(colourOf.get(keyOf(data, at))!, at);
    }
    return { width, height, data: reduced };
  });
}

function groupsOf(frames: readonly Pixels[]): Group[] {
  const counts = new Map<number, [count: number, red: number, green: number, blue: number]>();
  for (const { data } of frames) {
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] === 0) continue;
      const key = keyOf(data, at);
      const sums = counts.get(key);
      if (sums === undefined) {
        counts.set(key, [1, data[at], data[at + 1], data[at + 2]]);
      } else {
        sums[0]++;
        sums[1] += data[at];
        sums[2] += data[at + 1];
        sums[3] += data[at + 2];
      }
    }
  }
  return [...counts].map(([key, [count, red, green, blue]]) => ({
    key,
    count,
    mean: [red / count, green / count, blue / count],
  }));
}

function cutBoxes(groups: Group[], boxesMax: number): Group[][] {
  const boxes: Group[][] = groups.length === 0 ? [] : [groups];
  while (boxes.length < boxesMax) {
    const spreads = boxes.map(spreadOf);
    const widest = spreads.reduce((best, spread, i) => (spread.weight > spreads[best].weight ? i : best), 0);
    if (boxes.length === 0 || spreads[widest].weight === 0) break; // each box has one colour
    const { channel, middle } = spreads[widest];
    boxes.splice(widest, 1, ...split(boxes[widest], channel, middle));
  }
  return boxes;
}

/** Returns the channel in which the colours of a box differ most, its middle there, and how much it matters to split the box. */
function spreadOf(box: readonly Group[]): { channel: number; middle: number; weight: number } {
  const ranges = [0, 1, 2].map((channel) => {
    let [low, high] = [255, 0];
    for (const { mean } of box) {
      low = Math.min(low, mean[channel]);
      high = Math.max(high, mean[channel]);
    }
    return { width: high - low, middle: (low + high) / 2 };
  });
  const widths = ranges.map(({ width }) => width);
  const channel = widths.indexOf(Math.max(...widths));
  const count = box.reduce((sum, group) => sum + group.count, 0);
  const { width, middle } = ranges[channel];
  return { channel, middle, weight: box.length < 2 ? 0 : width ** 2 * Math.sqrt(count) };
}

/** Splits a box at the middle of its range. Both parts have at least one group. */
function split(box: readonly Group[], channel: number, middle: number): [Group[], Group[]] {
  return [box.filter(({ mean }) => mean[channel] <= middle), box.filter(({ mean }) => mean[channel] > middle)];
}

function keyOf(data: Pixels['data'], at: number): number {
  const drop = 8 - BITS;
  return ((data[at] >> drop) << (2 * BITS)) | ((data[at + 1] >> drop) << BITS) | (data[at + 2] >> drop);
}
