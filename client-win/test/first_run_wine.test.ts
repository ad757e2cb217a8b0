/**
 * The first hour with the Windows program under Wine: the first start without an address, an installer that knows its relay,
 * links and invitations, hiding a picture, muting a neighbour.
 *
 * The relay is real, and the neighbour is played by the test. The suite saves screenshots to screenshots/.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildInstaller, buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { MAGENTA, onFloor, RUNNER, runner, spr, TARGET, target } from './wine_sprites.ts';
import { eventually } from './x_display.ts';

const SHOTS = join(import.meta.dirname, '../../screenshots');
const QUIET = { sound: false, calm: true, toasts: false, askBeforeClosing: false };
const WORLD = 'garden';
const ERROR = [176, 0, 32] as const; // kErrorColour in win32/system/dialog_look.cc

const skip = whyNoWine() ?? buildWindowsClient() ?? buildInstaller() ?? false;

interface Player {
  desktop: string;
  token: string;
  invitation: string;
}

describe('first run of the windows client', { skip, timeout: 900_000 }, () => {
  let relay: RelayProcess;
  let ada: WineDesktop;

  const desktops = async () => (await relay.metrics()).get('sprites_desktops');
  const request = (method: string, path: string, token = '', body?: object | Buffer) =>
    fetch(`${relay.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': body instanceof Buffer ? 'image/png' : 'application/json',
      },
      body: body instanceof Buffer ? new Uint8Array(body) : body && JSON.stringify(body),
    });

  async function joinAs(name: string, world?: string): Promise<Player> {
    const joined = await request('POST', '/v1/desktops', '', { name, world, screen: { width: 800, height: 600 } });
    assert.equal(joined.status, 201);
    const player = (await joined.json()) as Player;
    // A desktop that never polls ends after ten seconds, so this one is held by a poll.
    void fetch(`${relay.eventsUrl}/v1/desktops/${player.desktop}/events`, {
      headers: { authorization: `Bearer ${player.token}` },
    }).catch(() => {});
    return player;
  }

  async function look({ desktop, token }: Player): Promise<{ world: string; names: string[] }> {
    const { world, neighbours } = (await (await request('GET', `/v1/desktops/${desktop}`, token)).json()) as {
      world: string;
      neighbours: Record<string, { name: string }>;
    };
    return { world, names: Object.values(neighbours).map(({ name }) => name) };
  }

  async function leave({ desktop, token }: Player): Promise<void> {
    await request('DELETE', `/v1/desktops/${desktop}`, token);
  }

  /** Throws a sprite over the right edge of a player. */
  async function throwSprite({ desktop, token }: Player, bytes: Buffer, crossing: number): Promise<void> {
    const file = createHash('sha256').update(bytes).digest('hex');
    const stored = await request('PUT', `/v1/sprites/${file}`, token, bytes);
    assert.ok(stored.status === 201 || stored.status === 204);
    const sprite = { file, name: 'Guest', animation: 'fall', facing: 'right', scale: 2 };
    const body = { crossing, edge: 'right', at: 0.5, vx: 900, vy: 0, sprite };
    assert.equal((await request('POST', `/v1/desktops/${desktop}/crossings`, token, body)).status, 202);
  }

  /** Starts the program with these settings, and with no sprites unless it is the first start. */
  function startClient(given?: object): void {
    rmSync(ada.folder, { recursive: true, force: true });
    if (given) {
      ada.writeSettings({ ...QUIET, greeted: true, ...given });
      writeFileSync(join(ada.folder, 'kept.json'), '{}');
    }
    ada.launch(WINDOWS_CLIENT);
  }

  async function stopClient(): Promise<void> {
    await ada.run('wine', 'taskkill', '/im', 'Sprites.exe').catch(() => {});
    await eventually('it has ended', () => !ada.isRunning('Sprites.exe'));
  }

  const open = (link: string) => ada.run('wine', WINDOWS_CLIENT, '--link', link);

  before(async () => {
    mkdirSync(SHOTS, { recursive: true });
    relay = await startRelay({ workers: 0 });
    ada = await WineDesktop.start('first-run', 'openbox');
  });

  after(async () => {
    await ada?.stop();
    await relay?.stop();
  });

  it('asks in one window where to go when it has no address, says what is wrong, and joins', async () => {
    startClient();
    await ada.focusOn('Sprites');
    assert.equal(await desktops(), 0);
    const enter = async (address: string) => {
      await ada.press('alt+l', 'ctrl+a');
      await ada.type(address);
    };
    await enter('not an address');
    await ada.press('Return');
    await ada.waitFor('it says what is wrong', (screenshot) => screenshot.find(ERROR));
    assert.equal((await ada.frames('Sprites')).length, 1);
    assert.equal(await desktops(), 0);
    await enter(`${relay.url.replace('http://', '')}/?world=${WORLD}`);
    ada.capture().save(join(SHOTS, 'first-address.png'));
    await ada.press('alt+n');
    await ada.type('Ada');
    await ada.press('Return');
    await ada.isGone('Sprites');
    await eventually('it has joined', async () => (await desktops()) === 1);
    await eventually('the settings are saved', () => ada.settings().relay === relay.url);
    assert.deepEqual([ada.settings().name, ada.settings().world], ['Ada', WORLD]);
  });

  it('greets in a bubble on its first sprite', async () => {
    await ada.frame('Hello!.*');
    ada.capture().save(join(SHOTS, 'first-bubble.png'));
  });

  it('offers no link in that window which leads where it is already, such as the invitation that it has copied', async () => {
    const isCopied = async () => (await ada.clipboard()).includes('near=');
    await ada.chooseInTray(['i'], 'the invitation is copied', isCopied);
    const isOpen = async () => (await ada.frames('Sprites')).length > 0;
    await ada.chooseInTray(['o'], 'the window is open', isOpen);
    await ada.focusOn('Sprites');
    ada.capture().save(join(SHOTS, 'first-own-link.png'));
    await ada.press('Return');
    await ada.waitFor('an empty field is no link', (screenshot) => screenshot.find(ERROR));
    await ada.press('Escape');
    await ada.isGone('Sprites');
  });

  it('greets once, and then says what to do next', async () => {
    await ada.isGone('Hello!.*');
    await ada.frame('Now stroke me.*');
    await stopClient();
    await eventually('Ada has left', async () => (await desktops()) === 0);
  });

  it('goes to the relay that its installer came from, without a question', async () => {
    rmSync(ada.folder, { recursive: true, force: true });
    const answer = await fetch(`${relay.url}/download/Sprites-Setup.exe`);
    const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? '';
    const bytes = Buffer.from(await answer.arrayBuffer());
    const latest = (await (await fetch(`${relay.url}/client/latest.json`)).json()) as { sha256: string; size: number };
    assert.deepEqual(
      [latest.sha256, latest.size],
      [createHash('sha256').update(bytes).digest('hex'), bytes.length],
      'what the relay tells about it',
    );
    // As a browser names a second download of the same file.
    const renamed = name.replace(/\.exe$/, ' (1).exe');
    writeFileSync(join(ada.prefix, 'drive_c', renamed), bytes);
    await ada.run('wine', `C:\\${renamed}`, '/S');
    const program = join(ada.roaming, '../Local/Programs/Sprites');
    assert.deepEqual(readdirSync(program).sort(), ['Sprites.exe', 'Uninstall.exe', 'licences.txt']);
    ada.launch(join(program, 'Sprites.exe'));
    await eventually('it has joined that relay', async () => (await desktops()) === 1);
    assert.deepEqual(await ada.frames('Sprites'), []);
    await eventually('it remembers the relay', () => ada.settings().relay === relay.url);
    await stopClient();
    await ada.run('wine', join(program, 'Uninstall.exe'), '/S', '/PURGE=1');
    // The uninstaller continues in a copy of itself, which deletes the user's files last.
    await eventually('it is uninstalled', () => !existsSync(program) && !existsSync(ada.folder));
    await eventually('Ada has left', async () => (await desktops()) === 0);
  });

  it('opens an invitation of a friend: a second start hands the link to the first, which joins beside the friend', async () => {
    const grace = await joinAs('Grace', WORLD);
    startClient({ relay: relay.url, name: 'Ada' });
    await eventually('Ada is in commons', async () => (await desktops()) === 2);
    await open(`sprites:${relay.url}/#near=${grace.invitation}&world=${WORLD}`);
    await eventually('Ada sits beside Grace', async () => (await look(grace)).names.every((name) => name === 'Ada'));
    await eventually('the settings are saved', () => ada.settings().near === grace.invitation);
    await leave(grace);
    await stopClient();
  });

  it("goes to the friend's world when the invitation has ended", async () => {
    const grace = await joinAs('Grace', WORLD);
    const hedy = await joinAs('Hedy', WORLD);
    await leave(grace);
    startClient({ relay: relay.url, name: 'Ada' });
    await eventually('Ada is in commons', async () => (await desktops()) === 2);
    await open(`${relay.url}/#near=${grace.invitation}&world=${WORLD}`);
    await eventually('Ada is in the world', async () => (await look(hedy)).names.includes('Ada'));
    await eventually('the invitation is forgotten', () => ada.settings().near === '');
    await leave(hedy);
  });

  it('asks before a link takes it to another relay, and ignores a link that is none', async () => {
    await open('sprites:file:///C:/windows');
    await open('sprites:https://relay.example:8443/#world=elsewhere');
    await ada.focusOn('Sprites');
    ada.capture().save(join(SHOTS, 'first-move.png'));
    await ada.press('s');
    await ada.isGone('Sprites');
    assert.equal(ada.settings().relay, relay.url);
    assert.equal(await desktops(), 1);
    await stopClient();
  });

  it('hides a picture for good, and shows a parcel in its place', async () => {
    const grace = await joinAs('Grace', WORLD);
    startClient({ relay: relay.url, name: 'Ada', world: WORLD });
    await eventually('Ada is next door', async () => (await look(grace)).names.includes('Ada'));
    const bytes = spr({ ...TARGET, behaviour: { ...RUNNER.behaviour, walkSpeed: 0 } });
    await throwSprite(grace, bytes, 1);
    const many = (name: 'hidden' | 'muted') => ada.settings()[name]?.length;
    await ada.chooseOf(onFloor(target), ['h', 'Return'], 'it is hidden', () => many('hidden') === 1);
    await ada.waitFor('the picture is gone', (screenshot) => screenshot.find(MAGENTA) === undefined || undefined);
    await ada.count('Sprite', 1);
    assert.deepEqual(ada.settings().hidden, [createHash('sha256').update(bytes).digest('hex')]);
    await throwSprite(grace, bytes, 2);
    await ada.count('Sprite', 2);
    assert.equal(ada.capture().find(MAGENTA), undefined);

    // Another picture of the same neighbour.
    const other = spr({ ...RUNNER, behaviour: { ...RUNNER.behaviour, walkSpeed: 0 } });
    await throwSprite(grace, other, 3);
    await ada.chooseOf(onFloor(runner), ['m'], 'Grace is muted', () => many('muted') === 1);
    assert.equal(ada.settings().muted?.[0]?.name, 'Grace');
    await leave(grace);
    await stopClient();
  });
});
