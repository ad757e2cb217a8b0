/**
 * Suites that face sockets run once on each front, under names that say which.
 *
 * SPRITES_TEST_FRONT=portable or native runs them on that one alone.
 */
import { describe } from 'node:test';
import type { Front } from '../front/front.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { BOUNDED } from './relay_process.ts';

export type FrontKind = Front['kind'];

const FRONTS: readonly FrontKind[] = ['portable', 'native'];
const wanted = process.env.SPRITES_TEST_FRONT;

/** Describes a suite for each front. The native one is skipped, with the reason, where it can't be had, as all are for `skip`. */
export function onEachFront(sentence: string, suite: (front: FrontKind) => void, skip: string | false = false): void {
  for (const front of FRONTS) {
    if (wanted !== undefined && wanted !== front) continue;
    const why = skip || (front === 'native' && whyNoNativeFront());
    describe(`${sentence}, on the ${front} front`, { ...BOUNDED, skip: why ?? false }, () => suite(front));
  }
}
