/** Shimeji packs in a real browser, which alone reads XML: packs.vectors.json is played in a page, and a pack becomes a sprite. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { readSpr } from '../wire/files/spr.ts';
import { giveModule, noBrowser, openPage, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { openEditor, remade } from './editor_page.ts';
import { BOUNDED, type RelayProcess } from './relay_process.ts';
import { leftOutOf, PACK_ANIMATIONS, PACK_SIDE, shimejiPack } from './shimeji_pack.ts';

interface Case {
  name: string;
  expect?: unknown;
  /** The sentence with which it is refused instead. */
  refused?: string;
}

interface Vectors {
  constants: Record<string, number>;
  plans: (Case & { xml: string; paths: string[] })[];
  layouts: (Case & { cells: [x: number, y: number, width: number, height: number][] })[];
  archives: (Case & { archive: string; expect?: Record<string, string | null> })[];
  packs: (Case & { archive: string })[];
}

const VECTORS: Vectors = JSON.parse(readFileSync(new URL('./packs.vectors.json', import.meta.url), 'utf8'));
const BLOB = join(import.meta.dirname, '../web/sprites/blob.spr');
const FILE_BYTES_MAX = 4096; // of a file in the archives of the vectors

/** What becomes of all cases in the page. */
async function play(page: Page) {
  await giveModule(page, 'shimejiModule', 'make/shimeji.ts');
  await giveModule(page, 'zipModule', 'make/zip.ts');
  return page.evaluate(
    async ([{ plans, layouts, archives, packs }, fileBytesMax]) => {
      const { shimejiModule: shimeji, zipModule: zip } = globalThis as unknown as {
        shimejiModule: typeof import('../web/make/shimeji.ts');
        zipModule: typeof import('../web/make/zip.ts');
      };
      const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const outcome = async (name: string, act: () => unknown) => {
        try {
          return { name, expect: await act() };
        } catch (error) {
          return { name, refused: (error as Error).message };
        }
      };
      const all = <T extends { name: string }>(cases: T[], act: (one: T) => unknown) =>
        Promise.all(cases.map((one) => outcome(one.name, () => act(one))));
      const maskOf = ({ width, data }: { width: number; data: ArrayLike<number> }) => {
        const seen = Array.from({ length: data.length / 4 }, (_, at) => (data[4 * at + 3] === 0 ? '.' : '#')).join('');
        return seen.replace(new RegExp(`(.{${width}})(?=.)`, 'g'), '$1 ');
      };
      const { PACK_ENTRIES_MAX } = zip;
      const { ACTIONS_BYTES_MAX, ACTIONS_DEPTH_MAX, POSES_MAX, LEFT_OUT_MAX } = shimeji;
      const { PACK_PICTURE_BYTES_MAX, PACK_PIXELS_MAX } = shimeji;
      return {
        constants: {
          ...{ PACK_ENTRIES_MAX, ACTIONS_BYTES_MAX, ACTIONS_DEPTH_MAX, POSES_MAX, LEFT_OUT_MAX },
          ...{ PACK_PICTURE_BYTES_MAX, PACK_PIXELS_MAX },
        },
        plans: await all(plans, ({ xml, paths }) => {
          const { cells, ...rest } = shimeji.planOf(new TextEncoder().encode(xml), paths);
          const marked = cells.map(({ image, anchor, looksRight, hangs }) => [
            ...[image, ...anchor],
            ...(looksRight ? ['looks right'] : []),
            ...(hangs ? ['hangs'] : []),
          ]);
          return { cells: marked, ...rest };
        }),
        layouts: await all(layouts, ({ cells }) => {
          const { width, height, places } = shimeji.layOutCells(
            cells.map(([x, y, width, height]) => ({ anchor: [x, y] as const, width, height })),
          );
          return { size: [width, height], places };
        }),
        archives: await all(archives, async ({ archive }) => {
          const files: Record<string, string | null> = {};
          for (const [path, read] of zip.readZip(bytesOf(archive))) {
            const bytes = await read(fileBytesMax).catch(() => undefined);
            files[path] = bytes === undefined ? null : new TextDecoder().decode(bytes);
          }
          return files;
        }),
        packs: await all(packs, async ({ archive }) => {
          const source = await shimeji.readPack(zip.readZip(bytesOf(archive)), 'Cat.zip');
          const { frames, hitbox, animations, leftOut } = source;
          return { frames: frames.map(maskOf), hitbox, animations, leftOut };
        }),
      };
    },
    [VECTORS, FILE_BYTES_MAX] as const,
  );
}

describe('a Shimeji pack', { ...BOUNDED, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let editor: Page;
  before(async () => {
    ({ relay, browser } = await sharedSite());
    editor = await openPage(browser, 'packs', [], { viewport: { width: 900, height: 700 } });
    await openEditor(editor, relay.url);
  });
  after(closePages);

  it('is read as in the programs: the cases of packs.vectors.json', async () => {
    const { constants, ...played } = await play(editor);
    assert.deepEqual(constants, VECTORS.constants);
    const wanted = ({ name, expect, refused }: Case) => (refused === undefined ? { name, expect } : { name, refused });
    for (const kind of ['plans', 'layouts', 'archives', 'packs'] as const) {
      for (const [i, one] of VECTORS[kind].entries()) assert.deepEqual(played[kind][i], wanted(one), one.name);
    }
  });

  it('becomes a sprite once its licence is chosen; what has no counterpart is listed', async () => {
    const pack = Buffer.from(VECTORS.packs[0].archive, 'base64');
    await editor.setInputFiles('#files', { name: 'Cat.zip', mimeType: 'application/zip', buffer: pack });
    await editor.locator('#left-out', { hasText: 'Left out, because sprites do no such thing: Dash.' }).waitFor();
    await editor.locator('#made-wrong', { hasText: 'Whose pictures are these?' }).waitFor();
    assert.equal(await editor.inputValue('#licence'), '');
    assert.equal(await editor.isDisabled('#throw'), true);
    await shoot(editor, 'make-pack');
    await editor.waitForFunction(() => globalThis.making.sprite() !== null); // it comes alive here before that
    await editor.click('#made-wrong label');
    assert.equal(await editor.evaluate(() => document.activeElement?.id), 'licence');
    await editor.selectOption('#licence', 'CC-BY-4.0');
    await editor.waitForSelector('#throw:enabled');
    assert.equal(await editor.inputValue('#name'), 'Cat');
    assert.equal(await editor.evaluate(() => globalThis.making.frames().length), 2);
  });

  for (const language of ['english', 'japanese'] as const) {
    it(`of the usual kind, in ${language}, becomes a sprite with an animation for each action that has a counterpart`, async () => {
      const buffer = shimejiPack(language);
      const pack = { name: `Orange ${language}.zip`, mimeType: 'application/zip', buffer };
      await remade(editor, () => editor.setInputFiles('#files', pack));
      await editor.locator('#left-out', { hasText: leftOutOf(language).join(', ') }).waitFor();
      await shoot(editor, `make-pack-${language}`);
      await editor.selectOption('#licence', 'CC-BY-4.0');
      await editor.waitForSelector('#save:enabled');
      const download = editor.waitForEvent('download');
      await editor.click('#save');
      const { description } = readSpr(readFileSync(await (await download).path()));
      assert.equal(description.name, `Orange ${language}`);
      const frames = Object.entries(description.animations).map(([name, one]) => [name, [...one.frames]]);
      assert.deepEqual(Object.fromEntries(frames), PACK_ANIMATIONS);
      const [, , ...sides] = description.hitbox;
      assert.equal(Math.round(description.scale * Math.max(...sides)), PACK_SIDE);
    });
  }

  it('is read of a folder that is dropped; one without actions is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-pack-'));
    try {
      await dropFolder(editor, folder);
      await editor.locator('#source-wrong', { hasText: 'There is no actions.xml in it.' }).waitFor();
      mkdirSync(join(folder, 'Dog/conf'), { recursive: true });
      writeFileSync(join(folder, 'Dog/conf/actions.xml'), VECTORS.plans[0].xml);
      mkdirSync(join(folder, 'Dog/img'));
      copyFileSync(BLOB, join(folder, 'Dog/img/shime1.png'));
      writeFileSync(join(folder, 'Dog/readme.txt'), 'Dear Grace,');
      await dropFolder(editor, join(folder, 'Dog'));
      await editor.waitForFunction(() => (document.getElementById('name') as HTMLInputElement).value === 'Dog');
      assert.equal(await editor.evaluate(() => globalThis.making.frames().length), 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Drops a folder of this machine on the page, as a file manager does. */
async function dropFolder(page: Page, folder: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 100, y: 100, data });
  }
  await session.detach();
}
