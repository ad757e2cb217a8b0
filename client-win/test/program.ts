/** Runs a program of the client's build to its end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The folder of the client's sources. */
export const CLIENT_SOURCES = join(import.meta.dirname, '..');

/** Runs a program and returns its output. Fails, with the output, if the program fails. */
export function runProgram(program: string, args: readonly string[], cwd = CLIENT_SOURCES): string {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  assert.ok(status === 0, `${program} failed: ${error ?? signal ?? status}\n${stdout}\n${stderr}`.slice(-8000));
  return stdout;
}
