import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SprRefused } from '../../wire/files/png.ts';
import { type Language, PROBLEM_TEXTS, TEXTS } from './texts.ts';

/** Loads the module as a page in this language does. */
async function on(language: Language): Promise<typeof import('./language.ts')> {
  const textContent = JSON.stringify({ texts: TEXTS[language], problems: PROBLEM_TEXTS[language] });
  const page = { documentElement: { lang: language }, getElementById: () => ({ textContent }) };
  Object.assign(globalThis, { document: page });
  const module = `./language.ts?${language}`;
  return await import(module);
}

const [english, german] = [await on('en'), await on('de')];

/** As a browser whose user prefers these languages. */
function prefer(...languages: string[]): void {
  Object.defineProperty(globalThis, 'navigator', { value: { languages }, configurable: true });
}

describe('the language of a page', () => {
  it('has a text with its values', () => {
    const values = { name: 'Miso', neighbour: 'Ada' };
    assert.equal(english.phrase('desktop.with', values), 'Miso is with Ada now.');
    assert.equal(german.phrase('desktop.with', values), 'Miso ist jetzt bei Ada.');
  });

  it('inserts a value as it is, whatever it looks like', () => {
    const values = { name: '{neighbour} $& $1', neighbour: '<b>' };
    assert.equal(english.phrase('desktop.with', values), '{neighbour} $& $1 is with <b> now.');
  });

  it('counts as people do', () => {
    assert.deepEqual(
      [0, 1, 2, 12_345].map((count) => english.counted('here', count)),
      [
        '0 desktops are on this relay now, in all its worlds together.',
        'One desktop is on this relay now.',
        '2 desktops are on this relay now, in all its worlds together.',
        '12,345 desktops are on this relay now, in all its worlds together.',
      ],
    );
    assert.equal(german.counted('here', 1), 'Ein Desktop ist jetzt auf diesem Relay.');
    assert.equal(
      german.counted('here', 12_345),
      '12.345 Desktops sind jetzt auf diesem Relay, in allen seinen Welten zusammen.',
    );
    assert.deepEqual([english.number(7.25, 1), german.number(7.25, 1)], ['7.3', '7,3']);
  });

  it('says what the relay refused; for what it does not know, and in English, the relay says it', () => {
    assert.equal(english.problemWords('mailbox-full'), undefined);
    assert.equal(german.problemWords('mailbox-full'), 'Der Nachbar hat gerade keinen Platz dafür.');
    for (const code of ['a-new-code', 'constructor', '__proto__']) assert.equal(german.problemWords(code), undefined);
  });

  it('says why something failed', () => {
    const refused = new SprRefused('file', 'The file is cut off.');
    assert.equal(english.reasonOf(refused), 'The file is cut off.');
    assert.match(german.reasonOf(refused), /^Diese Datei .*: The file is cut off\.$/);
    assert.equal(german.reasonOf(new Error('Warum')), 'Warum');
    assert.equal(german.reasonOf('Warum'), 'Warum');
  });

  it('gives friendly names in the languages of the browser, unless the person has chosen another one', () => {
    prefer('de-AT', 'en');
    assert.deepEqual(german.chosenLanguages(), ['de-AT', 'en']);
    assert.deepEqual(english.chosenLanguages(), ['en'], 'switched to English');
    prefer('fr', 'es');
    assert.deepEqual(english.chosenLanguages(), ['fr', 'es'], 'there is no French page');
    assert.deepEqual(german.chosenLanguages(), ['de'], 'switched to German');
  });
});
