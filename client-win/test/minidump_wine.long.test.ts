/**
 * What is left of a crash: the minidump that the Windows program writes, read with the tool for that.
 *
 * A program that only crashes stands in for it. Wine reads the symbols of all its libraries for each dump, which takes seconds.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { explain } from '../../tools/client.ts';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';

const CRASH = join(dirname(WINDOWS_CLIENT), 'crash.exe');

/** How crash.exe crashes, and what its minidump says. */
const CRASHES = {
  abort: /^an abort/,
  thread: /^an exception that nobody caught|^an abort/,
  stack: /^a full stack/,
};

const skip = whyNoWine() ?? buildWindowsClient() ?? false;

describe('minidumps of the windows client', { skip, timeout: 900_000 }, () => {
  let ada: WineDesktop;

  before(async () => {
    ada = await WineDesktop.start('minidump');
    ada.env.WINEDLLOVERRIDES += ';winedbg.exe='; // Wine would start its debugger, which shows a window
  });

  after(async () => {
    await ada?.stop();
  });

  for (const [how, what] of Object.entries(CRASHES)) {
    it(`tell what crashed, and in which line: ${how}`, async () => {
      const folder = join(ada.prefix, 'drive_c', `dumps-${how}`);
      await once(ada.launch(CRASH, `C:\\dumps-${how}`, how), 'exit');
      const [dump] = readdirSync(folder);
      const told = explain(readFileSync(join(folder, dump)), 'crash.exe', () => readFileSync(CRASH));
      assert.match(told, what);
      assert.match(told, / at crash\.cc:\d+/);
    });
  }
});
