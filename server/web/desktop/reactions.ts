/**
 * Reactions: a wave, a heart, a laugh. Each is a saying of one emoji, so it has a saying's limits and mutes, and who does not know it reads it.
 *
 * The sprite of the speaker waves or hops, and the text is large (client-win/BEHAVIOUR.md, Bubbles).
 */
import { REACTIONS, type Reaction } from '../../wire/rules.ts';
import { phrase } from '../texts/language.ts';

const [WAVE, HEART, LAUGH] = REACTIONS;

/** The keys that react, in lower case. */
export const REACTION_KEYS: Readonly<Partial<Record<string, Reaction>>> = { w: WAVE, h: HEART, l: LAUGH };

const WORDS = { [WAVE]: 'reaction.waves', [HEART]: 'reaction.sends-heart', [LAUGH]: 'reaction.laughs' } as const;

export function isReaction(text: string): text is Reaction {
  return (REACTIONS as readonly string[]).includes(text);
}

/** Whether the sprite of the speaker waves. */
export function isWave(text: string): boolean {
  return text === WAVE;
}

/** Says what somebody did, for screen readers. */
export function reactionWords(reaction: Reaction, name: string): string {
  return phrase(WORDS[reaction], { name });
}
