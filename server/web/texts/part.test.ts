import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { part } from './part.ts';

describe('part of the page', () => {
  it('is the module, which is loaded when it is needed first, and once', async () => {
    const module = { toSpr: 1 };
    let loads = 0;
    const get = part(async () => {
      loads++;
      return module;
    });
    assert.equal(loads, 0);
    assert.deepEqual(await Promise.all([get(), get()]), [module, module]);
    assert.equal(await get(), module);
    assert.equal(loads, 1);
  });

  it('says what to do when it cannot be loaded, and is loaded the next time', async () => {
    let isDown = true;
    const get = part(async () => {
      if (isDown) throw new TypeError('Failed to fetch dynamically imported module');
      return 'module';
    });
    await assert.rejects(get(), { message: 'part.failed' });
    isDown = false;
    assert.equal(await get(), 'module');
  });
});
