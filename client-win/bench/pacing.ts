/**
 * `npm run bench:pacing`: what a tick of the desktop client's core costs, and how many frames it drops on screens of 60 to 165 Hz.
 *
 * The work, the clock and the timer are real; the screen and its compositor are simulated (test/core/pretend_display.h). It needs
 * a quiet machine, because other programs make frames late.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { machine } from '../../tools/bench/table.ts';
import { buildClient, CLIENT } from '../../tools/build.js';
import { type Command, duration, EXIT, runCommand, type Values, whole } from '../../tools/command.ts';

const OPTIONS = {
  sprites: whole('N', 'sprites on the desktop', [1, 300], 150),
  duration: duration('T', 'how long each screen is watched', [1, 600], 5),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run bench:pacing -- [options]'],
  about:
    "Measures a tick of the desktop client's core, and counts the frames that it drops on simulated screens of 60, 75, 120, 144\n" +
    'and 165 Hz while all sprites fly.',
  options: OPTIONS,
};

function bench({ sprites, duration }: Values<typeof OPTIONS>): number {
  const why = buildClient();
  if (why) throw new Error(`The client's core can't be built: ${why}`);
  console.log(machine());
  const run = (name: string, ...args: string[]) =>
    spawnSync(join(CLIENT, 'test', name), ['--sprites', String(sprites), ...args], { stdio: 'inherit' }).status;
  const isDone = run('ticks-bench') === 0 && run('pacing-bench', '--seconds', String(Math.ceil(duration))) === 0;
  return isDone ? EXIT.done : EXIT.failed;
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, ({ values }) => bench(values));
