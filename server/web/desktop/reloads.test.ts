import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { watchReloads } from './reloads.ts';

describe('reloads', () => {
  it('are told from other ends of a page by what comes next', () => {
    const page = new EventTarget();
    const swap = (activation: { navigationType: string } | null) =>
      page.dispatchEvent(Object.assign(new Event('pageswap'), { activation }));
    const isReloading = watchReloads(page);
    assert.equal(isReloading(), false, 'the tab is closed');
    swap({ navigationType: 'reload' });
    assert.equal(isReloading(), true);
    swap({ navigationType: 'push' });
    assert.equal(isReloading(), false, 'another page of this site is opened in the tab');
    swap(null);
    assert.equal(isReloading(), false, 'another site is opened in the tab');
  });

  it('are not assumed in a browser that does not say: a closed tab must not stay as a ghost', () => {
    assert.equal(watchReloads(new EventTarget())(), false);
  });
});
