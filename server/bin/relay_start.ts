/** Reads the options, starts the relay as a master or as one of its workers, and stops it on a signal. */
import cluster from 'node:cluster';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { EXIT, Misused, makeFolder, runCommand, sentenceOf, throwIfReadOnly } from '../../tools/command.ts';
import { EXIT_RESTART } from '../../tools/supervise.js';
import { canListenBeside } from '../operator/workers.ts';
import { CLOSING_STEP_MS } from '../roles/closing.ts';
import { throwIfTaken } from '../roles/free_port.ts';
import { preparePrimary, startPrimary } from '../roles/primary.ts';
import { whenToldToStop } from '../roles/stop_signals.ts';
import { isNext, waitForTurn } from '../roles/succession.ts';
import { startWorker } from '../roles/worker_process.ts';
import { COMMAND, type Options, optionsOf } from './options.ts';

/** How long the ports of the process before may still be taken, in ms. */
const PORTS_MS_MAX = 5_000;

async function start(options: Options): Promise<void> {
  const log = pino({
    level: options.logLevel,
    base: { pid: process.pid, role: cluster.isPrimary ? 'master' : 'worker' },
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a fault of the relay; this process ends');
    process.exit(EXIT.failed);
  });
  if (cluster.isPrimary) await primary(options, log);
  else await startWorker(JSON.parse(process.env.SPRITES_WORKER as string), log);
}

async function primary(options: Options, log: pino.Logger): Promise<void> {
  makeFolder(options.data, '--data');
  throwIfReadOnly(options.data, '--data');
  makeFolder(dirname(options.adminTokenFile), '--admin-token-file');
  if (!isNext) await checkPorts(options);
  const prepared = await preparePrimary(options, log);
  const listens = await waitForTurn(canListenBeside(options) && prepared.workers.listenBeside);
  if (isNext && !listens) await whenFree(() => checkPorts(options));
  const relay = await startPrimary(options, prepared, log);
  whenToldToStop(relay.stop);
  relay.announce();
  // The launcher starts a relay that was ready again. Without it nobody would, and the ports would stay taken.
  process.send?.('ready');
  // For people; the log on stdout is for programs.
  console.error(`Sprites is running: open ${relay.url} in two windows, and throw.`);
  const preset = process.env.SPRITES_PRESET;
  if (preset) console.error(`V8 runs with ${process.execArgv.join(' ')} (${preset}).`);
  process.exit((await relay.stopped) ? EXIT_RESTART : EXIT.done);
}

/** Resolves when the ports are free: workers of the process before may still end. Throws Error when it takes too long. */
async function whenFree(check: () => Promise<void>): Promise<void> {
  const untilMs = performance.now() + PORTS_MS_MAX;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
    await sleep(CLOSING_STEP_MS);
  }
}

/** Throws Error that names the option whose port the relay can't listen on. */
async function checkPorts({ port, eventsPort, adminPort, host, adminHost }: Options): Promise<void> {
  await checkPort('--port', port, host);
  await checkPort('--events-port', eventsPort, host);
  await checkPort('--admin-port', adminPort, adminHost);
}

async function checkPort(option: string, port: number, host: string): Promise<void> {
  if (port === 0) return;
  await throwIfTaken(host, port).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${option}: ${whyNoPort(error, port, host)}`);
  });
}

function whyNoPort({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  if (code === 'EADDRINUSE') return `address already in use: another program listens on ${at}; choose another port`;
  if (code === 'EACCES') return `may not listen on ${at}: permission denied`;
  if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`;
  if (code === 'EAFNOSUPPORT')
    return `this machine has no IPv6, so it can't listen on ${host}; choose an IPv4 address, such as 0.0.0.0`;
  return message;
}

const code = await runCommand(COMMAND, async ({ values }) => {
  await start(optionsOf(values)).catch((error: Error) => {
    throw error instanceof Misused ? error : new Error(`The relay could not start: ${sentenceOf(error)}`);
  });
  return EXIT.done;
});
// What a start that failed has opened would keep the process alive. A worker that has started goes on.
if (code !== EXIT.done) process.exit(code);
process.exitCode = code;
