/** What a sprite's journey says to a person: "Miso, 17 desktops since Tuesday", and below it "from Ada by way of Bob". */
import type { Journey } from '../motion/simulation.ts';
import { shownName } from '../relay/api_client.ts';
import { counted, language, phrase } from '../texts/language.ts';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 6; // days for which the name of a day means the last one of that name

/** Lines of text. */
export function journeyLines(name: string, journey: Journey, now: Date): string[] {
  const { hops, since, by, from } = journey;
  const drawn = by === '' ? name : phrase('journey.drawn-by', { name, author: by });
  const first = phrase('journey.since', {
    sprite: drawn,
    desktops: counted('journey.desktops', hops),
    when: whenWords(new Date(since * 1000), now),
  });
  // The oldest name is that of who threw it first only if nobody after that is left out.
  const [origin, ...others] = hops === from.length ? from : ['', ...from];
  const names = (list: readonly string[]) => [...new Set(list)].map(shownName).join(', ');
  if (from.length === 0) return [first];
  if (origin === '') return [first, phrase('journey.by-way', { others: names(others) })];
  if (others.length === 0) return [first, phrase('journey.from', { origin: shownName(origin) })];
  return [first, phrase('journey.from-by-way', { origin: shownName(origin), others: names(others) })];
}

/** The day of a time: today, its name, or its date. A clock that is ahead of this one's means today. */
export function whenWords(then: Date, now: Date): string {
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
  const days = Math.round((midnight(now) - midnight(then)) / DAY_MS); // a day of summer time has an hour more or less
  if (days <= 0) return phrase('journey.today');
  const year = then.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  const date = { day: 'numeric', month: 'long', year } as const;
  return then.toLocaleDateString(language, days <= WEEK_DAYS ? { weekday: 'long' } : date);
}
