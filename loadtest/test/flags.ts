/** Reads a command line of the swarm, for tests that need its settings. */
import { readCommandLine } from '../../tools/command.ts';
import { COMMAND } from '../bin/swarm.ts';
import type { Flags } from '../run/scenario.ts';

export function readFlags(argv: readonly string[]): Flags {
  const line = readCommandLine(COMMAND, argv);
  if (line === 'help') throw new Error('--help is not a setting');
  return line;
}
