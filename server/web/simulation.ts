/**
 * The simulation inside one window: sprites that walk, fall, bounce, climb, sleep, are dragged and thrown.
 *
 * A function of its state, the time and the randomness it is given; no DOM, no clock of its own. Sprites stand on the
 * floor and on ledges. Only what somebody threw crosses an edge, so nobody is lost by walking; what crosses is handed
 * out by `step` and is no longer here.
 * Units: device-independent pixels, px/s, ms. A sprite's x is the middle and its y the foot of its hitbox.
 * The rules and numbers are those of client-win/BEHAVIOUR.md; behaviour.vectors.json there holds both desktops to them.
 * Cost: O(n²) for collisions with n ≤ SPRITES_MAX, a few hundred comparisons a step; no allocation while nothing happens.
 */

export type Edge = 'left' | 'right' | 'top' | 'bottom';
export type Facing = 'left' | 'right';
export type Mode = 'idle' | 'walk' | 'fall' | 'drag' | 'land' | 'climb' | 'sleep';

/** What a sprite is like, already scaled to device-independent pixels. */
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
  /** From the shelf of this desktop, and so able to go back there; others belong to the simulation. */
  readonly fromShelf: boolean;
  nature: Nature;
  x: number;
  y: number;
  vx: number;
  vy: number;
  facing: Facing;
  mode: Mode;
  /** When `mode` began. */
  sinceMs: number;
  /** When it will do something else by itself. */
  nextMs: number;
  /** When somebody last had to do with it. */
  touchedMs: number;
  /** In flight since somebody let go of it: may cross. */
  thrown: boolean;
  /** Thrown downwards so hard that the floor does not hold it. */
  throughFloor: boolean;
}

/** A surface to stand on: the top edge of something on the page. */
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
  /** Nobody wanders by itself (prefers-reduced-motion). */
  calm: boolean;
  held: { sprite: Sprite; dx: number; dy: number; trail: PointerPoint[] } | null;
  /** Who the arrow keys move, and which of them are down. */
  steered: { sprite: Sprite; left: boolean; right: boolean; jump: boolean } | null;
  nowMs: number;
  nextId: number;
}

export interface PointerPoint {
  x: number;
  y: number;
  ms: number;
}

/** Leaving: what a crossing says about movement. `at` is 0 … 1 from the left or the top. */
export interface Departure {
  sprite: Sprite;
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
}

/** Coming in by `edge`. */
export interface Entrance {
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
}

export type Random = () => number;

export const SPRITES_MAX = 64; // sprites at once: what one canvas draws at 60 a second on a small machine, and a screen still shows
export const STEP_MS = 1000 / 120; // ms of a physical step: no thrown sprite passes through a ledge of its own height
export const STEPS_PER_CALL_MAX = 12; // steps: after a long pause time is dropped, not caught up with
export const TRAIL_MS = 100; // ms of the pointer's path that make the speed of a throw: longer smears, shorter shakes
export const CROSSING_SPEED_MIN = 220; // px/s across an edge: a push, not a stumble
export const FLOOR_THROW_SPEED_MIN = 900; // px/s downwards: falling alone must never go through the floor
export const SPEED_MAX = 6000; // px/s: a flick of the wrist across a wide screen in a third of a second
export const ENTRANCE_SPEED_MIN = 240; // px/s inwards: enough to be seen coming in
export const BORED_MS = 40_000; // ms without company until a sprite falls asleep
export const SLEEP_MS_MAX = 60_000; // ms of sleep until it wakes by itself
export const LANDING_MS = 330; // ms of the landing animation
export const HARD_LANDING_SPEED = 320; // px/s: from here on a landing is felt
export const BOUNCE_SPEED_MIN = 180; // px/s after a bounce: slower ones come to rest
export const FRICTION = 1300; // px/s² on the ground
export const WAKING_SPEED = 120; // px/s of a bump that wakes a sleeper
export const RUN_FACTOR = 2.4; // walking speeds a steered sprite runs at
export const STEER_MS = 8_000; // ms a steered sprite stays still after the last key before it has its own will again
export const BUMP_KEPT = 0.7; // of the speed that is handed on in a bump
export const OVERLAP_PARTS = 20; // steps in which two who overlap are moved apart
export const AIR_CONTROL = 700; // px/s² a steered sprite pushes itself sideways in the air
export const THROWN_SPEED = 700; // px/s of a throw made with the keyboard, besides what the way to the edge asks for
export const THROWN_PER_PX = 1.2; // px/s more for each px of the way
export const THROWN_RISE = 360; // px/s upwards of a throw by key to a side
export const BOUNCE_KEPT_X = 0.8; // of the speed along the ground in a bounce
export const CLIMB_SPEED = 0.8; // of the walking speed
export const CLIMB_CHANCE = 0.4; // of climbing a wall it walks into rather than turning round
export const CLIMB_MS_MIN = 1200;
export const CLIMB_MS_SPREAD = 3000;
export const WALK_MS_MIN = 900;
export const WALK_MS_SPREAD = 3600;
export const PAUSE_MS_MIN = 800;
export const PAUSE_MS_SPREAD = 2600;
export const HOP_CHANCE = 0.12; // of a hop rather than a walk
export const TURN_CHANCE = 0.5; // of turning round before a walk
export const WALL_KEPT = 0.3; // of the speed at a wall at least, whatever the nature
export const WALL_JUMP_SIDE = 2; // walking speeds away from a wall it climbed
export const WALL_JUMP_UP = 0.35; // of its jump, off a wall
export const ENTRANCE_HEIGHTS = 2; // of its own height it rises at least, coming from below
export const RETURNED_SPEED = 0.5; // of its speed, coming back refused
export const FACING_SPEED_MIN = 40; // px/s sideways of a throw that turn its face
export const FACING_DRAG_PX = 4; // px the pointer moves in TRAIL_MS to turn its face
export const SUPPORTED_PX = 0.5; // px a foot may be off its ground
export const DROP_PX = 1; // px a sprite is lowered to let go of a ledge

const ON_FEET: ReadonlySet<Mode> = new Set(['idle', 'walk', 'land', 'sleep']);

const OPPOSITE: Record<Edge, Edge> = { left: 'right', right: 'left', top: 'bottom', bottom: 'top' };

export const opposite = (edge: Edge): Edge => OPPOSITE[edge];

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

export interface Newcomer {
  file: string;
  name: string;
  scale: number;
  fromShelf: boolean;
  nature: Nature;
  facing: Facing;
  x: number;
  y: number;
}

/** Puts a sprite into the simulation, in the air where it says. The caller minds SPRITES_MAX. */
export function addSprite(simulation: Simulation, { nature, ...newcomer }: Newcomer): Sprite {
  const sprite: Sprite = {
    ...newcomer,
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
 * Moves the simulation on to `nowMs`.
 *
 * Shape   who left during it, usually nobody; they are no longer in the simulation.
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
      const edge = crosses(simulation, sprite);
      if (edge !== null) departures.push(depart(simulation, sprite, edge));
      else if (sprite.mode !== 'drag') stayInside(simulation, sprite, random);
    }
    for (const { sprite } of departures) if (simulation.sprites.includes(sprite)) removeSprite(simulation, sprite);
  }
  return departures;
}

/** Comes in by an edge, where and as fast as it left the other desktop. It must land before it can cross again. */
export function enter(simulation: Simulation, sprite: Sprite, { edge, at, vx, vy }: Entrance): void {
  const { width, height, gravity } = sprite.nature;
  const along = (length: number, size: number) => Math.min(Math.max(at * length, size / 2), length - size / 2);
  sprite.vx = limited(vx);
  sprite.vy = limited(vy);
  if (edge === 'left' || edge === 'right') {
    const inwards = edge === 'left' ? 1 : -1;
    sprite.x = edge === 'left' ? -width / 2 : simulation.width + width / 2;
    sprite.y = along(simulation.height, height) + height / 2;
    sprite.vx = inwards * Math.max(inwards * sprite.vx, ENTRANCE_SPEED_MIN);
  } else {
    sprite.x = along(simulation.width, width);
    sprite.y = edge === 'top' ? 0 : simulation.height + height;
    // From below it must rise that high, or nobody would see it.
    const rise = Math.max(ENTRANCE_SPEED_MIN, Math.sqrt(2 * gravity * ENTRANCE_HEIGHTS * height));
    sprite.vy = edge === 'top' ? Math.max(sprite.vy, 0) : Math.min(sprite.vy, -rise);
  }
  sprite.facing = sprite.vx < 0 ? 'left' : 'right';
  sprite.thrown = false;
  sprite.throughFloor = false;
  sprite.touchedMs = simulation.nowMs;
  become(simulation, sprite, 'fall');
  if (!simulation.sprites.includes(sprite)) simulation.sprites.push(sprite);
}

/** A refused departure comes back in by the edge it left by, at half its speed. */
export function bounceBack(simulation: Simulation, { sprite, edge, at, vx, vy }: Departure): void {
  const across = edge === 'left' || edge === 'right';
  const kept = across ? -RETURNED_SPEED : RETURNED_SPEED;
  enter(simulation, sprite, { edge, at, vx: vx * kept, vy: vy * -kept });
}

/** Takes hold of a sprite at a point of the window. */
export function grab(simulation: Simulation, sprite: Sprite, x: number, y: number, ms: number): void {
  simulation.held = { sprite, dx: sprite.x - x, dy: sprite.y - y, trail: [{ x, y, ms }] };
  sprite.thrown = false;
  sprite.throughFloor = false;
  sprite.touchedMs = simulation.nowMs;
  simulation.sprites = [...simulation.sprites.filter((other) => other !== sprite), sprite];
  become(simulation, sprite, 'drag');
}

/** The pointer moved while it holds a sprite; points outside the window are fine. */
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

/** Lets go: the sprite flies on as fast as the pointer moved over the last TRAIL_MS. */
export function release(simulation: Simulation, ms: number): void {
  if (simulation.held === null) return;
  const { sprite, trail } = simulation.held;
  simulation.held = null;
  const recent = trail.filter((point) => ms - point.ms <= TRAIL_MS);
  const [first, last] = [recent[0], recent.at(-1)];
  const seconds = first && last ? (ms - first.ms) / 1000 : 0;
  const [vx, vy] = seconds > 0 && first && last ? [(last.x - first.x) / seconds, (last.y - first.y) / seconds] : [0, 0];
  hurl(simulation, sprite, vx, vy);
}

/** Throws a sprite towards an edge from where it is, as the keyboard does it. */
export function throwTo(simulation: Simulation, sprite: Sprite, edge: Edge): void {
  const { gravity, height } = sprite.nature;
  const rise = Math.sqrt(2 * gravity * Math.max(0, sprite.y)) + CROSSING_SPEED_MIN + Math.sqrt(gravity * height);
  if (edge === 'top') hurl(simulation, sprite, 0, -rise);
  else if (edge === 'bottom') hurl(simulation, sprite, 0, FLOOR_THROW_SPEED_MIN);
  else {
    const way = edge === 'left' ? sprite.x : simulation.width - sprite.x;
    hurl(simulation, sprite, (edge === 'left' ? -1 : 1) * (THROWN_SPEED + THROWN_PER_PX * way), -THROWN_RISE);
  }
}

/** Who is at this point, the topmost first drawn last; null where nobody is. `slack` widens small ones for fingers. */
export function spriteAt(simulation: Simulation, x: number, y: number, slack: number): Sprite | null {
  for (let i = simulation.sprites.length - 1; i >= 0; i--) {
    const sprite = simulation.sprites[i];
    const { width, height } = sprite.nature;
    const inside = Math.abs(x - sprite.x) <= width / 2 + slack;
    if (inside && y <= sprite.y + slack && y >= sprite.y - height - slack) return sprite;
  }
  return null;
}

/** The arrow keys: the steered sprite runs, jumps, lets go of a ledge, and has no will of its own for a while. */
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
  if (sprite.mode === 'sleep') become(simulation, sprite, 'idle');
  const onFeet = ON_FEET.has(sprite.mode);
  if (key === 'jump' && down && onFeet) jump(simulation, sprite); // at once: the key may be up again before the next step
  const onFloor = Math.abs(sprite.y - simulation.height) < SUPPORTED_PX;
  if (key === 'drop' && down && onFeet && !onFloor) {
    sprite.y += DROP_PX;
    become(simulation, sprite, 'fall');
  }
}

function hurl(simulation: Simulation, sprite: Sprite, vx: number, vy: number): void {
  sprite.vx = limited(vx);
  sprite.vy = limited(vy);
  sprite.thrown = Math.hypot(sprite.vx, sprite.vy) >= CROSSING_SPEED_MIN;
  sprite.throughFloor = sprite.vy >= FLOOR_THROW_SPEED_MIN && sprite.vy > Math.abs(sprite.vx);
  sprite.touchedMs = simulation.nowMs;
  if (Math.abs(sprite.vx) > FACING_SPEED_MIN) sprite.facing = sprite.vx < 0 ? 'left' : 'right';
  become(simulation, sprite, 'fall');
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
  sprite.vy = limited(sprite.vy + sprite.nature.gravity * seconds);
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
  become(simulation, sprite, impact > HARD_LANDING_SPEED || sprite.thrown ? 'land' : 'idle');
  sprite.nextMs = simulation.nowMs + LANDING_MS;
}

/** Everything on its feet: sliding to a halt, walking, deciding what to do next. */
function stand(simulation: Simulation, sprite: Sprite, seconds: number, random: Random): void {
  if (!isSupported(simulation, sprite)) {
    become(simulation, sprite, 'fall');
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
    if (sprite.mode !== 'walk') become(simulation, sprite, 'walk');
    sprite.nextMs = simulation.nowMs + STEER_MS;
  } else if (steered !== null && sprite.mode === 'walk') {
    become(simulation, sprite, 'idle');
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

/** Its own will: stroll, hop, look about, and sleep when nobody has come by for long. */
function decide(simulation: Simulation, sprite: Sprite, random: Random): void {
  const bored = simulation.nowMs - sprite.touchedMs > BORED_MS;
  if (sprite.mode === 'sleep') sprite.touchedMs = simulation.nowMs - BORED_MS * random();
  if (sprite.mode === 'walk' || sprite.mode === 'land' || sprite.mode === 'sleep' || simulation.calm) {
    become(simulation, sprite, bored && sprite.mode !== 'sleep' ? 'sleep' : 'idle');
    sprite.nextMs =
      simulation.nowMs +
      (sprite.mode === 'sleep' ? SLEEP_MS_MAX * (0.5 + random() / 2) : PAUSE_MS_MIN + PAUSE_MS_SPREAD * random());
  } else if (bored) {
    become(simulation, sprite, 'sleep');
    sprite.nextMs = simulation.nowMs + SLEEP_MS_MAX * (0.5 + random() / 2);
  } else if (random() < HOP_CHANCE) {
    jump(simulation, sprite);
    sprite.vx = (sprite.facing === 'left' ? -1 : 1) * sprite.nature.walkSpeed;
  } else {
    if (random() < TURN_CHANCE) sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
    become(simulation, sprite, 'walk');
    sprite.nextMs = simulation.nowMs + WALK_MS_MIN + WALK_MS_SPREAD * random();
  }
}

function jump(simulation: Simulation, sprite: Sprite): void {
  sprite.vy = -sprite.nature.jumpSpeed;
  become(simulation, sprite, 'fall');
}

function jumpOffWall(simulation: Simulation, sprite: Sprite): void {
  const away = sprite.facing === 'right' ? -1 : 1;
  sprite.facing = away < 0 ? 'left' : 'right';
  sprite.vx = away * sprite.nature.walkSpeed * WALL_JUMP_SIDE;
  sprite.vy = -sprite.nature.jumpSpeed * WALL_JUMP_UP;
  become(simulation, sprite, 'fall');
}

/**
 * Bumps: who overlaps is moved apart, and what is left of the speed along the way is exchanged. A throw is not stopped by
 * who stands in its way: it knocks them aside and flies on.
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
      // Gently: a part of the overlap each step lets two who landed in one place slide apart.
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
  if (sprite.mode === 'sleep' && closing > WAKING_SPEED) become(simulation, sprite, 'idle');
  if (sprite.mode === 'walk' && simulation.steered?.sprite !== sprite) {
    sprite.facing = sprite.facing === 'left' ? 'right' : 'left';
  }
}

/** The edge this sprite's middle has passed, fast and thrown; else null. */
function crosses(simulation: Simulation, sprite: Sprite): Edge | null {
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

/** Walls, ceiling and floor for all who do not cross. */
function stayInside(simulation: Simulation, sprite: Sprite, random: Random): void {
  const half = sprite.nature.width / 2;
  const crossing = sprite.thrown && Math.abs(sprite.vx) >= CROSSING_SPEED_MIN;
  if (sprite.x < half && sprite.vx <= 0 && !(crossing && sprite.vx < 0)) meetWall(simulation, sprite, 'left', random);
  else if (sprite.x > simulation.width - half && sprite.vx >= 0 && !(crossing && sprite.vx > 0)) {
    meetWall(simulation, sprite, 'right', random);
  }
  const rising = sprite.thrown && sprite.vy <= -CROSSING_SPEED_MIN;
  if (sprite.y < sprite.nature.height && sprite.vy < 0 && !rising) {
    sprite.y = Math.max(sprite.y, sprite.nature.height);
    sprite.vy = -sprite.vy * sprite.nature.bounce;
  }
  if (sprite.y > simulation.height && sprite.vy >= 0 && !sprite.throughFloor) sprite.y = simulation.height;
}

function meetWall(simulation: Simulation, sprite: Sprite, wall: Facing, random: Random): void {
  const half = sprite.nature.width / 2;
  sprite.x = wall === 'left' ? half : simulation.width - half;
  if (sprite.mode === 'walk' && simulation.steered?.sprite !== sprite && sprite.facing === wall) {
    if (random() < CLIMB_CHANCE) {
      sprite.vx = 0;
      become(simulation, sprite, 'climb');
      sprite.nextMs = simulation.nowMs + CLIMB_MS_MIN + CLIMB_MS_SPREAD * random();
    } else {
      sprite.facing = wall === 'left' ? 'right' : 'left';
    }
    return;
  }
  if (sprite.mode === 'climb') return;
  sprite.vx = Math.abs(sprite.vx) > 1 ? -sprite.vx * Math.max(sprite.nature.bounce, WALL_KEPT) : 0;
}

/** The highest surface a foot passes on its way from one height down to another; null when it passes none. */
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

function become(simulation: Simulation, sprite: Sprite, mode: Mode): void {
  if (sprite.mode === mode) return;
  sprite.mode = mode;
  sprite.sinceMs = simulation.nowMs;
}

function limited(speed: number): number {
  return Math.min(SPEED_MAX, Math.max(-SPEED_MAX, speed));
}
