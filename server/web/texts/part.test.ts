import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { part } from './part.ts';

describe('part of the page', () => {
  it('is the module', async () => {
    const module = { toSpr: 1 };
    assert.equal(await part(Promise.resolve(module)), module);
  });

  it('says what to do when it cannot be loaded', async () => {
    const loading = Promise.reject(new TypeError('Failed to fetch dynamically imported module'));
    await assert.rejects(part(loading), { message: 'part.failed' });
  });
});
