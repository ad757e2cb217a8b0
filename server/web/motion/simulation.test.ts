import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../test/random.ts';
import { EDGES, type Edge } from '../../wire/rules.ts';
import {
  addSprite,
  BORED_MS,
  bounceBack,
  CROSSING_SPEED_MIN,
  createSimulation,
  type Departure,
  drag,
  ENTRANCE_SPEED_MIN,
  enter,
  FLOOR_THROW_SPEED_MIN,
  grab,
  LANDING_MS,
  opposite,
  release,
  type Simulation,
  SPEED_MAX,
  type Sprite,
  STEP_MS,
  STEPS_PER_CALL_MAX,
  spriteAt,
  steer,
  step,
  TRAIL_MS,
  throwTo,
} from './simulation.ts';

const NATURE = { width: 44, height: 42, walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3, hopChance: 0.12 };
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

const seededRandom = (from = seed) => randomFrom(from);

function place(simulation: Simulation, x: number, y: number, more: Partial<typeof NATURE> = {}): Sprite {
  return addSprite(simulation, {
    ...{ file: 'f', name: 'Blob', scale: 2, fromShelf: true, nature: { ...NATURE, ...more }, facing: 'right', x, y },
  });
}

/** Advances the simulation in frames of 16 ms. Returns the sprites that left. */
function run(simulation: Simulation, ms: number, random = seededRandom(1)): Departure[] {
  const left: Departure[] = [];
  const end = simulation.nowMs + ms;
  for (let nowMs = simulation.nowMs + 16; nowMs < end; nowMs += 16) left.push(...step(simulation, nowMs, random));
  left.push(...step(simulation, end, random));
  return left;
}

/** Drags a sprite at a constant speed and releases it. */
function fling(simulation: Simulation, sprite: Sprite, vx: number, vy: number): void {
  grab(simulation, sprite, 400, 300, 1000);
  for (let ms = 10; ms <= TRAIL_MS; ms += 10) {
    drag(simulation, 400 + (vx * ms) / 1000, 300 + (vy * ms) / 1000, 1000 + ms);
  }
  release(simulation, 1000 + TRAIL_MS);
}

describe('simulation › gravity', () => {
  it('lets a sprite fall to the floor, land, and stand', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 100);
    const modes = new Set<string>();
    for (let ms = 0; ms < 3000; ms += 16) {
      run(simulation, 2 * STEP_MS + 0.01, () => 0.9);
      modes.add(sprite.mode);
    }
    assert.ok(modes.has('fall') && modes.has('land'));
    assert.equal(sprite.y, 600);
    assert.equal(sprite.vy, 0);
  });

  it('bounces as high as the bounce of its nature says', () => {
    const peaks = [0, 0.3, 0.6].map((bounce) => {
      const simulation = createSimulation(800, 600);
      const sprite = place(simulation, 400, 100, { bounce });
      run(simulation, 800);
      let peak = 600;
      for (let ms = 0; ms < 600; ms += 8) {
        run(simulation, STEP_MS + 0.01);
        peak = Math.min(peak, sprite.y);
      }
      return 600 - peak;
    });
    assert.ok(peaks[0] < 1 && peaks[1] > 10 && peaks[2] > 3 * peaks[1], String(peaks));
  });

  it('stands on a ledge it falls onto, and falls when the ledge moves away', () => {
    const simulation = createSimulation(800, 600);
    simulation.ledges = [{ left: 300, right: 500, y: 300 }];
    const sprite = place(simulation, 400, 100);
    run(simulation, 900, () => 0.9);
    assert.equal(sprite.y, 300);
    simulation.ledges = [];
    run(simulation, 50);
    assert.equal(sprite.mode, 'fall');
    run(simulation, 1500, () => 0.9);
    assert.equal(sprite.y, 600);
  });

  it('passes a ledge from below, and falls past it beside its end', () => {
    const simulation = createSimulation(800, 600);
    simulation.ledges = [{ left: 300, right: 500, y: 300 }];
    const [below, beside] = [place(simulation, 400, 420), place(simulation, 501, 100)];
    below.vy = -800;
    run(simulation, 160);
    assert.ok(below.y < 320);
    run(simulation, 1200, () => 0.9);
    assert.equal(beside.y, 600);
  });

  it('drops the time of a long pause beyond a few steps', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 100);
    step(simulation, 3_600_000, seededRandom());
    assert.ok(sprite.y - 100 <= 0.5 * 1800 * ((STEPS_PER_CALL_MAX + 1) * (STEP_MS / 1000)) ** 2);
    assert.ok(Math.abs(simulation.nowMs - 3_600_000) < 1);
  });
});

describe('simulation › throwing', () => {
  for (const edge of EDGES) {
    it(`crosses the ${edge} edge when thrown at it, and reports where and how fast`, () => {
      const simulation = createSimulation(800, 600);
      const sprite = place(simulation, 400, 300);
      const speed: Record<Edge, [number, number]> = {
        left: [-1500, 0],
        right: [1500, 0],
        top: [0, -1800],
        bottom: [0, 1500],
      };
      fling(simulation, sprite, ...speed[edge]);
      const [departure, ...others] = run(simulation, 1500);
      assert.equal(others.length, 0);
      assert.equal(departure.edge, edge);
      assert.equal(departure.sprite, sprite);
      assert.equal(simulation.sprites.length, 0);
      assert.ok(departure.at > 0 && departure.at < 1);
      if (edge === 'top' || edge === 'bottom') assert.ok(Math.abs(departure.at - 0.5) < 0.01, String(departure.at));
      else assert.ok(Math.abs(Math.abs(departure.vx) - 1500) < 1);
    });

    it(`crosses the ${edge} edge from anywhere when thrown by keyboard`, () => {
      for (const [x, y] of [
        [22, 600],
        [400, 600],
        [778, 600],
        [400, 60],
      ]) {
        const simulation = createSimulation(800, 600);
        throwTo(simulation, place(simulation, x, y), edge);
        assert.equal(run(simulation, 3000)[0]?.edge, edge, `from ${x}, ${y}`);
      }
    });
  }

  it('counts only the last 100 ms of a drag: a pointer that stops before the release drops the sprite', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 300);
    grab(simulation, sprite, 400, 290, 0);
    drag(simulation, 600, 290, 50);
    drag(simulation, 600, 290, 400);
    release(simulation, 400);
    assert.deepEqual([sprite.vx, sprite.vy, sprite.thrown], [0, 0, false]);
  });

  it('is never faster than SPEED_MAX', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 300);
    fling(simulation, sprite, 90_000, -90_000);
    assert.deepEqual([sprite.vx, sprite.vy], [SPEED_MAX, -SPEED_MAX]);
  });

  it('crosses at the minimum speed and bounces off at one px/s less', () => {
    for (const [vx, crosses] of [
      [CROSSING_SPEED_MIN, true],
      [CROSSING_SPEED_MIN - 1, false],
    ] as const) {
      const simulation = createSimulation(800, 600);
      const sprite = place(simulation, 790, 300);
      sprite.thrown = true;
      sprite.vx = vx;
      assert.equal(run(simulation, 400).length, crosses ? 1 : 0, String(vx));
    }
  });

  it('never lets a sprite leave that was not thrown, however long the simulation runs', () => {
    const simulation = createSimulation(500, 300);
    const random = seededRandom();
    for (let i = 0; i < 8; i++) place(simulation, 60 + i * 50, 50);
    assert.deepEqual(run(simulation, 120_000, random), [], `seed ${seed}`);
    for (const { x, y } of simulation.sprites)
      assert.ok(x >= 0 && x <= 500 && y <= 300.5 && y > 0, `seed ${seed}: ${x}, ${y}`);
  });

  it('lets a sprite through the floor when it is thrown down, not when it falls far', () => {
    const simulation = createSimulation(800, 20_000);
    const sprite = place(simulation, 400, 50);
    assert.deepEqual(run(simulation, 8000), []);
    assert.ok(sprite.y <= 20_000);
    const gentle = createSimulation(800, 600);
    fling(gentle, place(gentle, 400, 300), 0, FLOOR_THROW_SPEED_MIN - 60);
    assert.deepEqual(run(gentle, 2000), []);
  });
});

describe('simulation › entering', () => {
  for (const edge of EDGES) {
    it(`enters over the ${edge} edge at the same place, inwards, and stays`, () => {
      for (const at of [0, 0.25, 1]) {
        const simulation = createSimulation(800, 600);
        const sprite = place(simulation, 0, 0);
        simulation.sprites = [];
        const speed = { left: [900, -50], right: [-900, -50], top: [30, 700], bottom: [30, -700] }[edge];
        enter(simulation, sprite, { edge, at, vx: speed[0], vy: speed[1] });
        assert.deepEqual([sprite.vx, sprite.mode], [speed[0], 'fall']);
        const along = edge === 'left' || edge === 'right' ? (sprite.y - 21) / 600 : sprite.x / 800;
        assert.ok(Math.abs(along - at) < 0.04, `${along}`);
        assert.deepEqual(run(simulation, 5000), []);
        assert.ok(sprite.x >= 22 && sprite.x <= 778 && sprite.y <= 600.5);
      }
    });
  }

  it('does not leave over the far edge, however fast it entered', () => {
    for (const edge of EDGES) {
      const simulation = createSimulation(800, 600);
      const sprite = place(simulation, 0, 0);
      const speed = { left: [5000, 0], right: [-5000, 0], top: [0, 5000], bottom: [0, -5000] }[edge];
      enter(simulation, sprite, { edge, at: 0.5, vx: speed[0], vy: speed[1] });
      assert.deepEqual(run(simulation, 4000), [], edge);
    }
  });

  it('enters fast enough to be seen, even when it left slowly', () => {
    const simulation = createSimulation(800, 600);
    const [side, below] = [place(simulation, 0, 0), place(simulation, 0, 0)];
    enter(simulation, side, { edge: 'left', at: 0.5, vx: 0, vy: 0 });
    enter(simulation, below, { edge: 'bottom', at: 0.5, vx: 0, vy: 0 });
    assert.equal(side.vx, ENTRANCE_SPEED_MIN);
    run(simulation, 300);
    assert.ok(below.y < 600 - NATURE.height / 2);
  });

  it('enters over the opposite edge at the place and speed at which it left the neighbour', () => {
    for (const edge of EDGES) {
      const [here, there] = [createSimulation(800, 600), createSimulation(800, 600)];
      throwTo(here, place(here, 300, 400), edge);
      const [{ sprite, at, vx, vy }] = run(here, 3000);
      enter(there, sprite, { edge: opposite(edge), at, vx, vy });
      assert.ok(Math.sign(sprite.vx) === Math.sign(vx) || vx === 0);
      assert.equal(there.sprites[0], sprite);
    }
  });

  it('enters again over the edge it left by when it was refused', () => {
    for (const edge of EDGES) {
      const simulation = createSimulation(800, 600);
      throwTo(simulation, place(simulation, 300, 400), edge);
      const [departure] = run(simulation, 3000);
      bounceBack(simulation, departure);
      assert.equal(simulation.sprites.length, 1);
      assert.deepEqual(run(simulation, 4000), []);
      assert.ok(departure.sprite.x > 0 && departure.sprite.x < 800 && departure.sprite.y <= 600.5);
    }
  });
});

describe('simulation › company', () => {
  it('moves two sprites apart that landed in one place', () => {
    const simulation = createSimulation(800, 600);
    const [a, b] = [place(simulation, 400, 600), place(simulation, 400, 600)];
    simulation.calm = true;
    run(simulation, 3000, () => 0.9);
    assert.ok(Math.abs(a.x - b.x) >= NATURE.width - 1, `${a.x} ${b.x}`);
  });

  it('passes speed on in a bump, and a bump wakes a sleeping sprite', () => {
    const simulation = createSimulation(800, 600);
    const sleeper = place(simulation, 400, 600);
    sleeper.mode = 'sleep';
    sleeper.nextMs = 1e9;
    const runner = place(simulation, 300, 600);
    runner.mode = 'land';
    runner.nextMs = 1e9;
    runner.vx = 600;
    run(simulation, 300);
    assert.notEqual(sleeper.mode, 'sleep');
    assert.ok(sleeper.x > 405);
  });

  it('does not stop a throw: sprites in its way are knocked aside', () => {
    const simulation = createSimulation(800, 600);
    const [ball, ...pins] = [300, 400, 440, 500, 700].map((x) => place(simulation, x, 600));
    throwTo(simulation, ball, 'right');
    ball.y = 600;
    assert.equal(run(simulation, 2000)[0]?.sprite, ball);
    assert.equal(simulation.sprites.length, pins.length);
  });

  it('falls asleep when it was not touched for long, and wakes when it is grabbed', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 600);
    run(simulation, BORED_MS + 12_000);
    assert.equal(sprite.mode, 'sleep');
    grab(simulation, sprite, 400, 590, 0);
    release(simulation, 500);
    run(simulation, 500);
    assert.notEqual(sprite.mode, 'sleep');
  });

  it('stays where it is when the person wants less motion', () => {
    const simulation = createSimulation(800, 600);
    simulation.calm = true;
    const sprite = place(simulation, 400, 600);
    run(simulation, 30_000, seededRandom());
    assert.equal(sprite.x, 400);
  });

  it('climbs a wall it walks into or turns round, at random', () => {
    for (const [chance, mode] of [
      [0.1, 'climb'],
      [0.9, 'walk'],
    ] as const) {
      const simulation = createSimulation(800, 600);
      const sprite = place(simulation, 770, 600);
      run(simulation, STEP_MS * 2);
      Object.assign(sprite, { mode: 'walk', facing: 'right', nextMs: 1e9 });
      run(simulation, 500, () => chance);
      assert.equal(sprite.mode, mode);
      if (mode === 'climb') assert.ok(sprite.y < 600);
      else assert.equal(sprite.facing, 'left');
    }
  });

  it('runs and jumps by the keys, and does not move by itself for a while after', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 600);
    run(simulation, LANDING_MS * 2, () => 0.9);
    const from = sprite.x;
    steer(simulation, sprite, 'left', true);
    run(simulation, 400);
    assert.ok(sprite.x < from - 30);
    steer(simulation, sprite, 'left', false);
    steer(simulation, sprite, 'jump', true);
    run(simulation, 50);
    assert.equal(sprite.mode, 'fall');
    steer(simulation, sprite, 'jump', false);
    run(simulation, 1500);
    const rest = sprite.x;
    run(simulation, 3000);
    assert.equal(sprite.x, rest);
  });

  it('jumps when the key is up again before the next step', () => {
    const simulation = createSimulation(800, 600);
    const sprite = place(simulation, 400, 600);
    run(simulation, LANDING_MS * 2, () => 0.9);
    steer(simulation, sprite, 'jump', true);
    steer(simulation, sprite, 'jump', false);
    run(simulation, 100);
    assert.ok(sprite.y < 600 - 20, `${sprite.y}`);
  });

  it('finds the topmost sprite under a finger, and none beside it', () => {
    const simulation = createSimulation(800, 600);
    const [under, over] = [place(simulation, 400, 600), place(simulation, 410, 600)];
    assert.equal(spriteAt(simulation, 405, 590, 0), over);
    assert.equal(spriteAt(simulation, 380, 590, 0), under);
    assert.equal(spriteAt(simulation, 370, 590, 0), null);
    assert.equal(spriteAt(simulation, 370, 590, 14), under);
  });
});
