/** Starts the engine's faulty relay as a process: it commits the faults it is configured for, and reports how many. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ENGINE } from '../../tools/build.js';

const PROGRAM = join(dirname(ENGINE), 'faulty-relay');

/** How often each fault was committed, by the names that engine/test/faulty_relay_main.cc prints. */
export type Committed = Record<string, number>;

export interface FaultyRelay {
  url: string;
  pid: number;
  /** Stops it. Returns the number of faults of each kind. */
  end(): Promise<Committed>;
}

/** `faults` are those of engine/test/faulty_relay.h: {'drop-every': 1000}. */
export async function startFaultyRelay(faults: Record<string, number> = {}): Promise<FaultyRelay> {
  const settings = Object.entries(faults).map(([name, value]) => `${name}=${value}`);
  const child = spawn(PROGRAM, settings, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const [port, pid] = String((await lines.next()).value)
    .split(' ')
    .map(Number);
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    end: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      const committed = JSON.parse(String((await lines.next()).value));
      await ended;
      return committed;
    },
  };
}
