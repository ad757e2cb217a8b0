import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Front } from '../front/front.ts';
import { answerOf } from '../wire/answer.ts';
import { PendingRequests, type Reply } from './pending.ts';

const BODY = Buffer.from('##{"a":1}##');

function withFront(): { pending: PendingRequests; answers: unknown[] } {
  const pending = new PendingRequests();
  const answers: unknown[] = [];
  const front: Pick<Front, 'answer' | 'flush'> = {
    answer: (ticket, { status, body, start, end, retryAfterSeconds }) => {
      answers.push({ ticket, status, body: Buffer.from(body.subarray(start, end)).toString(), retryAfterSeconds });
    },
    flush: () => {},
  };
  pending.setFront(front as Front);
  return { pending, answers };
}

describe('pending requests', () => {
  it('pass an answer on to the front under its ticket', () => {
    const { pending, answers } = withFront();
    const request = pending.addTicket(2 ** 40);
    pending.answer(request, { ...answerOf(503, BODY, 1), start: 2, end: 9 });
    assert.deepEqual(answers, [{ ticket: 2 ** 40, status: 503, body: '{"a":1}', retryAfterSeconds: 1 }]);
  });

  it('pass an answer on to a callback, with a copy of the body', () => {
    const { pending, answers } = withFront();
    const replies: Reply[] = [];
    const body = Buffer.from(BODY);
    pending.answer(
      pending.addCallback((reply) => replies.push(reply)),
      { ...answerOf(200, body), start: 2, end: 9 },
    );
    body.fill(0);
    assert.deepEqual(replies, [{ status: 200, body: Buffer.from('{"a":1}'), retryAfterSeconds: 0 }]);
    assert.deepEqual(answers, []);
  });

  it('reuse a number only after its answer, also when the answer is ignored', () => {
    const { pending } = withFront();
    const request = pending.addCallback(() => assert.fail('the answer is ignored'));
    pending.ignore(request);
    const second = pending.addTicket(1);
    assert.notEqual(second, request);
    assert.equal(pending.count, 2);
    pending.answer(request, answerOf(204, Buffer.alloc(0)));
    assert.equal(pending.count, 1);
    assert.equal(pending.addTicket(2), request);
  });
});
