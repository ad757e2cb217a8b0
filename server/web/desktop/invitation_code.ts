/** An invitation as a QR code, for a phone's camera. The library that makes it is loaded when a person asks for one. */

import { part } from '../texts/part.ts';
import { element } from './elements.ts';

const codes = part(() => import('uqr'));

const SIDE = 168; // px: a camera reads it from the length of an arm
const QUIET = 3; // modules of white around the code

/** Shows the link as a code in the card, or hides a code that is shown. */
export async function showCode(link: string): Promise<void> {
  const canvas = element<HTMLCanvasElement>('alone-qr');
  const button = element('alone-code');
  const isShown = canvas.hidden;
  if (isShown) await draw(canvas, link);
  canvas.hidden = !isShown;
  button.ariaExpanded = String(isShown);
}

async function draw(canvas: HTMLCanvasElement, link: string): Promise<void> {
  const { encode } = await codes();
  const { data, size } = encode(link, { border: QUIET });
  const dot = Math.max(1, Math.ceil((SIDE * devicePixelRatio) / size));
  canvas.width = canvas.height = dot * size;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000000';
  for (const [y, row] of data.entries()) {
    for (const [x, isDark] of row.entries()) if (isDark) context.fillRect(x * dot, y * dot, dot, dot);
  }
}
