/**
 * The icons under which a phone or a computer installs the page: a character on a plain ground, enlarged by a whole number.
 *
 * Cost: 20 ms for each, once at start.
 */
import { PNG } from 'pngjs';
import { readSpr } from '../wire/files/spr.ts';

/** Red, green and blue behind the character: the page's colour. */
const GROUND = [0xe9, 0xe6, 0xff] as const;

/** The part of the icon that the character may fill: systems cut the rest into their own shapes. */
const FILLED = 0.7;

/** Returns a PNG of `side` × `side` pixels with the first frame of this .spr. */
export function iconOf(spr: Buffer, side: number): Buffer {
  const { frame, animations } = readSpr(spr).description;
  const sheet = PNG.sync.read(spr);
  const icon = new PNG({ width: side, height: side });
  for (let at = 0; at < icon.data.length; at += 4) icon.data.set([...GROUND, 255], at);
  const scale = Math.max(1, Math.floor((FILLED * side) / Math.max(frame.width, frame.height)));
  const [left, top] = [side - scale * frame.width, side - scale * frame.height].map((room) => Math.floor(room / 2));
  const columns = Math.floor(sheet.width / frame.width);
  const cell = animations.idle.frames[0];
  const [cellX, cellY] = [(cell % columns) * frame.width, Math.floor(cell / columns) * frame.height];
  for (let y = 0; y < scale * frame.height; y++) {
    for (let x = 0; x < scale * frame.width; x++) {
      const from = 4 * ((cellY + Math.floor(y / scale)) * sheet.width + cellX + Math.floor(x / scale));
      if (sheet.data[from + 3] < 128) continue;
      const to = 4 * ((top + y) * side + left + x);
      if (top + y >= 0 && left + x >= 0) icon.data.set(sheet.data.subarray(from, from + 3), to);
    }
  }
  return PNG.sync.write(icon);
}
