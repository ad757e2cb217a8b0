/**
 * What a crossing carries of a sprite, and its journey: read from what a relay sends, and one desktop longer with each throw.
 *
 * What it says was written by desktops, so it is shown as text and believed in nothing. The rules are those of client-win/BEHAVIOUR.md
 * (Journeys); `relay.vectors.json` is played here and in core/relay/crossings/journey.cc.
 */
import {
  JOURNEY_BYTES_MAX,
  JOURNEY_HOPS_MAX,
  JOURNEY_MEMBERS,
  JOURNEY_NAMES_MAX,
  NAME_BYTES_MAX,
} from '../../wire/rules.ts';
import type { Carried, Journey } from '../motion/simulation.ts';
import { sizeBytes } from './sayings.ts';

/** A journey as a relay or an older page has written it, each number within its limits; undefined for what is none. */
export function readJourney(said: unknown): Journey | undefined {
  const { hops, since, by, from } = Object(said);
  if (typeof hops !== 'number' || typeof since !== 'number' || !(hops >= 1)) return undefined;
  const isName = (one: unknown): one is string =>
    typeof one === 'string' && one !== '' && sizeBytes(one) <= NAME_BYTES_MAX;
  return fitted({
    hops: Math.min(Math.trunc(hops), JOURNEY_HOPS_MAX),
    since: Math.trunc(Math.max(0, Math.min(since, JOURNEY_MEMBERS.since.max))),
    by: isName(by) ? by : '',
    from: Array.isArray(from) ? from.filter(isName).slice(-JOURNEY_NAMES_MAX) : [],
  });
}

export function carriedOf({ file, name, scale, facing, journey }: Carried): Carried {
  return { file, name, scale, facing, ...(journey !== undefined && { journey }) };
}

/** What a crossing carries of a sprite, as a relay or an older page has written it. */
export function readCarried(said: Carried): Carried {
  return carriedOf({ ...said, journey: readJourney(said.journey) });
}

/** A journey with one throw more, by a desktop of this name; an empty name is left out. `author` drew the sprite, which begins with it. */
export function travelled(
  journey: Journey | undefined,
  { name, author, nowMs }: { name: string; author: string; nowMs: number },
): Journey {
  const begun = {
    hops: 0,
    since: Math.trunc(nowMs / 1000),
    by: sizeBytes(author) > NAME_BYTES_MAX ? '' : author,
    from: [],
  };
  const { hops, since, by, from } = journey ?? begun;
  const thrown = name === '' ? from : [...from, name].slice(-JOURNEY_NAMES_MAX);
  return fitted({ hops: Math.min(hops + 1, JOURNEY_HOPS_MAX), since, by, from: thrown });
}

/** Leaves out those who threw it first, then who drew it, until it fits. The longest name alone does. */
function fitted(journey: Journey): Journey {
  const isTooLong = (one: Journey) => sizeBytes(JSON.stringify(one)) > JOURNEY_BYTES_MAX;
  let shorter = journey;
  while (shorter.from.length > 1 && isTooLong(shorter)) shorter = { ...shorter, from: shorter.from.slice(1) };
  return isTooLong(shorter) ? { ...shorter, by: '' } : shorter;
}
