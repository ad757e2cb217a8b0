/**
 * The program for Linux on Wayland, used as a person would: sprites are layers of a headless sway.
 *
 * Ada has the program; Grace is a headless desktop beside her. What is the same as on X is tested there. The suite saves screenshots to
 * screenshots/.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient, buildX11Client, WAYLAND_FILES } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { WaylandDesktop, whyNoWayland } from './wayland_desktop.ts';
import { RUNNER, runner, spr, TARGET, target } from './wine_sprites.ts';
import { middleOf, SCREEN, type Screenshot, tryUntil } from './x_display.ts';
import { exitOf } from './x11_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const CENTRE = { x: 640, y: 400 };
const SPRITE_PX_MAX = 5_000; // pixels of the sprite, with its shadow and the pointer
const MENU_PX_MIN = 40_000; // pixels of a menu
const SAY = 'Sprites: say something';
const TEXT = 'Señor Café, 日本語, مرحبا';

const skip = whyNoWayland() ?? buildX11Client() ?? buildClient() ?? false;

describe('the program for Linux on Wayland', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: WaylandDesktop;
  let client: ChildProcess;
  let grace: HeadlessDesktop;
  let empty: Screenshot;

  // Ada sits at the left and the right of Grace, with one sprite.
  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [relay, ada] = await Promise.all([startRelay({ workers: 0 }), WaylandDesktop.start()]);
    empty = ada.capture();
    ada.writeSettings({ relay: relay.url, world: 'layers', name: 'Ada', calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 900, 400);
    client = ada.launch();
    grace = startHeadless(['--relay', relay.url, '--world', 'layers', '--name', 'Grace']);
    await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitFor('the sprite', runner);
  });

  after(async () => {
    client?.kill('SIGTERM');
    if (client) await exitOf(client);
    await grace?.quit();
    await ada?.stop();
    await relay?.stop();
  });

  const shot = (name: string) => ada.capture().save(join(SHOTS, `wayland-${name}.png`));
  const onFloor = (floor: number) => (screenshot: Parameters<typeof runner>[0]) => {
    const found = runner(screenshot);
    return found && Math.abs(found.bottom + 8 - floor) < 14 ? found : undefined;
  };

  it('shows sprites that fall to the ground, and stand above what panels take', async () => {
    await ada.waitFor('the sprite stands', onFloor(SCREEN.height));
    const panel = ada.spawn('swaynag', '--layer', 'bottom', '--edge', 'bottom', '--message', 'Panel');
    await ada.waitFor('the sprite stands higher', (screenshot) => {
      const found = runner(screenshot);
      return found && found.bottom < SCREEN.height - 20 ? found : undefined;
    });
    panel.kill('SIGKILL');
    await ada.waitFor('the sprite has fallen again', onFloor(SCREEN.height));
  });

  it('takes a sprite by the pointer, and lets it be thrown to the neighbour and back', async () => {
    await tryUntil(
      'Grace has the sprite',
      async () => {
        if (!runner(ada.capture())) return;
        await ada.grab('the sprite is held', runner, CENTRE);
        shot('held');
        await ada.throwFrom(CENTRE, 400, -60);
      },
      async () => (await grace.look()).sprites.length === 1,
    );
    grace.send('throw 1 left');
    await ada.waitFor('the sprite is back', runner);
  });

  it('says what is typed, in any script, and lets clicks through to the window', async () => {
    await choose('y', () => ada.hasWindow(SAY));
    const { right, bottom } = await ada.focusOn(SAY);
    ada.type(TEXT);
    shot('say');
    const isHeard = () => grace.lines.some(({ heard, from }) => heard === TEXT && from === 'Ada');
    await tryUntil('Grace hears it', async () => ada.press('Return'), isHeard);
    shot('saying');
    // Its button Close is below the layer with the sprite.
    ada.click({ x: right - 60, y: bottom - 34 });
    await ada.isGone(SAY);
  });

  it('shows the words of the neighbour beside the sprite that she threw', async () => {
    await ada.waitFor(
      'all bubbles are gone',
      (screenshot) => screenshot.differences(empty) < SPRITE_PX_MAX || undefined,
    );
    grace.send('say Hello over there, Ada! Is that your cat on my desktop?');
    await ada.waitFor('the bubble', (screenshot) => screenshot.differences(empty) > 2 * SPRITE_PX_MAX || undefined);
    shot('heard');
  });

  it('steers a sprite from its menu, until Escape', async () => {
    const left = () => runner(ada.capture())?.left ?? 0;
    const from = left();
    await choose('k', () => !isMenuOpen());
    await tryUntil(
      'the sprite runs to the left',
      async () => ada.hold('Left', 600),
      () => left() < from - 20,
    );
    ada.press('Escape');
    const there = middleOf(await ada.waitUntilStill(runner));
    ada.hold('Left', 600);
    assert.deepEqual(middleOf(await ada.waitUntilStill(runner)), there);
  });

  it('makes a sprite of a file that is dropped on one', async () => {
    const file = join(ada.folder, 'target.spr');
    writeFileSync(file, spr(TARGET));
    const files = ada.spawn(WAYLAND_FILES, 'Files', pathToFileURL(file).href);
    try {
      const { right, top } = await ada.focusOn('Files');
      const from = { x: right - 40, y: top + 40 };
      await tryUntil(
        'the file is a sprite',
        async () => ada.drag(from, middleOf(await ada.waitFor('the sprite', runner))),
        () => target(ada.capture()) !== undefined,
      );
    } finally {
      shot('dropped');
      files.kill('SIGKILL');
    }
  });

  it('leaves the relay at Quit in the menu', async () => {
    await choose('q', () => client.exitCode !== null);
    assert.equal(client.exitCode, 0);
    await grace.until('Ada has left', ({ neighbours }) => neighbours?.left.name !== 'Ada');
    assert.equal(ada.savedState().sprites.length, 2);
  });

  const isMenuOpen = () => ada.capture().differences(empty) > MENU_PX_MIN;

  /** Opens the menu of the sprite, and presses a key there. */
  async function choose(key: string, isDone: () => boolean): Promise<void> {
    await tryUntil(
      `${key} is chosen`,
      async () => {
        const open = async () => {
          if (!isMenuOpen()) ada.click(middleOf(await ada.waitFor('the sprite stands', onFloor(SCREEN.height))), 3);
        };
        await tryUntil('the menu is open', open, isMenuOpen);
        shot('menu');
        ada.press(key);
      },
      isDone,
    );
  }
});
