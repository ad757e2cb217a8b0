/**
 * Supervision: starts a program, and starts it again when it dies without being told to, or asks for it.
 *
 * A program that asks for it with the message `replace` goes on while the next one loads beside it. What one says to the other is passed on. When
 * the first one says that it has `left`, or has ended, the next one is told to `go`. When the next one ends, the first one is told that it has
 * `failed`.
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
  const supervision = new Supervision(program, args, ended, say);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => supervision.stop(signal));
  if (process.platform !== 'win32') process.on('SIGUSR2', () => supervision.restart());
  if (endsWithParent) {
    const parent = process.ppid;
    const looks = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(looks);
      supervision.stop('SIGTERM');
    }, PARENT_LOOK_MS).unref();
  }
  supervision.start();
}

class Supervision {
  #program;
  #args;
  #ended;
  #say;
  #child;
  /** The next program, which loads beside the child or waits for its end. */
  #next;
  #isPrepared = false;
  /** The program before the child, which has left, and ends by itself. */
  #leaving;
  #startMs = 0;
  #wasReady = false;
  #deaths = 0;
  /** The signal that has told it to end. */
  #toldBy;
  /** Ends a pause between two starts. Undefined while the program runs. */
  #endPause;

  constructor(program, args, ended, say) {
    this.#program = program;
    this.#args = args;
    this.#ended = ended;
    this.#say = say;
  }

  start() {
    this.#startMs = performance.now();
    this.#endPause = undefined;
    this.#child = this.#launch('offered');
  }

  stop(signal) {
    this.#toldBy = signal === 'SIGHUP' ? 'SIGTERM' : signal; // the terminal has gone: that is no other end
    this.#next?.kill('SIGKILL');
    if (this.#endPause) this.#endPause();
    else this.#child.kill(this.#toldBy);
  }

  restart() {
    this.#child.kill('SIGUSR2');
  }

  #launch(role) {
    const env = { ...process.env, [SUCCESSION]: role };
    const launched = spawn(this.#program, this.#args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
    launched.on('message', (message) => {
      if (launched === this.#child) this.#hearChild(message);
      else if (launched === this.#next) this.#hearNext(message);
    });
    launched.on('error', (error) => {
      if (launched === this.#next) return this.#nextEnded(error.message);
      if (launched !== this.#child) return; // it has left
      this.#say(`${this.#program}: ${error.message}`);
      this.#ended(1);
    });
    launched.on('exit', (status, signal) => {
      if (launched === this.#child) this.#childEnded(status, signal);
      else if (launched === this.#next) this.#nextEnded(signal ?? `exit code ${status}`);
    });
    return launched;
  }

  #hearChild(message) {
    if (message === 'replace') this.#loadNext();
    else if (message === 'open') tell(this.#next, message);
    else if (message === 'left') this.#letNextGo();
    else if (message === 'prepared')
      tell(this.#child, 'go'); // the one before it has ended meanwhile
    else if (message === 'ready') {
      this.#wasReady = true;
      tell(this.#leaving, message);
    }
  }

  #hearNext(message) {
    if (message === 'prepared') this.#isPrepared = true;
    tell(this.#child, message);
  }

  #letNextGo() {
    if (!this.#next) return tell(this.#child, 'failed');
    this.#leaving = this.#child;
    this.#goOnWithNext('');
  }

  #loadNext() {
    if (this.#next || this.#toldBy) return;
    const launched = this.#launch('next');
    this.#next = launched;
    this.#isPrepared = false;
    const limit = setTimeout(() => launched.kill('SIGKILL'), LOADING_MS_MAX).unref();
    launched.on('message', (message) => message === 'prepared' && clearTimeout(limit));
  }

  #nextEnded(why) {
    this.#next = undefined;
    if (this.#toldBy) return;
    this.#say(`The next relay ended too early (${why}).`);
    tell(this.#child, 'failed');
  }

  #childEnded(status, signal) {
    tell(this.#leaving, 'failed');
    // A signal that comes before the program has a handler ends it at once: it means the same.
    const code = signal === 'SIGUSR2' ? EXIT_RESTART : signal !== null && signal === this.#toldBy ? 0 : status;
    const wasTold = this.#toldBy !== undefined;
    this.#deaths = performance.now() - this.#startMs < STEADY_MS ? this.#deaths + 1 : 1;
    const pauseMs = pauseAfter({ code, wasReady: this.#wasReady, wasTold, deaths: this.#deaths });
    if (pauseMs === undefined) {
      if (!wasTold && code !== 0) this.#sayWhyFinal(code, signal);
      this.#next?.kill('SIGKILL');
      this.#ended(code);
      return;
    }
    if (code === EXIT_RESTART) this.#deaths = 0;
    const why = code === EXIT_RESTART ? '' : `The relay died (${signal ?? `exit code ${code}`}); `;
    if (this.#next) this.#goOnWithNext(why);
    else this.#startAfter(pauseMs, why, code);
  }

  #goOnWithNext(why) {
    if (why) this.#say(`${why}the next one goes on.`);
    this.#startMs = performance.now();
    this.#child = this.#next;
    this.#next = undefined;
    if (this.#isPrepared) tell(this.#child, 'go');
  }

  #startAfter(pauseMs, why, code) {
    this.#say(why ? `${why}starting it again in ${pauseMs / 1000} s.` : 'The relay is started again, as it was told.');
    const pause = setTimeout(() => this.start(), pauseMs);
    this.#endPause = () => {
      clearTimeout(pause);
      this.#ended(code);
    };
  }

  #sayWhyFinal(code, signal) {
    if (this.#wasReady) this.#say(`The relay died (${signal ?? `exit code ${code}`}) too often; giving up.`);
    // One that ends by itself has said why.
    else if (signal)
      this.#say(
        `The relay was killed (${signal}) before it was ready; by the kernel, if this machine is out of memory.`,
      );
  }
}

function tell(told, word) {
  if (told?.connected) told.send(word, () => {}); // one that ends meanwhile needs no word
}
