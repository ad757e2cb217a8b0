import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytes, duration, number, time } from './units.ts';

describe('units', () => {
  it('shows three digits, in the unit that fits the figure', () => {
    assert.deepEqual([0.5, 86, 999, 999.6, 12_600, 999_949, 999_950, 1.2e6].map(time), [
      ...['0.50 µs', '86 µs', '999 µs', '1.00 ms', '12.6 ms', '1,000 ms', '1.00 s', '1.20 s'],
    ]);
    assert.deepEqual([0, 512, 1023, 1024, 288_358_400, 9_341_553_869].map(bytes), [
      ...['0 bytes', '512 bytes', '1,023 bytes', '1.00 KiB', '275 MiB', '8.70 GiB'],
    ]);
    assert.deepEqual([0, 0.1234, 9.994, 9.995, 99.94, 99.95, 4812].map(number), [
      ...['0', '0.12', '9.99', '10.0', '99.9', '100', '4,812'],
    ]);
    assert.deepEqual([5, 119, 120, 5400, 9000].map(duration), ['5.00 s', '119 s', '2 min', '90 min', '2 h 30 min']);
  });
});
