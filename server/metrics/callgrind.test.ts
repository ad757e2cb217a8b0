import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callgrindOf } from './callgrind.ts';

/** A thread of 10 ms that is in main, which calls work, and work itself. */
const profile = (thread: string, weights: number[]) => ({
  shared: { frames: [{ name: 'main' }, { name: 'work', file: '/a/b.ts', line: 7 }] },
  profiles: [{ name: thread, samples: [[0], [0, 1], [0, 1, 1]], weights }],
});

describe('a file for KCachegrind', () => {
  it('has what each function took, and what it took within those that it calls, in millionths', () => {
    const [head, main, work] = [...callgrindOf(profile('front-1 (12)', [5, 3, 2]))].join('').split('\n\n');
    assert.match(head, /^# callgrind format\n(.*\n)*events: Now\nsummary: 1000000$/);
    assert.equal(
      main,
      'ob=front-1\nfl=\nfn=front-1 · main\n0 500000\ncfi=/a/b.ts\ncfn=front-1 · work\ncalls=1 7\n0 500000',
    );
    assert.equal(
      work,
      'ob=front-1\nfl=/a/b.ts\nfn=front-1 · work\n7 500000\ncfi=/a/b.ts\ncfn=front-1 · work\ncalls=1 7\n7 200000\n',
    );
  });

  it('has an earlier profile beside it, of a process with other thread ids', () => {
    const both = [...callgrindOf(profile('front-1 (12)', [5, 5, 0]), profile('front-1 (99)', [10, 0, 0]))].join('');
    assert.match(both, /\nevents: Now Earlier\nsummary: 1000000 1000000\n/);
    assert.match(both, /\nfn=front-1 · main\n0 500000 1000000\n/);
    assert.match(both, /\nfn=front-1 · work\n7 500000 0\n/);
  });
});
