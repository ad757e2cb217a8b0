/**
 * Plays the scenarios of behaviour.vectors.json in the browser's world. As a command it writes down what they come to:
 *
 *   node client-win/tools/vectors.ts        after a change of the rules; the diff is what changed for people
 *
 * The same file is played by core/motion/vectors_test.cc in the world of the Windows client. A world is stepped every FRAME_MS; what
 * the script says of a moment is done before that step, what is expected is looked at after it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as world from '../../server/web/simulation.ts';

export const VECTORS = fileURLToPath(new URL('../behaviour.vectors.json', import.meta.url));

export const FRAME_MS = 10;

type Nature = world.Nature;

/** A sprite as a scenario begins with it; what is left out is that of NATURE, standing still, with no will of its own. */
export interface Start extends Partial<Omit<world.Sprite, 'nature'>> {
  x: number;
  y: number;
  nature?: Partial<Nature>;
}

export type Action = { ms: number } & (
  | { do: 'grab'; sprite: number; x: number; y: number; at: number }
  | { do: 'drag'; x: number; y: number; at: number }
  | { do: 'release'; at: number }
  | { do: 'throw'; sprite: number; edge: world.Edge }
  | { do: 'steer'; sprite: number; key: 'left' | 'right' | 'jump' | 'drop'; down: boolean }
  | { do: 'ledges'; ledges: world.Ledge[] }
  | { do: 'pass'; wait: number }
  | ({ do: 'enter' } & world.Entrance & { nature?: Partial<Nature> })
  | { do: 'return' }
);

export interface Snapshot {
  ms: number;
  /** By the order in which they came into being; null: not here. */
  sprites: (Pick<world.Sprite, 'x' | 'y' | 'vx' | 'vy' | 'mode' | 'facing' | 'thrown'> | null)[];
}

export interface Left {
  ms: number;
  sprite: number;
  edge: world.Edge;
  at: number;
  vx: number;
  vy: number;
}

export interface Scenario {
  name: string;
  width: number;
  height: number;
  ledges?: world.Ledge[];
  calm?: boolean;
  /** Numbers taken in turn, for ever, or the seed of `lot`. */
  random: number[] | { seed: number };
  sprites: Start[];
  script: Action[];
  /** Moments to look at, ms. */
  look: number[];
  expect?: { at: Snapshot[]; left: Left[] };
}

export interface Vectors {
  nature: Nature;
  constants: Record<string, number>;
  scenarios: Scenario[];
}

export const readVectors = (): Vectors => JSON.parse(readFileSync(VECTORS, 'utf8'));

/** The numbers of simulation.ts that every desktop shares; what is the browser's own is left out. */
export function constants(): Record<string, number> {
  const own = new Set(['SPRITES_MAX']);
  return Object.fromEntries(
    Object.entries(world)
      .filter(([name, value]) => typeof value === 'number' && !own.has(name))
      .map(([name, value]) => [name, value as number])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Plays a scenario to its last moment. */
export function play(scenario: Scenario, nature: Nature): NonNullable<Scenario['expect']> {
  const random = Array.isArray(scenario.random) ? inTurn(scenario.random) : lot(scenario.random.seed);
  const here = world.createSimulation(scenario.width, scenario.height);
  here.ledges = scenario.ledges ?? [];
  here.calm = scenario.calm ?? false;
  const cast = scenario.sprites.map((start) => begin(here, start, nature));
  const at: Snapshot[] = [];
  const left: Left[] = [];
  const departures: world.Departure[] = [];
  let waitedMs = 0;
  const end = Math.max(...scenario.look, ...scenario.script.map(({ ms }) => ms));
  for (let ms = 0; ms <= end; ms += FRAME_MS) {
    for (const action of scenario.script.filter((one) => one.ms === ms)) {
      if (action.do === 'pass') waitedMs += action.wait;
      else act(here, cast, departures, action, nature);
    }
    for (const departure of world.step(here, ms + waitedMs, random)) {
      departures.push(departure);
      const { sprite, edge, at: share, vx, vy } = departure;
      left.push({ ms, sprite: cast.indexOf(sprite), edge, at: share, vx, vy });
    }
    if (scenario.look.includes(ms)) at.push({ ms, sprites: cast.map((sprite) => seen(here, sprite)) });
  }
  return { at, left };
}

function begin(here: world.Simulation, { nature: own, ...start }: Start, nature: Nature): world.Sprite {
  const sprite = world.addSprite(here, {
    ...{ file: '', name: '', scale: 1, fromShelf: true, facing: 'right' },
    ...{ nature: { ...nature, ...own }, x: start.x, y: start.y },
  });
  return Object.assign(sprite, { nextMs: 1e9 }, start);
}

function act(
  here: world.Simulation,
  cast: world.Sprite[],
  departures: world.Departure[],
  action: Action,
  nature: Nature,
): void {
  if (action.do === 'grab') world.grab(here, cast[action.sprite], action.x, action.y, action.at);
  else if (action.do === 'drag') world.drag(here, action.x, action.y, action.at);
  else if (action.do === 'release') world.release(here, action.at);
  else if (action.do === 'throw') world.throwTo(here, cast[action.sprite], action.edge);
  else if (action.do === 'steer') world.steer(here, cast[action.sprite], action.key, action.down);
  else if (action.do === 'ledges') here.ledges = action.ledges;
  else if (action.do === 'return') world.bounceBack(here, departures.at(-1)!);
  else if (action.do === 'enter') {
    const sprite = begin(here, { x: 0, y: 0, nature: action.nature }, nature);
    here.sprites.pop();
    cast.push(sprite);
    world.enter(here, sprite, action);
  }
}

function seen(here: world.Simulation, sprite: world.Sprite): Snapshot['sprites'][number] {
  if (!here.sprites.includes(sprite)) return null;
  const { x, y, vx, vy, mode, facing, thrown } = sprite;
  return { x, y, vx, vy, mode, facing, thrown };
}

function inTurn(numbers: number[]): () => number {
  let next = 0;
  return () => numbers[next++ % numbers.length];
}

/** Numbers in 0 … 1 that follow from a seed (mulberry32). */
function lot(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The file as it must be: what the scenarios come to now. */
function written({ nature, scenarios }: Vectors): string {
  const played = scenarios.map((scenario) => ({ ...scenario, expect: play(scenario, nature) }));
  return JSON.stringify({ nature, constants: constants(), scenarios: played });
}

if (import.meta.main) {
  writeFileSync(VECTORS, written(readVectors()));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', VECTORS], { stdio: 'inherit' });
}
