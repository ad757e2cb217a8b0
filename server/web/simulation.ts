/**
 * The physics of the sprites in one window: they walk, fall, bounce, climb and sleep, and are dragged and thrown.
 *
 * A function of its state, the time and the random numbers it is given; it uses no DOM and no clock. Sprites stand on the
 * floor and on ledges. Only a thrown sprite crosses an edge, so a walking sprite is never lost. `step` returns the sprites
 * that crossed and removes them from the simulation.
 * Units: device-independent pixels, px/s, ms. A sprite's x is the middle of its hitbox, its y the foot.
 * The rules and numbers are those of client-win/BEHAVIOUR.md. Tests play behaviour.vectors.json on this file and on the
 * Windows client.
 * Cost: O(n²) for collisions with n ≤ SPRITES_MAX, a few hundred comparisons per step; no allocation while nothing happens.
 */

export type Edge = 'left' | 'right' | 'top' | 'bottom';
export type Facing = 'left' | 'right';
export type Mode = 'idle' | 'walk' | 'fall' | 'drag' | 'land' | 'climb' | 'sleep';

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
}

export interface Sprite {
  readonly id: number;
  readonly file: string;
  readonly name: string;
  readonly scale: number;
  /** It came from this desktop's shelf, so it may go back there. All others belong to the world. */
  readonly fromShelf: boolean;
  nature: Nature;
  x: number;
  y: number;
  vx: number;
  vy: number;
  facing: Facing;
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
  /** The sprite that the arrow keys move, and which of the keys are down. */
  steered: { sprite: Sprite; left: boolean; right: boolean; jump: boolean } | null;
  nowMs: number;
  nextId: number;
}

export interface PointerPoint {
  x: number;
  y: number;
  ms: number;
}

/** A sprite that left over an edge. `at` is 0 … 1 along the edge, from the left or the top. */
export interface Departure {
  sprite: Sprite;
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
}

/** How a sprite enters: over which edge, where along it, and how fast. */
export interface Entrance {
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
}

export type Random = () => number;

export const SPRITES_MAX = 64; // sprites at once: a small machine draws them 60 times a second, and a screen has room for them
export const STEP_MS = 1000 / 120; // ms of a step: short enough that no thrown sprite passes through a ledge of its own height
export const STEPS_PER_CALL_MAX = 12; // steps: after a long pause, further time is dropped and not caught up
export const TRAIL_MS = 100; // ms of the pointer's path that give the speed of a throw: longer blurs it, shorter makes it jitter
export const CROSSING_SPEED_MIN = 220; // px/s across an edge: a push is enough, a stumble is not
export const FLOOR_THROW_SPEED_MIN = 900; // px/s downwards: a fall alone must never go through the floor
export const SPEED_MAX = 6000; // px/s: a flick of the wrist across a wide screen in a third of a second
export const ENTRANCE_SPEED_MIN = 240; // px/s inwards: fast enough that a person sees the sprite enter
export const BORED_MS = 40_000; // ms without a touch until a sprite falls asleep
export const SLEEP_MS_MAX = 60_000; // ms of sleep until it wakes by itself
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
export const HOP_CHANCE = 0.12; // chance of a hop instead of a walk
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

const ON_FEET: ReadonlySet<Mode> = new Set(['idle', 'walk', 'land', 'sleep']);

const OPPOSITE: Record<Edge, Edge> = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' };

export const opposite = (edge: Edge): Edge => OPPOSITE[edge];

export const EDGES: readonly Edge[] = ['left', 'right', 'top', 'bottom'];

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
    held: null,
    steered: null,
    nowMs: 0,
    nextId: 1,
  };
}

export interface NewSprite {
  file: string;
  name: string;
  scale: number;
  fromShelf: boolean;
  nature: Nature;
  facing: Facing;
  x: number;
  y: number;
}

/** Adds a sprite, in the air at its x and y. The caller checks SPRITES_MAX. */
export function addSprite(simulation: Simulation, { nature, ...rest }: NewSprite): Sprite {
  const sprite: Sprite = {
    ...rest,
    id: simulation.nextId++,
    nature,
    vx: 0,
    vy: 0,
    mode: 'fall',
    sinceMs: simulation.nowMs,
    nextMs: simulation.nowMs,
    touchedMs: simulation.nowMs,
    thrown: false,
    throughFloor: false,
  };
  simulation.sprites.push(sprite);
  return sprite;
}

export function removeSprite(simulation: Simulation, sprite: Sprite): void {
  simulation.sprites = simulation.sprites.filter((other) => other !== sprite);
  if (simulation.held?.sprite === sprite) simulation.held = null;
  if (simulation.steered?.sprite === sprite) simulation.steered = null;
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
export function enter(simulation: Simulation, sprite: Sprite, { edge, at, vx, vy }: Entrance): void {
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
  sprite.thrown = false;
  sprite.throughFloor = false;
  sprite.touchedMs = simulation.nowMs;
  setMode(simulation, sprite, 'fall');
  if (!simulation.sprites.includes(sprite)) simulation.sprites.push(sprite);
}

/** Lets a refused sprite enter again, over the edge it left by, at RETURNED_SPEED of its speed. */
export function bounceBack(simulation: Simulation, { sprite, edge, at, vx, vy }: Departure): void {
  const across = edge === 'left' || edge === 'right';
  const kept = across ? -RETURNED_SPEED : RETURNED_SPEED;
  enter(simulation, sprite, { edge, at, vx: vx * kept, vy: vy * -kept });
}

/** Starts to drag a sprite, at a point of the window. */
export function grab(simulation: Simulation, sprite: Sprite, x: number, y: number, ms: number): void {
  simulation.held = { sprite, dx: sprite.x - x, dy: sprite.y - y, trail: [{ x, y, ms }] };
  sprite.thrown = false;
  sprite.throughFloor = false;
  sprite.touchedMs = simulation.nowMs;
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
  sprite.nextMs = simulation.nowMs + STEER_MS;
  if (sprite.mode === 'sleep') setMode(simulation, sprite, 'idle');
  const onFeet = ON_FEET.has(sprite.mode);
  if (key === 'jump' && down && onFeet) jump(simulation, sprite); // now: the key may be up again before the next step
  const onFloor = Math.abs(sprite.y - simulation.height) < SUPPORTED_PX;
  if (key === 'drop' && down && onFeet && !onFloor) {
    sprite.y += DROP_PX;
    setMode(simulation, sprite, 'fall');
  }
}

function launch(simulation: Simulation, sprite: Sprite, vx: number, vy: number): void {
  sprite.vx = clampSpeed(vx);
  sprite.vy = clampSpeed(vy);
  sprite.thrown = Math.hypot(sprite.vx, sprite.vy) >= CROSSING_SPEED_MIN;
  sprite.throughFloor = sprite.vy >= FLOOR_THROW_SPEED_MIN && sprite.vy > Math.abs(sprite.vx);
  sprite.touchedMs = simulation.nowMs;
  if (Math.abs(sprite.vx) > FACING_SPEED_MIN) sprite.facing = sprite.vx < 0 ? 'left' : 'right';
  setMode(simulation, sprite, 'fall');
}

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
    return;
  }
  sprite.vy = 0;
  setMode(simulation, sprite, impact > HARD_LANDING_SPEED || sprite.thrown ? 'land' : 'idle');
  sprite.nextMs = simulation.nowMs + LANDING_MS;
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
    if (sprite.mode !== 'walk') setMode(simulation, sprite, 'walk');
    sprite.nextMs = simulation.nowMs + STEER_MS;
  } else if (steered !== null && sprite.mode === 'walk') {
    setMode(simulation, sprite, 'idle');
    sprite.nextMs = simulation.nowMs + STEER_MS;
  } else if (sprite.mode === 'walk') {
    sprite.vx = (sprite.facing === 'left' ? -1 : 1) * sprite.nature.walkSpeed;
  } else {
    const slower = Math.abs(sprite.vx) - FRICTION * seconds;
    sprite.vx = slower > 0 ? Math.sign(sprite.vx) * slower : 0;
  }
  sprite.x += sprite.vx * seconds;
  if (simulation.nowMs >= sprite.nextMs && push === 0 && Math.abs(sprite.vx) < CROSSING_SPEED_MIN)
    decide(simulation, sprite, random);
}

/** Chooses what a sprite does by itself: walk, hop, pause, or sleep when nothing has touched it for long. */
function decide(simulation: Simulation, sprite: Sprite, random: Random): void {
  const bored = simulation.nowMs - sprite.touchedMs > BORED_MS;
  if (sprite.mode === 'sleep') sprite.touchedMs = simulation.nowMs - BORED_MS * random();
  if (sprite.mode === 'walk' || sprite.mode === 'land' || sprite.mode === 'sleep' || simulation.calm) {
    setMode(simulation, sprite, bored && sprite.mode !== 'sleep' ? 'sleep' : 'idle');
    sprite.nextMs =
      simulation.nowMs +
      (sprite.mode === 'sleep' ? SLEEP_MS_MAX * (0.5 + random() / 2) : PAUSE_MS_MIN + PAUSE_MS_SPREAD * random());
  } else if (bored) {
    setMode(simulation, sprite, 'sleep');
    sprite.nextMs = simulation.nowMs + SLEEP_MS_MAX * (0.5 + random() / 2);
  } else if (random() < HOP_CHANCE) {
    jump(simulation, sprite);
    sprite.vx = (sprite.facing === 'left' ? -1 : 1) * sprite.nature.walkSpeed;
  } else {
    if (random() < TURN_CHANCE) sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
    setMode(simulation, sprite, 'walk');
    sprite.nextMs = simulation.nowMs + WALK_MS_MIN + WALK_MS_SPREAD * random();
  }
}

function jump(simulation: Simulation, sprite: Sprite): void {
  sprite.vy = -sprite.nature.jumpSpeed;
  setMode(simulation, sprite, 'fall');
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
  if (sprite.mode === 'walk' && simulation.steered?.sprite !== sprite) {
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
  if (sprite.mode === 'walk' && simulation.steered?.sprite !== sprite && sprite.facing === wall) {
    if (random() < CLIMB_CHANCE) {
      sprite.vx = 0;
      setMode(simulation, sprite, 'climb');
      sprite.nextMs = simulation.nowMs + CLIMB_MS_MIN + CLIMB_MS_SPREAD * random();
    } else {
      sprite.facing = wall === 'left' ? 'right' : 'left';
    }
    return;
  }
  if (sprite.mode === 'climb') return;
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

function isSupported(simulation: Simulation, { x, y }: Sprite): boolean {
  if (Math.abs(y - simulation.height) < SUPPORTED_PX) return true;
  return simulation.ledges.some((ledge) => x >= ledge.left && x <= ledge.right && Math.abs(y - ledge.y) < SUPPORTED_PX);
}

function setMode(simulation: Simulation, sprite: Sprite, mode: Mode): void {
  if (sprite.mode === mode) return;
  sprite.mode = mode;
  sprite.sinceMs = simulation.nowMs;
}

function clampSpeed(speed: number): number {
  return Math.min(SPEED_MAX, Math.max(-SPEED_MAX, speed));
}
