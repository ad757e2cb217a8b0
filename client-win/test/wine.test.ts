/**
 * The Windows program under Wine with a headless neighbour, and its installer: what a user sees and does, pixel by pixel.
 *
 * The sprites are drawn for these tests (wine_sprites.ts). The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient, buildInstaller, buildWindowsClient, WINDOWS_CLIENT, WINDOWS_SETUP } from '../../tools/build.js';
import { fling, type HeadlessDesktop, startHeadless } from './headless_desktop.ts';
import { arrival, HOSTILE_RESPONSES, sendEndlessly, sendJson, startHostileRelay } from './hostile_relay.ts';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import {
  CYAN,
  cyan,
  MAGENTA,
  onFloor,
  PADDING,
  png,
  RUNNER,
  runner,
  SIDE,
  spr,
  TARGET,
  target,
} from './wine_sprites.ts';
import { type Area, eventually, middleOf, SCREEN, type Screenshot, tryUntil } from './x_display.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const NO_RELAY = 'http://127.0.0.1:9'; // an address without a relay
const RSS_MIB_MAX = 320; // MiB the client may use, whatever a relay sends: the limits of the core, the program, and Wine

const skip = whyNoWine() ?? buildWindowsClient() ?? buildClient() ?? false;
const skipInstaller = buildInstaller() ?? false;
const COMMON = { sound: false, calm: true, toasts: false, greeted: true, askBeforeClosing: false };

const isNear = (one: number, other: number, by: number) => Math.abs(one - other) <= by;

/** Whether a process runs. A zombie does not. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'));
}

/** Starts the client with empty files, as if it had run before but has no sprites; `files` are imported and fall in. */
function startClient(desktop: WineDesktop, settings: object, ...files: string[]): ChildProcess {
  rmSync(desktop.folder, { recursive: true, force: true });
  desktop.writeSettings({ ...COMMON, ...settings });
  writeFileSync(join(desktop.folder, 'kept.json'), '{}');
  return desktop.launch(WINDOWS_CLIENT, ...files);
}

/** Writes a file to drive C and returns its Windows path. */
function writeToDrive(desktop: WineDesktop, name: string, bytes: Buffer): string {
  writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
  return `C:\\${name}`;
}

async function kill(client: ChildProcess): Promise<void> {
  client.kill('SIGKILL');
  await eventually('the client has ended', () => client.exitCode !== null || client.signalCode !== null);
}

/** Double clicks until that has an effect: on a busy machine the two clicks may be too far apart. */
async function doubleClick(desktop: WineDesktop, area: Area, sentence: string, done: () => boolean | Promise<boolean>) {
  await tryUntil(sentence, () => desktop.doubleClick(middleOf(area)), done);
}

describe('a wine desktop', { skip, timeout: 900_000 }, () => {
  it('ends with all its programs when its test is killed', async (context) => {
    const script = `
        import { WineDesktop } from '${join(import.meta.dirname, 'wine_desktop.ts')}';
        const desktop = await WineDesktop.start('ada');
        desktop.launch('notepad');
        await desktop.frame('.*Notepad');
        console.log(JSON.stringify(desktop.pids));
        setInterval(() => {}, 1000);`;
    const test = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    context.after(() => test.kill('SIGKILL'));
    const [line] = await Promise.race([once(test.stdout, 'data'), once(test, 'exit')]);
    const pids: number[] = JSON.parse(line);
    assert.deepEqual(pids.map(isAlive), Array(4).fill(true), 'notepad, picom, Xvfb, wineserver');
    test.kill('SIGKILL');
    await eventually('all processes have ended', () => !pids.some(isAlive));
  });
});

describe('windows client', { skip, timeout: 900_000 }, () => {
  let ada: WineDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    ada = await WineDesktop.start('ada');
    writeToDrive(ada, 'Zielscheibe ü.spr', spr(TARGET));
    writeToDrive(ada, 'runner.spr', spr(RUNNER));
    writeToDrive(ada, 'cyan.png', png(CYAN));
  });

  after(async () => await ada?.stop());

  describe('one desktop', () => {
    let client: ChildProcess;

    before(() => {
      client = startClient(ada, { relay: NO_RELAY }, 'C:\\Zielscheibe ü.spr');
    });
    after(async () => await kill(client));

    it('shows a sprite with its alpha: solid, transparent and half-transparent pixels', async () => {
      await ada.waitUntilStill('the sprite', target);
      // Away from Wine's window of tray icons, beside which it may have dropped in.
      await ada.dragTo('the sprite', target, { x: 900, y: 200 });
      // The dust of its landing may still be there.
      const { screenshot, found: place } = await ada.waitFor('nothing is behind the sprite', (now) => {
        const found = target(now);
        const isClear = (x: number, y: number) =>
          String(now.at(found!.left - PADDING + x, found!.top - PADDING + y)) === String(now.at(SCREEN.width / 2, 4));
        return found && isClear(SIDE + 4, 32) && isClear(32, 24) && isClear(2, 2) ? found : undefined;
      });
      screenshot.save(join(SHOTS, 'wine-alpha.png'));
      const corner = { x: place.left - PADDING, y: place.top - PADDING };
      const at = (x: number, y: number) => screenshot.at(corner.x + x, corner.y + y);
      // Black without a compositor; with one, the colour of an empty desktop.
      const behind = at(SIDE + 4, 32);
      assert.notDeepEqual(behind, [0, 0, 0]);
      assert.deepEqual(at(16, 16), MAGENTA);
      for (const [x, y] of [
        [2, 2],
        [SIDE - 3, SIDE - 3],
        [32, 24],
      ]) {
        assert.deepEqual(at(x, y), behind);
      }
      const [red, green, blue] = at(32, 44);
      const [r, g, b] = behind;
      for (const [is, should] of [
        [red, r * 0.498],
        [green, 127.5 + g * 0.498],
        [blue, b * 0.498],
      ]) {
        assert.ok(isNear(is, should, 3), `${at(32, 44)} over ${behind}`);
      }
    });

    it('follows the pointer from the first press on, and stays where it is released', async () => {
      const { found: place } = await ada.waitUntilStill('the sprite', target);
      await ada.holdButtonAt(middleOf(place));
      await ada.moveTo({ x: 300, y: 300 });
      const isAt = (to: { x: number; y: number }) => (screenshot: Screenshot) => {
        const now = target(screenshot);
        return now && isNear(middleOf(now).x, to.x, 2) && isNear(middleOf(now).y, to.y, 2) ? now : undefined;
      };
      await ada.waitFor('it is where the pointer is', isAt({ x: 300, y: 300 }));
      await ada.moveTo({ x: 1000, y: 400 });
      const { found: held } = await ada.waitFor('it is where the pointer is', isAt({ x: 1000, y: 400 }));
      await ada.holdStill();
      await ada.releaseButton();
      assert.deepEqual((await ada.waitUntilStill('it stays', target)).found, held);
    });

    it('passes clicks through where a sprite is transparent, and only there', async () => {
      const { found: place } = await ada.waitUntilStill('the sprite', target);
      const windowAt = async (x: number, y: number) =>
        (await ada.windowsAt({ x: place.left - PADDING + x, y: place.top - PADDING + y }))[0];
      const outside = await windowAt(-20, 32);
      assert.notEqual(await windowAt(16, 16), outside);
      assert.notEqual(await windowAt(32, 44), outside);
      assert.equal(await windowAt(32, 24), outside);
      assert.equal(await windowAt(3, 3), outside);
    });

    it('leaves the keyboard focus alone when it is dragged, takes it by a click, and is then steered by keys', async () => {
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\runner.spr');
      const before = await ada.focused();
      await ada.dragTo('the sprite', target, { x: 900, y: 200 });
      await ada.waitUntilStill('the sprite', target);
      assert.equal(await ada.focused(), before);
      const { found: first } = await ada.waitUntilStill('it stands on the floor', onFloor(runner));
      await ada.click(middleOf(first));
      await eventually('it has the focus', async () => (await ada.focused()) !== before);
      // Keys go to the window with the focus, not to the one below the pointer.
      await ada.moveTo({ x: 640, y: 400 });
      const steer = (key: string, sentence: string, condition: (now: Area) => boolean) =>
        ada.holdKey(key, () =>
          ada.waitFor(sentence, (screenshot) => (runner(screenshot) && condition(runner(screenshot)!)) || undefined),
        );
      await steer('Right', 'it runs', ({ left }) => left > first.left + 60);
      await steer('Left', 'it runs back', ({ left }) => left < first.left + 20);
      await steer('space', 'it jumps', ({ bottom }) => bottom < first.bottom - 40);
    });

    it('asks before closing if set to: Stay keeps it running, Close ends it', async () => {
      await kill(client);
      client = startClient(ada, { relay: NO_RELAY, askBeforeClosing: true }, 'C:\\Zielscheibe ü.spr');
      const { found: place } = await ada.waitUntilStill('the sprite', target);
      const isAsked = async () => (await ada.frames('Sprites')).length === 1;
      await doubleClick(ada, place, 'it asks', isAsked);
      await ada.focusOn('Sprites');
      ada.capture().save(join(SHOTS, 'wine-question.png'));
      await ada.press('s');
      await ada.isGone('Sprites');
      await doubleClick(ada, (await ada.waitUntilStill('the sprite', target)).found, 'it asks', isAsked);
      await ada.focusOn('Sprites');
      await ada.press('c');
      await eventually('it has ended', () => client.exitCode !== null);
      assert.equal(client.exitCode, 0);
    });
  });

  describe('a desktop and its neighbour', () => {
    let relay: RelayProcess;
    let client: ChildProcess;
    let grace: HeadlessDesktop;

    before(async () => {
      relay = await startRelay({ workers: 0 });
      client = startClient(ada, { relay: relay.url, world: 'wine', name: 'Ada' }, 'C:\\Zielscheibe ü.spr');
      grace = startHeadless(['--relay', relay.url, '--world', 'wine', '--name', 'Grace']);
      grace.send(`monitors 0,0,${SCREEN.width},${SCREEN.height}`); // as large as Ada's
      await grace.until('Ada is her neighbour', ({ neighbours }) => neighbours?.left.name === 'Ada');
    });

    after(async () => {
      if (client) await kill(client);
      await grace?.quit();
      await relay?.stop();
    });

    it('throws a sprite over an edge, and gets it back at the height at which it left, moving', async () => {
      const from = { x: 1000, y: 333 };
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 });
      const came = await grace.waitForLine('it has come', (line) => line.came !== undefined);
      const cameAt = (came.y as number) - (came.height as number) / 2;
      assert.ok((came.vx as number) > 0 && isNear(cameAt, from.y, 2), JSON.stringify(came));
      const { sprites } = await grace.until('its picture has come', (state) => state.sprites[0]?.isParcel === false);
      const [{ id, x, y, height }] = sprites;
      grace.send(`grab ${id} ${x} ${y - height / 2} 0`);
      grace.send(`drag 700 ${from.y} 10`);
      grace.send('release 1000');
      const arrival = ada.waitFor('the sprite', target);
      fling(grace, (await grace.look()).sprites[0], 1500, 0);
      const first = await arrival;
      const second = await ada.waitFor('it has moved', (screenshot) => {
        const now = target(screenshot);
        return now && now.left > first.found.left ? now : undefined;
      });
      first.screenshot.save(join(SHOTS, 'wine-arrived.png'));
      for (const { found: place } of [first, second]) {
        assert.ok(isNear(middleOf(place).y, from.y, 2), `left at ${from.y}, came at ${middleOf(place).y}`);
      }
    });

    it('passes the files of a second instance to the first; a picture becomes a sprite, and is uploaded when it is thrown', async () => {
      // This instance ends at once: the first one shows the sprite.
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\cyan.png');
      await ada.waitUntilStill('the cyan sprite', onFloor(cyan));
      await ada.throwOff('the cyan sprite', cyan, { x: 1000, y: 500 }, { dx: 180, dy: -60 });
      await grace.until('its picture has come', ({ sprites }) => sprites[0]?.name === 'cyan' && !sprites[0].isParcel);
    });

    it('ends at a double click although the relay does not answer', async () => {
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\cyan.png');
      const { found: standing } = await ada.waitUntilStill('the sprite', onFloor(cyan));
      const { master } = relay.pids;
      relay.kill(master, 'SIGSTOP');
      try {
        await doubleClick(ada, standing, 'it has ended', () => client.exitCode !== null);
        assert.equal(client.exitCode, 0);
        assert.ok(ada.savedState().sprites.some(({ name }) => name === 'cyan'));
      } finally {
        relay.kill(master, 'SIGCONT');
      }
      await eventually('Ada has left', async () => (await relay.metrics()).get('sprites_desktops') === 1);
    });
  });

  describe('a relay that is hostile', () => {
    it('keeps running within its limits: garbage, endless bodies, huge numbers, ten thousand sprites', async (test) => {
      const SPRITES_MOST = 20;
      const BATCH = 64; // events, as many as a relay may send
      const wild = { at: 1e9, vx: 1e308, vy: -1e308 };
      const hostilities = Object.values(HOSTILE_RESPONSES);
      const hostile = await startHostileRelay({
        poll: (n, response) => {
          // Every other response is valid; otherwise the client would poll less and less often.
          const cursor = `6a1f03c2-${n + 1}`;
          if (n >= 2 * hostilities.length) {
            const events = Array.from({ length: BATCH }, (_, i) => arrival(n * BATCH + i + 1, i % 2 ? wild : {}));
            sendJson(response, 200, { cursor, events });
          } else if (n % 2) sendJson(response, 200, { cursor, events: [{ type: 'ping' }] });
          else hostilities[n / 2](response, n);
        },
        file: (response) => sendEndlessly(response, '\x89PNG', 'x'.repeat(65_536)),
      });
      test.after(() => hostile.close());
      const client = startClient(ada, { relay: hostile.url, name: 'Ada', spritesMost: SPRITES_MOST });
      test.after(() => kill(client));
      const isFull = async () => {
        const count = (await ada.frames('Sprite')).length;
        assert.ok(count <= SPRITES_MOST, `${count} windows`);
        return count === SPRITES_MOST;
      };
      await eventually('it shows as many sprites as it may', isFull);
      await eventually('it has requested files', () => hostile.requests.files > 0);
      const BATCHES_MAX = 3; // after these as many sprites wait as may
      assert.ok(hostile.requests.polls <= 2 * hostilities.length + BATCHES_MAX, JSON.stringify(hostile.requests));
      await eventually('it still shows as many', isFull);
      ada.capture().save(join(SHOTS, 'wine-flooded.png'));
      const residentMiB =
        Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
      test.diagnostic(`${Math.round(residentMiB)} MiB at most`);
      assert.ok(residentMiB < RSS_MIB_MAX, `${residentMiB} MiB`);
      // It still reacts to a request to close.
      await ada.run('wine', 'taskkill', '/im', 'Sprites.exe');
      await eventually('it has ended', () => client.exitCode !== null);
      assert.equal(client.exitCode, 0);
    });
  });

  describe('installer', { skip: skipInstaller }, () => {
    const CLASS = 'Software\\Classes\\Sprites.spr';
    const CLASSES = ['Software\\Classes\\.spr', CLASS];
    const LINKS = 'Software\\Classes\\sprites';
    const RUN = 'Software\\Microsoft\\Windows\\CurrentVersion\\Run';
    const APPROVED = 'Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run';
    const UNINSTALL = 'Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\Sprites';
    const KEYS = [...CLASSES, LINKS, UNINSTALL, 'Software\\Sprites'];
    let program: string;
    let link: string;

    before(() => {
      program = join(ada.roaming, '../Local/Programs/Sprites');
      link = join(ada.roaming, 'Microsoft/Windows/Start Menu/Programs/Sprites.lnk');
      for (const folder of [program, ada.folder]) rmSync(folder, { recursive: true, force: true });
    });

    it('installs silently for one user: program, Start menu, uninstaller, file association, autostart if requested', async () => {
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=1');
      assert.deepEqual(readdirSync(program).sort(), ['Sprites.exe', 'Uninstall.exe', 'licences.txt']);
      assert.deepEqual(readFileSync(join(program, 'Sprites.exe')), readFileSync(WINDOWS_CLIENT));
      assert.ok(existsSync(link));
      const registry = await ada.registry();
      for (const key of KEYS) assert.ok(registry.has(key), key);
      assert.match(registry.get(`${CLASS}\\shell\\open\\command`)!, /Sprites\.exe\\" \\"%1\\""/);
      assert.match(registry.get(LINKS)!, /"URL Protocol"=""/);
      assert.match(registry.get(`${LINKS}\\shell\\open\\command`)!, /Sprites\.exe\\" --link \\"%1\\""/);
      assert.match(registry.get(RUN)!, /"Sprites"=.*Programs\\\\Sprites\\\\Sprites\.exe/);
    });

    it('opens a .spr with the program', async () => {
      ada.writeSettings({ ...COMMON, relay: NO_RELAY });
      // Wine looks for classes only in HKLM; Windows looks in HKCU first.
      for (const key of CLASSES) await ada.run('wine', 'reg', 'copy', `HKCU\\${key}`, `HKLM\\${key}`, '/s', '/f');
      await ada.run('wine', 'start', 'C:\\Zielscheibe ü.spr');
      await ada.waitFor('the sprite of the file', target);
      for (const key of CLASSES) await ada.run('wine', 'reg', 'delete', `HKLM\\${key}`, '/f');
    });

    it('upgrades an old version while it runs: the old one ends and the new one starts', async () => {
      const isNew = () => readFileSync(join(program, 'Sprites.exe')).equals(readFileSync(WINDOWS_CLIENT));
      await ada.run('wine', 'taskkill', '/im', 'Sprites.exe');
      await ada.waitFor('no sprite is left', (screenshot) => screenshot.find(MAGENTA) === undefined || undefined);
      await eventually('it has ended', () => !ada.isRunning('Sprites.exe'));
      appendFileSync(join(program, 'Sprites.exe'), 'an older one');
      const old = ada.launch(join(program, 'Sprites.exe'));
      await ada.waitFor('the old one', target);
      assert.ok(!isNew());
      await ada.run('wine', WINDOWS_SETUP, '/S');
      await eventually('the old one has ended', () => old.exitCode !== null);
      assert.ok(isNew());
      await ada.waitFor('the new one, with its sprite', target);
    });

    it('keeps the autostart setting on an upgrade, and changes it with /AUTOSTART=0 and /AUTOSTART=1', async () => {
      const starts = async () => (await ada.registry()).get(RUN)?.includes('"Sprites"=') ?? false;
      assert.ok(await starts());
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=0');
      assert.ok(!(await starts()));
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.ok(!(await starts()));
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=1');
      assert.ok(await starts());
      // The Task Manager leaves the value in RUN when it turns a program off. An upgrade keeps that, and a choice overrules it.
      const key = `HKCU\\${APPROVED}`;
      await ada.run(
        'wine',
        'reg',
        'add',
        key,
        '/v',
        'Sprites',
        '/t',
        'REG_BINARY',
        '/d',
        '030000000102030405060708',
        '/f',
      );
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.ok(!(await starts()));
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=1');
      assert.ok(await starts());
      assert.doesNotMatch((await ada.registry()).get(APPROVED) ?? '', /"Sprites"=/);
    });

    it('uninstalls while the program runs: removes all of it, keeps the sprites and settings of the user', async () => {
      await ada.waitFor('it runs', target);
      await ada.run('wine', join(program, 'Uninstall.exe'), '/S');
      await areGone([program, link]);
      await isOutOfTheRegistry();
      await ada.waitFor('its sprite is gone', (screenshot) => screenshot.find(MAGENTA) === undefined || undefined);
      assert.ok(existsSync(join(ada.folder, 'settings.json')));
      assert.ok(ada.savedState().sprites.some(({ name }) => name === 'Target'));
    });

    it("has them again after a new installation, and removes them too with /PURGE=1, but no other program's", async () => {
      writeFileSync(join(ada.folder, 'another-game.sav'), 'theirs');
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.doesNotMatch((await ada.registry()).get(RUN) ?? '', /"Sprites"=/);
      ada.launch(join(program, 'Sprites.exe'));
      await ada.waitFor('the sprite from before', target);
      await ada.run('wine', join(program, 'Uninstall.exe'), '/S', '/PURGE=1');
      const own = ['settings.json', 'kept.json', 'files', 'dumps'].map((name) => join(ada.folder, name));
      await areGone([program, link, ...own]);
      await isOutOfTheRegistry();
      assert.deepEqual(readdirSync(ada.folder), ['another-game.sav']);
    });

    async function areGone(paths: string[]): Promise<void> {
      const left = () => paths.filter((path) => existsSync(path));
      await eventually('all files are deleted', () => left().length === 0).catch(() => assert.deepEqual(left(), []));
    }

    /** The uninstaller continues in a copy of itself after its first process ends: it deletes the files, then the registry keys. */
    async function isOutOfTheRegistry(): Promise<void> {
      let left = ['the registry could not be read'];
      await eventually('all keys are deleted', async () => {
        const registry = await ada.registry();
        const isIn = (key: string) => registry.get(key)?.includes('"Sprites"=');
        left = [...KEYS.filter((key) => registry.has(key)), ...[RUN, APPROVED].filter(isIn)];
        return left.length === 0;
      }).catch(() => assert.deepEqual(left, []));
    }
  });
});
