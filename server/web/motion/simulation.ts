/**
 * The physics of the sprites in one window: they walk, fall, bounce, climb and sleep, and are dragged and thrown.
 *
 * A function of its state, the time and the random numbers it is given; it uses no DOM and no clock. Sprites stand on the
 * floor and on ledges. Only a thrown sprite crosses an edge, so a walking sprite is never lost. `step` returns the sprites
 * that crossed and removes them from the simulation.
 * Units: device-independent pixels, px/s, ms. A sprite's x is the middle of its hitbox, its y the foot.
 * The rules and numbers are those of client-win/BEHAVIOUR.md. Tests play behaviour.vectors.json on this file and on the
 * Windows client.
 * Cost: O(n²) for collisions of n sprites, own ones and guests, a few hundred comparisons per step; no allocation while nothing happens.
 */
import { EDGES, type Edge, type EdgeNumber, opposite as oppositeNumber } from '../../wire/rules.ts';

export type Facing = 'left' | 'right';
export type Mode = 'idle' | 'walk' | 'fall' | 'drag' | 'land' | 'climb' | 'sleep' | Gesture | 'hang';
/** What a sprite does on its feet besides walking and resting. */
export type Gesture = 'sit' | 'pet' | 'yawn' | 'look' | 'wave' | 'greet';

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** The size and the movement of a sprite, scaled to device-independent pixels. */
export interface Nature {
  width: number;
  height: number;
  walkSpeed: number;
  jumpSpeed: number;
  gravity: number;
  bounce: number;
  /** That it hops instead of walking, 0 … 1. */
  hopChance: number;
}

/** What a sprite keeps wherever it goes, so what a crossing carries of it; `carriedOf` of relay/journey.ts picks it. */
export interface Carried {
  file: string;
  readonly name: string;
  scale: number;
  facing: Facing;
  /** Before the next throw; absent before the first. */
  readonly journey?: Journey;
}

export interface Sprite extends Carried {
  readonly id: number;
  /** It came from this desktop's shelf, so it may go back there. All others belong to the world. */
  readonly fromShelf: boolean;
  nature: Nature;
  x: number;
  y: number;
  vx: number;
  vy: number;
  mode: Mode;
  /** When the present mode began. */
  sinceMs: number;
  /** When it does something else by itself. */
  nextMs: number;
  /** When a person or another sprite last touched it. */
  touchedMs: number;
  /** In flight since a throw: it may cross an edge. */
  thrown: boolean;
  /** Thrown downwards so hard that it passes through the floor. */
  throughFloor: boolean;
  /** Thrown so hard that it bounced: it tumbles until it lands. */
  tumbles: boolean;
  /** It hit the ground so hard, in this flight or the last one, that it is squashed when it lands. */
  squashed: boolean;
  /** It came in over an edge and has not landed yet. */
  arriving: boolean;
  /** Somebody waved at it when it arrived: it greets after its landing. */
  greets: boolean;
  /** How often it was thrown in a row, on its journey too, and when for the last time. */
  throws: number;
  thrownMs: number;
  /** How often it still turns while it reels, because it is dizzy. */
  reels: number;
  /** The side from which it came; null for one from above or below, or at home. */
  cameBy: Facing | null;
  /** It walks to where it came from, because it has long been alone. */
  longs: boolean;
  /** It has just come home: it hops and greets. */
  isHome: boolean;
  /** The speed of its walk, in walking speeds. */
  pace: number;
  /** The id of the sprite that it chases; 0 for none. */
  chases: number;
  /** It walks to a corner to sleep there. */
  sleepy: boolean;
}

/** A surface to stand on: the top edge of a card on the page. */
export interface Ledge {
  left: number;
  right: number;
  y: number;
}

export interface Simulation {
  width: number;
  height: number;
  sprites: Sprite[];
  ledges: readonly Ledge[];
  /** No sprite walks by itself (prefers-reduced-motion). */
  calm: boolean;
  held: { sprite: Sprite; dx: number; dy: number; trail: PointerPoint[] } | null;
  /** The local time in hours, 0 … 24, or null when it is not known. Sprites are tired in the evening. */
  hour: number | null;
  /** The pointer while it holds nothing: where it last moved, over which sprite, and how far it has stroked that one. */
  pointer: (PointerPoint & { over: Sprite | null; stroked: number }) | null;
  /** The sprite that the arrow keys move, and which of the keys are down. */
  steered: { sprite: Sprite; left: boolean; right: boolean; jump: boolean } | null;
  nowMs: number;
  nextId: number;
}

export interface PointerPoint extends Point {
  ms: number;
}

/** Who a sprite is thrown to, and how many columns to the right and rows down that is from where it enters. The simulation does not read it. */
export interface Goal {
  name: string;
  column: number;
  row: number;
}

/** On how many desktops a sprite has been, since when (s since 1970), who drew it, and who threw it last. The simulation reads `hops`. */
export interface Journey {
  hops: number;
  since: number;
  by: string;
  /** The newest last. A person may leave the own name out. */
  from: string[];
}

/** How a sprite enters: over which edge, where along it, and how fast. `at` is 0 … 1, from the left or the top. */
export interface Entrance {
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
  /** Absent when nobody in particular is meant. */
  goal?: Goal;
  /** It comes home. Not in what is sent. */
  isHome?: boolean;
}

/** A sprite that left, likewise. */
export interface Departure extends Entrance {
  sprite: Sprite;
  /** Its journey with this throw, as far as that is known. */
  journey?: Journey;
  /** With which it crosses. */
  animation?: string;
}

export type Random = () => number;

export const SPRITES_MAX = 64; // own sprites at once: a small machine draws them and guests 60 times a second
export const STEP_MS = 1000 / 120; // ms of a step: short enough that no thrown sprite passes through a ledge of its own height
export const STEPS_PER_CALL_MAX = 12; // steps: after a long pause, further time is dropped and not caught up
export const TRAIL_MS = 100; // ms of the pointer's path that give the speed of a throw: longer blurs it, shorter makes it jitter
export const CROSSING_SPEED_MIN = 220; // px/s across an edge: a push is enough, a stumble is not
export const FLOOR_THROW_SPEED_MIN = 900; // px/s downwards: a fall alone must never go through the floor
export const SPEED_MAX = 6000; // px/s: a flick of the wrist across a wide screen in a third of a second
export const ENTRANCE_SPEED_MIN = 240; // px/s inwards: fast enough that a person sees the sprite enter
export const BORED_MS = 90_000; // ms without a touch until a sprite falls asleep
export const SLEEP_MS_MAX = 40_000; // ms of sleep until it wakes by itself
export const LANDING_MS = 330; // ms of the landing animation
export const HARD_LANDING_SPEED = 320; // px/s: from this speed on a landing is shown
export const BOUNCE_SPEED_MIN = 180; // px/s after a bounce: a slower sprite stops bouncing
export const FRICTION = 1300; // px/s² on the ground
export const WAKING_SPEED = 120; // px/s of a bump that wakes a sleeping sprite
export const RUN_FACTOR = 2.4; // speed of a steered sprite, in walking speeds
export const STEER_MS = 8_000; // ms after the last key until a steered sprite moves by itself again
export const BUMP_KEPT = 0.7; // share of the speed that a bump passes on
export const OVERLAP_PARTS = 20; // each step moves two overlapping sprites apart by a twentieth of their overlap
export const AIR_CONTROL = 700; // px/s² of a steered sprite's sideways push in the air
export const THROWN_SPEED = 700; // px/s of a throw by keyboard, before the distance to the edge is added
export const THROWN_PER_PX = 1.2; // px/s more for each px of the distance
export const THROWN_RISE = 360; // px/s upwards of a throw by keyboard to the left or right
export const BOUNCE_KEPT_X = 0.8; // share of the speed along the ground that a bounce keeps
export const CLIMB_SPEED = 0.8; // in walking speeds
export const CLIMB_CHANCE = 0.4; // chance that a sprite climbs a wall it walks into; else it turns round
export const CLIMB_MS_MIN = 1200; // ms that a climb lasts at least
export const CLIMB_MS_SPREAD = 3000; // ms that a climb lasts longer, at random
export const WALK_MS_MIN = 900; // likewise for a walk
export const WALK_MS_SPREAD = 3600;
export const PAUSE_MS_MIN = 800; // likewise for a pause
export const PAUSE_MS_SPREAD = 2600;
export const TURN_CHANCE = 0.5; // chance of turning round before a walk
export const WALL_KEPT = 0.3; // share of the speed that a bounce off a wall keeps at least
export const WALL_JUMP_SIDE = 2; // speed away from a climbed wall, in walking speeds
export const WALL_JUMP_UP = 0.35; // share of the jump speed, off a wall
export const ENTRANCE_HEIGHTS = 2; // how high a sprite from below rises at least, in its own heights
export const RETURNED_SPEED = 0.5; // share of its speed that a refused sprite comes back with
export const FACING_SPEED_MIN = 40; // px/s sideways from which a throw turns the sprite's face
export const FACING_DRAG_PX = 4; // px sideways in TRAIL_MS from which a drag turns the sprite's face
export const SUPPORTED_PX = 0.5; // px between a foot and its ground that still count as standing
export const DROP_PX = 1; // px by which a sprite is lowered so that it drops from a ledge
export const TUMBLE_SPEED_MIN = 420; // px/s onto the ground from which on a thrown sprite that bounces tumbles
export const SQUASH_SPEED_MIN = 900; // px/s onto the ground from which on a sprite is squashed: a fall from 225 px
export const SIT_CHANCE = 0.35; // chance that a sprite sits down on a ledge, after a walk or at the ledge's end
export const SIT_MS_MIN = 4000; // ms that it sits at least
export const SIT_MS_SPREAD = 8000; // ms that it sits longer, at random
export const HANG_CHANCE = 0.25; // chance that it lets itself down at a ledge's end and hangs from it
export const HANG_MS = 2600; // ms that it hangs
export const PULL_UP_CHANCE = 0.6; // chance that it then swings itself up again; else it lets go
export const PULL_UP_HEIGHTS = 1.3; // how high it swings itself, in its own heights: just above the ledge
export const LOOK_PX = 220; // px from its middle to a moving pointer that it looks at
export const LOOK_MS = 1500; // ms that it goes on looking after the pointer has stopped
export const LOOK_TURN_PX = 6; // px sideways to the pointer from which on it turns its face
export const PET_PX = 120; // px that the pointer strokes over a sprite before it is petted: one pass over it is shorter
export const PET_PAUSE_MS = 600; // ms between two movements of one stroke at most
export const PET_MS = 900; // ms that it enjoys the last stroke
export const EVENING_HOUR = 21; // hour of the local time from which on sprites are tired
export const MORNING_HOUR = 6; // hour of the local time until which they are tired
export const EVENING_BORED_MS = 15_000; // ms without a touch until a tired sprite yawns
export const YAWN_MS = 1600; // ms of a yawn
export const NAP_WALK_MS_MAX = 15_000; // ms that it walks to its corner at most; then it sleeps where it is
export const GREET_PX = 320; // px to an arrival within which sprites wave at it
export const GREETERS_MAX = 3; // sprites that wave at one arrival: more would be a parade
export const WAVE_MS = 1400; // ms of waving
export const GREET_MS = 1200; // ms that an arrival greets back
export const CHASE_PX = 360; // px to a sprite on the same ground that may be chased
export const CHASE_CHANCE = 0.12; // chance that a sprite chases another one instead of going for a walk
export const CHASE_MS = 4000; // ms of a chase at most
export const CHASE_PACE = 1.8; // speed of the sprite that chases, in walking speeds
export const FLEE_PACE = 1.4; // speed of the sprite that runs away
export const CATCH_PX = 6; // px between the two from which on the chased one is caught
export const SPEECH_HOP = 0.4; // share of the jump speed with which a speaker hops
export const LOOK_AROUND_CHANCE = 0.2; // chance that it turns round and looks there, instead of going for a walk
export const YAWN_CHANCE = 0.06; // chance that it yawns and stretches, likewise
export const VISIT_CHANCE = 0.25; // chance that it visits a sprite that is too far away for a chase
export const VISIT_PX = 1200; // px to a sprite on the same ground that may be visited
export const VISIT_MS = 20_000; // ms that it walks there at most
export const THROWS_MS = 60_000; // ms after the last throw for which a sprite knows how often it was thrown
export const DIZZY_THROWS = 3; // throws from which on it is dizzy when it has landed
export const BOLD_THROWS = 6; // throws from which on it is used to them, and bold
export const REELS = 6; // turns of a dizzy sprite: two seconds of them
export const REEL_MS = 320; // ms from one to the next
export const REEL_PACE = 0.7; // speed of a sprite that reels, in walking speeds
export const BOLD_PACE = 1.3; // speed of a bold sprite's walk; it does not turn round for others
export const BOLD_HOP_CHANCE = 0.4; // chance that a bold sprite hops, at least
export const BOLD_CHASE_CHANCE = 0.5; // chance that a bold sprite chases another one
export const LONELY_MS = 45_000; // ms without a touch until a guest looks for where it came from: half of what makes it bored
export const LONGING_CHANCE = 0.3; // chance that it then goes there instead of for a walk
export const LONGING_MS = 4000; // ms that it waves there

const ON_FEET: ReadonlySet<Mode> = new Set([
  ...(['idle', 'walk', 'land', 'sleep'] as const),
  ...(['sit', 'pet', 'yawn', 'look', 'wave', 'greet'] as const),
]);

/** Modes in which a sprite has time for others: it may look, wave, and be chased. */
const AT_LEISURE: ReadonlySet<Mode> = new Set(['idle', 'walk', 'look', 'sit']);

/** Modes after which a sprite pauses. */
const PAUSE_AFTER: ReadonlySet<Mode> = new Set(['walk', 'land', 'sleep', 'sit', 'pet', 'wave', 'greet', 'yawn']);

export const opposite = (edge: Edge): Edge => EDGES[oppositeNumber(EDGES.indexOf(edge) as EdgeNumber)];

/** Returns how many px a point of a desktop of this size is from an edge; below 0 beyond it. */
export function distanceTo(edge: Edge, { x, y }: Point, { width, height }: Size): number {
  if (edge === 'left') return x;
  if (edge === 'right') return width - x;
  return edge === 'top' ? y : height - y;
}

export function createSimulation(width: number, height: number): Simulation {
  return {
    width,
    height,
    sprites: [],
    ledges: [],
    calm: false,
    hour: null,
    held: null,
    pointer: null,
    steered: null,
    nowMs: 0,
    nextId: 1,
  };
}

/** Before a throw, and before what comes of one. */
const NO_FLIGHT = {
  thrown: false,
  throughFloor: false,
  tumbles: false,
  squashed: false,
  arriving: false,
  greets: false,
};

/** A stroll: a walk that is no chase, and that goes neither to a corner nor to where the sprite came from. */
const NO_ERRAND = { pace: 1, chases: 0, sleepy: false, longs: false };

export type NewSprite = Carried & Pick<Sprite, 'fromShelf' | 'nature' | 'x' | 'y'>;

/** Adds a sprite, in the air at its x and y. The caller checks SPRITES_MAX. */
export function addSprite(simulation: Simulation, added: NewSprite): Sprite {
  const sprite: Sprite = {
    ...added,
    id: simulation.nextId++,
    vx: 0,
    vy: 0,
    mode: 'fall',
    sinceMs: simulation.nowMs,
    nextMs: simulation.nowMs,
    touchedMs: simulation.nowMs,
    ...NO_FLIGHT,
    ...NO_ERRAND,
    throws: 0,
    thrownMs: 0,
    reels: 0,
    cameBy: null,
    isHome: false,
  };
  simulation.sprites.push(sprite);
  return sprite;
}

export function removeSprite(simulation: Simulation, sprite: Sprite): void {
  simulation.sprites = simulation.sprites.filter((other) => other !== sprite);
  if (simulation.held?.sprite === sprite) simulation.held = null;
  if (simulation.steered?.sprite === sprite) simulation.steered = null;
  if (simulation.pointer?.over === sprite) simulation.pointer = null;
}

/** Returns the animation that shows what a sprite does. Most modes have one of their own name. */
export function animationOf({ mode, thrown, arriving, tumbles, squashed }: Sprite): string {
  if (mode === 'fall') return tumbles ? 'tumble' : thrown || arriving ? 'throw' : 'fall';
  return mode === 'land' && squashed ? 'squash' : mode;
}

/**
 * Advances the simulation to `nowMs` and returns the sprites that left.
 *
 * Shape   usually empty; a sprite that left is no longer in the simulation.
 * Units   ms of a clock that never goes back.
 */
export function step(simulation: Simulation, nowMs: number, random: Random): Departure[] {
  const steps = Math.floor((nowMs - simulation.nowMs) / STEP_MS);
  if (steps > STEPS_PER_CALL_MAX) simulation.nowMs = nowMs - STEPS_PER_CALL_MAX * STEP_MS;
  const departures: Departure[] = [];
  for (let i = Math.min(steps, STEPS_PER_CALL_MAX); i > 0; i--) {
    simulation.nowMs += STEP_MS;
    for (const sprite of simulation.sprites) move(simulation, sprite, STEP_MS / 1000, random);
    collide(simulation);
    for (const sprite of simulation.sprites) {
      const edge = crossedEdge(simulation, sprite);
      if (edge !== null) departures.push(depart(simulation, sprite, edge));
      else if (sprite.mode !== 'drag') stayInside(simulation, sprite, random);
    }
    for (const { sprite } of departures) if (simulation.sprites.includes(sprite)) removeSprite(simulation, sprite);
  }
  return departures;
}

/** Lets a sprite enter over an edge, where and as fast as it left the other desktop. It must land before it can cross again. */
export function enter(simulation: Simulation, sprite: Sprite, { edge, at, vx, vy, isHome }: Entrance): void {
  const { width, height, gravity } = sprite.nature;
  const along = (length: number, size: number) => Math.min(Math.max(at * length, size / 2), length - size / 2);
  sprite.vx = clampSpeed(vx);
  sprite.vy = clampSpeed(vy);
  if (edge === 'left' || edge === 'right') {
    const inwards = edge === 'left' ? 1 : -1;
    sprite.x = edge === 'left' ? -width / 2 : simulation.width + width / 2;
    sprite.y = along(simulation.height, height) + height / 2;
    sprite.vx = inwards * Math.max(inwards * sprite.vx, ENTRANCE_SPEED_MIN);
  } else {
    sprite.x = along(simulation.width, width);
    sprite.y = edge === 'top' ? 0 : simulation.height + height;
    // From below it must rise this high to be seen.
    const rise = Math.max(ENTRANCE_SPEED_MIN, Math.sqrt(2 * gravity * ENTRANCE_HEIGHTS * height));
    sprite.vy = edge === 'top' ? Math.max(sprite.vy, 0) : Math.min(sprite.vy, -rise);
  }
  sprite.facing = sprite.vx < 0 ? 'left' : 'right';
  Object.assign(sprite, NO_FLIGHT, { arriving: true });
  sprite.touchedMs = simulation.nowMs;
  countThrows(simulation, sprite, Math.max(throwsOf(simulation, sprite), sprite.journey?.hops ?? 1));
  sprite.cameBy = isHome || edge === 'top' || edge === 'bottom' ? null : edge;
  sprite.isHome = isHome ?? false;
  setMode(simulation, sprite, 'fall');
  if (!simulation.sprites.includes(sprite)) simulation.sprites.push(sprite);
}

/** Lets a refused sprite enter again, over the edge it left by, at RETURNED_SPEED of its speed. */
export function bounceBack(simulation: Simulation, { sprite, ...motion }: Departure): void {
  const across = motion.edge === 'left' || motion.edge === 'right';
  const kept = across ? -RETURNED_SPEED : RETURNED_SPEED;
  const { cameBy } = sprite;
  enter(simulation, sprite, { ...motion, vx: motion.vx * kept, vy: motion.vy * -kept });
  sprite.arriving = false; // nobody greets a sprite that never went away
  sprite.cameBy = cameBy;
}

/** Starts to drag a sprite, at a point of the window. */
export function grab(simulation: Simulation, sprite: Sprite, x: number, y: number, ms: number): void {
  simulation.held = { sprite, dx: sprite.x - x, dy: sprite.y - y, trail: [{ x, y, ms }] };
  sprite.thrown = false;
  sprite.throughFloor = false;
  sprite.arriving = false;
  sprite.greets = false;
  sprite.reels = 0;
  sprite.touchedMs = simulation.nowMs;
  simulation.pointer = null;
  simulation.sprites = [...simulation.sprites.filter((other) => other !== sprite), sprite];
  setMode(simulation, sprite, 'drag');
}

/** Moves the dragged sprite with the pointer. Points outside of the window are allowed. */
export function drag(simulation: Simulation, x: number, y: number, ms: number): void {
  if (simulation.held === null) return;
  const { sprite, dx, dy, trail } = simulation.held;
  trail.push({ x, y, ms });
  while (trail.length > 2 && ms - trail[0].ms > TRAIL_MS) trail.shift();
  sprite.x = x + dx;
  sprite.y = y + dy;
  const moved = x - trail[0].x;
  if (Math.abs(moved) > FACING_DRAG_PX) sprite.facing = moved < 0 ? 'left' : 'right';
}

/** Ends the drag. The sprite flies on as fast as the pointer moved over the last TRAIL_MS. */
export function release(simulation: Simulation, ms: number): void {
  if (simulation.held === null) return;
  const { sprite, trail } = simulation.held;
  simulation.held = null;
  const recent = trail.filter((point) => ms - point.ms <= TRAIL_MS);
  const [first, last] = [recent[0], recent.at(-1)];
  const seconds = first && last ? (ms - first.ms) / 1000 : 0;
  const [vx, vy] = seconds > 0 && first && last ? [(last.x - first.x) / seconds, (last.y - first.y) / seconds] : [0, 0];
  launch(simulation, sprite, vx, vy);
}

/** Throws a sprite towards an edge, fast enough to cross it from where it is. The keyboard throws with this. */
export function throwTo(simulation: Simulation, sprite: Sprite, edge: Edge): void {
  const { gravity, height } = sprite.nature;
  const rise = Math.sqrt(2 * gravity * Math.max(0, sprite.y)) + CROSSING_SPEED_MIN + Math.sqrt(gravity * height);
  if (edge === 'top') launch(simulation, sprite, 0, -rise);
  else if (edge === 'bottom') launch(simulation, sprite, 0, FLOOR_THROW_SPEED_MIN);
  else {
    const way = distanceTo(edge, sprite, simulation);
    launch(simulation, sprite, (edge === 'left' ? -1 : 1) * (THROWN_SPEED + THROWN_PER_PX * way), -THROWN_RISE);
  }
}

/** Returns the topmost sprite at this point, or null. `slack` widens the hitboxes, so that fingers can hit small sprites. */
export function spriteAt(simulation: Simulation, x: number, y: number, slack: number): Sprite | null {
  for (let i = simulation.sprites.length - 1; i >= 0; i--) {
    const sprite = simulation.sprites[i];
    const { width, height } = sprite.nature;
    const inside = Math.abs(x - sprite.x) <= width / 2 + slack;
    if (inside && y <= sprite.y + slack && y >= sprite.y - height - slack) return sprite;
  }
  return null;
}

/**
 * The pointer moved, holding nothing. Sprites nearby look at it. One that it strokes to and fro enjoys it, and wakes up for it.
 *
 * Cost: O(n). Call it once a frame, with the newest point.
 */
export function point(simulation: Simulation, x: number, y: number): void {
  const { pointer: before, nowMs: ms } = simulation;
  const over = spriteAt(simulation, x, y, 0);
  const goesOn = before !== null && over !== null && before.over === over && ms - before.ms <= PET_PAUSE_MS;
  const stroked = goesOn ? before.stroked + Math.hypot(x - before.x, y - before.y) : 0;
  simulation.pointer = { x, y, ms, over, stroked };
  if (over === null || stroked < PET_PX || !ON_FEET.has(over.mode) || simulation.steered?.sprite === over) return;
  setMode(simulation, over, 'pet', PET_MS);
  over.touchedMs = ms;
}

/** Handles a key: the steered sprite runs, jumps or drops from a ledge, and does not move by itself for STEER_MS. */
export function steer(
  simulation: Simulation,
  sprite: Sprite,
  key: 'left' | 'right' | 'jump' | 'drop',
  down: boolean,
): void {
  if (simulation.steered?.sprite !== sprite) simulation.steered = { sprite, left: false, right: false, jump: false };
  if (key !== 'drop') simulation.steered[key] = down;
  sprite.touchedMs = simulation.nowMs;
  sprite.reels = 0;
  sprite.nextMs = simulation.nowMs + STEER_MS;
  if (sprite.mode === 'sleep') setMode(simulation, sprite, 'idle');
  if (sprite.mode === 'hang' && down && (key === 'jump' || key === 'drop')) {
    letGo(simulation, sprite, key === 'jump');
    return;
  }
  const onFeet = ON_FEET.has(sprite.mode);
  if (key === 'jump' && down && onFeet) jump(simulation, sprite); // now: the key may be up again before the next step
  const onFloor = Math.abs(sprite.y - simulation.height) < SUPPORTED_PX;
  if (key === 'drop' && down && onFeet && !onFloor) {
    sprite.y += DROP_PX;
    setMode(simulation, sprite, 'fall');
  }
}

/** A sprite speaks: it wakes, and hops unless sprites are calm. One that is busy goes on with that. */
export function speak(simulation: Simulation, sprite: Sprite): void {
  sprite.touchedMs = simulation.nowMs;
  if (sprite.mode === 'sleep') setMode(simulation, sprite, 'idle', PAUSE_MS_MIN);
  if (!AT_LEISURE.has(sprite.mode) || simulation.calm || simulation.steered?.sprite === sprite) return;
  hopOnSpot(simulation, sprite);
}

/** A sprite waves towards a side, if it has time for that. */
export function wave(simulation: Simulation, sprite: Sprite, facing: Facing): void {
  if (!ON_FEET.has(sprite.mode) || simulation.calm) return;
  sprite.facing = facing;
  sprite.touchedMs = simulation.nowMs;
  setMode(simulation, sprite, 'wave', WAVE_MS);
}

function launch(simulation: Simulation, sprite: Sprite, vx: number, vy: number): void {
  sprite.vx = clampSpeed(vx);
  sprite.vy = clampSpeed(vy);
  sprite.thrown = Math.hypot(sprite.vx, sprite.vy) >= CROSSING_SPEED_MIN;
  sprite.throughFloor = sprite.vy >= FLOOR_THROW_SPEED_MIN && sprite.vy > Math.abs(sprite.vx);
  if (sprite.thrown) countThrows(simulation, sprite, throwsOf(simulation, sprite) + 1);
  sprite.touchedMs = simulation.nowMs;
  sprite.tumbles = false;
  sprite.squashed = false;
  sprite.arriving = false;
  if (Math.abs(sprite.vx) > FACING_SPEED_MIN) sprite.facing = sprite.vx < 0 ? 'left' : 'right';
  setMode(simulation, sprite, 'fall');
}

/** How often a sprite was thrown in a row, until it has had THROWS_MS of rest. */
const throwsOf = ({ nowMs }: Simulation, { throws, thrownMs }: Sprite): number =>
  nowMs - thrownMs <= THROWS_MS ? throws : 0;

function countThrows({ nowMs }: Simulation, sprite: Sprite, throws: number): void {
  sprite.throws = throws;
  sprite.thrownMs = nowMs;
  sprite.reels = throws >= DIZZY_THROWS && throws < BOLD_THROWS ? REELS : 0;
}

const isBold = (simulation: Simulation, sprite: Sprite): boolean => throwsOf(simulation, sprite) >= BOLD_THROWS;

function move(simulation: Simulation, sprite: Sprite, seconds: number, random: Random): void {
  switch (sprite.mode) {
    case 'drag':
      return;
    case 'fall':
      fly(simulation, sprite, seconds);
      return;
    case 'climb':
      sprite.y -= sprite.nature.walkSpeed * CLIMB_SPEED * seconds;
      if (simulation.nowMs >= sprite.nextMs || sprite.y - sprite.nature.height < 0) jumpOffWall(simulation, sprite);
      return;
    case 'hang':
      hang(simulation, sprite, random);
      return;
    default:
      stand(simulation, sprite, seconds, random);
  }
}

function fly(simulation: Simulation, sprite: Sprite, seconds: number): void {
  if (simulation.steered?.sprite === sprite) {
    const push = Number(simulation.steered.right) - Number(simulation.steered.left);
    const limit = sprite.nature.walkSpeed * RUN_FACTOR;
    if (push !== 0 && sprite.vx * push < limit) sprite.vx += push * AIR_CONTROL * seconds;
    if (push !== 0) sprite.facing = push < 0 ? 'left' : 'right';
  }
  const before = sprite.y;
  sprite.vy = clampSpeed(sprite.vy + sprite.nature.gravity * seconds);
  sprite.x += sprite.vx * seconds;
  sprite.y += sprite.vy * seconds;
  if (sprite.vy < 0 || sprite.throughFloor) return;
  const ground = surfaceBetween(simulation, sprite, before, sprite.y);
  if (ground !== null) touchDown(simulation, sprite, ground);
}

function touchDown(simulation: Simulation, sprite: Sprite, ground: number): void {
  const impact = sprite.vy;
  sprite.y = ground;
  if (impact * sprite.nature.bounce > BOUNCE_SPEED_MIN) {
    sprite.vy = -impact * sprite.nature.bounce;
    sprite.vx *= BOUNCE_KEPT_X;
    if (impact >= TUMBLE_SPEED_MIN && (sprite.thrown || sprite.arriving)) sprite.tumbles = true;
    if (impact >= SQUASH_SPEED_MIN) sprite.squashed = true;
    return;
  }
  sprite.vy = 0;
  sprite.squashed ||= impact >= SQUASH_SPEED_MIN || sprite.tumbles;
  sprite.tumbles = false;
  setMode(simulation, sprite, impact > HARD_LANDING_SPEED || sprite.thrown ? 'land' : 'idle', LANDING_MS);
  if (sprite.arriving) welcome(simulation, sprite);
}

/** The nearest sprites wave at one that has arrived. */
function welcome(simulation: Simulation, arrival: Sprite): void {
  arrival.arriving = false;
  if (simulation.calm) return;
  const away = ({ x, y }: Sprite) => Math.hypot(x - arrival.x, y - arrival.y);
  const greeters = simulation.sprites
    .filter((one) => one !== arrival && AT_LEISURE.has(one.mode) && simulation.steered?.sprite !== one)
    .filter((one) => away(one) <= GREET_PX)
    .sort((a, b) => away(a) - away(b) || a.id - b.id)
    .slice(0, GREETERS_MAX);
  for (const greeter of greeters) {
    setMode(simulation, greeter, 'wave', WAVE_MS);
    greeter.facing = towards(greeter, arrival);
    greeter.touchedMs = simulation.nowMs;
  }
  if (greeters.length === 0 && !arrival.isHome) return;
  arrival.facing = towards(arrival, greeters[0] ?? { x: simulation.width / 2 });
  arrival.greets = true;
}

/** Keeps a sprite where it hangs from the end of a ledge, until its time is over or the ledge is gone. */
function hang(simulation: Simulation, sprite: Sprite, random: Random): void {
  sprite.vx = 0;
  const hold = sprite.y - sprite.nature.height;
  const reach = sprite.nature.width / 2;
  const holds = simulation.ledges.some(
    ({ left, right, y }) => Math.abs(hold - y) < SUPPORTED_PX && sprite.x >= left - reach && sprite.x <= right + reach,
  );
  if (!holds) letGo(simulation, sprite, false);
  else if (simulation.nowMs >= sprite.nextMs) letGo(simulation, sprite, random() < PULL_UP_CHANCE);
}

/** Ends hanging: the sprite swings itself up onto the ledge again, or falls. */
function letGo(simulation: Simulation, sprite: Sprite, up: boolean): void {
  const { gravity, height } = sprite.nature;
  sprite.vy = up ? -Math.sqrt(2 * gravity * PULL_UP_HEIGHTS * height) : 0;
  setMode(simulation, sprite, 'fall');
}

/** Moves a sprite that is on its feet: it slides to a halt, walks, or decides what to do next. */
function stand(simulation: Simulation, sprite: Sprite, seconds: number, random: Random): void {
  if (!isSupported(simulation, sprite)) {
    setMode(simulation, sprite, 'fall');
    return;
  }
  if (Math.abs(sprite.vx) < CROSSING_SPEED_MIN) sprite.thrown = false;
  const steered = simulation.steered?.sprite === sprite ? simulation.steered : null;
  const push = steered === null ? 0 : Number(steered.right) - Number(steered.left);
  if (steered?.jump) {
    jump(simulation, sprite);
    return;
  }
  if (push !== 0) {
    sprite.facing = push < 0 ? 'left' : 'right';
    sprite.vx = push * sprite.nature.walkSpeed * RUN_FACTOR;
    setMode(simulation, sprite, 'walk', STEER_MS);
  } else if (steered !== null && sprite.mode === 'walk') {
    setMode(simulation, sprite, 'idle', STEER_MS);
  } else if (sprite.mode === 'walk') {
    if (sprite.chases !== 0 && !runAfter(simulation, sprite)) return;
    sprite.vx = forwards(sprite) * sprite.nature.walkSpeed * sprite.pace;
  } else {
    const slower = Math.abs(sprite.vx) - FRICTION * seconds;
    sprite.vx = slower > 0 ? Math.sign(sprite.vx) * slower : 0;
  }
  if (steered === null && sprite.mode === 'walk' && pausesAtEnd(simulation, sprite, seconds, random)) return;
  sprite.x += sprite.vx * seconds;
  if (steered === null) watchPointer(simulation, sprite);
  if (simulation.nowMs >= sprite.nextMs && push === 0 && Math.abs(sprite.vx) < CROSSING_SPEED_MIN)
    decide(simulation, sprite, random);
}

/** Returns whether a walking sprite stops at the end of its ledge: it sits down there, or hangs from it. */
function pausesAtEnd(simulation: Simulation, sprite: Sprite, seconds: number, random: Random): boolean {
  const next = { x: sprite.x + sprite.vx * seconds, y: sprite.y };
  if (simulation.calm || sprite.reels > 0 || isSupported(simulation, next)) return false;
  const chosen = random();
  const isFree = sprite.y + sprite.nature.height < simulation.height; // there is room below the ledge
  if (chosen < SIT_CHANCE) {
    sit(simulation, sprite, random);
  } else if (chosen < SIT_CHANCE + HANG_CHANCE && isFree) {
    sprite.y += sprite.nature.height;
    setMode(simulation, sprite, 'hang', HANG_MS);
  } else {
    return false;
  }
  sprite.vx = 0;
  return true;
}

function sit(simulation: Simulation, sprite: Sprite, random: Random): void {
  setMode(simulation, sprite, 'sit', SIT_MS_MIN + SIT_MS_SPREAD * random());
}

/** Turns an idle sprite to a pointer that moves nearby, and lets it look there. */
function watchPointer(simulation: Simulation, sprite: Sprite): void {
  if (sprite.mode !== 'idle' && sprite.mode !== 'look') return;
  const { pointer, nowMs, calm } = simulation;
  const isNear =
    !calm &&
    pointer !== null &&
    nowMs - pointer.ms <= LOOK_MS &&
    Math.hypot(pointer.x - sprite.x, pointer.y - (sprite.y - sprite.nature.height / 2)) <= LOOK_PX;
  setMode(simulation, sprite, isNear ? 'look' : 'idle');
  if (isNear && Math.abs(pointer.x - sprite.x) > LOOK_TURN_PX) sprite.facing = towards(sprite, pointer);
}

/** Turns a sprite towards the one that it chases. Returns false when the chase is over. */
function runAfter(simulation: Simulation, sprite: Sprite): boolean {
  const chased = simulation.sprites.find(({ id }) => id === sprite.chases);
  if (chased === undefined || !ON_FEET.has(chased.mode)) {
    endErrand(sprite);
    return true;
  }
  sprite.facing = towards(sprite, chased);
  const gap = Math.abs(chased.x - sprite.x) - (chased.nature.width + sprite.nature.width) / 2;
  if (gap > CATCH_PX) return true;
  for (const one of [sprite, chased]) setMode(simulation, one, 'wave', WAVE_MS);
  chased.facing = towards(chased, sprite);
  return false;
}

/**
 * Starts a chase: the nearest sprite on the same ground runs away, and this one runs after it. One that is farther away is visited: this one
 * walks there, and both wave. Returns false when it does neither.
 */
function chase(simulation: Simulation, sprite: Sprite, random: Random): boolean {
  let nearest: Sprite | null = null;
  let nearestPx = VISIT_PX;
  for (const one of simulation.sprites) {
    const px = Math.abs(one.x - sprite.x);
    const isThere = one !== sprite && AT_LEISURE.has(one.mode) && Math.abs(one.y - sprite.y) < SUPPORTED_PX;
    if (!isThere || simulation.steered?.sprite === one || px > nearestPx) continue;
    nearest = one;
    nearestPx = px;
  }
  if (nearest === null) return false;
  const isVisit = nearestPx > CHASE_PX;
  const chaseChance = isBold(simulation, sprite) ? BOLD_CHASE_CHANCE : CHASE_CHANCE;
  if (random() >= (isVisit ? VISIT_CHANCE : chaseChance)) return false;
  const facing = towards(sprite, nearest);
  if (isVisit) {
    sprite.facing = facing;
    walk(simulation, sprite, VISIT_MS);
    sprite.chases = nearest.id;
    return true;
  }
  for (const one of [sprite, nearest]) {
    one.facing = facing;
    walk(simulation, one, CHASE_MS);
  }
  sprite.pace = CHASE_PACE;
  sprite.chases = nearest.id;
  nearest.pace = FLEE_PACE;
  return true;
}

const isEvening = ({ hour }: Simulation): boolean => hour !== null && (hour >= EVENING_HOUR || hour < MORNING_HOUR);

/** Lets a bored sprite fall asleep. In the evening it yawns first, and goes to the nearer corner of the floor. */
function fallAsleep(simulation: Simulation, sprite: Sprite, random: Random): void {
  const { calm, width, height } = simulation;
  if (!calm && isEvening(simulation)) {
    if (sprite.mode !== 'yawn' && !sprite.sleepy) {
      setMode(simulation, sprite, 'yawn', YAWN_MS);
      return;
    }
    if (sprite.mode === 'yawn' && Math.abs(sprite.y - height) < SUPPORTED_PX) {
      sprite.facing = sprite.x < width / 2 ? 'left' : 'right';
      walk(simulation, sprite, NAP_WALK_MS_MAX);
      sprite.sleepy = true;
      return;
    }
  }
  setMode(simulation, sprite, 'sleep', SLEEP_MS_MAX * (0.5 + random() / 2));
}

/** A guest that has long been alone walks to the edge by which it came. Returns false when it does not. */
function long(simulation: Simulation, sprite: Sprite, random: Random): boolean {
  const { cameBy, touchedMs } = sprite;
  if (cameBy === null || simulation.nowMs - touchedMs <= LONELY_MS || random() >= LONGING_CHANCE) return false;
  sprite.facing = cameBy;
  walk(simulation, sprite, VISIT_MS);
  sprite.longs = true;
  return true;
}

/** Does what a sprite has to do after its landing: it reels, hops because it is at home, or greets. Returns false when that is nothing. */
function comeRound(simulation: Simulation, sprite: Sprite): boolean {
  if (sprite.reels > 0 && !simulation.calm) {
    sprite.reels--;
    sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
    walk(simulation, sprite, REEL_MS);
    sprite.pace = REEL_PACE;
    return true;
  }
  if (!sprite.greets) return false;
  if (sprite.isHome) {
    hopOnSpot(simulation, sprite);
    sprite.isHome = false;
  } else {
    sprite.greets = false;
    setMode(simulation, sprite, 'greet', GREET_MS);
  }
  return true;
}

/** Chooses what a sprite does by itself: walk, hop, look around, yawn, chase, visit, sit, pause, or sleep when nothing has touched it for long. */
function decide(simulation: Simulation, sprite: Sprite, random: Random): void {
  const { nowMs, calm } = simulation;
  const bored = nowMs - sprite.touchedMs > (isEvening(simulation) ? EVENING_BORED_MS : BORED_MS);
  const wasAsleep = sprite.mode === 'sleep';
  if (comeRound(simulation, sprite)) return;
  if (wasAsleep) sprite.touchedMs = nowMs - BORED_MS * random();
  if (bored && !wasAsleep) {
    fallAsleep(simulation, sprite, random);
    return;
  }
  if (PAUSE_AFTER.has(sprite.mode) || calm) {
    if (sprite.mode === 'walk' && !calm && isOnLedge(simulation, sprite) && random() < SIT_CHANCE) {
      sit(simulation, sprite, random);
      return;
    }
    setMode(simulation, sprite, 'idle', PAUSE_MS_MIN + PAUSE_MS_SPREAD * random());
    return;
  }
  if (long(simulation, sprite, random) || chase(simulation, sprite, random)) return;
  wander(simulation, sprite, random);
}

/** Chooses what a sprite does after a pause, when it is alone. */
function wander(simulation: Simulation, sprite: Sprite, random: Random): void {
  const bold = isBold(simulation, sprite);
  const { hopChance, walkSpeed } = sprite.nature;
  const hops = bold ? Math.max(hopChance, BOLD_HOP_CHANCE) : hopChance;
  const choice = random();
  if (choice < hops) {
    jump(simulation, sprite);
    sprite.vx = forwards(sprite) * walkSpeed;
  } else if (choice < hops + LOOK_AROUND_CHANCE) {
    sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
    setMode(simulation, sprite, 'idle', PAUSE_MS_MIN + PAUSE_MS_SPREAD * random());
  } else if (choice < hops + LOOK_AROUND_CHANCE + YAWN_CHANCE) {
    setMode(simulation, sprite, 'yawn', YAWN_MS);
  } else {
    if (random() < TURN_CHANCE) sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
    walk(simulation, sprite, WALK_MS_MIN + WALK_MS_SPREAD * random());
    if (bold) sprite.pace = BOLD_PACE;
  }
}

const forwards = ({ facing }: Sprite): number => (facing === 'left' ? -1 : 1);

const towards = (from: { x: number }, to: { x: number }): Facing => (to.x < from.x ? 'left' : 'right');

function jump(simulation: Simulation, sprite: Sprite): void {
  sprite.vy = -sprite.nature.jumpSpeed;
  setMode(simulation, sprite, 'fall');
}

function hopOnSpot(simulation: Simulation, sprite: Sprite): void {
  jump(simulation, sprite);
  sprite.vx = 0;
  sprite.vy *= SPEECH_HOP;
}

function jumpOffWall(simulation: Simulation, sprite: Sprite): void {
  const away = sprite.facing === 'right' ? -1 : 1;
  sprite.facing = away < 0 ? 'left' : 'right';
  sprite.vx = away * sprite.nature.walkSpeed * WALL_JUMP_SIDE;
  sprite.vy = -sprite.nature.jumpSpeed * WALL_JUMP_UP;
  setMode(simulation, sprite, 'fall');
}

/**
 * Moves overlapping sprites apart and exchanges a share of their speeds. A sprite in the way does not stop a thrown one:
 * the thrown sprite knocks it aside and flies on.
 */
function collide(simulation: Simulation): void {
  const { sprites } = simulation;
  for (let i = 0; i < sprites.length; i++) {
    for (let j = i + 1; j < sprites.length; j++) {
      const [a, b] = [sprites[i], sprites[j]];
      if (a.mode === 'drag' || b.mode === 'drag') continue;
      const overlap = (a.nature.width + b.nature.width) / 2 - Math.abs(a.x - b.x);
      if (overlap <= 0) continue;
      if (a.y <= b.y - b.nature.height || b.y <= a.y - a.nature.height) continue;
      const side = a.x < b.x || (a.x === b.x && a.id < b.id) ? 1 : -1;
      const closing = (a.vx - b.vx) * side;
      const [aYields, bYields] = [b.thrown || !a.thrown, a.thrown || !b.thrown];
      // Only a part of the overlap in each step, so that two sprites that landed in one place slide apart slowly.
      if (aYields) a.x -= (side * overlap) / OVERLAP_PARTS;
      if (bYields) b.x += (side * overlap) / OVERLAP_PARTS;
      if (closing <= 0) continue;
      const [ax, bx] = [a.vx, b.vx];
      if (aYields) a.vx = bx * BUMP_KEPT;
      if (bYields) b.vx = ax * BUMP_KEPT;
      if (aYields) bump(simulation, a, closing);
      if (bYields) bump(simulation, b, closing);
    }
  }
}

function bump(simulation: Simulation, sprite: Sprite, closing: number): void {
  if (closing > WAKING_SPEED) sprite.touchedMs = simulation.nowMs;
  if (sprite.mode === 'sleep' && closing > WAKING_SPEED) setMode(simulation, sprite, 'idle');
  if (sprite.mode === 'walk' && simulation.steered?.sprite !== sprite && sprite.pace === 1) {
    sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
  }
}

/** Returns the edge that a thrown sprite's middle has passed fast enough, or null. */
function crossedEdge(simulation: Simulation, sprite: Sprite): Edge | null {
  if (!sprite.thrown || sprite.mode === 'drag') return null;
  const middle = sprite.y - sprite.nature.height / 2;
  if (sprite.x < 0 && sprite.vx <= -CROSSING_SPEED_MIN) return 'left';
  if (sprite.x > simulation.width && sprite.vx >= CROSSING_SPEED_MIN) return 'right';
  if (middle < 0 && sprite.vy <= -CROSSING_SPEED_MIN) return 'top';
  if (middle > simulation.height && sprite.throughFloor) return 'bottom';
  return null;
}

function depart(simulation: Simulation, sprite: Sprite, edge: Edge): Departure {
  const middle = sprite.y - sprite.nature.height / 2;
  const at = edge === 'left' || edge === 'right' ? middle / simulation.height : sprite.x / simulation.width;
  return { sprite, edge, at: Math.min(1, Math.max(0, at)), vx: Math.round(sprite.vx), vy: Math.round(sprite.vy) };
}

/** Keeps a sprite that does not cross inside the walls, the ceiling and the floor. */
function stayInside(simulation: Simulation, sprite: Sprite, random: Random): void {
  const half = sprite.nature.width / 2;
  const crossing = sprite.thrown && Math.abs(sprite.vx) >= CROSSING_SPEED_MIN;
  if (sprite.x < half && sprite.vx <= 0 && !(crossing && sprite.vx < 0)) hitWall(simulation, sprite, 'left', random);
  else if (sprite.x > simulation.width - half && sprite.vx >= 0 && !(crossing && sprite.vx > 0)) {
    hitWall(simulation, sprite, 'right', random);
  }
  const rising = sprite.thrown && sprite.vy <= -CROSSING_SPEED_MIN;
  if (sprite.y < sprite.nature.height && sprite.vy < 0 && !rising) {
    sprite.y = Math.max(sprite.y, sprite.nature.height);
    sprite.vy = -sprite.vy * sprite.nature.bounce;
  }
  if (sprite.y > simulation.height && sprite.vy >= 0 && !sprite.throughFloor) sprite.y = simulation.height;
}

function hitWall(simulation: Simulation, sprite: Sprite, wall: Facing, random: Random): void {
  const half = sprite.nature.width / 2;
  sprite.x = wall === 'left' ? half : simulation.width - half;
  if (sprite.sleepy && sprite.facing === wall) {
    sprite.vx = 0;
    fallAsleep(simulation, sprite, random);
    return;
  }
  const isSteered = simulation.steered?.sprite === sprite;
  if (sprite.mode === 'walk' && !isSteered && sprite.facing === wall) {
    if (sprite.longs && sprite.cameBy === wall) {
      sprite.vx = 0;
      setMode(simulation, sprite, 'wave', LONGING_MS);
    } else if (!sprite.longs && sprite.reels === 0 && random() < CLIMB_CHANCE) {
      sprite.vx = 0;
      setMode(simulation, sprite, 'climb', CLIMB_MS_MIN + CLIMB_MS_SPREAD * random());
    } else {
      sprite.facing = wall === 'left' ? 'right' : 'left';
    }
    return;
  }
  if (sprite.mode === 'climb') return;
  if (sprite.mode === 'fall' && !isSteered && !sprite.thrown && !sprite.arriving)
    sprite.facing = wall === 'left' ? 'right' : 'left';
  sprite.vx = Math.abs(sprite.vx) > 1 ? -sprite.vx * Math.max(sprite.nature.bounce, WALL_KEPT) : 0;
}

/** Returns the highest surface that a foot passes on its way down from one height to another, or null. */
function surfaceBetween(simulation: Simulation, { x }: Sprite, from: number, to: number): number | null {
  let highest = to >= simulation.height ? simulation.height : null;
  for (const ledge of simulation.ledges) {
    const under = x >= ledge.left && x <= ledge.right && from <= ledge.y && to >= ledge.y;
    if (under && (highest === null || ledge.y < highest)) highest = ledge.y;
  }
  return highest;
}

function isSupported(simulation: Simulation, { x, y }: Point): boolean {
  return Math.abs(y - simulation.height) < SUPPORTED_PX || isOnLedge(simulation, { x, y });
}

function isOnLedge(simulation: Simulation, { x, y }: Point): boolean {
  return simulation.ledges.some((ledge) => x >= ledge.left && x <= ledge.right && Math.abs(y - ledge.y) < SUPPORTED_PX);
}

/** `ms`: how long the mode lasts from now on, if the sprite ends it by itself. */
function setMode(simulation: Simulation, sprite: Sprite, mode: Mode, ms?: number): void {
  if (ms !== undefined) sprite.nextMs = simulation.nowMs + ms;
  if (sprite.mode === mode) return;
  sprite.mode = mode;
  sprite.sinceMs = simulation.nowMs;
  endErrand(sprite);
  if (mode === 'fall') sprite.squashed = false;
  else if (mode !== 'land') sprite.tumbles = false;
}

/** Lets a sprite walk ahead for some ms, at its own speed. */
function walk(simulation: Simulation, sprite: Sprite, ms: number): void {
  setMode(simulation, sprite, 'walk', ms);
  endErrand(sprite); // it may have walked already
}

function endErrand(sprite: Sprite): void {
  Object.assign(sprite, NO_ERRAND);
}

function clampSpeed(speed: number): number {
  return Math.min(SPEED_MAX, Math.max(-SPEED_MAX, speed));
}
