import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { checkSources, readSources } from './sources.ts';

describe('source addresses', () => {
  it('are a list of addresses and ranges', () => {
    assert.deepEqual(readSources('127.0.0.9'), ['127.0.0.9']);
    assert.deepEqual(readSources('127.0.0.254-127.0.1.1,10.0.0.1'), [
      ...['127.0.0.254', '127.0.0.255', '127.0.1.0', '127.0.1.1', '10.0.0.1'],
    ]);
    assert.equal(readSources('127.0.0.1-127.1.0.0')?.length, 65_536);
    for (const wrong of ['', 'x', '1.2.3', '1.2.3.256', '1.2.3.4-', '1.2.3.9-1.2.3.4', '1.2.3.4,', '1.2.3.4-1.2.3.5-6'])
      assert.equal(readSources(wrong), undefined, wrong);
    assert.equal(readSources('127.0.0.1-127.1.0.1'), undefined);
  });

  it('must belong to this machine: the first that does not is named', async () => {
    await checkSources('');
    await checkSources('127.0.0.1-127.0.0.200');
    // 203.0.113.0/24 is for documentation only (RFC 5737).
    await assert.rejects(checkSources('127.0.0.1,203.0.113.5-203.0.113.9'), {
      constructor: Misused,
      message: /^--sources: 203\.0\.113\.5 is not an address of this machine; it has .*127\.0\.0\.1/,
    });
  });
});
