/** The desktop in the pictures of the programs: an evening sky, and windows. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../../server/test/relay_process.ts';
import type { WineDesktop } from '../test/wine_desktop.ts';
import { SCREEN, spawnQuietly, type XDisplay } from '../test/x_display.ts';

/** Draws the background: an evening sky and hills. Needs hsetroot and ImageMagick. `scratch`: a folder for its file. */
export async function decorate(desktop: XDisplay, scratch: string): Promise<void> {
  const path = join(scratch, 'sky.png');
  const hill = (colour: string, base: number, height: number, length: number, from: number) => {
    const points = Array.from({ length: 65 }, (_, i) => {
      return `${i * 20},${Math.round(base - height * Math.sin((i * 20 + from) / length))}`;
    });
    return ['-fill', colour, '-draw', `path 'M 0,800 L ${points.join(' ')} L 1280,800 Z'`];
  };
  execFileSync('convert', [
    ...['-size', `${SCREEN.width}x${SCREEN.height}`, 'gradient:#2b3a67-#e8a87c'],
    ...['-fill', '#ffe3b8', '-draw', 'circle 1010,330 1010,392'],
    ...hill('#6d6a8f', 560, 70, 190, 100),
    ...hill('#4f5d7e', 640, 60, 130, 420),
    ...hill('#37496b', 730, 40, 160, 700),
    path,
  ]);
  await desktop.run('hsetroot', '-cover', path);
}

/** Runs xdotool, which can do more with windows than the tests need, and returns its output. Throws if it fails. */
export async function xdotool(desktop: XDisplay, ...args: (string | number)[]): Promise<string> {
  return await desktop.output('xdotool', ...args.map(String));
}

/** Opens a terminal that shows a text. Needs xterm. It ends with its display. */
export function openTerminal(
  desktop: XDisplay,
  title: string,
  geometry: string,
  paper: string,
  ink: string,
  text: string,
): void {
  const font = ['-fa', 'DejaVu Sans Mono', '-fs', '11', '-b', '8', '-bg', paper, '-fg', ink];
  const show = ['-e', 'sh', '-c', `printf '\\033[?25l${text}'; sleep 600`];
  spawnQuietly('xterm', ['-geometry', geometry, ...font, '-T', title, ...show], desktop.env);
}

/** Starts a program of Windows and moves its window to a place; sets its size if there is one. */
export async function openProgram(
  desktop: WineDesktop,
  title: string,
  [x, y, ...size]: number[],
  ...command: string[]
): Promise<void> {
  desktop.launch(...command);
  await until(`${title} is open`, async () => {
    const id = (await xdotool(desktop, 'search', '--onlyvisible', '--name', title).catch(() => '')).split('\n')[0];
    if (id === '') return false;
    if (size.length === 2) await xdotool(desktop, 'windowsize', id, ...size);
    await xdotool(desktop, 'windowmove', id, x, y);
    return true;
  });
}
