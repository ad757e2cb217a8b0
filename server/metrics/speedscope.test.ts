import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CpuProfile, SpeedscopeFile } from './speedscope.ts';

interface File {
  $schema: string;
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: {
    type: string;
    name: string;
    unit: string;
    startValue: number;
    endValue: number;
    samples: number[][];
    weights: number[];
  }[];
}

const read = (file: SpeedscopeFile) => JSON.parse([...file.text()].join('')) as File;
const node = (id: number, functionName: string, children: number[] = [], url = '') => ({
  ...{ id, children, callFrame: { functionName, url, lineNumber: 9, columnNumber: 0 } },
});

describe('a file for speedscope', () => {
  it('is whole without a profile', () => {
    const { shared, profiles, $schema } = read(new SpeedscopeFile('empty'));
    assert.deepEqual([shared.frames, profiles], [[], []]);
    assert.equal($schema, 'https://www.speedscope.app/file-format-schema.json');
  });

  it('puts samples with the same stack together, and keeps the time', () => {
    const file = new SpeedscopeFile('a');
    const [a, b] = [[file.frame({ name: 'a' })], [file.frame({ name: 'a' }), file.frame({ name: 'b' })]];
    file.add('thread', 5, [10, 10, 30, 10], (i) => [a, a, b, a][i]);
    const [profile] = read(file).profiles;
    assert.deepEqual(
      [profile.samples, profile.weights],
      [
        [[0], [0, 1], [0]],
        [20, 30, 10],
      ],
    );
    assert.deepEqual([profile.startValue, profile.endValue, profile.unit], [5, 65, 'milliseconds']);
  });

  it('has the stacks of a CPU profile from the outside in, each for as long as until the next sample', () => {
    const profile: CpuProfile = {
      nodes: [node(1, '(root)', [2, 4]), node(2, 'outer', [3], 'file:///a.ts'), node(3, '', []), node(4, '(idle)')],
      ...{ startTime: 1_000_000, endTime: 1_060_000 },
      ...{ samples: [2, 3, 3, 4], timeDeltas: [5_000, 10_000, 10_000, 15_000] },
    };
    const file = new SpeedscopeFile('a');
    file.addCpuProfile('JavaScript', 0, profile);
    const { shared, profiles } = read(file);
    const [{ samples, weights, startValue, endValue }] = profiles;
    const names = samples.map((stack) => stack.map((frame) => shared.frames[frame].name).join(' '));
    assert.deepEqual(names, ['outer', 'outer (anonymous)', '(idle)']);
    assert.deepEqual(weights, [10, 25, 20]);
    assert.deepEqual([startValue, endValue], [5, 60]);
    assert.deepEqual(shared.frames[0], { name: 'outer', file: 'file:///a.ts', line: 10, col: 1 });
  });

  it('accepts a CPU profile without a sample', () => {
    const file = new SpeedscopeFile('a');
    file.addCpuProfile('JavaScript', 0, { nodes: [node(1, '(root)')], startTime: 0, endTime: 0 });
    assert.deepEqual(read(file).profiles[0].samples, []);
  });
});
