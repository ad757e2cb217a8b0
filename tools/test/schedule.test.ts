/** On the order of the suites. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Planned, Schedule } from './schedule.ts';

const BUSY = 0;
const IDLE = 2;

function planned(file: string, seconds: number, rest: Partial<Planned> = {}): Planned {
  return { file, seconds, needs: [], isQuiet: false, ...rest };
}

/** The names of the suites that start now. */
function started(schedule: Schedule, idleCores: number): string[] {
  const names: string[] = [];
  for (let one = schedule.next(idleCores); one !== undefined; one = schedule.next(idleCores)) names.push(one.file);
  return names;
}

describe('schedule', () => {
  it('starts the longest suites first, one for each core', () => {
    const schedule = new Schedule([planned('short', 1), planned('long', 9), planned('middle', 5)], [], 2);
    assert.deepEqual(started(schedule, BUSY), ['long', 'middle']);
  });

  it('starts the next one when one ends, until all have run', () => {
    const suites = [planned('a', 3), planned('b', 2)];
    const schedule = new Schedule(suites, [], 1);
    assert.deepEqual(started(schedule, BUSY), ['a']);
    assert.ok(!schedule.isDone);
    schedule.end(suites[0]);
    assert.deepEqual(started(schedule, BUSY), ['b']);
    assert.ok(!schedule.isDone);
    schedule.end(suites[1]);
    assert.ok(schedule.isDone);
  });

  it('starts more while cores idle, up to three for each core', () => {
    const suites = Array.from({ length: 8 }, (_, i) => planned(`${i}`, 8 - i));
    assert.equal(started(new Schedule(suites, [], 2), 0.29).length, 2);
    assert.equal(started(new Schedule(suites, [], 2), 0.3).length, 6);
  });

  it('holds a suite back until all that it needs is built, and leaves a core to the compilers', () => {
    const suites = [planned('windows', 9, { needs: ['core', 'exe'] }), planned('plain', 1), planned('other', 2)];
    const schedule = new Schedule(suites, ['core', 'exe'], 2);
    assert.deepEqual(started(schedule, BUSY), ['other']);
    schedule.built('core');
    assert.ok(schedule.isBuilding);
    schedule.end(suites[2]);
    assert.deepEqual(started(schedule, BUSY), ['plain']);
    schedule.built('exe');
    assert.ok(!schedule.isBuilding);
    assert.deepEqual(started(schedule, BUSY), ['windows']);
  });

  it('starts one suite beside the compilers on a machine with one core', () => {
    assert.deepEqual(started(new Schedule([planned('plain', 1)], ['core'], 1), BUSY), ['plain']);
  });

  it('runs a suite that needs quiet alone, after all others', () => {
    const suites = [
      planned('quiet', 9, { isQuiet: true }),
      planned('silent', 8, { isQuiet: true }),
      planned('other', 1, { needs: ['core'] }),
    ];
    const schedule = new Schedule(suites, ['core'], 2);
    assert.deepEqual(started(schedule, IDLE), []);
    schedule.built('core');
    assert.deepEqual(started(schedule, IDLE), ['other']);
    schedule.end(suites[2]);
    assert.deepEqual(started(schedule, IDLE), ['quiet']);
    schedule.end(suites[0]);
    assert.deepEqual(started(schedule, IDLE), ['silent']);
  });
});
