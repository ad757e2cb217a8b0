/**
 * The program for X11, used as a person would: under Xvfb, with picom as compositor and openbox as window manager.
 *
 * Ada has the program; Grace is a headless desktop beside her. Sprites are found on the screen by their colours.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { MASCOT, shimejiPack } from '../../server/test/shimeji_pack.ts';
import { buildClient, buildX11Client } from '../../tools/build.js';
import { type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { MAGENTA, PADDING, png, RIVAL, RUNNER, rival, runner, SIDE, spr, TARGET, target } from './wine_sprites.ts';
import {
  type Area,
  eventually,
  type Finder,
  middleOf,
  type Point,
  SCREEN,
  type Screenshot,
  tryUntil,
} from './x_display.ts';
import { exitOf, whyNoX11, X11Desktop } from './x11_desktop.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const skip = whyNoX11() ?? buildX11Client() ?? buildClient() ?? false;

const GREY = 128; // of the empty desktop, as picom draws it
const SHADE_MAX = 2; // of 255: rounding in the compositor
const NEAR_PX = 4; // a sprite that stands has its foot so near to the edge below it
const CENTRE: Point = { x: 640, y: 400 };

/** Where the whole sprite is, with the transparent pixels around it. */
function whole({ left, top }: Area): Area {
  return {
    left: left - PADDING,
    top: top - PADDING,
    right: left - PADDING + SIDE - 1,
    bottom: top - PADDING + SIDE - 1,
  };
}

function isNear(colour: readonly number[], wanted: readonly number[]): boolean {
  return colour.every((part, i) => Math.abs(part - wanted[i]) <= SHADE_MAX);
}

/** The runner where it stands with its foot at this height. */
const standingAt =
  (y: number): Finder =>
  (screenshot) => {
    const found = runner(screenshot);
    return found && Math.abs(whole(found).bottom + 1 - y) <= PADDING + NEAR_PX ? found : undefined;
  };
const onFloor = standingAt(SCREEN.height);

describe('the program for X11', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: X11Desktop;
  let client: ChildProcess | undefined;
  let grace: HeadlessDesktop | undefined;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [relay, ada] = await Promise.all([startRelay({ workers: 0 }), X11Desktop.start('ada')]);
  });

  after(async () => {
    await ada?.stop();
    await relay?.stop();
  });

  afterEach(async () => {
    client?.kill('SIGTERM');
    if (client) await exitOf(client);
    client = undefined;
    await grace?.quit();
    grace = undefined;
    await ada.clear();
    await eventually('all have left', async () => (await joined()) === 0);
  });

  const joined = async () => (await relay.metrics()).get('sprites_desktops');

  /** Starts the program with one sprite, and waits until it has joined, and knows that. */
  async function start(character: typeof TARGET, at: Point, more: object = {}): Promise<void> {
    const settings = { relay: relay.url, world: 'x11', name: 'Ada', calm: true, greeted: true, ...more };
    ada.writeSettings(settings);
    ada.keepSprite(spr(character), character.name, at.x, at.y);
    client = ada.launch();
    await eventually('Ada has joined', async () => (await joined()) === 1);
    await eventually('Ada has kept her seat', () => ada.savedState().seat !== undefined);
  }

  const shot = (name: string) => ada.capture().save(join(SHOTS, `x11-${name}.png`));

  async function meetGrace(): Promise<HeadlessDesktop> {
    grace = startHeadless(['--relay', relay.url, '--world', 'x11', '--name', 'Grace']);
    await grace.until('Grace has a seat', ({ link }) => link === 'connected');
    return grace;
  }

  it('shows a sprite with an alpha value for each pixel', async () => {
    await start(TARGET, CENTRE);
    const { screenshot, found } = await ada.waitUntilStill('the sprite', target);
    const { left, top } = whole(found);
    const at = (x: number, y: number) => screenshot.at(left + 2 * x, top + 2 * y);
    assert.deepEqual(at(6, 20), MAGENTA);
    assert.ok(isNear(at(1, 1), [GREY, GREY, GREY]), `around it: ${at(1, 1)}`);
    assert.ok(isNear(at(16, 12), [GREY, GREY, GREY]), `in the hole: ${at(16, 12)}`);
    assert.ok(isNear(at(16, 22), [GREY / 2, 127 + GREY / 2, GREY / 2]), `in the glass: ${at(16, 22)}`);
  });

  it('shows sprites twice as large where windows are, although texts are not', async () => {
    ada.env.GDK_SCALE = '2';
    try {
      await start(TARGET, CENTRE);
    } finally {
      delete ada.env.GDK_SCALE;
    }
    await ada.waitFor('a large sprite', (screenshot) => {
      const found = screenshot.find(MAGENTA);
      return (found && found.right - found.left === 2 * (SIDE - 2 * PADDING) - 1) || undefined;
    });
  });

  it('has the shape of its opaque pixels while there is no compositor', async () => {
    const wall = [0x33, 0x66, 0x99];
    ada.openWindow('Wall', 400, 200, 500, 400, '0x336699');
    await ada.frame('Wall');
    await start(TARGET, CENTRE);
    const at = (screenshot: Screenshot, found: Area, x: number, y: number) =>
      screenshot.at(whole(found).left + x, whole(found).top + y);
    const showing =
      (inGlass: number[]): Finder =>
      (screenshot) => {
        const found = target(screenshot);
        return found && isNear(at(screenshot, found, 32, 44), inGlass) ? found : undefined;
      };
    const blended = [0x33 / 2, 127 + 0x66 / 2, 0x99 / 2];
    await ada.waitFor('the sprite, blended with the wall', showing(blended));
    await ada.stopCompositor();
    // Until the program has noticed it, what is transparent is black.
    await ada.waitFor('the sprite, not blended, and the wall in its hole and around it', (screenshot) => {
      const found = showing([0, 128, 0])(screenshot);
      const isWall = (x: number, y: number) => isNear(at(screenshot, found!, x, y), wall);
      return found && isWall(32, 24) && isWall(3, 3) ? found : undefined;
    });
    ada.startCompositor();
    await ada.waitFor('the sprite, blended again', showing(blended));
  });

  it('passes clicks through where a sprite is transparent', async () => {
    await start(TARGET, CENTRE);
    const { found } = await ada.waitUntilStill('the sprite', target);
    const { left, top } = whole(found);
    // In the hole, then beside the coloured square.
    for (const [x, y] of [
      [left + 32, top + 24],
      [left + 3, top + 32],
    ]) {
      await ada.holdButtonAt({ x, y });
      await ada.moveTo({ x: 200, y: 200 });
      await ada.releaseButton();
    }
    assert.deepEqual((await ada.waitUntilStill('the sprite', target)).found, found);
    await ada.dragTo('the sprite', target, { x: 300, y: 300 });
  });

  it('passes all clicks through while the settings say so, and no longer', async () => {
    ada.openWindow('Below', 300, 200, 700, 500);
    const below = await ada.frame('Below');
    ada.openWindow('Other', 20, 20, 200, 100);
    const other = await ada.frame('Other');
    await start(TARGET, CENTRE, { clickThrough: true });
    const { found } = await ada.waitUntilStill('the sprite', target);
    const clicked = { x: found.left + 8, y: found.top + 8 };
    await ada.focus(other);
    await tryUntil(
      'the window below has the keys',
      () => ada.click(clicked),
      async () => (await ada.focused()) === below.id,
    );
    assert.equal(await exitOf(ada.launch('--menu')), 0);
    await ada.pressInMenu('k');
    await eventually('that is off, and saved', () => ada.settings().clickThrough === false);
    await ada.dragTo('the sprite', target, { x: 300, y: 300 });
  });

  it('throws a sprite over the edge to a neighbour, and gets it back', async () => {
    await start(TARGET, CENTRE);
    const neighbour = await meetGrace();
    await neighbour.until('Ada is known', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.throwOff('the sprite', target, { x: 900, y: 300 }, { dx: 340, dy: 0 });
    const { sprites } = await neighbour.until('it is at Grace, with its picture', (state) => {
      return state.sprites.length === 1 && !state.sprites[0].isParcel;
    });
    assert.equal(sprites[0].name, 'Target');
    await eventually('Ada has saved that it is gone', () => ada.savedState().sprites.length === 0);
    neighbour.send(`throw ${sprites[0].id} left`);
    await ada.waitFor('it is back', target);
    await eventually('Ada has saved it', () => ada.savedState().sprites.length === 1);
    await neighbour.until('Grace has none', (state) => state.sprites.length === 0);
  });

  it("stands on another program's window, and falls when the window moves and when it closes", async () => {
    ada.openWindow('Ground', 300, 500, 500, 200);
    const ground = await ada.frame('Ground');
    await start(RUNNER, { x: 550, y: 200 });
    // The frame of openbox is around the window, so the sprite stands higher than that.
    const stands = (below: number): Finder => {
      return (screenshot) => {
        const found = runner(screenshot);
        const foot = found && whole(found).bottom + 1 - PADDING;
        return foot && foot <= below + PADDING && foot > below - 60 ? found : undefined;
      };
    };
    await ada.waitUntilStill('it stands on the window', stands(ground.y));
    await ada.moveWindow(ground, 300, 620);
    await eventually('the window has moved', async () => (await ada.frame('Ground')).y > ground.y + 60);
    await ada.waitUntilStill('it has fallen with the window', stands((await ada.frame('Ground')).y));
    await ada.closeWindow('Ground');
    await ada.waitFor('it stands on the floor', onFloor);
  });

  it('hides behind a full-screen program, and is shown again when that ends', async () => {
    await start(TARGET, CENTRE);
    await ada.waitFor('the sprite', target);
    ada.openWindow('Game', 'full');
    await ada.frame('Game');
    await ada.isGone('Sprite');
    await ada.closeWindow('Game');
    await ada.waitFor('the sprite', target);
  });

  it('stays above a window that is raised', async () => {
    ada.openWindow('Below', 300, 200, 700, 500);
    const below = await ada.frame('Below');
    await start(TARGET, CENTRE);
    await ada.waitFor('the sprite', target);
    ada.openWindow('Other', 20, 20, 200, 100);
    await ada.frame('Other');
    await ada.activate(below);
    await ada.waitUntilStill('the sprite above the window', target);
    await ada.dragTo('the sprite', target, { x: 500, y: 400 });
  });

  it('gives the keys to the sprite that was clicked, and takes them away at Escape', async () => {
    ada.openWindow('Editor', 100, 100, 300, 200);
    const editor = await ada.frame('Editor');
    await start(RUNNER, { x: 800, y: 800 });
    const { found } = await ada.waitUntilStill('the sprite', onFloor);
    await ada.focus(editor);
    await ada.click(middleOf(found));
    await ada.focusAfter(editor.id);
    // Another program's menu takes them for a moment only, also while the pointer is on the sprite.
    await ada.grabKeyboard();
    await ada.holdKey('Right', () =>
      ada.waitFor('it has run to the right', (screenshot) => {
        const now = runner(screenshot);
        return now && now.left > found.left + 80 ? now : undefined;
      }),
    );
    await ada.press('Escape');
    await eventually('the editor has the keys again', async () => (await ada.focused()) === editor.id);
  });

  it('gives the keys to another sprite that is clicked', async () => {
    ada.keepSprite(spr(RIVAL), RIVAL.name, 300, SCREEN.height);
    await start(RUNNER, { x: 800, y: SCREEN.height });
    const { found } = await ada.waitUntilStill('the sprite', onFloor);
    const { found: other } = await ada.waitUntilStill('the other one', rival);
    const before = await ada.focused();
    await ada.click(middleOf(found));
    const first = await ada.focusAfter(before);
    await ada.click(middleOf(other));
    await ada.focusAfter(first);
    await ada.holdKey('Right', () =>
      ada.waitFor('the other one has run to the right', (screenshot) => {
        const now = rival(screenshot);
        return now && now.left > other.left + 80 ? now : undefined;
      }),
    );
    assert.deepEqual(runner(ada.capture()), found);
  });

  it('is used by keys alone: the menu, a sprite of its list, the next one, a throw', async () => {
    ada.openWindow('Editor', 100, 100, 300, 200);
    const editor = await ada.frame('Editor');
    ada.keepSprite(spr(RIVAL), RIVAL.name, 300, SCREEN.height);
    await start(RUNNER, { x: 800, y: SCREEN.height });
    const neighbour = await meetGrace();
    await neighbour.until('Ada is known', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.waitUntilStill('the first one', rival);
    await ada.focus(editor);
    assert.equal(await exitOf(ada.launch('--menu')), 0);
    // Sprites here, its first one, Steer with the keys.
    await ada.pressInMenu('t', 'Return', 'k');
    await ada.frame('Sprites bubble');
    await ada.focusAfter(editor.id);
    await ada.press('Tab', 'ctrl+Right');
    const { sprites } = await neighbour.until('the second one is at Grace', (state) => state.sprites.length === 1);
    assert.equal(sprites[0].name, RUNNER.name);
    await ada.isGone('Sprites bubble');
    await eventually('the editor has the keys again', async () => (await ada.focused()) === editor.id);
  });

  it('throws and puts away a sprite from its menu', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    const neighbour = await meetGrace();
    await neighbour.until('Ada is known', ({ neighbours }) => neighbours?.left.name === 'Ada');
    await ada.chooseOf(onFloor, 't', 'r');
    const { sprites } = await neighbour.until('it is at Grace', (state) => state.sprites.length === 1);
    neighbour.send(`throw ${sprites[0].id} left`);
    await ada.chooseOf(onFloor, 'Escape');
    await ada.isGone('Sprites menu');
    // It is home, so it is one's own again.
    await ada.chooseOf(onFloor, 'p');
    await ada.isGone('Sprite');
  });

  it('adds a sprite and shows settings from the menu', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, 'n', 'Return');
    await ada.count('Sprite', 2);
    assert.equal(await exitOf(ada.launch('--hide')), 0);
    await ada.isGone('Sprite');
    assert.equal(await exitOf(ada.launch('--hide')), 0);
    await ada.count('Sprite', 2);
    await ada.chooseOf(onFloor, 's', 't');
    await eventually('the switch is saved', () => ada.settings().toasts === false);
  });

  it('says how its sprites come back when its menu has hidden them, and they do', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, 'd');
    await ada.isGone('Sprite');
    await ada.frame('Sprites notice');
    shot('hidden');
    assert.equal(await exitOf(ada.launch()), 0);
    await ada.count('Sprite', 2);
  });

  it('ends a pause when a sprite is thrown', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, ...Array(5).fill('Up'), 'Return'); // Pause is the fifth entry from below
    await ada.isGone('Sprites menu');
    await ada.chooseOf(onFloor, 't', 'l');
    await ada.waitFor('it flies', (screenshot) => onFloor(screenshot) === undefined || undefined);
  });

  it('shows how to play until Escape', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, 'h', 'h');
    await ada.focusOn('Sprites');
    await ada.press('Escape');
    await ada.isGone('Sprites');
  });

  it('copies an invitation that leads beside this desktop', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, 'i');
    let link = '';
    const { port } = new URL(relay.url); // the relay is on this machine, so the link has an address of its network
    await eventually('the link is in the clipboard', async () => {
      link = (await ada.clipboard()).trim();
      return URL.canParse(link) && new URL(link).port === port;
    });
    const near = /near=([^&]+)/.exec(link)?.[1];
    assert.ok(near, link);
    grace = startHeadless(['--relay', relay.url, '--near', near, '--name', 'Grace']);
    await grace.until('Grace sits beside Ada', ({ neighbours }) => neighbours?.left.name === 'Ada');
  });

  it('has its menu at its icon in the panel too', async () => {
    await ada.startBus();
    await start(RUNNER, { x: 640, y: 800 });
    const ask = (...words: string[]) =>
      ada.output(
        ...(['dbus-send', '--session', '--print-reply', `--dest=org.kde.StatusNotifierItem-${client!.pid}-1`] as const),
        '/StatusNotifierItem',
        ...words,
      );
    const item = 'org.kde.StatusNotifierItem';
    await eventually('the icon is offered', async () => {
      const icon = await ask('org.freedesktop.DBus.Properties.Get', `string:${item}`, 'string:IconPixmap').catch(
        () => '',
      );
      return /int32 (\d+)\s+int32 \1\s+array of bytes/.test(icon);
    });
    const about = await ask('org.freedesktop.DBus.Properties.GetAll', `string:${item}`);
    assert.match(about, /"Status"\s+variant\s+string "Active"/);
    await ask(`${item}.Activate`, 'int32:300', 'int32:200');
    const menu = await ada.frame('Sprites menu');
    assert.ok(Math.abs(menu.x - 300) < 40 && Math.abs(menu.y - 200) < 40, JSON.stringify(menu));
    await ada.pressInMenu('Up', 'Return');
    assert.equal(await exitOf(client!), 0);
  });

  it('asks for a relay and a name at the first start, and goes there', async () => {
    client = ada.launch();
    await ada.focusOn('Sprites');
    await ada.count('Sprite', 3);
    await ada.type('nowhere at all');
    await ada.press('Return', 'ctrl+a');
    shot('first-start');
    await ada.type(relay.url);
    await ada.press('alt+n');
    await ada.type('Ada');
    shot('first-address');
    await ada.press('Return');
    await ada.isGone('Sprites');
    await eventually('Ada has joined', async () => (await joined()) === 1);
    await eventually('the relay is saved', () => ada.settings().relay === relay.url);
    assert.equal(ada.settings().name, 'Ada');
    await ada.frame('Sprites bubble');
  });

  it('offers a copied link in the field for one, and not the invitation that it has copied itself', async () => {
    const copy = async (text: string) => {
      const file = join(ada.folder, 'copied');
      writeFileSync(file, text);
      await ada.run('xclip', '-i', '-selection', 'clipboard', file);
      // It goes on in the background, and may not have asked X for the clipboard yet.
      await eventually('the text is in the clipboard', async () => (await ada.clipboard()) === text);
    };
    await start(RUNNER, { x: 640, y: 800 });
    await ada.chooseOf(onFloor, 'i');
    await ada.frame('Sprites notice');
    const open = async () => {
      await ada.chooseOf(onFloor, 'o');
      await ada.focusOn('Sprites');
    };
    await open();
    shot('own-link');
    await ada.press('Return'); // an empty field is none
    await ada.press('Escape');
    await ada.isGone('Sprites');
    assert.equal(ada.settings().world, 'x11');
    await copy(`${relay.url}/#world=attic`);
    await open();
    await tryUntil(
      'it goes where the copied link leads',
      () => ada.press('Return'),
      async () => (await ada.frames('Sprites')).length === 0,
    );
    await eventually('the world is saved', () => ada.settings().world === 'attic');
  });

  it('has the name that the relay has chosen in the field for another one', async () => {
    await start(RUNNER, { x: 640, y: 800 }, { name: '' });
    await ada.chooseOf(onFloor, 'c');
    await ada.focusOn('Sprites');
    shot('name');
    await ada.press('Right');
    await ada.type('x');
    await ada.press('Return');
    await eventually('the name is longer by a letter', () => /^\w+ \w+x$/.test(String(ada.settings().name)));
  });

  it('a second start hands its files and links to the first', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    const folder = join(ada.folder, 'pictures');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'magenta.png'), png(MAGENTA));
    writeFileSync(join(folder, 'letter.txt'), 'Dear Grace,');
    assert.equal(await exitOf(ada.launch(join(folder, 'magenta.png'))), 0);
    await ada.waitFor('the picture is a sprite', (screenshot: Screenshot) => screenshot.find(MAGENTA));
    assert.equal(await exitOf(ada.launch(join(folder, 'letter.txt'))), 0);
    await ada.frame('Sprites notice');
    writeFileSync(join(folder, 'Orange.zip'), shimejiPack('english'));
    assert.equal(await exitOf(ada.launch(join(folder, 'Orange.zip'))), 0);
    await ada.focusOn('Sprites');
    shot('pack');
    await ada.press('Tab', 'Return');
    await ada.waitFor('the pack is a sprite', (screenshot: Screenshot) => screenshot.find(MASCOT));
    assert.equal(await exitOf(ada.launch('--link', 'sprites:https://elsewhere.example/')), 0);
    await ada.focusOn('Sprites');
    await ada.press('Escape');
    await ada.isGone('Sprites');
    assert.equal(ada.settings().relay, relay.url);
  });

  it('puts a picture of a gallery on the desktop by a link, after a question, and keeps it', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    const bytes = new Uint8Array(spr({ ...RUNNER, colour: MAGENTA }));
    const file = createHash('sha256').update(bytes).digest('hex');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Anna', world: 'elsewhere', screen: { width: 800, height: 600 } });
    const anna = await (await fetch(`${relay.url}/v1/desktops`, { method: 'POST', headers, body })).json();
    const authorization = `Bearer ${anna.token}`;
    const stored = await fetch(`${relay.url}/v1/sprites/${file}`, {
      method: 'PUT',
      headers: { authorization },
      body: bytes,
    });
    assert.equal(stored.status, 201);
    await fetch(`${relay.url}/v1/desktops/${anna.desktop}`, { method: 'DELETE', headers: { authorization } });
    const link = `sprites:${relay.url}/#take=${file}&name=Biscuit&author=Anna`;
    assert.equal(await exitOf(ada.launch(link)), 0);
    await ada.focusOn('Sprites');
    await ada.press('Escape');
    await ada.isGone('Sprites');
    assert.equal((await ada.frames('Sprite')).length, 1, 'nothing comes after No');
    assert.equal(await exitOf(ada.launch(link)), 0);
    await ada.focusOn('Sprites');
    await ada.press('Tab', 'Return');
    await ada.waitFor('it has come', target);
    client!.kill('SIGTERM');
    assert.equal(await exitOf(client!), 0);
    client = ada.launch();
    await ada.waitFor('it is still there', target);
  });

  it('asks before a double click closes it', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    const { found } = await ada.waitUntilStill('the sprite', onFloor);
    const ask = () =>
      tryUntil(
        'it asks',
        () => ada.doubleClick(middleOf(found)),
        async () => (await ada.frames('Sprites')).length === 1,
      );
    await ask();
    await ada.focusOn('Sprites');
    await ada.press('Escape');
    await ada.isGone('Sprites');
    await ada.waitUntilStill('the sprite', onFloor);
    await ask();
    await ada.focusOn('Sprites');
    await ada.press('Tab', 'Tab', 'Return');
    assert.equal(await exitOf(client!), 0);
  });

  for (const [how, end] of [
    ['Quit in the menu', () => ada.chooseOf(onFloor, 'Up', 'Return')],
    ['SIGTERM', () => Promise.resolve(void client!.kill('SIGTERM'))],
  ] as const) {
    it(`leaves the relay and keeps its sprites at ${how}`, async () => {
      await endBy(end);
    });
  }

  it('ends and keeps its sprites although the relay does not answer', async () => {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.waitFor('the sprite', onFloor);
    const { master } = relay.pids;
    relay.kill(master, 'SIGSTOP');
    try {
      client!.kill('SIGTERM');
      assert.equal(await exitOf(client!), 0);
      assert.equal(ada.savedState().sprites.length, 1);
    } finally {
      relay.kill(master, 'SIGCONT');
    }
    await eventually('Ada has left', async () => (await joined()) === 0);
  });

  it('leaves the relay and keeps its sprites at the end of the X server', async () => {
    await endBy(() => ada.stopX());
  });

  /** Ends the program, which has one sprite. */
  async function endBy(end: () => Promise<void>): Promise<void> {
    await start(RUNNER, { x: 640, y: 800 });
    await ada.waitFor('the sprite', onFloor);
    await end();
    assert.equal(await exitOf(client!), 0);
    await eventually('Ada has left', async () => (await joined()) === 0);
    assert.deepEqual(
      ada.savedState().sprites.map(({ name, x }) => ({ name, x })),
      [{ name: 'Runner', x: 640 }],
    );
  }
});
