/** The client's core against a real relay, and against a hostile one: desktops without a screen, everything else as it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { BOUNDED, type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { readSheet, writeSheet } from '../../server/wire/sheet.ts';
import { buildClient } from '../../tools/build.js';
import { fling, type HeadlessDesktop, SPRITES, startHeadless } from './headless_desktop.ts';
import {
  arrival,
  endless,
  HOSTILE_ANSWERS,
  type HostileRelay,
  type Hostility,
  json,
  startHostileRelay,
} from './hostile_relay.ts';

const why = buildClient();
const skip = why ?? false;

/** MiB a headless desktop may take, whatever a relay does: the core's own limits and the program itself. */
const RSS_MIB_MAX = 320;

const holds = () => {};

async function relayFor(test: TestContext, options = {}): Promise<RelayProcess> {
  const relay = await startRelay({ workers: 0, ...options });
  test.after(() => relay.stop());
  return relay;
}

/** Connected, in a world of their own, with known neighbours. */
async function desktopsAt(test: TestContext, url: string, names: string[], args: string[] = []) {
  const desktops: HeadlessDesktop[] = [];
  for (const name of names) {
    const desktop = startHeadless(['--relay', url, '--name', name, '--world', 'tests', '--seed', '1', ...args]);
    test.after(() => desktop.quit());
    await desktop.until(`${name} is connected`, ({ link }) => link === 'connected');
    desktops.push(desktop);
  }
  for (const desktop of desktops) {
    await desktop.until('neighbours are known', ({ neighbours }) => {
      const around = Object.values(neighbours ?? {}).map(({ name }) => name);
      return names.length === 1 || names.some((name) => around.includes(name));
    });
  }
  return desktops;
}

/** Takes a character out of the shelf and waits until it stands. */
async function standing(desktop: HeadlessDesktop, file = 'blob.spr') {
  desktop.say(`take ${join(SPRITES, file)}`);
  const seen = await desktop.until('it has landed', ({ sprites }) => sprites.at(-1)?.vy === 0);
  return seen.sprites.at(-1)!;
}

/** One of gravity 0: it stays at its height for as long as it flies. */
async function weightless(test: TestContext, desktop: HeadlessDesktop) {
  const folder = await mkdtemp(join(tmpdir(), 'sprites-feather-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  const png = readFileSync(join(SPRITES, 'blob.spr'));
  const { description } = readSheet(png, crc32);
  const behaviour = { ...description.behaviour, gravity: 0 };
  const path = join(folder, 'feather.spr');
  await writeFile(path, writeSheet(png, { ...description, name: 'Feather', behaviour }, crc32));
  desktop.say(`take ${path}`);
  const seen = await desktop.until('it is there', ({ sprites }) => sprites.length === 1);
  desktop.say(`grab ${seen.sprites[0].id} 300 200 0`);
  desktop.say(`drag 400 333 500`);
  desktop.say('release 2000');
  return (await desktop.look()).sprites[0];
}

function residentMiB(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) as RegExpExecArray;
  return Number(kib) / 1024;
}

describe('client › two desktops and a relay', { skip, ...BOUNDED }, () => {
  it('throws a sprite off the right edge of one, and it comes in at the left edge of the other: same height, moving', async (test) => {
    const relay = await relayFor(test);
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    const sprite = await weightless(test, ada);
    fling(ada, sprite, 1500, 0);
    const came = await grace.hear('it has come', (told) => 'came' in told && told.name === 'Feather');
    await ada.until('it has left', ({ sprites, onTheWay }) => sprites.length === 0 && onTheWay === 0);
    assert.equal(came.vx, 1500);
    // Its picture is still on its way, so it comes as a parcel of another size: what keeps its height is the middle.
    const middle = ({ y, height }: { y: number; height: number }) => y - height / 2;
    const shown = JSON.stringify({ came, sprite });
    assert.ok(
      Math.abs(middle(came as { y: number; height: number }) - middle(sprite)) < 1,
      `the same height: ${shown}`,
    );
    assert.ok((came.x as number) < 60, `at the left edge: ${JSON.stringify(came)}`);
    const seen = await grace.until('its picture is here', ({ sprites }) => sprites[0]?.isParcel === false);
    assert.equal(seen.sprites[0].fromShelf, false);
    await grace.hear('a new neighbour is announced', ({ text }) => text === 'From Ada.');
  });

  for (const edge of ['left', 'right', 'top', 'bottom']) {
    it(`throws by key over the ${edge} edge, and back by the same way`, async (test) => {
      const relay = await relayFor(test);
      const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
      await standing(ada);
      const back = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' }[edge] as string;
      for (const [from, to, over] of [
        [ada, grace, edge],
        [grace, ada, back],
      ] as const) {
        const { sprites } = await from.until('it is here and stands', ({ sprites: all }) => all[0]?.vy === 0);
        from.say(`throw ${sprites[0].id} ${over}`);
        await to.until('it has come', ({ sprites: all }) => all.length === 1);
        await from.until('it is there alone', ({ sprites: all, onTheWay }) => all.length === 0 && onTheWay === 0);
      }
    });
  }

  it('survives a restart of the relay, sprites and all, and throws again', async (test) => {
    const relay = await startRelay({ workers: 0 });
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    const sprite = await standing(ada);
    await relay.stop();
    await ada.until('it notices', ({ link }) => link !== 'connected');
    // Offline the edges bounce and nobody is lost.
    ada.say(`throw ${sprite.id} right`);
    await ada.hear('it bounces', ({ toast }) => toast === 'Blob is back');
    assert.equal((await ada.look()).sprites.length, 1);
    await relayFor(test, { ports: relay.ports });
    for (const desktop of [ada, grace]) await desktop.until('back', ({ link }) => link === 'connected');
    await ada.until('Grace is next door', ({ neighbours }) => neighbours?.right.name === 'Grace');
    const { sprites } = await ada.until('it stands', ({ sprites: all }) => all[0]?.vy === 0);
    ada.say(`throw ${sprites[0].id} right`);
    await grace.hear('it has come', ({ came }) => came !== undefined);
  });

  it('lets a refused throw bounce back in, with the reason', async (test) => {
    const hostile = await hostileFor(test, { poll: holds });
    const [ada] = await desktopsAt(test, hostile.url, ['Ada']);
    const sprite = await standing(ada);
    ada.say(`throw ${sprite.id} left`);
    const told = await ada.hear('it is back', ({ toast }) => toast === 'Blob is back');
    assert.equal(told.text, 'Full.');
    assert.equal(hostile.asked.crossings, 1);
    const seen = await ada.until('it stands', ({ sprites }) => sprites[0]?.vy === 0);
    assert.ok(seen.sprites[0].x > 0 && seen.sprites[0].x < 800);
  });

  it('passes on what a muted neighbour sends, so that nothing is lost', async (test) => {
    const relay = await relayFor(test);
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    grace.say('mute Ada on');
    const sprite = await standing(ada);
    ada.say(`throw ${sprite.id} right`);
    // In a world of two, the next desktop to the right of Grace is Ada.
    const came = await ada.hear('it has gone round', (told) => (told.came as number) > sprite.id);
    assert.ok((came.vx as number) > 0);
    assert.ok(!grace.told.some((told) => 'came' in told));
  });

  it('comes back after it was killed: the same seat, the same sprites, nothing twice', async (test) => {
    const relay = await relayFor(test);
    const folder = await mkdtemp(join(tmpdir(), 'sprites-kept-'));
    test.after(() => rm(folder, { recursive: true, force: true }));
    const [ada] = await desktopsAt(test, relay.url, ['Ada'], ['--folder', folder]);
    const [grace] = await desktopsAt(test, relay.url, ['Grace']);
    await ada.until('Grace is next door', ({ neighbours }) => neighbours?.right.name === 'Grace');
    const sprite = await standing(grace);
    grace.say(`throw ${sprite.id} left`);
    const { desktop } = await ada.until('it has come', ({ sprites }) => sprites.length === 1);
    await ada.until('Grace knows', () => true);
    process.kill(ada.pid, 'SIGKILL');
    const again = startHeadless(['--relay', relay.url, '--name', 'Ada', '--world', 'tests', '--folder', folder]);
    test.after(() => again.quit());
    const seen = await again.until('it is back', ({ link }) => link === 'connected');
    assert.equal(seen.desktop, desktop);
    assert.deepEqual(
      seen.sprites.map(({ name }) => name),
      ['Blob'],
    );
  });
});

describe('client › a hostile relay', { skip, ...BOUNDED }, () => {
  for (const [what, poll] of Object.entries(HOSTILE_ANSWERS)) {
    it(`stays up and does not hammer it: ${what}`, async (test) => {
      const hostile = await hostileFor(test, { poll: (n, answer) => poll(answer, n) });
      const ada = startHeadless(['--relay', hostile.url, '--name', 'Ada']);
      test.after(() => ada.quit());
      const startMs = performance.now();
      await ada.until('it has asked three times', () => hostile.asked.polls >= 3);
      const { polls, joins, looks } = hostile.asked;
      // At the very most one request each 20 ms, and 3 at once to begin with.
      assert.ok(polls + joins + looks <= 3 + (performance.now() - startMs) / 10, JSON.stringify(hostile.asked));
      assert.equal((await ada.look()).sprites.length, 0);
      assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX, `${residentMiB(ada.pid)} MiB`);
    });
  }

  it('shows no more sprites than it may, keeps some waiting, and asks for no more until there is room', async (test) => {
    const hostile = await hostileFor(test, {
      poll: (n, answer) => {
        const events = Array.from({ length: 64 }, (_, i) => arrival(n * 64 + i + 1));
        json(answer, 200, { cursor: `6a1f03c2-${n + 1}`, events });
      },
    });
    const ada = startHeadless(['--relay', hostile.url, '--sprites-most', '50']);
    test.after(() => ada.quit());
    const seen = await ada.until('it is full', ({ waiting }) => waiting >= 64);
    assert.equal(seen.sprites.length, 50);
    assert.ok(seen.waiting < 128);
    const { polls } = hostile.asked;
    const later = await ada.until('time has passed', ({ sprites }) => sprites.every(({ mode }) => mode !== 'fall'));
    assert.equal(hostile.asked.polls, polls);
    assert.ok(later.sprites.every(({ isParcel }) => isParcel));
    assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX);
    // A flood of strangers is announced once, not fifty times.
    assert.ok(ada.told.filter(({ toast }) => toast !== undefined).length <= 3);
  });

  it('takes huge numbers for the nearest possible ones', async (test) => {
    const wild = [
      arrival(1, { at: 1e9, vx: 1e308, vy: -1e308 }, { scale: 1e6 }),
      arrival(2, { at: -5, vx: 'fast', vy: null }, { scale: -1, name: '\u202e'.repeat(20) }),
      arrival(3, { edge: 'bottom', vy: -1e300 }, { name: 'y'.repeat(500) }),
    ];
    const hostile = await hostileFor(test, {
      poll: (n, answer) => n === 0 && json(answer, 200, { cursor: '6a1f03c2-3', events: wild }),
    });
    const ada = startHeadless(['--relay', hostile.url]);
    test.after(() => ada.quit());
    await ada.until('all have come', ({ sprites }) => sprites.length === 3);
    const seen = await ada.until('all have landed', ({ sprites }) => sprites.every(({ vy }) => vy === 0));
    for (const { x, y, drawn, name } of seen.sprites) {
      assert.ok(x >= 0 && x <= 800 && y > 0 && y <= 600, JSON.stringify(seen));
      assert.ok(drawn[2] <= 320 && drawn[3] <= 320 && name.length <= 64 && !name.includes('\u202e'));
    }
  });

  const files: Record<string, (answer: http.ServerResponse) => void> = {
    'endless bytes': (answer) => endless(answer, '\x89PNG', 'x'.repeat(65_536)),
    'another file than was asked for': (answer) => void answer.end(readFileSync(join(SPRITES, 'pip.spr'))),
    nothing: (answer) => void answer.end(),
  };
  for (const [what, file] of Object.entries(files)) {
    it(`shows a parcel when the file is ${what}`, async (test) => {
      const hostile = await hostileFor(test, {
        poll: (n, answer) => n === 0 && json(answer, 200, { cursor: '6a1f03c2-1', events: [arrival(1)] }),
        file,
      });
      const ada = startHeadless(['--relay', hostile.url]);
      test.after(() => ada.quit());
      await ada.until('it was asked for', () => hostile.asked.files >= 1);
      const seen = await ada.until('it stands', ({ sprites }) => sprites[0]?.vy === 0);
      assert.equal(seen.sprites[0].isParcel, true);
      assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX);
    });
  }

  for (const [what, seat] of Object.entries({
    'another host': { events: 'http://192.0.2.1/v1/desktops/1-1/events' },
    'another scheme': { crossings: 'file:///etc/passwd' },
    'a token with a line break': { token: 'a\r\nX-Evil: 1' },
    'an id that is a path': { desktop: '../../admin\n' },
  })) {
    it(`takes no seat that has ${what}`, async (test) => {
      const hostile = await hostileFor(test, { poll: holds, seat });
      const ada = startHeadless(['--relay', hostile.url]);
      test.after(() => ada.quit());
      await ada.until('it has tried twice', () => hostile.asked.joins >= 2);
      assert.equal((await ada.look()).desktop, null);
      assert.equal(hostile.asked.polls, 0);
    });
  }
});

async function hostileFor(test: TestContext, hostility: Hostility): Promise<HostileRelay> {
  const hostile = await startHostileRelay(hostility);
  test.after(() => hostile.close());
  return hostile;
}
