/** The relay's program: reads the options, plays its role, and stops on a signal. */
import cluster from 'node:cluster';
import pino from 'pino';
import { startPrimary } from '../roles/primary.ts';
import { startWorker } from '../roles/worker_process.ts';
import { help, Misused, type Options, readOptions } from './options.ts';

const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    console.log(help());
    return;
  }
  const log = pino({
    level: options.logLevel,
    base: { pid: process.pid, role: cluster.isPrimary ? 'master' : 'worker' },
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a fault of the relay; this process ends');
    process.exit(EXIT_FAILED);
  });
  if (cluster.isPrimary) await primary(options, log);
  else await startWorker(JSON.parse(process.env.SPRITES_WORKER as string), log);
}

async function primary(options: Options, log: pino.Logger): Promise<void> {
  const relay = await startPrimary(options, log);
  process.on('SIGTERM', relay.stop);
  process.on('SIGINT', relay.stop);
  // For people; the log on stdout is for programs.
  console.error(`Sprites is running: open ${relay.url} in two windows, and throw.`);
  const preset = process.env.SPRITES_PRESET;
  if (preset) console.error(`V8 runs with ${process.execArgv.join(' ')} (${preset}).`);
  await relay.stopped;
  process.exit(0);
}

// A worker is told by its master; a terminal's Ctrl-C reaches both.
if (cluster.isWorker) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

main().catch((error: Error) => {
  const misused = error instanceof Misused;
  console.error(misused ? error.message : `The relay could not start: ${error.message}.`);
  process.exit(misused ? EXIT_MISUSED : EXIT_FAILED);
});
