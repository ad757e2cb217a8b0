import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STAGE_REFRESH_MS } from '../../wire/rules.ts';
import { checkStage } from '../../wire/stage.ts';
import { WATCHED_MAX } from '../state/limits.ts';
import { Stages } from './stages.ts';

const FILE = '0123456789abcdef'.repeat(4);

const AT = { id: 1, x: 100, y: 200, vx: 60, vy: -40 };

const bodyOf = (sprites: object[], width = 1000) => checkStage({ width, height: 500, files: [FILE], sprites }).body;

function setUp(sprites: object[] = [AT]) {
  const stages = new Stages(4);
  const row = stages.add();
  const body = bodyOf(sprites);
  stages.set(row, body, 0, body.length, 5000);
  const isPredicted = (others: object[], elapsedMs: number, tolerance = 4, width?: number) =>
    stages.isPredicted(row, bodyOf(others, width), 0, 5000 + elapsedMs, tolerance);
  return { stages, row, isPredicted };
}

describe('a stage that waits', () => {
  it('is written as it was set, and a newer one overwrites it', () => {
    const { stages, row } = setUp();
    const out = Buffer.alloc(4096);
    const other = stages.add();
    const padded = Buffer.concat([Buffer.from('###'), bodyOf([{ id: 2, x: 1, y: 1 }])]);
    stages.set(other, padded, 3, padded.length, 6000);
    const json = (of: number) => `{${out.toString('utf8', 7, stages.write(of, out, 7))}`;
    assert.deepEqual(JSON.parse(json(row)), { width: 1000, height: 500, files: [FILE], sprites: [AT] });
    assert.deepEqual(JSON.parse(json(other)).sprites, [{ id: 2, x: 1, y: 1 }]);
    const empty = bodyOf([]);
    stages.set(row, empty, 0, empty.length, 7000);
    assert.deepEqual(JSON.parse(json(row)).sprites, []);
    assert.deepEqual([stages.ageMs(row, 7012.4), stages.ageMs(row, 6999)], [12, 0]);
  });

  it('has one of a fixed number of rows: at the limit, and one above; a released row is empty when it is used again', () => {
    const { stages, row } = setUp();
    const rows = [row, stages.add(), stages.add(), stages.add()];
    assert.equal(new Set(rows).size, 4);
    assert.equal(stages.count, 4);
    assert.equal(stages.add(), -1);
    assert.ok(stages.has(row));
    stages.release(row);
    assert.equal(stages.count, 3);
    assert.equal(stages.add(), row);
    assert.ok(!stages.has(row));
  });

  it('has one of WATCHED_MAX rows: one below, at the limit, one above', () => {
    const stages = new Stages();
    for (let row = 0; row < WATCHED_MAX - 1; row++) assert.equal(stages.add(), row);
    assert.equal(stages.add(), WATCHED_MAX - 1);
    assert.equal(stages.add(), -1);
    assert.equal(stages.count, WATCHED_MAX);
  });
});

describe('the prediction of a stage', () => {
  it('expects each sprite where its speed has moved it, within the tolerance: below, at it, above, in each direction', () => {
    const { isPredicted } = setUp();
    // After half a second it is expected at 130, 180.
    for (const [dx, dy, is] of [
      ...([
        [0, 0, true],
        [3, 0, true],
        [4, 0, true],
        [5, 0, false],
        [-3, 0, true],
        [-4, 0, true],
        [-5, 0, false],
      ] as const),
      ...([
        [0, 3, true],
        [0, 4, true],
        [0, 5, false],
        [0, -3, true],
        [0, -4, true],
        [0, -5, false],
        [4, 4, true],
      ] as const),
    ]) {
      assert.equal(isPredicted([{ ...AT, x: 130 + dx, y: 180 + dy }], 500), is, `${dx}, ${dy}`);
    }
    assert.ok(!isPredicted([AT], 500), 'it has stopped');
    assert.ok(isPredicted([{ ...AT, x: 130, y: 180 }], 500, 0), 'exactly');
    assert.ok(!isPredicted([{ ...AT, x: 131, y: 180 }], 500, 0), 'one pixel off');
  });

  it('does not expect another sprite, one more, one less, another look or another screen', () => {
    const two = [AT, { id: 2, x: 0, y: 0 }];
    const { isPredicted } = setUp(two);
    const then = { ...AT, x: 106, y: 196 };
    const other = { id: 2, x: 0, y: 0 };
    assert.ok(isPredicted([then, other], 100));
    assert.ok(isPredicted([other, then], 100), 'the order does not matter');
    assert.ok(!isPredicted([then], 100), 'gone');
    assert.ok(!isPredicted([then, other, { id: 3, x: 0, y: 0 }], 100), 'new');
    assert.ok(!isPredicted([then, { ...other, id: 3 }], 100), 'another one');
    for (const look of [{ animation: 'walk' }, { facing: 'left' }, { scale: 2 }]) {
      assert.ok(!isPredicted([{ ...then, ...look }, other], 100), JSON.stringify(look));
    }
    assert.ok(!isPredicted([then, other], 100, 4, 1001), 'another screen');
  });

  it('ends after STAGE_REFRESH_MS: one below, at the limit, one above; and is impossible without a stage', () => {
    const { stages, row, isPredicted } = setUp([{ id: 1, x: 5, y: 5 }]);
    const still = [{ id: 1, x: 5, y: 5 }];
    assert.ok(isPredicted(still, STAGE_REFRESH_MS - 1));
    assert.ok(!isPredicted(still, STAGE_REFRESH_MS));
    assert.ok(!isPredicted(still, STAGE_REFRESH_MS + 1));
    stages.release(row);
    stages.add();
    assert.ok(!isPredicted(still, 100));
  });
});
