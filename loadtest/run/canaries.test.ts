import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start } from '../../tools/bench/contender.ts';
import { Canaries } from './canaries.ts';

describe('canaries', () => {
  it('throw a sprite there and back through a relay, and leave', async () => {
    const relay = await start({ name: 'portable', front: 'portable', workers: 0 });
    try {
      const canaries = new Canaries(`http://127.0.0.1:${relay.api}/`);
      await canaries.join();
      for (let trip = 0; trip < 3; trip++) {
        const us = await canaries.roundTrip(60_000);
        assert.ok(us !== undefined && us > 0 && us < 60e6, String(us));
      }
      assert.equal(await canaries.roundTrip(0), undefined, 'there is no time');
      const counts = async () => {
        const metrics = await relay.metrics();
        return ['sprites_desktops', 'sprites_joined_total'].map((name) => metrics.get(name));
      };
      assert.deepEqual(await counts(), [2, 2]);
      await canaries.leave();
      assert.deepEqual(await counts(), [0, 2]);
    } finally {
      await relay.stop();
    }
  });
});
