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
  const page = await browser.newPage({ viewport: { width: 450, height: 600 } });
  await page.setContent(`<style>
    body { margin: 0; height: 600px; background: linear-gradient(160deg, #cfd9df, #e2ebf0) }
    div { position: absolute; background: #d02030 }
    .head { left: 140px; top: 120px; width: 170px; height: 170px; border-radius: 50% }
    .trunk { left: 150px; top: 270px; width: 150px; height: 230px; border-radius: 40px }
    .belly { left: 190px; top: 330px; width: 70px; height: 90px; border-radius: 50%; background: #e0e8ee }
    </style><div class="head"></div><div class="trunk"></div><div class="belly"></div>`);
  const jpeg = await page.screenshot({ type: 'jpeg', quality: 85 });
  await page.close();
  return jpeg;
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
