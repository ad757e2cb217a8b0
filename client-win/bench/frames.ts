/**
 * Measures the cost of a frame of N sprites under Wine, and which process uses the CPU: the program itself, Wine's server,
 * the X server or the compositor.
 *
 *     node client-win/bench/frames.ts [N]
 *
 * Prints the output of frames-bench.exe and the seconds of CPU by process. On Windows, the shares of Wine and X do not exist.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { WineDesktop, whyNoWine } from '../test/wine_desktop.ts';

const TICKS_PER_SECOND = 100; // the unit of CPU times in /proc/PID/stat
const PROCESSES = ['frames-bench.ex', 'wineserver64', 'wineserver', 'Xvfb', 'picom', 'openbox'];

const why = whyNoWine() ?? buildWindowsClient();
if (why) {
  console.error(`The bench can't run: ${why}.`);
  process.exit(1);
}
const sprites = process.argv[2] ?? '150';
const scratch = mkdtempSync(join(tmpdir(), 'sprites-frames-'));
const desktop = await WineDesktop.start('shell');
try {
  const wine = execFileSync('wine', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  console.log(`${cpus().length} × ${cpus()[0].model}, ${wine}`);
  for (const what of ['thrown', 'rest']) await measure(what);
} finally {
  await desktop.stop();
  rmSync(scratch, { recursive: true });
}

async function measure(what: string): Promise<void> {
  const printed = join(scratch, `${what}.txt`);
  const times = join(scratch, `${what}.cpu`);
  const bench = join(dirname(WINDOWS_CLIENT), 'frames-bench.exe');
  const before = cpuSeconds();
  // /proc has no CPU times of a process that has ended, so its parent shell prints those of its children.
  await desktop.run('bash', '-c', `wine '${bench}' ${sprites} ${what} > '${printed}'; times > '${times}'`);
  const after = cpuSeconds();
  const [, minutes, own, , kernelMinutes, kernel] = /\n(\d+)m([\d.]+)s( )(\d+)m([\d.]+)s/.exec(
    readFileSync(times, 'utf8'),
  )!;
  console.log(readFileSync(printed, 'utf8').trim());
  const shares = [...after].map(([name, now]) => [name, now - (before.get(name) ?? 0)] as const);
  const program = 60 * (Number(minutes) + Number(kernelMinutes)) + Number(own) + Number(kernel);
  const all = [['the program', program] as const, ...shares.filter(([, used]) => used >= 0.05)];
  console.log(`  seconds of CPU: ${all.map(([name, used]) => `${name} ${used.toFixed(1)}`).join(', ')}`);
}

/** The seconds of CPU that each of this desktop's processes has used so far. */
function cpuSeconds(): Map<string, number> {
  const used = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      if (!PROCESSES.includes(name) || !isOfThisDesktop(pid)) continue;
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      used.set(name, (used.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
    } catch {
      // The process has ended in the meantime.
    }
  }
  return used;
}

/** Whether a process belongs to this desktop: it is a child of this process or uses its prefix. */
function isOfThisDesktop(pid: string): boolean {
  if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`WINEPREFIX=${desktop.prefix}`)) return true;
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1] === String(process.pid);
}
