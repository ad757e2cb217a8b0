/**
 * Tags over sprites' heads: where each is drawn, so that none covers another.
 *
 * The first one is where it wants to be; a later one goes up until nothing is in its way. One that would leave the page is not drawn.
 * Cost: O(n²) for n tags that are in each other's way.
 */
import type { Box } from './bubbles.ts';

const GAP = 2; // px between two tags
export const TAG_TOP_MIN = 4; // px from the upper side of the page

/** Returns the top of each tag; null for one without a place. */
export function stackTags(wishes: readonly Box[]): (number | null)[] {
  const taken: Box[] = [];
  return wishes.map(({ left, right, top: wish, bottom }) => {
    const height = bottom - wish;
    let top = Math.max(TAG_TOP_MIN, wish);
    const inTheWay = (one: Box) =>
      left < one.right && right > one.left && top < one.bottom + GAP && top + height + GAP > one.top;
    for (let other = taken.find(inTheWay); other !== undefined; other = taken.find(inTheWay)) {
      top = other.top - GAP - height;
    }
    if (top < TAG_TOP_MIN) return null;
    taken.push({ left, right, top, bottom: top + height });
    return top;
  });
}
