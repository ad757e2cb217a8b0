import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  edgeAt,
  PEEK_DEPTH_MAX,
  PEEK_LINGER_MS,
  PEEK_REST_MS,
  PEEK_SHARE_MAX,
  PEEK_ZONE,
  PeekGesture,
  peekDepth,
} from './peek_gesture.ts';

const SIZE = { width: 900, height: 600 };
const at = (gesture: PeekGesture, x: number, ms: number, busy = false) => {
  gesture.pointer(x, 300, SIZE, busy, ms);
  return gesture.edge(ms);
};

describe('the gesture to peek', () => {
  it('is to rest at an edge: a pointer that passes by opens nothing', () => {
    const gesture = new PeekGesture();
    assert.equal(at(gesture, PEEK_ZONE, 1_000), null);
    assert.equal(at(gesture, 0, 1_000 + PEEK_REST_MS - 1), null);
    assert.equal(gesture.edge(1_000 + PEEK_REST_MS), 'left', 'also when it does not move');
    const passing = new PeekGesture();
    at(passing, 5, 1_000);
    at(passing, PEEK_ZONE + 1, 1_100);
    assert.equal(at(passing, 5, 1_000 + PEEK_REST_MS), null);
  });

  it('lasts while the pointer is where the neighbour is seen, and a little longer', () => {
    const gesture = new PeekGesture();
    at(gesture, 5, 0);
    assert.equal(at(gesture, 5, 1_000), 'left');
    const depth = peekDepth('left', SIZE);
    assert.equal(at(gesture, depth, 9_000), 'left');
    assert.equal(at(gesture, depth + 1, 10_000), 'left');
    assert.equal(gesture.edge(10_000 + PEEK_LINGER_MS - 1), 'left');
    assert.equal(gesture.edge(10_000 + PEEK_LINGER_MS), null);
  });

  it('goes on when the pointer comes back at once, and ends when it has left the page', () => {
    const gesture = new PeekGesture();
    at(gesture, 5, 0);
    assert.equal(at(gesture, 5, 1_000), 'left');
    gesture.gone(1_000);
    assert.equal(at(gesture, 5, 1_100), 'left');
    assert.equal(gesture.edge(5_000), 'left');
    gesture.gone(5_000);
    assert.equal(gesture.edge(5_000 + PEEK_LINGER_MS), null);
  });

  it('is not made while something is dragged, and dragging ends it', () => {
    const gesture = new PeekGesture();
    at(gesture, 5, 0, true);
    assert.equal(at(gesture, 5, 5_000, true), null);
    at(gesture, 5, 6_000);
    assert.equal(at(gesture, 5, 7_000), 'left');
    assert.equal(at(gesture, 5, 7_010, true), null);
  });

  it('is also a key, which goes through the edges that have a neighbour, one after the other', () => {
    const gesture = new PeekGesture();
    assert.deepEqual([gesture.next(['left', 'top']), gesture.edge(0)], ['left', 'left']);
    assert.equal(gesture.next(['left', 'top']), 'top');
    assert.equal(gesture.edge(99_999), 'top', 'for as long as one likes');
    assert.deepEqual([gesture.next(['left', 'top']), gesture.edge(0)], [null, null]);
    assert.equal(gesture.next([]), null);
    gesture.next(['left']);
    gesture.stop();
    assert.equal(gesture.edge(0), null);
  });

  it('is at the nearest edge in a corner', () => {
    assert.equal(edgeAt(3, 5, SIZE, PEEK_ZONE), 'left');
    assert.equal(edgeAt(5, 3, SIZE, PEEK_ZONE), 'top');
    assert.equal(edgeAt(900, 590, SIZE, PEEK_ZONE), 'right');
    assert.equal(edgeAt(450, 600, SIZE, PEEK_ZONE), 'bottom');
    assert.equal(edgeAt(450, 300, SIZE, PEEK_ZONE), null);
  });

  it('opens a part of the page that leaves most of it to its own sprites', () => {
    assert.equal(peekDepth('left', { width: 2000, height: 1000 }), PEEK_DEPTH_MAX);
    assert.equal(peekDepth('top', { width: 2000, height: 500 }), PEEK_SHARE_MAX * 500);
  });
});
