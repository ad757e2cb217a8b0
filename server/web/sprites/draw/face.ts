/** Eyes and mouths, drawn in pixels. They are stamped onto a finished body. */
import type { Picture } from './picture.ts';
import type { Eyes } from './pose.ts';

const INK = 0x1d1a33;
const WHITE = 0xffffff;

/** Draws two eyes, `gap` pixels apart. x, y is the upper left corner of the left eye; an open eye is 2 wide and 3 high. */
export function drawEyes(picture: Picture, x: number, y: number, gap: number, eyes: Eyes, ink = INK): void {
  for (const left of [x, x + gap]) {
    switch (eyes) {
      case 'open':
        picture.stamp(left, y, ['##', '##', '##'], ink, false);
        picture.stamp(left, y, ['#'], WHITE, false);
        break;
      case 'wide':
        picture.stamp(left - 1, y - 1, ['.##.', '####', '####', '####', '.##.'], WHITE, false);
        picture.stamp(left, y, ['##', '##', '##'], ink, false);
        picture.stamp(left, y, ['#'], WHITE, false);
        break;
      case 'blink':
        picture.stamp(left, y + 1, ['##'], ink, false);
        break;
      case 'happy':
        picture.stamp(left - 1, y, ['.##.', '#..#'], ink, false);
        break;
      case 'dizzy':
        picture.stamp(left - 1, y, ['#..#', '.##.', '.##.', '#..#'].slice(0, 4), ink, false);
        break;
      case 'asleep':
        picture.stamp(left - 1, y + 1, ['#..#', '.##.'], ink, false);
        break;
    }
  }
}

/** Draws a small mouth, centred on x: a smile, or an open `o` when the eyes are wide. */
export function drawMouth(picture: Picture, x: number, y: number, eyes: Eyes, tongue = 0xff7d8c, ink = INK): void {
  if (eyes === 'wide') {
    picture.stamp(x - 1, y, ['##', '##'], ink, false);
    picture.stamp(x - 1, y + 1, ['##'], tongue, false);
  } else if (eyes === 'happy') {
    picture.stamp(x - 2, y, ['####', '.##.'], ink, false);
    picture.stamp(x - 1, y + 1, ['##'], tongue, false);
  } else if (eyes === 'asleep' || eyes === 'dizzy') {
    picture.stamp(x - 1, y, ['##'], ink, false);
  } else {
    picture.stamp(x - 2, y, ['#..#', '.##.'], ink, false);
  }
}
