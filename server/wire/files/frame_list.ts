/** Lists of frames as people write them: `4,5,6,5` or `0-3, 1`. `npm run spr` and the editor in the browser read them. */

/** Returns the frames of a list, or undefined when it is not one. A range may run backwards: `3-1` is 3 2 1. */
export function readFrameList(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => readRange(part.trim()));
  return parts.includes(undefined) ? undefined : (parts as number[][]).flat();
}

/** Returns the shortest list that names these frames: ranges where three or more follow one another. */
export function writeFrameList(frames: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < frames.length; ) {
    let length = 1;
    const step = frames[at + 1] - frames[at];
    if (Math.abs(step) === 1) while (frames[at + length] === frames[at] + step * length) length++;
    if (length < 3) length = 1;
    parts.push(length === 1 ? String(frames[at]) : `${frames[at]}-${frames[at + length - 1]}`);
    at += length;
  }
  return parts.join(', ');
}

function readRange(part: string): number[] | undefined {
  const [, first, last] = /^(\d{1,4})(?:\s*-\s*(\d{1,4}))?$/.exec(part) ?? [];
  if (first === undefined) return undefined;
  const length = Number(last ?? first) - Number(first);
  return Array.from({ length: Math.abs(length) + 1 }, (_, i) => Number(first) + Math.sign(length) * i);
}
