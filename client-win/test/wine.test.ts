/**
 * The Windows program on two desktops under Wine, and its installer: what a user sees and does, pixel by pixel.
 *
 * The sprites are drawn for these tests (wine_sprites.ts). The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildInstaller, buildWindowsClient, WINDOWS_CLIENT, WINDOWS_SETUP } from '../../tools/build.js';
import { installHint } from '../../tools/machine.js';
import {
  arrival,
  HOSTILE_RESPONSES,
  type Hostility,
  sendEndlessly,
  sendJson,
  startHostileRelay,
} from './hostile_relay.ts';
import {
  type Area,
  eventually,
  type Finder,
  middleOf,
  SCREEN,
  type Screenshot,
  WineDesktop,
  whyNoWine,
} from './wine_desktop.ts';
import {
  CYAN,
  cyan,
  MAGENTA,
  onFloor,
  PADDING,
  png,
  RIVAL,
  RUNNER,
  rival,
  runner,
  SIDE,
  spr,
  TARGET,
  target,
} from './wine_sprites.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const HOLD_MS = 200; // ms to hold still: the speed of a throw is that of the pointer's last 100 ms
const NO_RELAY = 'http://127.0.0.1:9'; // an address without a relay
const RSS_MIB_MAX = 320; // MiB the client may use, whatever a relay sends: the limits of the core, the program, and Wine

const skip = whyNoWine() ?? buildWindowsClient() ?? false;
const skipInstaller = buildInstaller() ?? false;
const CHROMIUM = '/usr/bin/chromium';
const skipBrowser = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: ${installHint(['chromium'])}`;

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

/** Stores a file in the client's cache, so that the sprite arrives with its picture. Without it, it is a parcel, which falls. */
function writeToCache(desktop: WineDesktop, bytes: Buffer): void {
  const folder = join(desktop.folder, 'files', 'own');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, createHash('sha256').update(bytes).digest('hex')), bytes);
}

async function kill(client: ChildProcess): Promise<void> {
  client.kill('SIGKILL');
  await eventually('the client has ended', () => client.exitCode !== null || client.signalCode !== null);
}

/** Double clicks until the condition is true: on a busy machine the two clicks may be too far apart. */
async function doubleClick(
  desktop: WineDesktop,
  area: Area,
  sentence: string,
  condition: () => boolean | Promise<boolean>,
) {
  const { x, y } = middleOf(area);
  const RETRY_MS = 5_000;
  let clickedMs = Number.NEGATIVE_INFINITY;
  await eventually(sentence, async () => {
    if (await condition()) return true;
    if (performance.now() - clickedMs > RETRY_MS) {
      await desktop.xdotool('mousemove', x, y, 'click', '--repeat', 2, '--delay', 80, 1);
      clickedMs = performance.now();
    }
    return false;
  });
}

/** Clicks, then moves the pointer away, so that keys go to the window with the focus and not to the one below the pointer. */
async function click(desktop: WineDesktop, area: Area): Promise<void> {
  const { x, y } = middleOf(area);
  await desktop.xdotool('mousemove', x, y, 'click', 1, 'mousemove', 640, 400);
}

/** Holds a key down until the condition is true, waits until the sprite stands again, and returns its place. */
async function steer(
  desktop: WineDesktop,
  key: string,
  sentence: string,
  find: Finder,
  condition: (now: Area) => boolean,
): Promise<Area> {
  await desktop.xdotool('keydown', key);
  await desktop.waitFor(sentence, (screenshot) => {
    const now = find(screenshot);
    return now && condition(now) ? now : undefined;
  });
  await desktop.xdotool('keyup', key);
  return (await desktop.waitUntilStill(`${sentence}, and stops`, onFloor(find))).found;
}

describe('a wine desktop', { skip, timeout: 900_000 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    it(`ends with all its programs when its test is ended by ${signal}`, async (context) => {
      const script = `
        import { WineDesktop } from '${join(import.meta.dirname, 'wine_desktop.ts')}';
        const desktop = await WineDesktop.start('ada');
        desktop.launch('notepad');
        while ((await desktop.windows('.*Notepad')).length === 0);
        console.log(JSON.stringify(desktop.pids));
        setInterval(() => {}, 1000);`;
      const test = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      context.after(() => test.kill('SIGKILL'));
      const [line] = await Promise.race([once(test.stdout, 'data'), once(test, 'exit')]);
      const pids: number[] = JSON.parse(line);
      assert.deepEqual(pids.map(isAlive), Array(4).fill(true), 'notepad, picom, Xvfb, wineserver');
      test.kill(signal);
      await eventually('all processes have ended', () => !pids.some(isAlive));
    });
  }
});

describe('windows client', { skip, timeout: 900_000 }, () => {
  let ada: WineDesktop;
  let grace: WineDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [ada, grace] = await Promise.all([WineDesktop.start('ada'), WineDesktop.start('grace')]);
    for (const desktop of [ada, grace]) {
      writeToDrive(desktop, 'Zielscheibe ü.spr', spr(TARGET));
      writeToDrive(desktop, 'runner.spr', spr(RUNNER));
      writeToDrive(desktop, 'rival.spr', spr(RIVAL));
      writeToDrive(desktop, 'cyan.png', png(CYAN));
    }
  });

  after(async () => await Promise.all([ada?.stop(), grace?.stop()]));

  describe('one desktop', () => {
    let client: ChildProcess;
    let other: ChildProcess | undefined;

    before(() => {
      client = startClient(ada, { relay: NO_RELAY }, 'C:\\Zielscheibe ü.spr');
    });
    after(async () => {
      for (const one of [client, other]) if (one) await kill(one);
    });

    it('shows a sprite with its alpha: solid, transparent and half-transparent pixels', async () => {
      await ada.waitUntilStill('the sprite', target);
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
      const { x, y } = middleOf(place);
      await ada.xdotool('mousemove', x, y, 'mousedown', 1, 'mousemove', 300, 300);
      const isAt = (to: { x: number; y: number }) => (screenshot: Screenshot) => {
        const now = target(screenshot);
        return now && isNear(middleOf(now).x, to.x, 2) && isNear(middleOf(now).y, to.y, 2) ? now : undefined;
      };
      await ada.waitFor('it is where the pointer is', isAt({ x: 300, y: 300 }));
      await ada.xdotool('mousemove', 1000, 400);
      const { found: held } = await ada.waitFor('it is where the pointer is', isAt({ x: 1000, y: 400 }));
      await ada.xdotool('sleep', 0.2, 'mouseup', 1); // longer than the time that counts for a throw
      assert.deepEqual((await ada.waitUntilStill('it stays', target)).found, held);
    });

    it('passes clicks through where a sprite is transparent, and only there', async () => {
      const { found: place } = await ada.waitUntilStill('the sprite', target);
      const windowAt = async (x: number, y: number) => {
        await ada.xdotool('mousemove', place.left - PADDING + x, place.top - PADDING + y);
        return /WINDOW=(\d+)/.exec(await ada.xdotool('getmouselocation', '--shell'))?.[1];
      };
      const outside = await windowAt(-20, 32);
      assert.notEqual(await windowAt(16, 16), outside);
      assert.notEqual(await windowAt(32, 44), outside);
      assert.equal(await windowAt(32, 24), outside);
      assert.equal(await windowAt(3, 3), outside);
    });

    it("stands on another program's window, and falls when the window is moved away", async () => {
      other = ada.launch('notepad');
      const topOfNotepad = async () => (await ada.positionOf('.*Notepad'))?.y;
      await eventually('another window is open', async () => (await topOfNotepad()) === 0);
      const dragCaption = async (from: number, to: number) => {
        const grip = ['mousemove', 400, from + 8, 'mousedown', 1, 'mousemove', 400, from + 40];
        await ada.xdotool(...grip, 'mousemove', 400, to + 8, 'mouseup', 1);
        await eventually('the window is moved', async () => (await topOfNotepad()) === to);
      };
      await dragCaption(0, 300);
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\runner.spr');
      await ada.waitUntilStill('the runner', runner);
      await ada.dragTo('the runner', runner, { x: 600, y: 200 });
      const standsOn = (top: number) => (screenshot: Screenshot) => {
        const now = runner(screenshot);
        return now && isNear(now.bottom + PADDING + 1, top, 1) ? now : undefined;
      };
      const { screenshot } = await ada.waitUntilStill('it stands on the window', standsOn(300));
      screenshot.save(join(SHOTS, 'wine-on-a-window.png'));
      await dragCaption(300, 100);
      await ada.waitUntilStill('it has fallen to the floor', standsOn(SCREEN.height));
    });

    it('leaves the keyboard focus alone when it is dragged, takes it by a click, and is then steered by keys', async () => {
      const focus = async () => (await ada.xdotool('getwindowfocus', '-f')).trim();
      const before = await focus();
      await ada.dragTo('the sprite', target, { x: 900, y: 200 });
      await ada.waitUntilStill('the sprite', target);
      assert.equal(await focus(), before);
      await kill(other as ChildProcess);
      const { found: first } = await ada.waitUntilStill('it stands on the floor', onFloor(runner));
      await click(ada, first);
      await eventually('it has the focus', async () => (await focus()) !== before);
      const isAside = ({ left }: Area) => Math.abs(left - first.left) > 60;
      const there = await steer(ada, 'Right', 'it runs', runner, isAside);
      await steer(ada, 'Left', 'it runs back', runner, ({ left }) => there.left - left > 60);
      const isUp = ({ bottom }: Area) => bottom < first.bottom - 40;
      await steer(ada, 'space', 'it jumps', runner, isUp);
      await steer(ada, 'Up', 'it jumps', runner, isUp);
    });

    it('steers the sprite that was clicked last', async () => {
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\rival.spr');
      const { found: near } = await ada.waitUntilStill('the rival', onFloor(rival));
      const isLeft = near.left < SCREEN.width / 2;
      // Move it away from the runner, which it may have bumped into.
      await ada.dragTo('the rival', rival, { x: isLeft ? SCREEN.width - 200 : 200, y: 600 });
      const { found: first } = await ada.waitUntilStill('the rival', onFloor(rival));
      const { found: other } = await ada.waitUntilStill('the runner', onFloor(runner));
      await click(ada, first);
      await steer(ada, isLeft ? 'Right' : 'Left', 'it runs', rival, ({ left }) => Math.abs(left - first.left) > 60);
      assert.deepEqual((await ada.waitUntilStill('the runner', runner)).found, other);
    });

    it('opens a menu on a right click, and is put away from there', async () => {
      const { found: place, screenshot: before } = await ada.waitUntilStill('the runner', runner);
      const { x, y } = middleOf(place);
      await ada.xdotool('mousemove', x, y, 'click', 3);
      const MENU_PX = 3_000; // px of the smallest menu
      const { screenshot } = await ada.waitFor('a menu', (now) => now.differences(before) > MENU_PX || undefined);
      screenshot.save(join(SHOTS, 'wine-menu.png'));
      await ada.xdotool('key', 'p');
      await ada.waitFor('it has been put away', (now) => now.find(CYAN) === undefined || undefined);
      // The state is written after the sprite has gone, and the menu may have hidden it before.
      const kept = () => ada.savedState().sprites.map(({ name }) => name);
      await eventually('the others are kept', () => String(kept()) === 'Target,Rival');
    });

    it('asks before closing if set to: Stay keeps it running, Close ends it', async () => {
      await kill(client);
      client = startClient(ada, { relay: NO_RELAY, askBeforeClosing: true }, 'C:\\Zielscheibe ü.spr');
      const { found: place } = await ada.waitUntilStill('the sprite', target);
      const isAsked = async () => (await ada.windows('Sprites')).length === 1;
      await doubleClick(ada, place, 'it asks', isAsked);
      ada.capture().save(join(SHOTS, 'wine-question.png'));
      await ada.xdotool('key', 's');
      await eventually('the question is closed', async () => !(await isAsked()));
      await doubleClick(ada, (await ada.waitUntilStill('the sprite', target)).found, 'it asks', isAsked);
      await ada.xdotool('key', 'c');
      await eventually('it has ended', () => client.exitCode !== null);
      assert.equal(client.exitCode, 0);
    });
  });

  describe('two desktops', () => {
    let relay: RelayProcess;
    const clients: ChildProcess[] = [];

    before(async () => {
      relay = await startRelay({ workers: 0 });
      for (const [desktop, name, files] of [
        [ada, 'Ada', ['C:\\Zielscheibe ü.spr']],
        [grace, 'Grace', []],
      ] as const) {
        clients.push(startClient(desktop, { relay: relay.url, world: 'wine', name }, ...files));
      }
      writeToCache(grace, spr(TARGET));
      await eventually('both have joined', async () => (await relay.metrics()).get('sprites_desktops') === 2);
    });

    after(async () => {
      for (const client of clients) await kill(client);
      await relay?.stop();
    });

    it('throws a sprite off the right edge; it enters at the left of the neighbour, at the same height, moving', async () => {
      const from = { x: 1000, y: 333 };
      const arrival = grace.waitFor('the sprite', target);
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 });
      const first = await arrival;
      const second = await grace.waitFor('it has moved', (screenshot) => {
        const now = target(screenshot);
        return now && now.left !== first.found.left ? now : undefined;
      });
      first.screenshot.save(join(SHOTS, 'wine-arrived.png'));
      assert.ok(first.found.left < SCREEN.width / 2, `first seen at ${first.found.left}`);
      assert.ok(second.found.left > first.found.left, `from ${first.found.left} to ${second.found.left}`);
      for (const { found: place } of [first, second]) {
        assert.ok(isNear(middleOf(place).y, from.y, 2), `left at ${from.y}, came at ${middleOf(place).y}`);
      }
      assert.equal(ada.capture().find(MAGENTA), undefined);
    });

    it('passes the files of a second instance to the first; a picture becomes a sprite, and is uploaded when it is thrown', async () => {
      // This instance ends at once: the first one shows the sprite.
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\cyan.png');
      await ada.waitUntilStill('the cyan sprite', onFloor(cyan));
      const arrival = grace.waitFor('the cyan sprite', cyan);
      // In a world of two desktops, Grace is on both sides.
      await ada.throwOff('the cyan sprite', cyan, { x: 1000, y: 500 }, { dx: 180, dy: -60 });
      await arrival;
      assert.ok(existsSync(join(grace.folder, 'files')));
    });

    it('survives a restart of the relay; a double click closes it, and it leaves the relay', async () => {
      const { ports } = relay;
      await relay.stop();
      relay = await startRelay({ workers: 0, ports });
      await eventually('both are back', async () => (await relay.metrics()).get('sprites_desktops') === 2);
      const { found: standing } = await grace.waitUntilStill('it stands', onFloor(cyan));
      await doubleClick(grace, standing, 'it has ended', () => clients[1].exitCode !== null);
      assert.equal(clients[1].exitCode, 0);
      assert.equal(grace.capture().find(CYAN), undefined);
      await eventually('Grace has left', async () => (await relay.metrics()).get('sprites_desktops') === 1);
      assert.deepEqual(
        grace.savedState().sprites.map(({ name }) => name),
        ['Target', 'cyan'],
      );
    });

    it('ends although the relay does not answer', async () => {
      const { master } = relay.pids;
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\cyan.png');
      const { found: standing } = await ada.waitUntilStill('the cyan sprite', onFloor(cyan));
      relay.kill(master, 'SIGSTOP');
      try {
        await doubleClick(ada, standing, 'it has ended', () => clients[0].exitCode !== null);
        assert.equal(clients[0].exitCode, 0);
      } finally {
        relay.kill(master, 'SIGCONT');
      }
      await eventually('Ada has left', async () => (await relay.metrics()).get('sprites_desktops') === 0);
    });
  });

  describe('a browser as neighbour', { skip: skipBrowser }, () => {
    const VIEW = { width: 900, height: 600 };
    const AT_EDGE_PX = 0.25 * VIEW.width; // px from the edge within which a sprite has just entered
    let relay: RelayProcess;
    let client: ChildProcess;
    let browser: Browser;
    let page: Page;
    const thrown: { edge: string; at: number }[] = [];

    before(async () => {
      relay = await startRelay({ workers: 0 });
      client = startClient(ada, { relay: relay.url, world: 'wine', name: 'Ada' }, 'C:\\Zielscheibe ü.spr');
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
      page = await browser.newPage({ viewport: VIEW });
      page.on('websocket', (socket) => {
        socket.on('framesent', ({ payload }) => {
          const message = JSON.parse(payload.toString());
          if (message.crossing !== undefined) thrown.push(message);
        });
      });
      await page.goto(`${relay.url}/?world=wine`);
      await page.fill('#name', 'Ben');
      await page.click('#enter');
      await page.waitForSelector('body[data-state="connected"]');
      await eventually('both have joined', async () => (await relay.metrics()).get('sprites_desktops') === 2);
    });

    after(async () => {
      await browser?.close();
      await kill(client);
      await relay?.stop();
    });

    it('receives a sprite thrown from Windows, at the same relative height, moving', async () => {
      const from = { x: 1000, y: 240 };
      const coming = page.evaluate(
        () =>
          new Promise<{ x: number; y: number }[]>((resolve) => {
            const path: { x: number; y: number }[] = [];
            const look = () => {
              const here = globalThis.sprites.sprites().find(({ name }) => name === 'Target');
              if (here) path.push({ x: here.x, y: here.y });
              if (path.length < 6) requestAnimationFrame(look);
              else resolve(path);
            };
            look();
          }),
      );
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 });
      const path = await coming;
      const [first] = path;
      assert.ok(first.x < AT_EDGE_PX, `it enters at the left, not at ${first.x}`);
      assert.ok((path.at(-1)?.x ?? 0) > first.x, JSON.stringify(path));
      // y is its foot, half its height below its middle. It is a parcel until its picture has arrived, and a parcel falls.
      const middle = (from.y / SCREEN.height) * VIEW.height;
      assert.ok(isNear(first.y, middle + SIDE / 2, 24), `left at ${middle} of ${VIEW.height}, came at ${first.y}`);
      assert.equal(ada.capture().find(MAGENTA), undefined);
    });

    it('throws it back to Windows, where it arrives at the same relative height, moving', async () => {
      const arrival = ada.waitFor('the sprite', target);
      await throwFromPage(page, VIEW);
      const { screenshot, found: first } = await arrival;
      const FLOWN_PX = 150; // px: enough to tell the direction
      const { found: second } = await ada.waitFor('it has moved', (now) => {
        const place = target(now);
        return place && place.left > first.left + FLOWN_PX ? place : undefined;
      });
      screenshot.save(join(SHOTS, 'wine-from-a-browser.png'));
      const [{ edge, at }] = thrown.slice(-1);
      assert.equal(edge, 'right');
      assert.ok(first.left < SCREEN.width / 2, `first seen at ${first.left}`);
      // It rises in a straight line from the point where its middle was when it was just outside the edge.
      const rise = (first.top - second.top) / (second.left - first.left);
      const came = middleOf(first).y + rise * (first.left - PADDING + SIDE);
      assert.ok(isNear(came, at * SCREEN.height, 6), `left at ${at}, came at ${came} of ${SCREEN.height}`);
    });
  });

  describe('a relay that rejects throws or is hostile', () => {
    const hostileFor = async (test: TestContext, hostility: Hostility) => {
      const hostile = await startHostileRelay(hostility);
      test.after(() => hostile.close());
      return hostile;
    };

    it('lets a rejected throw bounce back in, at the height at which it left', async (test) => {
      const hostile = await hostileFor(test, { poll: () => {} });
      const client = startClient(ada, { relay: hostile.url, name: 'Ada' }, 'C:\\Zielscheibe ü.spr');
      test.after(() => kill(client));
      await eventually('it has joined', () => hostile.requests.polls > 0);
      const from = { x: 1000, y: 333 };
      const isRejected = () => hostile.requests.crossings > 0 || undefined;
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 }, isRejected);
      // A screenshot may show it before it left: it has come back once it moves inwards.
      let before: Area | undefined;
      const { found: back } = await ada.waitFor('it comes back', (screenshot) => {
        const now = target(screenshot);
        const isInwards = now && before && now.left < before.left;
        before = now;
        return isInwards ? now : undefined;
      });
      assert.ok(isNear(middleOf(back).y, from.y, 2), `left at ${from.y}, is at ${middleOf(back).y}`);
      assert.equal(hostile.requests.crossings, 1);
    });

    it('keeps running within its limits: garbage, endless bodies, huge numbers, ten thousand sprites', async (test) => {
      const SPRITES_MOST = 20;
      const BATCH = 64; // events, as many as a relay may send
      const wild = { at: 1e9, vx: 1e308, vy: -1e308 };
      const hostilities = Object.values(HOSTILE_RESPONSES);
      const hostile = await hostileFor(test, {
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
      const client = startClient(grace, { relay: hostile.url, name: 'Grace', spritesMost: SPRITES_MOST });
      test.after(() => kill(client));
      const isFull = async () => {
        const count = (await grace.windows('Sprite')).length;
        assert.ok(count <= SPRITES_MOST, `${count} windows`);
        return count === SPRITES_MOST;
      };
      await eventually('it shows as many sprites as it may', isFull);
      await eventually('it has requested files', () => hostile.requests.files > 0);
      const BATCHES_MAX = 3; // after these as many sprites wait as may
      assert.ok(hostile.requests.polls <= 2 * hostilities.length + BATCHES_MAX, JSON.stringify(hostile.requests));
      await eventually('it still shows as many', isFull);
      grace.capture().save(join(SHOTS, 'wine-flooded.png'));
      const residentMiB =
        Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
      test.diagnostic(`${Math.round(residentMiB)} MiB at most`);
      assert.ok(residentMiB < RSS_MIB_MAX, `${residentMiB} MiB`);
      // It still reacts to a request to close.
      await grace.run('wine', 'taskkill', '/im', 'Sprites.exe');
      await eventually('it has ended', () => client.exitCode !== null);
      assert.equal(client.exitCode, 0);
    });
  });

  describe('installer', { skip: skipInstaller }, () => {
    const CLASS = 'Software\\Classes\\Sprites.spr';
    const CLASSES = ['Software\\Classes\\.spr', CLASS];
    const LINKS = 'Software\\Classes\\sprites';
    const RUN = 'Software\\Microsoft\\Windows\\CurrentVersion\\Run';
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
      assert.deepEqual(readdirSync(program).sort(), ['Sprites.exe', 'Uninstall.exe']);
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

    it('has them again after a new installation, and removes them too with /PURGE=1', async () => {
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.doesNotMatch((await ada.registry()).get(RUN) ?? '', /"Sprites"=/);
      ada.launch(join(program, 'Sprites.exe'));
      await ada.waitFor('the sprite from before', target);
      await ada.run('wine', join(program, 'Uninstall.exe'), '/S', '/PURGE=1');
      await areGone([program, link, ada.folder]);
      await isOutOfTheRegistry();
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
        const starts = registry.get(RUN)?.includes('"Sprites"=');
        left = [...KEYS.filter((key) => registry.has(key)), ...(starts ? [RUN] : [])];
        return left.length === 0;
      }).catch(() => assert.deepEqual(left, []));
    }
  });
});

/** In a browser's desktop: drags Target with the mouse to the lower right, and throws it over the right edge by key. */
async function throwFromPage(page: Page, { width, height }: { width: number; height: number }): Promise<void> {
  const here = () => page.evaluate(() => globalThis.sprites.sprites().find(({ name }) => name === 'Target'));
  const ATTEMPTS_MAX = 40; // it moves, so a grab may miss it
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const sprite = await here();
    if (sprite === undefined) return;
    await page.mouse.move(sprite.x, sprite.y - SIDE / 2);
    await page.mouse.down();
    const isHeld = (await here())?.mode === 'drag';
    if (isHeld) {
      await page.mouse.move(0.7 * width, 0.7 * height, { steps: 2 });
      await page.waitForTimeout(HOLD_MS);
    }
    await page.mouse.up();
    if (!isHeld) continue;
    await page.keyboard.press('Shift+ArrowRight');
    await page.waitForFunction(() => globalThis.sprites.sprites().every(({ name }) => name !== 'Target'));
    return;
  }
  throw new Error('The sprite could not be grabbed.');
}
