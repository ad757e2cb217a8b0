import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOffers, offer } from './taking.ts';

const FILE = 'a'.repeat(64);

describe('taking a picture', () => {
  it('gives it to one open desktop, and to none that has no seat', async (t) => {
    const name = 'taking-1';
    const taken: string[] = [];
    const channels = ['ann', 'bob', 'joining'].map((tab) => {
      const channel = new BroadcastChannel(name);
      answerOffers({ wants: () => tab !== 'joining', take: (file) => void taken.push(`${tab} ${file}`) }, channel);
      return channel;
    });
    t.after(() => {
      for (const channel of channels) channel.close();
    });
    assert.equal(await offer(FILE, new BroadcastChannel(name)), true);
    // The messages of a channel come in their order, so the picture has come when the next answer does.
    assert.equal(await offer('b'.repeat(64), new BroadcastChannel(name)), true);
    assert.equal(taken.filter((one) => one.endsWith(FILE)).length, 1, taken.join());
    assert.ok(!taken.some((one) => one.startsWith('joining')));
  });

  it('is not given to anybody when no desktop is open', async () => {
    assert.equal(await offer(FILE, new BroadcastChannel('taking-2')), false);
  });
});
