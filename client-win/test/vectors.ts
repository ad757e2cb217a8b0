/**
 * Plays the scenarios of behaviour.vectors.json in the browser's world. As a command it writes their results to the file:
 *
 *   node client-win/test/vectors.ts        after a change of the rules; the diff shows what changes for users
 *
 * core/motion/vectors_test.cc plays the same file in the Windows client's world. A world is stepped every FRAME_MS. The
 * actions of a moment are done before its step, and its expected state is compared after it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '../../server/test/random.ts';
import * as world from '../../server/web/motion/simulation.ts';
import { PLAYED, type Playing } from '../../server/wire/files/description.ts';
import type { Edge } from '../../server/wire/rules.ts';

export const VECTORS = fileURLToPath(new URL('../behaviour.vectors.json', import.meta.url));

export const FRAME_MS = 10;

type Nature = world.Nature;

/** A sprite at the start of a scenario. Missing members come from the file's `nature`; it stands still and never acts by itself. */
export interface Start extends Partial<Omit<world.Sprite, 'nature'>> {
  x: number;
  y: number;
  nature?: Partial<Nature>;
}

export type Action = { ms: number } & (
  | { do: 'grab'; sprite: number; x: number; y: number; at: number }
  | { do: 'drag'; x: number; y: number; at: number }
  | { do: 'release'; at: number }
  | { do: 'throw'; sprite: number; edge: Edge }
  | { do: 'speak'; sprite: number }
  | { do: 'wave'; sprite: number; facing: world.Facing }
  | { do: 'steer'; sprite: number; key: 'left' | 'right' | 'jump' | 'drop'; down: boolean }
  | { do: 'ledges'; ledges: world.Ledge[] }
  | { do: 'pass'; wait: number }
  | { do: 'point'; x: number; y: number }
  | ({ do: 'enter' } & world.Entrance & { nature?: Partial<Nature>; hops?: number })
  | { do: 'return' }
);

export interface Snapshot {
  ms: number;
  /** In the order in which they were added; null for a sprite that is not in the world. Without `animation` it is that of the mode. */
  sprites: (
    | (Pick<world.Sprite, 'x' | 'y' | 'vx' | 'vy' | 'mode' | 'facing' | 'thrown'> & { animation?: string })
    | null
  )[];
}

export interface Left {
  ms: number;
  sprite: number;
  edge: Edge;
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
  /** The local time, all the time. */
  hour?: number;
  /** Numbers used in turn, repeatedly, or the seed of `seededRandom`. */
  random: number[] | { seed: number };
  sprites: Start[];
  script: Action[];
  /** ms: the moments at which snapshots are taken. */
  look: number[];
  expect?: { at: Snapshot[]; left: Left[] };
}

export interface Vectors {
  nature: Nature;
  constants: Record<string, number>;
  /** How each animation is played: `instead` when a .spr lacks it, `once` when it stops at its last frame. */
  animations: Record<string, Playing>;
  scenarios: Scenario[];
}

export const readVectors = (): Vectors => JSON.parse(readFileSync(VECTORS, 'utf8'));

/** The constants of simulation.ts that all desktops share, without those of the browser alone. */
export function constants(): Record<string, number> {
  const browserOnly = new Set(['SPRITES_MAX']);
  return Object.fromEntries(
    Object.entries(world)
      .filter(([name, value]) => typeof value === 'number' && !browserOnly.has(name))
      .map(([name, value]) => [name, value as number])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Plays a scenario to its last moment. */
export function play(scenario: Scenario, nature: Nature): NonNullable<Scenario['expect']> {
  const random = Array.isArray(scenario.random) ? inTurn(scenario.random) : randomFrom(scenario.random.seed);
  const here = world.createSimulation(scenario.width, scenario.height);
  here.ledges = scenario.ledges ?? [];
  here.calm = scenario.calm ?? false;
  here.hour = scenario.hour ?? null;
  const cast = scenario.sprites.map((start) => addSprite(here, start, nature));
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

function addSprite(here: world.Simulation, { nature: own, ...start }: Start, nature: Nature): world.Sprite {
  const sprite = world.addSprite(here, {
    file: '',
    name: '',
    scale: 1,
    fromShelf: true,
    facing: 'right',
    nature: { ...nature, ...own },
    x: start.x,
    y: start.y,
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
  else if (action.do === 'speak') world.speak(here, cast[action.sprite]);
  else if (action.do === 'wave') world.wave(here, cast[action.sprite], action.facing);
  else if (action.do === 'steer') world.steer(here, cast[action.sprite], action.key, action.down);
  else if (action.do === 'point') world.point(here, action.x, action.y);
  else if (action.do === 'ledges') here.ledges = action.ledges;
  else if (action.do === 'return') world.bounceBack(here, departures.at(-1)!);
  else if (action.do === 'enter') {
    const { hops } = action;
    const journey = hops === undefined ? undefined : { hops, since: 0, by: '', from: [] };
    const sprite = addSprite(here, { x: 0, y: 0, nature: action.nature, journey }, nature);
    here.sprites.pop();
    cast.push(sprite);
    world.enter(here, sprite, action);
  }
}

function seen(here: world.Simulation, sprite: world.Sprite): Snapshot['sprites'][number] {
  if (!here.sprites.includes(sprite)) return null;
  const { x, y, vx, vy, mode, facing, thrown } = sprite;
  const animation = world.animationOf(sprite);
  return { x, y, vx, vy, mode, facing, thrown, ...(animation !== mode && { animation }) };
}

function inTurn(numbers: number[]): () => number {
  let next = 0;
  return () => numbers[next++ % numbers.length];
}

/** The content of the file with the current results. */
function updated({ nature, scenarios }: Vectors): string {
  const played = scenarios.map((scenario) => ({ ...scenario, expect: play(scenario, nature) }));
  return JSON.stringify({ nature, constants: constants(), animations: PLAYED, scenarios: played });
}

if (import.meta.main) {
  writeFileSync(VECTORS, updated(readVectors()));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', VECTORS], { stdio: 'inherit' });
}
