import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KNOWN_ANIMATIONS } from '../../wire/files/description.ts';
import { PROBLEMS } from '../../wire/problem.ts';
import { GERMAN_PROBLEMS } from './german.ts';
import { LANGUAGES, TEXTS, textsIn } from './texts.ts';

const WEB = join(import.meta.dirname, '..');
const FILES = ['desktop', 'make', 'motion', 'pages', 'pictures', 'relay'].flatMap((folder) =>
  readdirSync(join(WEB, folder)).map((name) => join(folder, name)),
);
const PAGES = FILES.filter((name) => name.endsWith('.html'));
const MODULES = [...FILES, 'texts/language.ts', 'texts/part.ts'].filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);

const read = (name: string) => readFileSync(join(WEB, name), 'utf8');
const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '');
const keysIn = (html: string) => [...html.matchAll(/\{\{([^}]*)\}\}/g)].map(([, key]) => key);
const sorted = (found: RegExpMatchArray | null) => [...(found ?? [])].sort();

/** English in a page's code that nobody reads on a page: what a fetch is refused with, and what the browser calls things. */
const NOT_SHOWN = [
  ...[
    'Windows NT',
    'Linux x86_64',
    'Bearer ',
    'The browser has no room.',
    'The browser does not answer.',
    'The relay answered ',
  ],
  ...['The file is not the one that was requested.', 'There is no room for another large sheet.'],
  ...['There are more bytes than there may be.', 'The relay did not answer before this desktop'],
  ...['Too many throws wait for the relay.', 'A sprite departed from a desktop', 'What answers at '],
];

describe('the texts of the pages', () => {
  it('are the same ones in each language', () => {
    for (const language of LANGUAGES) {
      assert.deepEqual(Object.keys(TEXTS[language]).sort(), Object.keys(TEXTS.en).sort(), language);
      for (const [key, text] of Object.entries(TEXTS[language]))
        assert.notEqual(text.trim(), '', `${language}: ${key}`);
    }
  });

  it('have the same values, elements and addresses in each language', () => {
    const keys = Object.keys(TEXTS.en) as (keyof typeof TEXTS.en)[];
    for (const key of keys.filter((one) => one !== 'site.language')) {
      for (const language of LANGUAGES) {
        const parts = (text: string) => [sorted(text.match(/\{\w+\}/g)), sorted(text.match(/<[^>]*>/g))];
        assert.deepEqual(parts(TEXTS[language][key]), parts(TEXTS.en[key]), `${language}: ${key}`);
      }
    }
  });

  it('end no attribute in which a page has them', () => {
    for (const page of PAGES) {
      for (const [, key] of read(page).matchAll(/="[^"]*\{\{([^}]*)\}\}/g)) {
        for (const language of LANGUAGES) {
          assert.doesNotMatch(TEXTS[language][key as keyof typeof TEXTS.en], /["<]/, `${page}: ${key}`);
        }
      }
    }
  });

  it('are all on a page', () => {
    const isInCode = textsIn(MODULES.map(read).join());
    const onPages = new Set(PAGES.flatMap((page) => keysIn(read(page))));
    const unused = Object.keys(TEXTS.en).filter((key) => !onPages.has(key) && !isInCode(key));
    assert.deepEqual(unused, []);
  });

  it('are all that the pages say: none of them is in a page or its code', () => {
    for (const page of PAGES) {
      const rest = read(page).replace(
        /<!--.*?-->|<meta name="(?:viewport|color-scheme|theme-color)[^>]*>|\{\{[^}]*\}\}/gs,
        '',
      );
      const shown = rest.replace(/<(?:kbd|code)\b.*?<\/(?:kbd|code)>/gs, '').replace(/<[^>]*>/g, ' ');
      assert.deepEqual(
        (shown.match(/[A-Za-z]{2,}/g) ?? []).filter((word) => word !== 'Sprites'),
        [],
        page,
      );
      const attributes = rest.match(/(?:aria-\w+|title|alt|placeholder|content)="[^"]*[a-z] [^"]*"/g) ?? [];
      assert.deepEqual(
        attributes.filter((one) => !/aria-(?:describedby|labelledby)=/.test(one)),
        [],
        page,
      );
    }
    for (const module of MODULES) {
      const code = withoutComments(read(module));
      const sentences = [...code.matchAll(/(['`])([A-Z][a-z]+ [^'`\n]*)\1/g)].map(([, , text]) => text);
      const shown = sentences.filter((text) => !NOT_SHOWN.some((one) => text.startsWith(one)));
      assert.deepEqual(shown, [], module);
    }
  });

  it('say of each animation what a sprite does in it', () => {
    for (const name of KNOWN_ANIMATIONS) assert.ok(Object.hasOwn(TEXTS.en, `does.${name}`), name);
  });

  it('name no problem that no relay has', () => {
    for (const code of Object.keys(GERMAN_PROBLEMS)) assert.ok(Object.hasOwn(PROBLEMS, code), code);
  });
});
