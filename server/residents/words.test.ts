import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RESIDENTS_MAX } from '../roles/residents_process.ts';
import { isResident } from '../wire/resident.ts';
import { NAME_BYTES_MAX, REACTIONS, SAYING_TEXT_BYTES_MAX } from '../wire/rules.ts';
import { TEMPERS } from './tempers.ts';
import { answerTo } from './words.ts';

describe('the words of residents', () => {
  it('answer in the language of the saying, and to what it is about', () => {
    assert.match(answerTo('Hello there!', 0), /^Hello!/);
    assert.match(answerTo('Hallo!', 0), /^Hallo!/);
    assert.match(answerTo('Thanks', 0), /welcome/);
    assert.match(answerTo('Danke dir', 0), /Gern/);
    assert.match(answerTo('tschüss', 0), /Bis bald/);
    assert.match(answerTo('good bye', 0.99), /Bye/);
    assert.match(answerTo('42', 0), /only know a few words/);
    assert.match(answerTo('Das Wetter ist schön', 0), /nur wenige Wörter/);
    assert.doesNotMatch(answerTo('It was nice, I could die here', 0), /[äöüß]/);
    assert.doesNotMatch(answerTo('Wo ist der Chat?', 0), /Throw|Your/);
  });

  it('are in both languages when the saying may be in either, and no saying is too long', () => {
    for (const text of ['Hi', 'hey!', 'ok', '🙂']) {
      for (const random of [0, 0.5, 1]) {
        const answer = answerTo(text, random);
        assert.match(
          answer,
          /\b(throw|nice|few|beyond|hear)\b.*\b(wirf|schön|wenige|hoch|hören)\b/i,
          `${text}: ${answer}`,
        );
        assert.ok(Buffer.byteLength(answer) <= SAYING_TEXT_BYTES_MAX);
      }
    }
  });

  it('are the same reaction for a reaction', () => {
    for (const reaction of REACTIONS) assert.equal(answerTo(reaction, 0), reaction);
  });

  it('never say that they are a person', () => {
    for (const question of ['Are you human?', 'who are you', 'Bist du ein Mensch?', 'Wer ist da?', 'are you a bot']) {
      for (const random of [0, 0.5, 0.999, 1]) assert.match(answerTo(question, random), /program/i);
    }
  });

  it('have a speaker for each resident that an operator may ask for, under a name that says what it is', () => {
    assert.equal(TEMPERS.length, RESIDENTS_MAX);
    assert.equal(new Set(TEMPERS.map(({ name }) => name)).size, RESIDENTS_MAX);
    for (const { name } of TEMPERS) assert.ok(isResident(name) && name.length <= NAME_BYTES_MAX);
  });
});
