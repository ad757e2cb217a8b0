/**
 * A picture made in the editor from a photo is thrown from the browser, and lands on the Windows client under Wine.
 *
 * Bob has the page and the editor. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser, shoot } from '../../server/test/browser_page.ts';
import { choose, openEditor, photograph, pixelAt } from '../../server/test/editor_page.ts';
import { until } from '../../server/test/relay_process.ts';
import { buildWindowsClient } from '../../tools/build.js';
import { ProgramAndPage } from './program_and_page.ts';
import { type Colour, type WineDesktop, whyNoWine } from './wine_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');

const skip = whyNoWine() ?? buildWindowsClient() ?? noBrowser;

describe('a picture made in the editor from a photo', { skip, timeout: 900_000 }, () => {
  const pair = new ProgramAndPage();
  const { faults } = pair;
  let ada: WineDesktop;
  let bob: Page;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    await pair.start('make');
    ({ ada, bob } = pair);
  });
  after(() => pair.stop());

  it('is thrown from the browser and lands on the Windows client', async () => {
    const editor = await bob.context().newPage();
    editor.on('pageerror', (error) => faults.push(`editor: ${error.stack}`));
    await openEditor(editor, pair.relay.url);
    const file = await choose(editor, 'Redling.jpg', 'image/jpeg', await photograph(pair.browser));
    const [red, green, blue, alpha] = await pixelAt(editor, 0.5, 0.3);
    assert.ok(red > 150 && alpha === 255, 'the head');
    const head: Colour = [red, green, blue];
    await editor.click('#throw');
    await editor.locator('#finished', { hasText: 'Redling is on your desktop' }).waitFor();
    await shoot(editor, 'make-for-windows');
    await bob.bringToFront();
    const at = () => bob.evaluate((of) => globalThis.sprites.sprites().findIndex((one) => one.file === of), file);
    await until('it is on the desktop', async () => (await at()) >= 0);
    assert.equal(ada.capture().find(head), undefined, 'Ada has nothing of this colour');
    await until('it has left', async () => {
      const index = await at();
      if (index >= 0) await bob.evaluate((of) => globalThis.sprites.throw(of, 'right'), index);
      return index < 0;
    });
    const { found } = await ada.waitFor('the picture', (screenshot) => {
      const area = screenshot.find(head);
      return area && area.bottom - area.top > 8 ? area : undefined;
    });
    assert.ok(found.right - found.left < 100, 'its background is not there');
    ada.capture().save(join(SHOTS, 'wine-made-in-the-editor.png'));
    assert.deepEqual(faults, []);
  });
});
