/** Small pictures for tests, drawn with letters. */
import { newPixels, type Pixels } from '../wire/files/pixels.ts';

const COLOURS: Record<string, readonly [number, number, number, number]> = {
  '.': [0, 0, 0, 0],
  w: [255, 255, 255, 255],
  l: [230, 230, 230, 255],
  k: [0, 0, 0, 255],
  r: [220, 30, 30, 255],
  g: [30, 200, 60, 255],
  b: [30, 60, 220, 255],
};

/** Draws a picture: a letter is a pixel, spaces divide the rows. */
export function drawn(rows: string): Pixels {
  const lines = rows.trim().split(/\s+/);
  const pixels = newPixels({ width: lines[0].length, height: lines.length });
  for (const [at, letter] of [...lines.join('')].entries()) pixels.data.set(COLOURS[letter], 4 * at);
  return pixels;
}

/** The letters of a picture; `?` for a colour that has none. Transparent pixels are dots, whatever their colour. */
export function letters({ width, height, data }: Pixels): string {
  const letterAt = (at: number) => {
    if (data[at + 3] === 0) return '.';
    const found = Object.entries(COLOURS).find(([, colour]) => colour.every((value, i) => value === data[at + i]));
    return found?.[0] ?? '?';
  };
  const rows = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_unused, x) => letterAt(4 * (y * width + x))).join(''),
  );
  return rows.join(' ');
}
