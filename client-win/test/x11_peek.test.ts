/**
 * Peeking with the program for X11: a neighbour's cat is seen as a silhouette before it crosses, and the other way round.
 *
 * Ada has the program; Grace is a headless desktop beyond each of her edges. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { PEEK_DEPTH_MAX } from '../../server/web/desktop/peek_gesture.ts';
import { buildClient, buildX11Client } from '../../tools/build.js';
import { type HeadlessDesktop, SPRITES, startHeadless } from './headless_desktop.ts';
import { RUNNER, runner, spr } from './wine_sprites.ts';
import { eventually, type Frame, SCREEN } from './x_display.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const BEYOND = 'Sprite beyond';
const DEPTH = PEEK_DEPTH_MAX; // px of the pane on a screen of 1280 px

const skip = whyNoX11() ?? buildX11Client() ?? buildClient() ?? false;

describe('peeking with the program for X11', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: X11Desktop;
  let client: ChildProcess;
  let grace: HeadlessDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await X11Desktop.start('peek');
    ada.writeSettings({ relay: relay.url, world: 'peek', name: 'Ada', calm: true, greeted: true });
    ada.keepSprite(spr(RUNNER), RUNNER.name, 800, SCREEN.height);
    // The relay carries this picture, so neighbours see the sprite.
    ada.keepSprite(readFileSync(join(SPRITES, 'bolt.spr')), 'Bolt', 1150, SCREEN.height);
    client = ada.launch();
    grace = startHeadless(['--relay', relay.url, '--world', 'peek', '--name', 'Grace']);
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

  const shot = (name: string) => ada.capture().save(join(SHOTS, `x11-${name}.png`));

  /** What Ada sees beyond her edge: the pane, and the silhouettes in it. */
  async function beyond(): Promise<{ pane: Frame | undefined; silhouettes: Frame[] }> {
    const frames = await ada.frames(BEYOND);
    const pane = frames.find(({ width }) => width === DEPTH);
    return { pane, silhouettes: frames.filter((one) => one !== pane && one.width > 1) };
  }

  /** Waits until Ada sees one silhouette between these px of her screen. */
  const seesCat = (from: number, to: number) =>
    eventually(`a silhouette is between ${from} and ${to}`, async () => {
      const { silhouettes } = await beyond();
      return silhouettes.some(({ x, width }) => x + width / 2 > from && x + width / 2 < to);
    });

  it('opens a pane with the silhouette of a cat while the pointer rests at the edge, and takes no clicks', async () => {
    grace.send(`take ${join(SPRITES, 'miso.spr')}`);
    grace.send('pause on');
    await grace.until('Grace has a cat', ({ sprites }) => sprites.length === 1);
    const [cat] = (await grace.look()).sprites;
    grace.send(`grab ${cat.id} ${cat.x} ${cat.y} 0`);
    grace.send('drag 700 300 10');
    grace.send('release 1000');
    await ada.moveTo({ x: 640, y: 300 });
    await ada.moveTo({ x: 0, y: 300 });
    await eventually('the pane is open', async () => (await beyond()).pane !== undefined);
    const { pane } = await beyond();
    assert.deepEqual([pane!.x, pane!.y, pane!.height], [0, 0, SCREEN.height]);
    const { sprites, watched } = await grace.until('Grace is watched', (state) => state.watched.length > 0);
    assert.ok(watched.includes('right'), `${watched}`);
    const seen = DEPTH - (800 - sprites[0].x);
    await seesCat(seen - 30, seen + 30);
    shot('peek-1-seen');
    assert.ok(!(await ada.windowsAt({ x: 100, y: 300 })).includes(pane!.id));
  });

  it('shows the cat walking up to the edge, until it crosses and is here', async () => {
    grace.send('pause off');
    grace.send('select 1');
    grace.send('key right on');
    await seesCat(DEPTH - 60, DEPTH + 30);
    grace.send('key right off');
    shot('peek-2-at-the-line');
    const own = (await ada.frames('Sprite')).length;
    grace.send('throw 1 right');
    await eventually('the cat is here', async () => (await ada.frames('Sprite')).length === own + 1);
    shot('peek-3-crossed');
    await eventually('no silhouette is left', async () => (await beyond()).silhouettes.length === 0);
    assert.ok((await beyond()).pane, 'the pane stays while the pointer does');
    await ada.moveTo({ x: 640, y: 300 });
    await eventually('the pane is closed', async () => (await beyond()).pane === undefined);
    await grace.until('nobody watches Grace', ({ watched }) => watched.length === 0);
  });

  it('shows its own sprites to a neighbour who looks, until the person turns that off in the menu', async () => {
    assert.equal((await grace.look()).showsStage, true, 'as a private world says');
    grace.send('monitors 0,0,1280,800'); // as large as Ada's screen
    grace.send('peek left');
    const { beyond: seen } = await grace.until('Grace sees something', ({ beyond }) => beyond.length >= 2);
    assert.deepEqual(seen[0].shown, [0, 0, DEPTH, 800]);
    await ada.chooseOf(runner);
    shot('peek-4-menu');
    await ada.press('b', 'l');
    await eventually('the choice is saved', () => ada.settings().showStage === 'off');
    await grace.until('Grace sees nothing', ({ beyond }) => beyond.length === 0);
  });
});
