/** The small nouns that bound the sprite store: the limiter, the cache entries, and the stored files. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Limiter } from '../store/limiter.ts';
import { LruCache } from '../store/lru_cache.ts';
import { HOUR_MS, StoredFiles } from '../store/stored_files.ts';
import { ProblemError } from '../wire/problem.ts';

describe('a limiter', () => {
  it('runs so many works at a time, in order, lets so many wait, and refuses one more', async () => {
    const limiter = new Limiter(2, 3);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const work = (n: number) => () => {
      started.push(n);
      return new Promise<number>((resolve) => ends.push(() => resolve(n)));
    };
    const results = [0, 1, 2, 3, 4].map((n) => limiter.run(undefined, work(n)));
    await assert.rejects(
      limiter.run(undefined, work(5)),
      (error: unknown) => error instanceof ProblemError && error.document.code === 'relay-busy',
    );
    assert.deepEqual(started, [0, 1]);
    for (let n = 0; n < 5; n++) {
      ends[n]();
      assert.equal(await results[n], n);
      await new Promise(setImmediate);
      assert.equal(started.length, Math.min(5, n + 3));
    }
    assert.deepEqual(started, [0, 1, 2, 3, 4]);
  });

  it('gives one holder a third of its places, and starts the work of others in its turn', async () => {
    const limiter = new Limiter(1, 8);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const greedy = [1, 2, 3].map(() => limiter.run('greedy', () => end));
    await assert.rejects(
      limiter.run('greedy', () => end),
      /relay is busy/,
    );
    const other = limiter.run('other', async () => 'served');
    resolve();
    assert.equal(await other, 'served');
    await Promise.all(greedy);
    assert.equal(await limiter.run('greedy', async () => 'again'), 'again');
  });

  it('goes on after a work that fails', async () => {
    const limiter = new Limiter(1, 1);
    const fails = limiter.run(undefined, () => Promise.reject(new Error('no')));
    const next = limiter.run(undefined, async () => 'yes');
    await assert.rejects(fails, /no/);
    assert.equal(await next, 'yes');
    assert.equal(await limiter.run(undefined, async () => 'again'), 'again');
  });
});

describe('an LRU cache', () => {
  it('keeps entries up to the bound; then the least recently used go', () => {
    const cache = new LruCache<number>(10);
    cache.set('a', 1, 4);
    cache.set('b', 2, 6);
    assert.equal(cache.size, 10);
    assert.equal(cache.get('a'), 1);
    cache.set('c', 3, 1);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c'), cache.size], [1, undefined, 3, 5]);
    cache.set('d', 4, 11);
    assert.deepEqual([cache.get('d'), cache.size], [undefined, 5], 'one larger than the bound is not kept');
    cache.set('a', 5, 1);
    cache.delete('c');
    cache.delete('nothing');
    assert.deepEqual([cache.get('a'), cache.size], [5, 1]);
  });
});

describe('the stored files', () => {
  it('are counted, and the oldest is one of the oldest hour, if that is before the given one', () => {
    const files = new StoredFiles();
    files.add('a', 10, 5 * HOUR_MS);
    files.add('b', 20, 6 * HOUR_MS);
    files.add('a', 11, 7 * HOUR_MS);
    assert.deepEqual([files.count, files.bytes], [2, 31]);
    assert.equal(files.oldest(6 * HOUR_MS + 1), undefined);
    assert.equal(files.oldest(7 * HOUR_MS), 'b');
    assert.equal(files.use('b', 6 * HOUR_MS + 5), false, 'in the same hour');
    assert.equal(files.use('b', 8 * HOUR_MS), true);
    assert.equal(files.use('b', 7 * HOUR_MS), false, 'time does not go back');
    assert.equal(files.use('c', 9 * HOUR_MS), false, 'unknown');
    assert.equal(files.oldest(9 * HOUR_MS), 'a');
    files.delete('a');
    files.delete('c');
    assert.equal(files.oldest(9 * HOUR_MS), 'b');
    assert.deepEqual([files.count, files.bytes], [1, 20]);
  });
});
