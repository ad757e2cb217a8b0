/**
 * Plays the cases of bubbles.vectors.json with the browser's bubbles. As a command it writes their results to the file:
 *
 *   node client-win/test/bubble_vectors.ts        after a change of the rules; the diff shows what changes for users
 *
 * Each case of `shown` is a script of sayings, mutes and looks; each of `placing` is a room with bubbles and obstacles. BEHAVIOUR.md
 * has the rules.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as bubbles from '../../server/web/desktop/bubbles.ts';
import { HISTORY_MAX } from '../../server/web/relay/saying_history.ts';

export const BUBBLE_VECTORS = fileURLToPath(new URL('../bubbles.vectors.json', import.meta.url));

/** At `ms`, a desktop says a text, or the sayings of a desktop are muted, or the texts that are shown are listed. */
export type Act = { ms: number } & ({ from: string; text: string } | { mute: string } | { look: true });

export interface ShownCase {
  name: string;
  script: Act[];
  /** For each look the texts of the bubbles, newest first. */
  expect?: string[][];
}

export interface PlacingCase {
  name: string;
  room: bubbles.Box;
  obstacles: bubbles.Box[];
  /** Newest first. */
  bubbles: bubbles.BubbleToPlace[];
  expect?: (bubbles.BubblePlace | null)[];
}

export interface BubbleVectors {
  constants: Record<string, number>;
  shown: ShownCase[];
  placing: PlacingCase[];
}

export const readBubbleVectors = (): BubbleVectors => JSON.parse(readFileSync(BUBBLE_VECTORS, 'utf8'));

export function bubbleConstants(): Record<string, number> {
  const numbers = Object.entries({ ...bubbles, HISTORY_MAX }).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers.sort(([a], [b]) => (a < b ? -1 : 1))) as Record<string, number>;
}

export function playShown({ script }: ShownCase): string[][] {
  const shown = new bubbles.Bubbles();
  const looks: string[][] = [];
  for (const act of script) {
    shown.expire(act.ms);
    if ('look' in act) looks.push(shown.shown.map(({ saying }) => saying.text));
    else if ('mute' in act) shown.removeSpeaker(act.mute);
    else shown.add({ type: 'saying', from: { desktop: act.from, name: act.from }, text: act.text }, act.ms);
  }
  return looks;
}

export function playPlacing({ room, bubbles: toPlace, obstacles }: PlacingCase): (bubbles.BubblePlace | null)[] {
  return bubbles.placeBubbles(room, toPlace, obstacles);
}

/** Returns the content of the file with the present results. */
function updated({ shown, placing }: BubbleVectors): string {
  return JSON.stringify({
    constants: bubbleConstants(),
    shown: shown.map((one) => ({ ...one, expect: playShown(one) })),
    placing: placing.map((one) => ({ ...one, expect: playPlacing(one) })),
  });
}

if (import.meta.main) {
  writeFileSync(BUBBLE_VECTORS, updated(readBubbleVectors()));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', BUBBLE_VECTORS], { stdio: 'inherit' });
}
