import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { journeyLines, whenWords } from './journey_words.ts';

const VECTORS = new URL('../../../client-win/relay.vectors.json', import.meta.url);
const vectors = JSON.parse(readFileSync(VECTORS, 'utf8'));

/** Without a page, a phrase is its key. */
const NOW = new Date(2026, 10, 25, 12);
const seconds = (...day: [number, number, number]) => new Date(...day, 9).getTime() / 1000;

describe('the words of a journey', () => {
  it('say from whom, and by way of whom, as far as nobody is left out', () => {
    const lineOf = (hops: number, from: string[]) =>
      journeyLines('Miso', { hops, since: seconds(2026, 10, 24), by: '', from }, NOW)[1];
    assert.equal(lineOf(1, []), undefined);
    assert.equal(lineOf(1, ['Ada']), 'journey.from');
    assert.equal(lineOf(2, ['Ada', 'Bob']), 'journey.from-by-way');
    assert.equal(lineOf(3, ['Ada', 'Bob']), 'journey.by-way');
  });

  it('say since when: today, a day of the last six, or a date, with the year if it is another one', () => {
    const when = (...day: [number, number, number]) => whenWords(new Date(...day, 23, 30), NOW);
    assert.equal(when(2026, 10, 25), 'journey.today');
    assert.equal(when(2027, 0, 1), 'journey.today', 'by another clock');
    assert.equal(when(2026, 10, 24), 'Tuesday');
    assert.equal(when(2026, 10, 19), 'Thursday');
    assert.equal(when(2026, 10, 18), 'November 18');
    assert.equal(when(2025, 10, 18), 'November 18, 2025');
  });

  for (const language of ['en', 'de'] as const) {
    it(`are those of the vectors, as in the programs: ${language}`, async () => {
      const worker = new Worker(new URL('../../test/told_words.ts', import.meta.url), { workerData: language });
      const [shown] = await once(worker, 'message');
      type Words = Record<typeof language, string>;
      assert.deepEqual(shown, {
        tells: vectors.told.map(({ tells }: { tells: Words }) => tells[language]),
        home: vectors.told.map(({ home }: { home: Words }) => home[language]),
        seen: vectors.seen.map(({ says }: { says: Words }) => says[language]),
      });
    });
  }
});
