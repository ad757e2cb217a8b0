/**
 * What a frame of N sprites costs under Wine, and which process pays: the program itself, Wine's server, the X server, and
 * the compositor.
 *
 *     node client-win/tools/frames_bench.ts [N]
 *
 * Prints what frames-bench.exe says, and seconds of CPU by process. Wine's and X's share is none of Windows'.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildWindowsClient, WINDOWS_CLIENT } from '../../tools/build.js';
import { noWine, WineDesktop } from '../test/wine_desktop.ts';

const TICKS_PER_SECOND = 100; // of /proc/PID/stat, on every Linux
const PROCESSES = ['frames-bench.ex', 'wineserver64', 'wineserver', 'Xvfb', 'picom', 'openbox'];

const why = noWine() ?? buildWindowsClient();
if (why) {
  console.error(`No bench: ${why}.`);
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
  const said = join(scratch, `${what}.txt`);
  const spent = join(scratch, `${what}.cpu`);
  const bench = join(dirname(WINDOWS_CLIENT), 'frames-bench.exe');
  const before = seconds();
  // The program is gone before it can be asked, so its shell tells what its children took.
  await desktop.run('bash', '-c', `wine '${bench}' ${sprites} ${what} > '${said}'; times > '${spent}'`);
  const after = seconds();
  const [, minutes, own, , kernelMinutes, kernel] = /\n(\d+)m([\d.]+)s( )(\d+)m([\d.]+)s/.exec(
    readFileSync(spent, 'utf8'),
  )!;
  console.log(readFileSync(said, 'utf8').trim());
  const shares = [...after].map(([name, now]) => [name, now - (before.get(name) ?? 0)] as const);
  const program = 60 * (Number(minutes) + Number(kernelMinutes)) + Number(own) + Number(kernel);
  const all = [['the program', program] as const, ...shares.filter(([, taken]) => taken >= 0.05)];
  console.log(`  seconds of CPU: ${all.map(([name, taken]) => `${name} ${taken.toFixed(1)}`).join(', ')}`);
}

/** What each of this desktop's processes has used so far. */
function seconds(): Map<string, number> {
  const used = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      if (!PROCESSES.includes(name) || !isOfThisDesktop(pid)) continue;
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      used.set(name, (used.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
    } catch {
      // It has ended meanwhile.
    }
  }
  return used;
}

/** Others may have a desktop of their own: these descend from this process, or serve its prefix. */
function isOfThisDesktop(pid: string): boolean {
  if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`WINEPREFIX=${desktop.prefix}`)) return true;
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1] === String(process.pid);
}
