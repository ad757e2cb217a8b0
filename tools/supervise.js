/**
 * Supervision: starts a program, and starts it again when it dies without being told to.
 *
 * Plain JavaScript for any Node from 18 on. The program says over IPC that it is ready; one that never was is not started again,
 * because what it lacked will be missing again. When this process dies, the program notices that its channel is closed, and stops, but not for good.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';

/** The exit code with which the program asks to be started again at once. */
export const EXIT_RESTART = 75;

/** The pause before it is started again, in ms; doubled for each death of a program that lived for less than STEADY_MS. */
export const RESTART_MS = 500;
export const RESTART_MS_MAX = 30_000;

/** A program that lived for so long had a good start, in ms. */
const STEADY_MS = 60_000;

/** Deaths in a row, each before STEADY_MS, after which it is given up: some two minutes. */
export const DEATHS_MAX = 10;

/** How often it looks whether its parent is still there, in ms: the ports of a relay that nobody stops are free soon. */
const PARENT_LOOK_MS = 1_000;

/** What to do after an end: undefined when it is final, else the pause in ms. `deaths` counts those in a row. */
export function pauseAfter({ code, wasReady, wasTold, deaths }) {
  if (wasTold || code === 0) return undefined;
  if (code === EXIT_RESTART) return 0;
  if (!wasReady) return undefined;
  return deaths > DEATHS_MAX ? undefined : Math.min(RESTART_MS * 2 ** (deaths - 1), RESTART_MS_MAX);
}

/**
 * Runs `program` with `args` and this process's files, again and again; then calls `ended` with its exit code, or null when a signal
 * ended it. Signals that stop or restart it are passed on. `say` gets a sentence for each death. `endsWithParent`: the program is
 * stopped when the parent of this process ends. npm ends without passing its signal on to what its shell has started.
 */
export function supervise(program, args, ended, { say = console.error, endsWithParent = false } = {}) {
  let wasReady = false;
  /** The signal that has told it to end. */
  let toldBy;
  let deaths = 0;
  let child;
  /** Ends a pause between two starts. Undefined while the program runs. */
  let endPause;
  const start = () => {
    const startMs = performance.now();
    endPause = undefined;
    child = spawn(program, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    child.on('message', (message) => {
      if (message === 'ready') wasReady = true;
    });
    child.on('error', (error) => {
      say(`${program}: ${error.message}`);
      ended(1);
    });
    child.on('exit', (status, signal) => {
      // A signal that comes before the program has a handler ends it at once: it means the same.
      const code = signal === 'SIGUSR2' ? EXIT_RESTART : signal !== null && signal === toldBy ? 0 : status;
      const wasTold = toldBy !== undefined;
      deaths = performance.now() - startMs < STEADY_MS ? deaths + 1 : 1;
      const pauseMs = pauseAfter({ code, wasReady, wasTold, deaths });
      if (pauseMs === undefined) {
        if (!wasTold && code !== 0) sayWhyFinal(code, signal);
        ended(code);
        return;
      }
      if (code === EXIT_RESTART) {
        deaths = 0;
        say('The relay is started again, as it was told.');
      } else say(`The relay died (${signal ?? `exit code ${code}`}); starting it again in ${pauseMs / 1000} s.`);
      const pause = setTimeout(start, pauseMs);
      endPause = () => {
        clearTimeout(pause);
        ended(code);
      };
    });
  };
  const sayWhyFinal = (code, signal) => {
    if (wasReady) say(`The relay died (${signal ?? `exit code ${code}`}) too often; giving up.`);
    // One that ends by itself has said why.
    else if (signal)
      say(`The relay was killed (${signal}) before it was ready; by the kernel, if this machine is out of memory.`);
  };
  const stop = (signal) => {
    toldBy = signal === 'SIGHUP' ? 'SIGTERM' : signal; // the terminal has gone: that is no other end
    if (endPause) endPause();
    else child.kill(toldBy);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
  if (endsWithParent) {
    const parent = process.ppid;
    const looks = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(looks);
      stop('SIGTERM');
    }, PARENT_LOOK_MS).unref();
  }
  if (process.platform !== 'win32') process.on('SIGUSR2', () => child.kill('SIGUSR2'));
  start();
}
