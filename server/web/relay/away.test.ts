/** The limit of the own sprites that are away; the rules are tested in client-win/test/relay.test.ts. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AWAY_MAX, Away } from './away.ts';

it('sprites that are away › are AWAY_MAX at most, and the one thrown longest ago is forgotten', () => {
  const away = new Away();
  const sinceOf = () => away.all.map(({ since }) => since);
  const throwAt = (since: number) =>
    away.leave({ sprite: { file: 'f', name: 'Miso' }, journey: { hops: 1, since, by: '', from: [] } }, since);
  for (let since = 1; since < AWAY_MAX; since++) throwAt(since);
  assert.equal(sinceOf().length, AWAY_MAX - 1);
  throwAt(AWAY_MAX);
  assert.deepEqual([sinceOf().length, sinceOf()[0]], [AWAY_MAX, 1]);
  throwAt(AWAY_MAX + 1);
  assert.deepEqual([sinceOf().length, sinceOf()[0]], [AWAY_MAX, 2]);
});
