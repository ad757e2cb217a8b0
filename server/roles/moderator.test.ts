import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Logger } from 'pino';
import { ProblemError } from '../wire/problem.ts';
import { Flights } from './flights.ts';
import {
  FEEDBACK_ALL_MAX,
  FEEDBACK_PER_WINDOW_MAX,
  FEEDBACK_WINDOW_MS,
  Moderator,
  type ModeratorOptions,
} from './moderator.ts';

/** A moderator of a relay without desktops, and the feedback that it has let through. */
function moderatorOf() {
  const texts: string[] = [];
  const clock = { nowMs: 0 };
  const moderator = new Moderator({
    master: { relay: { desktops: { max: 1 }, torus: { worlds: () => [] } } },
    list: { copy: { addresses: [], pictures: [] } },
    gallery: { copy: { listed: [], waiting: [] } },
    feedback: { add: ({ text }: { text: string }) => void texts.push(text) },
    ...{ flights: new Flights(), shipped: [], log: {} as Logger, send: () => {}, clock: () => clock.nowMs },
  } as unknown as ModeratorOptions);
  /** Sends a text from the nth address. Returns whether it is let through. */
  const isAllowed = (n: number): boolean => {
    try {
      moderator.addFeedback({ text: `text ${n}`, contact: '', address: `203.0.113.${n}` });
      return true;
    } catch (error) {
      assert.ok(error instanceof ProblemError && error.document.code === 'too-fast', String(error));
      return false;
    }
  };
  return { isAllowed, texts, clock };
}

describe('the feedback of visitors', () => {
  it('is FEEDBACK_ALL_MAX texts in a window from all addresses, and one more is refused', () => {
    const { isAllowed, texts, clock } = moderatorOf();
    for (let n = 0; n < FEEDBACK_ALL_MAX; n++) assert.ok(isAllowed(n), `text ${n}`);
    assert.equal(texts.length, FEEDBACK_ALL_MAX);
    assert.ok(!isAllowed(FEEDBACK_ALL_MAX), 'from an address that has sent none');
    clock.nowMs = FEEDBACK_WINDOW_MS - 1;
    assert.ok(!isAllowed(FEEDBACK_ALL_MAX));
    clock.nowMs = FEEDBACK_WINDOW_MS;
    assert.ok(isAllowed(FEEDBACK_ALL_MAX), 'the next window');
    assert.equal(texts.length, FEEDBACK_ALL_MAX + 1);
  });

  it('is FEEDBACK_PER_WINDOW_MAX texts from one address, and those of others are still let through', () => {
    const { isAllowed } = moderatorOf();
    for (let n = 0; n < FEEDBACK_PER_WINDOW_MAX; n++) assert.ok(isAllowed(1));
    assert.ok(!isAllowed(1));
    assert.ok(isAllowed(2));
  });
});
