/**
 * One throw stays one sprite when its response is lost: a real relay, a headless desktop, and a network that is cut between them.
 *
 * The end of the lease is played by the test, which ends the desktop with its token: the relay then remembers the same.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { BOUNDED, type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildClient } from '../../tools/build.js';
import { type DarkProxy, startDarkProxy } from './dark_proxy.ts';
import { type HeadlessDesktop, SPRITES, startHeadless } from './headless_desktop.ts';

const skip = buildClient() ?? false;

interface Kept {
  relay: string;
  sprites: { name: string }[];
  leaving: { number: number; seat: { crossings: string; token: string } }[];
  seat?: { desktop: string; token: string };
}

interface Scene {
  relay: RelayProcess;
  proxy: DarkProxy;
  folder: string;
  ada: HeadlessDesktop;
  /** Starts Ada's desktop again, with what it kept. */
  startAda(): HeadlessDesktop;
  kept(): Kept;
  /** Ends a desktop as the end of its lease would. */
  endDesktop(seat: { desktop: string; token: string }): Promise<void>;
}

/** Ada behind the proxy, with Blob, and somebody to the right who receives what she throws. */
async function stage(test: TestContext): Promise<Scene> {
  const proxy = await startDarkProxy();
  test.after(() => proxy.close());
  const args = ['--public-url', proxy.url, '--public-events-url', proxy.eventsUrl];
  const relay = await startRelay({ workers: 0, args });
  test.after(() => relay.stop());
  proxy.lead(relay.ports);
  const folder = await mkdtemp(join(tmpdir(), 'sprites-throws-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  const startAda = () => {
    const desktop = startHeadless(['--relay', proxy.url, '--name', 'Ada', '--world', 'tests', '--folder', folder]);
    test.after(() => desktop.quit());
    return desktop;
  };
  const ada = startAda();
  await ada.until('Ada is connected', ({ link }) => link === 'connected');
  const joined = await fetch(`${relay.url}/v1/desktops`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bob', world: 'tests', screen: { width: 800, height: 600 } }),
  });
  assert.equal(joined.status, 201);
  const bob = (await joined.json()) as { desktop: string; token: string };
  // Held, and never answered but by the sprite: what waits for Bob is counted by the relay.
  void fetch(`${relay.eventsUrl}/v1/desktops/${bob.desktop}/events`, {
    headers: { authorization: `Bearer ${bob.token}` },
  }).catch(() => {});
  await ada.until('Bob is next door', ({ neighbours }) => neighbours?.right.name === 'Bob');
  ada.send(`take ${join(SPRITES, 'blob.spr')}`);
  const { sprites } = await ada.until('Blob stands', (state) => state.sprites.at(-1)?.vy === 0);
  // The relay has the picture already, so that the throw alone is cut.
  const file = sprites[0].file;
  const bytes = readFileSync(join(SPRITES, 'blob.spr'));
  const stored = await fetch(`${relay.url}/v1/sprites/${file}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${bob.token}`, 'content-type': 'image/png' },
    body: new Uint8Array(bytes),
  });
  assert.ok(stored.ok, `${stored.status}`);
  return {
    ...{ relay, proxy, folder, ada, startAda },
    kept: () => JSON.parse(readFileSync(join(folder, 'kept.json'), 'utf8')),
    endDesktop: async ({ desktop, token }) => {
      const ended = await fetch(`${relay.url}/v1/desktops/${desktop}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(ended.status, 204);
    },
  };
}

async function throwIntoTheDark({ ada, proxy }: Scene, what: 'request' | 'response'): Promise<void> {
  const { sprites } = await ada.look();
  proxy.darkenAtThrow(what);
  ada.send(`throw ${sprites[0].id} right`);
  await proxy.darkened();
}

const accepted = async (relay: RelayProcess) => (await relay.metrics()).get('sprites_accepted_total');

describe('client › a throw whose response is lost', { skip, ...BOUNDED }, () => {
  it('stays one sprite when its seat ends in the dark: it is with the neighbour, and not here too', async (test) => {
    const scene = await stage(test);
    const { ada, relay, proxy } = scene;
    const { desktop } = await ada.look();
    await throwIntoTheDark(scene, 'response');
    await ada.until('it waits for its verdict', ({ onTheWay }) => onTheWay === 1);
    await scene.endDesktop(scene.kept().seat as { desktop: string; token: string });
    proxy.lighten();
    const state = await ada.until('there is a verdict, and a new seat', (now) => {
      return now.onTheWay === 0 && now.link === 'connected' && now.desktop !== desktop;
    });
    assert.equal(state.sprites.length, 0);
    assert.equal(await accepted(relay), 1);
  });

  it('comes back when the relay never had it', async (test) => {
    const scene = await stage(test);
    const { ada, relay, proxy } = scene;
    await throwIntoTheDark(scene, 'request');
    await scene.endDesktop(scene.kept().seat as { desktop: string; token: string });
    proxy.lighten();
    const state = await ada.until('it is back', ({ onTheWay, sprites }) => onTheWay === 0 && sprites.length === 1);
    assert.equal(state.sprites[0].name, 'Blob');
    assert.equal(await accepted(relay), 0);
  });

  it('is asked about at the next start, at the seat that threw it, when the program ends in the dark', async (test) => {
    const scene = await stage(test);
    const { relay, proxy } = scene;
    await throwIntoTheDark(scene, 'response');
    const before = scene.kept().seat as { desktop: string; token: string };
    await scene.ada.quit();
    const { leaving, sprites } = scene.kept();
    assert.equal(sprites.length, 0);
    assert.equal(leaving.length, 1);
    assert.equal(leaving[0].seat.token, before.token);
    await scene.endDesktop(before);
    proxy.lighten();
    const again = scene.startAda();
    const state = await again.until(
      'there is a verdict',
      ({ onTheWay, link }) => onTheWay === 0 && link === 'connected',
    );
    assert.equal(state.sprites.length, 0);
    assert.notEqual(state.desktop, before.desktop);
    assert.equal(await accepted(relay), 1);
  });

  it('gets its verdict while the program ends, and the seat is given up after that', async (test) => {
    const scene = await stage(test);
    const { relay, proxy } = scene;
    await throwIntoTheDark(scene, 'response');
    const ended = scene.ada.quit();
    proxy.lighten();
    await ended;
    const { leaving, sprites } = scene.kept();
    assert.equal(sprites.length, 0);
    assert.deepEqual(leaving, []);
    assert.equal(await accepted(relay), 1);
  });
});

describe('client › a kept.json that can not be read', { skip, ...BOUNDED }, () => {
  const whole = JSON.stringify({ sprites: [{ file: 'a'.repeat(64), name: 'Blob', x: 100, y: 600 }], next: 7 });
  const damages: Record<string, string | null> = {
    'cut in half': whole.slice(0, whole.length / 2),
    'full of zeros': '\0'.repeat(whole.length),
    'longer than a MiB': whole + ' '.repeat(1_048_577 - whole.length),
    'no file at all': null,
  };
  for (const [what, text] of Object.entries(damages)) {
    it(`is kept beside, and the user is told: ${what}`, async (test) => {
      const folder = await mkdtemp(join(tmpdir(), 'sprites-damaged-'));
      test.after(() => rm(folder, { recursive: true, force: true }));
      const path = join(folder, 'kept.json');
      if (text === null) mkdirSync(path);
      else writeFileSync(path, text);
      writeFileSync(`${path}.bad`, 'an earlier one');
      const ada = startHeadless(['--relay', 'http://127.0.0.1:9', '--folder', folder]);
      test.after(() => ada.quit());
      const line = await ada.waitForLine('it says so', ({ toast }) => toast === "A file can't be read");
      assert.match(line.text as string, /kept\.json can't be read: .*\. The whole file is kept as kept\.json\.bad2\.$/);
      ada.send(`take ${join(SPRITES, 'blob.spr')}`);
      await ada.until('there is a sprite', ({ sprites }) => sprites.length === 1);
      await ada.quit();
      assert.equal(JSON.parse(readFileSync(path, 'utf8')).sprites.length, 1);
      assert.equal(readFileSync(`${path}.bad`, 'utf8'), 'an earlier one');
      if (text === null) assert.deepEqual(await readdir(`${path}.bad2`), []);
      else assert.equal(readFileSync(`${path}.bad2`, 'utf8'), text);
    });
  }

  it('gives what is left of a damaged one, and keeps the whole beside', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'sprites-damaged-'));
    test.after(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'kept.json');
    const text = JSON.stringify({ sprites: [{ file: 'a'.repeat(64), name: 'Blob' }, { file: 'lost' }] });
    writeFileSync(path, text);
    const ada = startHeadless(['--relay', 'http://127.0.0.1:9', '--folder', folder]);
    test.after(() => ada.quit());
    const line = await ada.waitForLine('it says so', ({ toast }) => toast === "A file can't be read");
    assert.match(line.text as string, /^A part of .*kept\.json can't be read/);
    assert.equal((await ada.look()).sprites.length, 1);
    assert.equal(readFileSync(`${path}.bad`, 'utf8'), text);
  });
});
