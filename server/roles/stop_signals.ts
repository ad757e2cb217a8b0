/**
 * What tells the relay to stop: a signal, or the end of its launcher. relay.ts imports it before everything else, so one that comes while
 * the relay still starts stops it as soon as it has. A worker ignores them, because the master stops it; Ctrl-C in a terminal reaches all.
 */
import cluster from 'node:cluster';

/** Stops the relay; `again`: it is to be started again. */
type Stop = (again: boolean) => void;

const early: boolean[] = [];
let stop: Stop = (again) => early.push(again);

/** Calls `told` with each of them, also with those that have come already. */
export function whenToldToStop(told: Stop): void {
  stop = told;
  for (const again of early) told(again);
}

const tell = (again: boolean) => () => cluster.isPrimary && stop(again);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, tell(false));
if (process.platform !== 'win32') process.on('SIGUSR2', tell(true));
// When the launcher dies, the relay stops as for a restart: its desktops are not sent to other relays.
if (cluster.isPrimary) process.on('disconnect', tell(true));
