import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bounds, knownOf, nextTry, search, type Tried } from './search.ts';

const BOUNDS: Bounds = { first: 1000, least: 1, most: 1e6 };

interface Fake {
  capacity: number;
  /** Above this the swarm is the limit. */
  swarm?: number;
  /** A run now and then shows another capacity, by up to this share. */
  noise?: number;
  /** Interrupted in the n-th run. */
  interruptAt?: number;
  /** Runs there is time for. */
  runs?: number;
  bounds?: Bounds;
  seed?: number;
}

/** A relay that holds up to its capacity. */
async function searchFake({ capacity, swarm = Infinity, noise = 0, bounds = BOUNDS, ...fake }: Fake) {
  let state = fake.seed ?? 1;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  let runs = 0;
  const { tries, ended } = await search<Tried>(
    bounds,
    ({ long }) => runs + (long ? 1 : 2) <= (fake.runs ?? Infinity),
    async ({ at, long }) => {
      if (++runs === fake.interruptAt) return undefined;
      const now = capacity * (1 + (long ? 0.3 : 1) * noise * (2 * random() - 1));
      if (at > swarm) return { at, long, holds: false, limit: 'swarm', reason: 'it was late' };
      const holds = at <= now;
      return { at, long, holds, limit: holds ? 'none' : 'relay', reason: holds ? '' : 'p99 < 10ms: 20 ms' };
    },
  );
  return { ...knownOf(tries), tries, ended };
}

describe('search for a capacity', () => {
  for (const capacity of [1, 37, 999, 1000, 1001, 16_000, 23_456, 999_999]) {
    it(`finds ${capacity} within a tenth, and confirms it with a longer run`, async () => {
      const { held, notHeld, confirmed, ended, tries } = await searchFake({ capacity });
      assert.ok(held && notHeld, JSON.stringify(tries));
      assert.ok(held.at <= capacity && notHeld.at > capacity, `${held.at} … ${notHeld.at}`);
      assert.ok(notHeld.at / held.at <= 1.11 || held.at === 1, `${held.at} … ${notHeld.at}`);
      assert.deepEqual([confirmed, ended, notHeld.limit], [true, 'found', 'relay']);
      assert.ok(tries.length < 22, String(tries.length));
    });
  }

  it('says that the swarm was the limit, and brackets the answer from below', async () => {
    const { held, notHeld, confirmed } = await searchFake({ capacity: 50_000, swarm: 20_000 });
    assert.ok(held && notHeld && held.at <= 20_000 && notHeld.at > 20_000);
    assert.deepEqual([notHeld.limit, notHeld.reason, confirmed], ['swarm', 'it was late', true]);
  });

  it('knows no upper bound when the most that is allowed holds', async () => {
    const { held, notHeld, confirmed } = await searchFake({ capacity: 1e9 });
    assert.deepEqual([held?.at, notHeld, confirmed], [1e6, undefined, true]);
  });

  it('finds nothing when the least does not hold', async () => {
    const { held, notHeld, ended } = await searchFake({ capacity: 0.5 });
    assert.deepEqual([held, notHeld?.at, ended], [undefined, 1, 'found']);
  });

  it('ends near the capacity of a relay whose runs are noisy, whatever the seed', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { held, confirmed, ended, tries } = await searchFake({ capacity: 16_000, noise: 0.25, seed });
      const said = `seed ${seed}: ${JSON.stringify(tries.map(({ at, long, holds }) => [at, long, holds]))}`;
      assert.ok(held && held.at >= 11_000 && held.at <= 17_500, said);
      assert.deepEqual([confirmed, ended], [true, 'found'], said);
    }
  });

  it('goes down when the longer run does not hold, and tries what did not hold once more', () => {
    const tried = (at: number, holds: boolean, long = false): Tried => ({
      ...{ at, holds, long },
      ...{ limit: holds ? 'none' : 'relay', reason: '' },
    });
    const tries = [tried(1000, true), tried(2000, false), tried(1400, false), tried(1200, true), tried(1300, true)];
    assert.deepEqual(nextTry(tries, BOUNDS), { at: 1300, long: true });
    tries.push(tried(1300, false, true));
    assert.equal(knownOf(tries).held?.at, 1200);
    assert.deepEqual(nextTry(tries, BOUNDS), { at: 1200, long: true });
    tries.push(tried(1200, true, true));
    assert.deepEqual(knownOf(tries), { held: tries[6], notHeld: tries[5], confirmed: true });
    assert.deepEqual(nextTry(tries, BOUNDS), undefined, 'both ends have been tried twice');
    assert.deepEqual(nextTry(tries.slice(0, 5).concat(tried(1300, true, true)), BOUNDS), { at: 1400, long: false });
  });

  it('keeps what is known when it is interrupted', async () => {
    const { held, notHeld, confirmed, ended } = await searchFake({ capacity: 16_500, interruptAt: 7 });
    assert.deepEqual([held?.at, notHeld?.at, confirmed, ended], [16_000, 32_000, false, 'interrupted']);
    const none = await searchFake({ capacity: 16_500, interruptAt: 1 });
    assert.deepEqual([none.held, none.tries.length], [undefined, 0]);
  });

  it('confirms what it has when time runs out', async () => {
    const { held, confirmed, ended, tries } = await searchFake({ capacity: 16_500, runs: 7 });
    assert.deepEqual([held?.at, confirmed, ended, tries.length], [16_000, true, 'time', 7]);
  });
});
