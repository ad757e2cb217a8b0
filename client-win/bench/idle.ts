/**
 * Measures the CPU of idle programs, with 5, 50 and 150 sprites: those of Windows under Wine, and those of Linux under Xvfb.
 *
 *     node client-win/bench/idle.ts PROGRAM…
 *
 * The programs take turns. Each starts with the shipped characters side by side on the floor, none of them calm, without a relay. Prints
 * the milliseconds of CPU that each uses a second, and those of Wine's server: the median of all rounds, the least and the most.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WineDesktop } from '../test/wine_desktop.ts';
import { SCREEN } from '../test/x_display.ts';
import { X11Desktop } from '../test/x11_desktop.ts';

const COUNTS = [5, 50, 150];
const ROUNDS = 3;
const SETTLE_MS = 8_000; // until all have landed
const SAMPLE_MS = 6_000;
const TICK_MS = 10; // the unit of CPU times in /proc/PID/stat
const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');

const programs = process.argv.slice(2);
const characters = readdirSync(CHARACTERS).filter((name) => name.endsWith('.spr'));
const used = new Map<string, number[][]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const count of COUNTS) {
    for (const program of programs) {
      const key = `${program}, ${count} sprites`;
      used.set(key, [...(used.get(key) ?? []), await measure(program, count)]);
    }
  }
}
for (const [key, samples] of used) {
  const texts = ['program', "Wine's server"].slice(0, samples[0].length).map((name, i) => {
    const sorted = samples.map((sample) => sample[i]).sort((a, b) => a - b);
    return `${name} ${sorted[sorted.length >> 1]} (${sorted[0]} – ${sorted.at(-1)})`;
  });
  console.log(`${key}: ms a second: ${texts.join(', ')}`);
}

/** ms of CPU a second that a program uses, and Wine's server if it needs one. */
async function measure(program: string, count: number): Promise<number[]> {
  const isWindows = program.endsWith('.exe');
  const desktop = await (isWindows ? WineDesktop.start('idle', 'openbox') : X11Desktop.start('idle'));
  let child: ChildProcess | undefined;
  try {
    rmSync(desktop.folder, { recursive: true, force: true });
    desktop.writeSettings({ relay: 'http://127.0.0.1:9', name: 'Ada', greeted: true, sound: false });
    for (let i = 0; i < count; i++) {
      const file = characters[i % characters.length];
      desktop.keepSprite(
        readFileSync(join(CHARACTERS, file)),
        `${file} ${i}`,
        ((i + 0.5) * SCREEN.width) / count,
        SCREEN.height,
      );
    }
    child = spawn(isWindows ? 'wine' : program, isWindows ? [program] : [], { env: desktop.env, stdio: 'ignore' });
    await desktop.count('Sprite', count);
    await pause(SETTLE_MS);
    const pids = [child.pid!, ...(desktop instanceof WineDesktop ? [desktop.pids.at(-1)!] : [])];
    const before = pids.map(cpuMs);
    const from = performance.now();
    await pause(SAMPLE_MS);
    const seconds = (performance.now() - from) / 1_000;
    return pids.map((pid, i) => Math.round((cpuMs(pid) - before[i]) / seconds));
  } finally {
    child?.kill('SIGKILL');
    await desktop.stop();
  }
}

/** ms of CPU that a process has used so far. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return TICK_MS * (Number(fields[11]) + Number(fields[12]));
}
