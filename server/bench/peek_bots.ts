/**
 * The bots of the peek bench: a process with desktops of one private world, each on a WebSocket, that watch their right neighbour and show
 * three sprites each that sit, stand or walk.
 *
 * A bot posts what its watcher could not have predicted, ten times a second at most, and its sign of life, as PROTOCOL.md asks. With
 * noise its positions tremble, so that it posts every time. The argument is BotsOptions as JSON. It prints `begin` and `end` around the
 * window that is measured, and then its account.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { randomFrom } from '../../tools/bench/random.ts';
import { PEEK_LEASE_MS, STAGE_REFRESH_MS, STAGES_PER_SECOND_MAX } from '../wire/rules.ts';

export const BOTS = ['mixed', 'sitting', 'standing', 'walking'] as const;
export type Bots = (typeof BOTS)[number];

export interface BotsOptions {
  api: number;
  world: string;
  desktops: number;
  bots: Bots;
  /** Positions tremble by up to so many px along each axis. */
  noisePx: number;
  warmUpSeconds: number;
  seconds: number;
  seed: number;
}

/** What happened in the window. */
export interface BotsAccount {
  seconds: number;
  /** Steps of the bots, ten a second for each desktop; stages posted; answered 202; refused. */
  due: number;
  posted: number;
  accepted: number;
  refused: number;
  /** Stages that watchers got. */
  seen: number;
}

interface Joined {
  token: string;
  cursor: string;
  socket: string;
}

interface Sprite {
  id: number;
  x: number;
  y: number;
  vx: number;
  animation: string;
  facing: 'left' | 'right';
}

const SCREEN = { width: 1920, height: 1080 };
const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';
const STEP_MS = 1000 / STAGES_PER_SECOND_MAX;

/** Coordinates are whole: a prediction that is right may be this far off, in px. */
const ROUNDING_PX = 1;

/** How fast a bot walks in px/s, and how far. */
const WALK_SPEED = 60;
const WALK_PX = 240;

/** A standing bot turns around after so long. */
const TURN_MS = 4000;

/** How often a join is tried while the relay is busy, and the pause before the next try. */
const JOIN_TRIES_MAX = 60;
const JOIN_PAUSE_MS = 1000;

/** Joins on their way at once. */
const JOINS_AT_ONCE = 32;

class Bot {
  readonly #options: BotsOptions;
  readonly #account: BotsAccount;
  readonly #random: () => number;
  readonly #socket: WebSocket;
  readonly #phaseMs: number;
  readonly #kinds: readonly Exclude<Bots, 'mixed'>[];
  #timers: NodeJS.Timeout[] = [];
  #isWatched = false;
  #stages = 0;
  #posted: { sprites: Sprite[]; ms: number } | undefined;

  constructor(options: BotsOptions, account: BotsAccount, joined: Joined, random: () => number) {
    this.#options = options;
    this.#account = account;
    this.#random = random;
    this.#phaseMs = random() * 60_000;
    const { bots } = options;
    this.#kinds = bots === 'mixed' ? ['sitting', 'standing', 'walking'] : [bots, bots, bots];
    this.#socket = new WebSocket(joined.socket);
    this.#socket.on('open', () => {
      this.#send({ token: joined.token, cursor: joined.cursor });
      const peek = () => this.#send({ peek: 'right' });
      peek();
      this.#timers = [setInterval(peek, PEEK_LEASE_MS / 2)];
      // Bots do not step together.
      this.#timers.push(
        setTimeout(() => this.#timers.push(setInterval(() => this.#step(), STEP_MS)), random() * STEP_MS),
      );
    });
    this.#socket.on('message', (bytes) => this.#handle(JSON.parse(bytes.toString())));
    this.#socket.on('error', () => {});
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#socket.terminate();
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  // biome-ignore lint/suspicious/noExplicitAny: messages are those of PROTOCOL.md.
  #handle(message: any): void {
    if (message.stage !== undefined) {
      if (message.problem) this.#account.refused++;
      else this.#account.accepted++;
    }
    if (message.events === undefined) return;
    this.#send({ cursor: message.cursor });
    for (const event of message.events) {
      if (event.type === 'watched') this.#isWatched = event.edges.length > 0;
      else if (event.type === 'stage' && event.from !== undefined) this.#account.seen++;
    }
  }

  #step(): void {
    this.#account.due++;
    if (!this.#isWatched) return;
    const ms = performance.now();
    const sprites = this.#kinds.map((kind, id) => this.#spriteOf(kind, id, ms + this.#phaseMs));
    if (this.#isPredicted(sprites, ms)) return;
    this.#posted = { sprites, ms };
    this.#account.posted++;
    this.#send({ stage: ++this.#stages, ...SCREEN, files: [FILE], sprites });
  }

  #spriteOf(kind: Exclude<Bots, 'mixed'>, id: number, ms: number): Sprite {
    const { noisePx } = this.#options;
    const tremble = () => (2 * this.#random() - 1) * noisePx;
    const at = (x: number) => ({ id, x: Math.round(x + tremble()), y: Math.round(1000 + tremble()) });
    const x = SCREEN.width - 100 - id * 120;
    if (kind === 'sitting') return { ...at(x), vx: 0, animation: 'sleep', facing: 'right' };
    const isBack = Math.floor((ms + id * 1000) / TURN_MS) % 2 === 1;
    if (kind === 'standing') return { ...at(x), vx: 0, animation: 'idle', facing: isBack ? 'left' : 'right' };
    const walked = ((WALK_SPEED * ms) / 1000) % (2 * WALK_PX);
    const isReturning = walked > WALK_PX;
    const vx = isReturning ? -WALK_SPEED : WALK_SPEED;
    const offset = isReturning ? 2 * WALK_PX - walked : walked;
    return { ...at(x - WALK_PX + offset), vx, animation: 'walk', facing: isReturning ? 'left' : 'right' };
  }

  /** Whether a watcher could have predicted these sprites from those posted last. */
  #isPredicted(sprites: readonly Sprite[], ms: number): boolean {
    const before = this.#posted;
    if (before === undefined || ms - before.ms >= STAGE_REFRESH_MS) return false;
    const seconds = (ms - before.ms) / 1000;
    return sprites.every((sprite, index) => {
      const was = before.sprites[index];
      const isAlike = sprite.facing === was.facing && sprite.animation === was.animation;
      const [dx, dy] = [sprite.x - was.x - was.vx * seconds, sprite.y - was.y];
      return isAlike && Math.abs(dx) <= ROUNDING_PX && Math.abs(dy) <= ROUNDING_PX;
    });
  }
}

async function joinOne({ api, world }: BotsOptions): Promise<Joined> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`http://127.0.0.1:${api}/v1/desktops`, {
      method: 'POST',
      body: JSON.stringify({ world, screen: SCREEN, stage: true }),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: TypeError) => ({ status: undefined, text: String(error.cause) }));
    if (answer.status === 201) return JSON.parse(answer.text) as Joined;
    // Those that have joined already keep the relay busy. It may also have closed a connection that fetch uses again.
    const isBusy = answer.status === 503 || answer.status === undefined;
    if (!isBusy || tries === JOIN_TRIES_MAX)
      throw new Error(`a join was answered ${answer.status ?? 'by nothing'}: ${answer.text}`);
    await sleep(JOIN_PAUSE_MS);
  }
}

if (import.meta.main) {
  const options = JSON.parse(process.argv[2]) as BotsOptions;
  const account: BotsAccount = { seconds: 0, due: 0, posted: 0, accepted: 0, refused: 0, seen: 0 };
  const random = randomFrom(options.seed);
  const bots: Bot[] = [];
  while (bots.length < options.desktops) {
    const left = Math.min(JOINS_AT_ONCE, options.desktops - bots.length);
    // Its first poll must come soon, so its socket opens at once.
    const joined = await Promise.all(Array.from({ length: left }, () => joinOne(options)));
    for (const one of joined) bots.push(new Bot(options, account, one, random));
  }
  await sleep(options.warmUpSeconds * 1000);
  console.log('begin');
  const before = { ...account };
  const beganMs = performance.now();
  await sleep(options.seconds * 1000);
  const seconds = (performance.now() - beganMs) / 1000;
  const counts = Object.entries(account).map(([name, count]) => [name, count - before[name as keyof BotsAccount]]);
  console.log('end');
  console.log(JSON.stringify({ ...Object.fromEntries(counts), seconds }));
  for (const bot of bots) bot.end();
}
