/**
 * The texts of this page, in its language.
 *
 * The relay chooses the language, and sends the texts that the modules of the page use inside the page (`#texts`), as JSON.
 * Without a page, as in unit tests, a phrase is its key.
 */
import { SprRefused } from '../../wire/files/png.ts';
import type { ENGLISH } from './english.ts';

type Table = typeof ENGLISH;

/** The keys K for which there are `K_one` and `K_other`. */
type Counted = { [K in keyof Table]: K extends `${infer Base}_one` ? Base : never }[keyof Table];

export type Key = Exclude<keyof Table, `${string}_one` | `${string}_other`>;

/** The names of the values in a text. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** The keys of texts without values. */
export type Plain = { [K in Key]: [Names<Table[K]>] extends [never] ? K : never }[Key];

type Values<K extends Key> = [Names<Table[K]>] extends [never]
  ? []
  : [Readonly<Record<Names<Table[K]>, string | number>>];

interface Sent {
  texts: Readonly<Record<string, string>>;
  problems: Readonly<Record<string, string>>;
}

const page = globalThis.document;
const sent: Sent = JSON.parse(page?.getElementById('texts')?.textContent ?? '{"texts":{},"problems":{}}');

/** The language of this page, as BCP 47 calls it. */
export const language: string = page?.documentElement.lang || 'en';

/** Returns a text with its values. */
export function phrase<K extends Key>(key: K, ...[values]: Values<K>): string {
  return fill(key, values ?? {});
}

/** Returns the text for this count, and writes the count as people of this language do. */
export function counted(key: Counted, count: number): string {
  return fill(`${key}_${new Intl.PluralRules(language).select(count)}`, { count: number(count) });
}

function fill(key: string, values: Readonly<Record<string, string | number>>): string {
  return (sent.texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Returns what the page says about a problem with this code; undefined when the relay's own sentence is in its language. */
export function problemWords(code: string): string | undefined {
  return Object.hasOwn(sent.problems, code) ? sent.problems[code] : undefined;
}

/** Returns why something failed, for a person to read. The reasons of `wire/` are English in every language. */
export function reasonOf(error: unknown): string {
  if (error instanceof SprRefused) return phrase('file.unreadable', { reason: error.message });
  return error instanceof Error ? error.message : String(error);
}

export function number(value: number, decimalsMax = 0): string {
  return value.toLocaleString(language, { maximumFractionDigits: decimalsMax });
}

/** Returns the languages for a friendly name: those of the browser, unless the person has chosen another one for this page. */
export function chosenLanguages(): readonly string[] {
  const usual = navigator.languages.map((tag) => tag.slice(0, 2)).find((one) => one === 'en' || one === 'de') ?? 'en';
  return usual === language ? navigator.languages : [language];
}

/** Keeps world and invitation in the address when the person switches the language. */
export function keepPlace(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[hreflang]')) {
    link.addEventListener('click', () => {
      const there = new URL(location.href);
      there.searchParams.set('lang', link.hreflang);
      link.href = there.href;
    });
  }
}
