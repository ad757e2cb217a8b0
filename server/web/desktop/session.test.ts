import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimDesktop } from './session.ts';

/** Holds the lock of a desktop as another page does. Resolves to what lets it go. */
function hold(desktop: string): Promise<() => void> {
  return new Promise((resolve) => {
    navigator.locks.request(`sprites-desktop-${desktop}`, () => new Promise<void>((release) => resolve(release)));
  });
}

describe('a desktop', () => {
  it('is claimed once', async () => {
    assert.equal(await claimDesktop('d1'), true);
    assert.equal(await claimDesktop('d1'), false);
    assert.equal(await claimDesktop('d2'), true);
  });

  it('is claimed as soon as the page before lets it go', async () => {
    const release = await hold('d3');
    const claimed = claimDesktop('d3');
    release();
    assert.equal(await claimed, true);
  });

  it('is claimed by a page so slow that each deadline passes before it hears from its browser', async (t) => {
    const late = async (_name: string, { signal }: LockOptions, callback: (lock: object) => unknown) => {
      if (signal !== undefined) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal?.throwIfAborted();
      return callback({});
    };
    t.mock.method(navigator.locks, 'request', late as LockManager['request']);
    assert.equal(await claimDesktop('d4'), true);
  });
});
