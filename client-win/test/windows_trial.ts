/**
 * A trial on a real Windows: installs the program, starts it, throws between it and a second desktop, keeps a picture of the screen, uninstalls.
 *   npx node client-win/test/windows_trial.ts FOLDER
 * FOLDER has Sprites-Setup.exe and stand-in.exe, and gets screen.png. On Linux both run in the Wine and on the display of the environment.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { DesktopClient, sendRequest } from '../../server/test/desktop_client.ts';
import { startRelay, until } from '../../server/test/relay_process.ts';

const SPRITE = 'Sprite'; // the title of each sprite's window

const folder = process.argv[2];
const isWindows = process.platform === 'win32';
const local = isWindows
  ? (process.env.LOCALAPPDATA as string)
  : join(process.env.WINEPREFIX as string, 'drive_c/users', userInfo().username, 'AppData/Local');
const installed = join(local, 'Programs/Sprites');
const command = (program: string, args: string[]): [string, string[]] =>
  isWindows ? [program, args] : ['wine', [program, ...args]];
const run = (program: string, ...args: string[]) => execFileSync(...command(program, args), { stdio: 'inherit' });
const standIn = (...args: string[]) => run(join(folder, 'stand-in.exe'), ...args);

/** The picture in a BMP of stand-in.exe as PNG. */
function pngOf(bmp: Buffer): Buffer {
  const [start, width, height] = [bmp.readUInt32LE(10), bmp.readInt32LE(18), -bmp.readInt32LE(22)];
  const picture = new PNG({ width, height });
  for (let at = 0; at < 4 * width * height; at += 4) {
    const [blue, green, red] = bmp.subarray(start + at);
    picture.data.set([red, green, blue, 255], at);
  }
  return PNG.sync.write(picture);
}

run(join(folder, 'Sprites-Setup.exe'), '/S');
for (const name of ['Sprites.exe', 'Uninstall.exe', 'licences.txt']) assert.ok(existsSync(join(installed, name)), name);
console.log('The program is installed.');

const relay = await startRelay({ workers: 0 });
const metric = async (name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;
mkdirSync(join(local, 'Sprites'), { recursive: true });
writeFileSync(join(local, 'Sprites/settings.json'), JSON.stringify({ relay: relay.url, name: 'Ada', greeted: true }));
const program = spawn(...command(join(installed, 'Sprites.exe'), []), { stdio: 'ignore' });
await until('the program has joined the relay', async () => (await metric('desktops')) === 1);
const bob = await DesktopClient.join(relay.url, { name: 'Bob' });
console.log('Two desktops are at the relay.');

const thrown = await bob.throw('right', 'Cat');
assert.equal(thrown?.to?.name, 'Ada');
await until('the program has received it', async () => (await metric('acknowledged_total')) === 1);
standIn(join(folder, 'screen.bmp'), 'picture');
writeFileSync(join(folder, 'screen.png'), pngOf(readFileSync(join(folder, 'screen.bmp'))));
console.log('The program has received a sprite; the screen is in screen.png.');

await until('a sprite was dragged over the right edge', () => {
  standIn(SPRITE, 'throw');
  return bob.received.some(({ from }) => from.name === 'Ada');
});
console.log('The other desktop has received one of the program.');

run(join(installed, 'Uninstall.exe'), '/S');
await until('the program is removed', () => !existsSync(installed));
await until('it has left the relay', async () => (await metric('desktops')) === 1);
console.log('The program has ended, and is uninstalled.');
await bob.leave();
await sendRequest(`${relay.adminUrl}/admin/drain`, { method: 'POST', token: relay.adminToken });
await until('the program and the relay have ended', async () => {
  const hasRelay = await relay.metrics().then(
    () => true,
    () => false,
  );
  return program.exitCode !== null && !hasRelay;
});
await relay.stop();
