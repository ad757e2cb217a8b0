/** The client's core with a real relay and with a hostile one: headless desktops, otherwise as users run it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { joinPage, launchBrowser, noBrowser } from '../../server/test/browser_page.ts';
import { BOUNDED, lastingPorts, type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { readSheet, writeSheet } from '../../server/wire/files/sheet.ts';
import { buildClient } from '../../tools/build.js';
import { fling, type HeadlessDesktop, SPRITES, startHeadless } from './headless_desktop.ts';
import {
  arrival,
  HOSTILE_RESPONSES,
  type HostileRelay,
  type Hostility,
  sendEndlessly,
  sendJson,
  startHostileRelay,
} from './hostile_relay.ts';

const why = buildClient();
const skip = why ?? false;

/** MiB a headless desktop may use, whatever a relay sends: the limits of the core, and the program. */
const RSS_MIB_MAX = 320;

const holdPoll = () => {};

/** The name of a world for each test, so that tests share a relay and not their desktops. */
const worldOf = (test: TestContext) => `t-${createHash('sha256').update(test.name).digest('hex').slice(0, 8)}`;

/** Starts desktops in their own world and waits until they are connected and know their neighbours. */
async function desktopsAt(test: TestContext, url: string, names: string[], args: string[] = []) {
  const desktops: HeadlessDesktop[] = [];
  for (const name of names) {
    const desktop = startHeadless(['--relay', url, '--name', name, '--world', worldOf(test), '--seed', '1', ...args]);
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

/** Drops a character in and waits until it stands. */
async function addSprite(desktop: HeadlessDesktop, file = 'blob.spr') {
  desktop.send(`take ${join(SPRITES, file)}`);
  const state = await desktop.until('it has landed', ({ sprites }) => sprites.at(-1)?.vy === 0);
  return state.sprites.at(-1)!;
}

/** Drops in a sprite that falls slowly, or with gravity 0 keeps its height while it flies. */
async function addFeather(test: TestContext, desktop: HeadlessDesktop, gravity: number) {
  const folder = await mkdtemp(join(tmpdir(), 'sprites-feather-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  const png = readFileSync(join(SPRITES, 'blob.spr'));
  const { description } = readSheet(png, crc32);
  const behaviour = { ...description.behaviour, gravity };
  const path = join(folder, 'feather.spr');
  await writeFile(path, writeSheet(png, { ...description, name: 'Feather', behaviour }, crc32));
  desktop.send(`take ${path}`);
  const state = await desktop.until('it has been added', ({ sprites }) => sprites.length === 1);
  desktop.send(`grab ${state.sprites[0].id} 300 200 0`);
  desktop.send(`drag 400 333 500`);
  desktop.send('release 2000');
  return (await desktop.look()).sprites[0];
}

function residentMiB(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) as RegExpExecArray;
  return Number(kib) / 1024;
}

// Desktops wait most of the time, and each test has a world of its own, so several do at once.
describe('client › two desktops and a relay', { skip, ...BOUNDED, concurrency: 4 }, () => {
  let relay: RelayProcess;

  before(async () => {
    relay = await startRelay({ workers: 0 });
  });

  after(() => relay?.stop());

  it('throws a sprite off the right edge of one; it enters at the left edge of the other at the same height, moving', async (test) => {
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    const sprite = await addFeather(test, ada, 0);
    fling(ada, sprite, 1500, 0);
    const came = await grace.waitForLine('it has come', (line) => 'came' in line && line.name === 'Feather');
    await ada.until('it has left', ({ sprites, onTheWay }) => sprites.length === 0 && onTheWay === 0);
    assert.equal(came.vx, 1500);
    // Its picture has not arrived yet, so it is a parcel of another size: only its middle keeps the height.
    const middle = ({ y, height }: { y: number; height: number }) => y - height / 2;
    const shown = JSON.stringify({ came, sprite });
    assert.ok(
      Math.abs(middle(came as { y: number; height: number }) - middle(sprite)) < 1,
      `the same height: ${shown}`,
    );
    assert.ok((came.x as number) < 60, `at the left edge: ${JSON.stringify(came)}`);
    const state = await grace.until('its picture has arrived', ({ sprites }) => sprites[0]?.isParcel === false);
    assert.equal(state.sprites[0].fromShelf, false);
    await grace.waitForLine('the arrival is announced', ({ text }) => text === 'From Ada.');
  });

  it('sees a sprite of its neighbour as a silhouette before it crosses, until the neighbour hides its stage', async (test) => {
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    grace.send(`take ${join(SPRITES, 'miso.spr')}`);
    grace.send('pause on');
    const [cat] = (await grace.until('the cat is there', ({ sprites }) => sprites.length === 1)).sprites;
    grace.send(`grab ${cat.id} ${cat.x} ${cat.y} 0`);
    grace.send('drag 100 300 10');
    grace.send('release 1000');
    assert.deepEqual((await grace.look()).watched, []);
    ada.send('peek right');
    await grace.until('somebody watches her', ({ watched }) => watched.includes('left'));
    const seen = await ada.until('the silhouette is there, with its picture', ({ beyond }) => {
      return beyond.length === 2 && beyond[0].isPane && beyond[1].file === cat.file;
    });
    const [left, , width] = seen.beyond[0].shown;
    assert.deepEqual([left, width], [800 - 320, 320]);
    const [x, , shown] = seen.beyond[1].shown;
    const { sprites } = await grace.look();
    assert.ok(Math.abs(x + shown / 2 - (left + sprites[0].x)) < 20, JSON.stringify({ seen, sprites }));
    grace.send('pause off');
    grace.send(`throw ${cat.id} left`);
    await ada.until('the cat is here, and beyond the edge no more', ({ sprites, beyond }) => {
      return sprites.length === 1 && beyond.length === 1;
    });
    assert.equal(seen.sprites.length, 0);
    assert.equal(seen.showsStage, true);
    grace.send('stage off');
    await ada.until('nothing is seen any more', ({ beyond }) => beyond.length === 0);
    grace.send('stage on');
    await ada.until('it is seen again', ({ beyond }) => beyond.length > 0);
    ada.send('peek off');
    await grace.until('nobody watches her any more', ({ watched }) => watched.length === 0);
  });

  for (const edge of ['left', 'right', 'top', 'bottom']) {
    it(`throws by key over the ${edge} edge and back`, async (test) => {
      const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
      await addSprite(ada);
      const back = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' }[edge] as string;
      for (const [from, to, over] of [
        [ada, grace, edge],
        [grace, ada, back],
      ] as const) {
        const { sprites } = await from.until('it is here and stands', ({ sprites: all }) => all[0]?.vy === 0);
        from.send(`throw ${sprites[0].id} ${over}`);
        await to.until('it has come', ({ sprites: all }) => all.length === 1);
        await from.until('it is there alone', ({ sprites: all, onTheWay }) => all.length === 0 && onTheWay === 0);
      }
    });
  }

  it('plays with a page: both count a rally, and a potato lit here goes off there', {
    skip: noBrowser,
  }, async (test) => {
    const [ada] = await desktopsAt(test, relay.url, ['Ada']);
    const browser = await launchBrowser();
    test.after(() => browser.close());
    const faults: string[] = [];
    const bob = await joinPage(browser, `${relay.url}/?world=${worldOf(test)}`, 'Bob', faults);
    await ada.until('Bob is next door', ({ neighbours }) => neighbours?.right.name === 'Bob');
    const potato = await addSprite(ada);
    ada.send(`potato ${potato.id}`);
    await ada.until('it is hot', ({ bubbles }) => bubbles.some(({ text }) => text === '🔥 Hot potato! Throw it on'));
    ada.send(`throw ${potato.id} right`);
    await ada.until('it is there', ({ sprites, onTheWay }) => sprites.length + onTheWay === 0);

    const says = (words: string) =>
      ada.until(`Ada's desktop says: ${words}`, ({ bubbles }) => bubbles.some(({ text }) => text.startsWith(words)));
    const pageSays = (hasText: string) => bob.locator('.notice', { hasText }).waitFor();
    // Alone in their world, each is beyond every edge of the other.
    const rally = async () => {
      const feather = await addFeather(test, ada, 200);
      ada.send(`throw ${feather.id} right`);
      await bob.waitForFunction(() => {
        const index = globalThis.sprites.sprites().findIndex(({ name }) => name === 'Feather');
        if (index >= 0) globalThis.sprites.throw(index, 'left');
        return index >= 0;
      });
      const { sprites } = await says('Kept up over 2 edges!');
      ada.send(`throw ${sprites[0].id} right`);
      await pageSays('Feather was kept up over 3 edges.');
    };
    await Promise.all([
      rally(),
      pageSays('Blob, the hot potato, went off here.'),
      says('💥 Blob, the hot potato, went off, and not here.'),
    ]);
    assert.deepEqual(faults, []);
  });

  it('survives a restart of the relay with its sprites, and throws again', async (test) => {
    const ports = await lastingPorts();
    let own = await startRelay({ workers: 0, ports });
    test.after(() => own.stop());
    const [ada, grace] = await desktopsAt(test, own.url, ['Ada', 'Grace']);
    const sprite = await addSprite(ada);
    await own.stop();
    await ada.until('it notices the loss', ({ link }) => link !== 'connected');
    // While it is offline, throws bounce back and no sprite is lost.
    ada.send(`throw ${sprite.id} right`);
    await ada.waitForLine('it bounces', ({ toast }) => toast === 'Blob is back');
    assert.equal((await ada.look()).sprites.length, 1);
    own = await startRelay({ workers: 0, ports });
    for (const desktop of [ada, grace]) await desktop.until('back', ({ link }) => link === 'connected');
    await ada.until('Grace is next door', ({ neighbours }) => neighbours?.right.name === 'Grace');
    const { sprites } = await ada.until('it stands', ({ sprites: all }) => all[0]?.vy === 0);
    ada.send(`throw ${sprites[0].id} right`);
    await grace.waitForLine('it has come', ({ came }) => came !== undefined);
  });

  it('lets a rejected throw bounce back in, with the reason', async (test) => {
    const hostile = await hostileFor(test, { poll: holdPoll });
    const [ada] = await desktopsAt(test, hostile.url, ['Ada']);
    const sprite = await addSprite(ada);
    ada.send(`throw ${sprite.id} left`);
    const line = await ada.waitForLine('it is back', ({ toast }) => toast === 'Blob is back');
    assert.equal(line.text, 'The neighbour has no room for it now.');
    assert.equal(hostile.requests.crossings, 1);
    const state = await ada.until('it stands', ({ sprites }) => sprites[0]?.vy === 0);
    assert.ok(state.sprites[0].x > 0 && state.sprites[0].x < 800);
  });

  it('passes on sprites of a muted neighbour, so that none is lost', async (test) => {
    const [ada, grace, alan] = await desktopsAt(test, relay.url, ['Ada', 'Grace', 'Alan']);
    await ada.until('Grace is to the right', ({ neighbours }) => neighbours?.right.name === 'Grace');
    grace.send('mute Ada on');
    await grace.look(); // so she has read that
    const sprite = await addSprite(ada);
    ada.send(`throw ${sprite.id} right`);
    // The relay knows of the mute and passes it on, or Grace does.
    const came = await alan.waitForLine('it has passed by Grace', (line) => line.came !== undefined);
    assert.ok((came.vx as number) > 0);
    assert.ok(!grace.lines.some((line) => 'came' in line));
  });

  it('says a line that the other hears in a bubble at the edge between them, and not while it mutes the speaker', async (test) => {
    const [ada, grace] = await desktopsAt(test, relay.url, ['Ada', 'Grace']);
    ada.send('say Whose cat is that?');
    await ada.waitForLine('Ada knows that Grace hears it', ({ note }) => note === '1 heard you.');
    await grace.waitForLine('Grace hears it', ({ heard, from }) => heard === 'Whose cat is that?' && from === 'Ada');
    const { bubbles } = await grace.until('there is a bubble', (state) => state.bubbles.length === 1);
    assert.equal(bubbles[0].name, 'Ada');
    assert.ok(bubbles[0].edge === 'left' || bubbles[0].edge === 'right', JSON.stringify(bubbles));
    await ada.waitForLine('Ada hears herself', ({ heard, isOwn }) => heard === 'Whose cat is that?' && isOwn === true);
    grace.send('mute Ada on');
    await grace.until('the bubble is gone', (state) => state.bubbles.length === 0);
    ada.send('say Hello?');
    await ada.waitForLine('it was said', ({ heard }) => heard === 'Hello?');
    grace.send('say I hear only myself.');
    await grace.waitForLine('Grace hears herself', ({ isOwn }) => isOwn === true);
    assert.ok(!grace.lines.some(({ heard }) => heard === 'Hello?'));
  });

  it('resumes after a kill with the same seat and the same sprites, none of them twice', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'sprites-kept-'));
    test.after(() => rm(folder, { recursive: true, force: true }));
    const [ada] = await desktopsAt(test, relay.url, ['Ada'], ['--folder', folder]);
    const [grace] = await desktopsAt(test, relay.url, ['Grace']);
    await ada.until('Grace is next door', ({ neighbours }) => neighbours?.right.name === 'Grace');
    const sprite = await addSprite(grace);
    grace.send(`throw ${sprite.id} left`);
    const { desktop } = await ada.until('it has come', ({ sprites }) => sprites.length === 1);
    await ada.until('one more look', () => true);
    process.kill(ada.pid, 'SIGKILL');
    const again = startHeadless(['--relay', relay.url, '--name', 'Ada', '--world', worldOf(test), '--folder', folder]);
    test.after(() => again.quit());
    // It kept the sprite, or the relay still has it for this seat.
    const state = await again.until('it is connected again, with its sprite', ({ link, sprites }) => {
      return link === 'connected' && sprites.length > 0;
    });
    assert.equal(state.desktop, desktop);
    assert.deepEqual(
      state.sprites.map(({ name }) => name),
      ['Blob'],
    );
  });
});

// Most of the time these desktops wait before they try again, so several do at once.
describe('client › a hostile relay', { skip, ...BOUNDED, concurrency: 4 }, () => {
  for (const [what, poll] of Object.entries(HOSTILE_RESPONSES)) {
    it(`keeps running and limits its requests: ${what}`, async (test) => {
      const hostile = await hostileFor(test, { poll: (n, response) => poll(response, n) });
      const ada = startHeadless(['--relay', hostile.url, '--name', 'Ada']);
      test.after(() => ada.quit());
      const startMs = performance.now();
      await ada.until('it has polled three times', () => hostile.requests.polls >= 3);
      const { polls, joins, looks } = hostile.requests;
      // At most one request per 20 ms, after 3 at the start; doubled as a margin.
      assert.ok(polls + joins + looks <= 3 + (performance.now() - startMs) / 10, JSON.stringify(hostile.requests));
      assert.equal((await ada.look()).sprites.length, 0);
      assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX, `${residentMiB(ada.pid)} MiB`);
    });
  }

  it('shows at most as many guests as it may, keeps some waiting, and does not poll until there is room', async (test) => {
    const hostile = await hostileFor(test, {
      poll: (n, response) => {
        const events = Array.from({ length: 64 }, (_, i) => arrival(n * 64 + i + 1));
        sendJson(response, 200, { cursor: `6a1f03c2-${n + 1}`, events });
      },
    });
    const ada = startHeadless(['--relay', hostile.url, '--sprites-most', '30']);
    test.after(() => ada.quit());
    const state = await ada.until('it is full', ({ waiting }) => waiting >= 64);
    assert.equal(state.sprites.length, 1 + 30); // one's own beside as many guests
    assert.ok(state.waiting < 128);
    const { polls } = hostile.requests;
    const later = await ada.until('time has passed', ({ sprites }) => sprites.every(({ mode }) => mode !== 'fall'));
    assert.equal(hostile.requests.polls, polls);
    assert.ok(later.sprites.every(({ isParcel }) => isParcel));
    assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX);
    // Thirty arrivals within a moment are not announced thirty times.
    assert.ok(ada.lines.filter(({ toast }) => toast !== undefined).length <= 3);
  });

  it('acknowledges no sprite while its file can not be written, and does once it can', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'sprites-locked-'));
    test.after(() => rm(folder, { recursive: true, force: true }));
    const kept = join(folder, 'kept.json');
    const hostile = await hostileFor(test, {
      poll: (n, response) => {
        if (n > 0) return;
        rmSync(kept);
        mkdirSync(join(kept, 'lock'), { recursive: true }); // a folder with that name can't be replaced
        sendJson(response, 200, { cursor: '6a1f03c2-1', events: [arrival(1)] });
      },
    });
    const ada = startHeadless(['--relay', hostile.url, '--folder', folder]);
    test.after(() => ada.quit());
    await ada.until('it has come', ({ sprites }) => sprites.length === 1);
    await ada.until('it was written beside', () => existsSync(`${kept}.part`));
    await ada.until('it stands', ({ sprites }) => sprites[0].vy === 0);
    assert.equal(hostile.requests.polls, 1);
    rmSync(kept, { recursive: true });
    await ada.until('it has polled again', () => hostile.requests.polls === 2);
    assert.equal(JSON.parse(readFileSync(kept, 'utf8')).sprites.length, 1);
  });

  it('clamps huge numbers to the nearest valid ones', async (test) => {
    const wild = [
      arrival(1, { at: 1e9, vx: 1e308, vy: -1e308 }, { scale: 1e6 }),
      arrival(2, { at: -5, vx: 'fast', vy: null }, { scale: -1, name: '\u202e'.repeat(20) }),
      arrival(3, { edge: 'bottom', vy: -1e300 }, { name: 'y'.repeat(500) }),
    ];
    const hostile = await hostileFor(test, {
      poll: (n, response) => n === 0 && sendJson(response, 200, { cursor: '6a1f03c2-3', events: wild }),
    });
    const ada = startHeadless(['--relay', hostile.url]);
    test.after(() => ada.quit());
    await ada.until('all have come', ({ sprites }) => sprites.length === 3);
    const state = await ada.until('all have landed', ({ sprites }) => sprites.every(({ vy }) => vy === 0));
    for (const { x, y, drawn, name } of state.sprites) {
      assert.ok(x >= 0 && x <= 800 && y > 0 && y <= 600, JSON.stringify(state));
      assert.ok(drawn[2] <= 320 && drawn[3] <= 320 && name.length <= 64 && !name.includes('\u202e'));
    }
  });

  const files: Record<string, (response: http.ServerResponse) => void> = {
    'endless bytes': (response) => sendEndlessly(response, '\x89PNG', 'x'.repeat(65_536)),
    'another file than the requested one': (response) => void response.end(readFileSync(join(SPRITES, 'pip.spr'))),
    empty: (response) => void response.end(),
  };
  for (const [what, file] of Object.entries(files)) {
    it(`shows a parcel when the file is ${what}`, async (test) => {
      const hostile = await hostileFor(test, {
        poll: (n, response) => n === 0 && sendJson(response, 200, { cursor: '6a1f03c2-1', events: [arrival(1)] }),
        file,
      });
      const ada = startHeadless(['--relay', hostile.url]);
      test.after(() => ada.quit());
      await ada.until('the file is requested', () => hostile.requests.files >= 1);
      const state = await ada.until('it stands', ({ sprites }) => sprites[0]?.vy === 0);
      assert.equal(state.sprites[0].isParcel, true);
      assert.ok(residentMiB(ada.pid) < RSS_MIB_MAX);
    });
  }

  it('rejects a relay whose certificate no authority has issued, and tells the person why', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'sprites-certificate-'));
    test.after(() => rm(folder, { recursive: true }));
    const [key, cert] = ['key.pem', 'certificate.pem'].map((name) => join(folder, name));
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...subject, ...made], { stdio: 'pipe' });
    const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, () =>
      assert.fail('it asked'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    test.after(() => server.close());
    const ada = startHeadless(['--relay', `https://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    test.after(() => ada.quit());
    await ada.waitForLine('it says why', ({ text }) => /does not trust the certificate/.test(String(text)));
  });

  for (const [what, seat] of Object.entries({
    'another host': { events: 'http://192.0.2.1/v1/desktops/1-1/events' },
    'another scheme': { crossings: 'file:///etc/passwd' },
    'a token with a line break': { token: 'a\r\nX-Evil: 1' },
    'an id that is a path': { desktop: '../../admin\n' },
  })) {
    it(`rejects a seat with ${what}`, async (test) => {
      const hostile = await hostileFor(test, { poll: holdPoll, seat });
      const ada = startHeadless(['--relay', hostile.url]);
      test.after(() => ada.quit());
      await ada.until('it has tried to join twice', () => hostile.requests.joins >= 2);
      assert.equal((await ada.look()).desktop, null);
      assert.equal(hostile.requests.polls, 0);
    });
  }
});

async function hostileFor(test: TestContext, hostility: Hostility): Promise<HostileRelay> {
  const hostile = await startHostileRelay(hostility);
  test.after(() => hostile.close());
  return hostile;
}
