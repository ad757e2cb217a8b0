/**
 * The program for Windows, as it is built, on two desktops under Wine: what a person sees and does, pixel by pixel.
 *
 * The sprite thrown here is drawn for the purpose: magenta with a hole, a green half to be seen through, and weightless,
 * so that it arrives at the very height it left at. What it looked like lies in screenshots/ afterwards.
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
import { arrival, endless, HOSTILE_ANSWERS, type Hostility, json, startHostileRelay } from './hostile_relay.ts';
import { type Area, eventually, middleOf, noWine, type Picture, SCREEN, WineDesktop } from './wine_desktop.ts';
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
const HOLD_MS = 200; // ms to hold still; the pointer's last 100 make the speed of a throw
const NOBODY = 'http://127.0.0.1:9'; // a relay that is not there
const RSS_MIB_MAX = 320; // MiB the client may take, whatever a relay does: the core's own limits, the program, and Wine

const skip = noWine() ?? buildWindowsClient() ?? false;
const skipInstaller = buildInstaller() ?? false;
const CHROMIUM = '/usr/bin/chromium';
const skipBrowser = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: apt-get install chromium`;

const COMMON = { sound: false, calm: true, toasts: false };

const isNear = (one: number, other: number, by: number) => Math.abs(one - other) <= by;

/** Whether it runs; who has ended and was not asked for yet does not. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'));
}

/** Starts the client as one who was never here, but owns nothing; `files` fall in. */
function startClient(desktop: WineDesktop, settings: object, ...files: string[]): ChildProcess {
  rmSync(desktop.folder, { recursive: true, force: true });
  desktop.settle({ ...COMMON, ...settings });
  writeFileSync(join(desktop.folder, 'kept.json'), '{}');
  return desktop.begin(WINDOWS_CLIENT, ...files);
}

/** Lays a file onto drive C. */
function lay(desktop: WineDesktop, name: string, bytes: Buffer): string {
  writeFileSync(join(desktop.prefix, 'drive_c', name), bytes);
  return `C:\\${name}`;
}

/** Lays a file where pictures that came lie, for until a picture has come there is a parcel, which falls. */
function layInCache(desktop: WineDesktop, bytes: Buffer): void {
  const folder = join(desktop.folder, 'files', 'own');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, createHash('sha256').update(bytes).digest('hex')), bytes);
}

async function killed(client: ChildProcess): Promise<void> {
  client.kill('SIGKILL');
  await eventually('the client has ended', () => client.exitCode !== null || client.signalCode !== null);
}

/** A double click on it; again while nothing comes of it: on a machine that pauses between the two they are two clicks. */
async function doubleClick(desktop: WineDesktop, area: Area, sentence: string, isSo: () => boolean | Promise<boolean>) {
  const { x, y } = middleOf(area);
  const AGAIN_MS = 5_000;
  let clickedMs = Number.NEGATIVE_INFINITY;
  await eventually(sentence, async () => {
    if (await isSo()) return true;
    if (performance.now() - clickedMs > AGAIN_MS) {
      await desktop.pointer('mousemove', x, y, 'click', '--repeat', 2, '--delay', 80, 1);
      clickedMs = performance.now();
    }
    return false;
  });
}

/** A click on it, and the pointer goes elsewhere: who has no focus gets no keys then. */
async function click(desktop: WineDesktop, area: Area): Promise<void> {
  const { x, y } = middleOf(area);
  await desktop.pointer('mousemove', x, y, 'click', 1, 'mousemove', 640, 400);
}

/** Holds a key down until it is so, and waits until it stands again; answers where. */
async function steer(
  desktop: WineDesktop,
  key: string,
  sentence: string,
  found: (picture: Picture) => Area | undefined,
  isSo: (now: Area) => boolean,
): Promise<Area> {
  await desktop.pointer('keydown', key);
  await desktop.seeUntil(sentence, (picture) => {
    const now = found(picture);
    return now && isSo(now) ? now : undefined;
  });
  await desktop.pointer('keyup', key);
  return (await desktop.seeStill(`${sentence}, and stops`, onFloor(found))).it;
}

describe('a wine desktop', { skip, timeout: 120_000 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    it(`is gone, programs and all, when its test is ended by ${signal}`, async (context) => {
      const script = `
        import { WineDesktop } from '${join(import.meta.dirname, 'wine_desktop.ts')}';
        const desktop = await WineDesktop.start('ada');
        desktop.begin('notepad');
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
      await eventually('all are gone', () => !pids.some(isAlive));
    });
  }
});

describe('windows client', { skip, timeout: 300_000 }, () => {
  let ada: WineDesktop;
  let grace: WineDesktop;

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [ada, grace] = await Promise.all([WineDesktop.start('ada'), WineDesktop.start('grace')]);
    for (const desktop of [ada, grace]) {
      lay(desktop, 'Zielscheibe ü.spr', spr(TARGET));
      lay(desktop, 'runner.spr', spr(RUNNER));
      lay(desktop, 'rival.spr', spr(RIVAL));
      lay(desktop, 'cyan.png', png(CYAN));
    }
  });

  after(async () => await Promise.all([ada?.stop(), grace?.stop()]));

  describe('one desktop', () => {
    let client: ChildProcess;
    let other: ChildProcess | undefined;

    before(() => {
      client = startClient(ada, { relay: NOBODY }, 'C:\\Zielscheibe ü.spr');
    });
    after(async () => {
      for (const one of [client, other]) if (one) await killed(one);
    });

    it('shows a sprite with its own alpha: colour, nothing, and half of what lies behind', async () => {
      const { picture, it: place } = await ada.seeStill('the sprite', target);
      picture.save(join(SHOTS, 'wine-alpha.png'));
      const corner = { x: place.left - PADDING, y: place.top - PADDING };
      const at = (x: number, y: number) => picture.at(corner.x + x, corner.y + y);
      // Without a compositor it is black; with one, the colour of an empty desktop.
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

    it('follows the pointer from the very first press on, and stays where it is let go', async () => {
      const { it: place } = await ada.seeStill('the sprite', target);
      const { x, y } = middleOf(place);
      await ada.pointer('mousemove', x, y, 'mousedown', 1, 'mousemove', 300, 300);
      const isAt = (to: { x: number; y: number }) => (picture: Picture) => {
        const now = target(picture);
        return now && isNear(middleOf(now).x, to.x, 2) && isNear(middleOf(now).y, to.y, 2) ? now : undefined;
      };
      await ada.seeUntil('it is where the pointer is', isAt({ x: 300, y: 300 }));
      await ada.pointer('mousemove', 1000, 400);
      const { it: held } = await ada.seeUntil('it is where the pointer is', isAt({ x: 1000, y: 400 }));
      await ada.pointer('sleep', 0.2, 'mouseup', 1); // longer than what counts for a throw
      assert.deepEqual((await ada.seeStill('it stays', target)).it, held);
    });

    it('lets a click through where a sprite is see-through, and not where it is not', async () => {
      const { it: place } = await ada.seeStill('the sprite', target);
      const windowAt = async (x: number, y: number) => {
        await ada.pointer('mousemove', place.left - PADDING + x, place.top - PADDING + y);
        return /WINDOW=(\d+)/.exec(await ada.pointer('getmouselocation', '--shell'))?.[1];
      };
      const outside = await windowAt(-20, 32);
      assert.notEqual(await windowAt(16, 16), outside);
      assert.notEqual(await windowAt(32, 44), outside);
      assert.equal(await windowAt(32, 24), outside);
      assert.equal(await windowAt(3, 3), outside);
    });

    it("stands on another program's window, and falls when that is moved away", async () => {
      other = ada.begin('notepad');
      const topOfNotepad = async () => (await ada.place('.*Notepad'))?.y;
      await eventually('another window is open', async () => (await topOfNotepad()) === 0);
      const dragCaption = async (from: number, to: number) => {
        const grip = ['mousemove', 400, from + 8, 'mousedown', 1, 'mousemove', 400, from + 40];
        await ada.pointer(...grip, 'mousemove', 400, to + 8, 'mouseup', 1);
        await eventually('the window is moved', async () => (await topOfNotepad()) === to);
      };
      await dragCaption(0, 300);
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\runner.spr');
      await ada.seeStill('the runner', runner);
      await ada.put('the runner', runner, { x: 600, y: 200 });
      const standsOn = (top: number) => (picture: Picture) => {
        const now = runner(picture);
        return now && isNear(now.bottom + PADDING + 1, top, 1) ? now : undefined;
      };
      const { picture } = await ada.seeStill('it stands on the window', standsOn(300));
      picture.save(join(SHOTS, 'wine-on-a-window.png'));
      await dragCaption(300, 100);
      await ada.seeStill('it has fallen to the floor', standsOn(SCREEN.height));
    });

    it('takes no keys away from another program by being dragged, but by a click; then keys steer it', async () => {
      const focus = async () => (await ada.pointer('getwindowfocus', '-f')).trim();
      const before = await focus();
      await ada.put('the sprite', target, { x: 900, y: 200 });
      await ada.seeStill('the sprite', target);
      assert.equal(await focus(), before);
      await killed(other as ChildProcess);
      const { it: first } = await ada.seeStill('it stands on the floor', onFloor(runner));
      await click(ada, first);
      await eventually('it has the keys', async () => (await focus()) !== before);
      const isAside = ({ left }: Area) => Math.abs(left - first.left) > 60;
      const there = await steer(ada, 'Right', 'it runs', runner, isAside);
      await steer(ada, 'Left', 'it runs back', runner, ({ left }) => there.left - left > 60);
      const isUp = ({ bottom }: Area) => bottom < first.bottom - 40;
      await steer(ada, 'space', 'it jumps', runner, isUp);
      await steer(ada, 'Up', 'it jumps', runner, isUp);
    });

    it('steers the one that was clicked last', async () => {
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\rival.spr');
      const { it: near } = await ada.seeStill('the rival', onFloor(rival));
      const isLeft = near.left < SCREEN.width / 2;
      // Away from the runner, whom it may have bumped into.
      await ada.put('the rival', rival, { x: isLeft ? SCREEN.width - 200 : 200, y: 600 });
      const { it: first } = await ada.seeStill('the rival', onFloor(rival));
      const { it: other } = await ada.seeStill('the runner', onFloor(runner));
      await click(ada, first);
      await steer(ada, isLeft ? 'Right' : 'Left', 'it runs', rival, ({ left }) => Math.abs(left - first.left) > 60);
      assert.deepEqual((await ada.seeStill('the runner', runner)).it, other);
    });

    it('opens a menu by a right click, which can put it away', async () => {
      const { it: place, picture: before } = await ada.seeStill('the runner', runner);
      const { x, y } = middleOf(place);
      await ada.pointer('mousemove', x, y, 'click', 3);
      const MENU_PX = 3_000; // px of the smallest menu
      const { picture } = await ada.seeUntil('a menu', (now) => now.differences(before) > MENU_PX || undefined);
      picture.save(join(SHOTS, 'wine-menu.png'));
      await ada.pointer('key', 'p');
      await ada.seeUntil('it is away', (now) => now.find(CYAN) === undefined || undefined);
      assert.deepEqual(
        ada.kept().sprites.map(({ name }) => name),
        ['Target', 'Rival'],
      );
    });

    it('asks before it closes where that is wished: no is no, yes ends it', async () => {
      await killed(client);
      client = startClient(ada, { relay: NOBODY, askBeforeClosing: true }, 'C:\\Zielscheibe ü.spr');
      const { it: place } = await ada.seeStill('the sprite', target);
      const isAsked = async () => (await ada.windows('Sprites')).length === 1;
      await doubleClick(ada, place, 'it asks', isAsked);
      ada.see().save(join(SHOTS, 'wine-question.png'));
      await ada.pointer('key', 'n');
      await eventually('it asks no more', async () => !(await isAsked()));
      await doubleClick(ada, (await ada.seeStill('the sprite', target)).it, 'it asks', isAsked);
      await ada.pointer('key', 'y');
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
      layInCache(grace, spr(TARGET));
      await eventually('both are in', async () => (await relay.metrics()).get('sprites_desktops') === 2);
    });

    after(async () => {
      for (const client of clients) await killed(client);
      await relay?.stop();
    });

    it('throws it off the right edge, and it comes in on the left of the neighbour, as high, and moving', async () => {
      const from = { x: 1000, y: 333 };
      const arrival = grace.seeUntil('the sprite', target);
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 });
      const first = await arrival;
      const second = await grace.seeUntil('it has moved', (picture) => {
        const now = target(picture);
        return now && now.left !== first.it.left ? now : undefined;
      });
      first.picture.save(join(SHOTS, 'wine-arrived.png'));
      assert.ok(first.it.left < SCREEN.width / 2, `first seen at ${first.it.left}`);
      assert.ok(second.it.left > first.it.left, `from ${first.it.left} to ${second.it.left}`);
      for (const { it: place } of [first, second]) {
        assert.ok(isNear(middleOf(place).y, from.y, 2), `left at ${from.y}, came at ${middleOf(place).y}`);
      }
      assert.equal(ada.see().find(MAGENTA), undefined);
    });

    it('hands the files of a second start to the first; a picture becomes a sprite, and is sent along when it is thrown', async () => {
      // Ends by itself: the sprite is the first one's.
      await ada.run('wine', WINDOWS_CLIENT, 'C:\\cyan.png');
      await ada.seeStill('the cyan sprite', onFloor(cyan));
      const arrival = grace.seeUntil('the cyan sprite', cyan);
      // Two desktops: Grace is on either side.
      await ada.throwOff('the cyan sprite', cyan, { x: 1000, y: 500 }, { dx: 180, dy: -60 });
      await arrival;
      assert.ok(existsSync(join(grace.folder, 'files')));
    });

    it('survives a restart of the relay, and a double click closes it, with good-bye', async () => {
      const { ports } = relay;
      await relay.stop();
      relay = await startRelay({ workers: 0, ports });
      await eventually('both are back', async () => (await relay.metrics()).get('sprites_desktops') === 2);
      const { it: standing } = await grace.seeStill('it stands', onFloor(cyan));
      await doubleClick(grace, standing, 'it has ended', () => clients[1].exitCode !== null);
      assert.equal(clients[1].exitCode, 0);
      assert.equal(grace.see().find(CYAN), undefined);
      await eventually('Grace has left', async () => (await relay.metrics()).get('sprites_desktops') === 1);
      assert.deepEqual(
        grace.kept().sprites.map(({ name }) => name),
        ['Target', 'cyan'],
      );
    });
  });

  describe('a browser next door', { skip: skipBrowser }, () => {
    const VIEW = { width: 900, height: 600 };
    const WALL_PX = 0.25 * VIEW.width; // what still counts as at the edge
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
      await eventually('both are in', async () => (await relay.metrics()).get('sprites_desktops') === 2);
    });

    after(async () => {
      await browser?.close();
      await killed(client);
      await relay?.stop();
    });

    it('gets what is thrown from Windows: at the same height of its own, and moving', async () => {
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
      assert.ok(first.x < WALL_PX, `it comes in on the left, not at ${first.x}`);
      assert.ok((path.at(-1)?.x ?? 0) > first.x, JSON.stringify(path));
      // Its foot is half its height below the middle; a parcel, which it is until its picture is here, falls a little.
      const middle = (from.y / SCREEN.height) * VIEW.height;
      assert.ok(isNear(first.y, middle + SIDE / 2, 24), `left at ${middle} of ${VIEW.height}, came at ${first.y}`);
      assert.equal(ada.see().find(MAGENTA), undefined);
    });

    it('throws it back to Windows, at the height it left at, and moving', async () => {
      const arrival = ada.seeUntil('the sprite', target);
      await throwFromPage(page, VIEW);
      const { picture, it: first } = await arrival;
      const FLOWN_PX = 150; // enough to see which way
      const { it: second } = await ada.seeUntil('it has moved', (now) => {
        const place = target(now);
        return place && place.left > first.left + FLOWN_PX ? place : undefined;
      });
      picture.save(join(SHOTS, 'wine-from-a-browser.png'));
      const [{ edge, at }] = thrown.slice(-1);
      assert.equal(edge, 'right');
      assert.ok(first.left < SCREEN.width / 2, `first seen at ${first.left}`);
      // It rises, in a straight line, from where its middle was when all of it was beyond the edge.
      const rise = (first.top - second.top) / (second.left - first.left);
      const came = middleOf(first).y + rise * (first.left - PADDING + SIDE);
      assert.ok(isNear(came, at * SCREEN.height, 6), `left at ${at}, came at ${came} of ${SCREEN.height}`);
    });
  });

  describe('a relay that refuses, or worse', () => {
    const hostileFor = async (test: TestContext, hostility: Hostility) => {
      const hostile = await startHostileRelay(hostility);
      test.after(() => hostile.close());
      return hostile;
    };

    it('lets a refused throw bounce back in, as high as it left', async (test) => {
      const hostile = await hostileFor(test, { poll: () => {} });
      const client = startClient(ada, { relay: hostile.url, name: 'Ada' }, 'C:\\Zielscheibe ü.spr');
      test.after(() => killed(client));
      await eventually('it is in', () => hostile.asked.polls > 0);
      const from = { x: 1000, y: 333 };
      const isRefused = () => hostile.asked.crossings > 0 || undefined;
      await ada.throwOff('the sprite', target, from, { dx: 160, dy: 0 }, isRefused);
      // What is on the screen may be from before it left: back is who moves inwards.
      let before: Area | undefined;
      const { it: back } = await ada.seeUntil('it comes back in', (picture) => {
        const now = target(picture);
        const isInwards = now && before && now.left < before.left;
        before = now;
        return isInwards ? now : undefined;
      });
      assert.ok(isNear(middleOf(back).y, from.y, 2), `left at ${from.y}, is at ${middleOf(back).y}`);
      assert.equal(hostile.asked.crossings, 1);
    });

    it('stays up and within its limits: garbage, endless bodies, huge numbers, ten thousand sprites', async (test) => {
      const SPRITES_MOST = 20;
      const BATCH = 64; // events, as many as a relay may send
      const wild = { at: 1e9, vx: 1e308, vy: -1e308 };
      const hostilities = Object.values(HOSTILE_ANSWERS);
      const hostile = await hostileFor(test, {
        poll: (n, answer) => {
          // Between two of them one that is right, or it would ask ever more seldom.
          const cursor = `6a1f03c2-${n + 1}`;
          if (n >= 2 * hostilities.length) {
            const events = Array.from({ length: BATCH }, (_, i) => arrival(n * BATCH + i + 1, i % 2 ? wild : {}));
            json(answer, 200, { cursor, events });
          } else if (n % 2) json(answer, 200, { cursor, events: [{ type: 'ping' }] });
          else hostilities[n / 2](answer, n);
        },
        file: (answer) => endless(answer, '\x89PNG', 'x'.repeat(65_536)),
      });
      const client = startClient(grace, { relay: hostile.url, name: 'Grace', spritesMost: SPRITES_MOST });
      test.after(() => killed(client));
      const isFull = async () => {
        const count = (await grace.windows('Sprite')).length;
        assert.ok(count <= SPRITES_MOST, `${count} windows`);
        return count === SPRITES_MOST;
      };
      await eventually('it is full', isFull);
      await eventually('files were asked for', () => hostile.asked.files > 0);
      const BATCHES_MAX = 3; // until no more may wait
      assert.ok(hostile.asked.polls <= 2 * hostilities.length + BATCHES_MAX, JSON.stringify(hostile.asked));
      await eventually('it is as full', isFull);
      grace.see().save(join(SHOTS, 'wine-flooded.png'));
      const residentMiB =
        Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
      test.diagnostic(`${Math.round(residentMiB)} MiB at the most`);
      assert.ok(residentMiB < RSS_MIB_MAX, `${residentMiB} MiB`);
      // It still does as it is told.
      await grace.run('wine', 'taskkill', '/im', 'Sprites.exe');
      await eventually('it has ended', () => client.exitCode !== null);
      assert.equal(client.exitCode, 0);
    });
  });

  describe('installer', { skip: skipInstaller }, () => {
    const CLASS = 'Software\\Classes\\Sprites.spr';
    const CLASSES = ['Software\\Classes\\.spr', CLASS];
    const RUN = 'Software\\Microsoft\\Windows\\CurrentVersion\\Run';
    const UNINSTALL = 'Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\Sprites';
    const KEYS = [...CLASSES, UNINSTALL, 'Software\\Sprites'];
    let program: string;
    let link: string;

    before(() => {
      program = join(ada.roaming, '../Local/Programs/Sprites');
      link = join(ada.roaming, 'Microsoft/Windows/Start Menu/Programs/Sprites.lnk');
      for (const folder of [program, ada.folder]) rmSync(folder, { recursive: true, force: true });
    });

    it('installs silently for one person: program, Start menu, uninstaller, file association, autostart if asked for', async () => {
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=1');
      assert.deepEqual(readdirSync(program).sort(), ['Sprites.exe', 'Uninstall.exe']);
      assert.deepEqual(readFileSync(join(program, 'Sprites.exe')), readFileSync(WINDOWS_CLIENT));
      assert.ok(existsSync(link));
      const registry = await ada.registry();
      for (const key of KEYS) assert.ok(registry.has(key), key);
      assert.match(registry.get(`${CLASS}\\shell\\open\\command`)!, /Sprites\.exe\\" \\"%1\\""/);
      assert.match(registry.get(RUN)!, /"Sprites"=.*Programs\\\\Sprites\\\\Sprites\.exe/);
    });

    it('opens a .spr with the program', async () => {
      ada.settle({ ...COMMON, relay: NOBODY });
      // Wine looks for classes at the machine's alone, Windows at the person's first.
      for (const key of CLASSES) await ada.run('wine', 'reg', 'copy', `HKCU\\${key}`, `HKLM\\${key}`, '/s', '/f');
      await ada.run('wine', 'start', 'C:\\Zielscheibe ü.spr');
      await ada.seeUntil('the sprite of the file', target);
      for (const key of CLASSES) await ada.run('wine', 'reg', 'delete', `HKLM\\${key}`, '/f');
    });

    it('upgrades over an old version that runs: that one ends, and the new one goes on', async () => {
      const isNew = () => readFileSync(join(program, 'Sprites.exe')).equals(readFileSync(WINDOWS_CLIENT));
      await ada.run('wine', 'taskkill', '/im', 'Sprites.exe');
      await ada.seeUntil('nothing is left', (picture) => picture.find(MAGENTA) === undefined || undefined);
      await eventually('it has ended', () => !ada.isRunning('Sprites.exe'));
      appendFileSync(join(program, 'Sprites.exe'), 'an older one');
      const old = ada.begin(join(program, 'Sprites.exe'));
      await ada.seeUntil('the old one', target);
      assert.ok(!isNew());
      await ada.run('wine', WINDOWS_SETUP, '/S');
      await eventually('the old one has ended', () => old.exitCode !== null);
      assert.ok(isNew());
      await ada.seeUntil('the new one, with its sprite', target);
    });

    it('starts with Windows as before after an upgrade, no longer when told so, and again', async () => {
      const starts = async () => (await ada.registry()).get(RUN)?.includes('"Sprites"=') ?? false;
      assert.ok(await starts());
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=0');
      assert.ok(!(await starts()));
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.ok(!(await starts()));
      await ada.run('wine', WINDOWS_SETUP, '/S', '/AUTOSTART=1');
      assert.ok(await starts());
    });

    it('uninstalls while it runs: nothing of the program is left, but the sprites and settings of its person', async () => {
      await ada.seeUntil('it runs', target);
      await ada.run('wine', join(program, 'Uninstall.exe'), '/S');
      await areGone([program, link]);
      await isOutOfTheRegistry();
      await ada.seeUntil('it is away', (picture) => picture.find(MAGENTA) === undefined || undefined);
      assert.ok(existsSync(join(ada.folder, 'settings.json')));
      assert.ok(ada.kept().sprites.some(({ name }) => name === 'Target'));
    });

    it('is back with them when it is installed again, and leaves nothing at all when asked to', async () => {
      await ada.run('wine', WINDOWS_SETUP, '/S');
      assert.doesNotMatch((await ada.registry()).get(RUN) ?? '', /"Sprites"=/);
      ada.begin(join(program, 'Sprites.exe'));
      await ada.seeUntil('the sprite of before', target);
      await ada.run('wine', join(program, 'Uninstall.exe'), '/S', '/PURGE=1');
      await areGone([program, link, ada.folder]);
      await isOutOfTheRegistry();
    });

    async function areGone(paths: string[]): Promise<void> {
      const left = () => paths.filter((path) => existsSync(path));
      await eventually('all of it is gone', () => left().length === 0).catch(() => assert.deepEqual(left(), []));
    }

    /** The uninstaller goes on in a copy of itself: the files go first, the registry after them. */
    async function isOutOfTheRegistry(): Promise<void> {
      let left = ['the registry, which was not read'];
      await eventually('all of it is out of the registry', async () => {
        const registry = await ada.registry();
        const starts = registry.get(RUN)?.includes('"Sprites"=');
        left = [...KEYS.filter((key) => registry.has(key)), ...(starts ? [RUN] : [])];
        return left.length === 0;
      }).catch(() => assert.deepEqual(left, []));
    }
  });
});

/** Takes Target with the mouse in a browser's desktop, puts it down low on the right, and throws it over that edge by key. */
async function throwFromPage(page: Page, { width, height }: { width: number; height: number }): Promise<void> {
  const here = () => page.evaluate(() => globalThis.sprites.sprites().find(({ name }) => name === 'Target'));
  const ATTEMPTS_MAX = 40; // it moves: a hand may miss it
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
  throw new Error('it could not be caught');
}
