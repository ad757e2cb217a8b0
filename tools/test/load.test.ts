/** On what counts as an idle core. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IdleCores } from './load.ts';

describe('idle cores', () => {
  const zero = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
  const OTHERS = { areOwnNiced: false };
  const OWN = { areOwnNiced: true };

  /** Two cores, which do this between the look of the constructor and the next one. */
  function idleCores(first: Partial<typeof zero>, second: Partial<typeof zero>): IdleCores {
    const looks = [
      [zero, zero],
      [
        { ...zero, ...first },
        { ...zero, ...second },
      ],
    ];
    return new IdleCores(() => looks.shift() ?? []);
  }

  it('are those that did nothing since the last look', () => {
    assert.equal(idleCores({ user: 100 }, { idle: 100 }).look(OTHERS), 1);
    assert.equal(idleCores({ user: 60, sys: 10, irq: 5, idle: 25 }, { user: 50, idle: 50 }).look(OTHERS), 0.75);
  });

  it('are also those with niced processes, which give way', () => {
    assert.equal(idleCores({ nice: 100 }, { user: 50, nice: 40, idle: 10 }).look(OTHERS), 1.5);
  });

  it('are not those with niced processes of this run', () => {
    assert.equal(idleCores({ nice: 100 }, { user: 50, nice: 40, idle: 10 }).look(OWN), 0.1);
  });
});
