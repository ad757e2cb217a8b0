import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../../test/random.ts';
import { EDGES, type Edge } from '../../wire/rules.ts';
import {
  type Box,
  BUBBLE_GAP,
  BUBBLE_MS_MIN,
  BUBBLE_MS_PER_BYTE,
  BUBBLE_WIDTH_MAX,
  BUBBLES_MAX,
  BUBBLES_PER_SPEAKER_MAX,
  Bubbles,
  type BubbleToPlace,
  placeBubbles,
} from './bubbles.ts';

const said = (desktop: string, text: string) => ({ type: 'saying', from: { desktop, name: '' }, text }) as const;
const texts = ({ shown }: Bubbles) => shown.map(({ saying }) => saying.text);

describe('bubbles', () => {
  it('are shown for longer the more bytes their text has, and then removed', () => {
    for (const [text, bytes] of [
      ['a', 1],
      ['猫', 3],
      ['x'.repeat(280), 280],
    ] as const) {
      const bubbles = new Bubbles();
      bubbles.add(said('1-1', text), 1_000);
      const untilMs = 1_000 + BUBBLE_MS_MIN + BUBBLE_MS_PER_BYTE * bytes;
      bubbles.expire(untilMs - 1);
      assert.deepEqual(texts(bubbles), [text]);
      bubbles.expire(untilMs);
      assert.deepEqual(texts(bubbles), []);
    }
  });

  it(`are at most ${BUBBLES_MAX}, newest first, and at most ${BUBBLES_PER_SPEAKER_MAX} of one speaker`, () => {
    const bubbles = new Bubbles();
    for (let i = 1; i <= BUBBLES_PER_SPEAKER_MAX; i++) bubbles.add(said('1-1', `a${i}`), 0);
    assert.deepEqual(texts(bubbles), ['a3', 'a2', 'a1']);
    bubbles.add(said('1-1', 'a4'), 0);
    assert.deepEqual(texts(bubbles), ['a4', 'a3', 'a2']);
    for (let i = 1; i <= BUBBLES_MAX - BUBBLES_PER_SPEAKER_MAX; i++) bubbles.add(said(`2-${i}`, `b${i}`), 0);
    assert.deepEqual(texts(bubbles), ['b5', 'b4', 'b3', 'b2', 'b1', 'a4', 'a3', 'a2']);
    bubbles.add(said('3-1', 'c'), 0);
    assert.deepEqual(texts(bubbles), ['c', 'b5', 'b4', 'b3', 'b2', 'b1', 'a4', 'a3']);
  });

  it('of a muted speaker are removed at once', () => {
    const bubbles = new Bubbles();
    for (const id of ['1-1', '2-1', '1-1']) bubbles.add(said(id, id), 0);
    bubbles.removeSpeaker('1-1');
    assert.deepEqual(texts(bubbles), ['2-1']);
  });

  it('are placed inside the room, and none covers another or an obstacle, however many there are', (t) => {
    const random = randomOf(t);
    const between = (from: number, to: number) => Math.round(from + (to - from) * random());
    let placed = 0;
    for (let round = 0; round < 300; round++) {
      const room = { left: 0, top: 100, right: between(300, 1500), bottom: between(350, 900) };
      const box = (): Box => {
        const [left, top] = [between(-50, 1500), between(-50, 900)];
        return { left, top, right: left + between(10, 300), bottom: top + between(10, 200) };
      };
      const obstacles = Array.from({ length: between(0, 3) }, box);
      const bubbles = Array.from({ length: between(1, BUBBLES_MAX) }, (): BubbleToPlace => {
        const edge = EDGES[between(0, 3)];
        const anchor = random() < 0.5 ? { box: box() } : { edge, tail: true };
        return { width: between(44, BUBBLE_WIDTH_MAX), height: between(30, 150), anchor };
      });
      const places = placeBubbles(room, bubbles, obstacles);
      assert.equal(places.length, bubbles.length);
      const taken = [...obstacles];
      for (const [i, place] of places.entries()) {
        if (place === null) continue;
        placed++;
        const { left, top } = place;
        const here = { left, top, right: left + bubbles[i].width, bottom: top + bubbles[i].height };
        const what = `round ${round}, bubble ${i}`;
        assert.ok(here.left >= room.left && here.right <= room.right, what);
        assert.ok(here.top >= room.top && here.bottom <= room.bottom, what);
        for (const other of taken) {
          const gapX = Math.max(other.left - here.right, here.left - other.right);
          const gapY = Math.max(other.top - here.bottom, here.top - other.bottom);
          assert.ok(Math.max(gapX, gapY) >= BUBBLE_GAP, what);
        }
        taken.push(here);
      }
    }
    assert.ok(placed > 300, `only ${placed} were placed`);
  });

  it('at each edge point at it', () => {
    const room = { left: 0, top: 0, right: 400, bottom: 300 };
    const at = (edge: Edge, tail = true) =>
      placeBubbles(room, [{ width: 100, height: 40, anchor: { edge, tail } }], [])[0];
    assert.deepEqual(at('left'), { left: 0, top: 130, tail: { side: 'left', at: 20 } });
    assert.deepEqual(at('right'), { left: 300, top: 130, tail: { side: 'right', at: 20 } });
    assert.deepEqual(at('top'), { left: 150, top: 0, tail: { side: 'top', at: 50 } });
    assert.deepEqual(at('bottom', false), { left: 150, top: 260, tail: null });
  });
});
