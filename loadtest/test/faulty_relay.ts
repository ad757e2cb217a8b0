/** The engine's faulty relay as a process of its own: commits the faults it is told to, and tells how many. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ENGINE } from '../../tools/build.js';

const PROGRAM = join(dirname(ENGINE), 'faulty-relay');

export type Committed = Record<
  | 'accepted'
  | 'dropped'
  | 'duplicated'
  | 'misrouted'
  | 'wrongEdge'
  | 'refused'
  | 'muted'
  | 'cut'
  | 'delayed'
  | 'garbage',
  number
>;

export interface FaultyRelay {
  url: string;
  pid: number;
  /** Ends it; answers what it committed. */
  end(): Promise<Committed>;
}

/** `faults` as engine/faulty_relay.h has them: {'drop-every': 1000}. */
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
      const told = JSON.parse(String((await lines.next()).value));
      await ended;
      return told;
    },
  };
}
