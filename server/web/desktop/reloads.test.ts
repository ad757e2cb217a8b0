import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SwapEvents, watchReloads } from './reloads.ts';

describe('reloads', () => {
  it('are told from other ends of a page by what comes next', () => {
    let swap: Parameters<SwapEvents['addEventListener']>[1] = () => {};
    const isReloading = watchReloads({
      onpageswap: null,
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

  it('may be the reason in a browser that does not say', () => {
    assert.equal(watchReloads({ addEventListener() {} })(), true);
  });
});
