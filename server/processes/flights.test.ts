import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Flights, LOOKS_PER_STEP_MAX, PART_MS, STEP_MS } from './flights.ts';

const [CAT, DOG] = ['c'.repeat(64), 'd'.repeat(64)];
const passageOf = (file: string) => Buffer.from(`???,"edge":"left","at":0,"sprite":{"file":"${file}","name":"file"}}`);

describe('flights', () => {
  it('of tracked pictures are counted, and forgotten after a minute', () => {
    const flights = new Flights();
    flights.track([CAT]);
    flights.advance(0);
    for (const file of [CAT, DOG, CAT]) flights.count(passageOf(file), 3);
    assert.deepEqual(flights.newest, { [CAT]: 2 });
    for (let ms = PART_MS; ms < 6 * PART_MS; ms += PART_MS) flights.advance(ms);
    assert.deepEqual(flights.newest, { [CAT]: 2 });
    flights.advance(6 * PART_MS);
    assert.deepEqual(flights.newest, {});
  });

  it('keep their counts when others are tracked too', () => {
    const flights = new Flights();
    flights.track([CAT]);
    flights.advance(0);
    flights.count(passageOf(CAT), 0);
    flights.track([DOG, CAT]);
    flights.count(passageOf(DOG), 0);
    assert.deepEqual(flights.newest, { [DOG]: 1, [CAT]: 1 });
    flights.track([DOG]);
    assert.deepEqual(flights.newest, { [DOG]: 1 });
  });

  it('are estimated from LOOKS_PER_STEP_MAX crossings when a step has more', () => {
    const flights = new Flights();
    flights.track([CAT, DOG]);
    flights.advance(0);
    for (let n = 0; n < 10 * LOOKS_PER_STEP_MAX; n++) flights.count(passageOf(n % 2 ? CAT : DOG), 0);
    const half = 5 * LOOKS_PER_STEP_MAX;
    assert.deepEqual(flights.newest, { [CAT]: half, [DOG]: half });
    flights.advance(STEP_MS);
    flights.count(passageOf(CAT), 0);
    assert.ok(flights.newest[CAT] > half, 'the next step looks again');
  });
});
