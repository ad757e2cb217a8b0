/** Starts the swarm's command as users do, or carries it out in this process, and reads its report. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCommand } from '../../tools/command.ts';
import { COMMAND, carryOut } from '../bin/swarm.ts';
import type { Report } from '../report/merge.ts';

const PROGRAM = join(import.meta.dirname, '../bin/swarm.ts');

/** A small crowd that begins to throw at once. */
export const SHORT: readonly string[] = ['--desktops', '40', '--settle', '0', '--warm-up', '200ms'];

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command to its end. `line` is called with each line of stderr. */
export async function swarm(
  args: readonly string[],
  line: (text: string, child: ChildProcess) => void = () => {},
): Promise<Ended> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const one of text.split('\n')) line(one, child);
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** What the command says in this process, to a command line that starts no run: a process takes half a second of a core to start. */
export async function said(args: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const code = await runCommand(COMMAND, carryOut, {
    argv: [...args],
    environment: {},
    print: (text) => {
      stdout += `${text}\n`;
    },
    complain: (text) => {
      stderr += `${text}\n`;
    },
  });
  return { code, stdout, stderr };
}

/** A folder for --out, which is removed after the test. */
export function folderOf(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-swarm-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function reportIn(folder: string): Report {
  return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
}
