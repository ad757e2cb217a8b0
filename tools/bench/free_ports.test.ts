import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { freePorts } from './free_ports.ts';

it('free ports are given once, although nobody listens there yet', {
  skip: process.platform !== 'linux' && 'reservations need abstract sockets',
}, async (t: TestContext) => {
  const [first] = await freePorts(1);
  let calls = 0;
  // The same port is drawn again, and then others.
  const drawn = (first - 16_384 + 0.5) / 16_384;
  const random = Math.random;
  t.mock.method(Math, 'random', () => (calls++ === 0 ? drawn : random()));
  const [second] = await freePorts(1);
  assert.ok(calls > 1);
  assert.notEqual(second, first);
});
