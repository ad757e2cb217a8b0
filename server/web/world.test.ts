import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addSprite,
  BORED_MS,
  bounceBack,
  CROSSING_SPEED_MIN,
  createWorld,
  type Departure,
  drag,
  type Edge,
  ENTRANCE_SPEED_MIN,
  enter,
  FLOOR_THROW_SPEED_MIN,
  grab,
  LANDING_MS,
  opposite,
  release,
  SPEED_MAX,
  type Sprite,
  STEP_MS,
  STEPS_PER_CALL_MAX,
  spriteAt,
  steer,
  step,
  TRAIL_MS,
  throwTo,
  type World,
} from './world.ts';

const NATURE = { width: 44, height: 42, walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3 };
const EDGES: Edge[] = ['left', 'right', 'top', 'bottom'];
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

/** Numbers in 0 … 1 that follow from a seed. */
function lot(from = seed): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function put(world: World, x: number, y: number, more: Partial<typeof NATURE> = {}): Sprite {
  return addSprite(world, {
    ...{ file: 'f', name: 'Blob', scale: 2, fromShelf: true, nature: { ...NATURE, ...more }, facing: 'right', x, y },
  });
}

/** Lets time pass in frames of 16 ms; returns who left. */
function pass(world: World, ms: number, random = lot(1)): Departure[] {
  const left: Departure[] = [];
  const end = world.nowMs + ms;
  for (let nowMs = world.nowMs + 16; nowMs < end; nowMs += 16) left.push(...step(world, nowMs, random));
  left.push(...step(world, end, random));
  return left;
}

/** Drags from one point to another at a steady speed and lets go. */
function fling(world: World, sprite: Sprite, vx: number, vy: number): void {
  grab(world, sprite, 400, 300, 1000);
  for (let ms = 10; ms <= TRAIL_MS; ms += 10) {
    drag(world, 400 + (vx * ms) / 1000, 300 + (vy * ms) / 1000, 1000 + ms);
  }
  release(world, 1000 + TRAIL_MS);
}

describe('world › gravity', () => {
  it('lets a sprite fall to the floor, land, and stand', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 100);
    const modes = new Set<string>();
    for (let ms = 0; ms < 3000; ms += 16) {
      pass(world, 2 * STEP_MS + 0.01, () => 0.9);
      modes.add(sprite.mode);
    }
    assert.ok(modes.has('fall') && modes.has('land'));
    assert.equal(sprite.y, 600);
    assert.equal(sprite.vy, 0);
  });

  it('bounces as much as it is its nature', () => {
    const peaks = [0, 0.3, 0.6].map((bounce) => {
      const world = createWorld(800, 600);
      const sprite = put(world, 400, 100, { bounce });
      pass(world, 800);
      let peak = 600;
      for (let ms = 0; ms < 600; ms += 8) {
        pass(world, STEP_MS + 0.01);
        peak = Math.min(peak, sprite.y);
      }
      return 600 - peak;
    });
    assert.ok(peaks[0] < 1 && peaks[1] > 10 && peaks[2] > 3 * peaks[1], String(peaks));
  });

  it('stands on a ledge it falls on, and falls when the ledge moves away', () => {
    const world = createWorld(800, 600);
    world.ledges = [{ left: 300, right: 500, y: 300 }];
    const sprite = put(world, 400, 100);
    pass(world, 900, () => 0.9);
    assert.equal(sprite.y, 300);
    world.ledges = [];
    pass(world, 50);
    assert.equal(sprite.mode, 'fall');
    pass(world, 1500, () => 0.9);
    assert.equal(sprite.y, 600);
  });

  it('passes a ledge from below and beside it', () => {
    const world = createWorld(800, 600);
    world.ledges = [{ left: 300, right: 500, y: 300 }];
    const [below, beside] = [put(world, 400, 420), put(world, 501, 100)];
    below.vy = -800;
    pass(world, 160);
    assert.ok(below.y < 320);
    pass(world, 1200, () => 0.9);
    assert.equal(beside.y, 600);
  });

  it('is not hurried by a long pause: time beyond a few steps is dropped', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 100);
    step(world, 3_600_000, lot());
    assert.ok(sprite.y - 100 <= 0.5 * 1800 * ((STEPS_PER_CALL_MAX + 1) * (STEP_MS / 1000)) ** 2);
    assert.ok(Math.abs(world.nowMs - 3_600_000) < 1);
  });
});

describe('world › throwing', () => {
  for (const edge of EDGES) {
    it(`crosses the ${edge} edge when thrown at it, and says where and how fast`, () => {
      const world = createWorld(800, 600);
      const sprite = put(world, 400, 300);
      const speed: Record<Edge, [number, number]> = {
        left: [-1500, 0],
        right: [1500, 0],
        top: [0, -1800],
        bottom: [0, 1500],
      };
      fling(world, sprite, ...speed[edge]);
      const [departure, ...others] = pass(world, 1500);
      assert.equal(others.length, 0);
      assert.equal(departure.edge, edge);
      assert.equal(departure.sprite, sprite);
      assert.equal(world.sprites.length, 0);
      assert.ok(departure.at > 0 && departure.at < 1);
      if (edge === 'top' || edge === 'bottom') assert.ok(Math.abs(departure.at - 0.5) < 0.01, String(departure.at));
      else assert.ok(Math.abs(Math.abs(departure.vx) - 1500) < 1);
    });

    it(`throws over the ${edge} edge from anywhere by the keyboard`, () => {
      for (const [x, y] of [
        [22, 600],
        [400, 600],
        [778, 600],
        [400, 60],
      ]) {
        const world = createWorld(800, 600);
        throwTo(world, put(world, x, y), edge);
        assert.equal(pass(world, 3000)[0]?.edge, edge, `from ${x}, ${y}`);
      }
    });
  }

  it('takes the speed of the last 100 ms only: who stops before letting go drops it', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 300);
    grab(world, sprite, 400, 290, 0);
    drag(world, 600, 290, 50);
    drag(world, 600, 290, 400);
    release(world, 400);
    assert.deepEqual([sprite.vx, sprite.vy, sprite.thrown], [0, 0, false]);
  });

  it('is never faster than the limit', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 300);
    fling(world, sprite, 90_000, -90_000);
    assert.deepEqual([sprite.vx, sprite.vy], [SPEED_MAX, -SPEED_MAX]);
  });

  it('crosses at the least speed and bounces one below it', () => {
    for (const [vx, crosses] of [
      [CROSSING_SPEED_MIN, true],
      [CROSSING_SPEED_MIN - 1, false],
    ] as const) {
      const world = createWorld(800, 600);
      const sprite = put(world, 790, 300);
      sprite.thrown = true;
      sprite.vx = vx;
      assert.equal(pass(world, 400).length, crosses ? 1 : 0, String(vx));
    }
  });

  it('never lets anybody out who was not thrown, however long they live', () => {
    const world = createWorld(500, 300);
    const random = lot();
    for (let i = 0; i < 8; i++) put(world, 60 + i * 50, 50);
    assert.deepEqual(pass(world, 120_000, random), [], `seed ${seed}`);
    for (const { x, y } of world.sprites)
      assert.ok(x >= 0 && x <= 500 && y <= 300.5 && y > 0, `seed ${seed}: ${x}, ${y}`);
  });

  it('does not fall through the floor for falling far, only for being thrown down', () => {
    const world = createWorld(800, 20_000);
    const sprite = put(world, 400, 50);
    assert.deepEqual(pass(world, 8000), []);
    assert.ok(sprite.y <= 20_000);
    const gentle = createWorld(800, 600);
    fling(gentle, put(gentle, 400, 300), 0, FLOOR_THROW_SPEED_MIN - 60);
    assert.deepEqual(pass(gentle, 2000), []);
  });
});

describe('world › coming in', () => {
  for (const edge of EDGES) {
    it(`comes in by the ${edge} edge at the same place, inwards, and stays`, () => {
      for (const at of [0, 0.25, 1]) {
        const world = createWorld(800, 600);
        const sprite = put(world, 0, 0);
        world.sprites = [];
        const speed = { left: [900, -50], right: [-900, -50], top: [30, 700], bottom: [30, -700] }[edge];
        enter(world, sprite, { edge, at, vx: speed[0], vy: speed[1] });
        assert.deepEqual([sprite.vx, sprite.mode], [speed[0], 'fall']);
        const along = edge === 'left' || edge === 'right' ? (sprite.y - 21) / 600 : sprite.x / 800;
        assert.ok(Math.abs(along - at) < 0.04, `${along}`);
        assert.deepEqual(pass(world, 5000), []);
        assert.ok(sprite.x >= 22 && sprite.x <= 778 && sprite.y <= 600.5);
      }
    });
  }

  it('does not fly on through the far edge, however fast it came: it has arrived', () => {
    for (const edge of EDGES) {
      const world = createWorld(800, 600);
      const sprite = put(world, 0, 0);
      const speed = { left: [5000, 0], right: [-5000, 0], top: [0, 5000], bottom: [0, -5000] }[edge];
      enter(world, sprite, { edge, at: 0.5, vx: speed[0], vy: speed[1] });
      assert.deepEqual(pass(world, 4000), [], edge);
    }
  });

  it('is seen coming in even when it was slow', () => {
    const world = createWorld(800, 600);
    const [side, below] = [put(world, 0, 0), put(world, 0, 0)];
    enter(world, side, { edge: 'left', at: 0.5, vx: 0, vy: 0 });
    enter(world, below, { edge: 'bottom', at: 0.5, vx: 0, vy: 0 });
    assert.equal(side.vx, ENTRANCE_SPEED_MIN);
    pass(world, 300);
    assert.ok(below.y < 600 - NATURE.height / 2);
  });

  it('ends where a throw from the neighbour began its way: opposite edge, same place, same speed', () => {
    for (const edge of EDGES) {
      const [here, there] = [createWorld(800, 600), createWorld(800, 600)];
      throwTo(here, put(here, 300, 400), edge);
      const [{ sprite, at, vx, vy }] = pass(here, 3000);
      enter(there, sprite, { edge: opposite(edge), at, vx, vy });
      assert.ok(Math.sign(sprite.vx) === Math.sign(vx) || vx === 0);
      assert.equal(there.sprites[0], sprite);
    }
  });

  it('comes back in by the edge it left by when it was refused', () => {
    for (const edge of EDGES) {
      const world = createWorld(800, 600);
      throwTo(world, put(world, 300, 400), edge);
      const [departure] = pass(world, 3000);
      bounceBack(world, departure);
      assert.equal(world.sprites.length, 1);
      assert.deepEqual(pass(world, 4000), []);
      assert.ok(departure.sprite.x > 0 && departure.sprite.x < 800 && departure.sprite.y <= 600.5);
    }
  });
});

describe('world › company', () => {
  it('moves two apart who landed in one place', () => {
    const world = createWorld(800, 600);
    const [a, b] = [put(world, 400, 600), put(world, 400, 600)];
    world.calm = true;
    pass(world, 3000, () => 0.9);
    assert.ok(Math.abs(a.x - b.x) >= NATURE.width - 1, `${a.x} ${b.x}`);
  });

  it('hands on a bump, and wakes a sleeper by it', () => {
    const world = createWorld(800, 600);
    const sleeper = put(world, 400, 600);
    sleeper.mode = 'sleep';
    sleeper.nextMs = 1e9;
    const runner = put(world, 300, 600);
    runner.mode = 'land';
    runner.nextMs = 1e9;
    runner.vx = 600;
    pass(world, 300);
    assert.notEqual(sleeper.mode, 'sleep');
    assert.ok(sleeper.x > 405);
  });

  it('does not stop a throw: who stands in its way is knocked aside', () => {
    const world = createWorld(800, 600);
    const [ball, ...pins] = [300, 400, 440, 500, 700].map((x) => put(world, x, 600));
    throwTo(world, ball, 'right');
    ball.y = 600;
    assert.equal(pass(world, 2000)[0]?.sprite, ball);
    assert.equal(world.sprites.length, pins.length);
  });

  it('falls asleep when nobody came by for long, and wakes when it is taken', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 600);
    pass(world, BORED_MS + 12_000);
    assert.equal(sprite.mode, 'sleep');
    grab(world, sprite, 400, 590, 0);
    release(world, 500);
    pass(world, 500);
    assert.notEqual(sprite.mode, 'sleep');
  });

  it('stays where it is when motion is not wanted', () => {
    const world = createWorld(800, 600);
    world.calm = true;
    const sprite = put(world, 400, 600);
    pass(world, 30_000, lot());
    assert.equal(sprite.x, 400);
  });

  it('climbs a wall it walks into, or turns round, as the lot falls', () => {
    for (const [chance, mode] of [
      [0.1, 'climb'],
      [0.9, 'walk'],
    ] as const) {
      const world = createWorld(800, 600);
      const sprite = put(world, 770, 600);
      pass(world, STEP_MS * 2);
      Object.assign(sprite, { mode: 'walk', facing: 'right', nextMs: 1e9 });
      pass(world, 500, () => chance);
      assert.equal(sprite.mode, mode);
      if (mode === 'climb') assert.ok(sprite.y < 600);
      else assert.equal(sprite.facing, 'left');
    }
  });

  it('runs and jumps by the keys, and has no will of its own meanwhile', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 600);
    pass(world, LANDING_MS * 2, () => 0.9);
    const from = sprite.x;
    steer(world, sprite, 'left', true);
    pass(world, 400);
    assert.ok(sprite.x < from - 30);
    steer(world, sprite, 'left', false);
    steer(world, sprite, 'jump', true);
    pass(world, 50);
    assert.equal(sprite.mode, 'fall');
    steer(world, sprite, 'jump', false);
    pass(world, 1500);
    const rest = sprite.x;
    pass(world, 3000);
    assert.equal(sprite.x, rest);
  });

  it('jumps by a key that is up again before the next step', () => {
    const world = createWorld(800, 600);
    const sprite = put(world, 400, 600);
    pass(world, LANDING_MS * 2, () => 0.9);
    steer(world, sprite, 'jump', true);
    steer(world, sprite, 'jump', false);
    pass(world, 100);
    assert.ok(sprite.y < 600 - 20, `${sprite.y}`);
  });

  it('finds the topmost sprite under a finger, and nobody beside it', () => {
    const world = createWorld(800, 600);
    const [under, over] = [put(world, 400, 600), put(world, 410, 600)];
    assert.equal(spriteAt(world, 405, 590, 0), over);
    assert.equal(spriteAt(world, 380, 590, 0), under);
    assert.equal(spriteAt(world, 370, 590, 0), null);
    assert.equal(spriteAt(world, 370, 590, 14), under);
  });
});
