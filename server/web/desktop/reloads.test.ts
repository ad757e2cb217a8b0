import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ReloadEvents, watchReloads } from './reloads.ts';

describe('reloads', () => {
  it('are told from other ends of a page by what comes next', () => {
    let swap: Parameters<ReloadEvents['addEventListener']>[1] = () => {};
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

  it('are told by what is about to happen in a browser that says only that', () => {
    let navigate = (_: { navigationType: string }) => {};
    const isReloading = watchReloads({
      addEventListener() {},
      navigation: {
        addEventListener(_, listener) {
          navigate = listener;
        },
      },
    });
    assert.equal(isReloading(), false, 'the tab is closed');
    navigate({ navigationType: 'reload' });
    assert.equal(isReloading(), true);
    navigate({ navigationType: 'push' });
    assert.equal(isReloading(), false, 'another page is opened in the tab');
  });

  it('are not assumed in a browser that does not say: a closed tab must not stay as a ghost', () => {
    assert.equal(watchReloads({ addEventListener() {} })(), false);
  });
});
