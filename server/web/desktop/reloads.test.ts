import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SwapEvents, watchReloads } from './reloads.ts';

describe('reloads', () => {
  it('are told from other ends of a page by what comes next', () => {
    let swap: Parameters<SwapEvents['addEventListener']>[1] = () => {};
    const isReloading = watchReloads({
      addEventListener(_, listener) {
        swap = listener;
      },
    });
    assert.equal(isReloading(), false, 'the tab is closed');
    swap({ activation: { navigationType: 'reload' } });
    assert.equal(isReloading(), true);
    swap({ activation: { navigationType: 'push' } });
    assert.equal(isReloading(), false, 'another page of this site is opened in the tab');
    swap({ activation: null });
    assert.equal(isReloading(), false, 'another site is opened in the tab');
  });

  it('are not assumed in a browser that does not say: a closed tab must not stay as a ghost', () => {
    assert.equal(watchReloads({ addEventListener() {} })(), false);
  });
});
