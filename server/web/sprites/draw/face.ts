/**
 * Faces, drawn in pixels: two eyes and a mouth as one stamp, so that nothing in a face shifts against the rest.
 *
 * Letters: `#` ink, `w` white, `p` tongue, `b` blush.
 */
import type { Picture } from './picture.ts';

export type Eyes = 'open' | 'look' | 'blink' | 'wide' | 'happy' | 'asleep' | 'dizzy' | 'effort';
export type Mouth = 'smile' | 'laugh' | 'round' | 'flat' | 'yawn' | 'wobbly' | 'cat' | 'none';

export interface Face {
  eyes: Eyes;
  mouth: Mouth;
  /** px between the eyes. */
  gap: number;
  ink?: number;
  tongue?: number;
  /** The colour of the cheeks; none without it. */
  blush?: number;
}

/** The left eye; the right one is its mirror image only for `effort`. All have one height, so that faces do not jump. */
const EYES: Record<Eyes, readonly string[]> = {
  open: ['.#.', 'w##', '###', '###', '.#.'],
  look: ['.##', '##w', '###', '#w#', '.#.'],
  blink: ['...', '...', '...', '###', '...'],
  wide: ['.###.', '#www#', '#w#w#', '#www#', '.###.'],
  happy: ['.....', '.###.', '#...#', '.....', '.....'],
  asleep: ['.....', '.....', '#...#', '.###.', '.....'],
  dizzy: ['.....', '#.#..', '.#...', '#.#..', '.....'],
  effort: ['#...', '.##.', '...#', '.##.', '#...'],
};

const MOUTHS: Record<Mouth, readonly string[]> = {
  smile: ['#...#', '.###.'],
  laugh: ['#####', '#ppp#', '.###.'],
  round: ['.##.', '#pp#', '.##.'],
  flat: ['####'],
  yawn: ['.###.', '#ppp#', '#ppp#', '.###.'],
  wobbly: ['.#.#', '#.#.'],
  cat: ['#..#..#', '.##.##.'],
  none: [],
};

/** Draws a face with its middle between the eyes at x, y. */
export function drawFace(picture: Picture, x: number, y: number, face: Face): void {
  const { gap, ink = 0x1d1a33, tongue = 0xf27d8c, blush } = face;
  const left = EYES[face.eyes];
  const right = face.eyes === 'effort' ? left.map((row) => [...row].reverse().join('')) : left;
  const eye = left[0].length;
  // All eyes are as far apart as open ones would be, from middle to middle.
  const between = Math.max(1, gap + 3 - eye);
  const rows = left.map((row, i) => row + '.'.repeat(between) + right[i]);
  const width = eye * 2 + between;
  for (const row of MOUTHS[face.mouth]) {
    const before = Math.round((width - row.length) / 2);
    rows.push(`${'.'.repeat(Math.max(0, before))}${row}`.padEnd(width, '.'));
  }
  if (blush !== undefined) {
    for (const at of [4, 5]) rows[at] = `bb${(rows[at] ?? '').padEnd(width, '.')}bb`;
    for (const [i, row] of rows.entries()) if (row.length <= width) rows[i] = `..${row.padEnd(width, '.')}..`;
  }
  const middle = (rows.length - left.length) / 2; // the stamp's middle is below that of the eyes
  picture.stamp(x, y + middle, rows, { '#': ink, w: 0xffffff, p: tongue, ...(blush !== undefined && { b: blush }) });
}
