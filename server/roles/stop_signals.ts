/**
 * What tells the relay to stop: a signal, or the end of its launcher. relay.ts imports it before everything else, so one that comes while
 * the relay still starts stops it as soon as it has. A worker ignores them, because the master stops it; Ctrl-C in a terminal reaches all.
 */
import cluster from 'node:cluster';

const first = Promise.withResolvers<boolean>();

/** Resolves with the first of them, to whether the relay is to be started again. */
export const toldToStop: Promise<boolean> = first.promise;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => cluster.isPrimary && first.resolve(false));
}
if (cluster.isPrimary) {
  if (process.platform !== 'win32') process.on('SIGUSR2', () => first.resolve(true));
  // When the launcher dies, the relay stops as for a restart: its desktops are not sent to other relays.
  process.on('disconnect', () => first.resolve(true));
}
