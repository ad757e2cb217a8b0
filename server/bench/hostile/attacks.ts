/** Every attack, by name, in the order in which they run: those that leave most behind come last. */
import type { Attack } from './assault.ts';
import { CONNECTION_ATTACKS } from './connection_attacks.ts';
import { DESKTOP_ATTACKS } from './desktop_attacks.ts';
import { fuzz } from './fuzz.ts';
import { PICTURE_ATTACKS } from './picture_attacks.ts';

const { ghosts, worlds, ...first } = DESKTOP_ATTACKS;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...CONNECTION_ATTACKS,
  fuzz,
  ...PICTURE_ATTACKS,
  ...first,
  ghosts,
  worlds,
};
