/** The two ways of frames between master and workers, each with the front that does not choose it by itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNoNativeFront } from '../front/native.ts';
import { chooseIpc } from '../operator/workers.ts';
import { DesktopClient } from './desktop_client.ts';
import { BOUNDED, startRelay, until } from './relay_process.ts';

const skip = whyNoNativeFront() ?? false;

describe('frames between the processes of a relay', BOUNDED, () => {
  it('go through the ring where the native front is chosen, and through the channel elsewhere', { skip }, () => {
    const chosen = (['native', 'auto', 'portable'] as const).map((front) => chooseIpc({ front, ipc: 'auto' }));
    assert.deepEqual(chosen, ['ring', 'ring', 'channel']);
  });

  for (const { front, ipc } of [
    { front: 'native', ipc: 'channel' },
    { front: 'portable', ipc: 'ring' },
  ] as const) {
    it(`go through the ${ipc} with --front ${front} --ipc ${ipc}, and through a new one when a worker was killed`, {
      skip,
    }, async () => {
      const relay = await startRelay({ workers: 1, front, args: ['--ipc', ipc] });
      try {
        assert.equal(relay.log.find(({ msg }) => msg === 'relay ready')?.ipc, ipc);
        const ann = await DesktopClient.join(relay.url, { name: 'Ann', transport: 'poll' });
        const bob = await DesktopClient.join(relay.url, { name: 'Bob', transport: 'socket' });
        for (let round = 0; round < 2; round++) {
          for (const client of [ann, bob]) {
            assert.equal((await client.throw('right', `round ${round}`))?.problem, undefined);
          }
          const [worker] = relay.pids.workers;
          relay.kill(worker, 'SIGKILL');
          await until('another worker is ready', () => !relay.pids.workers.includes(worker));
        }
        await Promise.all([ann.stop(), bob.stop()]);
      } finally {
        assert.equal((await relay.stop()).code, 0);
      }
    });
  }
});
