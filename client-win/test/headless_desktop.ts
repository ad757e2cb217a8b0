/**
 * A headless desktop, the client's core, as a child process: tests send it commands and look at its state.
 *
 * Invariant: it ends when the test's process ends. Each result of `look` is the state at that moment.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { HEADLESS } from '../../tools/build.js';

export interface SpriteState {
  id: number;
  file: string;
  name: string;
  mode: string;
  x: number;
  y: number;
  vx: number;
  vy: number;
  /** dip: the height of its hitbox. */
  height: number;
  fromShelf: boolean;
  monitor: number;
  /** px: left, top, width and height of its frame. */
  drawn: [number, number, number, number];
  isParcel: boolean;
}

export interface DesktopState {
  desktop: string | null;
  link: 'joining' | 'connected' | 'broken';
  neighbours: Record<string, { desktop: string; name: string }> | null;
  onTheWay: number;
  waiting: number;
  sprites: SpriteState[];
  /** What is seen beyond the edge that it looks over, lowest first: px of what is shown. */
  beyond: { isPane: boolean; file: string; shown: [number, number, number, number] }[];
  /** The edges through which somebody watches it. */
  watched: string[];
  showsStage: boolean;
  /** Newest first. */
  bubbles: { name: string; text: string; atSprite: boolean; edge?: string }[];
}

/** A line that it printed, other than the state after `look`. */
export interface Line {
  [field: string]: unknown;
}

export interface HeadlessDesktop {
  readonly pid: number;
  /** All lines it has printed, oldest first, without the states after `look`. */
  readonly lines: readonly Line[];
  /** Sends a command. */
  send(command: string): void;
  look(): Promise<DesktopState>;
  /** Looks until the condition holds. Throws, with the sentence and the last state, if it does not in time. */
  until(sentence: string, condition: (state: DesktopState) => boolean): Promise<DesktopState>;
  /** The first line that it has printed, or will print, for which the predicate holds. */
  waitForLine(sentence: string, predicate: (line: Line) => boolean): Promise<Line>;
  quit(): Promise<number | null>;
}

export const SPRITES = join(import.meta.dirname, '../../server/web/sprites');

/** ms a condition may take to come true. */
const WAIT_MS_MAX = 60_000;

const POLL_MS = 15; // ms between two looks

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startHeadless(args: readonly string[], program: string = HEADLESS): HeadlessDesktop {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  child.stdin.on('error', () => {}); // the process has ended, which `look` and `quit` report
  const printed: Line[] = [];
  const looks: ((state: DesktopState) => void)[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    for (const line of lines.map((one) => JSON.parse(one))) {
      if ('sprites' in line) looks.shift()?.(line);
      else printed.push(line);
    }
  });

  const send = (command: string) => void child.stdin.write(`${command}\n`);
  const look = () =>
    new Promise<DesktopState>((resolve, reject) => {
      looks.push(resolve);
      send('look');
      void ended.then((code) => reject(new Error(`The desktop has ended with ${code}.`)));
    });
  const until = async (sentence: string, condition: (state: DesktopState) => boolean) => {
    const untilMs = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const state = await look();
      if (condition(state)) return state;
      if (performance.now() > untilMs) {
        throw new Error(
          `Not within ${WAIT_MS_MAX} ms: ${sentence}\n${JSON.stringify(state)}\n${JSON.stringify(printed.slice(-20))}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  const waitForLine = async (sentence: string, predicate: (line: Line) => boolean) => {
    await until(sentence, () => printed.some(predicate));
    return printed.find(predicate)!;
  };
  const quit = () => {
    send('quit');
    return ended;
  };
  return { pid: child.pid!, lines: printed, send, look, until, waitForLine, quit };
}

/** Drags a sprite along a straight line at (vx, vy) px/s for 100 ms and releases it. */
export function fling(desktop: HeadlessDesktop, { id, x, y }: SpriteState, vx: number, vy: number): void {
  desktop.send(`grab ${id} ${x} ${y} 0`);
  for (let ms = 20; ms <= 100; ms += 20) desktop.send(`drag ${x + (vx * ms) / 1000} ${y + (vy * ms) / 1000} ${ms}`);
  desktop.send('release 100');
}
