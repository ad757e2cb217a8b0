/** The editor of pictures in a real browser, and a photograph to make a sprite of. */
import type { Browser, Page } from 'playwright-core';

type Rgba = [red: number, green: number, blue: number, alpha: number];

declare global {
  var making: {
    draft(): { picturing: { cut: { picks: object[] } }; order: number[] | null; hitbox: number[] | null } | null;
    frames(): readonly { width: number; height: number; data: Uint8ClampedArray }[];
    made(): string | null;
    sprite(): { x: number; y: number; mode: string; height: number } | null;
  };
}

/** Returns a JPEG of 450 × 600 px: a red figure with a white belly stands before a bright wall, which is not of one colour. */
export async function photograph(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage();
  const base64 = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    canvas.width = 450;
    canvas.height = 600;
    const context = canvas.getContext('2d')!;
    const fill = (style: string | CanvasGradient, path: (figure: Path2D) => void) => {
      const figure = new Path2D();
      path(figure);
      context.fillStyle = style;
      context.fill(figure);
    };
    const wall = context.createLinearGradient(100, 0, 350, 600);
    wall.addColorStop(0, '#cfd9df');
    wall.addColorStop(1, '#e2ebf0');
    fill(wall, (figure) => figure.rect(0, 0, 450, 600));
    fill('#d02030', (head) => head.ellipse(225, 205, 85, 85, 0, 0, 2 * Math.PI));
    fill('#d02030', (trunk) => trunk.roundRect(150, 270, 150, 230, 40));
    fill('#e0e8ee', (belly) => belly.ellipse(225, 375, 35, 45, 0, 0, 2 * Math.PI));
    return canvas.toDataURL('image/jpeg', 0.85).split(',')[1];
  });
  await page.close();
  return Buffer.from(base64, 'base64');
}

/** Goes to the editor, and waits until it listens. */
export async function openEditor(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/make`);
  await page.waitForFunction(() => 'making' in globalThis);
}

/** Does something in the editor, and waits until another .spr has been made after it. Returns its hash. */
export async function remade(page: Page, act: () => Promise<unknown>): Promise<string> {
  const before = await page.evaluate(() => document.body.dataset.made);
  await act();
  await page.waitForFunction((last) => document.body.dataset.made !== last, before);
  return (await page.evaluate(() => globalThis.making.made())) as string;
}

/** Chooses a file. Returns the hash of the .spr that is made of it. */
export function choose(page: Page, name: string, mimeType: string, buffer: Buffer): Promise<string> {
  return remade(page, () => page.setInputFiles('#files', { name, mimeType, buffer }));
}

/** Returns the pixel of the first frame at a place, 0 … 1 of its width and height. */
export function pixelAt(page: Page, x: number, y: number): Promise<Rgba> {
  return page.evaluate(
    ([across, down]) => {
      const { width, height, data } = globalThis.making.frames()[0];
      const at = 4 * (Math.floor(down * height) * width + Math.floor(across * width));
      return [...data.subarray(at, at + 4)] as Rgba;
    },
    [x, y],
  );
}
