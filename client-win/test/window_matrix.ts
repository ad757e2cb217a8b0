/**
 * Makes a picture of each window of both programs, as people see them: light, dark and in high contrast, at 100 % and at 200 %.
 *
 *     node client-win/test/window_matrix.ts FOLDER [windows|linux]
 *
 * FOLDER gets a picture of the whole screen for each window, and a sheet with all of them for each system and look. Windows shows its
 * own dialogs in light colours, whatever the person has chosen for apps. Needs what the suites of Wine and X11 need, and ImageMagick.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RelayProcess, startRelay } from '../../server/test/relay_process.ts';
import { buildWindowsClient, buildX11Client, WINDOWS_CLIENT } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { WineDesktop, whyNoWine } from './wine_desktop.ts';
import { CYAN, RUNNER, spr } from './wine_sprites.ts';
import { eventually, type Screenshot, type XDisplay } from './x_display.ts';
import { whyNoX11, X11Desktop } from './x11_desktop.ts';

const SETTLE_MS = 1_000; // ms until a window has drawn all of itself
const LOOK_MS_MAX = 240_000; // ms for the windows of one system in one look
const DIALOG = 'About Sprites|Sprites(?! menu| notice| saying).*';
const SETTINGS = { name: 'Ada', world: 'matrix', sound: false, calm: true, greeted: true };
const SCALES = [100, 200]; // percent

/** The keys in the menu that open each window; none for the menu alone. */
const WINDOWS: Record<string, string[]> = {
  menu: [],
  settings: ['s'],
  say: ['y'],
  heard: ['w'],
  company: ['b', 'w'],
  name: ['c'],
  'open-link': ['o'],
  'how-to-play': ['h', 'h'],
  about: ['h', 'a'],
};

/** How each look is chosen: the theme of GTK, and colours of Windows. */
const LOOKS: Record<string, { theme: string; registry: string }> = {
  light: { theme: 'Adwaita', registry: '' },
  dark: {
    theme: 'Adwaita:dark',
    registry: `
[Software\\\\Microsoft\\\\Windows\\\\CurrentVersion\\\\Themes\\\\Personalize]
"AppsUseLightTheme"=dword:00000000
`,
  },
  contrast: {
    theme: 'HighContrast',
    registry: `
[Control Panel\\\\Accessibility\\\\HighContrast]
"Flags"="1"

[Control Panel\\\\Colors]
${Object.entries({
  ...{ Window: '0 0 0', ButtonFace: '0 0 0', Menu: '0 0 0', InfoWindow: '0 0 0', Background: '0 0 0' },
  ...{ WindowText: '255 255 255', MenuText: '255 255 255', InfoText: '255 255 255', ButtonText: '255 255 0' },
  ...{ GrayText: '63 242 63', Hilight: '26 235 255', HilightText: '0 0 0', ButtonShadow: '255 255 255' },
})
  .map(([name, colour]) => `"${name}"="${colour}"`)
  .join('\n')}
`,
  },
};

const [folder, ...systems] = process.argv.slice(2);
const needed = ensurePrograms(['montage'], ['imagemagick']) ? undefined : installHint(['imagemagick']);
const why = needed ?? whyNoWine() ?? whyNoX11() ?? buildWindowsClient() ?? buildX11Client();
if (folder === undefined || why) {
  console.error(why ?? 'Usage: node client-win/test/window_matrix.ts FOLDER [windows|linux]');
  process.exit(folder === undefined ? 2 : 1);
}
mkdirSync(folder, { recursive: true });
const relay: RelayProcess = await startRelay({ workers: 0 });
let failures = 0;
for (const system of systems.length > 0 ? systems : ['windows', 'linux']) {
  for (const look of Object.keys(LOOKS)) {
    for (const scale of SCALES) await shootAll(system, look, scale);
  }
}
await relay.stop();
process.exit(failures === 0 ? 0 : 1);

async function shootAll(system: string, look: string, scale: number): Promise<void> {
  const desktop = await (system === 'windows' ? startWindows(look, scale) : startLinux(look, scale));
  const late = new AbortController();
  const shots: string[] = [];
  const shoot = (name: string) => {
    const path = join(folder, `${system}-${look}-${scale}-${name}.png`);
    desktop.capture().save(path);
    shots.push('-label', name, path);
  };
  try {
    const tooLate = pause(LOOK_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new Error(`More than ${LOOK_MS_MAX / 1000} s`);
    });
    await Promise.race([shootEach(desktop, shoot), tooLate]);
  } catch (error) {
    failures++;
    shoot('failed');
    console.error(`${system}, ${look}, ${scale} %: ${error}`);
  } finally {
    late.abort();
    await desktop.stop();
  }
  const sheet = join(folder, `${system}-${look}-${scale}.png`);
  execFileSync('montage', [...shots, '-geometry', '640x400+4+4', '-tile', '3x', sheet], { timeout: 60_000 });
  console.log(sheet);
}

/** The window of a first start, then each of the windows of a program that has a sprite. */
async function shootEach(desktop: XDisplay, shoot: (name: string) => void): Promise<void> {
  const launch = () =>
    desktop instanceof WineDesktop ? desktop.launch(WINDOWS_CLIENT) : (desktop as X11Desktop).launch();
  const hasDialog = async () => (await desktop.frames(DIALOG)).length > 0;
  const first = launch();
  await eventually('it asks for a relay', hasDialog);
  await pause(SETTLE_MS);
  shoot('first-start');
  first.kill('SIGKILL');
  await eventually('the first one has ended', async () => !(await hasDialog()));
  desktop.writeSettings({ ...SETTINGS, relay: relay.url });
  desktop.keepSprite(spr(RUNNER), RUNNER.name, 200, 790);
  launch();
  await desktop.waitUntilStill('the sprite', sprite);
  for (const [name, keys] of Object.entries(WINDOWS)) {
    const isOpen = keys.length === 0 ? async () => true : hasDialog;
    if (desktop instanceof WineDesktop) await desktop.chooseInTray(keys, `${name} is open`, isOpen);
    else await (desktop as X11Desktop).chooseOf(sprite, ...keys);
    if (!(desktop instanceof WineDesktop && keys.length === 0)) await eventually(`${name} is open`, isOpen);
    await pause(SETTLE_MS);
    shoot(name);
    await desktop.press('Escape');
    await pause(SETTLE_MS / 4);
  }
}

/** The sprite, in whatever size. */
function sprite(screenshot: Screenshot) {
  return screenshot.find(CYAN);
}

function startWindows(look: string, scale: number): Promise<WineDesktop> {
  const pixels = `
[Control Panel\\\\Desktop]
"LogPixels"=dword:${((96 * scale) / 100).toString(16).padStart(8, '0')}
`;
  return WineDesktop.start(`matrix-${look}-${scale}`, 'openbox', LOOKS[look].registry + pixels);
}

async function startLinux(look: string, scale: number): Promise<X11Desktop> {
  const desktop = await X11Desktop.start(`matrix-${look}-${scale}`);
  Object.assign(desktop.env, { GTK_THEME: LOOKS[look].theme, GDK_SCALE: String(scale / 100) });
  return desktop;
}
