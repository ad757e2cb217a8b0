import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickFrom, randomOf } from '../../test/random.ts';
import { isRelayName, RELAY_NAME_BYTES_MAX } from '../identity.ts';
import { decodeHeartbeat, encodeHeartbeat, HEARTBEAT_BYTES_MAX, type Heartbeat, STEP_MAX } from './heartbeat.ts';

const EXAMPLE: Heartbeat = {
  ...{ name: 'r3', life: 1_795_353_600_123, step: 7_181_414_400, count: 333_334, width: 512 },
  ...{ digest: 0x89abcdef, leaving: false },
};

describe('heartbeat', () => {
  it('has these bytes', () => {
    assert.equal(
      encodeHeartbeat(EXAMPLE).toString('hex'),
      '01000902' + '16160500' + 'efcdab89' + '00000000bbc0fa41' + '00b0079e36207a42' + '7233',
    );
  });

  it('comes back as it was, at all limits', () => {
    const longest = 'a'.repeat(RELAY_NAME_BYTES_MAX);
    for (const change of [
      {},
      { leaving: true },
      { name: 'a', count: 0, width: 1, digest: 0, step: 0, life: 0 },
      {
        name: longest,
        count: 2 ** 32 - 1,
        width: 2 ** 16,
        digest: 2 ** 32 - 1,
        step: STEP_MAX - 1,
        life: STEP_MAX - 1,
      },
    ]) {
      const heartbeat = { ...EXAMPLE, ...change };
      assert.deepEqual(decodeHeartbeat(encodeHeartbeat(heartbeat)), heartbeat);
    }
  });

  it('may have members of a later version after the name, up to its limit in bytes', () => {
    const bytes = encodeHeartbeat(EXAMPLE);
    const longer = (size: number) => Buffer.concat([bytes, Buffer.alloc(size - bytes.length, 0xff)]);
    assert.deepEqual(decodeHeartbeat(longer(bytes.length + 1)), EXAMPLE);
    assert.deepEqual(decodeHeartbeat(longer(HEARTBEAT_BYTES_MAX)), EXAMPLE);
    assert.equal(decodeHeartbeat(longer(HEARTBEAT_BYTES_MAX + 1)), 'malformed');
  });

  it('is rejected when it is of another version', () => {
    const bytes = encodeHeartbeat(EXAMPLE);
    bytes[0] = 2;
    assert.equal(decodeHeartbeat(bytes), 'version');
  });

  it('is rejected when a member is not possible', () => {
    const spoiled = (spoil: (bytes: Buffer) => void) => {
      const bytes = encodeHeartbeat(EXAMPLE);
      spoil(bytes);
      return decodeHeartbeat(bytes);
    };
    assert.equal(decodeHeartbeat(new Uint8Array(0)), 'malformed');
    assert.equal(
      spoiled((bytes) => (bytes[2] = 17)),
      'malformed',
    );
    for (const value of [-1, 0.5, STEP_MAX, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(
        spoiled((bytes) => bytes.writeDoubleLE(value, 12)),
        'malformed',
        `step ${value}`,
      );
      assert.equal(
        spoiled((bytes) => bytes.writeDoubleLE(value, 20)),
        'malformed',
        `life ${value}`,
      );
    }
    for (const length of [0, 3, 255])
      assert.equal(
        spoiled((bytes) => (bytes[3] = length)),
        'malformed',
      );
    assert.equal(
      spoiled((bytes) => (bytes[28] = 0x20)),
      'malformed',
    );
  });

  it('is never read beyond its end, and every prefix or random change of one is either rejected or within the limits', (t) => {
    const pick = pickFrom(randomOf(t));
    const whole = encodeHeartbeat(EXAMPLE);
    for (let length = 0; length < whole.length; length++) {
      assert.equal(decodeHeartbeat(whole.subarray(0, length)), 'malformed', `${length} bytes`);
    }
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(whole);
      for (let change = pick(4); change >= 0; change--) bytes[pick(bytes.length)] = pick(256);
      const found = decodeHeartbeat(bytes.subarray(0, pick(8) === 0 ? pick(bytes.length) : bytes.length));
      if (typeof found === 'string') continue;
      assert.ok(isRelayName(found.name) && found.step < STEP_MAX && found.life < STEP_MAX && found.width <= 2 ** 16);
      assert.deepEqual(decodeHeartbeat(encodeHeartbeat(found)), found);
    }
  });
});

describe('name of a relay', () => {
  it('has small letters, digits and hyphens, and no hyphen first', () => {
    for (const name of ['r', 'r3', '3', 'eu-west-1', 'a'.repeat(RELAY_NAME_BYTES_MAX)])
      assert.ok(isRelayName(name), name);
    for (const name of ['', '-r', 'R3', 'r_3', 'r.3', 'r 3', 'r3\n', 'ä', 'a'.repeat(RELAY_NAME_BYTES_MAX + 1)]) {
      assert.ok(!isRelayName(name), name);
    }
  });
});
