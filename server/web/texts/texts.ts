/** The languages of the pages, and the texts in each. The operator's page is English only. */
import { ENGLISH, type Texts } from './english.ts';
import { GERMAN, GERMAN_PROBLEMS } from './german.ts';

/** As BCP 47 calls them. The first one is for visitors who want none of them. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

export const TEXTS: Readonly<Record<Language, Texts>> = { en: ENGLISH, de: GERMAN };

/** What a page says instead of the relay's sentence about a problem, by its code. */
export const PROBLEM_TEXTS: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: {},
  de: GERMAN_PROBLEMS,
};

/** Returns whether code of a page uses a text: by its key, as in `phrase('help')`, or by how its key begins, as in `phrase(`peek.${edge}`)`. */
export function textsIn(code: string): (key: string) => boolean {
  const found = (names: RegExp) => new Set([...code.matchAll(names)].map(([, name]) => name));
  const [keys, beginnings] = [found(/'([\w.-]+)'/g), found(/`([\w-]+\.)\$\{\w+\}`/g)];
  return (key) => keys.has(key.replace(/_(?:one|other)$/, '')) || beginnings.has(key.slice(0, key.indexOf('.') + 1));
}
