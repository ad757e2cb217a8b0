import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StageEvent, StageSprite } from '../relay/transport.ts';
import { GLIDE_MS, PREDICTED_MS, SILENCE_MS, Silhouettes, seenFrom } from './silhouettes.ts';

const HERE = { width: 900, height: 600 };
const THEIRS = { width: 1800, height: 1200 };

const stage = (sprites: StageSprite[], rest: Partial<StageEvent> = {}): StageEvent => ({
  ...{ type: 'stage', edge: 'left', ageMs: 0, from: { desktop: '1-1', name: 'Bob' }, ...THEIRS },
  ...{ files: ['a', 'b'], sprites, ...rest },
});
const end: StageEvent = { type: 'stage', edge: 'left', files: [], sprites: [] };
const near = (actual: number, expected: number, px = 0.01) =>
  assert.ok(Math.abs(actual - expected) <= px, `${actual}, not ${expected}`);

describe('silhouettes', () => {
  it('are beyond the edge, at the same share of its length', () => {
    assert.deepEqual(seenFrom('left', { x: 1770, y: 1200 }, THEIRS, HERE), { x: -30, y: 600 });
    assert.deepEqual(seenFrom('right', { x: 30, y: 600 }, THEIRS, HERE), { x: 930, y: 300 });
    assert.deepEqual(seenFrom('top', { x: 900, y: 1200 }, THEIRS, HERE), { x: 450, y: 0 });
    assert.deepEqual(seenFrom('bottom', { x: 0, y: 40 }, THEIRS, HERE), { x: 0, y: 640 });
  });

  it('have the picture, animation, facing and scale of the stage, or the defaults', () => {
    const silhouettes = new Silhouettes();
    silhouettes.receive(
      stage([
        { id: 1, x: 1700, y: 1200 },
        { id: 2, x: 1750, y: 1200, file: 1, animation: 'walk', facing: 'left', scale: 2 },
      ]),
      1_000,
    );
    assert.deepEqual(silhouettes.at(1_000, HERE), [
      { id: 1, file: 'a', animation: 'idle', facing: 'right', scale: 1, sinceMs: 1_000, x: -100, y: 600 },
      { id: 2, file: 'b', animation: 'walk', facing: 'left', scale: 2, sinceMs: 1_000, x: -50, y: 600 },
    ]);
    assert.deepEqual(silhouettes.files(), ['a', 'b']);
  });

  it('walk on between two stages, from when the relay received the first, but not for ever', () => {
    const silhouettes = new Silhouettes();
    silhouettes.receive(stage([{ id: 1, x: 1700, y: 1200, vx: 60 }], { ageMs: 200 }), 1_000);
    const x = (ms: number) => silhouettes.at(ms, HERE)[0].x;
    near(x(1_000), -100 + 12);
    near(x(1_500), -100 + 42);
    near(x(800 + PREDICTED_MS), -100 + 60 * (PREDICTED_MS / 1000));
    near(x(900 + PREDICTED_MS), -100 + 60 * (PREDICTED_MS / 1000));
  });

  it('glide to where a new stage has them, without a jump, unless it is far', () => {
    const silhouettes = new Silhouettes();
    silhouettes.receive(stage([{ id: 1, x: 1600, y: 1200 }]), 1_000);
    silhouettes.receive(stage([{ id: 1, x: 1640, y: 1200 }]), 1_100);
    const x = (ms: number) => silhouettes.at(ms, HERE)[0].x;
    near(x(1_100), -200);
    near(x(1_100 + GLIDE_MS), -160 - 40 / Math.E);
    near(x(3_000), -160);
    silhouettes.receive(stage([{ id: 1, x: 1000, y: 1200 }]), 3_000);
    near(x(3_000), -800);
  });

  it('go on with an animation that stays the same, and start another one at its beginning', () => {
    const silhouettes = new Silhouettes();
    const since = (animation: string, ms: number) => {
      silhouettes.receive(stage([{ id: 1, x: 1700, y: 1200, animation }]), ms);
      return silhouettes.at(ms, HERE)[0].sinceMs;
    };
    assert.deepEqual([since('walk', 1_000), since('walk', 2_000), since('idle', 3_000)], [1_000, 1_000, 3_000]);
  });

  it('fall no deeper than the floor', () => {
    const silhouettes = new Silhouettes();
    silhouettes.receive(stage([{ id: 1, x: 1700, y: 1100, vy: 900 }]), 1_000);
    assert.equal(silhouettes.at(2_000, HERE)[0].y, 600);
  });

  it('are gone when a stage does not have them, at the end, and when no stage comes', () => {
    const silhouettes = new Silhouettes();
    const both = stage([1, 2].map((id) => ({ id, x: 1700, y: 1200 })));
    const ids = (ms: number) => silhouettes.at(ms, HERE).map(({ id }) => id);
    silhouettes.receive(both, 1_000);
    silhouettes.receive(stage([{ id: 2, x: 1700, y: 1200 }]), 1_000);
    assert.deepEqual(ids(1_000), [2]);
    silhouettes.receive({ ...end, edge: 'right' }, 1_000);
    assert.deepEqual(ids(1_000), [2], 'the end of another edge');
    silhouettes.receive(end, 1_000);
    assert.deepEqual([ids(1_000), silhouettes.from, silhouettes.edge], [[], null, null]);
    silhouettes.receive(both, 2_000);
    assert.deepEqual(ids(2_000 + SILENCE_MS), [1, 2]);
    assert.deepEqual(ids(2_001 + SILENCE_MS), []);
    assert.equal(silhouettes.from, null);
  });

  it('of another desktop, or another edge, do not glide from those before', () => {
    for (const other of [{ from: { desktop: '2-1', name: 'Carol' } }, { edge: 'right' as const }]) {
      const silhouettes = new Silhouettes();
      silhouettes.receive(stage([{ id: 1, x: 100, y: 1200 }]), 1_000);
      silhouettes.receive(stage([{ id: 1, x: 140, y: 1200 }], other), 1_000);
      assert.equal(silhouettes.at(1_000, HERE)[0].x, other.edge === undefined ? 140 - THEIRS.width : HERE.width + 140);
    }
  });
});
