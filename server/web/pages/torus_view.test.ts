import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flightAt, VIEW, viewOf } from './torus_view.ts';

describe('the view of the world', () => {
  it('wraps in both directions, and after a whole turn', () => {
    const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a} ${b}`);
    for (const [x, y, turn] of [
      [1.3, 0.4, 0.5],
      [0.3, 1.4, 0.5],
      [0.3, 0.4, 0.5 + 2 * Math.PI],
    ]) {
      const [one, other] = [viewOf(x, y, turn), viewOf(0.3, 0.4, 0.5)];
      near(one.x, other.x);
      near(one.y, other.y);
      near(one.depth, other.depth);
    }
  });

  it('has the near side below the far side, larger and facing the viewer', () => {
    const [near, far] = [viewOf(0, 0.2, 0), viewOf(0.5, 0.2, 0)];
    assert.ok(near.y > far.y && near.depth > far.depth && near.scale > far.scale);
    assert.ok(near.facing > 0);
    assert.ok(viewOf(0.5, 0.25, 0).facing < 0, 'the outside of the far side is hidden');
  });

  it('has room for the ring and for the highest flight everywhere above it, and no more', () => {
    const [, , height] = flightAt({ x: 0, y: 0, edge: 'right' }, 4, 2, 0.5);
    const parts = Array.from({ length: 200 }, (_, i) => i / 200);
    const points = parts.flatMap((x) => parts.flatMap((y) => [viewOf(x, y, 0), viewOf(x, y, 0, height)]));
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y - VIEW.middle)];
    for (const [furthest, room] of [
      [xs.reduce((a, b) => Math.min(a, b)), -VIEW.width / 2],
      [xs.reduce((a, b) => Math.max(a, b)), VIEW.width / 2],
      [ys.reduce((a, b) => Math.min(a, b)), -VIEW.height / 2],
      [ys.reduce((a, b) => Math.max(a, b)), VIEW.height / 2],
    ]) {
      assert.ok(Math.abs(furthest) <= Math.abs(room), `${furthest} ${room}`);
      assert.ok(Math.abs(furthest - room) < 0.02, `${furthest} ${room}`);
    }
  });

  it('has flights that leave by their edge, rise, and land one desktop further', () => {
    const from = { x: 0.5, y: 0.5 };
    for (const [edge, x, y] of [
      ['left', 0.25, 0.5],
      ['right', 0.75, 0.5],
      ['top', 0.5, 0],
      ['bottom', 0.5, 1],
    ] as const) {
      assert.deepEqual(flightAt({ ...from, edge }, 4, 2, 0), [0.5, 0.5, 0]);
      const [endX, endY] = flightAt({ ...from, edge }, 4, 2, 1);
      assert.deepEqual([endX, endY], [x, y], edge);
      assert.ok(flightAt({ ...from, edge }, 4, 2, 0.5)[2] > 0);
    }
    const [, far] = flightAt({ ...from, edge: 'right' }, 1024, 1024, 1);
    assert.ok(
      flightAt({ ...from, edge: 'right' }, 1024, 1024, 1)[0] - 0.5 > 0.05 && far === 0.5,
      'far enough to be seen',
    );
  });
});
