/**
 * Makes two pictures of client-win/README.md in client-win/screenshots: x11.png shows the program for X11 above two windows, with
 * its menu; talk.png shows two desktops that talk.
 *
 *     node client-win/tools/x11_screenshot.ts
 *
 * Needs what the X11 suite needs, and hsetroot, xterm, xdotool and ImageMagick.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRelay, until } from '../../server/test/relay_process.ts';
import { buildClient, buildX11Client } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { startHeadless } from '../test/headless_desktop.ts';
import { whyNoX11, X11Desktop } from '../test/x11_desktop.ts';
import { decorate, openTerminal, xdotool } from './scene.ts';

const SHOTS = join(import.meta.dirname, '../screenshots');
const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');
const COLOURS = 255; // in the file: keeps 1280 × 800 px below 150 KB
const FALL_MS = 2_500; // ms until the sprites stand

const LETTER =
  'Dear Grace,\\n\\nMiso has been sleeping on this\\nwindow all morning. I will throw\\nhim over when he wakes up.\\n\\n   Ada\\n';
const TERMINAL =
  '\\033[1;36m\\n  $ npm start\\033[0m\\n\\n  Sprites is running.\\n\\n\\033[1;36m  $ npm run desktop\\033[0m\\n';

const PROGRAMS = ['hsetroot', 'xterm', 'convert', 'xdotool'];
const PACKAGES = ['hsetroot', 'xterm', 'imagemagick', 'xdotool'];
const missing = ensurePrograms(PROGRAMS, PACKAGES) ? undefined : installHint(PACKAGES);
const why = whyNoX11() ?? missing ?? buildX11Client() ?? buildClient();
if (why) {
  console.error(`The screenshot can't be made: ${why}.`);
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'sprites-x11-screenshot-'));
const relay = await startRelay({ workers: 0 });
const ada = await X11Desktop.start('screenshot');
const grace = startHeadless(['--relay', relay.url, '--name', 'Grace']);
try {
  await decorate(ada, scratch);
  openTerminal(ada, 'letter.txt', '46x14+60+330', '#fdfdfb', '#222222', LETTER);
  openTerminal(ada, 'Terminal', '34x10+900+440', '#1d2433', '#d8dee9', TERMINAL);
  await until('the windows are open', async () => (await ada.frames('Terminal')).length === 1);
  const places = {
    miso: [300, 200],
    bolt: [1010, 330],
    jolly: [260, 790],
    truffle: [410, 790],
    blob: [575, 790],
    pip: [1180, 790],
    ember: [130, 790],
  };
  for (const [name, [x, y]] of Object.entries(places)) {
    ada.keepSprite(readFileSync(join(CHARACTERS, `${name}.spr`)), name[0].toUpperCase() + name.slice(1), x, y);
  }
  ada.writeSettings({ relay: relay.url, name: 'Ada', calm: true, greeted: true });
  ada.launch();
  await grace.until('both have joined', ({ neighbours }) => neighbours?.left.name === 'Ada');
  await pause(FALL_MS);
  await xdotool(ada, 'mousemove', 600, 786, 'click', 3, 'sleep', 0.5, 'mousemove', 700, 400, 'sleep', 0.5);
  save('x11.png');
  await xdotool(ada, 'key', 'Escape');
  grace.send(`take ${join(CHARACTERS, 'wisp.spr')}`);
  const { sprites } = await grace.until('Grace has a sprite', (state) => state.sprites.length === 1);
  grace.send(`throw ${sprites[0].id} right`);
  await until('it is at Ada', async () => (await ada.frames('Sprite')).length === Object.keys(places).length + 1);
  await pause(FALL_MS);
  await xdotool(ada, 'mousemove', 577, 775, 'click', 3, 'sleep', 0.5, 'key', 'y', 'sleep', 0.8);
  // Bubbles are shown for a few seconds, so both say their line when it is typed.
  await xdotool(ada, 'type', '--delay', 20, 'Of course. There is room on my letter.');
  grace.send('say Hello Ada! May Wisp stay with you until tomorrow?');
  await xdotool(ada, 'mousemove', 700, 400, 'key', 'Return');
  await until('both have spoken', async () => (await ada.frames('Sprites saying')).length === 2);
  await xdotool(ada, 'type', '--delay', 5, 'Miso will not mind.');
  await pause(400);
  save('talk.png');
} finally {
  await grace.quit();
  await ada.stop();
  await relay.stop();
  rmSync(scratch, { recursive: true });
}

/** Saves what is on the screen now, with few colours. */
function save(name: string): void {
  const whole = join(scratch, 'whole.png');
  ada.capture().save(whole);
  execFileSync('convert', [whole, '-colors', `${COLOURS}`, '-strip', `png8:${join(SHOTS, name)}`]);
  console.log(join(SHOTS, name));
}
