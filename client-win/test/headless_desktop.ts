/**
 * A headless desktop of the client's core as a process of its own, told by commands and asked how things stand.
 *
 * Invariant: it ends with the test's process. Every answer of `look` is the state at that moment.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { HEADLESS } from '../../tools/build.js';

export interface SeenSprite {
  id: number;
  file: string;
  name: string;
  mode: string;
  x: number;
  y: number;
  vx: number;
  vy: number;
  /** dip, of its hitbox. */
  height: number;
  fromShelf: boolean;
  monitor: number;
  /** px: left, top, width, height of its frame. */
  drawn: [number, number, number, number];
  isParcel: boolean;
}

export interface Seen {
  desktop: string | null;
  link: 'joining' | 'connected' | 'broken';
  neighbours: Record<string, { desktop: string; name: string }> | null;
  onTheWay: number;
  waiting: number;
  sprites: SeenSprite[];
}

/** A line it printed by itself. */
export interface Told {
  [field: string]: unknown;
}

export interface HeadlessDesktop {
  readonly pid: number;
  /** Everything it told, oldest first, but for the answers of `look`. */
  readonly told: readonly Told[];
  say(command: string): void;
  look(): Promise<Seen>;
  /** Looks until it is so. Throws with the sentence and the last look when it never is. */
  until(sentence: string, condition: (seen: Seen) => boolean): Promise<Seen>;
  /** The first line it told, or will tell, that the predicate holds for. */
  hear(sentence: string, predicate: (told: Told) => boolean): Promise<Told>;
  quit(): Promise<number | null>;
}

export const SPRITES = join(import.meta.dirname, '../../server/web/sprites');

/** What has not come to be within this will not; ms. */
const PATIENCE_MS = 30_000;

const LOOK_PAUSE_MS = 15; // ms between two looks

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
  child.stdin.on('error', () => {}); // it has ended; who waits for it sees that
  const told: Told[] = [];
  const looks: ((seen: Seen) => void)[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    for (const line of lines.map((one) => JSON.parse(one))) {
      if ('sprites' in line) looks.shift()?.(line);
      else told.push(line);
    }
  });

  const say = (command: string) => void child.stdin.write(`${command}\n`);
  const look = () =>
    new Promise<Seen>((resolve, reject) => {
      looks.push(resolve);
      say('look');
      void ended.then((code) => reject(new Error(`The desktop has ended with ${code}.`)));
    });
  const until = async (sentence: string, condition: (seen: Seen) => boolean) => {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const seen = await look();
      if (condition(seen)) return seen;
      if (performance.now() > untilMs) {
        throw new Error(
          `It never came to be: ${sentence}\n${JSON.stringify(seen)}\n${JSON.stringify(told.slice(-20))}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
    }
  };
  const hear = async (sentence: string, predicate: (one: Told) => boolean) => {
    await until(sentence, () => told.some(predicate));
    return told.find(predicate)!;
  };
  const quit = () => {
    say('quit');
    return ended;
  };
  return { pid: child.pid!, told, say, look, until, hear, quit };
}

/** Drags a sprite along a straight line at so many px/s for 100 ms, and lets go. */
export function fling(desktop: HeadlessDesktop, { id, x, y }: SeenSprite, vx: number, vy: number): void {
  desktop.say(`grab ${id} ${x} ${y} 0`);
  for (let ms = 20; ms <= 100; ms += 20) desktop.say(`drag ${x + (vx * ms) / 1000} ${y + (vy * ms) / 1000} ${ms}`);
  desktop.say('release 100');
}
