/** Who the residents are: the name, the character and the temper of each. */
import { RESIDENT_SUFFIX } from '../wire/resident.ts';

export interface Temper {
  readonly name: string;
  /** The shipped character that stands on its desktop, by name. */
  readonly character: string;
  /** ms that it plays with a sprite: the shortest time, and how much longer at most. */
  readonly playMs: number;
  readonly playMsSpread: number;
  /** How often it throws a sprite on to another person instead of back, 0 … 1. */
  readonly passesOn: number;
}

const temper = (name: string, character: string, playMs: number, playMsSpread: number, passesOn: number): Temper => ({
  name: name + RESIDENT_SUFFIX,
  character,
  playMs,
  playMsSpread,
  passesOn,
});

/** As many as `--residents` allows. The first ones come first. */
export const TEMPERS: readonly Temper[] = [
  temper('Moss', 'Truffle', 3_000, 4_000, 0.1), // eager: it throws back at once
  temper('Juniper', 'Quill', 7_000, 8_000, 0.5), // thoughtful: it plays, and shares
  temper('Pebble', 'Pip', 4_000, 8_000, 0.3),
  temper('Fern', 'Wisp', 8_000, 10_000, 0.7),
];
