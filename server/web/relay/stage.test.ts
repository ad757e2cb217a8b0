import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STAGE_BYTES_MAX, STAGE_SPRITES_MAX } from '../../wire/rules.ts';
import { addSprite, createSimulation, type Mode, type Sprite } from '../motion/simulation.ts';
import { isNews, STAGE_DEPTH, STAGE_TOLERANCE, stageOf } from './stage.ts';
import type { Stage } from './transport.ts';

const nature = { width: 40, height: 40, walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3, hopChance: 0.12 };
const hash = (n: number) => n.toString(16).padStart(64, '0');

/** A desktop of 2000 × 1000 px. */
const desktop = () => createSimulation(2000, 1000);

function put(simulation: ReturnType<typeof desktop>, x: number, y: number, rest: Partial<Sprite> = {}): Sprite {
  const sprite = addSprite(simulation, {
    ...{ file: hash(1), name: '', scale: 1, fromShelf: true, nature, facing: 'right', x, y },
  });
  return Object.assign(sprite, { mode: 'idle' }, rest);
}

const all = () => true;
const xs = ({ sprites }: Stage) => sprites.map(({ x }) => x);

describe('the stage', () => {
  it(`has the sprites within ${STAGE_DEPTH} px of a watched edge, the nearest first`, () => {
    const simulation = desktop();
    for (const x of [STAGE_DEPTH, STAGE_DEPTH + 1, 10, 1990]) put(simulation, x, 1000);
    assert.deepEqual(xs(stageOf(simulation, ['left'], all)), [10, STAGE_DEPTH]);
    assert.deepEqual(xs(stageOf(simulation, ['left', 'right'], all)), [10, 1990, STAGE_DEPTH]);
    assert.deepEqual(xs(stageOf(simulation, ['top'], all)), []);
    assert.equal(stageOf(simulation, ['bottom'], all).sprites.length, 4);
    assert.deepEqual(stageOf(simulation, [], all).sprites, []);
  });

  it('leaves out defaults, and has whole pixels', () => {
    const simulation = desktop();
    const plain = put(simulation, 10.4, 999.6);
    const walking = put(simulation, 20, 1000, { mode: 'walk', vx: -60.2, facing: 'left', file: hash(2) });
    Object.assign(walking, { scale: 2 });
    const { files, sprites, width, height } = stageOf(simulation, ['left'], all);
    assert.deepEqual([width, height, files], [2000, 1000, [hash(1), hash(2)]]);
    assert.deepEqual(sprites, [
      { id: plain.id, x: 10, y: 1000 },
      { ...{ id: walking.id, x: 20, y: 1000 }, ...{ file: 1, vx: -60, animation: 'walk', facing: 'left', scale: 2 } },
    ]);
  });

  it('says how a sprite moves, whatever its speed was before it was dragged or began to climb', () => {
    const moving = (mode: Mode) => {
      const simulation = desktop();
      put(simulation, 10, 500, { mode, vx: 300, vy: -200 });
      const [{ vx, vy }] = stageOf(simulation, ['left'], all).sprites;
      return [vx, vy];
    };
    assert.deepEqual(moving('fall'), [300, -200]);
    assert.deepEqual(moving('walk'), [300, undefined]);
    assert.deepEqual(moving('climb'), [undefined, -48]);
    for (const mode of ['drag', 'sleep', 'hang'] as const) assert.deepEqual(moving(mode), [undefined, undefined]);
  });

  it(`has at most ${STAGE_SPRITES_MAX} sprites and ${STAGE_BYTES_MAX} bytes: those farthest from the edge are left out`, () => {
    const simulation = desktop();
    for (let i = 0; i < 40; i++) put(simulation, 400 - 5 * i, 1000);
    const sameFile = stageOf(simulation, ['left'], all);
    assert.equal(sameFile.sprites.length, STAGE_SPRITES_MAX);
    assert.deepEqual([xs(sameFile)[0], xs(sameFile).at(-1)], [205, 205 + 5 * (STAGE_SPRITES_MAX - 1)]);
    for (const [i, sprite] of simulation.sprites.entries()) Object.assign(sprite, { file: hash(i) });
    const otherFiles = stageOf(simulation, ['left'], all);
    const bytes = JSON.stringify({ stage: Number.MAX_SAFE_INTEGER, ...otherFiles }).length;
    assert.ok(bytes <= STAGE_BYTES_MAX && bytes > STAGE_BYTES_MAX - 150, `${bytes} bytes`);
    assert.equal(xs(otherFiles)[0], 205);
    // One byte more at a time, so that stages come as near to the limit as they can.
    for (let i = 0; i < 150; i++) {
      Object.assign(simulation.sprites[39 - (i % 20)], { vx: 10 ** Math.floor(i / 20), mode: 'walk' });
      const stage = JSON.stringify({ stage: Number.MAX_SAFE_INTEGER, ...stageOf(simulation, ['left'], all) });
      assert.ok(stage.length <= STAGE_BYTES_MAX, `${stage.length} bytes`);
    }
  });

  it('does not have pictures that are not to be shown', () => {
    const simulation = desktop();
    put(simulation, 10, 1000);
    put(simulation, 20, 1000, { file: hash(2) });
    const stage = stageOf(simulation, ['left'], (file) => file !== hash(1));
    assert.deepEqual([stage.files, xs(stage)], [[hash(2)], [20]]);
  });

  it('is news when a watcher draws a sprite more than the tolerance away from where it is', () => {
    const simulation = desktop();
    const sprite = put(simulation, 100, 1000, { mode: 'walk', vx: 60 });
    const posted = stageOf(simulation, ['left'], all);
    const newsAt = (x: number, y: number, passedMs: number) => {
      Object.assign(sprite, { x, y });
      return isNews(posted, passedMs, stageOf(simulation, ['left'], all));
    };
    assert.equal(newsAt(100, 1000, 0), false);
    assert.equal(newsAt(160, 1000, 1000), false, 'it walks as the watcher knows');
    assert.equal(newsAt(160 + STAGE_TOLERANCE, 1000, 1000), false);
    assert.equal(newsAt(160 + STAGE_TOLERANCE + 1, 1000, 1000), true);
    assert.equal(newsAt(160, 1000 - STAGE_TOLERANCE - 1, 1000), true);
    assert.equal(newsAt(100, 1000, 1000), true, 'it has stopped');
  });

  it('is news when a sprite comes, goes, or looks different, and when the desktop has another size', () => {
    const simulation = desktop();
    const sprite = put(simulation, 100, 1000);
    const posted = stageOf(simulation, ['left'], all);
    const isChanged = () => isNews(posted, 0, stageOf(simulation, ['left'], all));
    for (const change of [
      { mode: 'sleep' },
      { facing: 'left' },
      { file: hash(2) },
      { scale: 2 },
    ] as Partial<Sprite>[]) {
      const before = { ...sprite };
      Object.assign(sprite, change);
      assert.ok(isChanged(), JSON.stringify(change));
      Object.assign(sprite, before);
      assert.ok(!isChanged());
    }
    const guest = put(simulation, 50, 1000);
    assert.ok(isChanged());
    simulation.sprites = [guest];
    assert.ok(isChanged(), 'another one is there instead');
    simulation.sprites = [sprite];
    simulation.width = 1999;
    assert.ok(isChanged());
  });
});
