/**
 * What is said, in the Windows program under Wine: bubbles, the window to type in, the list of what was said, mutes.
 *
 * Ada has the program; Grace is a headless desktop beside her. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay, until } from '../../server/test/relay_process.ts';
import { buildClient, buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { middleOf, SCREEN, WineDesktop, whyNoWine } from './wine_desktop.ts';
import { CYAN, onFloor, RUNNER, runner, spr } from './wine_sprites.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const INPUT = 'Sprites: say something';
const LIST = 'Sprites: what was said';

const skip = whyNoWine() ?? buildWindowsClient() ?? buildClient() ?? false;

describe('sayings in the windows client', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: WineDesktop;
  let grace: HeadlessDesktop;

  const settings = () => JSON.parse(readFileSync(join(ada.folder, 'settings.json'), 'utf8'));

  const shot = (name: string) => ada.capture().save(join(SHOTS, `wine-${name}.png`));

  async function openInput(): Promise<string> {
    const { found } = await ada.waitUntilStill('the sprite on the floor', onFloor(runner));
    const { x, y } = middleOf({ ...found, right: found.left + 12 });
    return await ada.openFromMenu([x, y], 'y', INPUT);
  }

  async function openList(): Promise<string> {
    const tray = await ada.frame('Wine System Tray');
    return await ada.openFromMenu(['--window', tray.id, 10, 10], 'w', LIST);
  }

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('sayings', 'openbox');
    ada.writeSettings({ relay: relay.url, world: 'talk', name: 'Ada', sound: false, calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, SCREEN.height);
    ada.launch(WINDOWS_CLIENT);
    grace = startHeadless(['--relay', relay.url, '--world', 'talk', '--name', 'Grace']);
    await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitFor('the sprite', (screenshot) => screenshot.find(CYAN));
  });

  after(async () => {
    await grace?.quit();
    await ada?.stop();
    await relay?.stop();
  });

  it("shows a neighbour's words at the edge where she sits, named for screen readers, and they go", async () => {
    const text = 'Hello over there, Ada! Is that your cat on my desktop? It has been asleep for an hour.';
    grace.send(`say ${text}`);
    const title = `Grace: ${text.replace('?', '\\?')}`;
    const place = await ada.frame(title);
    const { x, y, width, height } = place;
    assert.ok(x < 20 || x + width > SCREEN.width - 20, JSON.stringify(place));
    await ada.waitFor('its paper', (screenshot) => {
      const colour = screenshot.at(x + 16, y + height / 2);
      return colour.every((part) => part === 255) || undefined;
    });
    shot('saying-edge');
    await ada.isGone(title);
  });

  it('says a line that is typed, shows it at an own sprite, and tells how many hear it', async () => {
    const input = await openInput();
    await ada.xdotool('windowfocus', input, 'sleep', 0.3, 'type', '--delay', 30, 'Whose cat is that');
    await ada.xdotool('key', 'Return');
    await grace.waitForLine('Grace hears it', ({ heard, from }) => heard === 'Whose cat is that' && from === 'Ada');
    await ada.frame('Whose cat is that');
    await ada.xdotool('sleep', 0.5);
    shot('saying-own');
    // The line was cleared, so what is typed now is a line of its own.
    await ada.xdotool('windowfocus', input, 'sleep', 0.2, 'type', '--delay', 30, 'Mine');
    await ada.xdotool('key', 'Return');
    await grace.waitForLine('Grace hears the second line', ({ heard }) => heard === 'Mine');
    await ada.xdotool('windowfocus', input, 'sleep', 0.2, 'type', '--delay', 8, 'x'.repeat(250));
    await ada.xdotool('sleep', 0.5);
    shot('saying-long');
    await ada.xdotool('windowfocus', input, 'sleep', 0.2, 'key', 'Escape');
    await ada.isGone(INPUT);
  });

  it('lists what was said, and mutes a speaker there', async () => {
    const text = 'A longer line that has more words than fit into its column, so it is shown whole below the list';
    grace.send(`say ${text}`);
    await ada.frame(`Grace: ${text}`);
    const list = await openList();
    await ada.xdotool('sleep', 0.5);
    shot('saying-list');
    await until('Grace is muted', async () => {
      await ada.xdotool('windowfocus', list, 'sleep', 0.2, 'key', 'alt+m', 'sleep', 0.5);
      return settings().muted?.[0] === 'Grace';
    });
    await ada.isGone(`Grace: ${text}`);
    await ada.xdotool('sleep', 0.3);
    shot('saying-muted');
    grace.send('say Can you hear me');
    await grace.waitForLine('it was said', ({ heard }) => heard === 'Can you hear me');
    await ada.xdotool('windowfocus', list, 'sleep', 0.2, 'key', 'Escape');
    await ada.isGone(LIST);
    const input = await openInput();
    await ada.xdotool('windowfocus', input, 'sleep', 0.3, 'type', '--delay', 30, 'Only me');
    await ada.xdotool('key', 'Return');
    await ada.frame('Only me');
    assert.deepEqual(await ada.windows('Grace: Can you hear me'), []);
  });
});
