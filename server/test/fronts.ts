/**
 * Runs a suite once on each front, and names the front in the suite's name.
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

/** Describes a suite for each front. `skip` skips both; the native one is also skipped where it is not built. Both say why. */
export function onEachFront(sentence: string, suite: (front: FrontKind) => void, skip: string | false = false): void {
  for (const front of FRONTS) {
    if (wanted !== undefined && wanted !== front) continue;
    const why = skip || (front === 'native' && whyNoNativeFront());
    describe(`${sentence}, on the ${front} front`, { ...BOUNDED, skip: why ?? false }, () => suite(front));
  }
}
