/** A worker that says what a page in one language shows of the journeys of relay.vectors.json: a module has its language for good. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Journey } from '../web/motion/simulation.ts';
import type { AwaySprite } from '../web/relay/away.ts';
import { PROBLEM_TEXTS, TEXTS } from '../web/texts/texts.ts';

const language = workerData as keyof typeof TEXTS;
const textContent = JSON.stringify({ texts: TEXTS[language], problems: PROBLEM_TEXTS[language] });
const page = { documentElement: { lang: language }, getElementById: () => ({ textContent }) };
Object.assign(globalThis, { document: page });
const { homeWords, seenWords } = await import('../web/desktop/away_panel.ts');
const { journeyLines } = await import('../web/desktop/journey_words.ts');

interface Told {
  journey: Journey;
  nowS: number;
}
const vectors = JSON.parse(readFileSync(new URL('../../client-win/relay.vectors.json', import.meta.url), 'utf8'));
const dateOf = (s: number) => new Date(s * 1000);
const tell = ({ journey, nowS }: Told) => journeyLines('Miso', journey, dateOf(nowS)).join('; ');
parentPort?.postMessage({
  tells: vectors.told.map(tell),
  home: vectors.told.map(({ journey, nowS }: Told) => homeWords('Miso', journey, dateOf(nowS))),
  seen: vectors.seen.map((one: AwaySprite & Told) => seenWords({ ...one, name: 'Miso' }, dateOf(one.nowS))),
});
