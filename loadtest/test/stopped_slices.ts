/**
 * A swarm on a machine that is too busy: a run whose slices are stopped and continued at random, beside processes that never idle.
 *
 * Such a run may be slow and skip throws, and it says so. It must never say that a correct relay lost or doubled a sprite.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Report } from '../report/merge.ts';
import { reportIn, swarm } from './command.ts';

/** The longest stop: it can cover the end of the window and the end of the drain. */
const STOP_MS_MAX = 3000;
const PAUSE_MS_MAX = 1200;

/** Runs the swarm with these arguments, beside `busyProcesses`. `random` returns numbers from 0 to 1; `stops` counts what was done. */
export async function runStopped(
  args: readonly string[],
  out: string,
  random: () => number,
  busyProcesses = 0,
): Promise<{ report: Report; stops: number; stderr: string }> {
  const busy = Array.from({ length: busyProcesses }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  let stops = 0;
  let isOver = false;
  let stopping: Promise<void> | undefined;
  const stopAtRandom = async (command: ChildProcess) => {
    while (!isOver) {
      await pause(random() * PAUSE_MS_MAX);
      const stopped = slicesOf(command.pid as number).filter(() => random() < 0.6);
      if (stopped.length > 0) stops++;
      for (const pid of stopped) signal(pid, 'SIGSTOP');
      await pause(random() * STOP_MS_MAX);
      for (const pid of stopped) signal(pid, 'SIGCONT');
    }
  };
  try {
    const { stderr } = await swarm([...args, '--out', out], (line, command) => {
      if (/ (measure|warm-up) /.test(line)) stopping ??= stopAtRandom(command);
    });
    return { report: reportIn(out), stops, stderr };
  } finally {
    isOver = true;
    await stopping;
    for (const one of busy) one.kill('SIGKILL');
  }
}

/** The slices: the children of the engine, which is a child of the command. */
function slicesOf(command: number): number[] {
  const engine = childrenOf(command).find((pid) => nameOf(pid) === 'swarm-engine');
  return engine === undefined ? [] : childrenOf(engine);
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`).trim();
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
