/**
 * Runs a suite once on each front, and names the front in the suite's name; or once on each of two shapes, which have each front once, and
 * a relay with workers and one without: all four would show little more. Half of the suites have the one pair, half the other.
 *
 * SPRITES_TEST_FRONT=portable or SPRITES_TEST_FRONT=native runs suites on that front only.
 */
import { describe } from 'node:test';
import type { Front } from '../front/front.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { BOUNDED } from './relay_process.ts';

export type FrontKind = Front['kind'];

const FRONTS: readonly FrontKind[] = ['portable', 'native'];
const wanted = process.env.SPRITES_TEST_FRONT;

/** What a relay is made of. */
export interface Shape {
  front: FrontKind;
  workers: number;
}

/** `usual` has what `npm start` starts on Linux. */
const PAIRS = {
  usual: [
    { front: 'native', workers: 2 },
    { front: 'portable', workers: 0 },
  ],
  crossed: [
    { front: 'portable', workers: 2 },
    { front: 'native', workers: 0 },
  ],
} as const;

/** Describes a suite for each front. `skip` skips both; the native one is also skipped where it is not built. Both say why. */
export function onEachFront(sentence: string, suite: (front: FrontKind) => void, skip: string | false = false): void {
  for (const front of FRONTS) onFront(front, `${sentence}, on the ${front} front`, () => suite(front), skip);
}

/** Describes a suite for each shape of a pair. It is skipped as with onEachFront(). */
export function onTwoShapes(
  pair: keyof typeof PAIRS,
  sentence: string,
  suite: (shape: Shape) => void,
  skip: string | false = false,
): void {
  for (const shape of PAIRS[pair]) {
    const name = `${sentence}, with ${shape.workers} workers on the ${shape.front} front`;
    onFront(shape.front, name, () => suite(shape), skip);
  }
}

function onFront(front: FrontKind, name: string, suite: () => void, skip: string | false): void {
  if (wanted !== undefined && wanted !== front) return;
  const why = skip || (front === 'native' && whyNoNativeFront());
  // The tests of a suite run one after the other, also where suites run side by side.
  describe(name, { ...BOUNDED, concurrency: 1, skip: why ?? false }, suite);
}
