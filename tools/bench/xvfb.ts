/** An X server with a screen in memory, on a free display. It ends with the process that started it, whatever happens to that. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Before a command: it gets SIGINT when this process ends for any reason. */
export const BOUND = ['setpriv', '--pdeathsig', 'INT'] as const;

/** `args`: options of Xvfb, such as `-screen`. Resolves when it accepts connections to `display`, such as `:1`. */
export async function startXvfb(...args: string[]): Promise<{ server: ChildProcess; display: string }> {
  const [program, ...bound] = BOUND;
  const server = spawn(program, [...bound, 'Xvfb', '-displayfd', '3', '-nolisten', 'tcp', '-noreset', ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  server.unref();
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]!.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
    server.once('error', reject);
    server.once('close', (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  return { server, display: `:${number}` };
}
