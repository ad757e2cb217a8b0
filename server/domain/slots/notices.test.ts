import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTICES_PER_POLL_MAX } from '../../wire/rules.ts';
import { NOTICE_BYTES_MAX, NOTICES_BYTES_MAX, NOTICES_KEPT, Notices } from './notices.ts';

describe('notices', () => {
  const out = Buffer.alloc(NOTICES_BYTES_MAX + 1);
  const read = (notices: Notices, slot: number): unknown[] =>
    JSON.parse(`[${out.toString('utf8', 1, notices.write(slot, out, 1))}]`);
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => ({ n: from + n }));
  const add = (notices: Notices, from: number, to: number) => {
    for (const event of numbers(from, to)) notices.add(event);
  };

  it('are due for a slot until they were written for it, in order, each once', () => {
    const notices = new Notices(2);
    assert.equal(notices.isDue(0), false);
    add(notices, 1, 2);
    assert.deepEqual(read(notices, 0), numbers(1, 2));
    assert.equal(notices.isDue(0), false);
    assert.ok(notices.isDue(1));
    add(notices, 3, 3);
    assert.deepEqual(read(notices, 1), numbers(1, 3));
    assert.deepEqual(read(notices, 0), numbers(3, 3));
    assert.deepEqual(read(notices, 0), []);
  });

  it('of before a join are not for the new owner of a slot', () => {
    const notices = new Notices(1);
    add(notices, 1, 3);
    notices.join(0);
    assert.equal(notices.isDue(0), false);
    add(notices, 4, 4);
    assert.deepEqual(read(notices, 0), numbers(4, 4));
  });

  it(`fill an answer with ${NOTICES_PER_POLL_MAX}, and the rest stays due`, () => {
    const notices = new Notices(1);
    add(notices, 1, NOTICES_PER_POLL_MAX + 1);
    assert.deepEqual(read(notices, 0), numbers(1, NOTICES_PER_POLL_MAX));
    assert.ok(notices.isDue(0));
    assert.deepEqual(read(notices, 0), numbers(NOTICES_PER_POLL_MAX + 1, NOTICES_PER_POLL_MAX + 1));
    assert.equal(notices.isDue(0), false);
  });

  it(`are kept until ${NOTICES_KEPT} newer ones have come`, () => {
    const notices = new Notices(1);
    add(notices, 1, NOTICES_KEPT);
    assert.deepEqual(read(notices, 0)[0], { n: 1 });
    const late = new Notices(1);
    add(late, 1, NOTICES_KEPT + 1);
    assert.deepEqual(read(late, 0)[0], { n: 2 });
  });

  it('fit into their bytes at their longest, and a longer one is a fault', () => {
    const notices = new Notices(1);
    const text = 'x'.repeat(NOTICE_BYTES_MAX - '{"text":""}'.length);
    for (let n = 0; n < NOTICES_PER_POLL_MAX; n++) notices.add({ text });
    assert.ok(notices.write(0, out, 0) <= NOTICES_BYTES_MAX);
    assert.throws(() => notices.add({ text: `${text}x` }), RangeError);
  });
});
