import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { History, SAMPLE_MS, SAMPLES_MAX, SERIES_MAX } from './history.ts';

interface Document {
  started: number;
  stepMs: number;
  samplesMax: number;
  first: number;
  times: number[];
  series: Record<string, (number | null)[]>;
}

async function read(history: History, after = 0): Promise<Document> {
  let text = '';
  for await (const piece of history.document(after, { cores: 2 })) text += piece;
  return JSON.parse(text);
}

/** A history with samples 1 … count, whose series `n` is the number of the sample. */
function counted(count: number): History {
  const history = new History(7);
  for (let n = 1; n <= count; n++) {
    history.begin(n * SAMPLE_MS);
    history.set('n', n);
  }
  return history;
}

describe('the history', () => {
  it('is a whole document before the first sample', async () => {
    const about = { cores: 2, started: 7, stepMs: SAMPLE_MS, samplesMax: SAMPLES_MAX };
    assert.deepEqual(await read(new History(7)), { ...about, first: 1, times: [], series: {} });
  });

  for (const count of [1, SAMPLES_MAX - 1, SAMPLES_MAX, SAMPLES_MAX + 1, 3 * SAMPLES_MAX]) {
    it(`has the newest ${SAMPLES_MAX} of ${count} samples, oldest first`, async () => {
      const { first, times, series } = await read(counted(count));
      assert.equal(first, Math.max(1, count - SAMPLES_MAX + 1));
      assert.equal(times.length, Math.min(count, SAMPLES_MAX));
      assert.deepEqual(
        series.n,
        times.map((_, i) => first + i),
      );
      assert.equal(times.at(-1), count * SAMPLE_MS);
    });
  }

  it('has the samples after a number, and everything when the number is another run’s or too old', async () => {
    const history = counted(SAMPLES_MAX + 5);
    assert.deepEqual((await read(history, SAMPLES_MAX + 3)).series.n, [SAMPLES_MAX + 4, SAMPLES_MAX + 5]);
    assert.deepEqual((await read(history, SAMPLES_MAX + 5)).times, []);
    for (const after of [0, 4, SAMPLES_MAX + 6]) assert.equal((await read(history, after)).times.length, SAMPLES_MAX);
    assert.equal((await read(history, 6)).first, 7);
  });

  it('has null where a series has no value', async () => {
    const history = counted(1);
    history.begin(2);
    history.set('later', 0.12345);
    assert.deepEqual((await read(history)).series, { n: [1, null], later: [null, 0.123] });
  });

  it(`holds ${SERIES_MAX} series, refuses one more, and replaces one that has no value any more`, async () => {
    const history = new History(0);
    history.begin(1);
    for (let i = 0; i < SERIES_MAX; i++) assert.ok(history.set(`series ${i}`, i));
    assert.ok(!history.set('one more', 1));
    for (let n = 0; n < 2 * SAMPLES_MAX; n++) {
      history.begin(n);
      for (let i = 1; i < SERIES_MAX; i++) history.set(`series ${i}`, i);
    }
    assert.ok(history.set('one more', 5));
    const { series } = await read(history);
    assert.equal(series['one more'].at(-1), 5);
    assert.ok(!('series 0' in series) && Object.keys(series).length === SERIES_MAX);
  });

  it('is not mixed up by samples that are taken while it is read', async () => {
    const history = counted(2 * SAMPLES_MAX);
    for (let i = 0; i < 40; i++) history.set(`other ${i}`, 1);
    let text = '';
    let pieces = 0;
    for await (const piece of history.document(0, {})) {
      text += piece;
      if (++pieces <= 6) {
        history.begin(0);
        history.set('n', -1);
      }
    }
    const { series, first, times } = JSON.parse(text) as Document;
    assert.equal(times.length, SAMPLES_MAX);
    assert.deepEqual(
      series.n,
      times.map((_, i) => first + i),
    );
  });
});
