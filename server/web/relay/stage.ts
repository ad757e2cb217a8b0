/**
 * The stage: what this desktop shows of itself to neighbours who peek, and when it has changed so much that it must be posted.
 *
 * A watcher moves each sprite on with its velocity, so a sprite that only moves on as the watcher expects is not a change.
 * Units: device-independent pixels, px/s, ms. Positions are whole pixels, as the relay passes them on.
 */
import { type Edge, STAGE_BYTES_MAX, STAGE_SPRITES_MAX, STAGE_TOLERANCE_PX } from '../../wire/rules.ts';
import { CLIMB_SPEED, distanceTo, type Mode, type Simulation, type Size, type Sprite } from '../motion/simulation.ts';
import { sizeBytes } from './sayings.ts';
import type { Stage, StageSprite } from './transport.ts';

export const STAGE_DEPTH = 480; // px from a watched edge: sprites farther away are not shown
export const STAGE_TOLERANCE = STAGE_TOLERANCE_PX; // px by which the place that a watcher sees may be wrong: the relay's default too

const STANDS_STILL: ReadonlySet<Mode> = new Set(['drag', 'sleep', 'climb', 'hang']);

/** Returns the sprites within STAGE_DEPTH of these edges. When they are too many, leaves out those farthest from the edges. */
export function stageOf(simulation: Simulation, edges: readonly Edge[], isShown: (file: string) => boolean): Stage {
  const { width, height } = simulation;
  const near = simulation.sprites
    .filter(({ file }) => isShown(file))
    .map((sprite) => ({ sprite, distance: Math.min(...edges.map((edge) => distanceTo(edge, sprite, simulation))) }))
    .filter(({ distance }) => distance <= STAGE_DEPTH)
    .sort((a, b) => a.distance - b.distance || a.sprite.id - b.sprite.id)
    .map(({ sprite }) => sprite);
  return fittingStage({ width: Math.round(width), height: Math.round(height) }, near, toStageSprite);
}

/** Returns a stage of this size with these sprites, each made by `show`; of too many the first ones, as many as a post may have. */
export function fittingStage<Shown extends { readonly file: string }>(
  { width, height }: Size,
  wanted: readonly Shown[],
  show: (sprite: Shown, file: number) => StageSprite,
): Stage {
  const shown = wanted.slice(0, STAGE_SPRITES_MAX);
  for (;;) {
    const files = [...new Set(shown.map(({ file }) => file))];
    const sprites = shown.map((sprite) => show(sprite, files.indexOf(sprite.file)));
    const stage = { width, height, files, sprites };
    if (sizeBytes(JSON.stringify(stage)) <= STAGE_BYTES_MAX - NUMBER_BYTES) return stage;
    shown.pop();
  }
}

/** Returns whether a watcher who got `posted` `passedMs` ago sees something else than `now`. */
export function isNews(posted: Stage, passedMs: number, now: Stage): boolean {
  if (posted.width !== now.width || posted.height !== now.height) return true;
  if (posted.sprites.length !== now.sprites.length) return true;
  const before = new Map(posted.sprites.map((sprite) => [sprite.id, sprite]));
  return now.sprites.some((sprite) => {
    const old = before.get(sprite.id);
    return old === undefined || looksDifferent(posted, old, now, sprite) || isElsewhere(old, passedMs, sprite);
  });
}

function looksDifferent(posted: Stage, old: StageSprite, now: Stage, sprite: StageSprite): boolean {
  const sameFile = posted.files[old.file ?? 0] === now.files[sprite.file ?? 0];
  return !sameFile || old.animation !== sprite.animation || old.facing !== sprite.facing || old.scale !== sprite.scale;
}

function isElsewhere({ x, y, vx = 0, vy = 0 }: StageSprite, passedMs: number, sprite: StageSprite): boolean {
  const seconds = passedMs / 1000;
  const off = [x + vx * seconds - sprite.x, y + vy * seconds - sprite.y];
  return off.some((px) => Math.abs(px) > STAGE_TOLERANCE);
}

/** Leaves out members that have their default value. */
function toStageSprite(sprite: Sprite, file: number): StageSprite {
  const { id, mode, facing, scale, nature } = sprite;
  const [x, y] = [Math.round(sprite.x), Math.round(sprite.y)];
  const vx = STANDS_STILL.has(mode) ? 0 : Math.round(sprite.vx);
  const climbing = mode === 'climb' ? -Math.round(nature.walkSpeed * CLIMB_SPEED) : 0;
  const vy = mode === 'fall' ? Math.round(sprite.vy) : climbing;
  return {
    id,
    x,
    y,
    ...(file !== 0 && { file }),
    ...(vx !== 0 && { vx }),
    ...(vy !== 0 && { vy }),
    ...(mode !== 'idle' && { animation: mode }),
    ...(facing !== 'right' && { facing }),
    ...(scale !== 1 && { scale }),
  };
}

/** The bytes of the number that a stage has on a socket: `"stage":9007199254740991,`. */
const NUMBER_BYTES = 26;
