import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listFunctions, readProfile } from './profile_list.ts';
import type { CpuProfile } from './speedscope.ts';

const frame = (functionName: string) => ({ functionName, url: 'file:///a/b.ts', lineNumber: 4, columnNumber: 0 });

/** main calls work and itself; each of the samples lasts a millisecond. */
function profileOf(samples: number[]): string {
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: { ...frame('(root)'), url: '' }, children: [2] },
      { id: 2, callFrame: frame('main'), children: [3, 4] },
      { id: 3, callFrame: frame('work') },
      { id: 4, callFrame: frame('main') },
    ],
    startTime: 0,
    endTime: samples.length * 1000,
    samples,
    timeDeltas: samples.map((_, n) => (n === 0 ? 0 : 1000)),
  };
  return JSON.stringify(profile);
}

describe('the list of a profile', () => {
  it('has the functions by their own time, and a function that calls itself once', () => {
    assert.deepEqual(listFunctions(readProfile(profileOf([3, 3, 3, 4])), 9), [
      { name: 'main thread · work (b.ts:5)', own: 0.75, whole: 0.75 },
      { name: 'main thread · main (b.ts:5)', own: 0.25, whole: 1 },
    ]);
    assert.equal(listFunctions(readProfile(profileOf([3, 4])), 1).length, 1);
  });

  it('has what has changed most since another profile, also what is gone', () => {
    const [now, before] = [profileOf([2, 2, 2, 2]), profileOf([3, 2])].map(readProfile);
    assert.deepEqual(listFunctions(now, 9, before), [
      { name: 'main thread · main (b.ts:5)', own: 1, whole: 1, before: 0.5 },
      { name: 'main thread · work (b.ts:5)', own: 0, whole: 0, before: 0.5 },
    ]);
  });

  it('says what is no profile', () => {
    for (const [text, why] of [
      ['{', /neither JSON/],
      ['null', /neither/],
      ['{"nodes":[]}', /neither/],
      ['{"profiles":[]}', /neither/],
    ] as const) {
      assert.throws(() => readProfile(text), why);
    }
  });
});
