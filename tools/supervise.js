/**
 * Supervision: starts a program, and starts it again when it dies without being told to, or asks for it.
 *
 * A program that asks for it with the message `replace` goes on while the next one loads beside it. When that says that it is `prepared`, the
 * first one is told, and ends; then the next one is told to `go`. When the next one ends before that, the first one is told that it has `failed`.
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

/** How long the next program may load, in ms: a hundred times what it takes. */
const LOADING_MS_MAX = 120_000;

/** What tells the program of this: `offered`, and `next` to the next one. */
const SUCCESSION = 'SPRITES_SUCCESSION';

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
  let startMs;
  /** The next program, which loads beside the child or waits for its end. */
  let next;
  let isPrepared = false;
  /** Ends a pause between two starts. Undefined while the program runs. */
  let endPause;
  const launch = (role) => {
    const env = { ...process.env, [SUCCESSION]: role };
    const launched = spawn(program, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
    launched.on('message', (message) => {
      if (message === 'ready') wasReady = true;
      else if (message === 'replace') loadNext();
      else if (message === 'prepared') {
        isPrepared = true;
        if (launched === child) tell(child, 'go');
        else tell(child, 'prepared');
      }
    });
    launched.on('error', (error) => {
      if (launched !== child) return nextEnded(error.message);
      say(`${program}: ${error.message}`);
      ended(1);
    });
    launched.on('exit', (status, signal) => {
      if (launched === child) childEnded(status, signal);
      else nextEnded(signal ?? `exit code ${status}`);
    });
    return launched;
  };
  const start = () => {
    startMs = performance.now();
    endPause = undefined;
    child = launch('offered');
  };
  const loadNext = () => {
    if (next || toldBy) return;
    const launched = launch('next');
    next = launched;
    isPrepared = false;
    const limit = setTimeout(() => launched.kill('SIGKILL'), LOADING_MS_MAX).unref();
    launched.on('message', (message) => message === 'prepared' && clearTimeout(limit));
  };
  const nextEnded = (why) => {
    next = undefined;
    if (toldBy) return;
    say(`The next relay ended too early (${why}).`);
    tell(child, 'failed');
  };
  const childEnded = (status, signal) => {
    // A signal that comes before the program has a handler ends it at once: it means the same.
    const code = signal === 'SIGUSR2' ? EXIT_RESTART : signal !== null && signal === toldBy ? 0 : status;
    const wasTold = toldBy !== undefined;
    deaths = performance.now() - startMs < STEADY_MS ? deaths + 1 : 1;
    const pauseMs = pauseAfter({ code, wasReady, wasTold, deaths });
    if (pauseMs === undefined) {
      if (!wasTold && code !== 0) sayWhyFinal(code, signal);
      next?.kill('SIGKILL');
      ended(code);
      return;
    }
    if (code === EXIT_RESTART) deaths = 0;
    const why = code === EXIT_RESTART ? '' : `The relay died (${signal ?? `exit code ${code}`}); `;
    if (next) {
      if (why) say(`${why}the next one goes on.`);
      startMs = performance.now();
      child = next;
      next = undefined;
      if (isPrepared) tell(child, 'go');
      return;
    }
    say(why ? `${why}starting it again in ${pauseMs / 1000} s.` : 'The relay is started again, as it was told.');
    const pause = setTimeout(start, pauseMs);
    endPause = () => {
      clearTimeout(pause);
      ended(code);
    };
  };
  const tell = (told, word) => {
    if (told.connected) told.send(word, () => {}); // one that ends meanwhile needs no word
  };
  const sayWhyFinal = (code, signal) => {
    if (wasReady) say(`The relay died (${signal ?? `exit code ${code}`}) too often; giving up.`);
    // One that ends by itself has said why.
    else if (signal)
      say(`The relay was killed (${signal}) before it was ready; by the kernel, if this machine is out of memory.`);
  };
  const stop = (signal) => {
    toldBy = signal === 'SIGHUP' ? 'SIGTERM' : signal; // the terminal has gone: that is no other end
    next?.kill('SIGKILL');
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
